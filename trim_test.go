package toolguard_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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

// TestTrimErrors checks the type and the text of each error. Nothing is returned with them.
func TestTrimErrors(t *testing.T) {
	count := func(string) (int, error) { return 0, errors.New("no counter") }
	nothingElse := `[{"role":"user"},{"role":"assistant","content":"a"},{"role":"user","content":"b"},{"role":"assistant","content":"a"}]`
	fewer := func(string) (int, error) { return -1, nil }
	log := `{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","timestamp":"2026-01-01T00:00:00Z","message":{"role":"user","content":"a"}}`
	for _, c := range []struct {
		in   string
		to   toolguard.TrimTo
		want string
		as   any
	}{
		{trimHistory, toolguard.TrimTo{MaxBytes: 5}, "no safe cut: what follows the last user boundary is larger than the limit", new(*toolguard.NoCutError)},
		{log, toolguard.TrimTo{KeepLast: 1}, "not trimmed: it is a session log, and only lists of messages are trimmed", new(*toolguard.NotTrimmedError)},
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
