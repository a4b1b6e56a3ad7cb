package evidence

import (
	"slices"
	"strings"

	"github.com/toolguard/toolguard/internal/source"
)

// HasUnknownBlocks reports whether v is a message with content blocks that speak of
// tools in another way than the dialects that read plain messages. A field of the
// message says less: programs note there which tools they used.
func HasUnknownBlocks(v source.Value) bool {
	if v.Get("role").Kind() != source.String {
		return false
	}
	for _, block := range v.Get("content").Present() {
		if speaksOfTools(block) {
			return true
		}
	}
	return false
}

// UsesUnknownTools reports whether v is a message that speaks of tools in another
// way than the dialects that read plain messages: in its blocks or in a field.
func UsesUnknownTools(v source.Value) bool {
	return HasUnknownBlocks(v) || v.Get("role").Kind() == source.String && HasToolMember(v)
}

// HasToolMember reports whether a message has a member that speaks of tools.
func HasToolMember(v source.Value) bool {
	for k, val := range v.Members() {
		if UnknownToolMember(k, val) {
			return true
		}
	}
	return false
}

// declares are members that say which tools there are, and call none.
var declares = []string{"tools", "functions", "tool_choice", "toolChoice"}

// UnknownToolMember reports whether a member that a dialect does not know speaks of
// calls or results, and holds anything that those could consist of.
func UnknownToolMember(key, val source.Value) bool { return ToolKey(key) && val.Filled() }

// ToolKey reports whether a key speaks of calls or results.
func ToolKey(key source.Value) bool {
	return named(key) && !slices.ContainsFunc(declares, key.Is)
}

// saying are the types of blocks that hold what is said or shown, whatever else is
// noted beside it.
var saying = []string{
	"text", "input_text", "output_text", "refusal", "thinking", "redacted_thinking", "reasoning", "image", "image_url", "input_image",
	"input_audio", "audio", "video", "file", "input_file", "document",
}

// speaksOfTools reports whether a block does: by its type, or by a member where the
// type says nothing else.
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

// named reports whether a name speaks of tools or functions.
func named(name source.Value) bool {
	raw := name.Raw()
	for i := range raw {
		if c := raw[i] | 0x20; c == 't' && folded(raw[i:], "tool") || c == 'f' && folded(raw[i:], "function") {
			return true
		}
	}
	return false
}

// folded reports whether a text begins with a word, in capitals or not.
func folded(text []byte, word string) bool {
	return len(text) >= len(word) && strings.EqualFold(string(text[:len(word)]), word)
}
