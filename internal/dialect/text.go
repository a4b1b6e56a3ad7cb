package dialect

import (
	"strings"

	"github.com/toolguard/toolguard/internal/source"
)

// A NewText is what a call or a result becomes that is to be kept as text.
type NewText struct {
	// Call is set for a call. Without it a result becomes text.
	Call bool
	// Label is a JSON string that names the call: it comes before the content.
	Label string
	// Content is what the call was made with, or was answered with; None for
	// nothing.
	Content source.Value
	// Element is the element of the call or the result, and Message the message
	// that holds it. Where the element is the message, both are the same.
	Element, Message source.Value
}

// A Text is how a call or a result is written as text. One of its members is set,
// or none where the dialect has no place for such a text.
type Text struct {
	// Blocks take the place of the element in its list. The first one is new.
	Blocks []NewBlock
	// Message is what a message or item consists of that takes the place of the
	// one that the element is, or is all of. Where its message holds more, the
	// element is taken out and the new message goes behind it.
	Message []Field
	// Said is a JSON string that is added to the text of the message. The element
	// is taken out.
	Said string
}

// None reports whether there is no text.
func (t *Text) None() bool { return t.Blocks == nil && t.Message == nil && t.Said == "" }

// A NewBlock is a block of a message: one that is written anew, of Fields, or one
// that is Kept as it stands in the element.
type NewBlock struct {
	Fields []Field
	Kept   source.Value
}

// raw returns the block as JSON.
func (b *NewBlock) raw() string {
	if b.Kept.Exists() {
		return string(b.Kept.Raw())
	}
	return object(b.Fields)
}

// list returns a list of blocks as JSON.
func list(blocks []NewBlock) string {
	raw := make([]string, len(blocks))
	for i := range blocks {
		raw[i] = blocks[i].raw()
	}
	return "[" + strings.Join(raw, ",") + "]"
}

// said returns label and content as one JSON string. A content that is no string
// is written as the JSON that it is.
func (t *NewText) said() string { return lines(t.Label, t.Content) }

// lines joins a JSON string and a value behind it into one JSON string.
func lines(label string, v source.Value) string {
	text := ""
	switch v.Kind() {
	case source.None, source.Null:
	case source.String:
		text = string(v.Raw())
	default:
		text = source.Quote(string(v.Raw()))
	}
	switch {
	case len(text) <= len(`""`):
		return label
	case len(label) <= len(`""`):
		return text
	}
	return label[:len(label)-1] + `\n` + text[1:]
}

// blocks returns label and values as blocks. The elements of a list that are blocks
// of a message too stay as they are, anything else becomes text, as text writes it.
func (t *NewText) blocks(values []source.Value, stays func(source.Value) bool, text func(raw string) []Field) []NewBlock {
	var out []NewBlock
	said := t.Label
	flush := func() {
		if len(said) > len(`""`) {
			out = append(out, NewBlock{Fields: text(said)})
		}
		said = `""`
	}
	for _, v := range values {
		if v.Kind() != source.Array || !anyStays(v, stays) {
			said = lines(said, v)
			continue
		}
		for _, e := range v.Elements() {
			if !stays(e) {
				said = lines(said, e)
				continue
			}
			flush()
			out = append(out, NewBlock{Kept: e})
		}
	}
	flush()
	return out
}

// anyStays reports whether an element of a list is a block that stays.
func anyStays(v source.Value, stays func(source.Value) bool) bool {
	for _, e := range v.Elements() {
		if stays(e) {
			return true
		}
	}
	return false
}

// instead returns the members of an object with others in the place of those that
// they are named as, and without those that are dropped. What is not there yet
// comes at the end.
func instead(of source.Value, set []Field, drop func(key, val source.Value) bool) []Field {
	var out []Field
	done := make([]bool, len(set))
	for k, val := range of.Members() {
		f := Field{k.Str(), string(val.Raw())}
		at := -1
		for i := range set {
			if set[i].Key == f.Key {
				at = i
			}
		}
		switch {
		case at >= 0 && done[at]:
			continue // a doubled key
		case at >= 0:
			f.Raw, done[at] = set[at].Raw, true
		case drop(k, val):
			continue
		}
		out = append(out, f)
	}
	for i := range set {
		if !done[i] {
			out = append(out, set[i])
		}
	}
	return out
}
