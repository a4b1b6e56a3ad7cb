package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/trim"
)

// chat writes a history in the form of OpenAI: s, u and a are messages of the system, the user
// and the assistant; a:1,2 has the calls 1 and 2, and t1 is the result of call 1.
func chat(script string) string {
	var list []string
	for i, word := range strings.Fields(script) {
		kind, rest := word[:1], word[1:]
		switch {
		case kind == "t":
			list = append(list, fmt.Sprintf(`{"role":"tool","tool_call_id":"%s","content":"result %s at %d"}`, rest, rest, i))
		case rest != "":
			var calls []string
			for id := range strings.SplitSeq(rest[1:], ",") {
				calls = append(calls, fmt.Sprintf(`{"id":"%s","type":"function","function":{"name":"f","arguments":"{}"}}`, id))
			}
			list = append(list, fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[%s]}`, strings.Join(calls, ",")))
		default:
			role := map[string]string{"s": "system", "u": "user", "a": "assistant"}[kind]
			list = append(list, fmt.Sprintf(`{"role":"%s","content":"text %d"}`, role, i))
		}
	}
	return "[" + strings.Join(list, ",\n ") + "]"
}

// blocks writes the same history in the form of Anthropic. S is signed reasoning.
func blocks(script string) string {
	var list []string
	for i, word := range strings.Fields(script) {
		kind, rest := word[:1], strings.TrimPrefix(word[1:], ":")
		var parts []string
		for id := range strings.SplitSeq(rest, ",") {
			switch {
			case id == "S":
				parts = append(parts, `{"type":"thinking","thinking":"hm","signature":"c2ln"}`)
			case id == "":
				parts = append(parts, fmt.Sprintf(`{"type":"text","text":"text %d"}`, i))
			case kind == "t":
				parts = append(parts, fmt.Sprintf(`{"type":"tool_result","tool_use_id":"%s","content":"r"}`, id))
			default:
				parts = append(parts, fmt.Sprintf(`{"type":"tool_use","id":"%s","name":"f","input":{}}`, id))
			}
		}
		role := "user"
		if kind == "a" {
			role = "assistant"
		}
		list = append(list, fmt.Sprintf(`{"role":"%s","content":[%s]}`, role, strings.Join(parts, ",")))
	}
	return `{"model":"claude-sonnet-4","max_tokens":9,"tools":[{"name":"f","input_schema":{"type":"object"}}],"messages":[` + strings.Join(list, ",") + "]}"
}

// at returns a pointer to an index.
func at(i int) *int { return &i }

// TestTrimCases checks where histories are cut. Several cases are failures of other trimmers:
// an answer without its call at the start, a turn of parallel calls cut in two, a lost system
// prompt, a result kept because it fits while its call does not, and nothing left at all.
func TestTrimCases(t *testing.T) {
	one := "s u a:1 t1 a u a:2,3 t2 t3 a u a"
	loop := "u a:1 t1 a:2 t2 a:3 t3 a"
	two := func([]byte) (float64, error) { return 2, nil }
	for _, c := range []struct {
		name, script string
		req          trim.Request
		want         string // the indexes that are kept, or an error
	}{
		{"result at the start", one, trim.Request{Target: at(3)}, "0 5 6 7 8 9 10 11"},
		{"newer", one, trim.Request{Target: at(6), Newer: true}, "0 10 11"},
		{"newer at the boundary", one, trim.Request{Target: at(5), Newer: true}, "0 5 6 7 8 9 10 11"},
		{"newer falls back", one, trim.Request{Target: at(11), Newer: true}, "0 10 11"},
		{"older", one, trim.Request{Target: at(8)}, "0 5 6 7 8 9 10 11"},
		{"parallel calls stay together", one, trim.Request{Target: at(8), Boundary: trim.Pair}, "0 5 6 7 8 9 10 11"},
		{"answer after a loop", one, trim.Request{Target: at(9), Boundary: trim.Loop}, "0 9 10 11"},
		{"target 0", one, trim.Request{Target: at(0)}, "all"},
		{"target beyond", one, trim.Request{Target: at(12)}, "messages.12 does not exist; the history has 12 messages, counted from 0"},
		{"keep last at a result", one, trim.Request{KeepLast: 4}, "0 5 6 7 8 9 10 11"},
		{"keep last exactly", one, trim.Request{KeepLast: 2}, "0 10 11"},
		{"keep more than there is", one, trim.Request{KeepLast: 40}, "all"},
		{"keep last users", one, trim.Request{KeepLastUser: 2}, "0 5 6 7 8 9 10 11"},
		{"keep last newer", one, trim.Request{KeepLast: 4, Newer: true}, "0 10 11"},
		{"keep first ends before an open call", one, trim.Request{KeepFirst: 4}, "0 1 2 3"},
		{"keep first in parallel results", one, trim.Request{KeepFirst: 8}, "0 1 2 3 4 5"},
		{"keep first ends before a call without a result", "u a:1,2 t1 a u a", trim.Request{KeepFirst: 3}, "0"},
		{"keep first goes on after a call without a result", "u a:1,2 t1 u a u", trim.Request{KeepFirst: 5}, "0 1 2 3 4"},
		{"keep first of one system prompt", one, trim.Request{KeepFirst: 1}, "no safe cut: nothing but the system prompt would be left"},
		{"head and tail", one, trim.Request{KeepFirst: 2, KeepLast: 2}, "0 1 10 11"},
		{"pin keeps exchanges", one, trim.Request{Pin: 3, KeepLast: 2}, "0 1 2 3 10 11"},
		{"only the first is a user message", loop, trim.Request{Target: at(3)}, "no safe cut: the only user message is the first. --boundary pair would keep 5 messages (413 bytes)."},
		{"pair", loop, trim.Request{Target: at(4), Boundary: trim.Pair}, "3 4 5 6 7"},
		{"loop", loop, trim.Request{Target: at(7), Boundary: trim.Loop}, "7"},
		{"two turns without calls", "u a a u a", trim.Request{Target: at(2), Boundary: trim.Loop}, "2 3 4"},
		{"nothing fits", one, trim.Request{MaxBytes: 10}, "no safe cut: what follows the last user boundary is larger than the limit. --max-bytes 119 would keep 3 messages (119 bytes)."},
		{"nothing fits at the end", one, trim.Request{MaxBytes: 10, KeepLast: 4}, "no safe cut: what follows the last user boundary is larger than the limit. --max-bytes 517 would keep 8 messages (517 bytes)."},
		{"nothing fits in a loop", loop, trim.Request{MaxBytes: 10, MaxTokens: 5}, "no safe cut: the only user message is the first. --max-tokens 200 --max-bytes 636 would keep 8 messages (200 tokens)."},
		{"fits as it is", one, trim.Request{MaxBytes: 10000}, "all"},
		{"no human", "s a:1 t1 a", trim.Request{Target: at(3)}, "no safe cut: no message was typed by a human. --boundary loop would keep 2 messages (80 bytes)."},
		{"nothing at all", "", trim.Request{KeepLast: 1}, "all"},
		{"nothing within the limit", "", trim.Request{MaxBytes: 2}, "all"},
		{"nothing, but too much", "", trim.Request{MaxBytes: 1}, "no safe cut: the history has no messages to drop"},
		{"nothing, but too many tokens", "", trim.Request{MaxTokens: 1, Count: two}, "no safe cut: the history has no messages to drop"},
		{"a head as long as the history", "u a", trim.Request{KeepFirst: 2, MaxBytes: 1000}, "all"},
		{"a longer head", "u a", trim.Request{KeepFirst: 5, KeepLast: 1}, "all"},
		{"a longer head, but too much", "u a", trim.Request{KeepFirst: 5, MaxBytes: 9}, "no safe cut: the messages to keep at the start are larger than the limit. --max-bytes 78 would keep 2 messages (78 bytes)."},
	} {
		t.Run(c.name, func(t *testing.T) {
			checkTrim(t, chat(c.script), Options{}, &c.req, c.want)
		})
	}
}

// TestTrimCasesOfAnthropic checks what only that provider asks for.
func TestTrimCasesOfAnthropic(t *testing.T) {
	loop := "u a:1 t:1 a:2 t:2 a"
	for _, c := range []struct {
		name, script string
		req          trim.Request
		want         string
	}{
		{"no assistant first", loop, trim.Request{Target: at(3), Boundary: trim.Pair}, "no safe cut: the history has no pair boundary that drops anything. --pin 1 would keep 4 messages (403 bytes)."},
		{"after a pinned user message", loop, trim.Request{Target: at(3), Boundary: trim.Pair, Pin: 1}, "0 3 4 5"},
		{"no cut through signed reasoning", "u a:S,1 t:1 a:S,2 t:2 a", trim.Request{Target: at(3), Boundary: trim.Pair, Pin: 1}, "no safe cut: the history has no pair boundary that drops anything"},
		{"signed reasoning in another loop", "u a:S,1 t:1 a u a:2 t:2 a:3 t:3 a", trim.Request{Target: at(7), Boundary: trim.Pair, Pin: 1}, "0 7 8 9"},
		{"results of parallel calls", "u a:1,2 t:1,2 a u a", trim.Request{KeepLast: 3}, "4 5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "results of parallel calls" {
				c.want = "all" // the only boundary would keep two
			}
			checkTrim(t, blocks(c.script), Options{Send: true, Target: profile.ByName("anthropic")}, &c.req, c.want)
		})
	}
}

// checkTrim checks which messages of a text are kept, or the error.
func checkTrim(t *testing.T, text string, opts Options, req *trim.Request, want string) {
	t.Helper()
	got, err := Trim(context.Background(), source.FromBytes("x.json", []byte(text)), opts, req)
	if err != nil {
		if err.Error() != want {
			t.Fatalf("%v, want %s", err, want)
		}
		return
	}
	if !got.Changed() {
		if want != "all" {
			t.Fatalf("nothing was dropped, want %s", want)
		}
		return
	}
	was, is := messagesIn(t, text), messagesIn(t, string(got.Pieces.Source().Text()))
	var kept []string
	for i, m := range was {
		if len(is) > 0 && is[0] == m {
			kept, is = append(kept, strconv.Itoa(i)), is[1:]
		}
	}
	if k := strings.Join(kept, " "); k != want || len(is) > 0 {
		t.Errorf("kept %s, want %s; changed %s", k, want, is)
	}
}

// messagesIn returns the text of each message.
func messagesIn(t *testing.T, text string) []string {
	t.Helper()
	var list []json.RawMessage
	var body struct{ Messages, Input, Contents []json.RawMessage }
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		if err := json.Unmarshal([]byte(text), &body); err != nil {
			t.Fatal(err)
		}
		list = slices.Concat(body.Messages, body.Input, body.Contents)
	}
	out := make([]string, len(list))
	for i, m := range list {
		out[i] = string(m)
	}
	return out
}

// TestTrimOneLine checks that what is left of JSON Lines can be trimmed again, even if it is one line.
func TestTrimOneLine(t *testing.T) {
	lines := strings.ReplaceAll(strings.Trim(chat("u a u"), "[]"), ",\n", "\n") + "\n"
	one := lines[strings.LastIndex(lines, "\n {")+1:]
	req := &trim.Request{KeepLast: 1}
	for _, text := range []string{lines, one} {
		got, err := Trim(context.Background(), source.FromBytes("x.jsonl", []byte(text)), Options{}, req)
		switch {
		case err != nil:
			t.Errorf("%s: %v", text, err)
		case got.Changed() != (text == lines):
			t.Errorf("%s: changed: %t", text, got.Changed())
		case got.Changed() && strings.TrimSpace(string(got.Pieces.Source().Text())) != strings.TrimSpace(one):
			t.Errorf("left %s, want %s", got.Pieces.Source().Text(), one)
		}
	}
}

// approved is a history of OpenAI Responses in which a human approves a call of a server.
const approved = `[{"type":"message","role":"user","content":"q"},
{"type":"mcp_approval_request","id":"mcpr_1","server_label":"s","name":"f","arguments":"{}"},
{"type":"mcp_approval_response","approval_request_id":"mcpr_1","approve":true},
{"type":"message","role":"user","content":"q"},
{"type":"mcp_call","id":"mcp_1","approval_request_id":"mcpr_1","server_label":"s","name":"f","arguments":"{}","output":"1"},
{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"a"}]},
{"type":"mystery","id":"m_1"},
{"type":"message","role":"user","content":"q"},
{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},
{"type":"function_call_output","call_id":"c1","output":"1"},
{"type":"message","id":"msg_2","role":"assistant","content":[{"type":"output_text","text":"a"}]}]`

// TestTrimItems checks that no item is kept that names a dropped one, and that an unknown item before
// a turn does not belong to that turn.
func TestTrimItems(t *testing.T) {
	for _, c := range []struct {
		req  trim.Request
		want string
	}{
		{trim.Request{Target: at(3)}, "7 8 9 10"},
		{trim.Request{KeepLast: 7}, "all"},
		{trim.Request{KeepLast: 1, Boundary: trim.Loop}, "10"},
	} {
		got, err := Trim(context.Background(), source.FromBytes("x.json", []byte(approved)), Options{}, &c.req)
		if err != nil {
			t.Fatal(err)
		}
		want, all := approved, strings.Split(strings.Trim(approved, "[]"), ",\n")
		if c.want != "all" {
			var kept []string
			for i := range strings.FieldsSeq(c.want) {
				n, _ := strconv.Atoi(i)
				kept = append(kept, all[n])
			}
			want = "[" + strings.Join(kept, ",\n") + "]"
		}
		is := approved
		if got.Changed() {
			is = string(got.Pieces.Source().Text())
		}
		if is != want {
			t.Errorf("%+v: kept\n%s\nwant\n%s", c.req, is, want)
		}
	}
}

// TestTrimShortens checks the label of a shortened result, byte by byte.
func TestTrimShortens(t *testing.T) {
	long := strings.Repeat("0123456789", 100)
	text := strings.Replace(chat("u a:1 t1 a"), "result 1 at 2", long, 1)
	req := &trim.Request{ResultsMax: 240}
	got, err := Trim(context.Background(), source.FromBytes("x.json", []byte(text)), Options{}, req)
	if err != nil {
		t.Fatal(err)
	}
	label := "[toolguard] 817 of 1,000 bytes of this result were cut."
	want := strings.Replace(text, long, long[:138]+label+long[1000-45:], 1)
	if out := string(got.Pieces.Source().Text()); out != want {
		t.Errorf("got\n%s\nwant\n%s", out, want)
	}
	if len(got.Shortened) != 1 || got.Shortened[0].CallID != "1" || got.Shortened[0].From != 1002 || got.Shortened[0].To > 242 {
		t.Errorf("%+v", got.Shortened)
	}
	req.KeepResults = 1
	if got, err := Trim(context.Background(), source.FromBytes("x.json", []byte(text)), Options{}, req); err != nil || got.Changed() {
		t.Errorf("the last result was shortened: %v", err)
	}
}

// TestTrimCutsAndShortens checks that only results that stay are shortened and reported, up to the
// last message.
func TestTrimCutsAndShortens(t *testing.T) {
	long := strings.Repeat("0123456789", 100)
	text := chat("u a:1 t1 u a:2 t2 a:3 t3")
	for _, was := range []string{"result 1 at 2", "result 2 at 5", "result 3 at 7"} {
		text = strings.Replace(text, was, long, 1)
	}
	got, err := Trim(context.Background(), source.FromBytes("x.json", []byte(text)), Options{}, &trim.Request{KeepLast: 5, ResultsMax: 240})
	if err != nil {
		t.Fatal(err)
	}
	_, tail, _ := strings.Cut(text, long)
	_, tail, _ = strings.Cut(tail, "\n ")
	short := long[:138] + "[toolguard] 817 of 1,000 bytes of this result were cut." + long[1000-45:]
	if out, want := string(got.Pieces.Source().Text()), "["+strings.ReplaceAll(tail, long, short); out != want {
		t.Errorf("got\n%s\nwant\n%s", out, want)
	}
	if len(got.Shortened) != 2 || got.Shortened[0].CallID != "2" || got.Shortened[1].CallID != "3" {
		t.Errorf("%+v", got.Shortened)
	}
}

// TestTrimLimits checks that tokens are those of the counter and that its error ends the run.
func TestTrimLimits(t *testing.T) {
	text := chat("s u a:1 t1 a u a")
	per := func([]byte) (float64, error) { return 10, nil } // each message and each part around them
	req := &trim.Request{MaxTokens: 60, Count: per}
	got, err := Trim(context.Background(), source.FromBytes("x.json", []byte(text)), Options{}, req)
	if err != nil || got.Kept != 2 || got.Pinned != 1 || got.Tokens != 53 {
		t.Errorf("%+v, %v", got, err)
	}
	for most, want := range map[int64]string{
		53: "", 52: "no safe cut: what follows the last user boundary is larger than the limit. --max-tokens 53 would keep 3 messages (53 tokens).",
		97: "", 96: "",
	} {
		req.MaxTokens = most
		got, err := Trim(context.Background(), source.FromBytes("x.json", []byte(text)), Options{}, req)
		if (err != nil || want != "") && (err == nil || err.Error() != want) || err == nil && (got.Tokens > most || got.Changed() != (most < 97)) {
			t.Errorf("at most %d: %v, want %q", most, err, want)
		}
	}
	broken := errors.New("broken")
	req.Count = func([]byte) (float64, error) { return 0, broken }
	if _, err := Trim(context.Background(), source.FromBytes("x.json", []byte(text)), Options{}, req); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

// TestTrimUnknownElements checks that an element that is no message goes with the one before it.
func TestTrimUnknownElements(t *testing.T) {
	user, note, answer := `{"role":"user","content":"a"}`, `{"note":1}`, `{"role":"assistant","content":"b"}`
	list := func(elements ...string) string { return "[" + strings.Join(elements, ", ") + "]" }
	text := list(note, user, note, answer, user, answer, note)
	for want, req := range map[string]trim.Request{
		list(note, user, note, answer):             {KeepFirst: 2},
		list(note, user, answer, note):             {KeepLast: 2},
		list(note, user, note, user, answer, note): {KeepFirst: 1, KeepLast: 2, Boundary: trim.Pair},
	} {
		got, err := Trim(context.Background(), source.FromBytes("x.json", []byte(text)), Options{}, &req)
		if err != nil || !got.Changed() || string(got.Pieces.Source().Text()) != want {
			t.Errorf("%+v: %v, want %s", req, err, want)
			if err == nil && got.Changed() {
				t.Logf("got %s", got.Pieces.Source().Text())
			}
		}
	}
}

// TestTrimMargin checks that the estimate is reported, and limited, with the margin.
func TestTrimMargin(t *testing.T) {
	text := chat("s u a:1 t1 a u a")
	sum := trim.Estimate([]byte("[")) + trim.Estimate([]byte("]"))
	for _, m := range messagesIn(t, text) {
		sum += trim.Estimate([]byte(m)) + 1
	}
	want := int64(math.Ceil(1.15 * sum))
	for _, most := range []int64{want, want - 1} {
		got, err := Trim(context.Background(), source.FromBytes("x.json", []byte(text)), Options{}, &trim.Request{MaxTokens: most})
		if err != nil || got.Changed() != (most < want) || !got.Changed() && got.Tokens != want || got.Tokens > most {
			t.Errorf("at most %d: %v, %+v, want %d", most, err, got, want)
		}
	}
}

// BenchmarkTrim trims a history of 8 MiB to a tenth of its tokens. It reads the history twice:
// to choose the cut, and what is left to prove it.
func BenchmarkTrim(b *testing.B) {
	var script strings.Builder
	for i := 0; script.Len() < benchSize/64; i++ {
		fmt.Fprintf(&script, "u a:%d t%d a ", i, i)
	}
	text := chat(script.String())
	req := &trim.Request{MaxTokens: int64(len(text)) / 40}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		got, err := Trim(context.Background(), source.FromBytes("x.json", []byte(text)), Options{}, req)
		if err != nil || !got.Changed() {
			b.Fatal(err)
		}
	}
}
