package container

import (
	"sort"

	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// openCalls are the calls of a thread that have no result so far, by the hashes of their ids,
// with the records that repeat their results. Nothing is kept of calls that have a result.
type openCalls map[uint64]openCall

// An openCall is a call without a result.
type openCall struct {
	call int32
	at   []placed // the records that repeat its result, before the next call with its id
	// passed are earlier calls with the same id whose results no record repeated before the next
	// call. A later record may repeat the result of any of them.
	passed []int32
}

// mostEchoes is the number of records that may repeat one result. Logs have at most two.
const mostEchoes = 4

// pair adds the calls from the given index on to the open calls, and removes those that have one of
// the results from the given index on.
func (l *log) pair(t *thread, calls, results int) {
	if len(l.d.Log.Echoes) == 0 {
		return
	}
	c := t.conv()
	for i := calls; i < len(c.Calls); i++ {
		id := c.Calls[i].ID
		if !id.Given() || c.Calls[i].Answer.ByProvider() {
			continue
		}
		if t.open == nil {
			t.open = openCalls{}
		}
		key := l.hash([]byte(id.Raw))
		next := openCall{call: int32(i)}
		if before, again := t.open[key]; again && len(before.at) > 0 {
			t.closed = append(t.closed, before)
		} else if again {
			before.passed = append(before.passed, before.call) // which the next call takes over
			next.passed = before.passed
		}
		t.open[key] = next
	}
	for i := results; i < len(c.Results) && len(t.open) > 0; i++ {
		delete(t.open, l.hash([]byte(c.Results[i].ID.Raw)))
	}
}

// echo notes a record that repeats the result of an open call.
func (l *log) echo(t *thread, e element) {
	if len(t.open) == 0 {
		return
	}
	echo := l.d.Log.EchoOf(e.val, func(kind string) bool { return l.env.at[envType].Is(kind) || l.env.at[envSubtype].Is(kind) })
	if echo == nil {
		return
	}
	if session := l.d.Log.Hooks.Session; session != nil && len(l.names) > 0 {
		if of := session(e.val); of.Kind() == source.String && !l.names[l.hash(of.Raw())] {
			return // it is about another session
		}
	}
	id := echo.ID.In(e.val)
	if id.Kind() != source.String {
		return
	}
	key := l.hash(id.Raw())
	if open, is := t.open[key]; is && len(open.at) <= mostEchoes {
		open.at = append(open.at, e.placed())
		t.open[key] = open
	}
}

// named notes the names of the session in the header of a log.
func (l *log) named(record source.Value) {
	names := l.d.Log.Hooks.Sessions
	if names == nil || !l.env.at[envType].Is(l.d.Log.Header) {
		return
	}
	for _, name := range names(record) {
		if name.Kind() == source.String {
			if l.names == nil {
				l.names = map[uint64]bool{}
			}
			l.names[l.hash(name.Raw())] = true
		}
	}
}

// echoed returns the records that repeat results of calls without one, in the order of the
// calls.
func (t *thread) echoed() (out []transcript.Echo) {
	add := func(open openCall) {
		for _, call := range append(open.passed, open.call) {
			for _, at := range open.at {
				out = append(out, transcript.Echo{
					Call: call, Record: at.record, At: at.span(),
					Unsure: len(open.passed) > 0 || len(open.at) > mostEchoes,
				})
			}
		}
	}
	for _, open := range t.closed {
		add(open)
	}
	for _, open := range t.open {
		add(open)
	}
	sort.Slice(out, func(i, j int) bool {
		a, b := &out[i], &out[j]
		return a.Call < b.Call || a.Call == b.Call && a.At.Start < b.At.Start
	})
	return out
}
