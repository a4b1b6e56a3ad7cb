package redact

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/golden"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
)

// keptInPart reports whether some findings of a rule may be lost.
func keptInPart(rule string) bool {
	return slices.ContainsFunc(Fates(), func(f Fate) bool { return f.Rule == rule && f.Part })
}

// TestFates: there is a fate for each rule, and the examples of each rule are kept unless its fate
// says otherwise.
func TestFates(t *testing.T) {
	var names []string
	for _, f := range Fates() {
		names = append(names, f.Rule)
	}
	if diff := cmp.Diff(rules.Names(), names); diff != "" {
		t.Error(diff)
	}
	kept := map[string]int{}
	for _, rule := range rules.All() {
		opts := engine.Options{Send: strings.Contains(rule.Args, "--send")}
		if _, target, has := strings.Cut(rule.Args, "--provider "); has {
			opts.Target = profile.ByName(strings.Fields(target)[0])
		}
		if _, name, has := strings.Cut(rule.Args, "--select "); has {
			opts.Explicit = map[string]bool{name: true}
		}
		for _, text := range []string{rule.Bad, rule.Good} {
			got, err := redact(t.Context(), source.FromBytes("in", []byte(text)), opts, []byte("k"), func(s sum) sum { return s })
			if err != nil || got.Source == nil {
				t.Errorf("%s: %v", rule.Name, err)
				continue
			}
			for _, n := range got.NotKept {
				if !keptInPart(n.Rule) {
					t.Errorf("%s: %s is not kept in %s", rule.Name, n, text)
				}
			}
			for f := range got.Report.Findings.All() {
				kept[f.Rule.Name]++
			}
		}
	}
	for _, f := range Fates() {
		if kept[f.Rule] == 0 {
			t.Errorf("no example of %s is kept", f.Rule)
		}
	}
}

// TestFatesPage compares the table in docs/redact.md.
func TestFatesPage(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "redact.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("<!-- rules -->\n| rule | findings | because |\n|---|---|---|\n")
	for _, f := range Fates() {
		kept := "kept"
		if f.Part {
			kept = "kept in part"
		}
		fmt.Fprintf(&b, "| [%s](rules/%s.md) | %s | %s |\n", f.Rule, f.Rule, kept, f.How)
	}
	want := regexp.MustCompile(`(?m)^<!-- rules -->\n(?:\|.*\n)*`).ReplaceAllString(string(page), b.String())
	if !strings.Contains(want, b.String()) {
		t.Fatal("docs/redact.md has no table of rules")
	}
	golden.File(t, path, want)
}
