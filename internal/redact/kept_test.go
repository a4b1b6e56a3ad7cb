package redact

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/golden"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
)

// A loss says which findings of a rule a redacted text may lack.
type loss struct{ rule, how string }

// losses lists the rules whose findings are kept in part, in the order of the catalogue. The findings of
// all other rules are kept.
func losses() []loss {
	return []loss{
		{"duplicate-tool-result", "a placeholder of another program is not kept, so the repair can differ"},
		{"invalid-server-tool-id", "documented prefixes stay; other reasons are not kept"},
		{"image-limit", "the size of an image is not kept if it is behind the first 4 KB"},
		{"missing-user-message", "a text of the user between `<tool_response>` tags becomes filler without them"},
		{"replayed-reasoning", "the documented value for a lost signature is not kept"},
		{"schema-violation", "limits, formats and patterns are not kept"},
		{"null-in-schema", "schemas of tools that are JSON text are not kept"},
	}
}

// TestKept: the findings of the examples of each rule are kept, unless losses has the rule.
func TestKept(t *testing.T) {
	inPart := map[string]bool{}
	for _, l := range losses() {
		inPart[l.rule] = true
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
				if !inPart[n.Rule] {
					t.Errorf("%s: %s is not kept in %s", rule.Name, n, text)
				}
			}
			for f := range got.Report.Findings.All() {
				kept[f.Rule.Name]++
			}
		}
	}
	var without []string
	for _, name := range rules.Names() {
		if kept[name] == 0 {
			without = append(without, name)
		}
		delete(inPart, name)
	}
	if len(without) > 0 || len(inPart) > 0 {
		t.Errorf("no example is kept of %q; no rules: %v", without, inPart)
	}
}

// TestLossesPage compares the table in docs/redact.md.
func TestLossesPage(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "redact.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("<!-- rules -->\n| rule | kept in part |\n|---|---|\n")
	for _, l := range losses() {
		fmt.Fprintf(&b, "| [%s](rules/%s.md) | %s |\n", l.rule, l.rule, l.how)
	}
	want := regexp.MustCompile(`(?m)^<!-- rules -->\n(?:\|.*\n)*`).ReplaceAllString(string(page), b.String())
	if !strings.Contains(want, b.String()) {
		t.Fatal("docs/redact.md has no table of rules")
	}
	golden.File(t, path, want)
}
