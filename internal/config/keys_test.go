package config

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/toolguard/toolguard/internal/golden"
)

// TestKeys checks that rowTables has each table of a format, with a text for each of its keys
// and for no other.
func TestKeys(t *testing.T) {
	t.Parallel()
	for _, table := range rowTables() {
		var keys []string
		for _, k := range rowKeys(table.typ) {
			keys = append(keys, k.name)
			if text := table.keys[k.name]; text == "" || strings.HasSuffix(text, ".") || strings.Contains(text, "dialect") {
				t.Errorf("%s.%s: expected a clause about a format: %q", table.name, k.name, text)
			}
		}
		for key := range table.keys {
			if !slices.Contains(keys, key) {
				t.Errorf("%s has no key %s", table.name, key)
			}
		}
	}
}

// maxTutorial is how many words docs/dialects.md may have, as wc counts them.
const maxTutorial = 600

// TestKeysPages compares the tables of keys in docs/config.md and docs/format-keys.md with the
// schema, and the keys that a format needs with what is said of tables without keys.
func TestKeysPages(t *testing.T) {
	text, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	schema := gjson.ParseBytes(text)
	table := regexp.MustCompile(`(?m)^<!-- (?:keys of ([a-z.-]+)|required keys) -->\n(?:\|.*\n)*`)
	told := map[string]bool{}
	for _, name := range []string{"config.md", "format-keys.md"} {
		path := filepath.Join("..", "..", "docs", name)
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		golden.File(t, path, table.ReplaceAllStringFunc(string(raw), func(was string) string {
			head, _, _ := strings.Cut(was, "\n")
			name := table.FindStringSubmatch(was)[1]
			told[name] = true
			switch name {
			case "":
				return head + "\n" + requiredTable()
			case "toolguard.toml":
				return head + "\n" + keyTable(schema)
			case "per-file":
				return head + "\n" + keyTable(schema.Get("properties.per-file.items"))
			}
			return head + "\n" + keyTable(schema.Get("$defs."+name))
		}))
	}
	for _, name := range append([]string{"", "toolguard.toml", "per-file"}, rowTableNames()...) {
		if !told[name] {
			t.Errorf("no page has the keys of %q", name)
		}
	}
	tutorial, err := os.ReadFile(filepath.Join("..", "..", "docs", "dialects.md"))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(strings.Fields(string(tutorial))); n > maxTutorial {
		t.Errorf("docs/dialects.md has %d words, at most %d are allowed", n, maxTutorial)
	}
}

func rowTableNames() (names []string) {
	for _, t := range rowTables() {
		names = append(names, t.name)
	}
	return names
}

// keyTable returns the keys of a table of the schema as a table in Markdown.
func keyTable(schema gjson.Result) string {
	var b strings.Builder
	b.WriteString("| key | value | meaning |\n|---|---|---|\n")
	schema.Get("properties").ForEach(func(key, p gjson.Result) bool {
		if p.Get("deprecated").Bool() {
			return true
		}
		meaning := strings.NewReplacer("|", `\|`, "<", "&lt;", ">", "&gt;", "*", `\*`).Replace(p.Get("description").String())
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", key, keyValue(p), meaning)
		return true
	})
	return b.String()
}

// keyValue says what a key may have.
func keyValue(p gjson.Result) string {
	name := strings.TrimPrefix(p.Get("$ref").String(), "#/$defs/")
	switch kind := p.Get("type").String(); {
	case name == "dialect":
		return "table"
	case name != "":
		return fmt.Sprintf("[%s](#%[1]s)", name)
	case p.Get("enum").Exists():
		var words []string
		for _, v := range p.Get("enum").Array() {
			words = append(words, "`"+v.String()+"`")
		}
		if len(words) > 12 { // names of rules and providers, which have lists of their own
			return "name"
		}
		return strings.Join(words, ", ")
	case kind == "array":
		items := keyValue(p.Get("items"))
		if strings.HasPrefix(items, "[") {
			return "list of " + items
		}
		plural := strings.NewReplacer("strings", "strings", "string", "strings", "name", "names", "table", "tables", "list", "lists")
		return "list of " + plural.Replace(items)
	case kind == "object" && p.Get("additionalProperties.enum").Exists():
		return "table of " + keyValue(p.Get("additionalProperties"))
	case kind == "object":
		return "table"
	case kind == "boolean":
		return "`true`, `false`"
	default:
		return kind
	}
}

// requiredTable returns for each table of a shape the keys that it needs, as the checks of
// tables without keys find them.
func requiredTable() string {
	var b strings.Builder
	b.WriteString("| table | required keys |\n|---|---|\n")
	for _, shape := range []struct{ name, empty string }{
		{"blocks", "parts = [{}, { is = 'call' }]"},
		{"side-list", ""},
		{"items", "type = 't'\nid = ['i']\npairs = [{}]"},
		{"events", "calls = [{}]\nresults = [{}]\nsays = [{}]"},
		{"combined", "records = [{ answer = [{}], states = [{}] }]"},
	} {
		var tables []string
		keys := map[string][]string{}
		for _, more := range []string{"", shape.empty} {
			_, problems := rows([]byte("[[dialect]]\nname = 'a'\nmarks = ['x']\ndriver = '" + shape.name + "'\n[dialect." + shape.name + "]\n" + more + "\n"))
			for _, p := range problems {
				table, key, needs := strings.Cut(p.Message, " needs ")
				if !needs {
					continue
				}
				if keys[table] == nil {
					tables = append(tables, table)
				}
				if !slices.Contains(keys[table], key) {
					keys[table] = append(keys[table], key)
				}
			}
		}
		for _, table := range tables {
			fmt.Fprintf(&b, "| `%s` | %s |\n", table, strings.Join(keys[table], "; "))
		}
	}
	return b.String()
}
