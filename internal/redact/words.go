package redact

import (
	_ "embed" // for words.txt
	"strings"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/rules"
)

// wordList has the keys and values that the packages which read transcripts look for, one on
// each line. A test derives it from those packages. A "*" at an end stands for any text.
//
//go:embed words.txt
var wordList string

// moreWords are words that occur in media types, addresses and names of models, with which
// readers compare no whole text.
const moreWords = "application png jpeg gif webp pdf svg plain https http com org ai net api v1 opus sonnet haiku mini nano turbo " +
	"auto any none required low high minimal stop length end_turn tool_use max_tokens tool_calls content_filter stop_sequence refusal " +
	"preview latest instruct pro flash lite large small medium chat thinking exp sol fable mythos"

// idPrefixes begin the ids that providers and agents assign. Readers know some of them; the
// others tell whoever reads a redacted file what an id belongs to. An id keeps the longest one.
var idPrefixes = []string{
	"toolu_bdrk_", "toolu_vrtx_", "toolu_", "srvtoolu_", "mcptoolu_", "tooluse_", "call_", "chatcmpl-tool-", "chatcmpl-", "functions.", "fc_", "fco_",
	"msg_", "rs_", "ctc_", "resp_", "req_", "item_", "ws_", "mcp_", "run-", "lc_", "prt_", "ses_", "thread_", "asst_", "msg", "rs", "fc", "ctc",
}

// A vocabulary is the set of public words that redacted text may keep.
type vocabulary struct {
	words              map[string]bool
	beginning, endings []string // of values; the rest of such a value is any text
	// phrases are texts that agents write themselves. After one that ends in … any text follows.
	phrases []string
}

// newVocabulary returns the words of the program, and those of the dialects that a user has
// defined.
func newVocabulary(dialects *dialect.Set) *vocabulary {
	v := &vocabulary{words: map[string]bool{}}
	add := func(w string) {
		begin, isBegin := strings.CutSuffix(w, "*")
		end, isEnd := strings.CutPrefix(w, "*")
		switch {
		case isBegin && !isEnd:
			v.beginning = append(v.beginning, begin)
		case isEnd && !isBegin:
			v.endings = append(v.endings, end)
		case !isBegin:
			v.words[w] = true
		}
	}
	for w := range strings.FieldsSeq(wordList) {
		add(w)
	}
	for w := range strings.FieldsSeq(moreWords) {
		add(w)
	}
	v.phrases = append(rules.Placeholders(), "aborted")
	for _, d := range dialects.All() {
		if d.Log != nil && d.Log.Interrupt != "" {
			v.phrases = append(v.phrases, d.Log.Interrupt+"…")
		}
		if d.UserDefined() {
			for _, w := range d.Words() {
				add(w)
			}
		}
	}
	return v
}

// hasKey reports whether a key is a word, or a path of words and indices such as
// "messages.0.role". Several indices in a
// row are not in a path: they may be an address or a date.
func (v *vocabulary) hasKey(key string) bool {
	if v.words[key] {
		return true
	}
	if len(key) > 256 {
		return false
	}
	index := false // the last part is one
	for part := range strings.FieldsFuncSeq(key, func(r rune) bool { return r == '.' || r == '/' }) {
		if !v.words[part] && (index || !isIndex(part)) {
			return false
		}
		index = !v.words[part]
	}
	return true
}

// isIndex reports whether s is the index of an element.
func isIndex(s string) bool {
	if s == "" || len(s) > 3 {
		return false
	}
	return strings.Trim(s, "0123456789") == ""
}
