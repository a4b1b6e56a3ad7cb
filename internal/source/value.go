package source

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"iter"
	"math/bits"

	"github.com/tidwall/gjson"
)

// A Kind is the type of a JSON value.
type Kind uint8

// The kinds of values. None is the zero value and means that there is no value.
const (
	None Kind = iota
	Null
	Bool
	Number
	String
	Array
	Object
)

// A Value is a JSON value at its place in a source. It refers to the bytes of its record,
// so navigating it neither copies nor decodes anything. The bytes must have passed a
// Scanner. On other bytes a walk may end early, but it never leaves them.
type Value struct {
	text []byte // the record
	base int64  // offset of text[0] in the source
	from int    // the value is text[from:to]
	to   int
	// members are the fields of an object that is already indexed. If nil, each lookup
	// walks the object.
	members *[]member

	// ends are the ends of the long values of text if their turn is equal to turn; nil if
	// unknown. inner is the index of the first long value inside this value.
	ends        *ends
	turn, inner uint32
}

// A member is one field of an object.
type member struct{ key, val Value }

// Indexed returns the value with an index of its fields and of the fields of the objects
// directly inside it, so that lookups need no further walk. Objects with very many fields
// are not indexed, because an index can be much larger than its object.
func (v Value) Indexed() Value { return new(Indexer).Of(v) }

// mostIndexed is the largest number of fields in an index.
const mostIndexed = 1 << 14

// An Indexer indexes one value after another.
type Indexer struct {
	found []member   // the fields of the value, followed by those of each object in it
	lists [][]member // parts of found, one for each object
}

// Of is Indexed for a value that is needed only until the next call.
func (x *Indexer) Of(v Value) Value {
	x.found, x.lists = x.found[:0], x.lists[:0]
	if !x.find(v) {
		return v
	}
	own := len(x.found)
	for i := range own {
		if val, from := x.found[i].val, len(x.found); x.find(val) {
			x.found[i].val.members = x.list(from, len(x.found))
		}
	}
	v.members = x.list(0, own)
	return v
}

// find finds the fields of an object. It reports whether v is an object and the index has
// room for its fields.
func (x *Indexer) find(v Value) bool {
	if v.Kind() != Object {
		return false
	}
	from := len(x.found)
	for k, val := range v.Members() {
		if len(x.found) == mostIndexed {
			x.found = x.found[:from]
			return false
		}
		x.found = append(x.found, member{k, val})
	}
	return true
}

func (x *Indexer) list(from, to int) *[]member {
	x.lists = append(x.lists, x.found[from:to])
	return &x.lists[len(x.lists)-1]
}

// Members indexes the fields of one object after another.
type Members struct{ found []member }

// Of returns an object with an index of its fields, which is valid until the next call.
// It returns any other value unchanged.
func (m *Members) Of(v Value) Value {
	if v.Kind() != Object {
		return v
	}
	v.members = nil
	m.found = m.found[:0]
	for k, val := range v.Members() {
		m.found = append(m.found, member{k, val})
	}
	v.members = &m.found
	return v
}

// NewValue returns the JSON value in text without the white space around it. base is the
// offset of text[0] in its source.
func NewValue(text []byte, base int64) Value {
	from := SkipBlank(text, 0)
	if from == len(text) {
		return Value{}
	}
	return Value{text: text, base: base, from: from, to: skipValue(text, from)}
}

// ValueOf returns the value that a text is, without white space around it.
func ValueOf(text []byte, base int64) Value { return Value{text: text, base: base, to: len(text)} }

// Part returns the bytes of a span inside the value's record as a value.
func (v Value) Part(s Span) Value {
	if v.Outside() {
		return NewValue(v.ends.pages.read(nil, s), s.Start)
	}
	part := Value{text: v.text, base: v.base, from: int(s.Start - v.base), to: int(s.End - v.base), ends: v.ends, turn: v.turn}
	part.inner = v.ends.find(v.turn, part.from+1)
	return part
}

// Kind returns the type of the value, or None for the zero Value.
func (v Value) Kind() Kind {
	if v.from >= v.to {
		return None
	}
	return kindOf[v.text[v.from]]
}

// kindOf maps the first byte of a value to its kind.
var kindOf = func() (kinds [256]Kind) {
	for i := range kinds {
		kinds[i] = Number
	}
	kinds['{'], kinds['['], kinds['"'], kinds['n'] = Object, Array, String, Null
	kinds['t'], kinds['f'] = Bool, Bool
	return kinds
}()

// Exists reports whether there is a value.
func (v Value) Exists() bool { return v.from < v.to }

// Exists is Value.Exists for a value that need not be copied to find out.
func Exists(v *Value) bool { return v.from < v.to }

// Raw returns the bytes of the value. They alias the record.
func (v Value) Raw() []byte {
	if v.Outside() {
		v = v.Held()
	}
	return v.text[v.from:v.to]
}

// Span returns the span of the value in its source.
func (v Value) Span() Span {
	return Span{v.base + int64(v.from), v.base + int64(v.to)}
}

// Str returns the decoded text of a string, or "" for any other kind.
func (v Value) Str() string { return string(v.Text()) }

// Text is Str as bytes. If the string has no escapes, the bytes alias the record.
func (v Value) Text() []byte {
	if v.Kind() != String {
		return nil
	}
	v = v.Held()
	inner := v.text[v.from+1 : max(v.from+1, v.to-1)]
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	if bytes.Contains(inner, []byte(`\ud`)) || bytes.Contains(inner, []byte(`\uD`)) {
		// gjson decodes a lone surrogate before a surrogate pair as three halves.
		var s string
		if json.Unmarshal(v.Raw(), &s) == nil {
			return []byte(s)
		}
	}
	return []byte(gjson.ParseBytes(v.Raw()).Str)
}

// Is reports whether the value is the string s. s must not need escapes.
func (v Value) Is(s string) bool { return v.to-v.from >= len(s)+2 && v.says(s) }

// says is Is for a value that is long enough.
func (v *Value) says(s string) bool {
	held := !v.Outside()
	switch n := v.to - v.from; {
	case n == len(s)+2 && held:
		return v.text[v.from] == '"' && string(v.text[v.from+1:v.to-1]) == s
	case n > 6*len(s)+2: // an escape of one byte has at most six bytes
		return false
	case held && v.text[v.from+1] != s[0] && v.text[v.from+1] != '\\':
		return false // most texts differ in their first byte
	}
	return v.Kind() == String && bytes.IndexByte(v.Raw(), '\\') >= 0 && v.Str() == s || v.Outside() && v.Held().Is(s)
}

// True reports whether the value is the literal true.
func (v Value) True() bool { return v.Kind() == Bool && v.text[v.from] == 't' }

// Blank reports whether the value is a string that is empty or only white space.
func (v Value) Blank() bool {
	if v.Kind() != String {
		return false
	}
	v = v.Held()
	inner := v.text[v.from+1 : max(v.from+1, v.to-1)]
	// The first bytes of a payload usually decide. Only a short or escaped start needs
	// the whole string.
	for i := 0; i < len(inner); i++ {
		switch inner[i] {
		case ' ', '\t', '\n', '\r':
		case '\\':
			if i+1 < len(inner) && (inner[i+1] == 'n' || inner[i+1] == 't' || inner[i+1] == 'r') {
				i++
				continue
			}
			return false
		default:
			return false
		}
	}
	return true
}

// Filled reports whether the value is a string, array or object that is not empty.
func (v Value) Filled() bool {
	switch v.Kind() {
	case String:
		return v.to-v.from > 2
	case Array:
		return v.First().Exists()
	}
	for range v.Members() {
		return true
	}
	return false
}

// Members yields the key and the value of each field of an object, in order. It yields
// nothing for any other kind.
func (v Value) Members() iter.Seq2[Value, Value] {
	return func(yield func(key, val Value) bool) { v.eachMember(yield) }
}

// eachMember implements Members. It is a separate function because Members is inlined
// into many loops.
func (v Value) eachMember(yield func(key, val Value) bool) {
	if v.Kind() != Object {
		return
	}
	if v.members != nil {
		for _, m := range *v.members {
			if !yield(m.key, m.val) {
				return
			}
		}
		return
	}
	if v.Outside() {
		v.walk(yield)
		return
	}
	next := v.inner
	for i := v.from + 1; ; {
		i = SkipBlank(v.text, i)
		if i >= v.to || v.text[i] != '"' {
			return
		}
		key := Value{text: v.text, base: v.base, from: i, to: min(skipString(v.text, i), v.to)}
		i = SkipBlank(v.text, key.to)
		if i >= v.to || v.text[i] != ':' {
			return
		}
		i = SkipBlank(v.text, i+1)
		if i >= v.to {
			return
		}
		var val Value
		val, next = v.at(i, next)
		if !yield(key, val) {
			return
		}
		i = SkipBlank(v.text, val.to)
		if i >= v.to || v.text[i] != ',' {
			return
		}
		i++
	}
}

// Elements yields the index and the value of each element of an array, in order. It
// yields nothing for any other kind.
func (v Value) Elements() iter.Seq2[int, Value] {
	return func(yield func(i int, elem Value) bool) { v.eachElement(true, yield) }
}

// Present is Elements without the elements that are null, because readers ignore null.
// The indexes count all elements.
func (v Value) Present() iter.Seq2[int, Value] {
	return func(yield func(i int, elem Value) bool) { v.eachElement(false, yield) }
}

// eachElement implements Elements and Present.
func (v Value) eachElement(nulls bool, yield func(i int, elem Value) bool) {
	if v.Kind() != Array {
		return
	}
	n, next := 0, v.inner
	if v.Outside() {
		v.walk(func(_, elem Value) bool {
			n++
			return elem.Kind() == Null && !nulls || yield(n-1, elem)
		})
		return
	}
	for i := v.from + 1; ; n++ {
		i = SkipBlank(v.text, i)
		if i >= v.to-1 {
			return
		}
		var elem Value
		elem, next = v.at(i, next)
		if (nulls || v.text[i] != 'n') && !yield(n, elem) {
			return
		}
		i = SkipBlank(v.text, elem.to)
		if i >= v.to || v.text[i] != ',' {
			return
		}
		i++
	}
}

// Each yields the elements of an array. Each element is valid until the next one, because
// the elements of a long array share a buffer.
func (v Value) Each() iter.Seq[Value] {
	return func(yield func(elem Value) bool) { v.each(nil, false, yield) }
}

// each is Each, but it gets further buffers from swap, and also yields elements that are null
// if nulls is set.
func (v Value) each(swap swap, nulls bool, yield func(elem Value) bool) {
	if v.Outside() && v.Kind() == Array {
		c := v.cursor()
		c.swap = swap
		for c.passing = true; c.next(); {
			if (nulls || c.val.Kind() != Null) && !yield(c.val) {
				return
			}
		}
		return
	}
	v.eachElement(nulls, func(_ int, elem Value) bool { return yield(elem) })
}

// Ahead yields all elements of an array as Each does, including those that are null. It reads
// ahead if the source permits it.
func (v Value) Ahead() iter.Seq[Value] {
	return func(yield func(elem Value) bool) { v.ahead(yield) }
}

// ahead implements Ahead.
func (v Value) ahead(yield func(elem Value) bool) {
	if !v.Outside() || v.Kind() != Array || !v.ends.pages.src.ahead || int64(v.to) < v.ends.pages.src.array {
		v.each(nil, true, yield)
		return
	}
	all := func(s swap) iter.Seq2[Record, error] {
		return func(yield func(Record, error) bool) {
			v.each(s, true, func(elem Value) bool { return yield(Record{Value: elem}, nil) })
		}
	}
	readAhead(all, func(rec Record, err error) bool {
		if err != nil { // of another goroutine, such as a panic
			v.ends.pages.src.fail(err)
			return false
		}
		return yield(rec.Value)
	})
}

// Get returns the value of the first field of an object with the given key, or None. The
// key must not need escapes.
func (v Value) Get(key string) Value {
	if v.members != nil {
		for i := range *v.members { // without copies
			if m := &(*v.members)[i]; m.key.to-m.key.from >= len(key)+2 && m.key.says(key) {
				return m.val
			}
		}
		return Value{}
	}
	for k, val := range v.Members() {
		if k.Is(key) {
			return val
		}
	}
	return Value{}
}

// Path follows keys down through objects and returns the value it reaches, or None.
func (v Value) Path(keys ...string) Value {
	for _, k := range keys {
		v = v.Get(k)
	}
	return v
}

// First returns the first element of an array that is not null, or None.
func (v Value) First() Value {
	for _, e := range v.Present() {
		return e
	}
	return Value{}
}

// At returns the element of an array at an index, which counts from the end if it is negative, or None.
func (v Value) At(n int) Value {
	if n < 0 {
		for range v.Elements() {
			n++
		}
	}
	for i, e := range v.Elements() {
		if i == n {
			return e
		}
	}
	return Value{}
}

// at returns the value that starts at text[i]. next is the index of the first long value
// at or after i. at also returns the index of the long value after the returned one.
func (v Value) at(i int, next uint32) (Value, uint32) {
	val := Value{text: v.text, base: v.base, from: i, ends: v.ends, turn: v.turn, inner: next}
	end, behind := v.ends.at(v.turn, i, next)
	if end > 0 {
		val.inner++
	} else {
		end = skipValue(v.text, i)
	}
	val.to = min(end, v.to)
	return val, behind
}

// SkipBlank returns the end of the white space at b[i].
func SkipBlank(b []byte, i int) int {
	for i < len(b) && b[i] <= ' ' && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// skipValue returns the offset after the value that starts at b[i].
func skipValue(b []byte, i int) int {
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		depth := 0
		for i < len(b) {
			switch b[i] {
			case '"':
				i = skipString(b, i)
				continue
			case '{', '[':
				depth++
			case '}', ']':
				depth--
				if depth == 0 {
					return i + 1
				}
			}
			i++
		}
		return len(b)
	}
	for i < len(b) && !behindScalar[b[i]] {
		i++
	}
	return i
}

// behindScalar marks the bytes that end a number or a literal.
var behindScalar = [256]bool{',': true, '}': true, ']': true, ':': true, ' ': true, '\n': true, '\r': true, '\t': true}

// skipString returns the offset after the string that starts at b[i].
func skipString(b []byte, i int) int {
	i++
	// Most strings are short and have no escapes, because the ends of long strings are
	// recorded.
	for n := 0; n < longValue/8 && i+8 <= len(b); n++ {
		w := binary.LittleEndian.Uint64(b[i:])
		quote := w ^ lows*'"'
		slash := w ^ lows*'\\'
		if stop := ((quote-lows)&^quote | (slash-lows)&^slash) & highs; stop != 0 {
			if i += bits.TrailingZeros64(stop) >> 3; b[i] == '"' {
				return i + 1
			}
			break
		}
		i += 8
	}
	for {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return len(b)
		}
		end := i + n
		esc := end
		for esc > i && b[esc-1] == '\\' {
			esc--
		}
		i = end + 1
		if (end-esc)&1 == 0 {
			return i
		}
	}
}
