package table

import (
	"encoding/binary"
	"errors"
)

// The types of the compact protocol of Thrift.
const (
	compactTrue = iota + 1
	compactFalse
	compactByte
	compactI16
	compactI32
	compactI64
	compactDouble
	compactBinary
	compactList
	compactSet
	compactMap
	compactStruct
	compactUUID
)

const (
	// mostStructs limits what a footer becomes in memory, where each takes some hundred bytes.
	mostStructs = 400_000
	// mostElements limits the elements of lists, which take up to sixteen times as much memory as in the footer.
	mostElements = 4_000_000
	// deepest is how deep structs may be nested. A footer has 6 levels.
	deepest = 16
)

var (
	errCompact = errors.New("expected a Thrift struct as the format has it")
	errStructs = errors.New("more than 400,000 structs, or 4,000,000 values in lists")
)

// A field is a field of a struct: its number, its type, and its value as it is in the file.
type field struct {
	id    int16
	kind  byte
	value []byte
}

// A walker goes through text in the compact protocol without keeping anything of it.
type walker struct {
	text     []byte
	at       int
	structs  int
	elements uint64
	err      error
}

// fields returns the fields of the struct that text begins with.
func fields(text []byte) ([]field, error) {
	w := &walker{text: text}
	var out []field
	w.fields(0, func(f field) { out = append(out, f) })
	return out, w.err
}

func (w *walker) fail() { w.err, w.at = cmpErr(w.err, errCompact), len(w.text) }

// cmpErr returns the first error.
func cmpErr(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// byte returns the next byte.
func (w *walker) byte() byte {
	if w.at >= len(w.text) {
		w.fail()
		return 0
	}
	w.at++
	return w.text[w.at-1]
}

// uvarint returns the next number.
func (w *walker) uvarint() uint64 {
	n, size := binary.Uvarint(w.text[w.at:])
	if size <= 0 {
		w.fail()
		return 0
	}
	w.at += size
	return n
}

// skip skips bytes.
func (w *walker) skip(n uint64) {
	if n > uint64(len(w.text)-w.at) {
		w.fail()
		return
	}
	w.at += int(n)
}

// fields passes each field of a struct to take.
func (w *walker) fields(depth int, take func(field)) {
	if w.structs++; w.structs > mostStructs {
		w.err, w.at = cmpErr(w.err, errStructs), len(w.text)
		return
	}
	id := int16(0)
	for w.err == nil {
		head := w.byte()
		if head == 0 {
			return
		}
		if delta := head >> 4; delta != 0 {
			id += int16(delta)
		} else {
			n := w.uvarint()
			id = int16(n>>1) ^ -int16(n&1)
		}
		from := w.at
		w.value(head&15, depth, false)
		if w.err == nil && take != nil {
			take(field{id, head & 15, w.text[from:w.at]})
		}
	}
}

// value skips a value. A boolean has a byte only in a list.
func (w *walker) value(kind byte, depth int, listed bool) {
	if depth > deepest {
		w.fail()
	}
	switch kind {
	case compactTrue, compactFalse:
		if listed {
			w.skip(1)
		}
	case compactByte:
		w.skip(1)
	case compactI16, compactI32, compactI64:
		w.uvarint()
	case compactDouble:
		w.skip(8)
	case compactUUID:
		w.skip(16)
	case compactBinary:
		w.skip(w.uvarint())
	case compactList, compactSet:
		head := w.byte()
		n := uint64(head >> 4)
		if n == 15 {
			n = w.uvarint()
		}
		w.values(n, depth, head&15)
	case compactMap:
		if n := w.uvarint(); n > 0 {
			kinds := w.byte()
			w.values(n, depth, kinds>>4, kinds&15)
		}
	case compactStruct:
		w.fields(depth+1, nil)
	default:
		w.fail()
	}
}

// values skips the elements of a list or a map. Each takes at least a byte.
func (w *walker) values(n uint64, depth int, kinds ...byte) {
	if n > uint64(len(w.text)-w.at) {
		w.fail()
		return
	}
	if w.elements += n; w.elements > mostElements {
		w.err, w.at = cmpErr(w.err, errStructs), len(w.text)
	}
	for i := uint64(0); i < n && w.err == nil; i++ {
		for _, kind := range kinds {
			w.value(kind, depth+1, true)
		}
	}
}

// join returns a struct with these fields, which are in the order of their numbers.
func join(list []field) []byte {
	var out []byte
	last := int16(0)
	for _, f := range list {
		if delta := f.id - last; delta > 0 && delta < 16 {
			out = append(out, byte(delta)<<4|f.kind)
		} else {
			out = append(out, f.kind)
			out = binary.AppendVarint(out, int64(f.id))
		}
		last = f.id
		out = append(out, f.value...)
	}
	return append(out, 0)
}

// elements returns the elements of a list of structs.
func elements(list []byte) (out [][]byte, err error) {
	w := &walker{text: list}
	head := w.byte()
	n := uint64(head >> 4)
	if n == 15 {
		n = w.uvarint()
	}
	if head&15 != compactStruct {
		w.fail()
	}
	for range n {
		from := w.at
		if w.fields(0, nil); w.err != nil {
			return nil, w.err
		}
		out = append(out, list[from:w.at])
	}
	return out, w.err
}

// list returns a list of structs.
func list(structs [][]byte) []byte {
	out := binary.AppendUvarint([]byte{0xf0 | compactStruct}, uint64(len(structs)))
	for _, s := range structs {
		out = append(out, s...)
	}
	return out
}

// number returns a field with a number.
func number(id int16, kind byte, n int64) field {
	return field{id, kind, binary.AppendVarint(nil, n)}
}

// int returns the number in a field.
func (f *field) int() int64 {
	n, _ := binary.Varint(f.value)
	return n
}

// find returns the field of a number, nil if there is none.
func find(list []field, id int16) *field {
	for i := range list {
		if list[i].id == id {
			return &list[i]
		}
	}
	return nil
}
