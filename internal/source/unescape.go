package source

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
	"sort"
	"unicode/utf16"
	"unicode/utf8"
)

// unescapeStep is the number of decoded bytes between two recorded places of a text.
const unescapeStep = 4 << 10

// Unescape decodes the inside of a JSON string. The function it returns maps an offset in
// the decoded text to the offset in the escaped text.
func Unescape(in []byte) (text []byte, offset func(int) int) {
	if text = in; bytes.IndexByte(in, '\\') >= 0 {
		text = AppendUnescaped(nil, in)
	}
	return text, EscapedOffset(in)
}

// EscapedOffset returns a function that maps an offset in the decoded text of a JSON
// string to the offset in the escaped text in. It walks the text once for all offsets,
// and otherwise starts at the nearest recorded place.
func EscapedOffset(in []byte) func(decoded int) int {
	if bytes.IndexByte(in, '\\') < 0 {
		return func(i int) int { return i }
	}
	type place struct{ escaped, decoded int }
	places := make([]place, 1) // each about unescapeStep after the one before
	return func(want int) int {
		at := places[sort.Search(len(places), func(k int) bool { return places[k].decoded > max(0, want) })-1]
		i, n := at.escaped, at.decoded
		for i < len(in) && n < want {
			if last := places[len(places)-1]; n-last.decoded >= unescapeStep {
				places = append(places, place{i, n})
			}
			if in[i] != '\\' {
				i++
				n++
				continue
			}
			r, size := escaped(in[i:])
			i += size
			n += utf8.RuneLen(r)
		}
		return min(i, len(in))
	}
}

// AppendUnescaped appends the decoded inside of a JSON string.
func AppendUnescaped(out, in []byte) []byte {
	// Only an escape that is cut off at the end is shorter than the character it decodes
	// to.
	out = slices.Grow(out, len(in)+8)
	to := len(out)
	out = out[:to+len(in)+8]
	for i := 0; ; {
		// Escapes can be close together. Copy eight bytes before it is known how many are
		// plain text, because the next copy overwrites the rest.
		slash := uint64(0)
		for i+8 <= len(in) {
			w := binary.LittleEndian.Uint64(in[i:])
			binary.LittleEndian.PutUint64(out[to:], w)
			w ^= lows * '\\'
			if slash = (w - lows) &^ w & highs; slash != 0 {
				n := bits.TrailingZeros64(slash) >> 3
				i, to = i+n, to+n
				break
			}
			i, to = i+8, to+8
		}
		if slash == 0 {
			for i < len(in) && in[i] != '\\' {
				out[to] = in[i]
				i, to = i+1, to+1
			}
			if i == len(in) {
				return out[:to]
			}
		}
		if i+1 < len(in) && plainEscapes[in[i+1]] != 0 {
			out[to] = plainEscapes[in[i+1]]
			i, to = i+2, to+1
			continue
		}
		r, size := escaped(in[i:])
		i, to = i+size, len(utf8.AppendRune(out[:to], r))
	}
}

// plainEscapes maps the letter of a one-letter escape to its character.
var plainEscapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escaped returns the character of an escape and the length of the escape. The character
// of a lone surrogate is utf8.RuneError.
func escaped(in []byte) (r rune, size int) {
	if len(in) < 2 {
		return utf8.RuneError, len(in)
	}
	if in[1] != 'u' {
		return rune(cmp.Or(plainEscapes[in[1]], in[1])), 2
	}
	r = hexRune(in)
	if !utf16.IsSurrogate(r) {
		return r, min(6, len(in))
	}
	if len(in) >= 12 && in[6] == '\\' && in[7] == 'u' {
		if pair := utf16.DecodeRune(r, hexRune(in[6:])); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return utf8.RuneError, min(6, len(in))
}

// hexRune returns the value of the four digits of a \u escape.
func hexRune(in []byte) rune {
	if len(in) < 6 {
		return utf8.RuneError
	}
	r := rune(0)
	for _, c := range in[2:6] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return utf8.RuneError
		}
		r = r<<4 | rune(c)
	}
	return r
}
