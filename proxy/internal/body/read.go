package body

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Why a body is not read to its end.
var (
	ErrLarge    = errors.New("more than the limit")
	ErrMemory   = errors.New("too little memory is left for bodies")
	ErrHeavy    = errors.New("more memory than all bodies may have")
	errRatio    = errors.New("too much text for a packed body of this size")
	errEncoding = errors.New("an encoding that is not unpacked")
)

const (
	// firstRead is how much memory a body gets before any of it has arrived.
	firstRead = 4 << 10
	// ratio is how many times as large as a packed body its text may be. Histories become 5 to 20 times
	// as large.
	ratio = 100
	// anyRatio is how large a text may be whatever the ratio is.
	anyRatio = 1 << 20
	// window is how much of its text a zstd frame may refer to, whatever the ratio is. Encoders announce
	// it without regard to the text, and RFC 8878 asks to support this much.
	window = 8 << 20
)

// Read reads a body of at most limit bytes, into memory that it takes from a share as the body arrives.
// length is the size that the request announces, or a negative number. With ErrLarge, ErrMemory and
// ErrHeavy, b is the beginning of the body.
func Read(r io.Reader, length, limit int64, share *Share) (b []byte, err error) {
	for {
		if len(b) == cap(b) {
			size := min(max(firstRead, 2*int64(cap(b))), limit+1) // the last byte tells that there is more
			if length >= int64(cap(b)) {
				size = min(size, length+1) // the end needs room too
			}
			if err := share.Take(size); err != nil {
				return b, err
			}
			before := int64(cap(b))
			b = append(make([]byte, 0, size), b...)
			share.Keep(share.Held() - before)
		}
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		switch {
		case int64(len(b)) > limit:
			return b, ErrLarge
		case errors.Is(err, io.EOF):
			return b, nil
		case err != nil:
			return b, err
		}
	}
}

// Decoded returns the text of a short answer with this Content-Encoding, and false if it cannot be
// unpacked or is longer than limit.
func Decoded(b []byte, encoding string, limit int64) ([]byte, bool) {
	text, err := unpack(b, strings.ToLower(strings.TrimSpace(encoding)), limit, NewBudget(decodedMemory, func(int64) {}).Share())
	return text, err == nil
}

// decodedMemory is the most memory that unpacking an answer takes.
const decodedMemory = 16 << 20

// unpack returns the text of a body with this Content-Encoding, whose memory it takes from a share. A
// body without one is returned as it is.
func unpack(b []byte, encoding string, limit int64, share *Share) ([]byte, error) {
	most := min(limit, max(anyRatio, ratio*int64(len(b))))
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
		size, err := windowOf(b)
		switch {
		case err != nil:
			return nil, err
		case size > uint64(max(window, most)):
			return nil, ErrLarge
		}
		// The decoder gets the memory for the window before it reads the first block.
		if err := share.Take(int64(size)); err != nil {
			return nil, err
		}
		defer func() { share.Keep(share.Held() - int64(size)) }()
		z, err := zstd.NewReader(bytes.NewReader(b), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(size), zstd.WithDecoderMaxWindow(size))
		if err != nil {
			return nil, err
		}
		defer z.Close()
		r = z
	default:
		return nil, errEncoding
	}
	text, err := Read(r, -1, most, share)
	switch {
	case errors.Is(err, ErrLarge) && most < limit:
		return nil, errRatio
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return nil, ErrLarge
	case err != nil:
		return nil, err
	}
	return text, nil
}

// windowOf returns the size of the window that the first frame of a zstd text needs. Those behind it
// may need no more.
func windowOf(b []byte) (uint64, error) {
	var h zstd.Header
	for {
		if err := h.Decode(b); err != nil {
			return 0, err
		}
		size := uint64(h.HeaderSize) + uint64(h.SkippableSize)
		switch {
		case h.Skippable && size < uint64(len(b)):
			b = b[size:]
		case h.SingleSegment:
			return max(h.FrameContentSize, zstd.MinWindowSize), nil
		default:
			return max(h.WindowSize, zstd.MinWindowSize), nil
		}
	}
}

// packed reports whether a text is packed once more. The engine would unpack it beyond the limit.
func packed(b []byte) bool {
	return bytes.HasPrefix(b, []byte{0x1f, 0x8b}) || bytes.HasPrefix(b, []byte{0x28, 0xb5, 0x2f, 0xfd})
}
