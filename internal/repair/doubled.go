package repair

import (
	"slices"

	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/source"
)

// unsure reports whether a call or a result of an operation is in a message with a duplicate
// key. Programs disagree about which value counts, so such a message is not repaired.
func (p *Plan) unsure(op *operation.Operation) bool {
	in := func(message int32) bool { return p.doubled(p.Conv.Messages[message].Span()) }
	calls, results := subjects(op)
	return slices.ContainsFunc(calls, func(c int32) bool { return c >= 0 && in(p.Conv.Calls[c].Message) }) ||
		slices.ContainsFunc(results, func(r int32) bool { return r >= 0 && in(p.Conv.Results[r].Message) })
}

// unsureAt reports whether an edit is in such a message, or in such a record that is a line.
func (p *Plan) unsureAt(e edit.Edit) bool {
	if len(p.Conv.Doubled) == 0 || e.Span.Start >= p.Source.Size() {
		return false
	}
	in := func(off int64) bool {
		at := source.Span{}
		if m := p.messageAt(off); m >= 0 {
			at = p.Conv.Messages[m].Span()
		}
		if p.Log != nil && p.Log.Array.IsZero() {
			at = p.Log.recordAt(off)
		}
		// Text inserted before an element is not inside it.
		return (e.Span.Len() > 0 || off > at.Start) && p.doubled(at)
	}
	return p.doubled(e.Span) || in(e.Span.Start) || in(max(e.Span.Start, e.Span.End-1))
}

// doubled reports whether a span contains a duplicate key.
func (p *Plan) doubled(s source.Span) bool {
	return slices.ContainsFunc(p.Conv.Doubled, func(run []int64) bool {
		i, _ := slices.BinarySearch(run, s.Start)
		return i < len(run) && run[i] < s.End
	})
}
