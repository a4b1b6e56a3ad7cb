package container

import (
	"slices"

	"github.com/toolguard/toolguard/internal/detect"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A link is a record's place in the chain of records. A log has one for each,
// so it holds no more than what is asked of every record: for a fault the
// record is read again.
type link struct {
	parent uint64 // the hash of the parent's id, 0 for none
	start  int64  // the record
	length uint32
	scope  int32
	msg    int32 // its message in the scope's conversation, -1 for none
	record int32
}

// span returns where the record stands.
func (l *link) span() source.Span {
	return source.Span{Start: l.start, End: l.start + int64(l.length)}
}

// A chain is the links of a log, and where in it the records' ids are.
type chain struct {
	links []link
	ids   source.Index
}

// find returns the place of the link with an id.
func (c *chain) find(id uint64) (at int32, known bool) { return c.ids.Find(id) }

// add adds the link of an id that is new. end is where the records end.
func (c *chain) add(id uint64, l link, end int64) {
	if len(c.links) > 0 {
		first := c.links[0].start
		c.links = transcript.Room(c.links, l.span().End-first, end-first)
	}
	c.links = append(c.links, l)
	c.ids.Reserve(cap(c.links))
	c.ids.Add(id)
}

// chained returns the records of a log that stands in a list, each behind the
// one that it names as its parent: an export may have them in another order, or
// wrap them. inOrder is set where they are the elements of the list as it stands.
func chained(p detect.Place) (out []source.Value, inOrder bool) {
	var records []source.Value
	at := map[string]int{}
	log := p.Log.Log
	for _, e := range p.Parts[0].Elements() {
		e = e.Path(p.Into...)
		if id := e.Get(log.ID); id.Kind() == source.String {
			if _, again := at[string(id.Raw())]; !again {
				at[string(id.Raw())] = len(records)
			}
		}
		records = append(records, e)
	}
	out = make([]source.Value, 0, len(records))
	inOrder = len(p.Into) == 0 && len(p.Parts) == 1 && p.Parts[0].Kind() == source.Array
	placed := make([]bool, len(records))
	parent := func(i int) (int, bool) {
		n, known := at[string(records[i].Get(log.Parent).Raw())]
		return n, known
	}
	var path []int
	for i := range records {
		path = path[:0]
		for n, known := i, true; known && !placed[n]; n, known = parent(n) {
			placed[n] = true
			path = append(path, n)
		}
		for _, n := range slices.Backward(path) {
			inOrder = inOrder && n == len(out)
			out = append(out, records[n])
		}
	}
	return out, inOrder
}
