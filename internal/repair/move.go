package repair

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/source"
)

// A move puts one record behind another. Both are identified by an offset inside them.
type move struct{ at, behind int64 }

// moveRecords moves the records of results behind the calls of the turn that they answer, in the order
// of the calls.
func (l *layout) moveRecords() bool {
	if len(l.insert) > 0 {
		return false // what is inserted goes behind the results, in the next round
	}
	call := func(r int32) int32 { return l.Pairing.Results[r].Call }
	var moves []move
	for _, r := range slices.SortedFunc(maps.Keys(l.comes), func(a, b int32) int { return cmp.Compare(call(a), call(b)) }) {
		if l.Plan.turn(call(r)) != l.turn {
			return false
		}
		behind := max(l.standing(l.Conv.Calls[call(r)].Message), l.lastAnswered(call(r)))
		moves = append(moves, move{l.standing(l.Conv.Results[r].Message), behind})
	}
	return l.log().move(moves, true)
}

// movableRecord reports whether a result is all that its record in a log says, so that the record can be
// moved.
func (p *Plan) movableRecord(r int32) bool {
	m := p.Conv.Results[r].Message
	same := func(other int32) bool {
		return other >= 0 && int(other) < len(p.Conv.Messages) && p.Conv.Messages[other].Record == p.Conv.Messages[m].Record
	}
	return len(p.blocksOf(m)) == 1 && !same(m-1) && !same(m+1)
}

// moveRecord moves a record that separates results from their calls behind another one.
func (c *chain) moveRecord(at source.Span, behind int64) bool {
	return c.move([]move{{at.Start, behind}}, false)
}

// move moves records, in the file and between their parents and children. All others keep their order
// and their branches. It returns false if that is impossible or, if said is set because what moves is sent,
// if its place means something to others.
func (c *chain) move(moves []move, said bool) bool {
	if err := c.index(); err != nil {
		c.d.src.err = err
		return false
	}
	behind := map[int32]int32{} // by node that moves: the node in front of it
	first, last := int32(len(c.nodes)), int32(0)
	for _, m := range moves {
		x, y := c.at(m.at), c.at(m.behind)
		behind[x] = y
		first, last = min(first, x, y), max(last, x, y)
	}
	path := c.between(first, last)
	if path == nil || len(c.counts) > 0 || len(behind) != len(moves) {
		return false
	}
	for i, k := range path {
		_, moves := behind[k]
		inside := i > 0 && i < len(path)-1
		if !c.whole(k) || said && (moves || inside) && c.named(k) || said && !moves && inside && c.marks(k) {
			return false
		}
	}
	order := slices.DeleteFunc(slices.Clone(path), func(k int32) bool { _, moves := behind[k]; return moves })
	for _, m := range moves {
		at := slices.Index(order, c.at(m.behind)) + 1
		for ; at > 0 && at < len(order); at++ {
			if _, moved := behind[order[at]]; !moved {
				break
			}
		}
		if at == 0 {
			return false
		}
		order = slices.Insert(order, at, c.at(m.at))
	}
	if slices.Equal(order, path) || c.nodes[last].id >= 0 && !c.hasAll(path, behind, order) {
		return false
	}
	edits := c.numbered(order)
	if edits == nil {
		return false
	}
	if c.nodes[last].id >= 0 {
		c.relinks(path, order, edits)
	}
	for _, k := range order {
		n := &c.nodes[k]
		if on, moved := behind[k]; moved {
			c.lines.remove(n.span())
			c.lines.after(c.nodes[on].span(), edit.Splice([]byte(c.text(n.span())), n.start, edits[k]))
			c.d.stays = append(c.d.stays, n.span())
			continue
		}
		for _, e := range edits[k] {
			c.set(e.Span, string(e.Text))
		}
	}
	return true
}

// mostPassed is the number of records that one moves past at most, so that the work for very many that are
// out of place stays small.
const mostPassed = 1000

// between returns the nodes from one to a later one: if records have parents, those from which the later
// one descends. It returns nil if the first one is not among them, or too far away.
func (c *chain) between(first, last int32) (path []int32) {
	if last-first > mostPassed && c.nodes[last].id < 0 {
		return nil
	}
	if c.nodes[last].id < 0 {
		for k := first; k <= last; k++ {
			path = append(path, k)
		}
		return path
	}
	at := last
	for range mostPassed { // bounded, because parents may form a circle
		path = append(path, at)
		if at == first {
			slices.Reverse(path)
			return path
		}
		parent := c.nodes[at].parent
		if parent < 0 || c.byID[parent] < 0 {
			return nil
		}
		at = c.byID[parent]
	}
	return nil
}

// whole reports whether the links of a record say where it is.
func (c *chain) whole(k int32) bool {
	n := &c.nodes[k]
	return !n.torn && !n.doubled && n.id < 0 == (n.parentSlot.length == 0) && (n.id < 0 || len(c.twins[n.id]) == 0)
}

// named reports whether a compaction names a record as one of those that it keeps.
func (c *chain) named(k int32) bool {
	id := c.nodes[k].id
	return id >= 0 && (len(c.kept[id]) > 0 || len(c.ends[id]) > 0 ||
		slices.ContainsFunc(c.refs[id], func(at source.Span) bool { return c.keptFrom[at] }))
}

// marks reports whether a record says that those before it are replaced, taken back or interrupted.
func (c *chain) marks(k int32) bool {
	v, f := c.d.at(c.nodes[k].span()), c.Format
	kinds := slices.Concat(f.Boundary, f.Rollback, f.Aborts)
	return slices.ContainsFunc(kinds, f.Type.In(v).Is) || slices.ContainsFunc(kinds, f.Subtype.In(v).Is)
}

// hasAll reports whether nothing but the path hangs on a record that moves, and whether the last record
// of the log is still the one at the end of its branch.
func (c *chain) hasAll(path []int32, behind map[int32]int32, order []int32) bool {
	for i, k := range path[:len(path)-1] {
		if _, moves := behind[k]; !moves {
			continue
		}
		for child := range c.hanging(c.nodes[k].id) {
			if child != path[i+1] {
				return false
			}
		}
	}
	if last := path[len(path)-1]; int(last) < len(c.nodes)-1 {
		return true
	}
	end := order[len(order)-1]
	if on, moved := behind[end]; moved {
		end = on
	}
	for k := int32(len(c.nodes) - 1); ; k-- {
		if _, moved := behind[k]; !moved {
			return k == end
		}
	}
}

// relinks adds the edits with which the records of a path are the parents of each other in a new order.
func (c *chain) relinks(path, order []int32, edits map[int32][]edit.Edit) {
	link := func(k int32, to string) {
		c.from(&c.nodes[k], c.nodes[k].parentAt())
		edits[k] = append(edits[k], edit.Edit{Span: c.nodes[k].parentAt(), Text: []byte(to)})
	}
	if order[0] != path[0] {
		link(order[0], c.text(c.nodes[path[0]].parentAt()))
	}
	for i, k := range order[1:] {
		on := &c.nodes[order[i]]
		if c.nodes[k].parent != on.id {
			c.from(on, on.idAt())
			link(k, c.text(on.idAt()))
		}
	}
	was, is := &c.nodes[path[len(path)-1]], &c.nodes[order[len(order)-1]]
	if was == is {
		return
	}
	c.from(is, is.idAt())
	for k := range c.hanging(was.id) {
		if !slices.Contains(order, k) {
			c.set(c.nodes[k].parentAt(), c.text(is.idAt()))
		}
	}
}

// numbered returns the edits with which records in a new order have the ordinals that they have now, by
// size; nil if only some have one. Those that were in order stay so.
func (c *chain) numbered(order []int32) map[int32][]edit.Edit {
	edits := map[int32][]edit.Edit{}
	if c.Format.Ordinal == "" {
		return edits
	}
	var have []int64
	for _, k := range order {
		if v := c.d.at(c.nodes[k].span()).Get(c.Format.Ordinal); v.Exists() {
			n, err := strconv.ParseInt(string(v.Raw()), 10, 64)
			if err != nil {
				return nil
			}
			have = append(have, n)
		}
	}
	if len(have) == 0 {
		return edits
	}
	if len(have) < len(order) {
		return nil
	}
	sorted := slices.Sorted(slices.Values(have))
	for i, k := range order {
		if have[i] != sorted[i] {
			at := c.d.at(c.nodes[k].span()).Get(c.Format.Ordinal).Span()
			edits[k] = append(edits[k], edit.Edit{Span: at, Text: strconv.AppendInt(nil, sorted[i], 10)})
		}
	}
	return edits
}
