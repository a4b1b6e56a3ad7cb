package evidence

import (
	"slices"
	"strings"

	"github.com/toolguard/toolguard/internal/source"
)

// HasUnknownBlocks reports whether v is a message with content blocks about tools in a
// form that no dialect of plain messages has. It ignores other fields of the message, in
// which programs may list the tools they used.
func HasUnknownBlocks(v source.Value) bool {
	return v.Get("role").Kind() == source.String && HasToolBlocks(v)
}

// HasToolBlocks reports whether the content of v has blocks about tools.
func HasToolBlocks(v source.Value) bool {
	for _, block := range v.Get("content").Present() {
		if speaksOfTools(block) {
			return true
		}
	}
	return false
}

// UsesUnknownTools reports whether v is a message with blocks or a field about tools in a
// form that no dialect of plain messages has.
func UsesUnknownTools(v source.Value) bool {
	return HasUnknownBlocks(v) || v.Get("role").Kind() == source.String && HasToolMember(v)
}

// HasToolMember reports whether a message has a field about tools.
func HasToolMember(v source.Value) bool {
	for k, val := range v.Members() {
		if UnknownToolMember(k, val) {
			return true
		}
	}
	return false
}

// IsUnknownResult reports whether v is a result with a field about tools, such as the id of its call
// under another key, of which no dialect knows.
func IsUnknownResult(v source.Value) bool {
	role := v.Get("role")
	return (role.Is("tool") || role.Is("function")) && HasToolMember(v)
}

// declares are keys of fields that declare tools and call none.
var declares = []string{"tools", "functions", "tool_choice", "toolChoice"}

// UnknownToolMember reports whether an unknown field is about calls or results and has
// content that could be one.
func UnknownToolMember(key, val source.Value) bool { return ToolKey(key) && val.Filled() }

// ToolKey reports whether a key is about calls or results.
func ToolKey(key source.Value) bool {
	return named(key) && !slices.ContainsFunc(declares, key.Is)
}

// saying are the types of blocks for text and media, whatever other fields they have.
var saying = []string{
	"text", "input_text", "output_text", "refusal", "thinking", "redacted_thinking", "reasoning", "image", "image_url", "input_image",
	"input_audio", "audio", "video", "file", "input_file", "document",
}

// speaksOfTools reports whether a block is about tools. Its type decides, or another
// field if the type is not in saying.
func speaksOfTools(block source.Value) bool {
	speaks := false
	for k, val := range block.Members() {
		switch {
		case !k.Is("type"):
			speaks = speaks || named(k) && val.Kind() != source.Null
		case slices.ContainsFunc(saying, val.Is):
			return false
		case named(val):
			return true
		}
	}
	return speaks
}

// named reports whether a name contains "tool" or "function".
func named(name source.Value) bool {
	raw := name.Raw()
	for i := range raw {
		if c := raw[i] | 0x20; c == 't' && folded(raw[i:], "tool") || c == 'f' && folded(raw[i:], "function") {
			return true
		}
	}
	return false
}

// folded reports whether a text begins with a word, ignoring case.
func folded(text []byte, word string) bool {
	return len(text) >= len(word) && strings.EqualFold(string(text[:len(word)]), word)
}
