package session

import (
	"bytes"
	"regexp"
	"strings"
	"sync"

	"github.com/tidwall/gjson"
)

// Said returns what a text of a transcript says, which is given as it is written in JSON: the text of
// a string, and anything else as it is. Only the beginning may be there.
func Said(raw []byte, cut bool) string {
	if len(raw) == 0 || raw[0] != '"' {
		return string(raw)
	}
	if cut {
		raw = append(bytes.Clone(escaped(raw)), '"')
	}
	return gjson.ParseBytes(raw).String()
}

// lastEscape is an escape at the end of a text that is or may be cut off: a half of a surrogate pair
// may be one, too.
var lastEscape = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`((?:^|[^\\])(?:\\\\)*)\\(?:u[0-9a-fA-F]{0,4}(?:\\(?:u[0-9a-fA-F]{0,3})?)?)?$`)
})

// escaped returns the beginning of a text in JSON without an escape that is cut off.
func escaped(raw []byte) []byte {
	if m := lastEscape().FindSubmatchIndex(raw); m != nil {
		return raw[:m[3]]
	}
	return raw
}

// InLine returns a text in one line: what separates words becomes one space.
func InLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// Gist returns in one line what a text or a list of texts says: of a list, its first text.
func Gist(raw []byte, cut bool) string {
	if len(raw) > 0 && raw[0] == '[' {
		whole := string(raw)
		if cut { // the text is closed, so that it is read
			whole = string(escaped(raw)) + `"}]`
		}
		if text := gjson.Get(whole, "0.text"); text.Type == gjson.String {
			return InLine(text.Str)
		}
	}
	return InLine(Said(raw, cut))
}

// Arguments returns the arguments of a call in one line: the value if there is only one, else each
// with its key.
func Arguments(raw []byte, cut bool) string {
	text := Said(raw, cut)
	if !strings.HasPrefix(strings.TrimSpace(text), "{") {
		return InLine(text)
	}
	whole := text
	switch {
	case cut: // the last text is closed, so that it is read
		whole = string(escaped([]byte(text))) + `"}`
	case !gjson.Valid(text):
		return InLine(text)
	}
	var keys, values []string
	gjson.Parse(whole).ForEach(func(key, value gjson.Result) bool {
		keys, values = append(keys, key.Str), append(values, InLine(value.String()))
		return true
	})
	switch {
	case len(values) == 0 && cut:
		return InLine(text)
	case len(values) == 1:
		return values[0]
	}
	for i, v := range values {
		if strings.ContainsRune(v, ' ') {
			v = `"` + v + `"`
		}
		values[i] = keys[i] + "=" + v
	}
	return strings.Join(values, " ")
}
