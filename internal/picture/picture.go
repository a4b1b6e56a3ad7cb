// Package picture knows the headers of images: their types and their sizes in pixels. It
// reads the text in which JSON holds an image, and no more of it than the header. It does not
// know where a transcript holds images, or which are too large.
package picture

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// A Header is what the header of an image says.
type Header struct {
	Type          string // image/png, image/jpeg, image/gif or image/webp
	Width, Height int    // in pixels
}

// mostRead is the number of characters after which the search for the size of an image ends. A
// camera can write a megabyte of thumbnails and profiles before it.
const mostRead = 3 << 20

// mostSide is the largest side that is believed.
const mostSide = 1<<31 - 1

// Read returns the header of an image, and false if there is none, if it is cut off, or if the
// image is of an unknown type. next returns the next piece of the image as it is written inside
// a JSON string, in base64 or as a data URL, and nothing at the end.
func Read(next func() []byte) (Header, bool) {
	r := reader{next: next}
	r.skipURL()
	h, ok := r.header()
	if r.short || h.Width <= 0 || h.Height <= 0 || h.Width > mostSide || h.Height > mostSide {
		return Header{}, false
	}
	return h, ok
}

// Start returns the header of the image with the given start, as it is written inside a JSON
// string.
func Start(text []byte) (Header, bool) {
	return Read(func() []byte {
		piece := text
		text = nil
		return piece
	})
}

// Prefix returns the length of what comes before the data in a data URL with the given start, and
// 0 if there is no such URL.
func Prefix(start []byte) int {
	if !bytes.HasPrefix(start, []byte("data:")) {
		return 0
	}
	return bytes.IndexByte(start, ',') + 1
}

// A reader decodes the bytes of an image one by one.
type reader struct {
	next  func() []byte
	in    []byte // the rest of the last piece
	bits  uint32 // of base64 characters that are not yet a byte
	n     uint   // the number of bits
	read  int    // the number of characters
	short bool   // the image has ended
}

// header reads the header of an image of any type.
func (r *reader) header() (Header, bool) {
	switch first := r.bytes(4); string(first) {
	case "\x89PNG":
		return r.png()
	case "GIF8":
		b := r.bytes(6)
		return Header{"image/gif", int(binary.LittleEndian.Uint16(b[2:])), int(binary.LittleEndian.Uint16(b[4:]))},
			string(b[:2]) == "7a" || string(b[:2]) == "9a"
	case "RIFF":
		return r.webp()
	default:
		if bytes.HasPrefix(first, []byte("\xff\xd8\xff")) {
			return r.jpeg(first[3])
		}
		return Header{}, false
	}
}

func (r *reader) png() (Header, bool) {
	b := r.bytes(20)
	return Header{"image/png", side(b[12:]), side(b[16:])}, string(b[:12]) == "\r\n\x1a\n\x00\x00\x00\rIHDR"
}

// side returns the four bytes of a side of a PNG image as a number.
func side(b []byte) int { return int(min(binary.BigEndian.Uint32(b), 1<<31)) }

// webp reads the first chunk of a WebP image, which has its size in each of the three formats.
func (r *reader) webp() (Header, bool) {
	chunk := r.bytes(16)
	if string(chunk[4:8]) != "WEBP" {
		return Header{}, false
	}
	h := Header{Type: "image/webp"}
	switch string(chunk[8:12]) {
	case "VP8 ":
		b := r.bytes(10)
		h.Width, h.Height = int(binary.LittleEndian.Uint16(b[6:])&0x3fff), int(binary.LittleEndian.Uint16(b[8:])&0x3fff)
		return h, string(b[3:6]) == "\x9d\x01\x2a"
	case "VP8L":
		b := r.bytes(5)
		bits := binary.LittleEndian.Uint32(b[1:])
		h.Width, h.Height = int(bits&0x3fff)+1, int(bits>>14&0x3fff)+1
		return h, b[0] == 0x2f
	case "VP8X":
		b := r.bytes(10)
		h.Width, h.Height = (int(b[4])|int(b[5])<<8|int(b[6])<<16)+1, (int(b[7])|int(b[8])<<8|int(b[9])<<16)+1
		return h, true
	}
	return h, false
}

// jpeg reads the segments of a JPEG image up to its frame. marker is the kind of the first.
func (r *reader) jpeg(marker byte) (Header, bool) {
	for !r.short {
		switch {
		case marker == 0xff: // filler
			marker = r.byte()
			continue
		case marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc:
			b := r.bytes(7)
			return Header{"image/jpeg", int(binary.BigEndian.Uint16(b[5:])), int(binary.BigEndian.Uint16(b[3:]))}, true
		case marker == 0x01 || marker >= 0xd0 && marker <= 0xd7: // has no length
		case marker == 0xd8 || marker == 0xd9 || marker == 0xda || marker < 0xc0:
			return Header{}, false // the image begins without a frame
		default:
			n := int(binary.BigEndian.Uint16(r.bytes(2)))
			if n < 2 {
				return Header{}, false
			}
			for range n - 2 {
				if r.byte(); r.short {
					return Header{}, false
				}
			}
		}
		if r.byte() != 0xff {
			return Header{}, false
		}
		marker = r.byte()
	}
	return Header{}, false
}

// bytes returns the next bytes, which are zero behind the end.
func (r *reader) bytes(n int) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = r.byte()
	}
	return out
}

// byte returns the next byte, and zero behind the end.
func (r *reader) byte() byte {
	for !r.short && r.n < 8 {
		c, ok := r.char()
		v := values[c]
		switch {
		case !ok || v == outside:
			r.short = true // padding, or no base64 at all
		case v != blank:
			r.bits, r.n = r.bits<<6|uint32(v), r.n+6
		}
	}
	if r.short {
		return 0
	}
	r.n -= 8
	return byte(r.bits >> r.n)
}

// char returns the next character of the text, with its escapes decoded. All characters of
// base64 are in ASCII, and some programs escape the slash and the plus sign.
func (r *reader) char() (byte, bool) {
	c, ok := r.raw()
	if !ok || c != '\\' {
		return c, ok
	}
	switch c, ok = r.raw(); c {
	case 'n', 'r', 't':
		return ' ', ok
	case 'u':
		code := 0
		for range 4 {
			digit, _ := r.raw()
			at := bytes.IndexByte([]byte("0123456789abcdef"), digit|0x20)
			if digit >= '0' && digit <= '9' {
				at = int(digit - '0')
			}
			if at < 0 {
				return 0, false
			}
			code = code<<4 | at
		}
		return byte(code), code < 0x80
	}
	return c, ok
}

// raw returns the next character of the text.
func (r *reader) raw() (byte, bool) {
	if len(r.in) == 0 {
		if r.in = r.next(); len(r.in) == 0 {
			return 0, false
		}
	}
	if r.read++; r.read > mostRead {
		return 0, false
	}
	c := r.in[0]
	r.in = r.in[1:]
	return c, true
}

// longestURL is the number of characters before the data in a data URL.
const longestURL = 256

// skipURL skips what is before the data in a data URL. It reads no piece in part, so that text
// without it is still there.
func (r *reader) skipURL() {
	const scheme = "data:"
	for len(r.in) < len(scheme) {
		more := r.next()
		if len(more) == 0 {
			return
		}
		r.in = append(slices.Clip(r.in), more...)
	}
	if string(r.in[:len(scheme)]) != scheme {
		return
	}
	for range longestURL {
		if c, ok := r.char(); !ok || c == ',' {
			return
		}
	}
}

const (
	outside = 0xff // no character of base64
	blank   = 0xfe // white space between two lines
)

// values are the values of the characters of base64, in both alphabets.
var values = func() (v [256]byte) {
	for i := range v {
		v[i] = outside
	}
	for i, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") {
		v[c] = byte(i)
	}
	v['-'], v['_'] = 62, 63
	for _, c := range []byte(" \n\r\t") {
		v[c] = blank
	}
	return v
}()
