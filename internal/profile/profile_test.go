package profile

import (
	"strings"
	"testing"
)

// TestCells: every cell that makes a finding names its source, and a cell that is only
// inferred makes no error.
func TestCells(t *testing.T) {
	names := map[string]bool{}
	for _, p := range All() {
		if names[p.Name] || p.Name != strings.ToLower(p.Name) || strings.ContainsAny(p.Name, " _") {
			t.Errorf("%q is no name, or that of another profile", p.Name)
		}
		names[p.Name] = true
		if ByName(p.Name) != p {
			t.Errorf("%s is not found by its name", p.Name)
		}
		if len(p.Roles) == 0 && p.Wire != Framework {
			t.Errorf("%s: Roles is empty; it names the roles of the API, those of the user, the assistant and the tool first", p.Name)
		}
		for at := range points {
			c := p.Cell(at)
			if c.Confidence == Low && c.Effective() == Error {
				t.Errorf("%s, %v: an error of low confidence", p.Name, at)
			}
			if c.Confidence > Low && c.Level > Accepted && c.Source == "" && p.Name != "neutral" { // which is of no API
				t.Errorf("%s, %v: of confidence %s without a source", p.Name, at, c.Confidence)
			}
		}
		if p.IDMax > 0 && (p.IDMin > p.IDMax || p.IDSoftMax > p.IDMax) {
			t.Errorf("%s: ids of %d to %d characters, better %d", p.Name, p.IDMin, p.IDMax, p.IDSoftMax)
		}
	}
	if ByName("no such thing") != nil {
		t.Error("a profile that is not there is found")
	}
}

func TestCharsets(t *testing.T) {
	for _, c := range []struct {
		set   Charset
		text  string
		takes bool
	}{
		{AnyText, "a:b é\n", true},
		{WordDash, "a_B-9", true},
		{WordDash, "a.b", false},
		{WordDash, "é", false},
		{WordDashDot, "a.b", true},
		{WordDashDot, "a:b", false},
		{Alphanumeric, "aB9", true},
		{Alphanumeric, "a_b", false},
		{Alphanumeric, "a-b", false},
	} {
		if c.set.Allows(c.text) != c.takes {
			t.Errorf("%v, %q: %v", c.set, c.text, !c.takes)
		}
	}
}
