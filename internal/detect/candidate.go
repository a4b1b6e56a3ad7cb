package detect

import (
	"cmp"
	"fmt"
	"sort"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
)

// A Candidate is a dialect that a file may be written in, or a log that its records may belong to.
type Candidate struct {
	Dialect  string
	Decisive int    // elements that only this dialect writes
	Shared   int    // elements that only a few dialects write
	Plain    int    // elements that this and many other dialects write
	Hints    int    // requests to its API around messages
	Holders  int    // objects around messages that occur only in its files
	Key      string // the first discriminating key and its offset

	of     *dialect.Dialect
	at     int64 // the offset of the first decisive element, or else of the first one
	marked int   // elements with the marks of a user-defined dialect

	// Of a log:
	headers int  // how many of the decisive records begin it
	speaks  int  // records with a message
	owned   int  // fields for the log minus fields against it
	like    int  // records that could also be messages without an envelope
	linked  bool // a record names itself or its parent
	parents bool // a record has the field for its parent

	mixed bool // not all records are in the dialect
}

// open reports whether c has nothing yet that shows as surely that an element is in the dialect.
func (c *Candidate) open(sure bool) bool { return c.Key == "" || sure && c.Decisive == 0 }

// shows notes what shows that an element is in the dialect.
func (c *Candidate) shows(sign string, at int64) {
	c.Key, c.at = fmt.Sprintf("%s at byte %d", sign, at), at
}

// before reports whether there is more evidence for c than for b.
func (c *Candidate) before(b *Candidate) bool {
	n := cmp.Or(
		cmp.Compare(b.marked, c.marked), cmp.Compare(b.Holders, c.Holders), cmp.Compare(b.Decisive, c.Decisive),
		cmp.Compare(b.Hints+b.Shared, c.Hints+c.Shared),
	)
	if n == 0 && c.Decisive > 0 {
		n = cmp.Compare(c.at, b.at) // the first decisive element wins
	}
	return cmp.Or(n, cmp.Compare(b.Plain, c.Plain)) < 0
}

// bare is the number of decisive records that do not begin the log.
func (c *Candidate) bare() int { return c.Decisive - c.headers }

// total is the number of records that could belong to the log.
func (c *Candidate) total() int { return c.Decisive + c.Plain }

// candidates are the dialects for which there is evidence, in the order in which it was found.
type candidates []Candidate

// of returns the candidate of a dialect.
func (cs *candidates) of(d *dialect.Dialect) *Candidate {
	for i := range *cs {
		if c := &(*cs)[i]; c.of == d {
			return c
		}
	}
	*cs = append(*cs, Candidate{Dialect: d.Name, of: d})
	return &(*cs)[len(*cs)-1]
}

// element counts an element that may be in a dialect.
func (cs *candidates) element(d *dialect.Dialect, claim evidence.Weight, sign evidence.Sign, at int64) *Candidate {
	c := cs.of(d)
	if c.open(claim == evidence.Decisive) {
		c.shows(sign.String(), at)
	}
	if claim == evidence.Decisive {
		c.Decisive++
		if d.UserDefined() {
			c.marked++
		}
		return c
	}
	if claim == evidence.Shared {
		c.Shared++
	}
	if !sign.Alike() { // dialects with their own form of message come first
		c.Plain++
	}
	return c
}

// record counts a value that may be a record of each log and returns the strongest claim.
func (cs *candidates) record(set *dialect.Set, v source.Value) recordClaim {
	var most recordClaim
	may := false
	for k := range v.Members() {
		if may = set.MayRecord(k.Text()); may {
			break
		}
	}
	if !may {
		return most
	}
	marked := set.ByMarks(v)
	var at dialect.Lens // most logs have the type in the same field
	var typ source.Value
	for _, d := range set.Having(dialect.Logs) {
		if at != d.Log.Type {
			at, typ = d.Log.Type, d.Log.Type.In(v)
		}
		if marked != nil && d != marked || typ.Kind() != source.String {
			continue
		}
		claim := claimRecord(set, d, v, typ)
		switch {
		case claim.like:
			cs.of(d).like++
		case claim.Weight != evidence.None:
			cs.of(d).log(&claim, v)
		}
		if claim.Weight > most.Weight {
			most = claim
		}
	}
	return most
}

// log counts a record of the log.
func (c *Candidate) log(claim *recordClaim, v source.Value) {
	if c.open(claim.Weight == evidence.Decisive) {
		c.shows(claim.sign.String(), v.Span().Start)
	}
	if claim.Weight == evidence.Decisive {
		c.Decisive++
	} else {
		c.Plain++
	}
	if claim.speaks {
		c.speaks++
		c.owned += claim.owned
	}
	l := c.of.Log
	if claim.header {
		c.headers++
		return
	}
	c.linked = c.linked || dialect.Lens(l.ID).Leads(v) || dialect.Lens(l.Parent).Leads(v)
	c.parents = c.parents || l.Parent != "" && v.Get(l.Parent).Exists()
}

// others returns the other logs that records could belong to, those with the most
// evidence first.
func (cs candidates) others(but *Candidate) (out []Candidate) {
	for i := range cs {
		if c := &cs[i]; c != but && c.total() > 0 && c.owned >= 0 {
			out = append(out, *c)
		}
	}
	sort.SliceStable(out, func(i, j int) bool {
		a, b := &out[i], &out[j]
		return a.Decisive > b.Decisive || a.Decisive == b.Decisive && a.Plain > b.Plain
	})
	return out
}

// best returns the log with the most evidence, or nil.
func (cs candidates) best() *Candidate {
	var best *Candidate
	isMarked := func(c *Candidate) bool { return c.of.UserDefined() && c.bare() > 0 }
	for i := range cs {
		c := &cs[i]
		switch {
		case best != nil && isMarked(c) != isMarked(best):
			if isMarked(c) {
				best = c
			}
		case best == nil, c.headers > 0 && best.headers == 0:
			best = c
		case best.headers > 0 && c.headers == 0:
		case cmp.Or(c.bare()-best.bare(), c.owned-best.owned, c.total()-best.total()) > 0:
			best = c
		}
	}
	return best
}

// only counts a record of a file whose records could all belong to other dialects: the bookkeeping
// records of this one are decisive.
func (c *Candidate) only(v source.Value) {
	if c.total() == 0 {
		c.shows("type", v.Span().Start)
	}
	if c.of.Driver.(dialect.Skipper).Skips(v) {
		c.Decisive++
	} else if claim, _ := c.of.Evidence.Weigh(v, false); claim != evidence.None {
		c.Plain++
	} else {
		c.mixed = true
	}
}
