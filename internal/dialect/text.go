package dialect

import (
	"slices"
	"strings"

	"github.com/toolguard/toolguard/internal/source"
)

// A NewText describes a call or a result that is to become text.
type NewText struct {
	// Call is set for a call; otherwise the text replaces a result.
	Call bool
	// Model is set if the message is the model's. Images and files in it become text, too: "'image'
	// blocks are not permitted within assistant turns" (gh:SEMOSS/Semoss#2323).
	Model bool
	// Label is a JSON string that names the call. It comes before the content.
	Label string
	// Content is the arguments of the call or the content of the result, or None.
	Content source.Value
	// Element is the element of the call or the result, and Message is the message
	// that holds it. Both are the same if the element is the message.
	Element, Message source.Value
	// Said are the values in the element that Label contains, such as the id.
	Said []source.Span
	// Without are the keys of fields that the text does not keep, such as the type of the
	// element.
	Without []string
	// rest is a JSON string with the fields that neither the label nor the content
	// contains, "" if there are none. It comes after the content.
	rest string
	// whole says that the message of the text keeps the other fields of the element.
	whole bool
}

// keep adds the fields of an object to the text that would be lost: those for which lost is
// true and that contain neither what the label says nor one of values. An object that
// contains those has such fields, too.
func (t *NewText) keep(of source.Value, lost func(key source.Value) bool, values ...source.Value) {
	said := slices.Clone(t.Said)
	for _, v := range values {
		if v.Exists() {
			said = append(said, v.Span())
		}
	}
	var fields []string
	var collect func(of source.Value, lost func(key source.Value) bool)
	collect = func(of source.Value, lost func(key source.Value) bool) {
		for k, v := range of.Members() {
			switch inside := func(s source.Span) bool { return v.Span().Contains(s) }; {
			case v.Kind() == source.Null, contains(t.Without, k), !lost(k), slices.Contains(said, v.Span()):
			case !slices.ContainsFunc(said, inside):
				fields = append(fields, string(k.Raw())+":"+string(v.Raw()))
			case v.Kind() == source.Object:
				collect(v, anyKey)
			}
		}
	}
	collect(of, lost)
	if len(fields) > 0 {
		t.rest = source.Quote("{" + strings.Join(fields, ",") + "}")
	}
}

func anyKey(source.Value) bool { return true }

// A Text is a call or a result written as text. At most one of its fields is set.
// None is set if the dialect has no place for such a text.
type Text struct {
	// Blocks replace the element in its list. The first one is new.
	Blocks []NewBlock
	// Message replaces the message or item that the element is, or that holds
	// nothing else. If the element's message holds more, the element is removed and
	// Message is inserted after it.
	Message []Field
	// Said is a JSON string that is added to the text of the message. The element
	// is removed.
	Said string
}

// None reports whether t has no text.
func (t *Text) None() bool { return t.Blocks == nil && t.Message == nil && t.Said == "" }

// A NewBlock is a block of a message: a new one with Fields, or one that is Kept
// unchanged from the element.
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

// joined returns the label, the content and the rest as one JSON string. Content that is
// not a string becomes its JSON text.
func (t *NewText) joined() string { return joinStrings(joinText(t.Label, t.Content), t.rest) }

// content returns the text of a message: one JSON string or, if there are more blocks than
// one, their list.
func (t *NewText) content(blocks []NewBlock) string {
	if len(blocks) > 1 {
		return list(blocks)
	}
	return t.joined()
}

// joinText joins a JSON string and a value into one JSON string, on separate lines.
func joinText(label string, v source.Value) string {
	text := ""
	switch v.Kind() {
	case source.None, source.Null:
	case source.String:
		text = string(v.Raw())
	default:
		text = source.Quote(string(v.Raw()))
	}
	return joinStrings(label, text)
}

// joinStrings joins two JSON strings, on separate lines.
func joinStrings(label, text string) string {
	switch {
	case len(text) <= len(`""`):
		return label
	case len(label) <= len(`""`):
		return text
	}
	return label[:len(label)-1] + `\n` + text[1:]
}

// blocks returns the label, values and the rest as blocks. The elements of a list that are
// also valid blocks of a message are kept; all else becomes text blocks, which text
// writes.
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
			said = joinText(said, v)
			continue
		}
		for _, e := range v.Elements() {
			if !stays(e) {
				said = joinText(said, e)
				continue
			}
			flush()
			out = append(out, NewBlock{Kept: e})
		}
	}
	said = joinStrings(said, t.rest)
	flush()
	return out
}

// textBlock returns the fields of a block of text as most dialects write it.
func textBlock(raw string) []Field { return []Field{{"type", `"text"`}, {"text", raw}} }

// hasType reports whether a value is a block with a type.
func hasType(v source.Value) bool { return v.Get("type").Kind() == source.String }

// anyStays reports whether the list has an element that stays.
func anyStays(v source.Value, stays func(source.Value) bool) bool {
	for _, e := range v.Elements() {
		if stays(e) {
			return true
		}
	}
	return false
}

// setFields returns the fields of an object with those of set in place of the ones with the same key.
func setFields(of source.Value, set ...Field) []Field {
	return replaceFields(of, set, func(source.Value, source.Value) bool { return false })
}

// replaceFields returns the fields of an object, with the fields of set in place of
// those with the same key, and without the fields that drop selects. New keys are
// added at the end.
func replaceFields(of source.Value, set []Field, drop func(key, val source.Value) bool) []Field {
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
			continue // a duplicate key
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

// alone reports whether a list of blocks has at most one element.
func alone(blocks source.Value) bool {
	for i := range blocks.Elements() {
		if i > 0 {
			return false
		}
	}
	return true
}
