package dialect

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRowsHaveNoFaults checks built-in rows with the checks for user-defined ones.
func TestRowsHaveNoFaults(t *testing.T) {
	for _, d := range All() {
		for _, f := range d.Faults() {
			t.Errorf("%s: %v: %s", d.Name, f.Table, f.Message)
		}
	}
}

// TestFaults checks that missing fields are reported without reading a file.
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

// TestItemsHaveNoPaths: the driver for items finds fields by their names, and would write a path as a
// name.
func TestItemsHaveNoPaths(t *testing.T) {
	d := &Dialect{Name: "x", Driver: &Items{
		Type: "op", Role: "who", Text: "says", Messages: []string{"say"}, ID: []string{"a.ref"}, Name: "tool.name",
		Pairs: []ItemPair{{Call: "do", Outputs: []string{"did"}, Args: "data.in", Payload: "data.out"}},
	}}
	var got []string
	for _, f := range d.Faults() {
		if strings.Contains(f.Message, "path") {
			got = append(got, f.Message)
		}
	}
	want := []string{
		`items.pairs.args must be the name of a field; "data.in" is a path`, `items.pairs.payload must be the name of a field; "data.out" is a path`,
		`items.name must be the name of a field; "tool.name" is a path`, `items.id must be the name of a field; "a.ref" is a path`,
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// lacks returns the fields that a built-in dialect lacks, by their names in Go. Package config sets some
// of them for a user's dialect, which does not need the others.
func lacks(d *Dialect) (found []string) {
	if why := d.unusable(); why != "" {
		found = append(found, why)
	}
	for _, field := range []struct {
		name string
		has  bool
	}{
		{"Title", d.Title != ""},
		{"Summary", d.Summary != ""},
		{"Where", d.Where != ""},
		{"Example", d.Example != ""},
		{"Window", d.Window != 0},
	} {
		if !field.has {
			found = append(found, "a built-in dialect needs "+field.name)
		}
	}
	return found
}

// TestBuiltInFaults checks that a built-in row without a field is reported by the
// name of that field, without a panic.
func TestBuiltInFaults(t *testing.T) {
	whole := *Anthropic
	for _, c := range []struct {
		want string
		take func(d *Dialect)
	}{
		{"a built-in dialect needs Driver", func(d *Dialect) { d.Driver = nil }},
		{"a built-in dialect needs Evidence", func(d *Dialect) { d.Evidence = nil }},
		{"a built-in dialect needs Provider", func(d *Dialect) { d.Provider = "" }},
		{"a built-in dialect needs Title", func(d *Dialect) { d.Title = "" }},
		{"a built-in dialect needs Summary", func(d *Dialect) { d.Summary = "" }},
		{"a built-in dialect needs Where", func(d *Dialect) { d.Where = "" }},
		{"a built-in dialect needs Example", func(d *Dialect) { d.Example = "" }},
		{"a built-in dialect needs Window", func(d *Dialect) { d.Window = 0 }},
	} {
		d := whole
		c.take(&d)
		if diff := cmp.Diff([]string{c.want}, lacks(&d)); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
	}
	for _, d := range All() {
		if found := lacks(d); found != nil {
			t.Errorf("%s: %v", d.Name, found)
		}
	}
}
