package detect

import (
	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
)

// listHead is how many elements of an array are examined, counted from the first message.
// The first message is searched for among mostHeadElements elements.
const (
	listHead         = 16
	mostHeadElements = 1024
)

// listClass returns the class of the elements of an array. At least half of the examined
// elements must be of the class. Otherwise one must be a decisive message of a dialect,
// and the others must be tagged like its items and messages. Elements before the first
// message are bookkeeping if there is more than one message. All other elements are
// opaque. into is the path from an element to the value to examine.
func (f *finder) listClass(v source.Value, into []string) (Class, *dialect.Dialect) {
	set := f.set
	n, messages, decisive, tagged, records := 0, 0, 0, 0, 0
	before := 0      // the number of elements before the first message
	unknown := false // an element is a message of an unknown format
	other := func(e source.Value, claim evidence.Weight) (counts bool) {
		switch {
		case evidence.HasUnknownBlocks(e), evidence.IsUnknownResult(e):
			unknown = true
			tagged++
		case claim == evidence.Weak || skipped(set, e):
			return false // it says nothing
		case e.Get("type").Kind() == source.String || e.Get("role").Kind() == source.String || e.Get("content").Exists():
			tagged++
		}
		return true
	}
	var logs candidates
	for i, e := range v.Present() {
		spoken := messages+records > 0
		if !spoken && i >= mostHeadElements || spoken && (n >= listHead || i >= 2*mostHeadElements) {
			break
		}
		if e = e.Path(into...); e.Kind() != source.Object {
			if spoken {
				n++
			}
			continue
		}
		e = f.index.Of(e)
		c := logs.record(set, e)
		record, claim := c.Weight != evidence.None && !c.yields(set, e), evidence.None
		if !record {
			_, claim, _ = set.ClaimOf(e)
		}
		switch {
		case record:
			if records++; !c.speaks {
				tagged++
			}
		case isMessage(claim, e):
			messages++
			if claim == evidence.Decisive {
				decisive++
			}
		case spoken:
			if other(e, claim) {
				n++
			}
			continue
		default:
			continue // in most lists, no later element is a message, so the rest is left for then
		}
		if n++; spoken {
			continue
		}
		for j, e := range v.Present() {
			if j == i {
				break
			}
			if e = e.Path(into...); e.Kind() != source.Object {
				before++
				continue
			}
			if _, claim, _ := set.ClaimOf(e); other(e, claim) {
				before++
			}
		}
	}
	// Half of all elements, or half of those from the first one on unless it is the only
	// one.
	most := func(of int, alone bool) bool { return of > 0 && (2*of >= before+n || !alone && 2*of >= n) }
	switch {
	case decisive == 0 && unknown:
		return ClassOther, nil
	case most(records, records == 1) && logs.best().speaks > 0:
		return ClassLog, logs.best().of
	case most(messages, messages == 1), decisive > 0 && messages+tagged == before+n:
		return ClassMessage, nil
	}
	return ClassOther, nil
}
