package dialect

import (
	"unicode/utf8"

	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// setArgs sets the fields of a call that describe its arguments.
func setArgs(b *transcript.Builder, call *transcript.Call, v source.Value, want transcript.ArgsConvention) {
	call.Want = want
	if !v.Exists() {
		call.Form = transcript.ArgsMissing
		return
	}
	call.Args = v.Span()
	switch v.Kind() {
	case source.Object:
		call.Form = transcript.ArgsObject
	case source.Array:
		call.Form = transcript.ArgsArray
	case source.Null:
		call.Form = transcript.ArgsNull
	case source.String:
		_, form, bad := embedded(b, v)
		call.Form = form
		call.SetBad(bad)
	default:
		call.Form = transcript.ArgsScalar
	}
}

// setText sets the fields of a call whose arguments are free text.
func setText(call *transcript.Call, v source.Value) {
	if call.Form = transcript.ArgsText; v.Exists() {
		call.Args = v.Span()
	}
}

// embedded reads JSON inside a string. It returns the decoded text, which is valid
// until the builder decodes another, and the span of the character where the JSON breaks
// off, as it is written in the string: it may be an escape.
func embedded(b *transcript.Builder, v source.Value) (text []byte, form transcript.ArgsForm, bad source.Span) {
	inner := v.Raw()[1 : len(v.Raw())-1]
	text = b.Decoded(inner)
	trimmed := trimSpace(text)
	if len(trimmed) == 0 {
		return text, transcript.ArgsStringEmpty, source.Span{}
	}
	if at, ok := b.Valid(text); !ok {
		_, n := utf8.DecodeRune(text[at:])
		offset, first := source.EscapedOffset(inner), v.Span().Start+1
		return text, transcript.ArgsStringBad, source.Span{Start: first + int64(offset(at)), End: first + int64(offset(at+n))}
	}
	if trimmed[0] == '{' {
		return text, transcript.ArgsString, source.Span{}
	}
	return text, transcript.ArgsStringOther, source.Span{}
}

func trimSpace(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\n' || b[0] == '\r' || b[0] == '\t') {
		b = b[1:]
	}
	return b
}
