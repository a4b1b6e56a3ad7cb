package table

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/toolguard/toolguard/internal/contain"

	"github.com/toolguard/toolguard/parquet/internal/lines"
)

// magic begins and ends a file.
const magic = "PAR1"

const (
	// mostFooter is how large a footer may be.
	mostFooter = 32 << 20
	// mostHeader is how large the header of a page may be. It has bounds of the values.
	mostHeader = 4 << 20
	// share is the part of the memory in which the pages of one group have to fit. They are held twice, packed
	// and unpacked, and what is read of them lives until the next collection.
	share = 3
)

// A File is a Parquet file.
type File struct {
	*lines.Input
	memory int64
	footer []field
	meta   *format.FileMetaData
	root   *node
	leaves []*node
	// model is an empty file with these columns, as the library sees them: physical types without meaning,
	// not packed. It decodes the pages of all chunks.
	model   *parquet.File
	groups  []group
	columns []*node // those that are read as JSON
	zstd    *zstd.Decoder
	v2      bool // there are pages of version 2
}

// A group is a row group.
type group struct {
	meta *format.RowGroup
	rows int64
	raw  []byte // the same, as it is in the footer
}

// Open opens a Parquet file and checks whatever can be checked without unpacking its pages. A run that reads
// it takes at most about so much memory.
func Open(ctx context.Context, path string, memory int64) (_ *File, err error) {
	defer func() {
		if err != nil {
			err = lines.About(path, err)
		}
	}()
	defer contain.Catch(&err)
	f := &File{memory: memory}
	if f.Input, err = lines.OpenInput(path); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			f.Input.Close()
		}
	}()
	f.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(uint64(max(memory/share, 1))))
	if err != nil {
		return nil, err
	}
	if err = f.readFooter(); err != nil {
		return nil, err
	}
	if f.root, f.leaves, err = schema(f.meta.Schema); err != nil {
		return nil, err
	}
	f.columns = f.root.children
	if f.model, err = model(f.meta.Schema, f.leaves); err != nil {
		return nil, err
	}
	var raw [][]byte
	if list := find(f.footer, fieldGroups); list == nil {
		return nil, errors.New("footer: expected row groups")
	} else if raw, err = elements(list.value); err != nil || len(raw) != len(f.meta.RowGroups) {
		return nil, fmt.Errorf("footer: row groups: %w", cmpErr(err, errCompact))
	}
	for i := range f.meta.RowGroups {
		if err = ctx.Err(); err != nil {
			return nil, err
		}
		if err = f.addGroup(&f.meta.RowGroups[i], raw[i]); err != nil {
			return nil, fmt.Errorf("row group %d: %w", i+1, err)
		}
	}
	return f, nil
}

// Close closes the file.
func (f *File) Close() error {
	f.zstd.Close()
	return f.Input.Close()
}

// Group implements lines.Table.
func (f *File) Group() string { return "row group" }

// Groups implements lines.Table.
func (f *File) Groups() int { return len(f.groups) }

// Rows implements lines.Table.
func (f *File) Rows(group int) (lines.Rows, error) {
	g := &f.groups[group]
	if g.rows == 0 {
		return &rows{f: f}, nil // its pages may be nowhere
	}
	r, err := f.rows(g, f.columns)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Only implements lines.File.
func (f *File) Only(names []string) error {
	if len(names) == 0 {
		return nil
	}
	f.columns = nil
	for _, c := range f.root.children {
		if !slices.Contains(names, c.name) {
			continue
		}
		f.columns = append(f.columns, c)
		for _, l := range f.leaves[c.leaf : c.leaf+c.leaves] {
			if l.plain {
				l.means = meansText
			}
		}
	}
	for _, name := range names {
		if f.root.child(name) == nil {
			return fmt.Errorf("%s: no column %q: the file has %s", f.Path(), name, f.root.names())
		}
	}
	return nil
}

func (f *File) readFooter() error {
	size := f.Size()
	var tail [8]byte
	if size < int64(len(magic)+len(tail)) {
		return fmt.Errorf("not a Parquet file: expected at least 12 bytes, got %d", size)
	}
	var head [len(magic)]byte
	if _, err := f.ReadAt(head[:], 0); err != nil {
		return err
	}
	if _, err := f.ReadAt(tail[:], size-int64(len(tail))); err != nil {
		return err
	}
	switch start, end := string(head[:]), string(tail[4:]); {
	case start == "PARE" || end == "PARE":
		return errors.New("is encrypted, which toolguard does not read")
	case start != magic:
		return fmt.Errorf("not a Parquet file: expected %s at its start", magic)
	case end != magic:
		return fmt.Errorf("the file is torn: expected %s at its end, after the footer", magic)
	}
	n := int64(binary.LittleEndian.Uint32(tail[:4]))
	switch {
	case n > size-int64(len(magic)+len(tail)):
		return fmt.Errorf("footer: expected at most %d bytes, got %d", size-int64(len(magic)+len(tail)), n)
	case n > min(mostFooter, f.memory/4):
		return fmt.Errorf("footer: its %d bytes do not fit in the memory of the run: expected at most %d", n, min(mostFooter, f.memory/4))
	}
	text := make([]byte, n)
	if _, err := f.ReadAt(text, size-int64(len(tail))-n); err != nil {
		return err
	}
	list, err := fields(text)
	if err != nil {
		return fmt.Errorf("footer: %w", err)
	}
	f.footer, f.meta = list, &format.FileMetaData{}
	protocol := &thrift.CompactProtocol{}
	if thrift.NewDecoder(protocol.NewReaderFromBytes(text)).Decode(f.meta) != nil {
		return fmt.Errorf("footer: %w", errCompact)
	}
	if f.meta.EncryptionAlgorithm.Value != nil {
		return errors.New("is encrypted, which toolguard does not read")
	}
	return nil
}

// model returns an empty file with the columns of a schema. Its only group gives the library a place to
// read chunks from.
func model(elements []format.SchemaElement, leaves []*node) (*parquet.File, error) {
	meta := format.FileMetaData{Version: 1, NumRows: 1}
	for _, e := range elements {
		meta.Schema = append(meta.Schema, format.SchemaElement{
			Type: e.Type, TypeLength: e.TypeLength, RepetitionType: e.RepetitionType, Name: e.Name, NumChildren: e.NumChildren,
		})
	}
	g := format.RowGroup{NumRows: 1}
	for _, l := range leaves {
		g.Columns = append(g.Columns, format.ColumnChunk{MetaData: format.ColumnMetaData{
			Type: l.physical, Codec: format.Uncompressed, NumValues: 1, DataPageOffset: 4, TotalCompressedSize: 1 << 62, PathInSchema: []string{l.path},
		}})
	}
	meta.RowGroups = append(meta.RowGroups, g)
	text, err := thrift.Marshal(&thrift.CompactProtocol{}, &meta)
	if err != nil {
		return nil, err
	}
	text = append([]byte(magic), text...)
	text = binary.LittleEndian.AppendUint32(text, uint32(len(text)-len(magic)))
	text = append(text, magic...)
	return parquet.OpenFile(bytes.NewReader(text), int64(len(text)), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
}

// addGroup checks a row group.
func (f *File) addGroup(m *format.RowGroup, raw []byte) error {
	if m.NumRows < 0 || m.NumRows > 1<<40 {
		return fmt.Errorf("expected a number of rows, got %d", m.NumRows)
	}
	if len(m.Columns) != len(f.leaves) {
		return fmt.Errorf("expected %d columns, got %d", len(f.leaves), len(m.Columns))
	}
	need := int64(0)
	for i, l := range f.leaves {
		c := &m.Columns[i]
		switch md := &c.MetaData; {
		case c.CryptoMetadata.Value != nil || c.EncryptedColumnMetadata != nil:
			return fmt.Errorf("column %s: is encrypted, which toolguard does not read", l.path)
		case c.FilePath != "":
			return fmt.Errorf("column %s: is in another file, which toolguard does not read", l.path)
		case md.Type != l.physical:
			return fmt.Errorf("column %s: expected the type %s, got %s", l.path, l.physical, md.Type)
		case md.NumValues < 0 || l.rep == 0 && md.NumValues != m.NumRows || md.NumValues < m.NumRows:
			return fmt.Errorf("column %s: expected values of %d rows, got %d", l.path, m.NumRows, md.NumValues)
		case unpackers[md.Codec] == nil:
			return fmt.Errorf("column %s: packed as %s, which toolguard does not read", l.path, md.Codec)
		}
		if m.NumRows == 0 {
			continue
		}
		n, err := f.scan(c)
		if err != nil {
			return fmt.Errorf("column %s: %w", l.path, err)
		}
		need += n
	}
	if most := f.memory / share; need > most {
		return fmt.Errorf("too large for the memory of the run: its pages need %s at a time, and %s of --max-memory %s are for them: write smaller pages, or allow more memory",
			lines.Mega(need), lines.Mega(most), lines.Mega(f.memory))
	}
	f.groups = append(f.groups, group{m, m.NumRows, raw})
	return nil
}

// span returns where the pages of a chunk are.
func (f *File) span(c *format.ColumnChunk) (from, to int64, err error) {
	from = c.MetaData.DataPageOffset
	if d := c.MetaData.DictionaryPageOffset; d > 0 && d < from {
		from = d
	}
	to = from + c.MetaData.TotalCompressedSize
	if end := f.Size() - 8; from < int64(len(magic)) || c.MetaData.TotalCompressedSize < 0 || to < from || to > end {
		return 0, 0, fmt.Errorf("expected its pages between byte 4 and %d, got %d to %d: the file is torn", end, from, to)
	}
	return from, to, nil
}

// scan reads the headers of all pages of a chunk, and returns how much memory its largest page and its
// dictionary need.
func (f *File) scan(c *format.ColumnChunk) (need int64, err error) {
	from, to, err := f.span(c)
	if err != nil {
		return 0, err
	}
	h := headers{in: f, at: from, end: to}
	values, dictionary, largest := int64(0), int64(0), int64(0)
	for first := true; values < c.MetaData.NumValues; first = false {
		p, err := h.next()
		if err != nil {
			return 0, err
		}
		n, is, err := count(p)
		if err != nil {
			return 0, fmt.Errorf("page at byte %d: %w", h.start, err)
		}
		size := int64(p.CompressedPageSize) + int64(p.UncompressedPageSize)
		switch {
		case p.Type == format.DictionaryPage && !first:
			return 0, fmt.Errorf("page at byte %d: expected the dictionary before the values", h.start)
		case p.Type == format.DictionaryPage:
			dictionary = size + 8*n
		case is:
			// Each value has levels and an offset.
			if values += n; values > c.MetaData.NumValues {
				return 0, fmt.Errorf("page at byte %d: expected %d values in all pages, got %d or more", h.start, c.MetaData.NumValues, values)
			}
			largest, f.v2 = max(largest, size+6*n), f.v2 || p.Type == format.DataPageV2
		}
		h.skip(p)
	}
	return dictionary + largest + 64<<10, nil
}

// count returns how many values a page has, and whether it has any: other pages are skipped.
func count(p *format.PageHeader) (n int64, is bool, err error) {
	switch {
	case p.Type == format.DataPage && p.DataPageHeader.Valid:
		n, is = int64(p.DataPageHeader.V.NumValues), true
	case p.Type == format.DataPageV2 && p.DataPageHeaderV2.Valid:
		n, is = int64(p.DataPageHeaderV2.V.NumValues), true
	case p.Type == format.DictionaryPage && p.DictionaryPageHeader.Valid:
		n, is = int64(p.DictionaryPageHeader.V.NumValues), false
	case p.Type == format.IndexPage:
	default:
		return 0, false, fmt.Errorf("expected a page of values or a dictionary, got type %d", p.Type)
	}
	if n < 0 {
		return 0, false, fmt.Errorf("expected a number of values, got %d", n)
	}
	return n, is, nil
}

// headers reads the headers of pages.
type headers struct {
	in       io.ReaderAt
	start    int64 // of the page that was read last
	at, end  int64
	buf      []byte
	protocol thrift.CompactProtocol
}

// next reads the next header. at is then behind it.
func (h *headers) next() (*format.PageHeader, error) {
	h.start = h.at
	if h.at >= h.end {
		return nil, fmt.Errorf("expected a page at byte %d, but the column ends there: the file is torn", h.at)
	}
	for size := int64(512); ; size *= 16 {
		size = min(size, h.end-h.at, mostHeader)
		if int64(cap(h.buf)) < size {
			h.buf = make([]byte, size)
		}
		text := h.buf[:size]
		if _, err := h.in.ReadAt(text, h.at); err != nil {
			return nil, err
		}
		w := walker{text: text}
		w.fields(0, nil)
		if w.err != nil {
			if size == min(h.end-h.at, mostHeader) {
				if size == mostHeader {
					w.err = errors.New("expected at most 4 MB, so the bounds of its values are too long")
				}
				return nil, fmt.Errorf("page at byte %d: header: %w", h.start, w.err)
			}
			continue
		}
		p := &format.PageHeader{}
		if thrift.NewDecoder(h.protocol.NewReaderFromBytes(text[:w.at])).Decode(p) != nil {
			return nil, fmt.Errorf("page at byte %d: header: %w", h.start, errCompact)
		}
		h.at += int64(w.at)
		if p.CompressedPageSize < 0 || int64(p.CompressedPageSize) > h.end-h.at {
			return nil, fmt.Errorf("page at byte %d: expected at most %d bytes, got %d", h.start, h.end-h.at, p.CompressedPageSize)
		}
		if p.UncompressedPageSize < 0 {
			return nil, fmt.Errorf("page at byte %d: expected an unpacked size, got %d", h.start, p.UncompressedPageSize)
		}
		return p, nil
	}
}

// skip goes to the next page.
func (h *headers) skip(p *format.PageHeader) { h.at += int64(p.CompressedPageSize) }
