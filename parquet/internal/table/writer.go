package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/toolguard/toolguard/internal/contain"
	"github.com/toolguard/toolguard/parquet/internal/lines"
)

// A Writer copies rows of a file to another one, group by group. A group all of whose rows are copied keeps its
// bytes. The values of others are encoded anew.
type Writer struct {
	f       *File
	out     io.Writer
	creator string
	others  bool // only the rows that are named are copied
	at      int64
	groups  [][]byte
	total   int64
	err     error

	group    int // the current group
	row      int64
	touched  bool
	repaired bool
	in       *rows
	enc      *parquet.GenericWriter[any]
	section  *section
}

// Rest implements lines.File.
func (f *File) Rest(out io.Writer, creator string) lines.Writer {
	return &Writer{f: f, out: out, creator: creator}
}

// Few implements lines.File.
func (f *File) Few(out io.Writer, creator string) lines.Writer {
	return &Writer{f: f, out: out, creator: creator, others: true}
}

// Except implements lines.Writer.
func (w *Writer) Except(row int64) error {
	return w.do(row, func() error { return w.rows(1, w.others) })
}

// Replace implements lines.Writer.
func (w *Writer) Replace(row int64, by lines.Row) error {
	return w.do(row, func() error {
		w.repaired = true
		for i, c := range w.in.columns {
			if err := c.next(); err != nil {
				return err
			}
			values, is := by.(Row)[i]
			if !is {
				values = c.row
			}
			if _, err := w.size(c, values); err != nil {
				return err
			}
			if _, err := w.enc.ColumnWriters()[i].WriteRowValues(values); err != nil {
				return err
			}
		}
		w.row++
		return nil
	})
}

// do goes to a row, and does something with it.
func (w *Writer) do(row int64, f func() error) error {
	if w.err == nil {
		w.err = w.contained(func() error {
			if err := w.to(row); err != nil {
				return err
			}
			if err := w.open(); err != nil {
				return err
			}
			return f()
		})
	}
	return w.err
}

// contained calls f and says in its error where it was.
func (w *Writer) contained(f func() error) error {
	err := contain.Do(f)
	var out *writeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &out):
		return out.error
	case contain.From(err) != nil:
		err = errors.New("not written: its parts contradict each other")
	}
	return fmt.Errorf("%s: row group %d: %w", w.f.Path(), w.group+1, err)
}

// to treats all rows before a row of the file in the ordinary way.
func (w *Writer) to(row int64) error {
	before := int64(0) // the rows before the current group
	for i := range w.group {
		before += w.f.groups[i].rows
	}
	for w.group < len(w.f.groups) && row >= before+w.f.groups[w.group].rows {
		before += w.f.groups[w.group].rows
		if err := w.end(); err != nil {
			return err
		}
	}
	if w.group == len(w.f.groups) {
		return nil
	}
	if rest := row - before - w.row; rest > 0 {
		if err := w.open(); err != nil {
			return err
		}
		return w.rows(rest, !w.others)
	}
	return nil
}

// end ends the current group.
func (w *Writer) end() error {
	g := &w.f.groups[w.group]
	switch {
	case w.touched:
		if err := w.rows(g.rows-w.row, !w.others); err != nil {
			return err
		}
		if err := w.flush(); err != nil {
			return err
		}
	case !w.others:
		if err := w.copy(g); err != nil {
			return err
		}
	}
	if w.in != nil {
		w.in.Close()
	}
	w.group, w.row, w.touched, w.repaired, w.in, w.enc, w.section = w.group+1, 0, false, false, nil, nil, nil
	return nil
}

// copy copies the bytes of a group.
func (w *Writer) copy(g *group) error {
	if g.rows == 0 {
		return nil
	}
	if err := w.start(); err != nil {
		return err
	}
	base := w.at
	move := func(i int) (int64, error) {
		from, to, err := w.f.span(&g.meta.Columns[i])
		if err != nil {
			return 0, err
		}
		move := w.at - from
		_, err = io.Copy(w, io.NewSectionReader(w.f, from, to-from))
		return move, err
	}
	return w.add(g.raw, g.rows, base, move)
}

// The fields of a row group, of a column chunk, and of what that says about its pages.
const (
	fieldColumns     = 1
	fieldFileOffset  = 5
	fieldOrdinal     = 7
	fieldChunkOffset = 2
	fieldPages       = 3
	fieldData        = 9
	fieldIndex       = 10
	fieldDictionary  = 11
	fieldBloom       = 14
	fieldBloomLength = 15
)

// add notes a group that was written. move returns how far the pages of a column were moved. Nothing points to the
// indexes and the Bloom filters of the original.
func (w *Writer) add(raw []byte, rows, base int64, move func(i int) (int64, error)) error {
	if len(w.groups) > parquet.MaxRowGroups {
		return fmt.Errorf("more than %d row groups", parquet.MaxRowGroups)
	}
	g, err := fields(raw)
	if err != nil {
		return err
	}
	chunks, err := elements(find(g, fieldColumns).value)
	if err != nil {
		return err
	}
	for i := range chunks {
		c, err := fields(chunks[i])
		if err != nil {
			return err
		}
		md, err := fields(find(c, fieldPages).value)
		if err != nil {
			return err
		}
		by, err := move(i)
		if err != nil {
			return err
		}
		for _, id := range []int16{fieldData, fieldIndex, fieldDictionary} {
			if f := find(md, id); f != nil && f.int() > 0 {
				*f = number(id, f.kind, f.int()+by)
			}
		}
		md = slices.DeleteFunc(md, func(f field) bool { return f.id == fieldBloom || f.id == fieldBloomLength })
		chunks[i] = join([]field{number(fieldChunkOffset, compactI64, 0), {fieldPages, compactStruct, join(md)}})
	}
	var out []field
	for _, f := range g {
		switch f.id {
		case fieldColumns:
			f.value = list(chunks)
		case fieldFileOffset:
			f = number(f.id, f.kind, base)
		case fieldOrdinal:
			f = number(f.id, f.kind, int64(len(w.groups)))
		}
		out = append(out, f)
	}
	w.groups, w.total = append(w.groups, join(out)), w.total+rows
	return nil
}

// A writeError is an error of the output. It has its path already.
type writeError struct{ error }

// Write implements io.Writer.
func (w *Writer) Write(b []byte) (int, error) {
	n, err := w.out.Write(b)
	w.at += int64(n)
	if err != nil {
		err = &writeError{err}
	}
	return n, err
}

// start writes what a file begins with.
func (w *Writer) start() error {
	if w.at > 0 {
		return nil
	}
	_, err := io.WriteString(w, magic)
	return err
}

const (
	// largeGroup is the packed size from which the pages of a group go to temporary files until the group is
	// complete.
	largeGroup = 16 << 20
	// mostDictionary is how large a dictionary may become before the values are written as they are.
	mostDictionary = 1 << 20
)

// open begins to encode the current group.
func (w *Writer) open() (err error) {
	if w.touched {
		return nil
	}
	if err := w.start(); err != nil {
		return err
	}
	g := &w.f.groups[w.group]
	if w.in, err = w.f.rows(g, w.f.root.children); err != nil {
		return err
	}
	version := 1
	if w.f.v2 {
		version = 2
	}
	w.touched, w.section = true, &section{w: w, base: w.at}
	options := []parquet.WriterOption{
		parquet.NewSchema(w.f.meta.Schema[0].Name, encoded(w.f.model.Root(), g.meta, new(int))),
		parquet.DataPageVersion(version), parquet.WriteBufferSize(0), parquet.DictionaryMaxBytes(mostDictionary),
	}
	packed := int64(0)
	for i := range g.meta.Columns {
		packed += g.meta.Columns[i].MetaData.TotalCompressedSize
	}
	if packed > largeGroup {
		options = append(options, parquet.ColumnPageBuffers(spools{}))
	}
	w.enc = parquet.NewGenericWriter[any](w.section, options...)
	return nil
}

const (
	batchValues = 512
	batchBytes  = 256 << 10
	// writeRoom is how much the bytes of a row in one column may take, as a part of the memory: the library holds
	// a page, its bounds and its packed form several times while it is written.
	writeRoom = 24
)

// size returns how many bytes values take beyond a few each.
func (w *Writer) size(c *column, values []parquet.Value) (n int, err error) {
	if c.physical == format.ByteArray || c.physical == format.FixedLenByteArray {
		for _, v := range values {
			n += len(v.ByteArray())
		}
	}
	if most := w.f.memory / writeRoom; int64(n) > most {
		err = c.wrong(fmt.Errorf("a row of %s, and at most %s fit in the memory of the run when they are written: allow more with --max-memory", lines.Mega(int64(n)), lines.Mega(most)))
	}
	return n, err
}

// rows copies or skips the next rows of the current group, column by column.
func (w *Writer) rows(n int64, keep bool) error {
	var batch []parquet.Value
	for i, c := range w.in.columns {
		size := 0
		flush := func() error {
			_, err := w.enc.ColumnWriters()[i].WriteRowValues(batch)
			batch, size = batch[:0], 0
			return err
		}
		for range n {
			if err := c.next(); err != nil {
				return err
			}
			if !keep {
				continue
			}
			batch = append(batch, c.row...)
			n, err := w.size(c, c.row)
			if err != nil {
				return err
			}
			size += n
			if len(batch) >= batchValues || size >= batchBytes {
				if err := flush(); err != nil {
					return err
				}
			}
		}
		if len(batch) > 0 {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	w.row += n
	return nil
}

// flush writes the encoded group.
func (w *Writer) flush() error {
	if err := w.enc.Flush(); err != nil {
		return err
	}
	w.section.ended = true // what follows is a footer
	if err := w.enc.Close(); err != nil {
		return err
	}
	groups := w.enc.File().Metadata().RowGroups
	if len(groups) == 0 {
		return nil // no row is left
	}
	g, was := groups[0], w.f.groups[w.group].meta
	g.SortingColumns = nil
	if !w.repaired {
		g.SortingColumns = was.SortingColumns
	}
	for i := range g.Columns {
		md := &g.Columns[i].MetaData
		md.PathInSchema, md.KeyValueMetadata = was.Columns[i].MetaData.PathInSchema, was.Columns[i].MetaData.KeyValueMetadata
		w.bounds(w.f.leaves[i], &md.Statistics)
	}
	raw, err := thrift.Marshal(&thrift.CompactProtocol{}, &g)
	if err != nil {
		return err
	}
	return w.add(raw, g.NumRows, w.section.base, func(int) (int64, error) { return w.section.base - int64(len(magic)), nil })
}

// longBound is how long a bound may be. It is only for skipping groups.
const longBound = 64

// bounds leaves out the bounds of a column if their order is not that of its physical type.
func (w *Writer) bounds(l *node, s *format.Statistics) {
	ordered := find(w.f.footer, fieldOrders) != nil
	if !l.ordered || !ordered || len(s.MinValue) > longBound || len(s.MaxValue) > longBound {
		s.MinValue, s.MaxValue = nil, nil
	}
	s.Min, s.Max = nil, nil
}

// The fields of a footer that are written anew, or come from the original.
const (
	fieldVersion  = 1
	fieldSchema   = 2
	fieldRows     = 3
	fieldGroups   = 4
	fieldMetadata = 5
	fieldCreator  = 6
	fieldOrders   = 7
)

// Close implements lines.Writer.
func (w *Writer) Close() error {
	if w.err != nil {
		return w.err
	}
	w.err = w.contained(func() error {
		for w.group < len(w.f.groups) {
			if err := w.end(); err != nil {
				return err
			}
		}
		return w.finish()
	})
	return w.err
}

func (w *Writer) finish() error {
	if err := w.start(); err != nil {
		return err
	}
	own, err := thrift.Marshal(&thrift.CompactProtocol{}, &format.FileMetaData{
		Schema: w.f.meta.Schema[:1], NumRows: w.total, CreatedBy: w.creator,
	})
	if err != nil {
		return err
	}
	fresh, err := fields(own)
	if err != nil {
		return err
	}
	var footer []field
	take := func(from []field, id int16) {
		if f := find(from, id); f != nil {
			footer = append(footer, *f)
		}
	}
	take(w.f.footer, fieldVersion)
	take(w.f.footer, fieldSchema)
	take(fresh, fieldRows)
	footer = append(footer, field{fieldGroups, compactList, list(w.groups)})
	take(w.f.footer, fieldMetadata)
	take(fresh, fieldCreator)
	take(w.f.footer, fieldOrders)
	text := join(footer)
	text = binary.LittleEndian.AppendUint32(text, uint32(len(text)))
	_, err = w.Write(append(text, magic...))
	return err
}

// A section passes on the pages of a group, without what the library writes before and after them.
type section struct {
	w       *Writer
	base    int64
	skipped int
	ended   bool
}

// Write implements io.Writer.
func (s *section) Write(b []byte) (int, error) {
	if s.ended {
		return len(b), nil
	}
	n := min(len(b), len(magic)-s.skipped)
	s.skipped += n
	m, err := s.w.Write(b[n:])
	return n + m, err
}

// An encodedColumn is a column as one group encodes it.
type encodedColumn struct {
	*parquet.Column
	fields   []parquet.Field
	codec    compress.Codec
	encoding encoding.Encoding
}

func (c *encodedColumn) Fields() []parquet.Field     { return c.fields }
func (c *encodedColumn) Compression() compress.Codec { return c.codec }
func (c *encodedColumn) Encoding() encoding.Encoding { return c.encoding }

// encoded returns a column with the codecs and the encodings of a group. leaf counts the leaves.
func encoded(c *parquet.Column, g *format.RowGroup, leaf *int) *encodedColumn {
	out := &encodedColumn{Column: c}
	if !c.Leaf() {
		for _, child := range c.Columns() {
			out.fields = append(out.fields, encoded(child, g, leaf))
		}
		return out
	}
	md := &g.Columns[*leaf].MetaData
	*leaf++
	out.codec, out.encoding = parquet.LookupCompressionCodec(md.Codec), &parquet.Plain
	for _, e := range md.Encoding {
		switch kind := c.Type().Kind(); {
		case kind == parquet.Boolean || kind == parquet.Int96:
		case e == oldDictionary || e == format.RLEDictionary:
			out.encoding = &parquet.RLEDictionary
			return out
		case e == format.DeltaBinaryPacked && (kind == parquet.Int32 || kind == parquet.Int64),
			(e == format.DeltaLengthByteArray || e == format.DeltaByteArray) && kind == parquet.ByteArray,
			e == format.ByteStreamSplit && (kind == parquet.Float || kind == parquet.Double):
			out.encoding = parquet.LookupEncoding(e)
		}
	}
	return out
}

// spools keep pages in temporary files.
type spools struct{}

// GetBuffer implements parquet.BufferPool.
func (spools) GetBuffer() io.ReadWriteSeeker {
	f, err := os.CreateTemp("", "toolguard-*")
	if err != nil {
		return failed{fmt.Errorf("temporary file: %w", err)}
	}
	if runtime.GOOS != "windows" {
		_ = os.Remove(f.Name()) // it exists until it is closed, even if the process is killed
	}
	return f
}

// PutBuffer implements parquet.BufferPool.
func (spools) PutBuffer(b io.ReadWriteSeeker) {
	if f, is := b.(*os.File); is {
		f.Close()
		if runtime.GOOS == "windows" {
			_ = os.Remove(f.Name())
		}
	}
}

// failed is a file that could not be created.
type failed struct{ error }

func (f failed) Read([]byte) (int, error)       { return 0, f.error }
func (f failed) Write([]byte) (int, error)      { return 0, f.error }
func (f failed) Seek(int64, int) (int64, error) { return 0, f.error }
