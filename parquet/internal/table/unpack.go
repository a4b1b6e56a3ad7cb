package table

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/snappy"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// unpackers unpack to exactly as many bytes as the header of a page says. Those of the library unpack to
// whatever comes.
var unpackers = map[format.CompressionCodec]func(_ *File, dst, src []byte) error{
	format.Uncompressed: func(_ *File, dst, src []byte) error {
		if len(src) != len(dst) {
			return errUnpacked
		}
		copy(dst, src)
		return nil
	},
	format.Snappy: func(_ *File, dst, src []byte) error {
		if n, err := snappy.DecodedLen(src); err != nil || n != len(dst) {
			return errUnpacked
		}
		out, err := snappy.Decode(dst, src)
		return unpacked(dst, out, err)
	},
	format.Gzip: func(_ *File, dst, src []byte) error {
		r, err := gzip.NewReader(bytes.NewReader(src))
		if err != nil {
			return err
		}
		return fill(dst, r)
	},
	format.Brotli: func(_ *File, dst, src []byte) error { return fill(dst, brotli.NewReader(bytes.NewReader(src))) },
	format.Zstd: func(f *File, dst, src []byte) error {
		out, err := f.zstd.DecodeAll(src, dst[:0])
		return unpacked(dst, out, err)
	},
	format.Lz4Raw: func(_ *File, dst, src []byte) error {
		n, err := lz4.UncompressBlock(src, dst)
		return unpacked(dst, dst[:max(n, 0)], err)
	},
}

var errUnpacked = errors.New("its unpacked size differs from the one in its header")

func unpacked(dst, out []byte, err error) error {
	if err == nil && len(out) != len(dst) {
		err = errUnpacked
	}
	return err
}

// fill reads exactly as many bytes.
func fill(dst []byte, r io.Reader) error {
	if _, err := io.ReadFull(r, dst); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errUnpacked
		}
		return err
	}
	if n, err := io.CopyN(io.Discard, r, 1); n > 0 {
		return errUnpacked
	} else if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// A pipe gives the library the pages of a chunk, unpacked and checked, as it reads on. It implements
// io.ReaderAt for reading from the start to the end.
type pipe struct {
	f          *File
	rows       *rows
	l          *node
	codec      format.CompressionCodec
	headers    headers
	left       int64     // values that are still to come
	dictionary int       // the values in the dictionary, -1 without one
	rest       [2][]byte // what is still to be read of a page
	at         int64
	text, body []byte
	grown      int64 // what the values of a page become, if they have beginnings in common
	err        error
}

// pipe returns a pipe for a chunk.
func (f *File) pipe(r *rows, l *node, c *format.ColumnChunk) (*pipe, error) {
	from, to, err := f.span(c)
	return &pipe{
		f: f, rows: r, l: l, codec: c.MetaData.Codec, headers: headers{in: f, at: from, end: to}, left: c.MetaData.NumValues, dictionary: -1, at: 4,
	}, err
}

// ReadAt implements io.ReaderAt.
func (p *pipe) ReadAt(b []byte, off int64) (n int, err error) {
	if off != p.at {
		return 0, errors.New("read out of order")
	}
	for n < len(b) {
		if len(p.rest[0])+len(p.rest[1]) == 0 {
			if n > 0 { // the next page is not needed yet
				return n, nil
			}
			if p.err == nil {
				p.err = p.page()
			}
			if p.err != nil {
				return 0, p.err
			}
		}
		m := copy(b[n:], p.rest[0])
		m += copy(b[n+m:], p.rest[1][:min(len(p.rest[1]), len(b)-n-m)])
		p.rest[0], p.rest[1] = p.rest[0][min(m, len(p.rest[0])):], p.rest[1][max(0, m-len(p.rest[0])):]
		n, p.at = n+m, p.at+int64(m)
	}
	return n, nil
}

// page unpacks the next page.
func (p *pipe) page() error {
	if p.left <= 0 {
		return io.EOF
	}
	for {
		h, err := p.headers.next()
		if err != nil {
			return err
		}
		n, is, err := count(h)
		if err == nil && !is && h.Type != format.DictionaryPage {
			p.headers.skip(h)
			continue
		}
		if err == nil {
			err = p.open(h, int(n))
		}
		if err != nil {
			return fmt.Errorf("page at byte %d: %w", p.headers.start, err)
		}
		if is {
			p.left -= n
		}
		p.headers.skip(h)
		return nil
	}
}

// open unpacks and checks one page, and writes it again as the library shall see it.
func (p *pipe) open(h *format.PageHeader, n int) error {
	// The scan has seen the same header, unless the file has changed since.
	size := int64(h.CompressedPageSize) + int64(h.UncompressedPageSize)
	if most := p.f.memory / share; size > most || int64(n) > most || int64(n) > max(p.left, size) {
		return fmt.Errorf("expected a page of at most %d bytes and %d values", most, p.left)
	}
	p.body = grow(p.body, int(h.CompressedPageSize))
	if _, err := p.f.ReadAt(p.body, p.headers.at); err != nil {
		return err
	}
	if h.CRC != 0 && crc32.ChecksumIEEE(p.body) != uint32(h.CRC) {
		return errors.New("its checksum is wrong")
	}
	packed, levels := p.body, 0
	codec := p.codec
	if v2 := &h.DataPageHeaderV2; h.Type == format.DataPageV2 {
		rep, def := int(v2.V.RepetitionLevelsByteLength), int(v2.V.DefinitionLevelsByteLength)
		if rep < 0 || def < 0 || rep > len(p.body) || def > len(p.body)-rep || rep+def > int(h.UncompressedPageSize) {
			return errPage
		}
		levels = rep + def
		packed = p.body[levels:]
		if v2.V.IsCompressed.Valid && !v2.V.IsCompressed.V || len(packed) == 0 && int(h.UncompressedPageSize) == levels {
			codec = format.Uncompressed
		}
	}
	p.text = grow(p.text, int(h.UncompressedPageSize))
	text := p.text
	copy(text, p.body[:levels])
	if err := unpackers[codec](p.f, text[levels:], packed); err != nil {
		return fmt.Errorf("unpacking: %w", err)
	}
	if err := p.check(h, n, text, levels); err != nil {
		return err
	}
	h.CompressedPageSize, h.CRC = h.UncompressedPageSize, 0
	h.DataPageHeader.V.Statistics, h.DataPageHeaderV2.V.Statistics = format.Statistics{}, format.Statistics{}
	h.DataPageHeaderV2.V.IsCompressed = thrift.New(false)
	head, err := thrift.Marshal(&p.headers.protocol, h)
	if err != nil {
		return err
	}
	p.rest = [2][]byte{head, text}
	h.CompressedPageSize = int32(len(p.body))
	return nil
}

func grow(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n)
	}
	return b[:n]
}

// check checks the text of a page.
func (p *pipe) check(h *format.PageHeader, n int, text []byte, levels int) error {
	most := p.f.memory / share
	g := &page{values: n, data: text}
	data := text
	var err error
	switch h.Type {
	case format.DictionaryPage:
		g.nonNull, g.encoding = n, format.Plain
		if e := h.DictionaryPageHeader.V.Encoding; e != format.Plain && e != oldDictionary {
			return fmt.Errorf("expected a plain dictionary, got %s", e)
		}
		p.dictionary = n
	case format.DataPage:
		g.encoding = h.DataPageHeader.V.Encoding
		data, err = p.l.levelsV1(g, h.DataPageHeader.V.RepetitionLevelEncoding, h.DataPageHeader.V.DefinitionLevelEncoding)
	default:
		v2 := &h.DataPageHeaderV2.V
		g.encoding, g.levels, data = v2.Encoding, text[:levels], text[levels:]
		err = p.l.levelsV2(g, int(v2.RepetitionLevelsByteLength), int(v2.DefinitionLevelsByteLength))
		v2.NumNulls = int32(g.values - g.nonNull)
	}
	if err != nil {
		return err
	}
	if err := p.l.values(g, data, p.dictionary, most); err != nil {
		return err
	}
	was := p.grown
	p.grown = g.grown
	return p.rows.take(p.grown - was)
}
