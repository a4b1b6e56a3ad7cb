package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	lib "github.com/toolguard/toolguard"
	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/golden"
)

// maxFormats is how many words docs/formats.md may have outside of its tables.
const maxFormats = 1800

// TestFormatsPage compares the tables of formats and containers in docs/formats.md with the
// program, and with what it does to the fixtures of each format.
func TestFormatsPage(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "formats.md")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := section(t, string(raw), "formats", formatsRows(t))
	want = section(t, want, "containers", containersRows())
	golden.File(t, path, want)
	prose := regexp.MustCompile(`(?m)^\|.*\n`).ReplaceAllString(want, "")
	if n := len(strings.Fields(prose)); n > maxFormats {
		t.Errorf("docs/formats.md has %d words outside of its tables, at most %d are allowed", n, maxFormats)
	}
}

func formatsRows(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("| format | agent or program | where its files are | provider | commands |\n|---|---|---|---|---|\n")
	for _, d := range dialect.All() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | `%s` | %s |\n", d.Name, d.Title, escapeCell(d.Where), d.Provider, strings.Join(commandsFor(t, d), ", "))
	}
	return b.String()
}

// commandsFor returns the commands that take files of a format: a command that takes none of
// its fixtures refuses the format, not the contents of a file.
func commandsFor(t *testing.T, d *dialect.Dialect) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("..", "..", "testdata", "transcripts", d.Name, "ok", "*"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s has no fixtures: %v", d.Name, err)
	}
	trimmed, redacted := false, false
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = lib.TrimBytes(t.Context(), text, lib.TrimTo{MaxBytes: 1 << 30}, lib.Dialect(d.Name))
		trimmed = trimmed || err == nil
		_, _, err = lib.RedactBytes(t.Context(), text, lib.Dialect(d.Name))
		redacted = redacted || err == nil
	}
	commands := []string{"check"}
	for _, c := range []struct {
		name string
		does bool
	}{{"fix", d.CheckOnly == ""}, {"trim", trimmed}, {"redact", redacted}} {
		if c.does {
			commands = append(commands, c.name)
		}
	}
	return commands
}

func containersRows() string {
	var b strings.Builder
	b.WriteString("| container | what it is | example |\n|---|---|---|\n")
	for _, c := range containers() {
		fmt.Fprintf(&b, "| `%s` | %s | `%s` |\n", c.Name, c.Summary, c.Example)
	}
	return b.String()
}

// escapeCell escapes a text for a cell of a table in Markdown.
func escapeCell(s string) string {
	return strings.NewReplacer("<", "&lt;", ">", "&gt;", "|", "\\|", "*", "\\*", "_", "\\_").Replace(s)
}

// TestLinks checks that each link of a page leads to a file of the repository, and to a heading
// of a page if it names one.
func TestLinks(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	block := regexp.MustCompile("(?sm)^```.*?^```$")
	pages := map[string]string{} // by path, without code
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (e.Name() == ".git" || e.Name() == "testdata"):
			return filepath.SkipDir
		case e.IsDir() || filepath.Ext(path) != ".md":
			return nil
		}
		text, err := os.ReadFile(path)
		pages[path] = block.ReplaceAllString(string(text), "")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	heading := regexp.MustCompile(`(?m)^#+ +(.*)$`)
	notInAnchor := regexp.MustCompile(`[^\pL\pN_ -]`)
	anchors := func(path string) (list []string) {
		for _, m := range heading.FindAllStringSubmatch(pages[path], -1) {
			list = append(list, strings.ReplaceAll(notInAnchor.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-"))
		}
		return list
	}
	link := regexp.MustCompile(`\]\(([^)\s{}]+)\)`)
	checked := 0
	for page, text := range pages {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			name, anchor, _ := strings.Cut(m[1], "#")
			path, ours := strings.CutPrefix(name, "https://github.com/toolguard/toolguard/blob/main/")
			switch {
			case ours:
				path = filepath.Join(root, filepath.FromSlash(path))
			case strings.Contains(name, ":"):
				continue
			case name == "":
				path = page
			default:
				path = filepath.Join(filepath.Dir(page), filepath.FromSlash(name))
			}
			checked++
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s: the link %s leads nowhere", page, m[1])
			} else if anchor != "" && filepath.Ext(path) == ".md" && !slices.Contains(anchors(path), anchor) {
				t.Errorf("%s: the link %s leads to no heading", page, m[1])
			}
		}
	}
	if checked < 300 {
		t.Errorf("the pages have %d links to files", checked)
	}
}

// TestVersions checks that every example of a hook or of the action in the Markdown files names the
// newest version that CHANGELOG.md gives a date, or the branch main as long as there is none.
func TestVersions(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	changes, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	if err != nil {
		t.Fatal(err)
	}
	want := "main"
	newest := regexp.MustCompile(`(?m)^## (\d+\.\d+\.\d+) - \d{4}-\d\d-\d\d$`).FindSubmatch(changes)
	if newest != nil {
		want = "v" + string(newest[1])
	}
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if none := bytes.Contains(readme, []byte("There is no release yet.")); none != (newest == nil) {
		t.Errorf("README.md says that there is no release: %v", none)
	}
	named := regexp.MustCompile(`(?m)^\s*rev: *(.*?)\s*$|uses: toolguard/toolguard@(\S+)`)
	found := map[string]bool{}
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (e.Name() == ".git" || e.Name() == "testdata"):
			return filepath.SkipDir
		case e.IsDir() || filepath.Ext(path) != ".md":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		for _, m := range named.FindAllSubmatch(text, -1) {
			found[name] = true
			if got := string(m[1]) + string(m[2]); got != want {
				t.Errorf("%s has %q, want %s", name, strings.TrimSpace(string(m[0])), want)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"README.md", "docs/ci.md"} {
		if !found[name] {
			t.Errorf("%s has no hook", name)
		}
	}
}

// TestJSONPage compares the tables of docs/json.md with docs/report.schema.json.
func TestJSONPage(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "json.md")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	schema, err := os.ReadFile(reportSchemaPath)
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]bool{"line": true}
	table := regexp.MustCompile(`(?m)^<!-- fields of ([a-z]+) -->\n(?:\|.*\n)*`)
	want := table.ReplaceAllStringFunc(string(raw), func(was string) string {
		name := table.FindStringSubmatch(was)[1]
		told[name] = true
		return fmt.Sprintf("<!-- fields of %s -->\n%s", name, fieldTable(gjson.ParseBytes(schema), name))
	})
	for name := range gjson.GetBytes(schema, "$defs").Map() {
		if !told[name] {
			t.Errorf("docs/json.md has no fields of %s", name)
		}
	}
	golden.File(t, path, want)
}

// fieldTable returns the fields of a definition of the schema, or of the document, as a table
// in Markdown. For lines it lists the types.
func fieldTable(schema gjson.Result, name string) string {
	var b strings.Builder
	if name == "line" {
		b.WriteString("| type | fields | line |\n|---|---|---|\n")
		for _, o := range schema.Get("$defs.line.oneOf").Array() {
			of := o.Get("properties.type")
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", of.Get("const"), fieldType(o), of.Get("description"))
		}
		return b.String()
	}
	if name != "document" {
		schema = schema.Get("$defs." + name)
	}
	b.WriteString("| field | type | meaning |\n|---|---|---|\n")
	schema.Get("properties").ForEach(func(key, p gjson.Result) bool {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", key, fieldType(p), p.Get("description"))
		return true
	})
	return b.String()
}

// fieldType returns the type of a field as the tables show it.
func fieldType(p gjson.Result) string {
	names := func(list gjson.Result) string {
		var out []string
		for _, v := range list.Array() {
			if v.Raw == "null" || v.Type != gjson.String {
				out = append(out, v.Raw)
			} else {
				out = append(out, "`"+v.String()+"`")
			}
		}
		return strings.Join(out, ", ")
	}
	switch kind := p.Get("type"); {
	case p.Get("$ref").Exists():
		name := strings.TrimPrefix(p.Get("$ref").String(), "#/$defs/")
		return fmt.Sprintf("[%s](#%[1]s)", name)
	case p.Get("const").Exists():
		return names(gjson.Parse("[" + p.Get("const").Raw + "]"))
	case p.Get("enum").Exists():
		return names(p.Get("enum"))
	case p.Get("oneOf").Exists():
		var out []string
		for _, o := range p.Get("oneOf").Array() {
			out = append(out, fieldType(o))
		}
		return strings.Join(out, " or ")
	case kind.String() == "array":
		return "list of " + strings.ReplaceAll(fieldType(p.Get("items")), "string", "strings")
	case kind.IsArray():
		var out []string
		for _, o := range kind.Array() {
			out = append(out, o.String())
		}
		return strings.Join(out, " or ")
	default:
		return kind.String()
	}
}
