package repair

import (
	"strconv"

	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/source"
)

// keepCall has the compaction that names the first record that it keeps at a span name the
// record of a call instead. It returns false if the call is not on the branch of the compaction.
func (c *chain) keepCall(at source.Span, call int64) bool {
	if err := c.index(); err != nil {
		c.d.src.err = err
		return false
	}
	from, to := c.at(call), c.at(at.Start)
	first := &c.nodes[from]
	if c.d.at(at).Kind() != source.String {
		c.set(at, strconv.Itoa(int(from)))
		return true
	}
	if first.id < 0 || c.leadsTo(to, from) < 0 {
		return false
	}
	c.from(first, first.idAt())
	c.set(at, c.text(first.idAt()))
	return true
}

// leadsTo returns the child of a node on the way from a later node up to it, -1 if the later one
// does not descend from it.
func (c *chain) leadsTo(node, up int32) int32 {
	for range c.nodes { // bounded, because parents may form a circle
		parent := c.nodes[node].parent
		if parent < 0 || c.byID[parent] < 0 || len(c.twins[parent]) > 0 {
			return -1
		}
		if c.byID[parent] == up {
			return node
		}
		node = c.byID[parent]
	}
	return -1
}

// moveRecord moves a record behind another, which descends from it. Its child becomes a child of
// its parent, and the children of the other one become its children.
func (c *chain) moveRecord(at source.Span, behind int64) bool {
	if err := c.index(); err != nil {
		c.d.src.err = err
		return false
	}
	moved, last := c.at(at.Start), c.at(behind)
	x, y := &c.nodes[moved], &c.nodes[last]
	child := c.leadsTo(last, moved)
	if child < 0 || x.parentSlot.length == 0 || c.nodes[child].sibling >= 0 || c.children[x.id] != child || len(c.counts) > 0 || y.id < 0 {
		return false
	}
	c.from(x, x.idAt())
	c.from(y, y.idAt())
	parent := x.parentAt()
	text := edit.Splice([]byte(c.text(x.span())), x.start, []edit.Edit{{Span: parent, Text: []byte(c.text(y.idAt()))}})
	c.lines.remove(x.span())
	c.lines.after(y.span(), text)
	c.d.stays = append(c.d.stays, x.span())
	c.set(c.nodes[child].parentAt(), c.text(parent))
	for k := range c.hanging(y.id) {
		c.set(c.nodes[k].parentAt(), c.text(x.idAt()))
	}
	return true
}
