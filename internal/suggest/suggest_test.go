package suggest

import "testing"

func TestUnknown(t *testing.T) {
	known := []string{"missing-tool-result", "orphan-tool-result", "duplicate-tool-result", "id"}
	for name, want := range map[string]string{
		"mising-tool-result": `unknown rule "mising-tool-result"; did you mean "missing-tool-result"?`,
		"orphan":             `unknown rule "orphan"; did you mean "orphan-tool-result"?`,
		"DUPLICATE":          `unknown rule "DUPLICATE"; did you mean "duplicate-tool-result"?`,
		"sail":               `unknown rule "sail"; see 'toolguard rules'`,
		"ie":                 `unknown rule "ie"; did you mean "id"?`,
		"":                   `unknown rule ""; see 'toolguard rules'`,
	} {
		if got := Unknown("rule", name, known, "see 'toolguard rules'").Error(); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, d := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2}, {"same", "same", 0}} {
		if got := distance(d.a, d.b); got != d.want {
			t.Errorf("%q, %q: %d, want %d", d.a, d.b, got, d.want)
		}
	}
}
