package suggest

import (
	"strings"
	"testing"
)

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

func TestContaining(t *testing.T) {
	known := []string{"missing-tool-result", "orphan-tool-result", "toolbox", "missing-result-name", "duplicate-call-id", "invalid-tool-name", "recall"}
	for text, want := range map[string]string{
		"tool":           "missing-tool-result orphan-tool-result invalid-tool-name toolbox",
		"Tools":          "missing-tool-result orphan-tool-result invalid-tool-name",
		"missing-result": "missing-tool-result missing-result-name",
		"result_missing": "missing-tool-result missing-result-name",
		"missing result": "missing-tool-result missing-result-name",
		"call":           "duplicate-call-id recall",
		"id":             "duplicate-call-id",
		"ool":            "",
		"orphan-name":    "",
		"-":              "",
		"":               "",
	} {
		if got := strings.Join(Containing(text, known), " "); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	if got := Nearest("missing-result", known); got != "missing-tool-result" {
		t.Errorf("the nearest to missing-result is %q", got)
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
