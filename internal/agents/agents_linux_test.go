package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolguard/toolguard"
	"github.com/toolguard/toolguard/internal/store"
)

// TestAgents runs real agents and kills them in a tool call. Their sessions are then resumed as
// they are, which is recorded, and repaired, after which the next request must be valid and
// have every result that the session has.
func TestAgents(t *testing.T) {
	dir := os.Getenv("TOOLGUARD_AGENTS")
	if dir == "" {
		t.Skip("TOOLGUARD_AGENTS is not set to a directory that internal/agents/setup.sh has filled")
	}
	toolguard := build(t)
	page := readPage(t, endingsTable)
	for _, a := range all() {
		t.Run(a.name, func(t *testing.T) {
			version := installed(t, dir, a.module)
			for _, e := range endings() {
				if page.skips(a.name+" "+version, e.name) {
					continue
				}
				t.Run(e.name, func(t *testing.T) {
					d, path := recorded(t, a, e, func() *desk { return newDesk(t, a, dir, toolguard) })
					d.pinned = version == pinned(t, a)
					page.record(t, append(row{a.name + " " + version, e.name}, d.session(e, path)...))
				})
			}
		})
	}
}

// patience is how long an agent may take for a session; a busy machine is slow.
const patience = 4 * time.Minute

// build builds toolguard, and returns its path.
func build(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "toolguard")
	if out, err := exec.Command("go", "build", "-o", program, "../../cmd/toolguard").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// installed returns the version of a package.
func installed(t *testing.T, dir, module string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "node_modules", module, "package.json"))
	if err != nil {
		t.Fatal(err)
	}
	var about struct{ Version string }
	if err := json.Unmarshal(raw, &about); err != nil || about.Version == "" {
		t.Fatalf("%s: expected a version: %v", module, err)
	}
	return about.Version
}

// A desk is where one agent works: a home of its own, and a model.
type desk struct {
	t         *testing.T
	agent     agent
	home      string
	env       []string
	program   string
	toolguard string
	model     *server
	// pinned is set for the versions that setup.sh installs. Older ones may try to connect to
	// others, which the proxy refuses, and may leave out calls without a real result.
	pinned bool
	// left is the highest exit code of a repair: 1 if a repair may leave errors.
	left int
	// packs says that the agent packs its requests, if it can.
	packs bool
}

func newDesk(t *testing.T, a agent, dir, toolguard string) *desk {
	t.Helper()
	d := &desk{t: t, agent: a, home: filepath.Join(t.TempDir(), "home"), toolguard: toolguard, model: serve(t)}
	modules, err := filepath.Abs(filepath.Join(dir, "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	fill := strings.NewReplacer("{model}", d.model.URL, "{cache}", filepath.Join(filepath.Dir(modules), "cache"))
	for _, name := range []string{"work", "tmp"} {
		if err := os.MkdirAll(filepath.Join(d.home, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range a.files {
		path := filepath.Join(d.home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(fill.Replace(text)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	d.program = filepath.Join(modules, ".bin", a.program)
	node := filepath.Join(modules, "node-linux-"+map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH], "bin")
	if _, err := os.Stat(node); err != nil {
		path, err := exec.LookPath("node")
		if err != nil {
			t.Fatal(err)
		}
		node = filepath.Dir(path)
	}
	d.env = []string{
		"HOME=" + d.home, "TMPDIR=" + filepath.Join(d.home, "tmp"), "PATH=" + node + ":/usr/local/bin:/usr/bin:/bin",
		"LANG=C.UTF-8", "TERM=xterm", "NO_COLOR=1",
		"HTTP_PROXY=" + d.model.URL, "HTTPS_PROXY=" + d.model.URL, "NO_PROXY=127.0.0.1,localhost",
		"http_proxy=" + d.model.URL, "https_proxy=" + d.model.URL, "no_proxy=127.0.0.1,localhost",
	}
	for _, v := range a.env {
		d.env = append(d.env, fill.Replace(v))
	}
	t.Cleanup(d.clear)
	return d
}

// recorded runs a session of the agent until it ends, and returns its path. The output of the
// first command is in it: that command has ended before the next begins. On a busy machine
// Qwen Code sometimes records an empty output instead, and then there is another session, at
// most three in all.
func recorded(t *testing.T, a agent, e ending, desk func() *desk) (*desk, string) {
	t.Helper()
	for try := 1; ; try++ {
		d := desk()
		d.model.play(append(slices.Clone(e.script), reply{text: "Done."})...)
		d.interrupt(a.start("begin"), "started-c", e.signal)
		if e.again != nil {
			d.model.play(*e.again, reply{text: "Done."})
			d.interrupt(a.resume(d.log(), "go on"), "started-d", e.signal)
		}
		path := d.log()
		if try == 3 || bytes.Contains(d.read(path), []byte(commandA().output())) {
			return d, path
		}
		t.Logf("%s has recorded no output of the first command", a.program)
	}
}

// session resumes a session as it is and repaired, and returns the cells of its row.
func (d *desk) session(e ending, path string) []string {
	t := d.t
	t.Helper()
	var commands []command
	for _, r := range e.script {
		commands = append(commands, r.commands...)
	}
	if e.again != nil {
		commands = append(commands, e.again.commands...)
	}

	log := d.read(path)
	findings := d.check(path)

	aside := d.home + ".aside"
	d.copy(d.home, aside)
	asItIs := d.resumed(path, commands)

	if err := os.RemoveAll(d.home); err != nil {
		t.Fatal(err)
	}
	d.copy(aside, d.home)
	d.repair(path)
	next := d.resumed(path, commands)

	if next.request == nil {
		t.Fatalf("the repaired session is not resumed: %s", next.trouble)
	}
	for _, fault := range next.faults {
		t.Errorf("the request of the repaired session is invalid: %s", fault)
	}
	for _, fault := range errorsOf(t, next.request.wire, next.request.body) {
		t.Errorf("toolguard rejects the request of the repaired session: %s", fault)
	}
	for _, c := range commands {
		if output := c.output(); output != "" && bytes.Contains(log, []byte(output)) && !strings.Contains(next.results[c.id], output) {
			t.Errorf("the session has the result of %s, but the request of the repaired session has %q", c.letter(), next.results[c.id])
		}
		if _, answered := next.results[c.id]; next.called[c.id] && !answered {
			t.Errorf("the request of the repaired session has no result of %s", c.letter())
		}
		if d.pinned && bytes.Contains(log, []byte(c.line)) && !next.called[c.id] {
			t.Errorf("the session has the call %s, but the request of the repaired session does not", c.letter())
		}
	}
	if findings := d.check(path); slices.ContainsFunc(findings, func(f finding) bool { return f.Severity == "error" && f.Rule != d.agent.breaks }) {
		t.Errorf("the session has errors after it was repaired and resumed: %s", summary(findings))
	}
	d.alone()
	return []string{contents(log, commands), summary(findings), asItIs.String(), next.String()}
}

// alone verifies that the agent has reached only the model, which could answer. If the test has
// failed, the home is kept.
func (d *desk) alone() {
	t := d.t
	t.Helper()
	strays, faults := d.model.wrong()
	strays = slices.DeleteFunc(strays, func(host string) bool { return slices.Contains(d.agent.strays, host) })
	if len(strays) > 0 && d.pinned {
		t.Errorf("the agent connects to others: %q", strays)
	}
	for _, fault := range faults {
		t.Errorf("the model cannot answer: %s", fault)
	}
	if t.Failed() {
		keep := filepath.Join(os.TempDir(), "toolguard-agents", strings.ReplaceAll(t.Name(), "/", "-"))
		if err := os.RemoveAll(keep); err != nil {
			t.Error(err)
		}
		d.copy(d.home, keep)
		t.Logf("the home is in %s", keep)
	}
}

// errorsOf returns the errors that toolguard finds in a request.
func errorsOf(t *testing.T, api *wire, body []byte) (out []string) {
	t.Helper()
	report, err := toolguard.CheckBytes(t.Context(), body, toolguard.Request(), toolguard.Dialect(api.name), toolguard.Send())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Findings {
		if f.Severity == toolguard.Error {
			out = append(out, f.Rule+": "+f.Message)
		}
	}
	return out
}

// interrupt starts the agent, waits for the command that creates a file and for the session to
// be written, and sends a signal to the agent and what it started, as a terminal does.
func (d *desk) interrupt(args []string, file string, signal syscall.Signal) {
	d.t.Helper()
	cmd, out, done := d.start(args)
	started := filepath.Join(d.home, "work", file)
	limit := time.After(patience)
	for {
		if _, err := os.Stat(started); err == nil {
			break
		}
		select {
		case <-done:
			d.t.Fatalf("%s ended before it ran the command:\n%s", d.agent.program, out)
		case <-limit:
			d.clear()
			<-done
			d.t.Fatalf("%s did not run the command in time, after %d requests:\n%s", d.agent.program, len(d.model.seen()), out)
		case <-time.After(20 * time.Millisecond):
		}
	}
	d.settle()
	if err := syscall.Kill(-cmd.Process.Pid, signal); err != nil {
		d.t.Fatal(err)
	}
	select {
	case <-done:
	case <-time.After(patience / 4):
		d.t.Logf("%s ignores %s", d.agent.program, signal)
	}
	d.clear()
	<-done
}

// start starts the agent in a group of its own. The channel is closed when it has ended, and
// then the buffer has what it printed.
func (d *desk) start(args []string) (cmd *exec.Cmd, out *bytes.Buffer, done chan struct{}) {
	d.t.Helper()
	cmd = exec.Command(d.program, args...)
	out = &bytes.Buffer{}
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = filepath.Join(d.home, "work"), d.env, out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Second
	if prompt, is := strings.CutPrefix(args[len(args)-1], typed); is {
		cmd.Args = cmd.Args[:len(args)]
		return cmd, out, d.startTyping(cmd, out, prompt)
	}
	if err := cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	done = make(chan struct{})
	go func() {
		cmd.Wait() //nolint:errcheck // a killed agent always has an error
		close(done)
	}()
	return cmd, out, done
}

// settle waits until the session has not changed for half a second, at most for five.
func (d *desk) settle() {
	last, since := "", time.Now()
	for limit := time.Now().Add(5 * time.Second); time.Now().Before(limit) && time.Since(since) < 500*time.Millisecond; time.Sleep(20 * time.Millisecond) {
		var b strings.Builder
		for _, path := range d.logs() {
			if info, err := os.Stat(path); err == nil {
				fmt.Fprintln(&b, path, info.Size(), info.ModTime())
			}
		}
		if now := b.String(); now != last {
			last, since = now, time.Now()
		}
	}
}

// clear kills all processes with the home of this desk: agents start tools in groups and
// sessions of their own.
func (d *desk) clear() {
	mark := []byte("HOME=" + d.home + "\x00")
	for range 100 {
		found := false
		paths, err := filepath.Glob("/proc/[0-9]*/environ")
		if err != nil {
			d.t.Fatal(err)
		}
		for _, path := range paths {
			if env, err := os.ReadFile(path); err != nil || !bytes.Contains(append(env, 0), mark) {
				continue // of another user, or ended by now
			}
			var pid int
			if _, err := fmt.Sscanf(path, "/proc/%d/environ", &pid); err == nil && pid != os.Getpid() {
				found = true
				syscall.Kill(pid, syscall.SIGKILL) //nolint:errcheck // it may have ended by now
			}
		}
		if !found {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	d.t.Errorf("processes of %s do not end", d.agent.program)
}

// logs returns the sessions of the agent, by the table of stores.
func (d *desk) logs() (paths []string) {
	if d.agent.database != "" {
		paths, err := filepath.Glob(filepath.Join(d.home, d.agent.database))
		if err != nil {
			d.t.Fatal(err)
		}
		return paths
	}
	finder := store.Find(func(name string) string {
		if name == "HOME" {
			return d.home
		}
		return ""
	}, runtime.GOOS)
	err := filepath.WalkDir(d.home, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // the agent removed it meanwhile
		}
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		if s := finder.Of(path); s != nil && s.Agent == d.agent.name && s.Holds(entry.Name()) {
			paths = append(paths, path)
		}
		return nil
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return paths
}

// log returns the session of the agent. There is one.
func (d *desk) log() string {
	d.t.Helper()
	paths := d.logs()
	if len(paths) != 1 {
		d.t.Fatalf("expected one session in the store of %s, but it has %q", d.agent.name, paths)
	}
	return paths[0]
}

func (d *desk) read(path string) []byte {
	d.t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		d.t.Fatal(err)
	}
	if d.agent.database != "" { // what was written last is beside it
		latest, err := os.ReadFile(path + "-wal")
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			d.t.Fatal(err)
		}
		raw = append(raw, latest...)
	}
	return raw
}

// copy copies a directory as it is, with times, links and modes.
func (d *desk) copy(from, to string) {
	d.t.Helper()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		d.t.Fatal(err)
	}
	if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		d.t.Fatalf("%v\n%s", err, out)
	}
}

// A finding is what this package reads of a report of toolguard.
type finding struct{ Rule, Severity, Message string }

// check returns what toolguard finds in a session.
func (d *desk) check(path string) []finding {
	d.t.Helper()
	out, stderr := d.run(1, "check", "-o", "json", path)
	var report struct{ Findings []finding }
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		d.t.Fatalf("toolguard check: %v\n%s%s", err, out, stderr)
	}
	return report.Findings
}

// repair repairs a session, which was last written an hour ago.
func (d *desk) repair(path string, flags ...string) {
	d.t.Helper()
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, past, past); err != nil {
		d.t.Fatal(err)
	}
	d.run(d.left, append([]string{"doctor", "--fix", "--yes", "--all"}, flags...)...)
}

// run runs toolguard in the home of the agent. An exit code above the highest that is expected
// is a failure.
func (d *desk) run(highest int, args ...string) (stdout, stderr string) {
	d.t.Helper()
	cmd := exec.Command(d.toolguard, args...)
	var out, err bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = d.home, []string{"HOME=" + d.home}, &out, &err
	var exit *exec.ExitError
	if e := cmd.Run(); e != nil && (!errors.As(e, &exit) || exit.ExitCode() > highest || exit.ExitCode() < 0) {
		d.t.Fatalf("toolguard %q: %v\n%s%s", args, e, &out, &err)
	}
	return out.String(), err.String()
}

// A resumption is what an agent sent after a prompt to a session.
type resumption struct {
	request  *request // nil if it sent none
	trouble  string   // what it printed instead
	faults   []string
	commands []command
	called   map[string]bool   // the commands whose calls are in the request
	results  map[string]string // and their results
}

// resumed resumes a session, and reads the first request.
func (d *desk) resumed(path string, commands []command) *resumption {
	d.t.Helper()
	d.model.play(reply{text: "Resumed."})
	args := d.agent.resume(path, "go on")
	_, out, done := d.start(args)
	select {
	case <-done:
	case <-time.After(patience):
		d.t.Errorf("%s does not end after the reply", d.agent.program)
	}
	d.clear()
	<-done
	r := &resumption{commands: commands, called: map[string]bool{}, results: map[string]string{}}
	requests := d.model.seen()
	if len(requests) == 0 {
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		r.trouble = lines[len(lines)-1]
		if shown := regexp.MustCompile(`Error: [^\x1b\n]+`).FindString(out.String()); shown != "" && strings.HasPrefix(args[len(args)-1], typed) {
			r.trouble = shown // what it prints last is how to go on
		}
		return r
	}
	r.request = &requests[0]
	messages, _, err := r.request.wire.read(r.request.body)
	if err != nil {
		d.t.Fatal(err)
	}
	r.faults = r.request.wire.refusals(r.request.body)
	// Agents may change ids, so a call is known by its command.
	for _, e := range exchanges(messages) {
		for _, known := range commands {
			if e.call == nil || !strings.Contains(e.call.args, known.line) {
				continue
			}
			r.called[known.id] = true
			if e.result != nil {
				r.results[known.id] = e.result.text
			}
		}
	}
	return r
}

// String describes a request for the page.
func (r *resumption) String() string {
	if r.request == nil {
		return "no request: " + r.trouble
	}
	var parts []string
	add := func(what string, holds func(c command) bool) {
		var names []string
		for _, c := range r.commands {
			if holds(c) {
				names = append(names, c.letter())
			}
		}
		if names != nil {
			parts = append(parts, strings.Join(names, ", ")+" "+what)
		}
	}
	has := func(c command) bool { _, ok := r.results[c.id]; return ok }
	answered := func(c command) bool { return c.output() != "" && strings.Contains(r.results[c.id], c.output()) }
	add("answered", answered)
	said := map[string]bool{}
	for _, c := range r.commands {
		if text := r.results[c.id]; has(c) && !answered(c) && !said[text] {
			said[text] = true
			add(fmt.Sprintf("“%s”", short(text)), func(c command) bool { return has(c) && !answered(c) && r.results[c.id] == text })
		}
	}
	add("open", func(c command) bool { return r.called[c.id] && !has(c) })
	add("left out", func(c command) bool { return !r.called[c.id] })
	verdict := "valid"
	if len(r.faults) > 0 {
		verdict = "invalid"
	}
	return verdict + ": " + strings.Join(parts, "; ")
}

// short returns the beginning of a text, in one line and without durations.
func short(text string) string {
	text = regexp.MustCompile(`\d+\.\d+ ?s`).ReplaceAllString(strings.Join(strings.Fields(text), " "), "N s")
	if r := []rune(text); len(r) > 60 {
		text = string(r[:60]) + "…"
	}
	return text
}

// contents says which calls and results of the script a session has.
func contents(log []byte, commands []command) string {
	var calls, results []string
	for _, c := range commands {
		if bytes.Contains(log, []byte(c.line)) {
			calls = append(calls, c.letter())
		}
		if c.output() != "" && bytes.Contains(log, []byte(c.output())) {
			results = append(results, c.letter())
		}
	}
	return fmt.Sprintf("calls %s; outputs %s", list(calls), list(results))
}

func list(names []string) string {
	if names == nil {
		return "none"
	}
	return strings.Join(names, ", ")
}

// summary counts findings by severity and rule.
func summary(findings []finding) string {
	var keys []string
	count := map[string]int{}
	for _, f := range findings {
		key := f.Severity + " `" + f.Rule + "`"
		if count[key]++; count[key] == 1 {
			keys = append(keys, key)
		}
	}
	if keys == nil {
		return "nothing"
	}
	for i, key := range keys {
		keys[i] = fmt.Sprintf("%d %s", count[key], key)
	}
	return strings.Join(keys, ", ")
}
