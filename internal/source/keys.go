package source

import "bytes"

const (
	// MaxKeys is how many keys a Keys numbers.
	MaxKeys = 63
	// longestKey is how long they are at most, in their quotes.
	longestKey = 64
)

// Keys numbers the keys of objects that are read one after another. Such objects
// mostly have the same keys in the same order, so each key is compared with the
// expected one before it is searched for. A caller can keep what it knows of a key
// by the number.
type Keys struct {
	text  []byte     // the keys one after another, in their quotes
	known []knownKey // by number, from 1
	// marked holds the number of the last key with each mark, 0 for none.
	marked [64]uint8
	// next holds the number of the key that last followed each key. At 0 it is the
	// number of the first key of an object.
	next [MaxKeys + 1]uint8
}

// A knownKey is a key that has a number.
type knownKey struct {
	from, to uint16 // in the text
	before   uint8  // the number of the key before it with the same mark, 0 for none
}

// raw returns a key in its quotes.
func (k *Keys) raw(n uint8) []byte { return k.text[k.known[n].from:k.known[n].to] }

// number returns the number of a key in its quotes. It is 0 for a key with escapes,
// a long key, and a new key once there are MaxKeys.
func (k *Keys) number(raw []byte) uint8 {
	if len(raw) > longestKey {
		return 0
	}
	mark := markOf(raw)
	for n := k.marked[mark]; n > 0; n = k.known[n].before {
		if bytes.Equal(k.raw(n), raw) {
			return n
		}
	}
	if len(k.known) > MaxKeys || bytes.IndexByte(raw, '\\') >= 0 {
		return 0
	}
	if k.known == nil {
		k.known = make([]knownKey, 1, 16)
	}
	n := uint8(len(k.known))
	from := len(k.text)
	k.text = append(k.text, raw...)
	k.known = append(k.known, knownKey{uint16(from), uint16(len(k.text)), k.marked[mark]})
	k.marked[mark] = n
	return n
}

// markOf returns a number below 64 for a key in its quotes. The keys of one object
// mostly have different ones.
func markOf(raw []byte) int {
	n := len(raw)
	return (n + 3*int(raw[1]) + 5*int(raw[n/2]) + 7*int(raw[n-2])) & 63
}

// A Walk goes over the members of an object, as Members does.
type Walk struct {
	keys *Keys
	of   Value
	// found are the members that are still to come of an object whose members
	// were found before.
	found []member
	// outside is set for an object that is not in memory.
	outside  *cursor
	key      *Value // nil where it stands in the object's own text
	val      Value
	long     uint32 // the next long value
	from, to int    // the key
	number   uint8
}

// Begin starts a walk over the members of v. A value that is no object has none.
func (w *Walk) Begin(v Value, k *Keys) {
	if v.Kind() != Object {
		*w = Walk{keys: k}
		return
	}
	*w = Walk{keys: k, of: v, val: v, long: v.inner}
	w.val.to, w.val.members = v.from, nil
	switch {
	case v.members != nil:
		w.found = *v.members
	case v.Outside():
		w.outside = v.cursor()
	}
}

// Next goes to the next member, and reports whether there is one.
func (w *Walk) Next() bool {
	v := &w.of
	if v.members != nil {
		return w.nextFound()
	}
	if w.outside != nil {
		return w.nextOutside()
	}
	text := v.text[:v.to]
	i := w.val.to
	if i > v.from {
		if i = SkipBlank(text, i); i >= len(text) || text[i] != ',' {
			return false
		}
	}
	i = SkipBlank(text, i+1)
	if i >= len(text) || text[i] != '"' {
		return false
	}
	w.from = i
	n := w.keys.next[w.number]
	expected := n > 0 && bytes.HasPrefix(text[i:], w.keys.raw(n))
	if expected {
		w.to = i + len(w.keys.raw(n))
	} else {
		w.to = skipString(text, i)
	}
	if i = SkipBlank(text, w.to); i >= len(text) || text[i] != ':' {
		return false
	}
	if i = SkipBlank(text, i+1); i >= len(text) {
		return false
	}
	if !expected {
		n = w.keys.number(text[w.from:w.to])
		w.keys.next[w.number] = n
	}
	w.number = n
	w.val.from, w.val.inner = i, w.long
	end, behind := v.ends.at(v.turn, i, w.long)
	if end > 0 {
		w.val.inner++
	} else {
		end = skipValue(text, i)
	}
	w.val.to, w.long = min(end, len(text)), behind
	return true
}

// nextFound is Next for an object whose members were found before.
func (w *Walk) nextFound() bool {
	if len(w.found) == 0 {
		return false
	}
	m := &w.found[0]
	w.found = w.found[1:]
	w.key, w.val = &m.key, m.val
	w.number = w.keys.number(w.key.Raw())
	return true
}

// nextOutside is Next for an object that is not in memory.
func (w *Walk) nextOutside() bool {
	if !w.outside.next() {
		return false
	}
	w.key, w.val = &w.outside.key, w.outside.val
	w.number = w.keys.number(w.key.Raw())
	return true
}

// Number returns the number of the key, from 1, and 0 for a key without one. Each
// new number is one more than the last.
func (w *Walk) Number() int { return int(w.number) }

// Key returns the key.
func (w *Walk) Key() Value {
	if w.key != nil {
		return *w.key
	}
	return Value{text: w.of.text, base: w.of.base, from: w.from, to: w.to}
}

// KeySpan returns where the key stands in its source.
func (w *Walk) KeySpan() Span {
	if w.key != nil {
		return w.key.Span()
	}
	return Span{w.of.base + int64(w.from), w.of.base + int64(w.to)}
}

// Of returns the object.
func (w *Walk) Of() Value { return w.of }

// Value returns the value, which is good until the next one.
func (w *Walk) Value() *Value { return &w.val }
