package filter

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A parted is the outcome of a filter in memory.
type parted struct {
	*Result
	out, rejects string
	reasons      []Reason
	opened       string // the outputs that were opened
	err          error
}

// parts filters a text.
func parts(t *testing.T, text string, opts Options) parted {
	t.Helper()
	return partsOf(t, source.FromBytes("t", []byte(text)), opts)
}

func partsOf(t *testing.T, src *source.Source, opts Options) parted {
	t.Helper()
	var p parted
	var out, rejects bytes.Buffer
	if opts.FailOn == rules.Off {
		opts.FailOn = rules.Error
	}
	opts.Out = func() (io.Writer, error) { p.opened += "out "; return &out, nil }
	opts.Rejects = func() (io.Writer, error) { p.opened += "rejects "; return &rejects, nil }
	opts.Reason = func(r *Reason) error { p.reasons = append(p.reasons, *r); return nil }
	p.Result, p.err = Run(t.Context(), src, opts)
	p.out, p.rejects = out.String(), rejects.String()
	return p
}

// repairing adds repairs to options: safe ones, and any of the rules with a strategy.
func repairing(opts Options, strategy map[string]string) Options {
	opts.Check.Strategy = strategy
	opts.Fix = &engine.FixOptions{Options: opts.Check, SafeOnly: true, AnyClass: map[string]bool{}}
	for rule := range strategy {
		opts.Fix.AnyClass[rule] = true
	}
	return opts
}

// The rows of the tests.
const (
	good   = `{"messages":[{"role":"user","content":"ls"},{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"a"}]}`
	open   = `{"messages":[{"role":"user","content":"ls"},{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},{"role":"user","content":"well?"}]}`
	filled = `{"messages":[{"role":"user","content":"ls"},{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"[toolguard] No result was recorded for this tool call; it may or may not have run."},{"role":"user","content":"well?"}]}`
	orphan = `{"messages":[{"role":"user","content":"go on"},{"role":"tool","tool_call_id":"c1","content":"a"},{"role":"user","content":"and?"}]}`
	late   = `{"messages":[{"role":"user","content":"ls"},{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},{"role":"user","content":"well?"},{"role":"tool","tool_call_id":"c1","content":"a"}]}`
	moved  = `{"messages":[{"role":"user","content":"ls"},{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"a"},{"role":"user","content":"well?"}]}`
	torn   = `{"messages":[{"role":"user","content":"l`
	header = `{"dataset":"v1"}`
	padded = "\x00\x00" + good
)

// byRule leaves out what TestRepairable and TestWarned look at.
var byRule = cmpopts.IgnoreFields(Counts{}, "WarnedBy", "Repairable", "Missing")

// pretty returns a row on several lines.
func pretty(row string) string {
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(row), "", " "); err != nil {
		panic(err)
	}
	return b.String()
}

// preference returns a row with two conversations.
func preference(chosen, rejected string) string {
	list := func(row string) string { return strings.TrimSuffix(strings.TrimPrefix(row, `{"messages":`), "}") }
	return `{"chosen":` + list(chosen) + `,"rejected":` + list(rejected) + `}`
}

func TestRows(t *testing.T) {
	bom := byteOrderMark
	for _, tt := range []struct {
		name, text, out, rejects string
		counts                   Counts
		spans                    []source.Span // nil for any
	}{
		{
			name: "all pass", text: bom + good + "\r\n\n" + header + "\n \t\n" + good,
			out:    bom + good + "\r\n\n" + header + "\n \t\n" + good,
			counts: Counts{Conversations: 2, Kept: 2, NotJudged: 1},
		},
		{
			name: "the first row, and its line end",
			text: bom + open + "\r\n" + good + "\r\n", out: bom + good + "\r\n", rejects: open + "\r\n",
			counts: Counts{Conversations: 2, Kept: 1, Rejected: 1, Rules: map[string]int{"missing-tool-result": 1}},
			spans:  []source.Span{{Start: 3, End: int64(5 + len(open))}},
		},
		{
			name: "the last row, without a line end",
			text: good + "\n" + good + "\n" + orphan, out: good + "\n" + good + "\n", rejects: orphan,
			counts: Counts{Conversations: 3, Kept: 2, Rejected: 1, Rules: map[string]int{"orphan-tool-result": 1}},
		},
		{
			name: "blank lines and white space around a row",
			text: good + "\n\n \t" + open + " \t\n\n\r\n" + good + "\n", out: good + "\n\n\n\r\n" + good + "\n", rejects: " \t" + open + " \t\n",
			counts: Counts{Conversations: 3, Kept: 2, Rejected: 1, Rules: map[string]int{"missing-tool-result": 1}},
		},
		{
			name: "very long white space",
			text: good + "\n" + strings.Repeat(" ", copySize+100) + open + strings.Repeat("\t", copySize+100) + "\n" + good + "\n",
			out:  good + "\n" + good + "\n", rejects: strings.Repeat(" ", copySize+100) + open + strings.Repeat("\t", copySize+100) + "\n",
			counts: Counts{Conversations: 3, Kept: 2, Rejected: 1, Rules: map[string]int{"missing-tool-result": 1}},
		},
		{
			name: "rows on one line are one row",
			text: good + "\n" + good + " " + good + good + "\n" + open + good + "\n" + good + "\n",
			out:  good + "\n" + good + "\n", rejects: good + " " + good + good + "\n" + open + good + "\n",
			counts: Counts{Conversations: 4, Kept: 2, Rejected: 2, Rules: map[string]int{"glued-records": 2, "missing-tool-result": 1}},
		},
		{
			name: "values over several lines leave the line end to each other",
			text: pretty(good) + " " + pretty(open) + "\n" + pretty(open) + " " + pretty(good) + "\n" + pretty(good),
			out:  pretty(good) + "\n" + pretty(good) + "\n" + pretty(good), rejects: " " + pretty(open) + pretty(open) + " ",
			counts: Counts{Conversations: 5, Kept: 3, Rejected: 2, Rules: map[string]int{"missing-tool-result": 2}},
		},
		{
			name: "a byte order mark in the middle",
			text: good + "\n" + bom + open + "\n" + bom + good + "\n", out: good + "\n" + bom + bom + good + "\n", rejects: open + "\n",
			counts: Counts{Conversations: 3, Kept: 2, Rejected: 1, Rules: map[string]int{"missing-tool-result": 1}},
		},
		{
			name: "torn rows",
			text: good + "\n" + torn + "\n" + good + "\n" + torn, out: good + "\n" + good + "\n", rejects: torn + "\n" + torn,
			counts: Counts{Conversations: 4, Kept: 2, Rejected: 2, Rules: map[string]int{"invalid-json": 1, "truncated-record": 1}},
		},
		{
			name: "NULs go with their row",
			text: good + "\n" + "\x00\x00" + good + "\n" + good + "\x00\n" + good + "\n\x00", out: good + "\n" + good + "\n",
			rejects: "\x00\x00" + good + "\n" + good + "\x00\n\x00",
			counts:  Counts{Conversations: 5, Kept: 2, Rejected: 3, Rules: map[string]int{"nul-padding": 3}},
		},
		{
			name: "a torn row before another on its line",
			text: good + "\n" + torn + good + "\n" + good + "\n", out: good + "\n" + good + "\n", rejects: torn + good + "\n",
			counts: Counts{Conversations: 3, Kept: 2, Rejected: 1, Rules: map[string]int{"glued-records": 1}},
		},
		{
			name: "several conversations in a row stand or fall together, and count once",
			text: preference(good, good) + "\n" + preference(good, open) + "\n" + preference(open, open) + "\n",
			out:  preference(good, good) + "\n", rejects: preference(good, open) + "\n" + preference(open, open) + "\n",
			counts: Counts{Conversations: 3, Kept: 1, Rejected: 2, Rules: map[string]int{"missing-tool-result": 2}},
		},
		{
			name: "a rule counts once in a conversation",
			text: good + "\n" + strings.Replace(orphan, "]}", `,{"role":"tool","tool_call_id":"c2","content":"b"}]}`, 1) + "\n", out: good + "\n",
			rejects: strings.Replace(orphan, "]}", `,{"role":"tool","tool_call_id":"c2","content":"b"}]}`, 1) + "\n",
			counts:  Counts{Conversations: 2, Kept: 1, Rejected: 1, Rules: map[string]int{"orphan-tool-result": 1}},
		},
		{
			name: "one row",
			text: bom + "\n" + open + "\n\n", out: bom + "\n\n", rejects: open + "\n",
			counts: Counts{Conversations: 1, Rejected: 1, Rules: map[string]int{"missing-tool-result": 1}},
			spans:  []source.Span{{Start: 4, End: int64(5 + len(open))}},
		},
		{
			name: "one row that passes", text: "\n" + good + "\n", out: "\n" + good + "\n", counts: Counts{Conversations: 1, Kept: 1},
		},
		{name: "nothing", text: "", out: ""},
		{name: "only white space", text: bom + " \n", out: bom + " \n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := parts(t, tt.text, Options{Row: true})
			if p.err != nil {
				t.Fatal(p.err)
			}
			if p.out != tt.out || p.rejects != tt.rejects {
				t.Errorf("got\n%q\n%q\nwant\n%q\n%q", p.out, p.rejects, tt.out, tt.rejects)
			}
			if diff := cmp.Diff(tt.counts, p.Counts, byRule); diff != "" {
				t.Error(diff)
			}
			if p.opened != "out rejects " {
				t.Errorf("opened %q", p.opened)
			}
			for i, want := range tt.spans {
				if got := p.reasons[i].Span; got != want {
					t.Errorf("rejected %v, want %v", got, want)
				}
			}
			p.holds(t, tt.text)
		})
	}
}

// TestUnselected: a row that is not valid JSON is rejected whatever rules are selected.
func TestUnselected(t *testing.T) {
	var opts Options
	opts.Check.Rules = []*rules.Rule{rules.ByName("empty-text")}
	p := parts(t, good+"\n"+open+"\n"+torn+"\n"+good+"\n", opts)
	if p.err != nil || p.rejects != torn+"\n" {
		t.Errorf("rejected %q, %v", p.rejects, p.err)
	}
	if diff := cmp.Diff(map[string]int{"invalid-json": 1}, p.Rules); diff != "" {
		t.Error(diff)
	}
	if n := p.reasons[0].Findings.Len(); n != 0 {
		t.Errorf("%d findings of rules that are not selected", n)
	}
}

func TestDocuments(t *testing.T) {
	other := `{"note":"no conversation"}`
	for _, tt := range []struct{ name, text, out, rejects string }{
		{"all pass", " [" + good + ",\n" + good + " ]\n", " [" + good + ",\n" + good + " ]\n", "[]\n"},
		{"the first", "[ " + open + " ,\n " + good + "]", "[ " + good + "]", "[\n" + open + "\n]\n"},
		{"in the middle", "[" + good + ", " + open + ", " + good + "]", "[" + good + ", " + good + "]", "[\n" + open + "\n]\n"},
		{"the last", "[" + good + " , " + open + " ]", "[" + good + " ]", "[\n" + open + "\n]\n"},
		{"the last two", "[\n" + good + ",\n" + open + ",\n" + orphan + "\n]\n", "[\n" + good + "\n]\n", "[\n" + open + ",\n" + orphan + "\n]\n"},
		{"only one", "[\n  " + open + "\n]\n", "[]\n", "[\n" + open + "\n]\n"},
		{"none", "[\n]\n", "[\n]\n", "[]\n"},
		{"no conversation", "[ null ]", "[ null ]", "[]\n"},
		{"all", "{\"data\": [ " + open + ", " + orphan + " ], \"n\": 2}", `{"data": [], "n": 2}`, "[\n" + open + ",\n" + orphan + "\n]\n"},
		{"every other one", "[" + open + "," + good + "," + open + "," + good + "," + open + "]", "[" + good + "," + good + "]", "[\n" + open + ",\n" + open + ",\n" + open + "\n]\n"},
		{"others stay", "[null, " + open + ", 1, " + open + "," + other + "," + good + "]", "[null, 1, " + other + "," + good + "]", "[\n" + open + ",\n" + open + "\n]\n"},
		{"two lists", `{"train":[` + good + `,` + open + `],"test":[` + orphan + `,` + good + `]}`, `{"train":[` + good + `],"test":[` + good + `]}`, "[\n" + open + ",\n" + orphan + "\n]\n"},
		{"lists of messages", `[[{"role":"user","content":"a"}],[{"role":"tool","tool_call_id":"c1","content":"a"}]]`, `[[{"role":"user","content":"a"}]]`, "[\n[{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"a\"}]\n]\n"},
		{"several conversations in an element", "[" + preference(good, good) + "," + preference(open, good) + "]", "[" + preference(good, good) + "]", "[\n" + preference(open, good) + "\n]\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, text := range []string{tt.text, byteOrderMark + tt.text} {
				p := parts(t, text, Options{})
				if p.err != nil {
					t.Fatal(p.err)
				}
				if want := strings.TrimSuffix(text, tt.text) + tt.out; p.out != want || p.rejects != tt.rejects {
					t.Errorf("got\n%q\n%q\nwant\n%q\n%q", p.out, p.rejects, want, tt.rejects)
				}
				p.holds(t, text)
				if want := map[string]int{"others stay": 3}[tt.name]; p.NotJudged != want {
					t.Errorf("%d are not judged, want %d", p.NotJudged, want)
				}
			}
			// The elements of a document that is not in memory.
			src := source.NewSource("t", strings.NewReader(tt.text), int64(len(tt.text)))
			src.SetWindow(64)
			if p := partsOf(t, src, Options{}); p.err != nil || p.out != tt.out || p.rejects != tt.rejects {
				t.Errorf("through a window: %v\n%q\n%q", p.err, p.out, p.rejects)
			}
		})
	}
}

func TestNotJudged(t *testing.T) {
	p := parts(t, "[null, "+good+", 1, {}]", Options{})
	if diff := cmp.Diff(Counts{Conversations: 1, Kept: 1, NotJudged: 3}, p.Counts); diff != "" {
		t.Error(diff)
	}
}

// TestRefused: what is not a dataset is refused before anything is opened.
func TestRefused(t *testing.T) {
	log := `{"role":"user","content":"q"}` + "\n" + `{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"ls","input":{}}]}` + "\n"
	for _, tt := range []struct {
		name, text, want string
		row              bool
	}{
		{"a session log", log, alone, true},
		{"a request", good, alone, false},
		{"a request on several lines", pretty(good), alone, true},
		{"a message", `{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"ls","input":{}}]}`, alone, true},
		{"a recorded answer", `{"id":"x","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]}}]}`, alone, false},
		{"not in a list", `{"a":` + good + `,"b":` + good + `}`, scattered, false},
		{"one is not in a list", `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}],"data":[` + good + `,` + good + `]}`, scattered, false},
		{"a key twice beside the list", `{"n":1,"n":2,"data":[` + good + `,` + good + `]}`, beside, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			opts := Options{Row: tt.row, FailOn: rules.Warning}
			opts.Check.Severity = map[string]rules.Severity{"duplicate-key": rules.Error}
			p := parts(t, tt.text, opts)
			var refused *Error
			if !errors.As(p.err, &refused) || refused.Error() != tt.want || p.opened != "" {
				t.Errorf("got %v, opened %q; want %s", p.err, p.opened, tt.want)
			}
		})
	}
	for _, text := range []string{"hello\n", `{"a":1}`, `{"a":1}` + "\n" + `{"a":2}` + "\n"} {
		if p := parts(t, text, Options{}); p.err != nil || p.opened != "" || p.Report.Skipped == "" && p.Report.File.Sure {
			t.Errorf("%q: %v, opened %q", text, p.err, p.opened)
		}
	}
}

// TestWhole: in a directory, a file of one conversation is kept or rejected as a whole.
func TestWhole(t *testing.T) {
	for _, tt := range []struct {
		name, text, opened string
		counts             Counts
	}{
		{"kept", good, "out ", Counts{Conversations: 1, Kept: 1}},
		{"rejected", open, "rejects ", Counts{Conversations: 1, Rejected: 1, Rules: map[string]int{"missing-tool-result": 1}}},
		{"a log", strings.Repeat(`{"role":"user","content":"q"}`+"\n", 3), "out ", Counts{Conversations: 1, Kept: 1}},
		{"a torn log", strings.Repeat(`{"role":"user","content":"q"}`+"\n", 3) + `{"role":`, "rejects ", Counts{Conversations: 1, Rejected: 1, Rules: map[string]int{"truncated-record": 1}}},
		{"rows", good + "\n" + good + "\n", "out rejects ", Counts{Conversations: 2, Kept: 2}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := parts(t, tt.text, Options{Whole: true})
			if p.err != nil || p.opened != tt.opened || p.out+p.rejects != tt.text {
				t.Errorf("%v, opened %q\n%q\n%q", p.err, p.opened, p.out, p.rejects)
			}
			if diff := cmp.Diff(tt.counts, p.Counts, byRule); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestRepairs: safe repairs are made, and others only for rules with a strategy. Only repaired
// rows differ, and what is rejected is as it was.
func TestRepairs(t *testing.T) {
	rows := func(list ...string) string { return strings.Join(list, "\r\n") + "\r\n" }
	text := rows(good, late, open, orphan, "", padded, torn, good)
	insert := map[string]string{"missing-tool-result": "insert"}
	for _, tt := range []struct {
		name, out, rejects string
		strategy           map[string]string
		repaired           int
	}{
		{"safe", rows(good, moved, "", good, good), rows(open, orphan, torn), nil, 2},
		{"one strategy", rows(good, moved, filled, "", good, good), rows(orphan, torn), insert, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			opts := repairing(Options{}, tt.strategy)
			p := parts(t, text, opts)
			if p.err != nil {
				t.Fatal(p.err)
			}
			if p.out != tt.out || p.rejects != tt.rejects || p.Repaired != tt.repaired {
				t.Errorf("%d repaired\n%q\n%q\nwant\n%q\n%q", p.Repaired, p.out, p.rejects, tt.out, tt.rejects)
			}
			again := parts(t, p.out, opts)
			if again.out != p.out || again.Repaired+again.Rejected > 0 {
				t.Errorf("once more: %+v\n%q", again.Counts, again.out)
			}
		})
	}
	t.Run("alone, the row is no transcript", func(t *testing.T) {
		bad := "\x00\x00" + header
		p := parts(t, rows(good, bad, good), repairing(Options{}, nil))
		if p.err != nil || p.out != rows(good, good) || p.rejects != rows(bad) || p.Kept != 2 || p.Rejected != 1 {
			t.Errorf("%v, %+v\n%q\n%q", p.err, p.Counts, p.out, p.rejects)
		}
	})
	t.Run("a row is read as a row", func(t *testing.T) {
		// In a request, the last call would be an error.
		body := func(row string) string {
			return `{"model":"m",` + strings.TrimSuffix(row[1:], "]}") + `,{"role":"assistant","tool_calls":[{"id":"c2","type":"function","function":{"name":"ls","arguments":"{}"}}]}]}` + "\n"
		}
		p := parts(t, body(moved)+body(late)+body(moved), repairing(Options{}, nil))
		if want := strings.Repeat(body(moved), 3); p.err != nil || p.out != want || p.Repaired != 1 {
			t.Errorf("%v, %+v\n%s\n%s", p.err, p.Counts, p.out, p.rejects)
		}
	})
	t.Run("a document", func(t *testing.T) {
		both := strings.Replace(late, `[{"role":"user"`, `[{"role":"tool","tool_call_id":"c0","content":"b"},{"role":"user"`, 1)
		p := parts(t, "[\n"+both+",\n"+open+",\n"+both+",\n"+late+",\n"+orphan+",\n"+good+"\n]\n", repairing(Options{}, insert))
		rejects := "[\n" + both + ",\n" + both + ",\n" + orphan + "\n]\n"
		if want := "[\n" + filled + ",\n" + moved + ",\n" + good + "\n]\n"; p.err != nil || p.out != want || p.rejects != rejects || p.Repaired != 2 {
			t.Errorf("%v, %+v\n%s\n%s", p.err, p.Counts, p.out, p.rejects)
		}
	})
	t.Run("a file", func(t *testing.T) {
		opts := repairing(Options{Whole: true}, nil)
		if p := parts(t, late, opts); p.err != nil || p.out != moved || p.Repaired != 1 || p.opened != "out " {
			t.Errorf("%v, %+v\n%s", p.err, p.Counts, p.out)
		}
		if p := parts(t, open, opts); p.err != nil || p.rejects != open || p.opened != "rejects " {
			t.Errorf("%v, %+v\n%s", p.err, p.Counts, p.rejects)
		}
	})
}

// failing fails to write.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("full") }

// TestWriteErrors: an error of each output ends the run.
func TestWriteErrors(t *testing.T) {
	to := func(w io.Writer, err error) func() (io.Writer, error) {
		return func() (io.Writer, error) { return w, err }
	}
	for _, text := range []string{good + "\n" + open + "\n", "[" + good + "," + open + "]"} {
		for _, opts := range []Options{
			{Out: to(nil, errors.New("full"))},
			{Out: to(io.Discard, nil), Rejects: to(nil, errors.New("full"))},
			{Out: to(failing{}, nil)},
			{Out: to(io.Discard, nil), Rejects: to(failing{}, nil)},
			{Out: to(io.Discard, nil), Reason: func(*Reason) error { return errors.New("full") }},
		} {
			opts.FailOn = rules.Error
			if _, err := Run(t.Context(), source.FromBytes("t", []byte(text)), opts); err == nil || err.Error() != "full" {
				t.Errorf("got the error %v", err)
			}
		}
	}
}

// TestUnproved: a conversation whose repair fails its proof is rejected as it is, even if its
// findings alone would not reject it. The dialect reads ids at a path that it does not write.
func TestUnproved(t *testing.T) {
	acme := &dialect.Dialect{
		Name: "acme", Title: "Acme", Provider: "neutral", Window: transcript.WindowTool, Marks: evidence.All("speaker"),
		Driver: dialect.NewSideList(&dialect.SideList{
			Role: "speaker", User: "human", Assistant: "bot", Tool: "machine",
			Roles:   []dialect.RoleName{{Written: "human", Role: transcript.RoleUser}, {Written: "bot", Role: transcript.RoleAssistant}, {Written: "machine", Role: transcript.RoleTool}},
			Content: "says", Calls: "actions", ID: "meta.ref", Name: "tool", Args: "input", ResultID: "answers",
		}),
	}
	const (
		sound = `{"history":[{"speaker":"human","says":"x"},{"speaker":"bot","says":"y"}]}`
		noID  = `{"history":[{"speaker":"human","says":"x"},{"speaker":"bot","says":"","actions":[{"tool":"ls","input":{}}]},{"speaker":"machine","answers":"a","says":"z"},{"speaker":"human","says":"y"}]}`
	)
	var opts Options
	opts.Check.Dialects = dialect.Builtin().With(acme)
	opts.Check.Severity = map[string]rules.Severity{}
	for _, r := range rules.All() {
		opts.Check.Severity[r.Name] = rules.Warning
	}
	for _, tt := range []struct{ text, out, rejects string }{
		{sound + "\n" + noID + "\n" + sound + "\n", sound + "\n" + sound + "\n", noID + "\n"},
		{"[" + sound + "," + noID + "]", "[" + sound + "]", "[\n" + noID + "\n]\n"},
	} {
		if p := parts(t, tt.text, opts); p.err != nil || p.out != tt.text {
			t.Errorf("without repairs: %v\n%s", p.err, p.out)
		}
		p := parts(t, tt.text, repairing(opts, map[string]string{"missing-call-id": ""}))
		if p.err != nil || p.out != tt.out || p.rejects != tt.rejects || p.Repaired != 0 || p.Rules["missing-call-id"] != 1 {
			t.Errorf("%v, %+v\n%s\n%s", p.err, p.Counts, p.out, p.rejects)
		}
		if found := p.reasons[0].Findings.List(); len(found) == 0 || found[0].Rule.Name != "missing-call-id" {
			t.Errorf("rejected without a finding: %+v", found)
		}
	}
}

// TestCanceled: a run ends soon after its context, with the error of the context.
func TestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	src, err := source.Hold(ctx, "t", []byte(strings.Repeat(open+"\n", 1000)))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	_, err = Run(ctx, src, Options{
		FailOn: rules.Error,
		Out:    func() (io.Writer, error) { return io.Discard, nil },
		Reason: func(*Reason) error {
			if n++; n == 10 {
				cancel()
			}
			return nil
		},
	})
	if !errors.Is(err, context.Canceled) || n > 20 {
		t.Errorf("%v after %d rows", err, n)
	}
}

// BenchmarkRows filters a dataset of 5,000 rows in which a few are rejected. check is a check
// of the same rows.
func BenchmarkRows(b *testing.B) {
	var text bytes.Buffer
	for i := range 5000 {
		row := good
		if i%200 == 100 {
			row = open
		}
		text.WriteString(strings.Replace(row, `"a"`, `"`+strings.Repeat("payload ", i%400)+`"`, 1) + "\n")
	}
	src := func() *source.Source {
		return source.NewSource("t", bytes.NewReader(text.Bytes()), int64(text.Len()))
	}
	b.Run("check", func(b *testing.B) {
		b.SetBytes(int64(text.Len()))
		for b.Loop() {
			if _, err := engine.Check(b.Context(), src(), engine.Options{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("filter", func(b *testing.B) {
		b.SetBytes(int64(text.Len()))
		to := func() (io.Writer, error) { return io.Discard, nil }
		for b.Loop() {
			if _, err := Run(b.Context(), src(), Options{FailOn: rules.Error, Out: to, Rejects: to}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// TestRepairable: whatever is called repairable is kept once the repairs are allowed that are
// named, and the repairs are named only if they are missing.
func TestRepairable(t *testing.T) {
	t.Parallel()
	rows := []string{good, open, orphan, late, torn, header, padded, `{"messages":[{"role":"user","content":1}]}`}
	for _, r := range rules.All() {
		if bad := strings.TrimSpace(r.Bad); strings.HasPrefix(bad, "[") && strings.Count(bad, "\n") > 0 {
			var line bytes.Buffer
			if json.Compact(&line, []byte(bad)) == nil {
				rows = append(rows, `{"messages":`+line.String()+`}`)
			}
		}
	}
	for _, a := range []string{open, orphan, late} {
		for _, b := range []string{good, open, orphan, late} {
			rows = append(rows, preference(a, b))
		}
	}
	seen := 0
	for _, row := range rows {
		for _, fix := range []bool{false, true} {
			opts := Options{Row: true}
			if fix {
				opts = repairing(opts, nil)
			}
			p := parts(t, good+"\n"+row+"\n", opts)
			if p.err != nil || p.Repairable == 0 {
				continue
			}
			seen++
			strategy := map[string]string{}
			for name := range p.Missing {
				strategy[name] = rules.ByName(name).Change()
			}
			if fix && len(strategy) == 0 {
				t.Errorf("with its repairs, nothing is missing for %s", row)
			}
			if after := parts(t, good+"\n"+row+"\n", repairing(Options{Row: true}, strategy)); after.Kept != 2 || after.Repaired != 1 || after.Repairable != 0 {
				t.Errorf("%v keeps %d and repairs %d of\n%s\n%v", strategy, after.Kept, after.Repaired, row, after.Rules)
			}
		}
	}
	if seen < 20 {
		t.Errorf("only %d rows are repairable", seen)
	}
	p := parts(t, good+"\n"+open+"\n"+late+"\n"+torn+"\n", repairing(Options{Row: true}, nil))
	if diff := cmp.Diff(map[string]int{"missing-tool-result": 1}, p.Missing); diff != "" || p.Repairable != 1 {
		t.Errorf("%d, %s", p.Repairable, diff)
	}
}

// TestWarned: kept conversations are counted by the rules that warn of them.
func TestWarned(t *testing.T) {
	t.Parallel()
	warned := strings.Replace(good, `"content":"a"}]`, `"content":"a"},{"role":"user","content":"x"},{"role":"user","content":"y"}]`, 1)
	opts := Options{Row: true}
	opts.Check.Severity = map[string]rules.Severity{"consecutive-roles": rules.Warning}
	p := parts(t, good+"\n"+warned+"\n"+open+"\n"+warned+"\n", opts)
	want := Counts{
		Conversations: 4, Kept: 3, Rejected: 1, Warned: 2, Repairable: 1,
		Rules: map[string]int{"missing-tool-result": 1}, WarnedBy: map[string]int{"consecutive-roles": 2}, Missing: map[string]int{"missing-tool-result": 1},
	}
	if diff := cmp.Diff(want, p.Counts); diff != "" {
		t.Error(diff)
	}
}

// TestFewAreTried: of very many rejected rows, only the first ones are tried, and the others are counted.
func TestFewAreTried(t *testing.T) {
	t.Parallel()
	const more = 7
	p := parts(t, strings.Repeat(open+"\n", mostTrials+more), Options{})
	if p.err != nil || p.Rejected != mostTrials+more || p.Repairable != mostTrials || p.Untried != more {
		t.Errorf("%v: rejected %d, repairable %d, untried %d", p.err, p.Rejected, p.Repairable, p.Untried)
	}
}

// TestRepairableIsTried: a conversation is called repairable only if the repairs save it, also if
// one repair leaves work for the next, and if only a strategy gives a finding a repair.
func TestRepairableIsTried(t *testing.T) {
	t.Parallel()
	const (
		call     = `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]}`
		first    = `{"messages":[` + call + `,{"role":"tool","tool_call_id":"c1","content":"a"},{"role":"assistant","content":"one"}]}`
		unbroken = `{"messages":[{"role":"user","content":"ls"},` + call + `,{"role":"assistant","content":"one"}]}`
		waiting  = `{"model":"gpt-4o","temperature":1,"messages":[{"role":"user","content":"ls"},` + call + `]}`
		dangling = `{"messages":[{"role":"user","content":"x"},` + call + `,{"role":"tool","tool_call_id":"c9","content":"a"},{"role":"assistant","content":"one"}]}`
	)
	for _, c := range []struct {
		name, row, target string
		missing           map[string]int
	}{
		{"dropping the first message leaves an orphan", first, "bedrock", nil},
		{"a placeholder parts two messages of one role", unbroken, "bedrock", map[string]int{"missing-tool-result": 1, "consecutive-roles": 1}},
		{"a call of a request that waits", waiting, "", map[string]int{"pending-tool-call": 1}},
		{"several rules", dangling, "", map[string]int{"missing-tool-result": 1, "orphan-tool-result": 1}},
	} {
		for _, text := range []string{good + "\n" + c.row + "\n", "[" + good + ",\n" + c.row + "]"} {
			opts := Options{Row: true}
			opts.Check.Target = profile.ByName(c.target)
			p := parts(t, text, opts)
			if p.err != nil || p.Rejected != 1 {
				t.Fatalf("%s: %d rejected, %v", c.name, p.Rejected, p.err)
			}
			if p.Repairable == 0 && len(c.missing) == 0 {
				continue
			}
			strategy := map[string]string{}
			for name := range p.Missing {
				strategy[name] = rules.ByName(name).Change()
			}
			if after := parts(t, text, repairing(opts, strategy)); p.Repairable != 1 || after.Kept != 2 {
				t.Errorf("%s: %d repairable with %v, and %d kept of\n%s", c.name, p.Repairable, p.Missing, after.Kept, text)
			}
		}
	}
}
