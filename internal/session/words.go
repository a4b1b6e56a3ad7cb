package session

import (
	"strings"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// Words returns all that a message says besides its calls, results and reasoning, in order.
func Words(v *engine.View, message *transcript.Message) []string {
	if with, is := v.Replaced[message.Span().Start]; is && message.Role != transcript.RoleTool {
		return appendWords(nil, v.Value(with))
	}
	if message.BlockLo == message.BlockHi {
		at := v.Content(message.Span())
		if at.IsZero() {
			value := commonText.In(v.Value(message.Span()))
			if value.Kind() == source.Null || !value.Exists() {
				value = eventText.In(v.Value(message.Span()))
			}
			return appendWords(nil, value)
		}
		return appendWords(nil, v.Value(at))
	}
	var out []string
	for _, block := range v.Blocks[message.BlockLo:message.BlockHi] {
		if block.Kind == transcript.BlockText && !block.Has(transcript.BlockBlank) {
			out = appendWords(out, v.Value(block.Span))
		}
	}
	return out
}

// Texts returns the texts in a value, in order.
func Texts(v source.Value) []string { return appendWords(nil, v) }

// eventText are where events of a log have their text that commonText does not have.
const eventText dialect.Lens = "Items|data|llm_message.content"

// textKeys are the keys of the text of an object, the likeliest first.
var textKeys = [...]string{"text", "content", "value", "parts", "data", "Text", "Items"}

// appendWords adds the texts in a value.
func appendWords(out []string, v source.Value) []string {
	switch v.Kind() {
	case source.String:
		if text := v.Str(); strings.TrimSpace(text) != "" {
			out = append(out, text)
		}
	case source.Array:
		for e := range v.Each() {
			out = appendWords(out, e)
		}
	case source.Object:
		if isMedium(v.Get("type")) {
			return out
		}
		for _, key := range textKeys {
			if text := v.Get(key); text.Exists() {
				return appendWords(out, text)
			}
		}
	}
	return out
}

// Answer returns what the content of a result says: its text, or for anything else its JSON. Parts that
// are not text become a note with their type.
func Answer(v source.Value) string {
	switch v.Kind() {
	case source.String:
		return v.Str()
	case source.Array:
		var parts []string
		for e := range v.Each() {
			text := e.Get("text")
			if e.Get("kind").Is("text") {
				text = e.Get("data")
			}
			switch {
			case e.Kind() == source.String:
				parts = append(parts, e.Str())
			case text.Kind() == source.String:
				parts = append(parts, text.Str())
			case isMedium(e.Get("type")):
				parts = append(parts, "["+e.Get("type").Str()+"]")
			default:
				return string(v.Raw())
			}
		}
		return strings.Join(parts, "\n")
	case source.Object:
		only, n := source.Value{}, 0
		for _, member := range v.Members() {
			only = member
			n++
		}
		if n == 1 && only.Kind() == source.String {
			return only.Str()
		}
	}
	return string(v.Raw())
}

// isMedium reports whether a type of a part says that it is no text.
func isMedium(typ source.Value) bool {
	for _, name := range [...]string{"image", "input_image", "image_url", "audio", "video", "file", "document", "media"} {
		if typ.Is(name) {
			return true
		}
	}
	return false
}
