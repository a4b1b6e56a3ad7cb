package hostile

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

func TestObeyed(t *testing.T) {
	t.Parallel()
	const red, none = "\x1b[31m", "\x1b[0m"
	own := regexp.MustCompile(`^::error file=a::m$`)
	tests := []struct {
		output string
		may    Allowed
		obeyed bool
	}{
		{"", Allowed{}, false},
		{"a ## [b] #[c] std::map 👩\u200d💻\n  : :\n", Allowed{}, false},
		{"a\n ::error::x\n", Allowed{}, true},
		{"::error file=a::m\n", Allowed{Commands: own}, false},
		{"::error file=a::m\n::error file=b::m\n", Allowed{Commands: own}, true},
		{red + "a" + none, Allowed{}, true},
		{red + "a" + none, Allowed{Colors: true}, false},
		{red + "::error::x" + none, Allowed{Colors: true}, true},
		{"#" + red + "#" + none + "[x]", Allowed{Colors: true}, true},
		{"##" + red + "x" + none, Allowed{Colors: true}, true},
		{"\x1b[2J", Allowed{Colors: true}, true},
		{"a ##vso[x]", Allowed{}, true},
		{"a ##[x]", Allowed{}, true},
		{"#\u200d#\ufe0f[x]", Allowed{}, true},
		{"\r", Allowed{}, true},
		{"\t", Allowed{}, true},
		{"\t", Allowed{Tabs: true}, false},
		{"\u009b", Allowed{}, true},
		{"\u202e", Allowed{}, true},
		{"\xff", Allowed{}, true},
	}
	for _, tt := range tests {
		if err := Obeyed(tt.output, tt.may); (err != nil) != tt.obeyed {
			t.Errorf("%q, %+v: %v", tt.output, tt.may, err)
		}
	}
}

func TestSpellings(t *testing.T) {
	t.Parallel()
	for _, text := range Texts() {
		for i, s := range Spellings(text)[:2] {
			var got string
			if err := json.Unmarshal([]byte(`"`+s+`"`), &got); err != nil || got != strings.ToValidUTF8(got, "") ||
				strings.ReplaceAll(got, "\ufffd", "") != strings.ReplaceAll(strings.ToValidUTF8(text, ""), "\ufffd", "") {
				t.Errorf("%d, %q: %q, %v", i, text, got, err)
			}
		}
	}
}
