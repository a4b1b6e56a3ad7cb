package source

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/toolguard/toolguard/internal/contain"
)

// packings are the supported compressions and the magic bytes at the start of their
// files.
var packings = []struct {
	name, magic string
	open        func(io.Reader) (io.ReadCloser, error)
}{
	{"gzip", "\x1f\x8b", func(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) }},
	{"zstd", "\x28\xb5\x2f\xfd", openZstd},
}

// The default limits for unpacking: a number of bytes, and a multiple of the compressed
// size. The multiple applies only to more than minUnpacked bytes.
const (
	MaxUnpacked = 4 << 30
	maxRatio    = 200
	minUnpacked = 1 << 20 // repetitive text compresses very well
)

// A SizeError reports that compressed input unpacks to more than a limit.
type SizeError struct {
	Limit string // such as "4 GiB"
}

// Error implements error.
func (e *SizeError) Error() string { return "unpacks to more than " + e.Limit }

// A limitedReader reads unpacked bytes and returns an error beyond a limit.
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

// limited returns a reader of the unpacked bytes of a source of size bytes. It reads at
// most most bytes, or up to the default limits if most is 0.
func limited(r io.Reader, size, most int64) *limitedReader {
	l := &limitedReader{r: r, left: most}
	if ratio := max(size*maxRatio, minUnpacked); most == 0 && ratio < MaxUnpacked {
		l.left, l.err = ratio, &SizeError{fmt.Sprintf("%d times its size", maxRatio)}
		return l
	}
	if most == 0 {
		l.left = MaxUnpacked
	}
	l.err = &SizeError{byteCount(l.left)}
	return l
}

// byteCount formats a number of bytes in the largest unit that divides it.
func byteCount(n int64) string {
	for i, unit := range []string{"GiB", "MiB", "KiB"} {
		if size := int64(1) << (30 - 10*i); n >= size && n%size == 0 {
			return fmt.Sprintf("%d %s", n/size, unit)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}

// Packed returns the name of the compression that the source was unpacked from, "" if it
// was not compressed.
func (s *Source) Packed() string { return s.packed }

// unpack returns the unpacked source, or src itself if it is not compressed. It closes
// src if it returns another source or an error. keep is spool or hold.
func unpack(src *Source, most int64, keep func(context.Context, string, io.Reader) (*Source, error)) (out *Source, err error) {
	defer contain.Catch(&err) // of a decoder
	var head [4]byte
	n, err := src.ReadAt(head[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return src, nil // the next read reports the error
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
		src.progress.twice()
		l := limited(r, src.size, most)
		out, err = keep(src.ctx, src.name, l)
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
		out.progress = newProgress(src.ctx, out.size, 0.5)
		return out, nil
	}
	return src, nil
}
