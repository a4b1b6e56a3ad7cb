package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/container"
	"github.com/toolguard/toolguard/internal/detect"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/sample"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// traps are inputs that are easy to misread.
func traps() []string {
	call := func(id string) string {
		return `[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":` + id +
			`,"type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":` + id + `,"content":"ok"},{"role":"user","content":"n"}]`
	}
	use := func(id string) string {
		return `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_use","id":` + id +
			`,"name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":` + id + `,"content":"ok"}]}]}`
	}
	item := func(id string) string {
		return `[{"type":"function_call","call_id":` + id + `,"name":"f","arguments":"{}"},{"type":"function_call_output","call_id":` + id + `,"output":"ok"}]`
	}
	var out []string
	for _, id := range []string{
		`"a\u0001b"`, `"a\ud800b"`, `"\ud800"`, `"<"`, `"` + strings.Repeat("x", 1<<20) + `"`, `""`, `" "`, `"null"`, `null`,
		`1`, `1.0`, `12345678901234567890`, `-0`, `true`, `{}`, `[]`, `"a\u0000b"`, "\"a\x01b\"", "\"a\xffb\"", `"é"`, `"\u00e9"`, `"a\/b"`, `" a"`,
	} {
		out = append(out, call(id), use(id), item(id))
	}
	return append(out,
		`{"role":"user","content":"a"}{"role":"assistant","content":"b"}`,
		`{"role":"user","con{"role":"user","content":"a"}`+"\n"+`{"role":"assistant","content":"b"}`,
		"{\"role\":\"user\",\"content\":\"a\"}\n\x00\x00\x00{\"role\":\"assistant\",\"content\":\"b\"}\x00\n\x00",
		"{\"role\":\"user\",\"content\":\"a\nb\"}\n{\"role\":\"assistant\",\"content\":\"b\"}",
		`{"role":"user","role":"assistant","content":"a","content":null,"tool_calls":[],"tool_calls":[{"id":"a","id":"b","function":{"name":"f","name":"g"}}]}`,
		`[{"role":"tool","tool_call_ids":["a","b"],"content":"x"},{"role":"assistant","tool_calls":[{"id":"a","function":"f"},{"id":"b","custom":{"name":"g","input":""}}]}]`,
		`{"type":"user","uuid":"a","parentUuid":"b","message":{"role":"user","content":"x"}}`+"\n"+`{"type":"user","uuid":"b","parentUuid":"a","message":{"role":"user","content":"y"}}`,
		`{"type":"user","uuid":"a","parentUuid":"a","message":{"role":"user","content":"x"}}`,
		`{"type":"system","subtype":"compact_boundary","uuid":"c","compactMetadata":{"preservedMessages":["a","a","zz"]},"sessionId":"s"}`,
		`{"loglines":[{"type":"assistant","uuid":"a","message":{"id":"m","role":"assistant","content":[{"type":"tool_use"}]}}]}`,
		`{"responses_create_params":{"input":"q"},"response":{"output":[{"type":"function_call"}]}}`,
		`{"messages":[],"response":{"choices":[{"message":{"role":"assistant","content":null}}]}}`,
		"\ufeff\r\n[\r\n]\r\n",
	)
}

// conserved returns a call or result of the text that is not read exactly once, "" if there
// is none.
func conserved(name string, text []byte, rep *Report) string {
	type place struct{ block, id source.Span }
	calls, results := map[place]bool{}, map[place]bool{}
	var bad string
	nCalls, nResults := 0, 0
	fail := func(format string, args ...any) {
		if bad == "" {
			bad = fmt.Sprintf(format, args...)
		}
	}
	_, all := container.Read(source.FromBytes(name, text), detect.Options{})
	for c, err := range all {
		if err != nil {
			if rep.Skipped == "" {
				return err.Error()
			}
			break
		}
		at := func(block, id source.Span) place {
			if c.Unfolded != nil {
				return place{c.Unfolded.Origin(block), c.Unfolded.Origin(id)}
			}
			return place{block, id}
		}
		for i := range c.Calls {
			call := &c.Calls[i]
			b := c.Blocks[call.Block]
			if int(b.Ref) != i || b.Message != call.Message || b.Kind != transcript.BlockCall && b.Kind != transcript.BlockServerCall {
				fail("call %d is not what its block holds", i)
			}
			p := at(b.Span, call.ID.Span)
			if calls[p] {
				fail("the call at %v is read twice", p)
			}
			calls[p] = true
			if call.Counts() {
				nCalls++
			}
		}
		for i := range c.Results {
			res := &c.Results[i]
			p := at(c.Blocks[res.Block].Span, res.ID.Span)
			if results[p] {
				fail("the result at %v is read twice", p)
			}
			results[p] = true
			if res.Counts() {
				nResults++
			}
		}
		next := int32(0)
		for i := range c.Messages {
			m := &c.Messages[i]
			if m.BlockLo != next || m.BlockHi < m.BlockLo || m.Turn < 0 || int(m.Turn) >= c.Turns {
				fail("message %d has blocks %d to %d and turn %d", i, m.BlockLo, m.BlockHi, m.Turn)
			}
			next = m.BlockHi
		}
		if int(next) != len(c.Blocks) {
			fail("%d blocks, messages have %d", len(c.Blocks), next)
		}
		pairs := pairing.Pair(c, nil)
		for i, x := range pairs.Calls {
			if (x.State == pairing.Answered) != (x.Result >= 0) {
				fail("call %d is in state %d with result %d", i, x.State, x.Result)
			} else if x.Result >= 0 && pairs.Results[x.Result] != (pairing.Leftover{Fate: pairing.Answers, Call: int32(i)}) {
				fail("call %d is answered by result %d, which says %+v", i, x.Result, pairs.Results[x.Result])
			}
		}
		for i, l := range pairs.Results {
			if l.Fate == pairing.Answers && pairs.Calls[l.Call].Result != int32(i) {
				fail("result %d answers call %d, which says %+v", i, l.Call, pairs.Calls[l.Call])
			}
		}
	}
	if nCalls != rep.Calls || nResults != rep.Results {
		fail("%d calls and %d results, reported are %d and %d", nCalls, nResults, rep.Calls, rep.Results)
	}
	// A defect of a call or a result is reported once for each.
	once := map[string]bool{}
	for f := range rep.Findings.All() {
		switch f.Rule.Name {
		case "missing-tool-result", "pending-tool-call", "interrupted-tool-call", "orphan-tool-result", "duplicate-tool-result":
			what := "call"
			if strings.HasSuffix(f.Rule.Name, "-tool-result") && f.Rule.Name != "missing-tool-result" {
				what = "result"
			}
			key := fmt.Sprint(what, f.Conversation, f.Span)
			if once[key] {
				fail("the %s at %v is reported twice", what, f.Span)
			}
			once[key] = true
		}
	}
	return bad
}

func TestConserved(t *testing.T) {
	for _, f := range fixtures(t) {
		rep := check(t, f.name, f.text, Options{})
		if s := conserved(f.name, f.text, rep); s != "" {
			t.Errorf("%s: %s", f.name, s)
		}
		if s := unsound(f.text, rep); s != "" {
			t.Errorf("%s: %s", f.name, s)
		}
	}
	for i, text := range traps() {
		rep := mustBeSound(t, fmt.Sprintf("trap %d", i), []byte(text))
		if s := conserved("trap", []byte(text), rep); s != "" {
			t.Errorf("trap %d: %s\n%.500s", i, s, text)
		}
	}
}

// TestTraps: findings for ids of unexpected types.
func TestTraps(t *testing.T) {
	for _, c := range []struct{ id, chat, anthropic, responses string }{
		{`"ok_1"`, "", "", ""},
		{`"a\u0001b"`, "invalid-call-id", "invalid-call-id", "invalid-call-id"},
		{`"a\ud800b"`, "lone-surrogate", "invalid-call-id lone-surrogate", "lone-surrogate"},
		{`"<"`, "", "invalid-call-id", ""},
		{`""`, "missing-call-id missing-call-id", "missing-call-id missing-call-id", "missing-call-id missing-call-id"},
		{`"null"`, "missing-call-id missing-call-id", "missing-call-id missing-call-id", "missing-call-id missing-call-id"},
		{`null`, "missing-call-id missing-call-id", "missing-call-id missing-call-id", "missing-call-id missing-call-id"},
		{`7`, "invalid-call-id", "invalid-call-id", "invalid-call-id"},
		{`" a"`, "invalid-call-id", "invalid-call-id", "invalid-call-id"},
		{`"a b"`, "", "invalid-call-id", ""},
		{`"` + strings.Repeat("x", 40) + `"`, "", "", ""},
		{`"` + strings.Repeat("x", 41) + `"`, "invalid-call-id", "", ""},
		{`"` + strings.Repeat("x", 64) + `"`, "invalid-call-id", "", ""},
		{`"` + strings.Repeat("x", 65) + `"`, "invalid-call-id", "", "invalid-call-id"},
	} {
		for _, d := range []struct{ dialect, text, want string }{
			{"openai-chat", `[{"role":"assistant","tool_calls":[{"id":` + c.id + `,"type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":` + c.id + `,"content":"ok"}]`, c.chat},
			{"anthropic", `[{"role":"assistant","content":[{"type":"tool_use","id":` + c.id + `,"name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":` + c.id + `,"content":"ok"}]}]`, c.anthropic},
			{"openai-responses", `[{"type":"function_call","call_id":` + c.id + `,"name":"f","arguments":"{}"},{"type":"function_call_output","call_id":` + c.id + `,"output":"ok"}]`, c.responses},
		} {
			rep := mustBeSound(t, d.dialect, []byte(d.text))
			var got []string
			for f := range rep.Findings.All() {
				if f.Severity > rules.Info {
					got = append(got, f.Rule.Name)
				}
			}
			if s := strings.Join(got, " "); s != d.want || rep.Calls != 1 || rep.Results != 1 || rep.File.Dialect != d.dialect {
				t.Errorf("%s with the id %.80s: found %q, want %q; %s%s", d.dialect, c.id, s, d.want, rep.Skipped, render(rep))
			}
		}
	}
}

// A mutator changes JSON values. The result is JSON, and nothing else is certain.
type mutator struct {
	*rand.Rand
	values []any // values to put in the place of others
}

// collect gathers what can be put in.
func (m *mutator) collect(v any) {
	m.values = append(m.values, v)
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			m.collect(e)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			m.collect(v[key])
		}
	}
}

// mutate returns v with about one in n of the values in it changed.
func (m *mutator) mutate(v any, n int) any {
	if m.IntN(n) == 0 {
		return m.values[m.IntN(len(m.values))]
	}
	switch v := v.(type) {
	case []any:
		out := make([]any, 0, len(v)+1)
		for _, e := range v {
			switch m.IntN(n) {
			case 0: // gone
			case 1:
				out = append(out, m.mutate(e, n), e)
			default:
				out = append(out, m.mutate(e, n))
			}
		}
		if len(out) > 1 && m.IntN(4) == 0 {
			i, k := m.IntN(len(out)), m.IntN(len(out))
			out[i], out[k] = out[k], out[i]
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if m.IntN(2*n) > 0 {
				out[key] = m.mutate(v[key], n)
			}
		}
		return out
	}
	return v
}

// TestMutations changes the values of the fixtures at random. The result must be read in
// order, once, and always in the same way.
func TestMutations(t *testing.T) {
	t.Parallel()
	m := &mutator{Rand: rand.New(rand.NewPCG(sample.Seed(1), 2))}
	m.values = []any{nil, true, false, "", "null", " ", "x", 0, 1.5, []any{}, map[string]any{}, "<", "tool", "assistant", "user", "tool_use", "tool_result", "web_search_tool_result"}
	type file struct {
		name  string
		lines []any
	}
	var files []file
	for _, f := range fixtures(t) {
		var v any
		if json.Unmarshal(f.text, &v) == nil {
			files = append(files, file{f.name, []any{v}})
			m.collect(v)
			continue
		}
		fl := file{name: f.name}
		for line := range strings.Lines(string(f.text)) {
			if json.Unmarshal([]byte(line), &v) == nil {
				fl.lines = append(fl.lines, v)
			}
		}
		if len(fl.lines) > 0 && !strings.Contains(f.name, "framing") {
			files = append(files, fl)
			m.collect(fl.lines)
		}
	}
	rounds := sample.Size(30, 2, 1)
	tried, read, found := 0, 0, map[string]int{}
	done := sample.Until(t)
	for _, f := range files {
		for range rounds {
			if done() {
				return
			}
			tried++
			var text []byte
			lines, ok := m.mutate(f.lines, 10+m.IntN(60)).([]any)
			if !ok {
				continue // replaced as a whole
			}
			for _, line := range lines {
				raw, err := json.Marshal(line)
				if err != nil {
					t.Fatal(err)
				}
				text = append(append(text, raw...), '\n')
			}
			rep := mustBeSound(t, f.name, text)
			if s := conserved(f.name, text, rep); s != "" {
				t.Fatalf("%s: %s\n%s", f.name, s, text)
			}
			if rep.Skipped == "" {
				read++
			}
			for f := range rep.Findings.All() {
				found[f.Rule.Name]++
			}
		}
	}
	t.Logf("%d of %d read; found %v", read, tried, found)
	if read < tried/2 || len(found) < 20 {
		t.Errorf("only %d of %d were read, %d rules broken", read, tried, len(found))
	}
}

func FuzzCheck(f *testing.F) {
	for _, fx := range sampled(f, 10, fixtures(f)) {
		f.Add(fx.text)
	}
	for _, c := range readCases(f) {
		f.Add([]byte(c.Input))
	}
	for _, text := range traps() {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		rep, err := Check(context.Background(), source.FromBytes("fuzz", text), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if s := unsound(text, rep); s != "" {
			t.Fatal(s)
		}
		if s := conserved("fuzz", text, rep); s != "" {
			t.Fatal(s)
		}
		if _, err := Check(context.Background(), source.FromBytes("fuzz", text), Options{Send: true}); err != nil {
			t.Fatal(err)
		}
	})
}
