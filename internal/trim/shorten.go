package trim

import (
	"bytes"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/source"
)

// Shorten returns edits that shorten the strings of a result to at most most bytes, as far as
// texts of SmallestResult bytes allow. Media, ids and the like stay.
func Shorten(payload source.Value, most int64) []edit.Edit {
	var texts []source.Value
	var all int64
	collect(payload, &texts)
	for _, t := range texts {
		all += inside(t)
	}
	if all <= most {
		return nil
	}
	limit := max(share(texts, most), SmallestResult)
	var out []edit.Edit
	for _, t := range texts {
		if inside(t) > limit {
			out = append(out, shorten(t, limit))
		}
	}
	return out
}

// inside returns the length of a string without its quotes.
func inside(v source.Value) int64 { return v.Span().Len() - 2 }

// share returns the largest length to which all texts can be cut so that their sum is at most
// most.
func share(texts []source.Value, most int64) int64 {
	sizes := make([]int64, len(texts))
	for i, t := range texts {
		sizes[i] = inside(t)
	}
	slices.Sort(sizes)
	for i, size := range sizes {
		if each := most / int64(len(sizes)-i); size > each {
			return each
		}
		most -= size
	}
	return most
}

// kept are the fields of a result that are not text: they say what the value beside them is, or
// hold what only works whole.
var kept = [...]string{
	"type", "id", "role", "name", "status", "url", "uri", "title", "data", "bytes", "image_url", "file_data", "file_id", "signature",
	"encrypted_content", "media_type", "mimeType", "mime_type", "tool_use_id", "tool_call_id", "toolUseId", "call_id", "toolCallId",
}

// collect appends the texts in a value. The nesting of a value that was read is limited.
func collect(v source.Value, out *[]source.Value) {
	switch v.Kind() {
	case source.String:
		if !isMedia(v.Raw()) {
			*out = append(*out, v)
		}
	case source.Array:
		for _, e := range v.Elements() {
			collect(e, out)
		}
	case source.Object:
		for k, val := range v.Members() {
			if val.Kind() != source.String || !slices.ContainsFunc(kept[:], k.Is) {
				collect(val, out)
			}
		}
	}
}

// isMedia reports whether a string is a data URL.
func isMedia(raw []byte) bool {
	return bytes.HasPrefix(raw, []byte(`"data:`)) && bytes.Contains(raw[:min(len(raw), 200)], []byte(";base64,"))
}

// shorten returns the edit that shortens a string to at most limit bytes without its quotes.
func shorten(v source.Value, limit int64) edit.Edit {
	raw := v.Raw()
	text := raw[1 : len(raw)-1]
	size := int64(len(text))
	room := limit - int64(len(label(size, size))) // no label is longer
	head := int64(breakBefore(text, room-room/4))
	tail := breakAfter(text, size-room/4)
	cut := source.Span{Start: v.Span().Start + 1 + head, End: v.Span().Start + 1 + tail}
	return edit.Edit{Span: cut, Text: []byte(label(tail-head, size))}
}

// ShortenText returns a text of a result with at most most bytes, but never less than SmallestResult.
func ShortenText(text string, most int) string {
	limit, size := max(most, SmallestResult), int64(len(text))
	if size <= int64(limit) {
		return text
	}
	room := int64(limit - len(label(size, size)))
	head := int64(breakBefore([]byte(text), room-room/4))
	tail := breakAfter([]byte(text), size-room/4)
	return text[:head] + label(tail-head, size) + text[tail:]
}

// label returns what is put for the bytes that are cut from a text.
func label(cut, size int64) string {
	return fmt.Sprintf("[toolguard] %s of %s bytes of this result were cut.", Grouped(cut), Grouped(size))
}

// breakBefore returns the largest offset up to at that is between two characters.
func breakBefore(text []byte, at int64) int {
	i := max(0, int(at)-longestUnit)
	i = start(text, i)
	for i < len(text) {
		next := i + unit(text[i:])
		if int64(next) > at {
			break
		}
		i = next
	}
	return i
}

// breakAfter returns the smallest offset from at that is between two characters.
func breakAfter(text []byte, at int64) int64 {
	i := start(text, max(0, int(at)-longestUnit))
	for int64(i) < at {
		i += unit(text[i:])
	}
	return int64(i)
}

// longestUnit is the length of the longest character: an escaped surrogate pair.
const longestUnit = 12

// start returns an offset up to i that is between two characters of a string.
func start(text []byte, i int) int {
	// A character that is no part of an escape sequence ends in front of a plain one. Only a
	// long run of backslashes hides that, so the run is counted.
	for i > 0 && i < len(text) {
		if i >= 6 && isLow(text[i:]) || !utf8.RuneStart(text[i]) {
			i--
			continue
		}
		if inEscape(text, i) {
			i--
			continue
		}
		break
	}
	return i
}

// inEscape reports whether an offset is inside an escape sequence.
func inEscape(text []byte, i int) bool {
	for back := 1; back <= 5 && back <= i; back++ {
		if text[i-back] != '\\' {
			continue
		}
		slashes := 0
		for i-back-slashes >= 0 && text[i-back-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return false
		}
		return back == 1 || text[i-back+1] == 'u'
	}
	return false
}

// isLow reports whether text begins with the second half of an escaped surrogate pair.
func isLow(text []byte) bool {
	return len(text) >= 6 && text[0] == '\\' && text[1] == 'u' && (text[2]|0x20) == 'd' && (text[3]|0x20) >= 'c' && (text[3]|0x20) <= 'f'
}

// isHigh reports whether text begins with the first half of one.
func isHigh(text []byte) bool {
	return len(text) >= 6 && text[0] == '\\' && text[1] == 'u' && (text[2]|0x20) == 'd' &&
		(text[3] == '8' || text[3] == '9' || (text[3]|0x20) == 'a' || (text[3]|0x20) == 'b')
}

// unit returns the length of the first character of the text of a string.
func unit(text []byte) int {
	switch {
	case isHigh(text) && isLow(text[6:]):
		return 12
	case text[0] == '\\' && len(text) > 1 && text[1] == 'u':
		return min(6, len(text))
	case text[0] == '\\':
		return min(2, len(text))
	}
	_, n := utf8.DecodeRune(text)
	return n
}
