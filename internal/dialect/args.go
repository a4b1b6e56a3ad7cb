package dialect

import (
	"bytes"

	"github.com/tidwall/gjson"

	"github.com/toolguard/toolguard/internal/transcript"
)

// setArgs fills in the form of a call's arguments.
func setArgs(b *transcript.Builder, call *transcript.Call, v transcript.Value, want transcript.ArgsConvention) {
	call.Want = want
	if !v.Exists() {
		call.Form = transcript.ArgsMissing
		return
	}
	call.Args = v.Span()
	switch v.Kind() {
	case transcript.Object:
		call.Form = transcript.ArgsObject
	case transcript.Array:
		call.Form = transcript.ArgsArray
	case transcript.Null:
		call.Form = transcript.ArgsNull
	case transcript.String:
		call.Form, call.BadAt = embedded(b, v)
	default:
		call.Form = transcript.ArgsScalar
	}
}

// embedded reads the JSON inside a string value, and returns the byte at which
// it stops being JSON.
func embedded(b *transcript.Builder, v transcript.Value) (transcript.ArgsForm, transcript.Span) {
	inner := v.Raw()[1 : len(v.Raw())-1]
	text, offset := unescape(inner)
	if len(trimSpace(text)) == 0 {
		return transcript.ArgsStringEmpty, transcript.Span{}
	}
	if at, ok := b.Valid(text); !ok {
		start := v.Span().Start + 1 + int64(offset(at))
		end := min(start+1, v.Span().End-1)
		return transcript.ArgsStringBad, transcript.Span{Start: start, End: max(start, end)}
	}
	if trimSpace(text)[0] == '{' {
		return transcript.ArgsString, transcript.Span{}
	}
	return transcript.ArgsStringOther, transcript.Span{}
}

func trimSpace(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\n' || b[0] == '\r' || b[0] == '\t') {
		b = b[1:]
	}
	return b
}

// unescape decodes the inside of a JSON string, and returns a function that
// maps a decoded offset to the offset in the escaped text.
func unescape(in []byte) (text []byte, offset func(int) int) {
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
