package arrow

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/toolguard/toolguard/internal/contain"
	"github.com/toolguard/toolguard/parquet/internal/lines"
)

const (
	// magic begins and ends a file. At the start, two zeros follow.
	magic = "ARROW1"
	// continuation begins a message, except in files of writers before 2019.
	continuation = 0xffffffff
)

// The kinds of messages.
const (
	kindSchema = iota + 1
	kindDictionary
	kindBatch
)

// The codecs of a batch.
const (
	codecNone = iota - 1
	codecLZ4
	codecZstd
)

// The fields of the tables of the format: https://github.com/apache/arrow/tree/main/format
const (
	messageVersion, messageKind, messageHeader, messageBody = 0, 1, 2, 3

	schemaEndianness, schemaFields, schemaMetadata = 0, 1, 2

	fieldName, fieldDictionary, fieldChildren, fieldMetadata = 0, 4, 5, 6

	encodingID = 0

	batchRows, batchNodes, batchBuffers, batchCompression, batchVariadic = 0, 1, 2, 3, 4

	compressionCodec = 0

	dictionaryID, dictionaryData, dictionaryDelta = 0, 1, 2

	footerVersion, footerSchema, footerDictionaries, footerBatches = 0, 1, 2, 3
)

const (
	// mostMeta is how long the description of a message or a footer may be.
	mostMeta = 32 << 20
	// mostFields limits what is held for each field.
	mostFields = 10_000
	// mostDepth limits the recursion. The library has a similar limit.
	mostDepth = 60
	// oldestVersion is the version of the metadata since 2017.
	oldestVersion = 3
	// spare is how many values a batch may have without any bytes for them.
	spare = 1 << 16
)

var errMeta = errors.New("expected a description as the format has it")

// A message is where a message is in a file, and what it says.
type message struct {
	at   int64 // of its length
	meta int64 // of its description
	body int64
	end  int64

	kind    byte
	version int16
	id      int64 // of a dictionary
	delta   bool
	rows    int64
	codec   int
	need    int64 // how much memory it takes
	parts   parts
}

// A parts is how many values and buffers a batch consists of.
type parts struct {
	nodes, buffers int64
	views          int64 // columns of a number of buffers that the batch says
}

// A table is a table of a description.
type table struct{ flatbuffers.Table }

// root returns the table that a description begins with.
func root(text []byte) table {
	return table{flatbuffers.Table{Bytes: text, Pos: flatbuffers.GetUOffsetT(text)}}
}

func slot(field int) flatbuffers.VOffsetT { return flatbuffers.VOffsetT(4 + 2*field) }

// table returns the table in a field.
func (t *table) table(field int) (table, bool) {
	off := t.Offset(slot(field))
	if off == 0 {
		return table{}, false
	}
	return table{flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(t.Pos + flatbuffers.UOffsetT(off))}}, true
}

// vector returns the elements of a vector of values of so many bytes, and where they are.
func (t *table) vector(field, size int) (elements []byte, at int) {
	off := flatbuffers.UOffsetT(t.Offset(slot(field)))
	if off == 0 {
		return nil, 0
	}
	n, start := t.VectorLen(off), int(t.Vector(off))
	return t.Bytes[start : start+n*size], start
}

// shorten sets the length of the vector whose elements are at a place.
func (t *table) shorten(at, n int) {
	binary.LittleEndian.PutUint32(t.Bytes[at-flatbuffers.SizeUOffsetT:], uint32(n))
}

// tables returns the tables in a vector.
func (t *table) tables(field int) (out []table) {
	elements, at := t.vector(field, flatbuffers.SizeUOffsetT)
	for i := 0; i < len(elements); i += flatbuffers.SizeUOffsetT {
		out = append(out, table{flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(flatbuffers.UOffsetT(at + i))}})
	}
	return out
}

// described calls f, which reads descriptions. Offsets in them are checked by the run-time.
func described(f func() error) error {
	err := contain.Do(f)
	if contain.From(err) != nil {
		return errMeta
	}
	return err
}

// frame returns the message at a place. It returns io.EOF where a stream ends.
func (f *File) frame(at int64) (*message, error) {
	m := &message{at: at, codec: codecNone}
	var head [8]byte
	limit := f.limit()
	n, err := f.ReadAt(head[:min(8, max(0, limit-at))], at)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, io.EOF // the end need not be marked
	}
	length, prefix := binary.LittleEndian.Uint32(head[:]), 4
	if n >= 4 && length == continuation {
		length, prefix = binary.LittleEndian.Uint32(head[4:]), 8
	}
	switch {
	case n < prefix:
		return nil, fmt.Errorf("message at byte %d: ends early: the file is torn", at)
	case length == 0:
		f.marked = at + int64(prefix)
		return nil, io.EOF
	case int64(length) > min(mostMeta, f.memory/4):
		return nil, fmt.Errorf("message at byte %d: expected a description of at most %d bytes, got %d", at, min(mostMeta, f.memory/4), length)
	}
	m.meta = at + int64(prefix)
	m.body = m.meta + int64(length)
	if m.body > limit {
		return nil, fmt.Errorf("message at byte %d: ends early: the file is torn", at)
	}
	text, err := f.read(m.meta, m.body)
	if err == nil {
		err = described(func() error { return f.describe(m, text) })
	}
	if err != nil {
		return nil, fmt.Errorf("message at byte %d: %w", at, err)
	}
	return m, nil
}

// limit returns where messages end.
func (f *File) limit() int64 {
	if f.footer != nil {
		return f.footerAt
	}
	return f.Size()
}

// read returns bytes of the file.
func (f *File) read(from, to int64) ([]byte, error) {
	text := make([]byte, to-from)
	_, err := f.ReadAt(text, from)
	return text, err
}

// describe reads the description of a message, and checks it.
func (f *File) describe(m *message, text []byte) error {
	t := root(text)
	var err error
	if m.version, err = checkVersion(&t, messageVersion); err != nil {
		return err
	}
	length := t.GetInt64Slot(slot(messageBody), 0)
	if length < 0 || length > f.limit()-m.body {
		return errors.New("ends early: the file is torn")
	}
	m.end = m.body + length
	header, is := t.table(messageHeader)
	if !is {
		return errMeta
	}
	switch m.kind = t.GetByteSlot(slot(messageKind), 0); m.kind {
	case kindSchema:
		return f.checkSchema(&header)
	case kindDictionary:
		m.id, m.delta = header.GetInt64Slot(slot(dictionaryID), 0), header.GetBoolSlot(slot(dictionaryDelta), false)
		if header, is = header.table(dictionaryData); !is {
			return errMeta
		}
	case kindBatch:
	default:
		return fmt.Errorf("expected a schema, a dictionary or a record batch, got type %d", m.kind)
	}
	return f.checkBatch(m, &header, int64(len(text)))
}

// checkVersion checks the version of the format in a field.
func checkVersion(t *table, field int) (int16, error) {
	v := t.GetInt16Slot(slot(field), 0)
	if v < oldestVersion {
		return 0, fmt.Errorf("version %d of the format, which toolguard does not read", v+1)
	}
	return v, nil
}

// checkSchema checks that a schema becomes no larger than it is. Its offsets may share parts.
func (f *File) checkSchema(t *table) error {
	if t.GetInt16Slot(slot(schemaEndianness), 0) != 0 {
		return errors.New("is big-endian, which toolguard does not read")
	}
	f.coded = nil
	fields, size := 0, 0
	texts := func(t *table, field int) {
		for _, kv := range t.tables(field) {
			for i := range 2 {
				text, _ := kv.vector(i, 1)
				size += len(text) + 64
			}
		}
	}
	var walk func(list []table, depth int) error
	walk = func(list []table, depth int) error {
		if depth > mostDepth {
			return fmt.Errorf("schema: nested deeper than %d levels", mostDepth)
		}
		names := map[string]bool{}
		for i := range list {
			name, _ := list[i].vector(fieldName, 1)
			size += len(name)
			texts(&list[i], fieldMetadata)
			if fields++; fields > mostFields {
				return fmt.Errorf("schema: more than %d fields", mostFields)
			}
			if size > mostMeta {
				return fmt.Errorf("schema: more than %d bytes", mostMeta)
			}
			if names[string(name)] {
				return fmt.Errorf("schema: %q: two fields have this name", name)
			}
			names[string(name)] = true
			if d, is := list[i].table(fieldDictionary); is {
				f.coded = append(f.coded, d.GetInt64Slot(slot(encodingID), 0))
			}
			if err := walk(list[i].tables(fieldChildren), depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	texts(t, schemaMetadata)
	if err := walk(t.tables(schemaFields), 1); err != nil {
		return err
	}
	if fields == 0 {
		return errors.New("schema: expected columns")
	}
	return nil
}

// checkBatch checks the sizes in a batch, and adds up how much memory it takes.
func (f *File) checkBatch(m *message, t *table, meta int64) error {
	packed := m.end - m.body
	bytes := int64(0)
	if c, is := t.table(batchCompression); is {
		if m.codec = int(c.GetByteSlot(slot(compressionCodec), 0)); m.codec > codecZstd {
			return fmt.Errorf("packed with codec %d, which toolguard does not read", m.codec)
		}
	}
	buffers, _ := t.vector(batchBuffers, 16)
	nodes, _ := t.vector(batchNodes, 16)
	counts, _ := t.vector(batchVariadic, 8)
	m.parts = parts{int64(len(nodes) / 16), int64(len(buffers) / 16), int64(len(counts) / 8)}
	for ; len(counts) > 0; counts = counts[8:] {
		n := int64(binary.LittleEndian.Uint64(counts))
		if n < 0 || n > m.parts.buffers {
			return fmt.Errorf("expected a column in at most %d buffers, got %d", m.parts.buffers, n)
		}
		m.parts.buffers -= n
	}
	for ; len(buffers) > 0; buffers = buffers[16:] {
		at, n := int64(binary.LittleEndian.Uint64(buffers)), int64(binary.LittleEndian.Uint64(buffers[8:]))
		if at < 0 || n < 0 || at > packed || n > packed-at {
			return fmt.Errorf("expected buffers in its %d bytes, got %d bytes at %d", packed, n, at)
		}
		if m.codec != codecNone && n > 0 {
			var head [8]byte
			if n < int64(len(head)) {
				return fmt.Errorf("expected the size of a buffer, got %d bytes", n)
			}
			if _, err := f.ReadAt(head[:], m.body+at); err != nil {
				return err
			}
			size := int64(binary.LittleEndian.Uint64(head[:]))
			if size < -1 || size > f.memory {
				return fmt.Errorf("expected buffers of at most %s, got %d bytes", lines.Mega(f.memory), size)
			}
			if n -= 8; size >= 0 { // else it is not packed
				n = size
			}
		}
		bytes += n
	}
	m.rows = t.GetInt64Slot(slot(batchRows), 0)
	for i := -16; i < len(nodes); i += 16 {
		n := m.rows
		if i >= 0 {
			n = int64(binary.LittleEndian.Uint64(nodes[i:]))
		}
		if n < 0 || n > 8*bytes+spare {
			return fmt.Errorf("expected at most %d values in %d bytes, got %d", 8*bytes+spare, bytes, n)
		}
	}
	if m.need = packed + meta; m.codec != codecNone {
		m.need += bytes
	}
	return nil
}
