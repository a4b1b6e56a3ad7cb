package rules_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/golden"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/report"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
)

var docs = filepath.Join("..", "..", "docs", "rules")

func findings(t *testing.T, what, text string) []engine.Finding {
	t.Helper()
	return findingsWith(t, what, text, "")
}

// findingsWith checks a text with the flags of a rule's examples.
func findingsWith(t *testing.T, what, text, args string) []engine.Finding {
	t.Helper()
	rep, err := engine.Check(context.Background(), source.FromBytes(what, []byte(text)), options(t, args))
	if err != nil {
		t.Fatal(err)
	}
	if rep.Skipped != "" {
		t.Fatalf("%s is no transcript: %s", what, rep.Skipped)
	}
	return rep.Findings.List()
}

// options returns the options that the flags of an example stand for.
func options(t *testing.T, args string) engine.Options {
	t.Helper()
	opts := engine.Options{}
	for flags := strings.Fields(args); len(flags) > 0; flags = flags[1:] {
		switch {
		case flags[0] == "--send":
			opts.Send = true
		case flags[0] == "--provider" && len(flags) > 1:
			opts.Target = profile.ByName(flags[1])
			flags = flags[1:]
		case flags[0] == "--select" && len(flags) > 1:
			opts.Explicit = map[string]bool{flags[1]: true}
			flags = flags[1:]
		default:
			t.Fatalf("flags %q", args)
		}
	}
	return opts
}

// unavoidable are the errors and warnings of good examples: an example shows what its rule
// accepts, and may have other faults.
var unavoidable = map[string][]string{
	"ambiguous-pairing": {"missing-call-id"}, // only calls without ids can be ambiguous
}

var kebab = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// TestRules: every rule is documented, and its examples have the findings that it says.
func TestRules(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range rules.All() {
		t.Run(r.Name, func(t *testing.T) {
			if seen[r.Name] {
				t.Errorf("two rules have this name")
			}
			seen[r.Name] = true
			if !kebab.MatchString(r.Name) {
				t.Errorf("the name is not in kebab case")
			}
			file := strings.ReplaceAll(r.Name, "-", "_") + ".go"
			src, err := os.ReadFile(file)
			if err != nil {
				t.Errorf("the rule has no file of its name: %v", err)
			} else if !strings.Contains(string(src), `Name: "`+r.Name+`"`) {
				t.Errorf("%s does not hold the rule", file)
			}
			if !slices.Contains(rules.Categories(), r.Category) {
				t.Errorf("category %q", r.Category)
			}
			if r.Summary == "" || strings.HasSuffix(r.Summary, ".") {
				t.Errorf("summary %q", r.Summary)
			}
			if slices.Contains([]string{r.Severity, r.What, r.Why, r.Repair, r.Bad, r.Good}, "") {
				t.Errorf("severity, what, why, repair, bad or good example is missing")
			}
			if (r.Check == nil) == (r.CheckFile == nil) {
				t.Errorf("one of Check and CheckFile must be set")
			}
			if rules.ByName(r.Name) != r {
				t.Errorf("ByName returns another rule")
			}
			if !strings.HasSuffix(r.URL(), "/"+r.Name+".md") {
				t.Errorf("URL %s", r.URL())
			}
			reported := false
			for _, f := range findingsWith(t, "the bad example", r.Bad, r.Args) {
				reported = reported || f.Rule == r
			}
			if !reported {
				t.Errorf("the bad example is not reported")
			}
			for _, f := range findingsWith(t, "the good example", r.Good, r.Args) {
				if f.Rule == r {
					t.Errorf("the good example is reported: %d:%d: %s", f.Start.Line, f.Start.Column, f.Message)
				} else if f.Severity > rules.Info && !slices.Contains(unavoidable[r.Name], f.Rule.Name) {
					t.Errorf("the good example has an %s: %s: %s", f.Severity, f.Rule.Name, f.Message)
				}
			}
		})
	}
	for _, file := range must(filepath.Glob("*.go")) {
		src := string(must(os.ReadFile(file)))
		if name := strings.TrimSuffix(strings.ReplaceAll(file, "_", "-"), ".go"); !strings.HasSuffix(file, "_test.go") && strings.Contains(src, "= &Rule{") && !seen[name] {
			t.Errorf("%s holds a rule that is not listed", file)
		}
	}
	if rules.ByName("no-such-rule") != nil {
		t.Error("ByName made a rule up")
	}
	for _, c := range rules.Categories() {
		if !slices.ContainsFunc(rules.All(), func(r *rules.Rule) bool { return r.Category == c }) {
			t.Errorf("no rule in category %s", c)
		}
	}
}

// TestEmptyMessageIsEmpty: dropping a message is safe only if it has no recorded content.
func TestEmptyMessageIsEmpty(t *testing.T) {
	for _, c := range []struct{ message, want string }{
		{`{"role":"assistant","content":null}`, "safe"},
		{`{"role":"assistant","content":"","tool_calls":null}`, ""}, // the API takes an empty text
		{`{"role":"assistant","content":null,"tool_calls":[]}`, "safe"},
		{`{"role":"assistant","content":null,"reasoning_content":""}`, "safe"},
		{`{"role":"assistant","content":null,"reasoning_content":"hm"}`, "unsafe"},
		{`{"role":"assistant","content":null,"refusal":"no"}`, ""},
		{`{"role":"assistant","content":null,"tool_calls":{"0":{"id":"c","function":{"name":"f","arguments":"{}"}}}}`, ""},
		{`{"role":"assistant","content":null,"function_call":"f"}`, ""},
	} {
		got := ""
		for _, f := range findings(t, "an empty message", `[{"role":"user","content":"q"},`+c.message+`,{"role":"user","content":"n"}]`) {
			if f.Rule.Name == "empty-message" {
				got = f.Fix.Class.String()
			}
		}
		if got != c.want {
			t.Errorf("%s: dropping it is %q, want %q", c.message, got, c.want)
		}
	}
}

// TestDropsAreSafe: a safe operation drops only content that exists elsewhere.
func TestDropsAreSafe(t *testing.T) {
	results := func(first string) string {
		return `[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},{"role":"user","content":[` +
			`{"type":"tool_result","tool_use_id":"a","content":` + first + `},{"type":"tool_result","tool_use_id":"a","content":"1"}]}]`
	}
	calls := func(second string) string {
		return `[{"type":"shell_call","call_id":"a","action":{"commands":["ls"]}},` + second + `,{"type":"shell_call_output","call_id":"a","output":[]}]`
	}
	for _, c := range []struct{ text, want string }{
		{results(`"No result provided"`), "safe"},
		{results(`[{"type":"text","text":"No result provided"}]`), "safe"},
		{results(`[{"type":"text","text":"No result provided"},{"type":"text","text":"2"}]`), "unsafe"},
		{results(`[{"type":"text","text":"No result provided","citations":[1]}]`), "unsafe"},
		{results(`[]`), "unsafe"},
		{calls(`{"type":"shell_call","call_id":"a","action":{"commands":["ls"]}}`), "safe"},
		{calls(`{"type":"shell_call","call_id":"a","action":{"commands":["rm"]}}`), "unsafe"},
		{calls(`{"type":"function_call","call_id":"a","name":"ls"}`), "unsafe"},
	} {
		got := ""
		for _, f := range findings(t, "a copy", c.text) {
			if f.Fix != nil && (f.Rule.Name == "duplicate-tool-result" || f.Rule.Name == "duplicate-call-id") {
				got = f.Fix.Class.String()
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
	}
}

// TestErrorsForEveryone: a history whose calls and results do not match is
// broken whatever one provider tolerates.
func TestErrorsForEveryone(t *testing.T) {
	for _, r := range rules.All() {
		if r.Category != rules.Pairing || r.Severity != "error" {
			continue
		}
		for _, p := range profile.All() {
			rep, err := engine.Check(t.Context(), source.FromBytes(r.Name, []byte(r.Bad)), engine.Options{Rules: []*rules.Rule{r}, Target: p})
			if err != nil {
				t.Fatal(err)
			}
			if rep.Findings.Len() == 0 || rep.Findings.List()[0].Severity != rules.Error {
				t.Errorf("%s is no error with the target %s", r.Name, p.Name)
			}
		}
	}
}

func TestSeverities(t *testing.T) {
	for _, s := range []rules.Severity{rules.Off, rules.Info, rules.Warning, rules.Error} {
		if got, ok := rules.ParseSeverity(s.String()); !ok || got != s {
			t.Errorf("%s is read as %s, %v", s, got, ok)
		}
	}
	for _, s := range []string{"", "Error", "fatal"} {
		if got, ok := rules.ParseSeverity(s); ok {
			t.Errorf("%q is read as %s", s, got)
		}
	}
}

// TestDocs compares docs/rules with the rules: a list of them, and a page for each with the
// findings in its examples.
func TestDocs(t *testing.T) {
	want := map[string]string{"README.md": index()}
	for _, r := range rules.All() {
		want[r.Name+".md"] = page(t, r)
	}
	golden.Folder(t, docs, want)
}

// TestStrategiesAreDocumented: docs/fix.md has a row for each rule that can be
// repaired in several ways, with all of them, the default first.
func TestStrategiesAreDocumented(t *testing.T) {
	text := string(must(os.ReadFile(filepath.Join(docs, "..", "fix.md"))))
	rows := map[string][]string{}
	names := regexp.MustCompile("`([a-z][a-z-]*)`")
	for line := range strings.Lines(text) {
		cells := strings.Split(line, "|")
		if len(cells) != 4 || !strings.HasPrefix(cells[1], " `") {
			continue
		}
		rule := strings.Trim(cells[1], " `")
		for _, m := range names.FindAllStringSubmatch(cells[2], -1) {
			rows[rule] = append(rows[rule], m[1])
		}
	}
	for _, r := range rules.All() {
		if len(r.Strategies) == 0 {
			if rows[r.Name] != nil {
				t.Errorf("docs/fix.md has strategies of %s", r.Name)
			}
			continue
		}
		if !slices.Equal(rows[r.Name], r.Strategies) {
			t.Errorf("docs/fix.md has %q for %s, which has %q", rows[r.Name], r.Name, r.Strategies)
		}
	}
}

// TestPagesAreShort: a page of a rule can be read at a glance.
func TestPagesAreShort(t *testing.T) {
	for _, r := range rules.All() {
		file := filepath.Join(docs, r.Name+".md")
		if n := len(strings.Fields(string(must(os.ReadFile(file))))); n > rules.PageWords {
			t.Errorf("%s has %d words, want at most %d", file, n, rules.PageWords)
		}
	}
}

// TestStrategiesOnPages: the page of a rule lists its strategies, the default first, with the class
// of each.
func TestStrategiesOnPages(t *testing.T) {
	item := regexp.MustCompile("(?m)^- `([a-z-]+)`(?: \\((default)?(?:, )?(safe|additive|unsafe)?\\))?: [a-z]")
	for _, r := range rules.All() {
		var names []string
		for i, m := range item.FindAllStringSubmatch(r.Repair, -1) {
			names = append(names, m[1])
			if (m[2] != "") != (i == 0) || (m[3] == "") != (m[1] == "leave") {
				t.Errorf("%s: item %q", r.Name, m[0])
			}
		}
		if !slices.Equal(names, r.Strategies) {
			t.Errorf("the page of %s has the strategies %q, the rule %q", r.Name, names, r.Strategies)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// page returns the page of a rule, with the report of its bad example.
func page(t *testing.T, r *rules.Rule) string {
	t.Helper()
	name := "bad.jsonl"
	if strings.HasPrefix(r.Bad, "[") || json.Valid([]byte(r.Bad)) {
		name = "bad.json"
	}
	opts := options(t, r.Args)
	opts.Rules, opts.Excerpts = []*rules.Rule{r}, true
	rep, err := engine.Check(t.Context(), source.FromBytes(name, []byte(r.Bad)), opts)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := report.Formats()[0].New(&b, report.Options{}).File(rep); err != nil {
		t.Fatal(err)
	}
	return r.Page(b.String())
}

// cell writes a text for a cell of a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

func index() string {
	var b strings.Builder
	b.WriteString("# Rules\n\n`toolguard explain <rule>` shows the page of a rule in the terminal.\n\n" +
		"With the severity \"by provider\", the [provider](../profiles.md) decides how severe the finding is.\n\n" +
		"The pages show errors of providers without addresses, and only the beginnings of long ones. `name*` is a provider\n" +
		"with all of its variants. `toolguard profiles -o json` prints whole texts and sources.\n")
	for _, c := range rules.Categories() {
		fmt.Fprintf(&b, "\n## %s\n\n| Rule | Severity | Finding |\n|---|---|---|\n", c)
		for _, r := range rules.All() {
			if r.Category == c {
				fmt.Fprintf(&b, "| [%s](%s.md) | %s | %s |\n", r.Name, r.Name, r.Severity, r.Summary)
			}
		}
	}
	return b.String()
}
