package repair

import (
	"slices"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/source"
)

// listOf returns the changes to the list of ids at a span.
func (c *chain) listOf(at source.Span) *list {
	if c.lists[at] == nil {
		put(&c.lists, at, &list{src: c.d.src, array: at})
	}
	return c.lists[at]
}

// path returns the nodes of a segment from its last record up to its first. It returns false if
// the parents do not lead there. Then the path is as far as they lead.
func (c *chain) path(s *segment) (path []int32, whole bool) {
	for id := s.tail; id >= 0 && c.byID[id] >= 0 && len(path) <= len(c.nodes); id = c.nodes[c.byID[id]].parent {
		path = append(path, c.byID[id])
		if id == s.head {
			return path, true
		}
	}
	return path, false
}

// shorten makes a segment begin and end with records that stay. If none of its records stays, it
// is removed.
func (c *chain) shorten(s *segment) {
	path, whole := c.path(s)
	if !whole {
		return // the client does not find the segment, so it keeps nothing
	}
	stays := slices.DeleteFunc(path, func(i int32) bool { return c.leaves(c.nodes[i].id) })
	if len(stays) == 0 {
		record, at := c.d.at(c.nodes[c.at(s.headAt.Start)].span()), c.Format.Head.Parent()
		whole := at.In(record).Span()
		for _, e := range cutMembers(dialect.Lens(at.Parent()).In(record), func(_, v source.Value) bool { return v.Span() == whole }) {
			c.set(e.Span, string(e.Text))
		}
		return
	}
	for _, end := range []struct {
		id   int32
		at   source.Span
		node int32
	}{{s.head, s.headAt, stays[len(stays)-1]}, {s.tail, s.tailAt, stays[0]}} {
		if n := &c.nodes[end.node]; n.id != end.id {
			c.from(n, n.idAt())
			c.set(end.at, c.text(n.idAt()))
		}
	}
}

// lengthen makes the segments that end with a record end with the last new one behind it.
func (c *chain) lengthen(last *node, id string) {
	for _, s := range c.ends[last.id] {
		if c.segments[s].tail != last.id {
			continue
		}
		path, whole := c.path(&c.segments[s])
		for _, ins := range c.inserted {
			if whole && slices.Contains(path, c.at(ins.call)) {
				c.set(c.segments[s].tailAt, id)
				break
			}
		}
	}
}

// keepToo adds a new record to the lists of what compactions keep that name the record of its
// call. It comes behind its parent there.
func (c *chain) keepToo(id string, caller, parent *node) {
	for _, k := range c.kept[caller.id] {
		for _, p := range c.kept[parent.id] {
			if p.in == k.in {
				k = p
			}
		}
		// It may have taken the id of a lost record, which is there already.
		there := false
		for _, e := range c.d.at(k.in).Present() {
			there = there || string(e.Raw()) == id
		}
		if !there {
			c.listOf(k.in).after(k.at, []byte(id))
		}
	}
}
