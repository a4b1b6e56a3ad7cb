package toolguard_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/toolguard/toolguard"
)

const trimHistory = `{"model":"gpt-4.1","messages":[
 {"role":"system","content":"Be brief."},
 {"role":"user","content":"List the files."},
 {"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},
 {"role":"tool","tool_call_id":"c1","content":"a.go b.go"},
 {"role":"assistant","content":"Two files."},
 {"role":"user","content":"Thanks."}
]}`

// A request is trimmed before it is sent. Where there is no safe cut, the error has a request that
// succeeds.
func ExampleNoCutError() {
	body := []byte(`{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[
 {"role":"user","content":"Fix the tests."},
 {"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"run","input":{}}]},
 {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"3 failures"}]},
 {"role":"assistant","content":[{"type":"tool_use","id":"t2","name":"run","input":{}}]},
 {"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":"1 failure"}]}]}`)
	options := []toolguard.Option{toolguard.Dialect("anthropic"), toolguard.Request(), toolguard.Send()}
	_, _, err := toolguard.TrimBytes(context.Background(), body, toolguard.TrimTo{MaxBytes: 400}, options...)
	var none *toolguard.NoCutError
	if !errors.As(err, &none) || none.Instead == nil {
		fmt.Println(err)
		return
	}
	fmt.Println(err)
	short, did, err := toolguard.TrimBytes(context.Background(), body, *none.Instead, options...)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(did.Kept, did.After.Worst())
	fmt.Printf("%s\n", short)
	// Output:
	// no safe cut: the only user message is the first. Boundary: BoundaryPair, Pin: 1 would keep 3 messages (285 bytes).
	// 3 off
	// {"model":"claude-sonnet-4-5","max_tokens":9,"messages":[
	//  {"role":"user","content":"Fix the tests."},
	//  {"role":"assistant","content":[{"type":"tool_use","id":"t2","name":"run","input":{}}]},
	//  {"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":"1 failure"}]}]}
}

// A limit keeps as much of the end as fits. Trim reads from a file, for example, and writes to
// another one.
func ExampleTrim() {
	did, err := toolguard.Trim(context.Background(), os.Stdout, strings.NewReader(trimHistory),
		toolguard.TrimTo{MaxTokens: 80, ResultsMaxBytes: 4000, KeepResults: 3}, toolguard.Target("openai"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("\ndropped %d messages: %s\n", did.Dropped, did.Reason)
	// Output:
	// {"model":"gpt-4.1","messages":[
	//  {"role":"system","content":"Be brief."},
	//  {"role":"user","content":"Thanks."}
	// ]}
	// dropped 4 messages: nearest user boundary within the limit
}

func ExampleTrimBytes() {
	short, did, err := toolguard.TrimBytes(context.Background(), []byte(trimHistory),
		toolguard.TrimTo{KeepLast: 2}, toolguard.Send())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(did.Changed(), did.Kept)
	short, did, err = toolguard.TrimBytes(context.Background(), short, toolguard.TrimTo{MaxBytes: 200}, toolguard.Send())
	fmt.Println(did.Dropped, did.Reason, err)
	fmt.Printf("%s\n", short)
	// Output:
	// false 6
	// 4 nearest user boundary within the limit <nil>
	// {"model":"gpt-4.1","messages":[
	//  {"role":"system","content":"Be brief."},
	//  {"role":"user","content":"Thanks."}
	// ]}
}

// TestTrimBytes checks that Trim and TrimBytes do the same, that the input stays as it was, and
// that the edits make the output.
func TestTrimBytes(t *testing.T) {
	in := []byte(trimHistory)
	to := toolguard.TrimTo{MaxTokens: 100}
	out, did, err := toolguard.TrimBytes(context.Background(), in, to)
	if err != nil || string(in) != trimHistory || did.Dropped != 4 || did.Index != 5 || did.Tokens > 100 || did.After.Worst() > toolguard.Info {
		t.Fatalf("%+v, %v", did, err)
	}
	var made []byte
	at := int64(0)
	for _, e := range did.Edits {
		made = append(append(made, in[at:e.Start]...), e.Text...)
		at = e.End
	}
	if made = append(made, in[at:]...); !bytes.Equal(made, out) {
		t.Errorf("the edits make %s", made)
	}
	var written bytes.Buffer
	if _, err := toolguard.Trim(context.Background(), &written, strings.NewReader(trimHistory), to); err != nil || written.String() != string(out) {
		t.Errorf("Trim writes %s, %v", written.String(), err)
	}
	same, did, err := toolguard.TrimBytes(context.Background(), in, toolguard.TrimTo{MaxBytes: 1 << 20})
	if err != nil || did.Changed() || &same[0] != &in[0] {
		t.Errorf("%v, %v", did, err)
	}
}

// TestNoCutInstead: the request in the error succeeds, and the text of the error says what it is.
func TestNoCutInstead(t *testing.T) {
	t.Parallel()
	four, long := 4, strings.Replace(trimHistory, "a.go b.go", strings.Repeat("a.go b.go ", 500), 1)
	for _, c := range []struct {
		in   string
		to   toolguard.TrimTo
		want string
	}{
		{trimHistory, toolguard.TrimTo{MaxBytes: 5}, "no safe cut: what follows the last user boundary is larger than the limit. MaxBytes: 113 would keep 2 messages (113 bytes)."},
		{trimHistory[:strings.LastIndex(trimHistory, ",\n")] + "]}", toolguard.TrimTo{Target: &four}, "no safe cut: the only user message is the first. Boundary: BoundaryLoop would keep 2 messages (120 bytes)."},
		{long, toolguard.TrimTo{KeepLast: 4, MaxTokens: 1000, KeepResults: 3}, "no safe cut: what follows the last user boundary is larger than the limit. ResultsMaxBytes: 1000, KeepResults: 0 would keep 6 messages (750 tokens)."},
	} {
		out, _, err := toolguard.TrimBytes(t.Context(), []byte(c.in), c.to)
		var none *toolguard.NoCutError
		if !errors.As(err, &none) || out != nil || none.Instead == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
			continue
		}
		if out, _, err = toolguard.TrimBytes(t.Context(), []byte(c.in), *none.Instead); err != nil || len(out) == 0 {
			t.Errorf("%+v: %v", *none.Instead, err)
		}
	}
	if (&toolguard.NoCutError{Reason: "x"}).Error() != "no safe cut: x" {
		t.Error("an error without a way out")
	}
}

// TestTrimErrors checks the type and the text of each error. Nothing is returned with them.
func TestTrimErrors(t *testing.T) {
	count := func(string) (int, error) { return 0, errors.New("no counter") }
	nothingElse := `[{"role":"user"},{"role":"assistant","content":"a"},{"role":"user","content":"b"},{"role":"assistant","content":"a"}]`
	fewer := func(string) (int, error) { return -1, nil }
	log := `{"type":"metadata","protocol_version":"1.4"}
{"timestamp":1.5,"message":{"type":"TurnBegin","payload":{"user_input":"look"}}}
{"timestamp":1.5,"message":{"type":"ToolCall","payload":{"type":"function","id":"t1","function":{"name":"Glob","arguments":"{}"}}}}
{"timestamp":1.5,"message":{"type":"ToolResult","payload":{"tool_call_id":"t1","return_value":{"is_error":false,"output":"a"}}}}`
	for _, c := range []struct {
		in   string
		to   toolguard.TrimTo
		want string
		as   any
	}{
		{trimHistory, toolguard.TrimTo{MaxBytes: 5}, "no safe cut: what follows the last user boundary is larger than the limit", new(*toolguard.NoCutError)},
		{log, toolguard.TrimTo{KeepLast: 1}, "not trimmed: it is a session log of a kind that only its agent shortens, with a command such as /compact", new(*toolguard.NotTrimmedError)},
		{`{"model":"gpt-4o","messages":[]}`, toolguard.TrimTo{MaxBytes: 5}, "no safe cut: the history has no messages to drop", new(*toolguard.NoCutError)},
		{nothingElse, toolguard.TrimTo{KeepFirst: 1}, "not trimmed: the cut would make the transcript unreadable: no messages found in the array", new(*toolguard.ProofError)},
		{`{"a":1}`, toolguard.TrimTo{KeepLast: 1}, "not a transcript: ", new(*toolguard.NotTranscriptError)},
		{trimHistory, toolguard.TrimTo{}, "nothing to trim; expected KeepLast, ", nil},
		{trimHistory, toolguard.TrimTo{KeepLast: 1, Boundary: 7}, "Boundary: expected one of user, loop, pair", nil},
		{trimHistory, toolguard.TrimTo{KeepLast: 1, Boundary: -1}, "Boundary: expected one of user, loop, pair", nil},
		{trimHistory, toolguard.TrimTo{ResultsMaxBytes: 1}, "ResultsMaxBytes: expected at least 200 bytes, got 1", nil},
		{trimHistory, toolguard.TrimTo{MaxTokens: 9, Count: count}, "no counter", nil},
		{trimHistory, toolguard.TrimTo{MaxTokens: 9, Count: fewer}, "expected a number of tokens from 0, got -1", nil},
	} {
		out, did, err := toolguard.TrimBytes(context.Background(), []byte(c.in), c.to)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || out != nil || did != nil {
			t.Errorf("%+v: %v, want %s", c.to, err, c.want)
		} else if c.as != nil && !errors.As(err, c.as) {
			t.Errorf("%+v: the error is a %T", c.to, err)
		}
	}
}
