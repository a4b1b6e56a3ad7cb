package source

import (
	"bytes"
	"sort"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// unescapeStep is how much of a decoded text lies between the places that are
// kept of it.
const unescapeStep = 4 << 10

// Unescape decodes the inside of a JSON string, and returns a function that
// maps a decoded offset to the offset in the escaped text.
func Unescape(in []byte) (text []byte, offset func(int) int) {
	if bytes.IndexByte(in, '\\') >= 0 {
		text = AppendUnescaped(make([]byte, 0, len(in)), in)
	} else {
		text = in
	}
	return text, EscapedOffset(in)
}

// EscapedOffset returns a function that maps an offset in the decoded inside of a
// JSON string to the offset in the escaped text. The text is walked once for all
// offsets, and then only from the last place that is kept.
func EscapedOffset(in []byte) func(decoded int) int {
	if bytes.IndexByte(in, '\\') < 0 {
		return func(i int) int { return i }
	}
	type place struct{ escaped, decoded int }
	places := make([]place, 1) // each about a step behind the one before
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

// AppendUnescaped appends what the inside of a JSON string says.
func AppendUnescaped(out, in []byte) []byte {
	for {
		i := bytes.IndexByte(in, '\\')
		if i < 0 {
			return append(out, in...)
		}
		r, size := escaped(in[i:])
		out = utf8.AppendRune(append(out, in[:i]...), r)
		in = in[i+size:]
	}
}

// escaped returns the character that an escape stands for, and how long the
// escape is. A half of a surrogate pair that is alone stands for none.
func escaped(in []byte) (r rune, size int) {
	if len(in) < 2 {
		return utf8.RuneError, len(in)
	}
	switch in[1] {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
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
	return rune(in[1]), 2
}

// hexRune returns what the four digits of an escape say.
func hexRune(in []byte) rune {
	if len(in) < 6 {
		return utf8.RuneError
	}
	n, err := strconv.ParseUint(string(in[2:6]), 16, 16)
	if err != nil {
		return utf8.RuneError
	}
	return rune(n)
}
