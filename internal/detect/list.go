package detect

import (
	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
)

// listHead is how many elements of a list are looked at to tell what it is. Where
// nothing in them speaks, it is looked on up to mostHeadElements.
const (
	listHead         = 16
	mostHeadElements = 1024
)

// listClass says what the elements of a list are: at least half of the first ones
// must be of a class, or one must be a message as only one dialect writes it, and
// the others tagged as its items and messages are. What else they are is opaque.
// Into leads from an element to what is asked about.
func listClass(set *dialect.Set, v source.Value, into []string) (Class, *dialect.Dialect) {
	n, messages, decisive, tagged, records := 0, 0, 0, 0, 0
	unknown := false // an element speaks, but in no dialect that is known
	var logs votes
	for i, e := range v.Present() {
		if i >= mostHeadElements || i >= listHead && messages+records > 0 {
			break
		}
		if i == listHead {
			n, tagged = 0, 0 // what stands at the head says nothing, and what follows may
		}
		n++
		if e = e.Path(into...); e.Kind() != source.Object {
			continue
		}
		e = e.Indexed()
		if c := logs.add(set, e); c.Weight != evidence.None && !c.yields(set, e) {
			if records++; !c.speaks {
				tagged++
			}
			continue
		}
		_, claim, _ := ClaimOf(set, e)
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
	switch {
	case decisive == 0 && unknown:
		return ClassOther, nil
	case records > 0 && 2*records >= n && logs.best().speaks > 0:
		return ClassLog, logs.best().dialect
	case messages > 0 && 2*messages >= n, decisive > 0 && messages+tagged == n:
		return ClassMessage, nil
	}
	return ClassOther, nil
}
