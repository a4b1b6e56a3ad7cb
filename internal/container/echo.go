package container

import (
	"cmp"
	"slices"

	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// openCalls are the calls of a thread that have no result so far, by the hashes of their ids,
// with the records that repeat their results. Nothing is kept of calls that have a result.
type openCalls map[uint64]openCall

// An openCall is a call without a result.
type openCall struct {
	call  int32
	twice bool // another call has the same id
	at    []placed
}

// A placed is the place of a record.
type placed struct {
	record int32
	length uint32
	start  int64
}

// mostEchoes is the number of records that may repeat one result. Logs have at most two.
const mostEchoes = 4

// pair notes the calls and results that were read since the lists had the given lengths.
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
		_, again := t.open[key]
		t.open[key] = openCall{call: int32(i), twice: again}
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
	id := echo.ID.In(e.val)
	if id.Kind() != source.String {
		return
	}
	key := l.hash(id.Raw())
	if open, is := t.open[key]; is && len(open.at) <= mostEchoes {
		open.at = append(open.at, placed{e.record, uint32(e.val.Span().Len()), e.val.Span().Start})
		t.open[key] = open
	}
}

// echoed returns the records that repeat results of calls without one, in the order of the
// calls.
func (o openCalls) echoed() (out []transcript.Echo) {
	for _, open := range o {
		for _, at := range open.at {
			out = append(out, transcript.Echo{
				Call: open.call, Record: at.record, At: source.Span{Start: at.start, End: at.start + int64(at.length)},
				Unsure: open.twice || len(open.at) > mostEchoes,
			})
		}
	}
	slices.SortFunc(out, func(a, b transcript.Echo) int {
		return cmp.Or(cmp.Compare(a.Call, b.Call), cmp.Compare(a.At.Start, b.At.Start))
	})
	return out
}
