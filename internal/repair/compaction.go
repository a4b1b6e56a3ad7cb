package repair

import (
	"strconv"

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
