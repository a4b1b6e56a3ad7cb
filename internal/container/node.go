package container

import (
	"iter"
	"slices"
	"strconv"

	"github.com/toolguard/toolguard/internal/source"
)

// A node is a value of a document that is assembled from the records of a log. It records
// where the value was written and what has changed in it since.
type node struct {
	span   source.Span // as it was first written
	kids   *kids       // its fields or elements, once one of them was looked up
	record int32
	list   bool // the kids are elements
}

// leaf returns the node of an unchanged value of the source.
func leaf(v source.Value, record int32) *node {
	return &node{span: v.Span(), record: record}
}

func emptyList() *node { return &node{kids: &kids{}, list: true} }

// asWritten reports whether the node has no kids that may have changed.
func (n *node) asWritten() bool { return n.kids == nil || !n.list && n.kids.slots == nil }

// find returns the slot of the kid that a step of a path names, or -1.
func (n *node) find(step source.Value) int {
	if !n.list {
		return n.kids.member(string(step.Raw()))
	}
	if i, err := strconv.Atoi(string(step.Raw())); err == nil && i >= 0 && i < n.kids.live {
		return n.kids.element(i)
	}
	return -1
}

// A kid is a field or an element of a node.
type kid struct {
	key   string // of a field, in its raw form
	*node        // nil once it was removed
}

// A kids is the fields or the elements of a node, in order. Each keeps its slot, so that
// a log can remove many one by one without moving the ones that follow.
type kids struct {
	slots []kid
	live  int // the number of slots in use
	// sums is a Fenwick tree of the slots in use; nil while all are in use. sums[i]
	// counts the slots in use among the n slots before i, where n is the lowest set bit
	// of i.
	sums []int32
	// members maps keys to slots in use. It is nil if there are few slots.
	members map[string][]int32
}

// fewSlots is the largest number of fields that are searched linearly.
const fewSlots = 16

// all yields the keys and nodes in use.
func (k *kids) all() iter.Seq2[string, *node] {
	return func(yield func(string, *node) bool) {
		for _, s := range k.slots {
			if s.node != nil && !yield(s.key, s.node) {
				return
			}
		}
	}
}

// add appends a field, or an element with key "".
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

// element returns the slot of the element with index i.
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

// member returns the slot of the first field with the given key, or -1.
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

// drop removes the kid in a slot. For a field, it must be the first one with its key.
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

// cut keeps only the first n elements.
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
