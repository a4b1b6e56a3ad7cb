package container

import (
	"slices"
	"sort"
	"strconv"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A node is a value of a document that is put together from the records of a
// log. It keeps where it stands, and what of it was changed.
type node struct {
	span   source.Span // as it was written first
	record int32
	kids   []kid // its members or elements, once one of them was changed
	list   bool  // its kids are elements
}

// A kid is a member or an element of a node.
type kid struct {
	key string // of a member, as it is written
	*node
}

// patchSink reads a log of changes to a document. Nothing but its list of
// messages is of interest.
type patchSink struct {
	r     *reader
	d     *dialect.Dialect
	list  *node
	torns bool
}

func (s *patchSink) record(index int32, v source.Value) {
	kf := transcript.Builder{Record: index, OnKeyFault: s.r.onKey}
	kf.Fields(v, nil, nil)
	does := dialect.Change{}
	if v.Kind() == source.Object {
		does = s.d.Patch.Effect(v)
	}
	if does.Kind == dialect.ChangeBegins {
		s.list = leaf(does.Value, index)
		return
	}
	if does.Kind == dialect.ChangesNothing || !s.change(index, does) {
		s.r.file.Skipped++
	}
}

func (s *patchSink) torn(int32) { s.torns = true }

// change makes the change of a record. It returns false for one that does not
// concern the messages, or leads nowhere.
func (s *patchSink) change(index int32, does dialect.Change) bool {
	path, value := does.At, does.Value
	if len(path) == 0 || !path[0].Is(s.d.Patch.List.Key()) {
		return false
	}
	path = path[1:]
	if s.list == nil {
		s.list = &node{list: true}
	}
	if does.Kind == dialect.ChangeExtends {
		n := s.at(path)
		if n == nil {
			return false
		}
		s.open(n)
		if length, err := strconv.Atoi(string(does.Length.Raw())); err == nil && length >= 0 && length < len(n.kids) {
			n.kids = n.kids[:length]
		}
		for _, e := range value.Elements() {
			n.kids = append(n.kids, kid{node: leaf(e, index)})
		}
		return true
	}
	set := does.Kind == dialect.ChangeSets && value.Exists()
	if len(path) == 0 {
		s.list = &node{list: true}
		if set {
			s.list = leaf(value, index)
		}
		return true
	}
	holder := s.at(path[:len(path)-1])
	if holder == nil {
		return false
	}
	s.open(holder)
	last := path[len(path)-1]
	i := holder.find(last)
	switch {
	case !set && i >= 0:
		holder.kids = slices.Delete(holder.kids, i, i+1)
	case set && i >= 0:
		holder.kids[i].node = leaf(value, index)
	case set && (!holder.list || string(last.Raw()) == strconv.Itoa(len(holder.kids))):
		key := ""
		if !holder.list {
			key = string(last.Raw())
		}
		holder.kids = append(holder.kids, kid{key, leaf(value, index)})
	default:
		return false
	}
	return true
}

func leaf(v source.Value, record int32) *node {
	return &node{span: v.Span(), record: record}
}

// at returns the node to which a path leads from the list, nil for none.
func (s *patchSink) at(path []source.Value) *node {
	n := s.list
	for _, step := range path {
		s.open(n)
		i := n.find(step)
		if i < 0 {
			return nil
		}
		n = n.kids[i].node
	}
	return n
}

// find returns the place of the kid to which a step of a path leads, -1 for
// none.
func (n *node) find(step source.Value) int {
	if n.list {
		if i, err := strconv.Atoi(string(step.Raw())); err == nil && i >= 0 && i < len(n.kids) {
			return i
		}
		return -1
	}
	return slices.IndexFunc(n.kids, func(k kid) bool { return k.key == string(step.Raw()) })
}

// open makes the members or the elements of a node nodes of their own.
func (s *patchSink) open(n *node) {
	if n.kids != nil || n.list {
		return
	}
	v := s.r.value(n.span)
	n.list = v.Kind() == source.Array
	for k, val := range v.Members() {
		n.kids = append(n.kids, kid{string(k.Raw()), leaf(val, n.record)})
	}
	for _, e := range v.Elements() {
		n.kids = append(n.kids, kid{node: leaf(e, n.record)})
	}
}

func (s *patchSink) end() {
	q := s.r.newSequence("")
	q.primary = s.d
	c := q.b.Conv
	q.b.End = 0 // what is read is not where it stands
	if s.list != nil {
		s.open(s.list)
		for _, e := range s.list.kids {
			if s.r.err != nil {
				return
			}
			if e.kids == nil {
				q.add(e.record, s.r.value(e.span))
				continue
			}
			a := assembly{r: s.r}
			a.add(e.node)
			mark := c.Mark()
			q.b.OnKeyFault = nil
			q.add(e.record, source.NewValue(a.text, assembled))
			q.b.OnKeyFault = s.r.onKey
			c.Relocate(mark, a.where)
		}
	}
	c.Incomplete = s.torns
	s.r.finish(q)
	s.r.hand(c)
}

// assembled is where the bytes of an assembly are said to stand: anywhere but at
// the beginning, so that no span of them is zero.
const assembled = 1

// An assembly is a value that is put together from pieces of the source.
type assembly struct {
	r      *reader
	text   []byte
	pieces []piece
}

// A piece is bytes of an assembly, and where in the source they stand.
type piece struct {
	at     int64 // in the assembly
	src    source.Span
	record int32
	whole  bool // it begins a value that stands there as it was before
}

func (a *assembly) put(n *node, text []byte, whole bool) {
	a.pieces = append(a.pieces, piece{int64(len(a.text)), n.span, n.record, whole})
	a.text = append(a.text, text...)
}

func (a *assembly) add(n *node) {
	if n.kids == nil && !n.list {
		a.put(n, a.r.value(n.span).Raw(), false)
		return
	}
	brackets := "{}"
	if n.list {
		brackets = "[]"
	}
	a.put(n, []byte(brackets[:1]), true)
	for i, k := range n.kids {
		if i > 0 {
			a.text = append(a.text, ',')
		}
		if k.key != "" {
			a.put(k.node, []byte(k.key+":"), true)
		}
		a.add(k.node)
	}
	a.text = append(a.text, brackets[1:]...)
}

// where returns where in the source a span of the assembly stands, and in which
// record.
func (a *assembly) where(s source.Span) (source.Span, int32) {
	from := s.Start - assembled
	p := &a.pieces[max(0, sort.Search(len(a.pieces), func(i int) bool { return a.pieces[i].at > from })-1)]
	if p.whole {
		return p.src, p.record
	}
	start := p.src.Start + min(from-p.at, p.src.Len())
	return source.Span{Start: start, End: min(start+s.Len(), p.src.End)}, p.record
}
