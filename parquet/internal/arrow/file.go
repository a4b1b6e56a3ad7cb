package arrow

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/toolguard/toolguard/internal/contain"
	"github.com/toolguard/toolguard/parquet/internal/lines"
)

// share is the part of the memory in which a record batch has to fit, with its dictionaries. Who reads the rows and
// two who copy them each hold one, a copied one is put together and packed, and some live until the next collection.
const share = 6

// A File is an Arrow file or an Arrow stream.
type File struct {
	*lines.Input
	memory   int64
	footer   []byte // nil for a stream
	footerAt int64
	head     message   // the schema; some files have it in the footer alone
	others   []message // dictionaries and batches, in order
	batches  []int     // which of others are batches
	marked   int64     // where the mark at the end of a stream ends; 0 without one
	replaced bool      // there are several dictionaries for a field
	coded    []int64   // the dictionaries of fields, in order
	schema   *arrow.Schema
	columns  []int // that are read
	asText   map[int]bool
	keys     map[*arrow.StructType][][]byte // the names of fields
	names    [][]byte                       // of the columns
	reader   *cursor
	// dictionaries returns those of the columns.
	dictionaries func() ([]*dictionary, error)
}

// Is reports whether a file begins as one of Arrow.
func Is(head []byte) bool {
	return len(head) >= 8 && (string(head[:8]) == magic+"\x00\x00" || binary.LittleEndian.Uint32(head) == continuation)
}

// Open opens a file or a stream, and checks whatever can be checked without unpacking its batches. A run that reads
// it takes at most about so much memory.
func Open(ctx context.Context, path string, most int64) (_ *File, err error) {
	defer func() {
		if err != nil {
			err = lines.About(path, err)
		}
	}()
	defer contain.Catch(&err)
	f := &File{memory: most}
	if f.Input, err = lines.OpenInput(path); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	var head [8]byte
	if n, err := f.ReadAt(head[:], 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	} else if !Is(head[:n]) {
		return nil, fmt.Errorf("not an Arrow file or stream: expected %s or a message at its start", magic)
	}
	if string(head[:len(magic)]) == magic {
		err = f.readFile(ctx)
	} else {
		err = f.readStream(ctx)
	}
	if err != nil {
		return nil, err
	}
	if err := f.account(); err != nil {
		return nil, err
	}
	return f, f.open()
}

// readStream finds the messages of a stream.
func (f *File) readStream(ctx context.Context) error {
	for at := int64(0); ; {
		m, err := f.frame(at)
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if (at == 0) != (m.kind == kindSchema) {
			return fmt.Errorf("message at byte %d: expected a schema at the start, and only there", m.at)
		}
		if at = m.end; m.kind == kindSchema {
			f.head = *m
		} else {
			f.add(m)
		}
	}
	if f.marked > 0 && f.marked < f.Size() {
		return fmt.Errorf("expected nothing after the end of the stream at byte %d", f.marked)
	}
	if f.head.kind == 0 {
		return errors.New("expected a schema")
	}
	return nil
}

// add adds a dictionary or a batch.
func (f *File) add(m *message) {
	if m.kind == kindBatch {
		f.batches = append(f.batches, len(f.others))
	}
	f.others = append(f.others, *m)
}

// readFile reads the footer of a file, and finds the messages that it names.
func (f *File) readFile(ctx context.Context) error {
	var tail [10]byte
	size := f.Size()
	if size < int64(8+len(tail)) {
		return errors.New("the file is torn: expected a footer")
	}
	if _, err := f.ReadAt(tail[:], size-int64(len(tail))); err != nil {
		return err
	}
	if string(tail[4:]) != magic {
		return fmt.Errorf("the file is torn: expected %s at its end, after the footer", magic)
	}
	n := int64(binary.LittleEndian.Uint32(tail[:]))
	f.footerAt = size - int64(len(tail)) - n
	if n < 8 || n > min(mostMeta, f.memory/4) || f.footerAt < 8 {
		return fmt.Errorf("footer: expected at most %d bytes, got %d", min(mostMeta, f.memory/4, size-18), n)
	}
	var err error
	if f.footer, err = f.read(f.footerAt, f.footerAt+n); err != nil {
		return err
	}
	if err := described(f.checkFooter); err != nil {
		return fmt.Errorf("footer: %w", err)
	}
	// Some writers have the schema in the footer alone.
	if m, err := f.frame(8); err == nil && m.kind == kindSchema {
		f.head = *m
	}
	sum := int64(0)
	for _, of := range []struct {
		field int
		kind  byte
	}{{footerDictionaries, kindDictionary}, {footerBatches, kindBatch}} {
		var blocks []byte
		if err := described(func() error {
			t := root(f.footer)
			blocks, _ = t.vector(of.field, blockSize)
			return nil
		}); err != nil {
			return fmt.Errorf("footer: %w", err)
		}
		for ; len(blocks) > 0; blocks = blocks[blockSize:] {
			if err := ctx.Err(); err != nil {
				return err
			}
			b := parseBlock(blocks)
			m, err := f.frame(min(b.at, f.footerAt))
			switch {
			case errors.Is(err, io.EOF):
				return fmt.Errorf("footer: expected a message at byte %d: the file is torn", b.at)
			case err != nil:
				return err
			case m.kind != of.kind || m.body-m.at != b.meta || m.end-m.body != b.body:
				return fmt.Errorf("message at byte %d: is not what the footer says", b.at)
			}
			if sum += m.end - m.at; sum > size {
				return errors.New("footer: its messages overlap")
			}
			f.add(m)
		}
	}
	return nil
}

// checkFooter checks the schema in a footer.
func (f *File) checkFooter() error {
	t := root(f.footer)
	if _, err := checkVersion(&t, footerVersion); err != nil {
		return err
	}
	schema, is := t.table(footerSchema)
	if !is {
		return errors.New("expected a schema")
	}
	return f.checkSchema(&schema)
}

// blockSize is how long the place of a message is in a footer.
const blockSize = 24

// A block is such a place.
type block struct{ at, meta, body int64 }

func parseBlock(b []byte) block {
	at := max(0, int64(binary.LittleEndian.Uint64(b))) // no message is at 0
	return block{at, int64(int32(binary.LittleEndian.Uint32(b[8:]))), int64(binary.LittleEndian.Uint64(b[16:]))}
}

// put writes the place.
func (b block) put(to []byte) {
	clear(to[:blockSize])
	binary.LittleEndian.PutUint64(to, uint64(b.at))
	binary.LittleEndian.PutUint32(to[8:], uint32(b.meta))
	binary.LittleEndian.PutUint64(to[16:], uint64(b.body))
}

// account checks that each batch fits in the memory of the run, with the dictionaries that go with it.
func (f *File) account() error {
	held, sum := map[int64]int64{}, int64(0)
	batch := 0
	for _, m := range f.others {
		if m.kind == kindDictionary {
			_, again := held[m.id]
			f.replaced = f.replaced || again
			if !m.delta {
				sum -= held[m.id]
				held[m.id] = 0
			}
			held[m.id] += m.need
			sum += m.need
			continue
		}
		batch++
		if need, most := sum+m.need, f.memory/share; need > most {
			return fmt.Errorf("%s %d: too large for the memory of the run: it needs %s, and %s of --max-memory %s are for it: write smaller batches, or allow more memory",
				f.Group(), batch, lines.Mega(need), lines.Mega(most), lines.Mega(f.memory))
		}
	}
	return nil
}

// open reads the schema, and checks that the batches have what it says: the library reads it in any case.
func (f *File) open() error {
	var err error
	if f.schema, err = f.readSchema(); err != nil {
		return fmt.Errorf("schema: %w", errMeta)
	}
	e := expected{coded: f.coded, dictionaries: map[int64]layout{}}
	var all layout
	for _, field := range f.schema.Fields() {
		e.add(field.Type, &all)
	}
	for i := range f.others {
		m, want := &f.others[i], all
		if m.kind == kindDictionary {
			want = e.dictionaries[m.id]
		}
		if m.version == oldestVersion {
			want.buffers += want.unions // which had one more
		}
		if m.parts != want.parts {
			return fmt.Errorf("message at byte %d: has not the values and buffers of its schema", m.at)
		}
	}
	f.asText, f.keys = map[int]bool{}, map[*arrow.StructType][][]byte{}
	for i, field := range f.schema.Fields() {
		f.columns = append(f.columns, i)
		f.names = append(f.names, key(field.Name))
		f.name(field.Type)
	}
	f.dictionaries = sync.OnceValues(f.readDictionaries)
	return nil
}

// readSchema reads the schema alone.
func (f *File) readSchema() (*arrow.Schema, error) {
	if f.footer == nil {
		r, err := ipc.NewReaderFromMessageReader(&feed{f: f, list: []message{f.head}})
		if err != nil {
			return nil, err
		}
		return r.Schema(), nil
	}
	// An empty file with this footer.
	footer := root(slices.Clone(f.footer))
	for _, field := range []int{footerDictionaries, footerBatches} {
		if _, at := footer.vector(field, blockSize); at > 0 {
			footer.shorten(at, 0)
		}
	}
	text := slices.Concat([]byte(magic+"\x00\x00"), footer.Bytes, binary.LittleEndian.AppendUint32(nil, uint32(len(footer.Bytes))), []byte(magic))
	r, err := ipc.NewFileReader(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	return r.Schema(), nil
}

// A layout is what values of a type consist of.
type layout struct {
	parts
	unions int64
}

// An expected adds up layouts.
type expected struct {
	coded        []int64 // the dictionaries of fields that are still to come
	dictionaries map[int64]layout
}

// add adds the layout of a type.
func (e *expected) add(t arrow.DataType, to *layout) {
	to.nodes++
	switch t := t.(type) {
	case arrow.ExtensionType:
		to.nodes--
		e.add(t.StorageType(), to)
		return
	case *arrow.DictionaryType:
		to.buffers += 2
		if len(e.coded) > 0 {
			id := e.coded[0]
			e.coded = e.coded[1:]
			var values layout
			e.add(t.ValueType, &values)
			e.dictionaries[id] = values
		}
		return
	case *arrow.NullType, *arrow.RunEndEncodedType:
	case arrow.UnionType:
		to.unions++
		if to.buffers++; t.Mode() == arrow.DenseMode {
			to.buffers++
		}
	case arrow.BinaryViewDataType:
		to.views++
		to.buffers += 2
	default:
		to.buffers += int64(len(t.Layout().Buffers))
	}
	if nested, is := t.(arrow.NestedType); is {
		for _, field := range nested.Fields() {
			e.add(field.Type, to)
		}
	}
}

// name notes the names of the fields of a type.
func (f *File) name(t arrow.DataType) {
	switch t := t.(type) {
	case *arrow.StructType:
		f.keys[t] = keysOf(t)
	case *arrow.DictionaryType:
		f.name(t.ValueType)
	}
	if t, is := t.(arrow.NestedType); is {
		for _, field := range t.Fields() {
			f.name(field.Type)
		}
	}
}

func keysOf(t *arrow.StructType) (keys [][]byte) {
	for _, field := range t.Fields() {
		keys = append(keys, key(field.Name))
	}
	return keys
}

// key returns the name of a field as a key of JSON.
func key(name string) []byte { return append(lines.AppendString(nil, []byte(name)), ':') }

// Only implements lines.File.
func (f *File) Only(names []string) error {
	if len(names) == 0 {
		return nil
	}
	f.columns = nil
	var all []string
	for i, field := range f.schema.Fields() {
		all = append(all, strconv.Quote(field.Name))
		if slices.Contains(names, field.Name) {
			f.columns = append(f.columns, i)
			f.asText[i] = true
		}
	}
	for _, name := range names {
		if !f.schema.HasField(name) {
			return fmt.Errorf("%s: no column %q: the file has %s", f.Path(), name, strings.Join(all, ", "))
		}
	}
	return nil
}

// Group implements lines.Table.
func (f *File) Group() string { return "record batch" }

// Groups implements lines.Table.
func (f *File) Groups() int { return len(f.batches) }

// Rows implements lines.Table.
func (f *File) Rows(group int) (lines.Rows, error) {
	if f.reader == nil {
		f.reader = &cursor{f: f}
	}
	batch, err := f.reader.batch(group)
	if err != nil {
		return nil, err
	}
	return &rows{f: f, batch: batch, rest: batch.NumRows()}, nil
}

// A feed gives messages to the library.
type feed struct {
	f    *File
	list []message
	err  error // of the file
}

// Message implements ipc.MessageReader.
func (r *feed) Message() (*ipc.Message, error) {
	if len(r.list) == 0 {
		return nil, io.EOF
	}
	m := &r.list[0]
	r.list = r.list[1:]
	text, err := r.f.read(m.meta, m.end)
	if err != nil {
		r.err = err
		return nil, err
	}
	n := m.body - m.meta
	return ipc.NewMessage(memory.NewBufferBytes(text[:n:n]), memory.NewBufferBytes(text[n:])), nil
}

// Retain implements ipc.MessageReader. What is read is left to the garbage collector.
func (r *feed) Retain() {}

// Release implements ipc.MessageReader.
func (r *feed) Release() {}

// A cursor reads batches. It is fast if they are read in order.
type cursor struct {
	f      *File
	file   *ipc.FileReader // of a file
	feed   *feed           // of a stream
	reader *ipc.Reader
	next   int // the batch that follows
}

// open begins to read.
func (c *cursor) open() (err error) {
	defer contain.Catch(&err)
	if c.f.footer != nil {
		c.file, err = ipc.NewFileReader(io.NewSectionReader(c.f, 0, c.f.Size()))
	} else {
		c.feed, c.next = &feed{f: c.f, list: []message{c.f.head}}, 0
		c.reader, err = ipc.NewReaderFromMessageReader(c.feed)
	}
	if err != nil {
		return errMeta
	}
	return nil
}

// batch returns a batch.
func (c *cursor) batch(i int) (arrow.RecordBatch, error) {
	if c.file == nil && (c.reader == nil || i < c.next) {
		if err := c.open(); err != nil {
			return nil, err
		}
	}
	b, err := c.read(i)
	if err != nil {
		return nil, err
	}
	m := &c.f.others[c.f.batches[i]]
	if b.NumRows() != m.rows {
		return nil, errBatch
	}
	for _, column := range b.Columns() {
		// The library would read what is next to values that are not there.
		if int64(column.Len()) != m.rows || array.ValidateFull(array.MakeFromData(withBuffers(column.Data()))) != nil {
			return nil, errBatch
		}
	}
	return b, nil
}

// withBuffers adds to values of no type the buffer that the library expects when it checks them.
func withBuffers(d arrow.ArrayData) arrow.ArrayData {
	if d.DataType().ID() == arrow.NULL && len(d.Buffers()) == 0 {
		return array.NewData(arrow.Null, d.Len(), []*memory.Buffer{nil}, nil, d.NullN(), d.Offset())
	}
	children, changed := slices.Clone(d.Children()), false
	for i, c := range children {
		children[i] = withBuffers(c)
		changed = changed || children[i] != c
	}
	if !changed {
		return d
	}
	return array.NewData(d.DataType(), d.Len(), d.Buffers(), children, d.NullN(), d.Offset())
}

// read returns a batch that is not checked.
func (c *cursor) read(i int) (arrow.RecordBatch, error) {
	f := c.f
	if c.file != nil {
		b, err := c.file.RecordBatchAt(i)
		if err != nil {
			return nil, errBatch
		}
		return b, nil
	}
	from := 0
	if c.next > 0 {
		from = f.batches[c.next-1] + 1
	}
	for _, m := range f.others[from:f.batches[i]] {
		if m.kind == kindDictionary {
			c.feed.list = append(c.feed.list, m)
		}
	}
	c.feed.list, c.next = append(c.feed.list, f.others[f.batches[i]]), i+1
	if !c.reader.Next() {
		c.reader = nil
		if c.feed.err != nil {
			return nil, c.feed.err
		}
		return nil, errBatch
	}
	b := c.reader.RecordBatch()
	b.Retain()
	return b, nil
}

var errBatch = errors.New("not readable: its parts contradict each other")
