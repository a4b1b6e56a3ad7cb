package schema

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/toolguard/toolguard/internal/reference"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
)

// An other is a schema for the other implementation.
type other struct {
	schema    string
	ok        bool   // the schema is valid
	invalid   string // why the schema is invalid
	unchecked []string
}

// violations returns where arguments violate a schema.
func violations(n *node, arguments []byte) []rules.Violation {
	v := &validator{scanner: source.NewScanner()}
	return v.violations(n, arguments)
}

// A violation is the result for one place.
type violation struct{ pointer, broken, message string }

// someName stands for the place of an object with an invalid key, which the other
// implementation does not report.
const someName = "?"

// startReference starts the other implementation once for all tests.
var startReference = sync.OnceValues(reference.Start)

// newOther compiles a schema with the other implementation.
func newOther(t *testing.T, text string) other {
	t.Helper()
	in := json.NewDecoder(strings.NewReader(text))
	in.UseNumber()
	var doc any
	if err := in.Decode(&doc); err != nil {
		return other{}
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return other{}
	}
	rewrite(doc)
	rewritten, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	o := other{schema: string(rewritten)}
	a := o.ask(t)
	o.invalid, o.unchecked = a.Invalid, a.Unchecked
	o.ok = a.Invalid == ""
	return o
}

// ask asks the other implementation about values.
func (o other) ask(t *testing.T, values ...string) reference.Answer {
	t.Helper()
	v, err := startReference()
	if err != nil {
		t.Fatal(err)
	}
	a, err := v.Validate(reference.Request{Schema: o.schema, URL: toolAddress, Values: values})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// rewrite converts a schema from OpenAPI to JSON Schema.
func rewrite(schema any) {
	s, ok := schema.(map[string]any)
	if !ok {
		return
	}
	for key, v := range s {
		switch key {
		case "enum", "const", "default", "examples", "required", "dependentRequired", "$vocabulary":
			continue
		}
		switch v := v.(type) {
		case map[string]any:
			switch key {
			case "$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties":
				for name, in := range v {
					rewrite(in)
					if _, err := regexp.Compile(name); err != nil && key == "patternProperties" {
						v[name] = map[string]any{}
					}
				}
			default:
				rewrite(v)
			}
		case []any:
			for _, in := range v {
				rewrite(in)
			}
		}
	}
	var types []any
	switch t := s["type"].(type) {
	case string:
		types = []any{t}
	case []any:
		types = t
	default:
		return
	}
	for i, t := range types {
		if name, ok := t.(string); ok {
			types[i] = strings.ToLower(name)
		}
	}
	if s["nullable"] == true && !slices.Contains(types, any("null")) {
		types = append(types, "null")
	}
	s["type"] = types
}

// violations returns the violations that the other implementation finds.
func (o other) violations(t *testing.T, arguments string) []violation {
	t.Helper()
	if !o.ok {
		return nil
	}
	var out []violation
	for _, f := range o.ask(t, arguments).Failures[0] {
		if f.Keyword == "json" {
			return nil
		}
		keys := []string{""}
		for _, key := range f.At {
			keys = append(keys, strings.NewReplacer("~", "~0", "/", "~1").Replace(key))
		}
		pointer := strings.Join(keys, "/")
		if f.Name {
			pointer = someName
		}
		out = append(out, violation{pointer, broken(f), f.Message})
	}
	slices.SortFunc(out, compareViolations)
	return slices.Compact(out)
}

func compareViolations(a, b violation) int {
	return cmp.Or(cmp.Compare(a.pointer, b.pointer), cmp.Compare(a.broken, b.broken), cmp.Compare(a.message, b.message))
}

// broken returns the keyword that is violated.
func broken(f reference.Failure) string {
	switch f.Keyword {
	case "type":
		return "type: want " + strings.Join(f.Want, " or ")
	case "required", "dependentRequired", "dependencies":
		return f.Keyword + ": missing " + doubles(f.Missing)
	case "false":
		return "nothing is allowed here"
	case "":
		return "a value that is not allowed"
	}
	return f.Keyword
}
