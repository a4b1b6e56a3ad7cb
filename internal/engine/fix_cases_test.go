package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/golden"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/source"
)

// fixOptions reads the flags of a case.
func (c *workedCase) fixOptions(t *testing.T) FixOptions {
	t.Helper()
	opts := FixOptions{Options: c.options(t), Unsafe: slices.Contains(c.Args, "--unsafe")}
	for i, a := range c.Args {
		if a == "--strategy" {
			rule, strategy, _ := strings.Cut(c.Args[i+1], "=")
			if opts.Strategy == nil {
				opts.Strategy = map[string]string{}
			}
			opts.Strategy[rule] = strategy
		}
	}
	return opts
}

// fixText repairs a text and returns the result.
func fixText(t testing.TB, name string, text []byte, opts FixOptions) ([]byte, *Fixed) {
	t.Helper()
	f, err := Settle(context.Background(), source.FromBytes(name, text), opts)
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, text)
	}
	if !f.Changed() {
		return text, f
	}
	out, err := io.ReadAll(io.NewSectionReader(f.Pieces, 0, f.Pieces.Size()))
	if err != nil {
		t.Fatal(err)
	}
	return out, f
}

// asJSON returns the value in a text of the case's dialect.
func (c *workedCase) asJSON(t *testing.T, text []byte) any {
	t.Helper()
	switch c.Dialect {
	case "claude-code", "jsonl-raw", "pi":
		var out []any
		for line := range bytes.SplitSeq(bytes.TrimRight(text, "\n"), []byte("\n")) {
			var v any
			if err := json.Unmarshal(line, &v); err != nil {
				t.Fatalf("%v: %s", err, line)
			}
			out = append(out, v)
		}
		return out
	}
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}

// TestFixCases: each worked case is repaired exactly as expected, and a second repair changes
// nothing.
func TestFixCases(t *testing.T) {
	exact := 0
	said := map[string]string{} // the cases of which only words tell the result
	for _, c := range readCases(t) {
		if !supported[c.Dialect] || !c.known() {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			text := c.text(t)
			got, _ := fixText(t, c.Name, text, c.fixOptions(t))
			if again, f := fixText(t, c.Name, got, c.fixOptions(t)); !bytes.Equal(again, got) || f.Changed() {
				t.Errorf("not settled: %s\nthen %s", got, again)
			}
			switch {
			case c.Fixed == nil:
				said[c.Name] = string(got)
			case string(c.Fixed) == `"unchanged"`:
				exact++
				if !bytes.Equal(got, text) {
					t.Errorf("changed:\n%s", cmp.Diff(string(text), string(got)))
				}
			default:
				exact++
				var want any
				if err := json.Unmarshal(c.Fixed, &want); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, c.asJSON(t, got)); diff != "" {
					t.Errorf("(-want +got):\n%s\n%s", diff, got)
				}
			}
		})
	}
	raw, err := json.MarshalIndent(said, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.File(t, filepath.Join("testdata", "fixed.golden.json"), string(raw)+"\n")
	if exact < 50 {
		t.Errorf("only %d cases say exactly what becomes of them", exact)
	}
}

// TestFixOpenStateWithResult: a placeholder does not replace a result in a record whose state
// says that there is none.
func TestFixOpenStateWithResult(t *testing.T) {
	part := func(state, output string) string {
		return `[{"id":"a","role":"assistant","parts":[{"type":"tool-f","toolCallId":"c","state":"` + state + `","input":{},"output":` + output + `}]},{"id":"b","role":"user","parts":[{"type":"text","text":"on"}]},{"id":"c","role":"assistant","parts":[{"type":"text","text":"so"}]}]`
	}
	for _, c := range []struct {
		output string
		edits  int
	}{{`{"rows":1}`, 0}, {`null`, 2}, {`""`, 2}} {
		_, f := fixText(t, "open", []byte(part("input-available", c.output)), FixOptions{Unsafe: true})
		edits := 0
		if f.Changed() {
			edits = len(f.Pieces.Edits())
		}
		if got := errorsOf(f.Before); len(got) != 1 || edits != c.edits {
			t.Errorf("output %s: found %v, %d edits, want one and %d", c.output, got, edits, c.edits)
		}
	}
}

// TestFixGoesOn: the list of calls whose tools are running is updated with the calls.
func TestFixGoesOn(t *testing.T) {
	events := func(list, call, rest string) string {
		return `[{"content":{"role":"user","parts":[{"text":"q"}]},"invocationId":"i","author":"user"},{"content":{"role":"model","parts":[{"text":"a"}` + call + `]},"invocationId":"i","author":"a","longRunningToolIds":` + list + `}` + rest + `]`
	}
	call := func(id string) string { return `,{"functionCall":{"id":"` + id + `","name":"f","args":{}}}` }
	answer := func(id, text string) string {
		return `,{"content":{"role":"user","parts":[{"functionResponse":{"id":"` + id + `","name":"f","response":{"s":"` + text + `"}}}]},"invocationId":"i","author":"user"}`
	}
	said := `,{"content":{"role":"model","parts":[{"text":"b"}]},"invocationId":"i","author":"a"}`
	for _, c := range []struct {
		name, text, want string
		opts             FixOptions
	}{
		{
			"renamed", events(`["adk-1"]`, call("adk-1"), answer("adk-1", "asked")+said+answer("adk-1", "granted")),
			events(`["vf3iu0x5r"]`, call("vf3iu0x5r"), answer("vf3iu0x5r", "asked")+said+answer("vf3iu0x5r", "granted")),
			FixOptions{Options: Options{Target: profile.ByName("mistral")}},
		},
		{
			"dropped", events(`["adk-1","adk-2"]`, call("adk-1")+call("adk-2"), answer("adk-1", "asked")),
			events(`["adk-1"]`, call("adk-1"), answer("adk-1", "asked")),
			FixOptions{Options: Options{Send: true, Strategy: map[string]string{"pending-tool-call": "strip"}}, Unsafe: true},
		},
		{
			"the only one", events(`["adk-1"]`, call("adk-1"), ""), events(`[]`, "", ""),
			FixOptions{Options: Options{Send: true, Strategy: map[string]string{"pending-tool-call": "strip"}}, Unsafe: true},
		},
	} {
		if out, _ := fixText(t, c.name, []byte(c.text), c.opts); string(out) != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, out, c.want)
		}
	}
}

// TestToldByAll: what all of a conversation tells, and one part of it refutes.
func TestToldByAll(t *testing.T) {
	bare := `{"role":"assistant","content":"","tool_calls":[{"function":{"name":"f","arguments":{}}}]},{"role":"tool","name":"f","content":"1"}`
	whole := `{"role":"assistant","content":"","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"1"}`
	event := func(role, part string) string {
		return `{"content":{"role":"` + role + `","parts":[` + part + `]},"invocationId":"i"}`
	}
	called := event("model", `{"functionCall":{"id":"c","name":"f","args":{}}}`)
	row := func(tool string) string {
		return `{"conversations":[{"from":"human","value":"q"},{"from":"gpt","value":"[f()]"},{"from":"` + tool + `","value":"1"},{"from":"gpt","value":"a"}]}`
	}
	for _, c := range []struct{ name, text, want string }{
		{"bare calls", `[` + bare + `,` + bare + `]`, ""},
		{"a call with an id behind them", `[` + bare + `,` + whole + `]`, "missing-call-id missing-call-id"},
		{"and before", `[` + whole + `,` + bare + `]`, "missing-call-id missing-call-id"},
		{"a result with an id", `[` + strings.Replace(bare, `"name":"f","content"`, `"tool_call_id":"c","content"`, 1) + `]`, "missing-call-id"},
		{"a row of prose and an observation", row("observation"), "orphan-tool-result"},
		{"a row of prose and a tool", row("tool"), ""},
		{"a call at the end of a session", `[` + called + `]`, ""},
		{"and a human behind it", `[` + called + `,` + event("user", `{"text":"on"}`) + `]`, "missing-tool-result"},
	} {
		rep := check(t, c.name, []byte(c.text), Options{})
		if got := strings.Join(errorsOf(rep), " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
