package source

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// maxWindow bounds how much of what it has unpacked a zstd decoder keeps.
const maxWindow = 32 << 20

// packings are the ways of compression that are read, by the bytes that a file
// begins with.
var packings = []struct {
	name, magic string
	open        func(io.Reader) (io.ReadCloser, error)
}{
	{"gzip", "\x1f\x8b", func(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) }},
	{"zstd", "\x28\xb5\x2f\xfd", func(r io.Reader) (io.ReadCloser, error) {
		d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	}},
}

// Packed returns how the file was compressed that the source was unpacked from,
// "" for one that was not.
func (s *Source) Packed() string { return s.packed }

// unpack returns a source of what src holds compressed, src itself where it is
// not compressed. It closes src when it returns another or an error.
func unpack(src *Source) (*Source, error) {
	var head [4]byte
	n, err := src.ReadAt(head[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return src, nil // whoever reads it is told
	}
	for _, p := range packings {
		if !bytes.HasPrefix(head[:n], []byte(p.magic)) {
			continue
		}
		defer src.Close()
		r, err := p.open(io.NewSectionReader(src, 0, src.size))
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", src.name, p.name, err)
		}
		defer r.Close()
		out, err := spool(src.ctx, src.name, r)
		if err != nil {
			return nil, fmt.Errorf("%w (while unpacking %s)", err, p.name)
		}
		out.packed = p.name
		return out, nil
	}
	return src, nil
}
