package dialect

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRowsHaveNoFaults: built-in rows are held to what those are that people describe.
func TestRowsHaveNoFaults(t *testing.T) {
	for _, d := range All() {
		for _, f := range d.Faults() {
			t.Errorf("%s: %v: %s", d.Name, f.Table, f.Message)
		}
	}
}

// TestFaults: what a row lacks is told, and not found out by reading a file.
func TestFaults(t *testing.T) {
	d := &Dialect{Name: "x", Driver: responsesItems{&Items{Type: "type", Pairs: []ItemPair{{Call: "c"}}}}, Log: &Log{}}
	var got []string
	for _, f := range d.Faults() {
		got = append(got, f.Message)
	}
	want := []string{
		"items needs role", "items needs text", "items needs messages", "items needs id", "items needs name", "log needs type", "log needs speaks",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
