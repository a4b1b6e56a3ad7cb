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
		parts []part
		want  string
	}{
		{"fits", 12, []part{bare("one two five")}, "one two five\n"},
		{"is one column too wide", 11, []part{bare("one two five")}, "one two\n  five\n"},
		{"has a word that is too long", 5, []part{bare("a incomprehensible b")}, "a\n  incomprehensible\n  b\n"},
		{"begins with a path with spaces", 12, []part{unbroken(nil, "my own file.json"), bare(":1:2: "), bare("error: it is")}, "my own file.json:1:2:\n  error: it\n  is\n"},
		{"has a path with spaces inside", 12, []part{bare("it is in "), unbroken(nil, "a b"), bare(".bak, is it")}, "it is in\n  a b.bak,\n  is it\n"},
		{"ends in a path with spaces", 9, []part{bare("it is in "), unbroken(nil, "a b c d")}, "it is in\n  a b c d\n"},
		{"has a path that ends in a space", 9, []part{unbroken(nil, "a b "), bare(": it is")}, "a b : it\n  is\n"},
		{"has a word of two parts", 9, []part{bare("aaaa bbb"), bare("bbb cc")}, "aaaa\n  bbbbbb\n  cc\n"},
		{"has a part after a blank part", 9, []part{bare("aaaa bbbb"), bare(" "), bare("[c]")}, "aaaa bbbb\n  [c]\n"},
		{"is indented", 10, []part{bare("    "), bare("fix:"), bare(" "), bare("drop it")}, "    fix:\n  drop it\n"},
		{"is wide by cells", 8, []part{bare("日本 日本")}, "日本\n  日本\n"},
		{"is wide by what is spelled out", 8, []part{bare("\x1b\x1b \x1b")}, "<1b><1b>\n  <1b>\n"},
		{"has an order at a break", 9, []part{bare("aaaa aaa ::error::x")}, "aaaa aaa\n  <3a>:error::x\n"},
	} {
		var l lines
		l.fold(tt.width, "  ", tt.parts...)
		if diff := cmp.Diff(tt.want, l.String()); diff != "" {
			t.Errorf("a line that %s (-want +got):\n%s", tt.name, diff)
		}
	}
	for _, tt := range []struct {
		names []string
		want  string
	}{
		{nil, "in a b\n> or a\n> b c\n"},
		{[]string{"a b", "", "or", "a b c"}, "in a b\n> or\n> a b c\n"},
		{[]string{"b or a b"}, "in a\n> b or a b\n> c\n"},
	} {
		if got := Fold("in a b or a b c", 6, "> ", tt.names...); got != tt.want {
			t.Errorf("with the names %q: got %q, want %q", tt.names, got, tt.want)
		}
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

// TestFoldSentencesWithNames: neither a sentence nor a line ends in a name.
func TestFoldSentencesWithNames(t *testing.T) {
	t.Parallel()
	const text = "Found 2 problems in 1. of 2. And 3 are in b c. Done."
	const want = "Found 2 problems\nin 1. of 2.\nAnd 3 are in\nb c.\nDone.\n"
	if got := FoldSentences(text, 16, "1. of 2", "b c"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := FoldSentences("A. B", 3, "A. B"); got != "A. B\n" {
		t.Errorf("got %q", got)
	}
}

// TestFoldTable: the last column is folded where it begins, and names are not columns.
func TestFoldTable(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ table, want string }{
		{"  a   one two three\n", "  a   one two\n      three\n"},
		{"a  b c.json: one two\n", "a  b c.json: one\n    two\n"},
		{"a long one  one two\n", "a long one  one\n    two\n"},
		{"    {\"role\": \"user\", \"content\": 1}\n", "    {\"role\": \"user\", \"content\": 1}\n"},
	} {
		if got := FoldTable(tt.table, 16, "a  b c.json"); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
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
