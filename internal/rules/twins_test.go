package rules

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// callsOf returns a conversation with a call for each id and name, all of one turn.
func callsOf(calls ...[2]string) *Context {
	conv := &transcript.Conversation{}
	b := transcript.NewBuilder(conv)
	v := source.NewValue([]byte("{}"), 0)
	b.Begin(v, source.Value{}, transcript.RoleAssistant, "")
	for _, c := range calls {
		b.Call(v, transcript.Call{ID: transcript.Token{Raw: c[0]}, Name: transcript.Token{Raw: c[1]}}, 0)
	}
	return &Context{Conversation: conv, Pairing: pairing.Pairing{Calls: make([]pairing.Exchange, len(calls))}}
}

// TestTwins: calls are twins that have one id, however it is spelled.
func TestTwins(t *testing.T) {
	c := callsOf(
		[2]string{`"a"`, `"f"`}, [2]string{`"b"`, `"f"`}, [2]string{`"\u0061"`, `"f"`}, [2]string{`"b"`, `"g"`}, [2]string{`"c"`, `"f"`}, [2]string{"", `"f"`}, [2]string{"", `"f"`},
	)
	for i := range c.Pairing.Calls {
		if i != 3 {
			c.Pairing.Calls[i].State = pairing.Missing
		}
	}
	a, b := twins{others: true}, twins{others: true, answered: true, names: true}
	got := c.findTwins()
	want := []twins{a, b, a, b, {}, {}, {}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(twins{})); diff != "" {
		t.Error(diff)
	}
}

// TestMemoryOfTwins: to know them takes a few bytes for each call.
func TestMemoryOfTwins(t *testing.T) {
	const n = 50_000
	var calls [][2]string
	for i := range n {
		calls = append(calls, [2]string{fmt.Sprintf("%q", fmt.Sprint("call ", i)), `"f"`})
	}
	c := callsOf(calls...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if c.twin(0) {
		t.Error("there is no other call of that id")
	}
	runtime.ReadMemStats(&after)
	if got := float64(after.TotalAlloc-before.TotalAlloc) / n; got > 16 {
		t.Errorf("%.1f bytes for a call", got)
	} else {
		t.Logf("%.1f bytes for a call", got)
	}
}
