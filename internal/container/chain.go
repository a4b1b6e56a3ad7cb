package container

import (
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A link is the place of a record in the chain of records. A log has one link for each
// record, so a link holds only what every record needs. After a fault the record is read
// again.
type link struct {
	parent uint64 // the hash of the parent's id, 0 if there is none
	start  int64  // the offset of the record
	length uint32
	thread int32
	msg    int32 // the index of its message in the thread's conversation, -1, or progress
	record int32
}

// span returns the span of the record.
func (l *link) span() source.Span {
	return source.Span{Start: l.start, End: l.start + int64(l.length)}
}

// A chain is the links of a log, with an index of the record ids.
type chain struct {
	links []link
	ids   source.Index
}

// find returns the index of the link with the given id hash.
func (c *chain) find(id uint64) (at int32, known bool) { return c.ids.Find(id) }

// add adds the link of a new id. end is the offset at which the records end.
func (c *chain) add(id uint64, l link, end int64) {
	if len(c.links) > 0 {
		first := c.links[0].start
		c.links = transcript.Room(c.links, l.span().End-first, end-first)
	}
	c.links = append(c.links, l)
	c.ids.Reserve(cap(c.links))
	c.ids.Add(id)
}

// parent returns the index of a link's parent, or -1 if there is none.
func (c *chain) parent(i int32) int32 {
	if at, known := c.named(i); known && at != i {
		return at
	}
	return -1
}

// named returns the index of the record that a link names as its parent. It is usually
// the previous record.
func (c *chain) named(i int32) (at int32, known bool) {
	if p := c.links[i].parent; p != 0 {
		return c.ids.FindFrom(p, int(i)-1)
	}
	return 0, false
}

// roots returns for each link the root of its chain of parents, or -1 if the chain is a
// cycle.
func (c *chain) roots() []int32 {
	const unknown, circle = -2, -1
	roots := make([]int32, len(c.links))
	for i := range roots {
		roots[i] = unknown
	}
	var path []int32
	for i := range roots {
		at := int32(i)
		for path = path[:0]; roots[at] == unknown; {
			path = append(path, at)
			roots[at] = circle // kept if the walk comes back here
			if up := c.parent(at); up >= 0 {
				at = up
			} else {
				roots[at] = at
			}
		}
		for _, k := range path {
			roots[k] = roots[at]
		}
	}
	return roots
}
