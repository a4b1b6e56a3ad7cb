package agents

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolguard/toolguard/internal/provider"
)

// A damage is a fault in the session of an agent.
type damage struct {
	name string
	// refused is what the API says about the request of the agent when it resumes the session, or
	// the beginning of that. It is "" if the agent repairs the fault itself.
	refused string
	// loses are the outputs that the session has and the request of the agent has not.
	loses string
	do    func(log []record) []record
}

// A record is a record of a session.
type record = map[string]any

// damages returns the faults that the sessions of an agent get. The sessions have the calls a and
// b, both with a result.
func damages(agent string) []damage {
	long := strings.Repeat("x", 80)
	switch agent {
	case "Claude Code":
		const callA, callB, resultA, resultB = `"id":"toolu_01tga"`, `"id":"toolu_01tgb"`, `"tool_use_id":"toolu_01tga"`, `"tool_use_id":"toolu_01tgb"`
		const id = "messages.1.content.1.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
		return []damage{
			{"none", "", "", nil},
			// It answers the first one, and leaves out the others.
			{"a call has no result", "", "", without(resultA)},
			{"the last call has no result", "", "", without(resultB)},
			{"a result has no call", "", "a", without(callA)},
			{"the last result has no call", "", "b", without(callB)},
			{"a result is for another call", "", "a", renamed(resultA, `"tool_use_id":"toolu_other"`)},
			{"a result occurs twice", "", "", doubled(resultA)},
			{"a call occurs twice", "", "", doubled(callA)},
			{"two calls have the same id", "", "b", renamed("toolu_01tgb", "toolu_01tga")},
			{"a text is empty", "", "", renamed(`"text":"First."`, `"text":""`)},
			// It sends what is in these.
			{"the ids of another provider", id, "", renamed("toolu_01tga", "functions.Bash:0")},
			{"an id is empty", id, "", renamed(`"toolu_01tga"`, `""`)},
			{
				"the arguments are a string", "messages.1.content.1.tool_use.input: Input should be a valid dictionary", "",
				renamed(`"input":{"command":"printf 'real-%s-a' 42","description":"Run a command"}`, `"input":"{\"command\":\"printf 'real-%s-a' 42\"}"`),
			},
		}
	case "Codex":
		const callA, callB, resultA, resultB = `"id":"fc_tga"`, `"id":"fc_tgb"`, `"call_tga"*"function_call_output"`, `"call_tgb"*"function_call_output"`
		return []damage{
			{"none", "", "", nil},
			{"a call has no result", "", "", without(resultA)},
			{"the last call has no result", "", "", without(resultB)},
			{"a result has no call", "", "a", without(callA)},
			{"the last result has no call", "", "b", without(callB)},
			{"a result occurs twice", "Duplicate item found with id fco_", "", doubled(resultA)},
			{"a call occurs twice", "Duplicate item found with id fc_tga. Remove duplicate items from your input and try again.", "", doubled(callA)},
			{"the id of an item is that of its call", "Invalid 'input[5].id': 'call_tga'. Expected an ID that begins with 'fc'.", "", renamed(`"fc_tga"`, `"call_tga"`)},
			{"an id is long", "Invalid 'input[5].call_id': string too long. Expected a string with maximum length 64, but got a string with length 80 instead.", "", renamed("call_tga", long)},
			{"an id is empty", "Invalid 'input[5].call_id': empty string. Expected a string with minimum length 1, but got an empty string instead.", "", renamed(`"call_tga"`, `""`)},
		}
	case "Gemini CLI":
		// It records every result twice, and sends both (google-gemini/gemini-cli#29365).
		return []damage{{"none", "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.", "", nil}}
	}
	return nil
}

// target returns the API of an agent.
func target(a agent) string {
	return map[string]string{"Claude Code": "anthropic", "Codex": "openai-responses", "Gemini CLI": "gemini"}[a.name]
}

// content returns the part of a record from which an agent makes its requests, as JSON, or "".
func content(r record) string {
	switch {
	case r["type"] == "response_item":
		return encode(r["payload"])
	case r["uuid"] != nil && r["message"] != nil:
		return encode(r["message"])
	}
	return ""
}

// matches reports whether the content of a record has the parts of a pattern around its asterisks.
func matches(r record, pattern string) bool {
	text := content(r)
	for part := range strings.SplitSeq(pattern, "*") {
		_, after, found := strings.Cut(text, part)
		if !found {
			return false
		}
		text = after
	}
	return text != ""
}

// relink gives the children of a record another parent.
func relink(log []record, from, to any) {
	for _, r := range log {
		if from != nil && r["parentUuid"] == from {
			r["parentUuid"] = to
		}
	}
}

// without removes a record.
func without(pattern string) func([]record) []record {
	return func(log []record) []record {
		return slices.DeleteFunc(slices.Clone(log), func(r record) bool {
			if !matches(r, pattern) {
				return false
			}
			relink(log, r["uuid"], r["parentUuid"])
			return true
		})
	}
}

// doubled adds a copy of a record behind it.
func doubled(pattern string) func([]record) []record {
	return func(log []record) (out []record) {
		for _, r := range log {
			out = append(out, r)
			if !matches(r, pattern) {
				continue
			}
			twin := maps.Clone(r)
			if id, ok := r["uuid"].(string); ok {
				twin["uuid"] = "99999999" + id[8:]
				relink(log, id, twin["uuid"])
				twin["parentUuid"] = id
			}
			out = append(out, twin)
		}
		return out
	}
}

// renamed replaces a text in the contents of all records.
func renamed(from, to string) func([]record) []record {
	return func(log []record) []record {
		for _, r := range log {
			for _, key := range []string{"message", "payload"} {
				if content(r) == "" || r[key] == nil {
					continue
				}
				var v any
				if err := json.Unmarshal([]byte(strings.ReplaceAll(encode(r[key]), from, to)), &v); err == nil {
					r[key] = v
				}
			}
		}
		return log
	}
}

// records returns the records of a session.
func (d *desk) records(path string) (log []record) {
	d.t.Helper()
	for line := range bytes.Lines(d.read(path)) {
		var r record
		if err := json.Unmarshal(line, &r); err != nil {
			d.t.Fatal(err)
		}
		log = append(log, r)
	}
	return log
}

// harm damages a session.
func (d *desk) harm(path string, do func([]record) []record) {
	d.t.Helper()
	log := d.records(path)
	before := encode(log)
	log = do(log)
	var out bytes.Buffer
	for i, r := range log {
		if _, ok := r["ordinal"]; ok {
			r["ordinal"] = i
		}
		out.WriteString(encode(r) + "\n")
	}
	if encode(log) == before {
		d.t.Fatal("the session is not damaged")
	}
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// A tap records the requests of an agent to a model on their way to the proxy.
type tap struct {
	*httptest.Server
	mu   sync.Mutex
	sent []passed
}

// newTap starts a tap before an address.
func newTap(t *testing.T, address string) *tap {
	t.Helper()
	to, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	forward := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(to) },
		FlushInterval: -1, Transport: &http.Transport{DisableCompression: true},
	}
	p := &tap{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the agent was killed
		}
		if slices.ContainsFunc(wires(), func(a *wire) bool { return r.Method == http.MethodPost && strings.Contains(r.URL.Path, a.path) }) {
			plain, err := unpack(body, r.Header.Get("Content-Encoding"))
			if err != nil {
				t.Error(err)
			}
			p.mu.Lock()
			p.sent = append(p.sent, passed{body, plain})
			p.mu.Unlock()
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		p.CloseClientConnections()
		p.Close()
	})
	return p
}

// take returns the requests since it was last called.
func (p *tap) take() []passed {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := p.sent
	p.sent = nil
	return out
}

// startProxy starts toolguard-proxy before a model, and returns its address.
func startProxy(t *testing.T, program, upstream string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	var log bytes.Buffer
	cmd := exec.Command(program, "--listen", address, "--upstream", upstream)
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		cmd.Wait() //nolint:errcheck // it is interrupted at the end
		close(ended)
	}()
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt) //nolint:errcheck // it may have ended
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			cmd.Process.Kill() //nolint:errcheck // as above
			<-ended
			t.Errorf("%s does not end", program)
		}
		if t.Failed() {
			t.Logf("the log of the proxy:\n%s", &log)
		}
	})
	for limit := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if res, err := http.Get("http://" + address + "/healthz"); err == nil {
			res.Body.Close()
			return "http://" + address
		}
		select {
		case <-ended:
			t.Fatalf("%s ended:\n%s", program, &log)
		default:
		}
		if time.Now().After(limit) {
			t.Fatalf("%s does not listen", program)
		}
	}
}

// settings changes the settings of the agent to those that the proxy prints for an address.
func (d *desk) settings(program, address, upstream string) {
	d.t.Helper()
	out, err := exec.Command(program, "--listen", strings.TrimPrefix(address, "http://"), "--upstream", upstream, "--print-env").CombinedOutput()
	if err != nil {
		d.t.Fatalf("%v\n%s", err, out)
	}
	d.env = slices.Clone(d.env)
	for _, m := range regexp.MustCompile(`(?m)^export (\w+)=(.*)$`).FindAllStringSubmatch(string(out), -1) {
		d.env = slices.DeleteFunc(d.env, func(v string) bool { return strings.HasPrefix(v, m[1]+"=") })
		d.env = append(d.env, m[1]+"="+m[2])
	}
	if d.agent.name != "Codex" {
		return
	}
	var toml []string
	for _, m := range regexp.MustCompile(`(?m)^#   (.*)$`).FindAllStringSubmatch(string(out), -1) {
		toml = append(toml, m[1])
	}
	if len(toml) < 2 || !strings.HasPrefix(toml[0], "model_provider = ") {
		d.t.Fatalf("expected the settings of Codex:\n%s", out)
	}
	rest, _, _ := strings.Cut(d.agent.files[".codex/config.toml"], "[model_providers.")
	rest = regexp.MustCompile(`(?m)^model_provider = .*$`).ReplaceAllLiteralString(rest, toml[0])
	own := strings.Join(toml[1:], "\n") + "\n"
	if d.packs {
		// Codex packs requests if its user has signed in, and the provider has this name.
		own = regexp.MustCompile(`(?m)^name = .*$`).ReplaceAllLiteralString(own, `name = "OpenAI"`)
		own = regexp.MustCompile(`(?m)^env_key = .*$`).ReplaceAllLiteralString(own, "requires_openai_auth = true")
		rest = fmt.Sprintf("chatgpt_base_url = %q\n", d.model.URL+"/backend-api") + rest
		d.write(".codex/auth.json", account())
	}
	d.write(".codex/config.toml", rest+own)
}

// write writes a file in the home of the agent.
func (d *desk) write(name, text string) {
	d.t.Helper()
	if err := os.WriteFile(filepath.Join(d.home, filepath.FromSlash(name)), []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// account returns the file in which Codex keeps an account. There is no such account, and nothing
// is signed: Codex only reads what the token says.
func account() string {
	part := func(v any) string { return base64.RawURLEncoding.EncodeToString([]byte(encode(v))) }
	token := part(map[string]any{"alg": "none", "typ": "JWT"}) + "." + part(map[string]any{
		"email": "nobody@example.org", "exp": time.Now().Add(24 * time.Hour).Unix(),
		"https://api.openai.com/auth": map[string]any{"chatgpt_plan_type": "pro", "chatgpt_account_id": "none", "chatgpt_user_id": "none"},
	}) + ".none"
	return encode(map[string]any{
		"auth_mode": "chatgpt", "OPENAI_API_KEY": nil, "last_refresh": time.Now().UTC().Format(time.RFC3339),
		"tokens": map[string]any{"id_token": token, "access_token": token, "refresh_token": "none", "account_id": "none"},
	})
}

// again puts back the home of the agent as it was, with a session that is damaged.
func (d *desk) again(aside, path string, harm func([]record) []record) {
	d.t.Helper()
	if err := os.RemoveAll(d.home); err != nil {
		d.t.Fatal(err)
	}
	d.copy(aside, d.home)
	if harm != nil {
		d.harm(path, harm)
	}
}

// TestThroughProxy damages sessions of real agents, and resumes them without repairing them: first
// with a model that refuses what its API refuses, then with the settings that toolguard-proxy
// prints. Some faults the agents repair themselves, which the test tells apart. Through the
// proxy, the model accepts every request, and a request that was valid arrives as the same bytes.
func TestThroughProxy(t *testing.T) {
	dir, program := os.Getenv("TOOLGUARD_AGENTS"), os.Getenv("TOOLGUARD_PROXY")
	if dir == "" || program == "" {
		t.Skip("TOOLGUARD_AGENTS is not set to a directory that internal/agents/setup.sh has filled, or TOOLGUARD_PROXY not to toolguard-proxy")
	}
	for _, a := range all() {
		if damages(a.name) == nil {
			continue
		}
		t.Run(a.name, func(t *testing.T) { throughProxy(t, newDesk(t, a, dir, ""), program, installed(t, dir, a.module)) })
		if a.name == "Codex" {
			t.Run(a.name+", packed", func(t *testing.T) {
				d := newDesk(t, a, dir, "")
				d.packs = true
				throughProxy(t, d, program, installed(t, dir, a.module)+", packed")
			})
			t.Run(a.name+", another provider", func(t *testing.T) {
				d := newDesk(t, a, dir, "")
				d.model.play(reply{text: "Done."})
				_, _, done := d.start(d.agent.start("begin"))
				<-done
				d.settings(program, d.model.URL, d.model.URL+",provider="+target(a))
				next := d.resumed(d.log(), nil)
				if want := "This chat uses model provider “script”, which is no longer configured."; !strings.Contains(next.trouble, want) {
					t.Errorf("the session is resumed with another provider, want %q: %s", want, next)
				}
			})
		}
	}
}

// throughProxy damages the sessions of one agent.
func throughProxy(t *testing.T, d *desk, program, version string) {
	t.Helper()
	commands := []command{commandA(), commandB()}
	upstream := d.model.URL + ",provider=" + target(d.agent)
	// Codex resumes a session only with the provider that it was recorded with, so
	// that has the name that the proxy prints.
	d.settings(program, d.model.URL, upstream)
	d.model.play(reply{"First.", commands[:1]}, reply{"Second.", commands[1:]}, reply{text: "Done."})
	_, _, done := d.start(d.agent.start("begin"))
	<-done
	if n := len(d.model.seen()); n < 3 {
		t.Fatalf("the session has %d requests, want 3", n)
	}
	path, aside := d.log(), d.home+".aside"
	d.copy(d.home, aside)
	d.model.strict = true

	tap := newTap(t, startProxy(t, program, upstream))
	var itself, healed []string
	for _, fault := range damages(d.agent.name) {
		t.Run(fault.name, func(t *testing.T) {
			outer := d.t
			d.t = t
			defer func() { d.t = outer }()

			d.again(aside, path, fault.do)
			d.settings(program, d.model.URL, upstream)
			alone := d.resumed(path, commands)
			got := ""
			if why := d.model.why(); len(why) > 0 {
				got = why[0]
			}
			if !strings.HasPrefix(got, fault.refused) || (got == "") != (fault.refused == "") {
				t.Errorf("without the proxy, the request is refused with %q, want %q: %s", got, fault.refused, alone)
			}
			if lost := d.lost(path, d.model.arrived()); lost != fault.loses {
				t.Errorf("the request has lost the outputs %q, want %q", lost, fault.loses)
			}
			if fault.refused == "" && fault.name != "none" {
				itself = append(itself, fault.name)
			}

			d.again(aside, path, fault.do)
			d.settings(program, tap.URL, upstream)
			tap.take()
			next := d.resumed(path, commands)
			if why := d.model.why(); len(why) > 0 || next.request == nil {
				t.Fatalf("through the proxy, the request is refused: %q, %s", why, next.trouble)
			}
			if n := d.unchanged(tap.take(), target(d.agent)); (n == 0) != (fault.refused == "") {
				t.Errorf("the agent sent %d requests with a fault", n)
			}
			if fault.refused != "" {
				healed = append(healed, fault.name)
			}
		})
	}
	t.Logf("%s %s: repaired by the agent itself: %d (%s); by the proxy: %d (%s)", d.agent.name, version,
		len(itself), strings.Join(itself, ", "), len(healed), strings.Join(healed, ", "))
	strays, faults := d.model.wrong()
	if len(strays)+len(faults) > 0 {
		t.Errorf("the agent connects to others: %q; the model cannot answer: %q", strays, faults)
	}
}

// lost returns the calls whose outputs are in a session, but not in the requests.
func (d *desk) lost(path string, requests []passed) string {
	d.t.Helper()
	if filepath.Ext(path) != ".jsonl" {
		return ""
	}
	var names []string
	log := d.records(path)
	for _, c := range []command{commandA(), commandB()} {
		sent := slices.ContainsFunc(requests, func(p passed) bool { return bytes.Contains(p.body, []byte(c.output())) })
		if slices.ContainsFunc(log, func(r record) bool { return strings.Contains(content(r), c.output()) }) && !sent {
			names = append(names, c.letter())
		}
	}
	return strings.Join(names, ", ")
}

// unchanged returns how many of the requests that an agent sent have a fault. The others must have
// arrived as they were, and all with the outputs that they had.
func (d *desk) unchanged(sent []passed, api string) (faulty int) {
	d.t.Helper()
	rules, err := provider.Find(api)
	if err != nil {
		d.t.Fatal(err)
	}
	arrived := d.model.arrived()
	if len(sent) == 0 || len(sent) != len(arrived) {
		d.t.Fatalf("the agent sent %d requests, of which %d arrived", len(sent), len(arrived))
	}
	for i, r := range sent {
		if packed := !bytes.Equal(r.raw, r.body); packed != d.packs {
			d.t.Errorf("request %d is packed: %t, want %t", i, packed, d.packs)
		}
		is := arrived[i]
		for _, output := range []string{commandA().output(), commandB().output()} {
			if bytes.Contains(r.body, []byte(output)) && !bytes.Contains(is.body, []byte(output)) {
				d.t.Errorf("the output %s is lost: %s", output, is.body)
			}
		}
		if len(rules.Faults(r.body)) > 0 {
			faulty++
			continue
		}
		if !bytes.Equal(r.raw, is.raw) {
			d.t.Errorf("a valid request has changed\nwas %q\nis  %q", r.raw, is.raw)
		}
	}
	return faulty
}

// TestDamages: each damage changes a session.
func TestDamages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		do   func([]record) []record
		want string
	}{
		{without(`"id":"x"`), `[{"message":{"id":"w"},"parentUuid":null,"uuid":"11111111-a"},{"message":{"id":"y"},"parentUuid":"11111111-a","uuid":"33333333-c"}]`},
		{doubled(`"id":"x"`), `[{"message":{"id":"w"},"parentUuid":null,"uuid":"11111111-a"},{"message":{"id":"x"},"parentUuid":"11111111-a","uuid":"22222222-b"},` +
			`{"message":{"id":"x"},"parentUuid":"22222222-b","uuid":"99999999-b"},{"message":{"id":"y"},"parentUuid":"99999999-b","uuid":"33333333-c"}]`},
		{renamed(`"x"`, `"z"`), `[{"message":{"id":"w"},"parentUuid":null,"uuid":"11111111-a"},{"message":{"id":"z"},"parentUuid":"11111111-a","uuid":"22222222-b"},` +
			`{"message":{"id":"y"},"parentUuid":"22222222-b","uuid":"33333333-c"}]`},
	} {
		var log []record
		if err := json.Unmarshal([]byte(`[{"uuid":"11111111-a","parentUuid":null,"message":{"id":"w"}},{"uuid":"22222222-b","parentUuid":"11111111-a","message":{"id":"x"}},`+
			`{"uuid":"33333333-c","parentUuid":"22222222-b","message":{"id":"y"}}]`), &log); err != nil {
			t.Fatal(err)
		}
		if got := encode(c.do(log)); got != c.want {
			t.Errorf("%s\nwant %s", got, c.want)
		}
	}
}

// damagesTable returns the table of damages in docs/agents.md.
func damagesTable(t *testing.T) string {
	t.Helper()
	var names []string
	cells := map[string]map[string]string{}
	var agents []agent
	for _, a := range all() {
		if damages(a.name) == nil {
			continue
		}
		agents = append(agents, a)
		for _, fault := range damages(a.name) {
			if cells[fault.name] == nil {
				cells[fault.name] = map[string]string{}
				names = append(names, fault.name)
			}
			cell := "repairs it"
			switch {
			case fault.refused != "":
				cell = "is refused: `" + strings.ReplaceAll(fault.refused, "`", "") + "`"
			case fault.name == "none":
				cell = "sends it"
			case fault.loses != "":
				cell += ", loses the output"
			}
			cells[fault.name][a.name] = cell
		}
	}
	var b strings.Builder
	b.WriteString("| fault of the session |")
	for _, a := range agents {
		fmt.Fprintf(&b, " %s %s |", a.name, pinned(t, a))
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(agents)) + "\n")
	for _, name := range names {
		fmt.Fprintf(&b, "| %s |", name)
		for _, a := range agents {
			cell := cells[name][a.name]
			if cell == "" {
				cell = "–"
			}
			fmt.Fprintf(&b, " %s |", cell)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// TestDamagesPage: the table in docs/agents.md says what TestThroughProxy expects.
func TestDamagesPage(t *testing.T) {
	goldenTables(t, damagesTable(t))
}
