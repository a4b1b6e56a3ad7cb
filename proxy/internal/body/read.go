package body

import (
	"bytes"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// firstRead is how much memory a body gets before any of it has arrived, at most.
const firstRead = 1 << 20

// Read reads a body of at most limit bytes. length is the size that the request announces, or a
// negative number. If the body is longer, more is true and b is its beginning.
func Read(r io.Reader, length, limit int64) (b []byte, more bool, err error) {
	var buf bytes.Buffer
	if length > 0 {
		buf.Grow(int(min(length, limit, firstRead)) + bytes.MinRead)
	}
	n, err := buf.ReadFrom(io.LimitReader(r, limit+1))
	return buf.Bytes(), n > limit, err
}

// Errors of unpacking.
var (
	errEncoding = errors.New("an encoding that is not unpacked")
	errLarge    = errors.New("more than the limit")
)

// Unpack returns the text of a body with this Content-Encoding. A body without one is returned as
// it is.
func unpack(b []byte, encoding string, limit int64) ([]byte, error) {
	var r io.Reader
	switch encoding {
	case "", "identity":
		return b, nil
	case "gzip", "x-gzip":
		z, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			return nil, err
		}
		defer z.Close()
		r = z
	case "zstd":
		z, err := zstd.NewReader(bytes.NewReader(b), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(uint64(max(limit, 1<<20))))
		if err != nil {
			return nil, err
		}
		defer z.Close()
		r = z
	default:
		return nil, errEncoding
	}
	text, more, err := Read(r, int64(len(b)), limit)
	switch {
	case more, errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return nil, errLarge
	case err != nil:
		return nil, err
	}
	return text, nil
}

// packed reports whether a text is packed once more. The engine would unpack it beyond the limit.
func packed(b []byte) bool {
	return bytes.HasPrefix(b, []byte{0x1f, 0x8b}) || bytes.HasPrefix(b, []byte{0x28, 0xb5, 0x2f, 0xfd})
}
