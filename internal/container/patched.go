package container

import (
	"sort"
	"strconv"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
	"github.com/toolguard/toolguard/internal/unfold"
)

// A patched yields the elements of the messages array of a document that is stored as a
// log of changes. It ignores the rest of the document.
type patched struct {
	*reading
	patch *dialect.Patch
	from  elements
	root  transcript.Builder // reports duplicate keys in the records

	list *node
}

func (p *patched) elements(yield func(element, error) bool) {
	err := each(p.from, p.record)
	if err == nil && p.list != nil {
		err = p.open(p.list)
	}
	if err != nil {
		yield(element{}, err)
		return
	}
	if p.list == nil {
		return
	}
	for _, n := range p.list.kids.all() {
		if e, err := p.element(n); !yield(e, err) || err != nil {
			return
		}
	}
}

// element returns the element of a node, either unchanged from the source or assembled.
func (p *patched) element(n *node) (element, error) {
	if n.asWritten() {
		v, err := p.value(n.span)
		return element{record: n.record, val: v}, err
	}
	u := &unfold.Unfolded{}
	err := p.write(u, n)
	where := func(s source.Span) (source.Span, int32) {
		at := u.Origin(s)
		starts := &p.file.Starts
		return at, int32(sort.Search(starts.Len(), func(i int) bool { return starts.At(i) > at.Start }))
	}
	return element{record: n.record, val: u.Value(), where: where}, err
}

// write writes the value of a node as it is now. An array or an object stands for the value that was
// written first.
func (p *patched) write(u *unfold.Unfolded, n *node) error {
	if n.asWritten() {
		v, err := p.value(n.span)
		u.Take(string(v.Raw()), n.span)
		return err
	}
	brackets, sep := "{}", ""
	if n.list {
		brackets = "[]"
	}
	u.Put(brackets[:1], n.span)
	for key, k := range n.kids.all() {
		if key != "" {
			key += ":"
		}
		u.Put(sep+key, k.span)
		sep = ","
		if err := p.write(u, k); err != nil {
			return err
		}
	}
	u.Put(brackets[1:], n.span)
	return nil
}

func (p *patched) record(e element) error {
	p.root.Record = e.record
	p.root.Fields(e.val, nil, nil)
	does := dialect.Change{}
	if e.val.Kind() == source.Object {
		does = p.patch.Effect(e.val)
	}
	made, err := p.change(e.record, does)
	if !made {
		p.file.Skipped++
	}
	return err
}

// change applies the change of a record. It returns false if the change does not concern
// the messages or its path is invalid.
func (p *patched) change(record int32, does dialect.Change) (bool, error) {
	switch {
	case does.Kind == dialect.ChangesNothing:
		return false, nil
	case does.Kind == dialect.ChangeBegins:
		p.list = leaf(does.Value, record)
		return true, nil
	case len(does.At) == 0 || !does.At[0].Is(p.patch.List.Key()):
		return false, nil
	}
	if p.list == nil {
		p.list = emptyList()
	}
	path, set := does.At[1:], does.Kind == dialect.ChangeSets && does.Value.Exists()
	switch {
	case does.Kind == dialect.ChangeExtends:
		return p.extend(record, path, does)
	case len(path) > 0:
		return p.set(record, path, does.Value, set)
	case set:
		p.list = leaf(does.Value, record)
	default:
		p.list = emptyList()
	}
	return true, nil
}

// extend appends values to the array at a path, or replaces the end of the array with
// them.
func (p *patched) extend(record int32, path []source.Value, does dialect.Change) (bool, error) {
	n, err := p.at(path)
	if n == nil || !n.list || err != nil {
		return false, err
	}
	if length, err := strconv.Atoi(string(does.Length.Raw())); err == nil && length >= 0 {
		n.kids.cut(length)
	}
	for _, e := range does.Value.Elements() {
		n.kids.add("", leaf(e, record))
	}
	return true, nil
}

// set sets or removes the value at a path.
func (p *patched) set(record int32, path []source.Value, value source.Value, set bool) (bool, error) {
	holder, err := p.at(path[:len(path)-1])
	if holder == nil || err != nil {
		return false, err
	}
	last := path[len(path)-1]
	i := holder.find(last)
	switch {
	case !set && i >= 0:
		holder.kids.drop(i)
	case set && i >= 0:
		holder.kids.slots[i].node = leaf(value, record)
	case set && !holder.list:
		holder.kids.add(string(last.Raw()), leaf(value, record))
	case set && string(last.Raw()) == strconv.Itoa(holder.kids.live):
		holder.kids.add("", leaf(value, record))
	default:
		return false, nil
	}
	return true, nil
}

// at returns the opened node at a path from the array, or nil if there is none.
func (p *patched) at(path []source.Value) (*node, error) {
	n := p.list
	for _, step := range path {
		if err := p.open(n); err != nil {
			return nil, err
		}
		i := n.find(step)
		if i < 0 {
			return nil, nil
		}
		n = n.kids.slots[i].node
	}
	return n, p.open(n)
}

// open creates nodes for the fields or elements of a node.
func (p *patched) open(n *node) error {
	if n.kids != nil {
		return nil
	}
	v, err := p.value(n.span)
	if err != nil {
		return err
	}
	n.kids, n.list = &kids{}, v.Kind() == source.Array
	for k, val := range v.Members() {
		n.kids.add(string(k.Raw()), leaf(val, n.record))
	}
	for _, e := range v.Elements() {
		n.kids.add("", leaf(e, n.record))
	}
	return nil
}
