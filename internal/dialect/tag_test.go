package dialect

import (
	"encoding/json"
	"fmt"
	"testing"
	"unicode/utf16"

	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// TestTagsEscaped checks that a tag is found in a text whichever escape its first
// character uses.
func TestTagsEscaped(t *testing.T) {
	t.Parallel()
	b := transcript.NewBuilder(&transcript.Conversation{})
	r := &sideListReader{}
	r.b = b
	for _, first := range []rune{'<', 'a', ' ', '"', '\\', '/', '\n', '\t', '\r', '\b', '\f', 1, 0x7f, 0x80, 'é', '【', '🔧'} {
		tag := string(first) + "call"
		plain, err := json.Marshal(tag)
		if err != nil {
			t.Fatal(err)
		}
		spellings := []string{string(plain[1 : len(plain)-1])}
		if first >= ' ' && first != '"' && first != '\\' {
			spellings = append(spellings, tag)
		}
		if first == '/' {
			spellings = append(spellings, `\/call`)
		}
		for _, digits := range []string{"%04x", "%04X"} {
			var escaped []byte
			for _, unit := range utf16.Encode([]rune{first}) {
				escaped = fmt.Appendf(append(escaped, `\u`...), digits, unit)
			}
			spellings = append(spellings, string(escaped)+"call")
		}
		for _, s := range spellings {
			text := fmt.Sprintf(`"x%s y"`, s)
			if !json.Valid([]byte(text)) {
				t.Fatalf("not a JSON string: %s", text)
			}
			if !r.opens(source.NewValue([]byte(text), 0), tag) {
				t.Errorf("tag %s not found in %s", tag, text)
			}
			if r.opens(source.NewValue([]byte(text), 0), tag+"!") {
				t.Errorf("tag %s! found in %s", tag, text)
			}
		}
	}
}
