package engine

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/sample"
)

// A messenger writes the messages of an API in short forms: a call and a result of an id, and texts of
// both sides.
type messenger struct {
	dialect    string
	head, tail string
	call       func(id string, n int) string
	result     func(id, text string) string
	user, says func(text string) string
	calls      func(calls ...string) string // a message of the model
	results    func(results ...string) string
}

// history writes messages as a request.
func (w *messenger) history(messages ...string) string {
	return w.head + strings.Join(messages, ",\n") + w.tail
}

func messengers() []messenger {
	blocks := func(role, key string) func(...string) string {
		return func(of ...string) string {
			return `{"role":"` + role + `","` + key + `":[` + strings.Join(of, ",") + `]}`
		}
	}
	alone := func(of ...string) string { return strings.Join(of, ",\n") }
	texts := func(format string) func(string) string {
		return func(text string) string { return fmt.Sprintf(format, text) }
	}
	pair := func(format string) func(string, string) string {
		return func(id, text string) string { return fmt.Sprintf(format, id, text) }
	}
	number := func(format string) func(string, int) string {
		return func(id string, n int) string { return fmt.Sprintf(format, id, n) }
	}
	return []messenger{
		{
			dialect: "openai-chat", head: `{"model":"gpt-4","messages":[` + "\n", tail: "\n]}\n",
			call:   number(`{"id":%q,"type":"function","function":{"name":"f","arguments":"{\"n\":%d}"}}`),
			result: pair(`{"role":"tool","tool_call_id":%q,"content":%q}`), results: alone,
			user: texts(`{"role":"user","content":%q}`), says: texts(`{"role":"assistant","content":%q}`),
			calls: func(of ...string) string {
				return `{"role":"assistant","content":null,"tool_calls":[` + strings.Join(of, ",") + `]}`
			},
		},
		{
			dialect: "anthropic", head: `{"model":"claude-3","max_tokens":9,"messages":[` + "\n", tail: "\n]}\n",
			call: number(`{"type":"tool_use","id":%q,"name":"f","input":{"n":%d}}`), calls: blocks("assistant", "content"),
			result: pair(`{"type":"tool_result","tool_use_id":%q,"content":%q}`), results: blocks("user", "content"),
			user: texts(`{"role":"user","content":%q}`), says: texts(`{"role":"assistant","content":%q}`),
		},
		{
			dialect: "bedrock", head: `{"modelId":"m","toolConfig":{"tools":[{"toolSpec":{"name":"f","inputSchema":{"json":{}}}}]},"messages":[` + "\n", tail: "\n]}\n",
			call: number(`{"toolUse":{"toolUseId":%q,"name":"f","input":{"n":%d}}}`), calls: blocks("assistant", "content"),
			result: pair(`{"toolResult":{"toolUseId":%q,"content":[{"text":%q}]}}`), results: blocks("user", "content"),
			user: texts(`{"role":"user","content":[{"text":%q}]}`), says: texts(`{"role":"assistant","content":[{"text":%q}]}`),
		},
		{
			dialect: "gemini", head: `{"contents":[` + "\n", tail: "\n]}\n",
			call: number(`{"functionCall":{"id":%q,"name":"f","args":{"n":%d}}}`), calls: blocks("model", "parts"),
			result: pair(`{"functionResponse":{"id":%q,"name":"f","response":{"output":%q}}}`), results: blocks("user", "parts"),
			user: texts(`{"role":"user","parts":[{"text":%q}]}`), says: texts(`{"role":"model","parts":[{"text":%q}]}`),
		},
		{
			dialect: "openai-responses", head: `{"model":"gpt-5","input":[` + "\n", tail: "\n]}\n",
			call: number(`{"type":"function_call","call_id":%q,"name":"f","arguments":"{\"n\":%d}"}`), calls: alone,
			result: pair(`{"type":"function_call_output","call_id":%q,"output":%q}`), results: alone,
			user: texts(`{"role":"user","content":%q}`), says: texts(`{"role":"assistant","content":%q}`),
		},
	}
}

// placeMark finds the numbers of calls, the numbers of results, and placeholders.
var placeMark = regexp.MustCompile(`"n\\?":(\d+)|RESULT(\d+)|\[toolguard\] No`)

// placesIn lists the calls and the results of a history: c1 for the call with the argument 1, r1 for
// the result with the text RESULT1, and - for a placeholder.
func placesIn(text []byte) (out []string) {
	for _, m := range placeMark.FindAllSubmatch(text, -1) {
		switch {
		case m[1] != nil:
			out = append(out, "c"+string(m[1]))
		case m[2] != nil:
			out = append(out, "r"+string(m[2]))
		default:
			out = append(out, "-")
		}
	}
	return out
}

// TestFixReusedIDs: several calls have one id, and some of them lack a result. In a history, c1
// is a message of the model with a call and the argument 1, r1 is a message with the result
// RESULT1, u is a text of the user, and a one of the model.
func TestFixReusedIDs(t *testing.T) {
	unsafe := FixOptions{Unsafe: true}
	for _, tt := range []struct {
		name, history string
		opts          FixOptions
		want, left    string
		other         map[string][2]string // where a dialect differs
	}{
		{"a result before two calls", "u r1 u c1 u c2 u", FixOptions{}, "r1 c1 c2 -", "result-before-call", nil},
		{"a result before two calls, the other half is a guess", "u r1 u c1 u c2 u", unsafe, "c1 r1 c2 -", "", nil},
		{"a result before three calls, the last is answered", "u r1 u c1 u c2 u c3 r3 u", FixOptions{}, "r1 c1 c2 - c3 r3", "result-before-call", nil},
		{"a result before two calls, the second is answered", "u r1 u c1 u c2 r2 u", FixOptions{}, "r1 c1 c2 r2", "result-before-call", nil},
		{"a result before a call at the end, behind an open call", "u c1 u c2 r2 a u r3 u c3", FixOptions{}, "c1 - c2 r2 r3 c3", "result-before-call", map[string][2]string{
			"openai-responses": {"c1 - c2 r2 r3 c3", "duplicate-tool-result, pending-tool-call"},
		}},
		{"a result before its call", "u r1 u c1 u", FixOptions{}, "c1 r1", "", nil},
		{"two results behind two calls, a user between the calls", "u c1 u c2 r1 r2 a u", FixOptions{}, "c1 - c2 r1 r2", "duplicate-tool-result", nil},
		{"two results behind two calls in a row, a user between the results", "u c1 c2 r1 u r2 a u", FixOptions{}, "c1 - c2 r1 r2", "duplicate-tool-result", map[string][2]string{
			"gemini": {"c1 c2 r1 r2", ""}, "openai-responses": {"c1 c2 r1 r2", ""},
		}},
		{"two results behind two calls in a row", "u c1 c2 r1 r2 a u", FixOptions{}, "c1 r1 c2 r2", "", map[string][2]string{
			"gemini": {"c1 c2 r1 r2", ""}, "openai-responses": {"c1 c2 r1 r2", ""}, // they are one turn, and the second call gets an id of its own
		}},
	} {
		for _, w := range messengers() {
			t.Run(tt.name+", "+w.dialect, func(t *testing.T) {
				text := []byte(w.write("x", strings.Fields(tt.history)...))
				fault, out, f := misfixed("x.json", text, tt.opts)
				if fault != "" {
					t.Fatalf("%s\n%s", fault, out)
				}
				want := [2]string{tt.want, tt.left}
				if other, differs := tt.other[w.dialect]; differs {
					want = other
				}
				if got := strings.Join(placesIn(out), " "); got != want[0] || f.Before.File.Dialect != w.dialect || left(f) != want[1] {
					t.Errorf("%s: got %s, left: %s\nwant %s, left: %s\n%s", f.Before.File.Dialect, got, left(f), want[0], want[1], out)
				}
			})
		}
	}
}

// write writes a history of TestFixReusedIDs. All calls have one id.
func (w *messenger) write(id string, messages ...string) string {
	var out []string
	for _, m := range messages {
		switch m[0] {
		case 'u':
			out = append(out, w.user("u"))
		case 'a':
			out = append(out, w.says("a"))
		case 'c':
			n, _ := strconv.Atoi(m[1:])
			out = append(out, w.calls(w.call(id, n)))
		case 'r':
			out = append(out, w.results(w.result(id, "RESULT"+m[1:])))
		}
	}
	return w.history(out...)
}

// TestFixKeepsResultsOfReusedIDs loses and displaces results of histories that use two ids again
// and again. A result that moves must end behind the call that it had.
func TestFixKeepsResultsOfReusedIDs(t *testing.T) {
	t.Parallel()
	n, done := sample.Inputs(2000, 30, 10), sample.Until(t)
	for k, w := range messengers() {
		s := scribeOf(29, uint64(k))
		moved, changed := 0, 0
		for i := range n {
			if done() {
				t.Logf("%s: stopped after %d of %d histories", w.dialect, i, n)
				break
			}
			text, ids := w.displaced(s)
			before := callsOf(placesIn([]byte(text)), ids)
			for _, opts := range []FixOptions{{}, {SafeOnly: true}, {Options: Options{Send: true}}} {
				out, f, err := repaired([]byte(text), opts)
				if err != nil {
					t.Fatalf("%s: %v\n%s", w.dialect, err, text)
				}
				if f.Changed() {
					changed++
				}
				after := callsOf(placesIn(out), ids)
				if len(after) != len(before) {
					t.Errorf("%s, %+v: %d results, and there were %d\n%s\n%s", w.dialect, opts, len(after), len(before), text, out)
				}
				for r, call := range after {
					if call == before[r] {
						continue
					}
					if moved++; call != r {
						t.Errorf("%s, %v: the result of call %d is now behind call %d\n%s\n%s", w.dialect, opts.SafeOnly, r, call, text, out)
					}
				}
			}
		}
		t.Logf("%s: of %d histories %d were changed, and %d results were moved", w.dialect, 3*n, changed, moved)
		if moved*10 < n && !done() {
			t.Errorf("%s: only %d results were moved in %d histories", w.dialect, moved, n)
		}
	}
}

// callsOf returns for each of the results at places the call with its id that is before it, -1 for none.
func callsOf(places []string, ids map[int]string) map[int]int {
	out, last := map[int]int{}, map[string]int{}
	for _, word := range places {
		n, err := strconv.Atoi(word[1:])
		if err != nil {
			continue // a placeholder
		}
		switch id := ids[n]; word[0] {
		case 'c':
			last[id] = n
		case 'r':
			if call, is := last[id]; is {
				out[n] = call
			} else {
				out[n] = -1
			}
		}
	}
	return out
}

// displaced writes a history in which some results are lost, late, or before all calls with their
// id, and returns the id of each call.
func (w *messenger) displaced(s *scribe) (string, map[int]string) {
	ids := map[int]string{}
	out := []string{w.user("go")}
	var late []string
	open := map[string]bool{} // the ids of calls without a result so far
	early := map[string]string{}
	for n := 1; n <= 2+s.IntN(4); {
		var calls, results []string
		for _, id := range []string{"a", "b"}[:1+s.IntN(2)] {
			ids[n] = id
			calls = append(calls, w.call(id, n))
			result := w.result(id, fmt.Sprint("RESULT", n))
			switch k := s.IntN(8); {
			case k < 4:
				results = append(results, result)
			case k == 4 && !open[id]:
				late, open[id] = append(late, result), true
			case k == 5 && early[id] == "":
				early[id], open[id] = result, true
			default:
				open[id] = true
			}
			n++
		}
		out = append(out, w.calls(calls...))
		if len(results) > 0 {
			out = append(out, w.results(results...))
		}
		if s.odds(.6) {
			out = append(out, w.user("more"))
		}
		if len(late) > 0 && s.odds(.6) {
			out = append(out, w.user("still"), w.results(late...))
			late = nil
		}
		if s.odds(.3) {
			out = append(out, w.says("so"))
		}
	}
	if len(late) > 0 {
		out = append(out, w.user("still"), w.results(late...))
	}
	for _, id := range []string{"b", "a"} {
		if early[id] != "" {
			out = slices.Insert(out, 1, w.results(early[id]), w.user("wait"))
		}
	}
	return w.history(append(out, w.user("end"))...), ids
}
