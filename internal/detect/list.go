package detect

import (
	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
)

// listHead is how many elements of a list are looked at to tell what it is, from the
// first that speaks on. That is looked for among mostHeadElements.
const (
	listHead         = 16
	mostHeadElements = 1024
)

// listClass says what the elements of a list are: at least half of those that are
// looked at must be of a class, or one must be a message as only one dialect writes it,
// and the others tagged as its items and messages are. What stands before the first that
// speaks is book-keeping if more than one does. What else they are is opaque. Into
// leads from an element to what is asked about.
func listClass(set *dialect.Set, v source.Value, into []string) (Class, *dialect.Dialect) {
	n, messages, decisive, tagged, records := 0, 0, 0, 0, 0
	before := 0      // how many come before the first that speaks
	unknown := false // an element speaks, but in no dialect that is known
	var logs votes
	var h head
	for i, e := range v.Present() {
		spoken := messages+records > 0
		if !spoken && i >= mostHeadElements || spoken && (n >= listHead || i >= 2*mostHeadElements) {
			break
		}
		if !spoken {
			before, n = before+n, 0
		}
		n++
		if e = e.Path(into...); e.Kind() != source.Object {
			continue
		}
		e = e.Indexed()
		if c := logs.add(set, e, &h); c.Weight != evidence.None && !c.yields(set, e) {
			if records++; !c.speaks {
				tagged++
			}
			continue
		}
		_, claim, _ := set.ClaimOf(e)
		switch {
		case isMessage(claim, e):
			messages++
			if claim == evidence.Decisive {
				decisive++
			}
		case evidence.HasUnknownBlocks(e):
			unknown = true
			tagged++
		case claim == evidence.Weak || skipped(set, e):
			n-- // it tells nothing
		default:
			if e.Get("type").Kind() == source.String || e.Get("role").Kind() == source.String || e.Get("content").Exists() {
				tagged++
			}
		}
	}
	// Half of them, or of those from the first on if that does not stand alone.
	most := func(of int, alone bool) bool { return of > 0 && (2*of >= before+n || !alone && 2*of >= n) }
	switch {
	case decisive == 0 && unknown:
		return ClassOther, nil
	case most(records, records == 1) && logs.best().speaks > 0:
		return ClassLog, logs.best().dialect
	case most(messages, messages == 1), decisive > 0 && messages+tagged == before+n:
		return ClassMessage, nil
	}
	return ClassOther, nil
}
