package source

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// Quote encodes a text as a JSON string, without the escapes that only HTML needs.
func Quote(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }) < 0 {
		return `"` + s + `"`
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// AsText returns the content of a result as one JSON string. A string stays as it is, and
// null or no value becomes "". Text parts become their texts joined with line feeds, and
// any other value becomes its JSON.
func AsText(v Value) string {
	switch v.Kind() {
	case String:
		return string(v.Raw())
	case Null:
		return `""`
	case Array:
		if s, ok := joinParts(v); ok {
			return s
		}
	}
	return Quote(string(v.Raw()))
}

// joinParts joins parts of text. It returns false if there are none or if there are other
// parts. The escapes in the strings stay as they are.
func joinParts(v Value) (string, bool) {
	var b strings.Builder
	n := 0
	for i, part := range v.Elements() {
		n++
		text := part.Get("text")
		if !part.Get("type").Is("text") || text.Kind() != String {
			return "", false
		}
		members := 0
		for range part.Members() {
			members++
		}
		if members != 2 {
			return "", false
		}
		if i > 0 {
			b.WriteString(`\n`)
		}
		raw := text.Raw()
		b.Write(raw[1 : len(raw)-1])
	}
	return `"` + b.String() + `"`, n > 0
}

// WholeCharacters returns text without a character at its end that is cut off.
func WholeCharacters(text []byte) []byte {
	for n := 1; n <= min(utf8.UTFMax-1, len(text)); n++ {
		if i := len(text) - n; utf8.RuneStart(text[i]) {
			if !utf8.FullRune(text[i:]) {
				return text[:i]
			}
			break
		}
	}
	return text
}
