package container

import (
	"slices"

	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A link is the place of a record in the chain of records. A log has one link for each
// record, so a link holds only what every record needs. After a fault the record is read
// again.
type link struct {
	placed
	parent uint64 // the hash of the parent's id, 0 if there is none
	thread int32
	msg    int32 // the index of its message in the thread's conversation, -1, or progress
}

// A chain is the links of a log, with an index of the record ids.
type chain struct {
	links []link
	ids   source.Index
}

// find returns the index of the link with the given id hash.
func (c *chain) find(id uint64) (at int32, known bool) { return c.ids.Find(id) }

// add adds the link of a new id. end is the offset at which the records end. If the id is not new, it returns
// the index of its link.
func (c *chain) add(id uint64, l link, end int64) (at int32, again bool) {
	if at, again = c.ids.Number(id, -1); again {
		return at, true
	}
	if len(c.links) > 0 {
		first := c.links[0].start
		c.links = transcript.Room(c.links, l.span().End-first, end-first)
	}
	c.links = append(c.links, l)
	c.ids.Reserve(cap(c.links))
	return at, false
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

// descend calls visit for each of n records after the one above it, which up returns, or -1 if there
// is none. In a cycle, one record is visited before the one above it.
func descend(n int, up func(int32) int32, visit func(i, above int32)) {
	met := make([]bool, n)
	var path []int32
	for i := range n {
		at := int32(i)
		for path = path[:0]; at >= 0 && !met[at]; at = up(at) {
			met[at] = true
			path = append(path, at)
		}
		for _, below := range slices.Backward(path) {
			visit(below, at)
			at = below
		}
	}
}

// ascend returns the links from the last one of each thread for which ends holds up to the root.
func (c *chain) ascend(threads int, ends func(*link) bool) []bool {
	last := slices.Repeat([]int32{-1}, threads)
	for i := range c.links {
		if k := &c.links[i]; ends(k) {
			last[k.thread] = int32(i)
		}
	}
	out := make([]bool, len(c.links))
	for _, i := range last {
		for ; i >= 0 && !out[i]; i = c.parent(i) {
			out[i] = true
		}
	}
	return out
}

// roots returns for each link the root of its chain of parents, or -1 if the chain is a cycle.
func (c *chain) roots() []int32 {
	roots := slices.Repeat([]int32{-1}, len(c.links))
	descend(len(c.links), c.parent, func(i, above int32) {
		if roots[i] = i; above >= 0 {
			roots[i] = roots[above]
		}
	})
	return roots
}
