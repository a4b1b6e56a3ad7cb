package redact

import (
	_ "embed" // for words.txt
	"reflect"
	"slices"
	"strings"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/rules"
)

// wordList has the keys and values that the packages which read transcripts look for, one on
// each line. A test derives it from those packages. A "*" at an end stands for any text.
//
//go:embed words.txt
var wordList string

// modelWords are words in names of models and in addresses, beside the names of vendors.
const modelWords = "gpt chatgpt codex claude opus sonnet haiku fable mythos gemini gemma llama qwen mixtral grok kimi glm phi nova titan command deepseek " +
	"mini nano turbo preview latest instruct pro flash lite large small medium chat coder thinking exp reasoner vision oss max plus air fast r1 v1 v2 v3 " +
	"https http com org ai net io cn api azure us eu anthropic openai google amazon bedrock vertex meta mistral cohere groq x openrouter"

// moreWords are words with which readers compare no whole text, but which say why something ended.
const moreWords = "auto any none required low high minimal stop length end_turn tool_use max_tokens tool_calls content_filter stop_sequence refusal"

// usageWords are fields in which transcripts keep their counts.
const usageWords = "usage usageMetadata usage_metadata tokenUsage token_usage total_token_usage last_token_usage"

// readTools are names of tools that readers compare: those that a provider runs itself, and those
// to which agents give no result.
var readTools = []string{"web_search", "web_fetch", "code_execution", "bash_code_execution", "text_editor_code_execution", "tool_search_tool_regex", "tool_search_tool_bm25", "finish", "submit", "task_done", "google_search", "file_search"}

// idPrefixes begin the ids that providers assign, as they document. An id keeps the longest one.
var idPrefixes = []string{
	"toolu_bdrk_", "toolu_vrtx_", "toolu_", "srvtoolu_", "mcptoolu_", "tooluse_", "call_", "chatcmpl-", "functions.", "fc_",
	"msg_", "rs_", "ctc_", "resp_", "req_", "ws_", "mcp_",
}

// callTags are the tags by which readers see that a text is a call or a result.
var callTags = []string{"<tool_call>", "<tool_response>"}

// itemPrefixes begin the ids of items, as OpenAI checks them.
var itemPrefixes = []string{"msg", "rs", "fc", "ctc"}

// variants are the starts of words that have what findings and readers look for.
var variants = [...]string{forTool: "tool", badChar: "!", spaced: " ", control: `\b`}

// A vocabulary is the set of public words that redacted text may keep.
type vocabulary struct {
	words, models, tools map[string]bool
	tells                map[string]bool // fields by whose values readers tell apart what they read
	beginnings           []string        // of values; the rest of such a value is any text
	// phrases are texts that agents write themselves. After one that ends in … any text follows.
	phrases []string
}

// newVocabulary returns the words of the program, and those of the dialects that a user has
// defined.
func newVocabulary(dialects *dialect.Set) *vocabulary {
	v := &vocabulary{words: map[string]bool{}, models: map[string]bool{}, tools: map[string]bool{}, tells: map[string]bool{}, beginnings: []string{"tool-", "_"}}
	add := func(w string) {
		begin, isBegin := strings.CutSuffix(w, "*")
		switch {
		case isBegin && !strings.HasPrefix(w, "*"):
			v.beginnings = append(v.beginnings, begin)
		case !strings.HasPrefix(w, "*"):
			v.words[w] = true
		}
	}
	for w := range strings.FieldsSeq(wordList + " " + moreWords + " " + usageWords) {
		add(w)
	}
	for _, w := range countsIn {
		add(w)
	}
	for w := range strings.FieldsSeq(modelWords) {
		v.models[w] = true
	}
	for _, vendor := range profile.Vendors() {
		for _, w := range slices.Concat(vendor.Hosts, vendor.Names, vendor.Models) {
			for part := range strings.FieldsFuncSeq(w, func(c rune) bool { return strings.ContainsRune("-.:", c) }) {
				if !isIndex(part) { // the 3 of gemini-3
					v.models[part] = true
				}
			}
		}
	}
	for _, w := range readTools {
		v.tools[w] = true
	}
	for _, w := range tellsIn {
		v.tells[w] = true
	}
	v.phrases = append(rules.Placeholders(), "aborted")
	for _, d := range dialects.All() {
		if d.Log != nil && d.Log.Interrupt != "" {
			v.phrases = append(v.phrases, d.Log.Interrupt+"…")
		}
		for _, w := range tells(d) {
			// A value is told apart by the field around it, and true and false always stay.
			v.tells[w] = v.tells[w] || w != "" && w != "value"
		}
		if d.UserDefined() {
			for _, w := range d.Words() {
				add(w)
			}
		}
	}
	return v
}

// tells lists the last parts of the fields by whose values the driver of a dialect tells roles and
// types apart.
func tells(d *dialect.Dialect) []string {
	var out []string
	add := func(row reflect.Value) {
		for _, name := range []string{"Role", "Tag", "Type", "Kind"} {
			if f := row.FieldByName(name); f.IsValid() && f.Kind() == reflect.String {
				for lens := range dialect.Lens(f.String()).Alternatives() {
					out = append(out, lastPart(string(lens)))
				}
			}
		}
	}
	driver := reflect.Indirect(reflect.ValueOf(d.Driver))
	add(driver)
	if records := driver.FieldByName("Records"); records.IsValid() {
		for i := range records.Len() {
			add(records.Index(i))
		}
	}
	return out
}

// hasKey reports whether a key is a word, or a path of words and indices such as
// "messages.0.role". Several indices in a row are not in a path: they may be an address or a
// date.
func (v *vocabulary) hasKey(key string) bool {
	if v.words[key] {
		return true
	}
	if len(key) > 256 {
		return false
	}
	index, some := false, false // the last part is one; some part is a word
	for part := range strings.FieldsFuncSeq(key, func(r rune) bool { return r == '.' || r == '/' }) {
		if !v.words[part] && (index || !isIndex(part)) {
			return false
		}
		index = !v.words[part]
		some = some || !index
	}
	return some || key == ""
}

// isIndex reports whether s is the index of an element.
func isIndex(s string) bool {
	if s == "" || len(s) > 3 {
		return false
	}
	return strings.Trim(s, digits) == ""
}

// beginning returns the length of the known start of a value whose rest is any text.
func (v *vocabulary) beginning(s string) int {
	most := 0
	for _, begin := range v.beginnings {
		if strings.HasPrefix(s, begin) {
			most = max(most, len(begin))
		}
	}
	return most
}

// phrase returns the length of a phrase at the start of a text.
func (v *vocabulary) phrase(s string) int {
	for _, p := range v.phrases {
		if start, open := strings.CutSuffix(p, "…"); strings.HasPrefix(s, start) && (open || len(s) == len(start)) {
			return len(start)
		}
	}
	return 0
}

// prefixOf returns the longest of some prefixes of ids with which a text begins.
func prefixOf(text []byte, prefixes []string) string {
	best := ""
	for _, p := range prefixes {
		if len(p) > len(best) && len(p) < len(text) && string(text[:len(p)]) == p {
			best = p
		}
	}
	return best
}
