package report

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCells: a cell is what a terminal shows as one character, and as wide as that.
func TestCells(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text string
		want       []cell
	}{
		{"ASCII", "a[", []cell{{"a", 1}, {"[", 1}}},
		{"wide", "日é", []cell{{"日", 2}, {"é", 1}}},
		{"ambiguous in width", "…§", []cell{{"…", 1}, {"§", 1}}},
		{"an accent", "e\u0301x", []cell{{"e\u0301", 1}, {"x", 1}}},
		{"an emoji of a text character", "❤\ufe0fx", []cell{{"❤\ufe0f", 2}, {"x", 1}}},
		{"the text character", "❤x", []cell{{"❤", 1}, {"x", 1}}},
		{"a key", "1\ufe0f\u20e3", []cell{{"1\ufe0f\u20e3", 2}}},
		{"a family", "👩\u200d👩\u200d👧x", []cell{{"👩\u200d👩\u200d👧", 2}, {"x", 1}}},
		{"joined to an emoji of a text character", "🏳\ufe0f\u200d🌈", []cell{{"🏳\ufe0f\u200d🌈", 2}}},
		{"a colour of skin", "✍🏽", []cell{{"✍🏽", 2}}},
		{"flags", "🇩🇪🇫🇷", []cell{{"🇩🇪", 2}, {"🇫🇷", 2}}},
		{"Hangul in parts", "\u1112\u1161\u11ab", []cell{{"\u1112\u1161\u11ab", 2}}},
		{"a tab", "\ta", []cell{{" ", 1}, {"a", 1}}},
		{"escaped inside of a cluster", "e\u202e\u0301", []cell{{"e", 1}, {"<e2><80><ae>", 12}, {"\u0301", 0}}},
		{"a line end", "\r\n", []cell{{"<0d>", 4}, {"<0a>", 4}}},
		{"half a character", "a\xe3\x81", []cell{{"a", 1}, {"<e3>", 4}, {"<81>", 4}}},
	} {
		got := cells([]byte(tt.text))
		if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(cell{})); diff != "" {
			t.Errorf("%s:\n%s", tt.name, diff)
		}
	}
}
