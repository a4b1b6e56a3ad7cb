package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/toolguard/toolguard/internal/contain"
	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/filter"
	"github.com/toolguard/toolguard/internal/planted"
	"github.com/toolguard/toolguard/internal/reference"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/sample"
	"github.com/toolguard/toolguard/internal/source"
)

func newServer(jobs int) *Server {
	return &Server{
		Program: "0.0.0-test", MaxRequest: 1 << 20, Jobs: jobs,
		Internal: func(caught *contain.Error) string { return "internal error: " + caught.Panic },
	}
}

// An answered is what the tests look at in an answer.
type answered struct {
	V     int
	ID    json.RawMessage
	Error struct{ Code, Message string }

	Report, Before struct {
		Dialect  string
		Worst    string
		Errors   int
		Omitted  int
		Findings []found
	}
	Changed  bool
	Text     *string
	JSON     json.RawMessage
	Dialect  string
	Verdicts []struct {
		Keep     bool
		Judged   *bool
		Row      json.RawMessage
		Line     string
		Warned   []string
		Rules    []string
		Reason   string
		Findings []found
	}
}

// A found is a finding.
type found struct {
	Rule, Message, Pointer string
	Record                 int
	Start                  struct {
		Offset int64
		Line   int
	}
}

// ask returns the answers to some lines.
func (s *Server) ask(t *testing.T, lines ...string) []answered {
	t.Helper()
	var out bytes.Buffer
	if err := s.Run(t.Context(), strings.NewReader(strings.Join(lines, "\n")), &out); err != nil {
		t.Fatal(err)
	}
	validate(t, "", out.String())
	var all []answered
	for line := range strings.Lines(out.String()) {
		var a answered
		if err := json.Unmarshal([]byte(line), &a); err != nil || a.V != Version {
			t.Fatalf("%v: %s", err, line)
		}
		all = append(all, a)
	}
	return all
}

// request returns a request as a line.
func requestOf(fields map[string]any) string {
	b, err := json.Marshal(fields)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// schemaFile is the schema of requests and answers.
var schemaFile = sync.OnceValues(func() (string, error) {
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", "serve.schema.json"))
	return string(b), err
})

// validator is a running validator.
var validator = sync.OnceValues(reference.Start)

// validate compares lines with the schema, or the part of it that an anchor names.
func validate(t *testing.T, anchor, lines string) {
	t.Helper()
	text, err := schemaFile()
	if err != nil {
		t.Fatal(err)
	}
	v, err := validator()
	if err != nil {
		t.Fatal(err)
	}
	var raw map[string]any
	if err := json.Unmarshal([]byte(text), &raw); err != nil {
		t.Fatal(err)
	}
	if anchor != "" {
		text = requestOf(map[string]any{"$schema": raw["$schema"], "$id": raw["$id"], "$defs": raw["$defs"], "$ref": "#" + anchor})
	}
	a, err := v.Validate(reference.Request{Schema: text, URL: raw["$id"].(string), Values: slices.Collect(strings.Lines(lines))})
	if err != nil || a.Invalid != "" {
		t.Fatalf("%v %s", err, a.Invalid)
	}
	for i, failures := range a.Failures {
		for _, f := range failures {
			t.Errorf("%q: %s\n%.2000s", f.At, f.Message, slices.Collect(strings.Lines(lines))[i])
		}
	}
}

// TestSchemaFields: the schema has the operations and the fields of the program.
func TestSchemaFields(t *testing.T) {
	t.Parallel()
	text, err := schemaFile()
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Defs struct {
			Fields  map[string]any
			Request struct {
				OneOf []struct {
					Properties map[string]struct{ Const any }
				}
			}
			Error struct {
				Properties struct {
					Error struct {
						Properties struct{ Code struct{ Enum []string } }
					}
				}
			}
		} `json:"$defs"`
	}
	if err := json.Unmarshal([]byte(text), &schema); err != nil {
		t.Fatal(err)
	}
	got, want := map[string][]string{}, Ops()
	used := map[string]bool{}
	for _, r := range schema.Defs.Request.OneOf {
		var names []string
		for name := range r.Properties {
			if name != "v" && name != "id" && name != "op" {
				names = append(names, name)
				used[name] = true
			}
		}
		slices.Sort(names)
		got[r.Properties["op"].Const.(string)] = names
	}
	for _, names := range want {
		slices.Sort(names)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("operations (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(Codes(), schema.Defs.Error.Properties.Error.Properties.Code.Enum); diff != "" {
		t.Errorf("codes (-want +got):\n%s", diff)
	}
	for _, f := range fields() {
		if schema.Defs.Fields[f.name] == nil || !used[f.name] {
			t.Errorf("the schema has no field %s", f.name)
		}
	}
	if len(schema.Defs.Fields) != len(fields()) {
		t.Errorf("the schema has %d fields, want %d", len(schema.Defs.Fields), len(fields()))
	}
}

// fixtures returns the files of all formats that are text.
func fixtures(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("..", "..", "testdata", "transcripts", "*", "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if utf8.Valid(text) {
			all[path] = string(text)
		}
	}
	if len(all) < 200 {
		t.Fatalf("%d fixtures", len(all))
	}
	return all
}

// findings returns the findings of a report as they are in an answer.
func findings(list *engine.Findings) []found {
	var out []found
	for f := range list.All() {
		x := found{Rule: f.Rule.Name, Message: f.Message, Pointer: f.Pointer, Record: int(f.Record)}
		x.Start.Offset, x.Start.Line = f.Start.Offset, f.Start.Line
		out = append(out, x)
	}
	return out
}

// TestSameAsEngine: check and fix say of each fixture what the engine says of the file.
func TestSameAsEngine(t *testing.T) {
	t.Parallel()
	s := newServer(2)
	for path, text := range fixtures(t) {
		src := source.FromBytes(inputName, []byte(text))
		want, err := engine.Check(t.Context(), src, engine.Options{})
		got := s.ask(t, requestOf(map[string]any{"op": "check", "text": text, "max_findings": 100_000}), requestOf(map[string]any{"op": "fix", "text": text, "unsafe": true, "max_findings": 100_000}))
		if err != nil || want.Skipped != "" {
			if got[0].Error.Code == "" {
				t.Errorf("%s: checked, want %v %s", path, err, want.Skipped)
			}
			continue
		}
		if diff := cmp.Diff(findings(&want.Findings), got[0].Report.Findings, cmpopts.EquateEmpty()); diff != "" || got[0].Report.Dialect != want.File.Dialect {
			t.Errorf("%s: check (-want +got):\n%s", path, diff)
		}
		fixed, err := engine.Settle(t.Context(), source.FromBytes(inputName, []byte(text)), engine.FixOptions{Unsafe: true})
		switch {
		case err != nil:
			if got[1].Error.Code != codeRefused || got[1].Error.Message != err.Error() {
				t.Errorf("%s: fix: %+v, want %v", path, got[1].Error, err)
			}
		case fixed.Changed() != got[1].Changed || fixed.Changed() != (got[1].Text != nil):
			t.Errorf("%s: changed: %v", path, got[1].Changed)
		case fixed.Changed() && *got[1].Text != string(fixed.Pieces.Source().Text()):
			t.Errorf("%s: fix has another text", path)
		default:
			if diff := cmp.Diff(findings(&fixed.After.Findings), got[1].Report.Findings, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s: fix (-want +got):\n%s", path, diff)
			}
		}
	}
}

// A row is what became of a row.
type row struct {
	out      string // "" if it is rejected
	rules    []string
	findings []found
}

// TestSameAsFilter: each row of each fixture is kept or rejected as filter does it, also if rows of
// several fixtures follow each other, with and without repairs.
func TestSameAsFilter(t *testing.T) {
	t.Parallel()
	all := fixtures(t)
	datasets := map[string][]string{}
	var mixed []string
	for path, text := range all {
		lines := strings.Split(strings.TrimSuffix(strings.ReplaceAll(text, "\r", ""), "\n"), "\n")
		if !strings.HasSuffix(path, ".jsonl") || strings.HasPrefix(text, "\ufeff") {
			continue
		}
		datasets[path] = lines
		if len(lines) > 1 {
			mixed = append(mixed, lines[:2]...)
		}
	}
	good := `{"messages":[{"role":"user","content":"ls"},{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"a"}]}`
	for path, text := range all { // a request is a row
		if v, err := json.Marshal(json.RawMessage(text)); err == nil && strings.HasPrefix(string(v), "{") {
			datasets[path+" as a row"] = []string{good, string(v), good}
		}
	}
	slices.Sort(mixed)
	datasets["mixed"] = append([]string{good, `{"messages":[`, good, "", good[:90], "{}"}, mixed...)
	judged, rejected, repaired := 0, 0, 0
	for name, lines := range datasets {
		for _, repair := range []bool{false, true} {
			want, err := filtered(t, lines, repair)
			fields := map[string]any{"op": "filter", "lines": lines, "fix": repair}
			if repair {
				fields["strategy"] = map[string]string{"missing-tool-result": "insert"}
			}
			got := newServer(1).ask(t, requestOf(fields))[0]
			if err != nil {
				if got.Error.Code == "" {
					t.Errorf("%s: filtered, want %v", name, err)
				}
				continue
			}
			if got.Error.Code != "" || len(got.Verdicts) != len(lines) {
				t.Errorf("%s: %+v, %d verdicts", name, got.Error, len(got.Verdicts))
				continue
			}
			for i, line := range lines {
				v := got.Verdicts[i]
				is := row{rules: v.Rules, findings: v.Findings}
				if v.Keep {
					is.out = line
				}
				if v.Line != "" {
					is.out = v.Line
					repaired++
				}
				if !v.Keep {
					rejected++
				}
				if v.Judged == nil {
					judged++
				}
				if diff := cmp.Diff(want[i], is, cmp.AllowUnexported(row{})); diff != "" {
					t.Errorf("%s, repairs %v, row %d (-want +got):\n%s", name, repair, i, diff)
				}
			}
		}
	}
	if judged < 200 || rejected < 50 || repaired < 20 {
		t.Errorf("%d judged, %d rejected, %d repaired", judged, rejected, repaired)
	}
}

// filtered returns what filter does with each line.
func filtered(t *testing.T, lines []string, repair bool) ([]row, error) {
	t.Helper()
	text := strings.Join(append(slices.Clone(lines), "{}", ""), "\n")
	var out bytes.Buffer
	rows := make([]row, len(lines)+1)
	starts := []int64{0}
	for _, line := range lines {
		starts = append(starts, starts[len(starts)-1]+int64(len(line))+1)
	}
	gone := map[int]bool{}
	opts := filter.Options{FailOn: rules.Error, Row: true, Untold: true, Out: func() (io.Writer, error) { return &out, nil }}
	opts.Check.Dialects = dialect.Builtin()
	if repair {
		opts.Check.Strategy = map[string]string{"missing-tool-result": "insert"}
		opts.Fix = &engine.FixOptions{Options: opts.Check, SafeOnly: true, AnyClass: map[string]bool{"missing-tool-result": true}}
	}
	opts.Reason = func(r *filter.Reason) error {
		i, _ := slices.BinarySearch(starts, r.Span.Start+1)
		i--
		gone[i] = true
		rows[i] = row{rules: r.Rules, findings: findings(&r.Findings)}
		for k := range rows[i].findings {
			f := &rows[i].findings[k]
			f.Record, f.Start.Offset, f.Start.Line = 1, f.Start.Offset-starts[i], f.Start.Line-i
		}
		return nil
	}
	got, err := filter.Run(t.Context(), source.FromBytes(inputName, []byte(text)), opts)
	switch {
	case err != nil:
		return nil, err
	case got.Report.Skipped != "" || !got.Report.File.Sure:
		return nil, errors.New("not certainly a transcript")
	}
	kept := strings.Split(out.String(), "\n")
	for i := range lines {
		if !gone[i] {
			rows[i].out, kept = kept[0], kept[1:]
		}
	}
	if len(kept) != 2 {
		t.Errorf("%d rows are left over", len(kept)-2)
	}
	return rows[:len(lines)], nil
}

// TestRowsAreIndependent: what is said of a row does not depend on the other rows of the request, nor
// on whether it is a value or a line, if the format is known.
func TestRowsAreIndependent(t *testing.T) {
	t.Parallel()
	good := `{"messages":[{"role":"user","content":"ls"},{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"a"}]}`
	rows := []string{good, strings.Replace(good, `"tool_call_id":"c1"`, `"tool_call_id":"c2"`, 1), `{"messages":[`, `]}`, "", "{}", "7", `"x"`, "[]", good[:60], good[60:], good + good, `{"messages":[{"role":"user","content":"`, "\x00\x00" + good, " \t" + good + " "}
	s := newServer(1)
	known := map[string][]byte{}
	alone := func(row string) []byte {
		if b := known[row]; b != nil {
			return b
		}
		got := s.ask(t, requestOf(map[string]any{"op": "filter", "from": "openai-chat", "lines": []string{row}}))
		b, err := json.Marshal(got[0].Verdicts)
		if err != nil || len(got[0].Verdicts) != 1 {
			t.Fatalf("%q: %v %+v", row, err, got[0])
		}
		known[row] = b
		return b
	}
	random := rand.New(rand.NewPCG(1, sample.Seed(1)))
	for range sample.Size(3000, 300, 60) {
		some := make([]string, 1+random.IntN(6))
		for i := range some {
			some[i] = rows[random.IntN(len(rows))]
		}
		got := s.ask(t, requestOf(map[string]any{"op": "filter", "from": "openai-chat", "lines": some}))[0]
		if len(got.Verdicts) != len(some) {
			t.Fatalf("%q: %+v", some, got)
		}
		for i, v := range got.Verdicts {
			b, err := json.Marshal([]any{v})
			if err != nil {
				t.Fatal(err)
			}
			var a, w []struct{ Keep bool }
			if json.Unmarshal(b, &a) != nil || json.Unmarshal(alone(some[i]), &w) != nil || a[0].Keep != w[0].Keep {
				t.Errorf("row %d of %q: %s, alone %s", i, some, b, alone(some[i]))
			}
		}
	}
}

// TestOrder: a client may send very many requests before it reads the first answer, and gets the
// answers in order.
func TestOrder(t *testing.T) {
	t.Parallel()
	const n = 10_000
	var in strings.Builder
	for i := range n {
		if i%3 == 0 {
			fmt.Fprintf(&in, "{\"id\":%d,\"op\":\"check\",\"json\":[{\"role\":\"user\",\"content\":%q}]}\n", i, strings.Repeat("x", i%50))
		} else {
			fmt.Fprintf(&in, "{\"id\":%d,\"op\":\"version\"}\n", i)
		}
	}
	for _, jobs := range []int{1, 8} {
		s := newServer(jobs)
		s.MaxRequest = 64 << 20
		out := &gate{open: make(chan struct{})}
		read := &counted{Reader: strings.NewReader(in.String()), ended: make(chan struct{})}
		ended := make(chan error)
		go func() { ended <- s.Run(t.Context(), read, out) }()
		<-read.ended // all requests are read while nobody reads answers
		close(out.open)
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		i := 0
		for line := range strings.Lines(out.String()) {
			if !strings.HasPrefix(line, fmt.Sprintf(`{"v":1,"id":%d,`, i)) {
				t.Fatalf("answer %d: %.100s", i, line)
			}
			i++
		}
		if i != n {
			t.Errorf("%d answers", i)
		}
	}
}

// A gate is a pipe that nobody reads until it is opened.
type gate struct {
	open chan struct{}
	bytes.Buffer
}

func (g *gate) Write(p []byte) (int, error) {
	<-g.open
	return g.Buffer.Write(p)
}

// A counted reader counts what is read.
type counted struct {
	io.Reader
	mu    sync.Mutex
	n     int64
	ended chan struct{}
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n += int64(n)
	if err != nil {
		close(c.ended)
	}
	return n, err
}

func (c *counted) read() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

// TestBounded: if nobody reads the answers, the server stops reading, and goes on afterwards.
func TestBounded(t *testing.T) {
	t.Parallel()
	const n, jobs = 3000, 4
	one := func(i int) string {
		return fmt.Sprintf(`{"id":%d,"op":"fix","json":[{"role":"user","content":%q}]}`, i, strings.Repeat("y", 10_000)) + "\n"
	}
	var in strings.Builder
	for i := range n {
		in.WriteString(one(i))
	}
	s := newServer(jobs)
	out := &gate{open: make(chan struct{})}
	read := &counted{Reader: strings.NewReader(in.String()), ended: make(chan struct{})}
	ended := make(chan error)
	go func() { ended <- s.Run(t.Context(), read, out) }()
	for last := int64(-1); last != read.read(); time.Sleep(50 * time.Millisecond) {
		last = read.read()
	}
	// What waits, what was written and not taken, what is in work, and what is in the buffer. The answers
	// are shorter than the requests, so far more requests than the limit are read in all.
	select {
	case <-read.ended:
		t.Error("all was read, although nobody reads the answers")
	default:
	}
	close(out.open)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(out.String(), "\n"); got != n {
		t.Errorf("%d answers", got)
	}
}

// TestHeld: what waits never takes more than the limit and one more request, and an answer for each
// worker.
func TestHeld(t *testing.T) {
	t.Parallel()
	q := newQueue()
	for i := range 10 {
		if !q.add(&job{line: make([]byte, 1000)}, 20_000) {
			t.Fatal(i)
		}
	}
	added := make(chan bool)
	go func() { added <- q.add(&job{line: make([]byte, 19_000)}, 20_000) }()
	select {
	case <-added:
		t.Fatal("was added to a full queue")
	case <-time.After(20 * time.Millisecond):
	}
	q.mu.Lock()
	q.held = 0
	q.changed.Broadcast()
	q.mu.Unlock()
	if !<-added || q.held != 19_000+overhead {
		t.Errorf("%d are held", q.held)
	}
	go func() { added <- q.add(&job{}, 10) }()
	q.stop(io.ErrClosedPipe)
	if <-added {
		t.Error("goes on behind the end")
	}
}

// TestLines: each line has the documented answer.
func TestLines(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 1000) + strings.Repeat("]", 1000)
	long := strings.Repeat("x", 1<<20)
	for _, tt := range []struct{ line, id, code, message string }{
		{`{"id":7,"op":"check"`, "7", codeBroken, "expected ',' or '}' after a field at byte 21 of the line"},
		{`{"op":"check","id":"a","json":[}`, `"a"`, codeBroken, "expected a value or ']' at byte 31 of the line"},
		{`{"op":"check","json":[},"id":"a"}`, "null", codeBroken, "expected a value or ']' at byte 22 of the line"},
		{`{"id":12`, "null", codeBroken, "expected ',' or '}' after a field at byte 9 of the line"},
		{`{"id":1} {"id":2}`, "1", codeBroken, "expected the end of the line at byte 9 of the line"},
		{`nonsense`, "null", codeBroken, "expected the literal null at byte 1 of the line"},
		{`[1]`, "null", codeBroken, "expected an object"},
		{"{\"id\":3,\"op\":\"check\",\"text\":\"\xff\"}", "3", codeBroken, "expected UTF-8 at byte 29 of the line"},
		{`{"id":5,"op":"check","json":` + deep + `}`, "5", codeBroken, "expected at most 1000 levels of nesting at byte 1027 of the line"},
		{`{"id":6,"op":"check","text":"` + long + `"}`, "6", codeTooLarge, "expected a line of at most 1048576 bytes"},
		{`{"op":"check","text":"` + long + `","id":6}`, "null", codeTooLarge, "expected a line of at most 1048576 bytes"},
		{`{"v":2,"id":1,"op":"check"}`, "1", codeVersion, "v: expected 1, the only version of this program"},
		{`{"v":"1","id":1,"op":"check"}`, "1", codeVersion, "v: expected 1, the only version of this program"},
		{`{"id":[1],"op":"check"}`, "null", codeBad, "id: expected a string or a number of at most 256 bytes"},
		{`{"id":"` + long[:300] + `","op":"check"}`, "null", codeBad, "id: expected a string or a number of at most 256 bytes"},
		{`{"id":1,"id":2,"op":"check"}`, "null", codeBad, "id: is given twice"},
		{`{"id":1}`, "1", codeBad, "op: expected check, fix, filter, trim, version"},
		{`{"id":1,"op":"chekc"}`, "1", codeBad, `unknown operation "chekc"; did you mean "check"?`},
		{`{"id":1,"op":"check"}`, "1", codeBad, "expected either text or json"},
		{`{"id":1,"op":"check","text":"[]","json":[]}`, "1", codeBad, "expected either text or json"},
		{`{"id":1,"op":"check","text":5}`, "1", codeBad, "text: expected a string"},
		{`{"id":1,"op":"check","text":"\ud800"}`, "1", codeBad, "text: expected Unicode, but half of a surrogate pair is at byte 29 of the line"},
		{`{"id":1,"op":"check","json":[],"rows":[]}`, "1", codeBad, `unknown field "rows"; check takes text, json, from, provider, send, tools, select, ignore, severity, max_findings`},
		{`{"id":1,"op":"check","json":[],"providr":"openai"}`, "1", codeBad, `unknown field "providr"; did you mean "provider"?`},
		{`{"id":1,"op":"check","json":[],"provider":"opnai"}`, "1", codeBad, `unknown provider "opnai"; did you mean "openai"?`},
		{`{"id":1,"op":"check","json":[],"from":"openai-chta"}`, "1", codeBad, `from: unknown format "openai-chta"; did you mean "openai-chat"?`},
		{`{"id":1,"op":"check","json":[],"send":1}`, "1", codeBad, "send: expected true or false"},
		{`{"id":1,"op":"check","json":[],"select":"x"}`, "1", codeBad, "select: expected a list of strings"},
		{`{"id":1,"op":"check","json":[],"select":["pairng"]}`, "1", codeBad, `select: unknown rule or category "pairng"; did you mean "pairing"?`},
		{`{"id":1,"op":"check","json":[],"severity":{"invalid-json":"bad"}}`, "1", codeBad, `severity: expected off, info, warning or error for invalid-json, got "bad"`},
		{`{"id":1,"op":"check","json":[],"tools":7}`, "1", codeBad, "tools: no tools declared: expected an array of tools in the format of OpenAI, Anthropic, Gemini, Bedrock or MCP"},
		{`{"id":1,"op":"check","json":[],"max_findings":-1}`, "1", codeBad, "max_findings: expected an integer from 0"},
		{`{"id":1,"op":"fix","json":[],"safe_only":true,"unsafe":true}`, "1", codeBad, "safe_only excludes unsafe and strip_reasoning"},
		{`{"id":1,"op":"fix","json":[],"strategy":{"missing-tool-result":"x"}}`, "1", codeBad, ""},
		{`{"id":1,"op":"fix","json":[],"placeholder":" "}`, "1", codeBad, "placeholder: expected a text"},
		{`{"id":1,"op":"fix","json":[],"strip_reasoning":true,"ignore":["reasoning"]}`, "1", codeBad, "strip_reasoning and ignore exclude each other: give only one"},
		{`{"id":1,"op":"filter"}`, "1", codeBad, "expected either rows or lines"},
		{`{"id":1,"op":"filter","rows":{}}`, "1", codeBad, "rows: expected a list"},
		{`{"id":1,"op":"filter","lines":["{}",7]}`, "1", codeBad, "lines.1: expected a string"},
		{`{"id":1,"op":"filter","lines":["{\n}"]}`, "1", codeBad, "lines.0: expected one line"},
		{`{"id":1,"op":"filter","rows":[],"fail_on":"off"}`, "1", codeBad, `fail_on: expected error, warning or info, got "off"`},
		{`{"id":1,"op":"filter","rows":[],"strategy":{"missing-tool-result":"insert"}}`, "1", codeBad, "strategy, strip_reasoning and placeholder need fix"},
		{`{"id":1,"op":"filter","rows":[{}]}`, "1", codeNotTranscript, "not a transcript: no messages found"},
		{`{"id":1,"op":"filter","rows":[{"role":"user","content":"x"},{"role":"assistant","content":"y"}]}`, "1", codeRefused, "one conversation and not a dataset: use toolguard check"},
		{`{"id":1,"op":"check","text":"hello"}`, "1", codeNotTranscript, "not a transcript: invalid JSON: unexpected character 'h' at byte 1"},
		{`{"id":1,"op":"trim","json":[]}`, "1", codeBad, "nothing to trim; expected keep_last, keep_last_user, target_index, keep_first, max_bytes, max_tokens or results_max_bytes"},
		{`{"id":1,"op":"trim","json":[],"keep_last":1,"boundary":"end"}`, "1", codeBad, "boundary: expected user, loop, pair"},
		{`{"id":1,"op":"version","from":"x"}`, "1", codeBad, `unknown field "from"; version takes none`},
	} {
		got := newServer(1).ask(t, tt.line, "", " ", `{"id":"next","op":"version"}`)
		if len(got) != 2 || string(got[1].ID) != `"next"` || got[1].Error.Code != "" {
			t.Fatalf("%.100s: %+v", tt.line, got)
		}
		if string(got[0].ID) != tt.id || got[0].Error.Code != tt.code || tt.message != "" && got[0].Error.Message != tt.message || got[0].Error.Message == "" {
			t.Errorf("%.100s: id %s, %+v", tt.line, got[0].ID, got[0].Error)
		}
	}
}

// TestRandomLines: a line has exactly one answer in its place, whatever is in it.
func TestRandomLines(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(2, sample.Seed(1)))
	seeds := []string{
		`{"v":1,"id":7,"op":"check","json":[{"role":"user","content":"x"},{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]}],"send":true}`,
		`{"v":1,"id":"é","op":"fix","text":"{\"role\":\"user\",\"content\":\"x\"}\n{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":\"y\"}","unsafe":true}`,
		`{"v":1,"op":"filter","rows":[{"messages":[{"role":"user","content":"x"}]},{"messages":[{"role":"tool","tool_call_id":"c"}]}],"fix":true,"strategy":{"missing-tool-result":"insert"}}`,
		`{"v":1,"id":1.5,"op":"trim","json":[{"role":"user","content":"x"},{"role":"assistant","content":"y"}],"keep_last":1,"boundary":"pair"}`,
	}
	pieces := []string{"{", "}", "[", "]", `"`, ",", ":", "null", "\\", "\\u0000", "\x00", "\xff", "\r", " ", "7", "-1", "1e999", "true", `"op"`, `"id"`, "\\ud800", strings.Repeat("[", 50)}
	for range sample.Size(1000, 100, 20) {
		var lines []string
		want := 0
		for i := range 20 {
			line := seeds[random.IntN(len(seeds))]
			for range 1 + random.IntN(3) {
				at := random.IntN(len(line) + 1)
				to := min(len(line), at+random.IntN(4))
				line = line[:at] + pieces[random.IntN(len(pieces))] + line[to:]
			}
			if random.IntN(4) == 0 {
				line = line[:random.IntN(len(line)+1)]
			}
			if strings.TrimSpace(line) != "" {
				want++
			}
			lines = append(lines, line, `{"id":"mark `+strconv.Itoa(i)+`","op":"version"}`)
		}
		got := newServer(3).ask(t, lines...)
		if len(got) != want+20 {
			t.Fatalf("%d answers to %q", len(got), lines)
		}
		at := 0
		for i := range 20 {
			if strings.TrimSpace(lines[2*i]) != "" {
				at++
			}
			if string(got[at].ID) != strconv.Quote("mark "+strconv.Itoa(i)) {
				t.Fatalf("answer %d is %+v; requests %q", at, got[at], lines)
			}
			at++
		}
	}
}

// TestInternal: a panic is the answer of its request, or of its row.
func TestInternal(t *testing.T) {
	t.Parallel()
	s := newServer(2)
	s.Dialects, s.Rules = dialect.Builtin().With(planted.Dialect()), []*rules.Rule{planted.Rule()}
	for _, id := range []string{planted.InReader, planted.InRule, planted.InRepair, planted.InProof} {
		op := "fix"
		if id == planted.InRule { // only check runs rules that repair nothing
			op = "check"
		}
		var session any = json.RawMessage("[" + strings.Join(planted.Session(id), ",") + "]")
		rows := []json.RawMessage{json.RawMessage(planted.Row("c0")), json.RawMessage(planted.Row(id))}
		got := s.ask(t,
			requestOf(map[string]any{"id": 1, "op": op, "json": session}),
			requestOf(map[string]any{"id": 2, "op": "filter", "rows": rows, "fix": true, "strategy": map[string]string{"missing-tool-result": "insert"}}),
			requestOf(map[string]any{"id": 3, "op": "fix", "json": json.RawMessage("[" + strings.Join(planted.Session("c1"), ",") + "]")}),
		)
		if got[0].Error.Code != codeInternal || got[0].Error.Message != "internal error: planted" {
			t.Errorf("%s: %+v", id, got[0])
		}
		if v := got[1].Verdicts; len(v) != 2 || !v[0].Keep || v[0].Row == nil || v[1].Keep || v[1].Reason != filter.InternalError || v[1].Rules[0] != filter.InternalError {
			t.Errorf("%s: %+v", id, got[1])
		}
		if !got[2].Changed || got[2].Report.Errors > 0 {
			t.Errorf("%s: %+v", id, got[2])
		}
	}
}

// TestRepairs: changed input comes back in the form in which it was given.
func TestRepairs(t *testing.T) {
	t.Parallel()
	messages := "[ {\"role\":\"user\",\"content\":\"é \\u00e9 \U0001F600\"}, {\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"ls\",\"arguments\":\"{}\"}}]},\t{\"role\":\"user\",\"content\":1.50}\r]"
	got := newServer(1).ask(t, `{"op":"fix","json":`+messages+`}`, requestOf(map[string]any{"op": "fix", "text": messages}))
	if !got[0].Changed || !bytes.Contains(got[0].JSON, []byte("\\u00e9 \U0001F600\"}, ")) || !bytes.Contains(got[0].JSON, []byte(`No result was recorded`)) || !bytes.HasSuffix(got[0].JSON, []byte("\t{\"role\":\"user\",\"content\":1.50} ]")) {
		t.Errorf("%s", got[0].JSON)
	}
	if got[1].Text == nil || strings.ReplaceAll(*got[1].Text, "\r", " ") != string(got[0].JSON) {
		t.Errorf("%+v", got[1])
	}
}

// TestMostFindings: an answer lists only so many findings, and counts all.
func TestMostFindings(t *testing.T) {
	t.Parallel()
	var list []string
	for i := range 1500 {
		list = append(list, fmt.Sprintf(`{"role":"tool","tool_call_id":"c%d","content":"x"}`, i))
	}
	body := `[{"role":"user","content":"x"},` + strings.Join(list, ",") + "]"
	got := newServer(1).ask(t, `{"op":"check","json":`+body+`}`, `{"op":"check","max_findings":0,"json":`+body+`}`, `{"op":"filter","max_findings":2,"rows":[{"messages":`+body+`}]}`)
	if r := got[0].Report; r.Errors != 1500 || len(r.Findings) != 1000 || r.Omitted != 500 {
		t.Errorf("%d errors, %d listed, %d omitted", r.Errors, len(r.Findings), r.Omitted)
	}
	if r := got[1].Report; r.Errors != 1500 || len(r.Findings) != 0 || r.Omitted != 1500 {
		t.Errorf("%d errors, %d listed, %d omitted", r.Errors, len(r.Findings), r.Omitted)
	}
	if v := got[2].Verdicts[0]; v.Keep || len(v.Findings) != 2 {
		t.Errorf("%+v", v)
	}
}

// TestEnds: the server ends with its input, with its output, and with its context.
func TestEnds(t *testing.T) {
	t.Parallel()
	s := newServer(2)
	if err := s.Run(t.Context(), strings.NewReader(strings.Repeat("{\"op\":\"version\"}\n", 100)), broken{}); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("a closed pipe: %v", err)
	}
	if err := s.Run(t.Context(), io.MultiReader(strings.NewReader("{}\n"), broken{}), io.Discard); err == nil || err.Error() != "standard input: broken pipe" {
		t.Errorf("unreadable input: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	in, w := io.Pipe()
	ended := make(chan error)
	go func() { ended <- s.Run(ctx, in, io.Discard) }()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled context: %v", err)
	}
	w.Close()
}

// A broken pipe.
type broken struct{}

func (broken) Read([]byte) (int, error)  { return 0, syscall.EPIPE }
func (broken) Write([]byte) (int, error) { return 0, syscall.EPIPE }

// TestRequestSchema: the schema takes the requests that the server takes.
func TestRequestSchema(t *testing.T) {
	t.Parallel()
	validate(t, "request", strings.Join([]string{
		`{"op":"version"}`,
		`{"v":1,"id":"x","op":"check","json":[],"from":null,"send":true,"tools":[],"select":["pairing"],"severity":{"invalid-json":"off"}}`,
		`{"id":1,"op":"fix","text":"","unsafe":true,"strategy":{"missing-tool-result":"insert"}}`,
		`{"op":"filter","rows":[{}],"like":"openai-chat","fix":true,"fail_on":"warning"}`,
		`{"op":"filter","lines":["{}"]}`,
		`{"op":"trim","json":[],"keep_last":3,"boundary":"pair","keep_results":0}`,
	}, "\n"))
}
