package redact

// A Fate says what becomes of the findings of a rule in a redacted text.
type Fate struct {
	Rule string
	// Part is set if some of the findings cannot be kept.
	Part bool
	How  string // why they are kept, or which are not
}

const (
	byIDs       = "equal ids stay equal"
	byStructure = "fields, types and roles stay"
)

// Fates lists what becomes of the findings of each rule, in the order of the catalogue.
func Fates() []Fate {
	return []Fate{
		{"invalid-json", false, "an invalid character is at the same place, and no JSON follows it"},
		{"truncated-record", false, "the record ends at the same byte"},
		{"nul-padding", false, "NUL bytes outside of records stay"},
		{"glued-records", false, "both records stay JSON"},
		{"raw-newline-in-string", false, "line breaks stay"},
		{"too-deep", false, "brackets stay"},
		{"duplicate-key", false, "equal keys stay equal"},
		{"invalid-utf8", false, "the first bytes of each record that are not UTF-8 become others that are not"},
		{"lone-surrogate", false, "the first such escape of each record becomes another one"},
		{"duplicate-record", false, byIDs},
		{"broken-link", false, byIDs},
		{"stale-parent", false, byIDs},
		{"unsent-branch", false, byIDs},
		{"ordinal-mismatch", false, "ordinals stay"},
		{"missing-tool-result", false, byIDs},
		{"pending-tool-call", false, byIDs},
		{"interrupted-tool-call", false, "the note of the agent stays"},
		{"orphan-tool-result", false, byIDs},
		{"misplaced-tool-result", false, byIDs},
		{"result-before-call", false, byIDs},
		{"split-tool-results", false, byStructure},
		{"tool-result-not-first", false, byStructure},
		{"mixed-tool-result-message", false, byStructure},
		{"duplicate-tool-result", true, "equal ids and results stay equal; a placeholder of another program does not stay, so the repair can differ"},
		{"duplicate-call-id", false, byIDs},
		{"reused-call-id", false, byIDs},
		{"result-order-mismatch", false, byIDs},
		{"result-kind-mismatch", false, byStructure},
		{"ambiguous-pairing", false, byStructure},
		{"mixed-dialect", false, byStructure},
		{"unread-tool-field", false, "the filler for a key with tool or function in it begins with tool"},
		{"missing-call-id", false, "fields stay, and so does an id that is the text null"},
		{"invalid-call-id", false, "lengths stay, and an invalid id becomes one that is invalid for the same reason"},
		{"invalid-server-tool-id", true, "documented prefixes stay; other reasons are not kept"},
		{"invalid-item-id", false, "documented prefixes stay"},
		{"duplicate-item-id", false, byIDs},
		{"invalid-tool-name", false, "lengths stay, and an invalid name becomes one that is invalid for the same reason"},
		{"missing-result-name", false, byStructure},
		{"result-name-mismatch", false, "equal names stay equal"},
		{"arguments-not-string", false, byStructure},
		{"arguments-invalid-json", false, "an invalid character is at the same place, and no JSON follows it"},
		{"tool-input-not-object", false, "the syntax of arguments stays"},
		{"missing-arguments", false, byStructure},
		{"result-content-type", false, byStructure},
		{"image-limit", true, "the type, the length and the size of an image stay, unless its size is behind the first 4 KB"},
		{"empty-tool-calls", false, byStructure},
		{"missing-call-type", false, byStructure},
		{"empty-text", false, "a blank text becomes spaces"},
		{"empty-message", false, byStructure},
		{"trailing-whitespace", false, "the filler ends in a space"},
		{"invalid-role", false, byStructure},
		{"block-in-wrong-role", false, byStructure},
		{"first-role", false, byStructure},
		{"missing-user-message", true, "types and roles stay; a text of the user between <tool_response> tags becomes filler without them"},
		{"consecutive-roles", false, byStructure},
		{"user-after-tool", false, byStructure},
		{"last-role", false, byStructure},
		{"tool-use-not-last", false, byStructure},
		{"reasoning-unreplayable", false, "fields, types and names of models stay"},
		{"interleaved-reasoning", false, byIDs},
		{"item-not-stored", false, "fields, types and documented prefixes stay"},
		{"replayed-reasoning", true, "fields, types and documented prefixes stay; the documented value for a lost signature does not"},
		{"server-tool-unpaired", false, byIDs},
		{"cache-control-limit", false, byStructure},
		{"missing-tool-config", false, byStructure},
		{"unknown-tool", false, "equal names stay equal"},
		{"schema-violation", true, "types, names of fields and equality with allowed values are kept; limits, formats and patterns are not"},
		{"null-in-schema", true, "keywords and the syntax of schemas stay, but not those of tools that are JSON text"},
	}
}
