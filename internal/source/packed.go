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

// What a source that is compressed may unpack to, unless somebody says otherwise:
// so many bytes, and so many times its own size once it is more than a little.
const (
	MaxUnpacked = 4 << 30
	maxRatio    = 200
	minUnpacked = 1 << 20 // texts that repeat themselves are packed very well
)

// A limitedReader reads what is unpacked, and ends with an error behind a limit.
type limitedReader struct {
	r    io.Reader
	left int64
	err  error
}

// Read implements io.Reader.
func (l *limitedReader) Read(p []byte) (int, error) {
	if l.left < 0 {
		return 0, l.err
	}
	n, err := l.r.Read(p[:min(int64(len(p)), l.left+1)])
	if l.left -= int64(n); l.left < 0 {
		return n, l.err
	}
	return n, err
}

// limited returns a reader of what a source of size bytes unpacks to: most bytes,
// or the usual limits if most is 0.
func limited(r io.Reader, size, most int64) *limitedReader {
	l := &limitedReader{r: r, left: most}
	if ratio := max(size*maxRatio, minUnpacked); most == 0 && ratio < MaxUnpacked {
		l.left, l.err = ratio, fmt.Errorf("unpacks to more than %d times its size; --max-size sets a limit of your own", maxRatio)
		return l
	}
	if most == 0 {
		l.left = MaxUnpacked
	}
	l.err = fmt.Errorf("unpacks to more than %s; --max-size sets another limit", byteCount(l.left))
	return l
}

// byteCount writes a number of bytes in the largest unit of which it is a whole
// number.
func byteCount(n int64) string {
	for i, unit := range []string{"GiB", "MiB", "KiB"} {
		if size := int64(1) << (30 - 10*i); n >= size && n%size == 0 {
			return fmt.Sprintf("%d %s", n/size, unit)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}

// Packed returns how the file was compressed that the source was unpacked from,
// "" for one that was not.
func (s *Source) Packed() string { return s.packed }

// unpack returns a source of what src holds compressed, src itself where it is
// not compressed. It closes src when it returns another or an error.
func unpack(src *Source, most int64) (*Source, error) {
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
		l := limited(r, src.size, most)
		out, err := spool(src.ctx, src.name, l)
		if l.left < 0 {
			if err == nil {
				out.Close()
			}
			return nil, fmt.Errorf("%s: %w", src.name, l.err)
		}
		if err != nil {
			return nil, fmt.Errorf("%w (while unpacking %s)", err, p.name)
		}
		out.packed = p.name
		return out, nil
	}
	return src, nil
}
