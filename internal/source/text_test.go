package source

import "testing"

func TestAsText(t *testing.T) {
	for in, want := range map[string]string{
		`"a\u0062"`:                    `"a\u0062"`,
		`null`:                         `""`,
		`7`:                            `"7"`,
		`{"a": "<b>"}`:                 `"{\"a\": \"<b>\"}"`,
		`[]`:                           `"[]"`,
		`[{"type":"text","text":""}]`:  `""`,
		`[1]`:                          `"[1]"`,
		`[{"type":"text","text":"4"}]`: `"4"`,
		`[{"type":"text","text":"a\n"},{"text":"\"b","type":"text"}]`: `"a\n\n\"b"`,
		`[{"type":"text","text":"a"},{"type":"image","data":"x"}]`:    `"[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"image\",\"data\":\"x\"}]"`,
		`[{"type":"text","text":"a","citations":[1]}]`:                `"[{\"type\":\"text\",\"text\":\"a\",\"citations\":[1]}]"`,
		`[{"type":"text","text":7}]`:                                  `"[{\"type\":\"text\",\"text\":7}]"`,
		`[{"type":"document","document":{"data":"{\"free\": [4]}"}}]`: `"[{\"type\":\"document\",\"document\":{\"data\":\"{\\\"free\\\": [4]}\"}}]"`,
	} {
		if got := AsText(NewValue([]byte(in), 0)); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
