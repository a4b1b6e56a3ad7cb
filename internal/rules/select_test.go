package rules_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/toolguard/toolguard/internal/rules"
)

func TestSelect(t *testing.T) {
	t.Parallel()
	names := func(list []*rules.Rule) []string {
		out := []string{}
		for _, r := range list {
			out = append(out, r.Name)
		}
		return out
	}
	without := func(list []string, drop ...string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(drop, s) })
	}
	for _, tt := range []struct {
		what              string
		selected, ignored []string
		run               []string
		byName            []string
	}{
		{what: "nothing is named", run: rules.Names()},
		{what: "a rule", selected: []string{"last-role"}, run: []string{"last-role"}, byName: []string{"last-role"}},
		{what: "a category", selected: []string{"tools"}, run: []string{"unknown-tool", "schema-violation", "null-in-schema"}},
		{
			what: "a category and a rule of another, in the order of the catalogue", selected: []string{"tools", "broken-link"},
			run: []string{"broken-link", "unknown-tool", "schema-violation", "null-in-schema"}, byName: []string{"broken-link"},
		},
		{what: "an ignored rule", ignored: []string{"last-role"}, run: without(rules.Names(), "last-role")},
		{what: "an ignored category", ignored: []string{"tools"}, run: without(rules.Names(), "unknown-tool", "schema-violation", "null-in-schema")},
		{
			what: "a category without one of its rules", selected: []string{"tools"}, ignored: []string{"unknown-tool"},
			run: []string{"schema-violation", "null-in-schema"},
		},
		{what: "a rule that is also ignored", selected: []string{"last-role"}, ignored: []string{"roles"}, run: []string{}},
		{what: "everything is ignored", ignored: rules.Categories(), run: []string{}},
	} {
		run, byName := rules.Select(tt.selected, tt.ignored)
		if run == nil { // nil stands for all rules
			t.Errorf("%s: no list", tt.what)
		}
		if got := names(run); !slices.Equal(got, tt.run) {
			t.Errorf("%s: got %v, want %v", tt.what, got, tt.run)
		}
		if got := slices.Sorted(maps.Keys(byName)); !slices.Equal(got, tt.byName) {
			t.Errorf("%s: got %v by name, want %v", tt.what, got, tt.byName)
		}
	}
}

// TestFamilies: each family is named after one of its rules, which needs no Family then, or is
// the order of messages.
func TestFamilies(t *testing.T) {
	t.Parallel()
	for _, r := range rules.All() {
		named := rules.ByName(r.Family)
		if r.Family == "" || r.Family == rules.MessageOrder {
			continue
		}
		if named == nil || named == r || named.Family != "" {
			t.Errorf("%s: the family %q is not the name of another rule in that family", r.Name, r.Family)
		}
	}
}

func TestSelectable(t *testing.T) {
	t.Parallel()
	all := rules.Selectable()
	if len(all) != len(rules.All())+len(rules.Categories()) {
		t.Errorf("%d names", len(all))
	}
	for _, name := range all {
		if run, _ := rules.Select([]string{name}, nil); len(run) == 0 {
			t.Errorf("%s selects nothing", name)
		}
	}
}
