package usage

import "testing"

// TestFold: paragraphs are broken anew, and indented lines are kept.
func TestFold(t *testing.T) {
	t.Parallel()
	const text = "one two\nthree\n\n  a    b\n  c\nfour"
	const want = "one two three\n\n  a    b\n  c\nfour\n"
	if got := fold(text, 20); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := fold(text, 8); got != "one two\nthree\n\n  a    b\n  c\nfour\n" {
		t.Errorf("8 columns: %q", got)
	}
}
