package container

import (
	"iter"
	"slices"
	"strconv"

	"github.com/toolguard/toolguard/internal/source"
)

// A node is a value of a document that is put together from the records of a
// log. It keeps where it stands, and what of it was changed.
type node struct {
	span   source.Span // as it was written first
	kids   *kids       // its members or elements, once one of them was looked for
	record int32
	list   bool // its kids are elements
}

// leaf returns the node of a value as it stands in the source.
func leaf(v source.Value, record int32) *node {
	return &node{span: v.Span(), record: record}
}

func emptyList() *node { return &node{kids: &kids{}, list: true} }

// asWritten reports whether the node has no kids that could have been changed.
func (n *node) asWritten() bool { return n.kids == nil || !n.list && n.kids.slots == nil }

// find returns the slot of the kid to which a step of a path leads, -1 for
// none.
func (n *node) find(step source.Value) int {
	if !n.list {
		return n.kids.member(string(step.Raw()))
	}
	if i, err := strconv.Atoi(string(step.Raw())); err == nil && i >= 0 && i < n.kids.live {
		return n.kids.element(i)
	}
	return -1
}

// A kid is a member or an element of a node.
type kid struct {
	key   string // of a member, as it is written
	*node        // nil once it was taken out
}

// A kids is the members or the elements of a node, in order. Each keeps its slot: a
// log may take them out one by one, and those behind are not moved each time.
type kids struct {
	slots []kid
	live  int // slots that are in use
	// sums is a Fenwick tree of the slots in use, nil as long as all are: the i-th
	// is how many there are among the last slots before i, as many as the lowest
	// bit of i.
	sums []int32
	// members are the slots in use by key, where there are many slots.
	members map[string][]int32
}

// fewSlots is how many members are searched one by one.
const fewSlots = 16

// all yields what is in use, by key.
func (k *kids) all() iter.Seq2[string, *node] {
	return func(yield func(string, *node) bool) {
		for _, s := range k.slots {
			if s.node != nil && !yield(s.key, s.node) {
				return
			}
		}
	}
}

// add adds a member behind the others, or an element, which has no key.
func (k *kids) add(key string, n *node) {
	k.slots = append(k.slots, kid{key, n})
	k.live++
	if k.sums != nil {
		k.sum(1)
	}
	if k.members != nil {
		k.members[key] = append(k.members[key], int32(len(k.slots)-1))
	}
}

// sum adds a slot to the tree.
func (k *kids) sum(n int32) {
	at := len(k.sums)
	for i := at - 1; i > at&(at-1); i &= i - 1 {
		n += k.sums[i]
	}
	k.sums = append(k.sums, n)
}

// element returns the slot of an element.
func (k *kids) element(i int) int {
	if k.sums == nil {
		return i
	}
	at, step := 0, 1
	for 2*step < len(k.sums) {
		step *= 2
	}
	for left := int32(i); step > 0; step /= 2 {
		if at+step < len(k.sums) && k.sums[at+step] <= left {
			at += step
			left -= k.sums[at]
		}
	}
	return at
}

// member returns the slot of the first member of a key, -1 for none.
func (k *kids) member(key string) int {
	if k.members == nil && len(k.slots) > fewSlots {
		k.members = map[string][]int32{}
		for i, s := range k.slots {
			if s.node != nil {
				k.members[s.key] = append(k.members[s.key], int32(i))
			}
		}
	}
	if k.members == nil {
		return slices.IndexFunc(k.slots, func(s kid) bool { return s.node != nil && s.key == key })
	}
	if slots := k.members[key]; len(slots) > 0 {
		return int(slots[0])
	}
	return -1
}

// drop takes out what is in a slot, of members the first of its key.
func (k *kids) drop(slot int) {
	if k.sums == nil {
		k.sums = make([]int32, 1, len(k.slots)+1)
		for range k.slots {
			k.sum(1)
		}
	}
	for i := slot + 1; i < len(k.sums); i += i & -i {
		k.sums[i]--
	}
	if s := &k.slots[slot]; k.members != nil {
		k.members[s.key] = k.members[s.key][1:]
	}
	k.slots[slot].node = nil
	k.live--
}

// cut keeps only so many elements.
func (k *kids) cut(n int) {
	if n >= k.live {
		return
	}
	end := k.element(n)
	clear(k.slots[end:])
	k.slots, k.live = k.slots[:end], n
	if k.sums != nil {
		k.sums = k.sums[:end+1]
	}
}
