package evidence

import (
	"slices"
	"strings"

	"github.com/toolguard/toolguard/internal/source"
)

// UsesUnknownTools reports whether v is a message that speaks of tools in another
// way than the dialects that read plain messages.
func UsesUnknownTools(v source.Value) bool {
	role, unknown := false, false
	for k, val := range v.Members() {
		switch {
		case k.Is("role"):
			role = val.Kind() == source.String
		case k.Is("content"):
			for _, block := range val.Present() {
				unknown = unknown || speaksOfTools(block)
			}
		default:
			unknown = unknown || UnknownToolMember(k, val)
		}
	}
	return role && unknown
}

// declares are members that say which tools there are, and call none.
var declares = []string{"tools", "functions", "tool_choice", "toolChoice"}

// UnknownToolMember reports whether a member that a dialect does not know speaks of
// calls or results, and holds anything.
func UnknownToolMember(key, val source.Value) bool {
	return named(key) && !slices.ContainsFunc(declares, key.Is) && holds(val)
}

// holds reports whether a value holds anything that a call or a result could
// consist of.
func holds(v source.Value) bool {
	switch v.Kind() {
	case source.String:
		return len(v.Raw()) > 2
	case source.Array:
		return v.First().Exists()
	}
	for range v.Members() {
		return true
	}
	return false
}

// speaksOfTools reports whether a block does: by its type, or by a member.
func speaksOfTools(block source.Value) bool {
	for k, val := range block.Members() {
		if k.Is("type") && named(val) || !k.Is("type") && named(k) && val.Kind() != source.Null {
			return true
		}
	}
	return false
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
