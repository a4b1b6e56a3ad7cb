package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFold(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		width int
		whole int
		parts []part
		want  string
	}{
		{"fits", 12, 0, []part{bare("one two five")}, "one two five\n"},
		{"is one column too wide", 11, 0, []part{bare("one two five")}, "one two\n  five\n"},
		{"has a word that is too long", 5, 0, []part{bare("a incomprehensible b")}, "a\n  incomprehensible\n  b\n"},
		{"begins with a path with spaces", 12, 2, []part{bare("my own file.json"), bare(":1:2: "), bare("error: it is")}, "my own file.json:1:2:\n  error: it\n  is\n"},
		{"has a word of two parts", 9, 0, []part{bare("aaaa bbb"), bare("bbb cc")}, "aaaa\n  bbbbbb\n  cc\n"},
		{"has a part after a blank part", 9, 0, []part{bare("aaaa bbbb"), bare(" "), bare("[c]")}, "aaaa bbbb\n  [c]\n"},
		{"is indented", 10, 1, []part{bare("    "), bare("fix:"), bare(" "), bare("drop it")}, "    fix:\n  drop it\n"},
		{"is wide by cells", 8, 0, []part{bare("日本 日本")}, "日本\n  日本\n"},
		{"is wide by what is spelled out", 8, 0, []part{bare("\x1b\x1b \x1b")}, "<1b><1b>\n  <1b>\n"},
		{"has an order at a break", 9, 0, []part{bare("aaaa aaa ::error::x")}, "aaaa aaa\n  <3a>:error::x\n"},
	} {
		var l lines
		l.fold(tt.width, "  ", tt.whole, tt.parts...)
		if diff := cmp.Diff(tt.want, l.String()); diff != "" {
			t.Errorf("a line that %s (-want +got):\n%s", tt.name, diff)
		}
	}
	if got := Fold("one two", 4, "> "); got != "one\n> two\n" {
		t.Errorf("Fold: %q", got)
	}
}

func TestFoldSentences(t *testing.T) {
	t.Parallel()
	const text = "Found 2 problems (1 fixable). 1 file checked. Skipped: a."
	for width, want := range map[int]string{
		80: text + "\n",
		56: "Found 2 problems (1 fixable). 1 file checked.\nSkipped: a.\n",
		44: "Found 2 problems (1 fixable).\n1 file checked. Skipped: a.\n",
		20: "Found 2 problems (1\nfixable).\n1 file checked.\nSkipped: a.\n",
	} {
		if got := FoldSentences(text, width); got != want {
			t.Errorf("%d columns: %q, want %q", width, got, want)
		}
	}
}

// TestFoldIsExact: a line is broken only where the next word does not fit.
func TestFoldIsExact(t *testing.T) {
	t.Parallel()
	text := strings.TrimSpace(strings.Repeat("a bb ccc dddd 語語 ", 9))
	for width := 12; width < 120; width++ {
		rows := strings.Split(strings.TrimSuffix(Fold(text, width, "  "), "\n"), "\n")
		if got := strings.Join(strings.Fields(strings.Join(rows, " ")), " "); got != text {
			t.Fatalf("%d columns: %q", width, got)
		}
		for i, row := range rows {
			n := columns(cells([]byte(row)))
			if n > width {
				t.Errorf("%d columns: %q takes %d", width, row, n)
			}
			if i+1 < len(rows) {
				if next := strings.Fields(rows[i+1])[0]; n+1+columns(cells([]byte(next))) <= width {
					t.Errorf("%d columns: %q would fit behind %q", width, next, row)
				}
			}
		}
	}
}
