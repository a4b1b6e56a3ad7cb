package transcript

import (
	"bytes"

	"github.com/tidwall/gjson"
)

// Unescape decodes the inside of a JSON string, and returns a function that
// maps a decoded offset to the offset in the escaped text.
func Unescape(in []byte) (text []byte, offset func(int) int) {
	if bytes.IndexByte(in, '\\') < 0 {
		return in, func(i int) int { return i }
	}
	quoted := make([]byte, 0, len(in)+2)
	quoted = append(append(append(quoted, '"'), in...), '"')
	text = []byte(gjson.ParseBytes(quoted).Str)
	return text, func(want int) int {
		i, n := 0, 0
		for i < len(in) && n < want {
			if in[i] != '\\' {
				i++
				n++
				continue
			}
			if i+1 < len(in) && in[i+1] == 'u' {
				step := min(6, len(in)-i)
				if i+12 <= len(in) && surrogate(in[i+2:i+6], 'd', '8', 'b') && in[i+6] == '\\' && in[i+7] == 'u' && surrogate(in[i+8:i+12], 'd', 'c', 'f') {
					step = 12
				}
				quoted = append(append(append(quoted[:0], '"'), in[i:i+step]...), '"')
				n += len(gjson.ParseBytes(quoted).Str)
				i += step
				continue
			}
			i += 2
			n++
		}
		return min(i, len(in))
	}
}

// surrogate reports whether four hex digits begin with d and a digit in
// [lo, hi]: half of a surrogate pair.
func surrogate(hex []byte, d, lo, hi byte) bool {
	second := hex[1] | 0x20
	if hex[1] < 'A' {
		second = hex[1]
	}
	return hex[0]|0x20 == d && second >= lo && second <= hi
}
