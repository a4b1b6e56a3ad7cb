// Command types writes the TypeScript types of the npm package @toolguard/core: report.ts from the
// schema of the JSON report, and names.ts from the lists of formats, providers and rules.
//
//	go run ./npm/types docs/report.schema.json npm/core/src
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/rules"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: types SCHEMA DIR")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "types:", err)
		os.Exit(1)
	}
}

func run(schema, dir string) error {
	text, err := os.ReadFile(schema)
	if err != nil {
		return err
	}
	reports, err := reportTypes(text)
	if err != nil {
		return fmt.Errorf("%s: %w", schema, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "report.ts"), []byte(reports), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "names.ts"), []byte(nameTypes()), 0o644)
}

// interfaces are the parts of the schema that are types, by their names in it. "" is the root.
var interfaces = []struct{ def, name string }{
	{"", "Report"},
	{"finding", "Finding"},
	{"position", "Position"},
	{"related", "Related"},
	{"fix", "Repair"},
	{"edit", "Edit"},
	{"file", "FileReport"},
	{"failed", "FailedFile"},
	{"applied", "Applied"},
	{"operations", "RepairsByClass"},
	{"results", "ChangedResults"},
	{"dropped", "Dropped"},
	{"repair", "AppliedRepair"},
	{"tool", "Tool"},
	{"summary", "Summary"},
	{"trim", "TrimReport"},
	{"cut", "Cut"},
	{"nocut", "NoCut"},
	{"instead", "Instead"},
	{"kept", "Kept"},
	{"shortened", "Shortened"},
}

// reportTypes returns the interfaces for a schema.
func reportTypes(schema []byte) (string, error) {
	root := gjson.ParseBytes(schema)
	var b strings.Builder
	b.WriteString("// Made from docs/report.schema.json by npm/types.\n")
	for _, i := range interfaces {
		def := root
		if i.def != "" {
			def = root.Get("$defs." + i.def)
		}
		if !def.Exists() {
			return "", fmt.Errorf("it has no definition %q", i.def)
		}
		if d := def.Get("description"); d.Exists() {
			comment(&b, "", d.String())
		} else {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "export interface %s {\n", i.name)
		var required []string
		for _, v := range def.Get("required").Array() {
			required = append(required, v.String())
		}
		var err error
		def.Get("properties").ForEach(func(key, value gjson.Result) bool {
			comment(&b, "  ", value.Get("description").String())
			mark := "?"
			if slices.Contains(required, key.String()) {
				mark = ""
			}
			var kind string
			if kind, err = typeOf(value); err != nil {
				err = fmt.Errorf("%s.%s: %w", i.name, key, err)
				return false
			}
			fmt.Fprintf(&b, "  %s%s: %s;\n", key, mark, kind)
			return true
		})
		if err != nil {
			return "", err
		}
		b.WriteString("}\n")
	}
	return b.String(), nil
}

// typeOf returns the type for a schema.
func typeOf(s gjson.Result) (string, error) {
	switch ref := s.Get("$ref"); {
	case ref.Exists():
		def := ref.String()[len("#/$defs/"):]
		for _, i := range interfaces {
			if i.def == def {
				return i.name, nil
			}
		}
		return "", fmt.Errorf("%q is not in the list of interfaces", def)
	case s.Get("const").Exists():
		return s.Get("const").Raw, nil
	case s.Get("enum").Exists():
		return union(s.Get("enum"), func(v gjson.Result) (string, error) { return v.Raw, nil })
	case s.Get("oneOf").Exists():
		return union(s.Get("oneOf"), typeOf)
	case s.Get("type").IsArray():
		return union(s.Get("type"), func(v gjson.Result) (string, error) { return simple(v.String(), s) })
	}
	return simple(s.Get("type").String(), s)
}

// simple returns the type for a name of a type in a schema.
func simple(name string, s gjson.Result) (string, error) {
	switch name {
	case "string", "boolean", "null", "number":
		return name, nil
	case "integer":
		return "number", nil
	case "array":
		of, err := typeOf(s.Get("items"))
		return "Array<" + of + ">", err
	}
	return "", fmt.Errorf("no type for %q", name)
}

// union returns the union of types.
func union(list gjson.Result, of func(gjson.Result) (string, error)) (string, error) {
	var out []string
	for _, v := range list.Array() {
		t, err := of(v)
		if err != nil {
			return "", err
		}
		out = append(out, t)
	}
	return strings.Join(out, " | "), nil
}

// comment writes a doc comment.
func comment(b *strings.Builder, indent, text string) {
	if text != "" {
		fmt.Fprintf(b, "%s/** %s%s */\n", indent, strings.ToUpper(text[:1]), strings.ReplaceAll(text[1:], "*/", "* /"))
	}
}

// nameTypes returns the types of names.
func nameTypes() string {
	var requests []string
	for _, d := range dialect.All() {
		if d.Body != nil {
			requests = append(requests, d.Name)
		}
	}
	var b strings.Builder
	b.WriteString("// Made from the tables of toolguard by npm/types.\n")
	for _, t := range []struct {
		name, what string
		values     []string
	}{
		{"Format", "A format of messages.", dialect.Builtin().Names()},
		{"RequestFormat", "A format of request bodies.", requests},
		{"Provider", "A model API.", profile.Names()},
		{"Rule", "A rule.", rules.Names()},
		{"Category", "A category of rules.", rules.Categories()},
	} {
		fmt.Fprintf(&b, "\n/** %s */\nexport type %s =\n  | %s;\n", t.what, t.name, literals(t.values, "\n  | "))
	}
	b.WriteString("\n/** The repairs among which rules let choose. */\nexport interface Strategies {\n")
	for _, r := range rules.All() {
		if len(r.Strategies) > 0 {
			fmt.Fprintf(&b, "  %s?: %s;\n", strconv.Quote(r.Name), literals(r.Strategies, " | "))
		}
	}
	b.WriteString("}\n")
	return b.String()
}

// literals joins values as literals.
func literals(values []string, by string) string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = strconv.Quote(v)
	}
	return strings.Join(out, by)
}
