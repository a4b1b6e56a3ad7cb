package source

import "bytes"

const (
	// MaxKeys is the largest number of keys that a Keys numbers.
	MaxKeys = 63
	// longestKey is the length of the longest numbered key, including its quotes.
	longestKey = 64
)

// Keys numbers the keys of a series of objects. Callers can store what they know about a key under
// its number.
type Keys struct {
	text  []byte     // the keys one after another, with their quotes
	known []knownKey // indexed by number, from 1
	// marked holds the number of the last key for each mark, 0 for none.
	marked [64]uint8
}

// A knownKey is a key that has a number.
type knownKey struct {
	from, to uint16 // offsets in text
	before   uint8  // the number of the previous key with the same mark, 0 for none
}

// raw returns the key with number n, including its quotes.
func (k *Keys) raw(n uint8) []byte { return k.text[k.known[n].from:k.known[n].to] }

// number returns the number of a key, given with its quotes. It returns 0 for a key with
// escapes, for a long key, and for a new key once there are MaxKeys.
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

// markOf returns a number below 64 for a key with its quotes. The keys of one object
// usually have different marks.
func markOf(raw []byte) int {
	n := len(raw)
	return (n + 3*int(raw[1]) + 5*int(raw[n/2]) + 7*int(raw[n-2])) & 63
}

// A Walk iterates over the fields of an object, as Members does.
type Walk struct {
	keys *Keys
	of   Value
	// found are the remaining fields of an object that is already indexed.
	found []member
	// outside is set for an object that is not in memory.
	outside  *cursor
	key      *Value // nil if the key is in the text of the object
	val      Value
	long     uint32 // the index of the next long value
	from, to int    // the span of the key
	number   uint8
}

// Begin starts a walk over the fields of v. A value that is not an object has none.
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

// Next advances to the next field and reports whether there is one.
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
	w.from, w.to = i, skipString(text, i)
	if i = SkipBlank(text, w.to); i >= len(text) || text[i] != ':' {
		return false
	}
	if i = SkipBlank(text, i+1); i >= len(text) {
		return false
	}
	w.number = w.keys.number(text[w.from:w.to])
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

// nextFound is Next for an object that is already indexed.
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

// Number returns the number of the key, counted from 1, or 0 for a key without a number.
// New numbers are consecutive.
func (w *Walk) Number() int { return int(w.number) }

// Key returns the key of the current field.
func (w *Walk) Key() Value {
	if w.key != nil {
		return *w.key
	}
	return Value{text: w.of.text, base: w.of.base, from: w.from, to: w.to}
}

// KeySpan returns the span of the key in its source.
func (w *Walk) KeySpan() Span {
	if w.key != nil {
		return w.key.Span()
	}
	return Span{w.of.base + int64(w.from), w.of.base + int64(w.to)}
}

// Of returns the object.
func (w *Walk) Of() Value { return w.of }

// Value returns the value of the current field. It is valid until the next call of Next.
func (w *Walk) Value() *Value { return &w.val }
