package schema

import (
	"bytes"
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
)

// A reference is a schema compiled by the other implementation.
type reference struct {
	schema    *jsonschema.Schema // nil if the schema is invalid
	unchecked []string
	err       error // why the schema is invalid
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

// newReference compiles a schema with the other implementation.
func newReference(text string) reference {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return reference{}
	}
	rewrite(doc)
	var r reference
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{})
	c.UseRegexpEngine(func(pattern string) (jsonschema.Regexp, error) {
		re, err := regexp.Compile(pattern)
		if err != nil {
			if !slices.Contains(r.unchecked, pattern) {
				r.unchecked = append(r.unchecked, pattern)
			}
			return unreadable(pattern), nil
		}
		return re, nil
	})
	if err := c.AddResource(toolAddress, doc); err != nil {
		return reference{err: err}
	}
	if r.schema, err = c.Compile(toolAddress); err != nil {
		return reference{err: err}
	}
	slices.Sort(r.unchecked)
	return r
}

// An unreadable is an invalid pattern, which matches everything.
type unreadable string

func (unreadable) MatchString(string) bool { return true }
func (u unreadable) String() string        { return string(u) }

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

// violations returns the violations that the other implementation finds, except those by
// schemas that only refer back to themselves, because they are not caused by the
// arguments.
func (r reference) violations(arguments []byte) []violation {
	if r.schema == nil {
		return nil
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(arguments))
	if err != nil {
		return nil
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(r.schema.Validate(doc), &invalid) {
		return nil
	}
	printer := message.NewPrinter(language.English)
	var out []violation
	var walk func(e *jsonschema.ValidationError, name bool)
	walk = func(e *jsonschema.ValidationError, name bool) {
		if _, of := e.ErrorKind.(*kind.PropertyNames); of {
			name = true
		}
		for _, cause := range e.Causes {
			walk(cause, name)
		}
		if len(e.Causes) > 0 {
			return
		}
		switch k := e.ErrorKind.(type) {
		case *kind.RefCycle:
			return
		case *kind.AdditionalProperties:
			slices.Sort(k.Properties)
		}
		keys := []string{""}
		for _, key := range e.InstanceLocation {
			keys = append(keys, strings.NewReplacer("~", "~0", "/", "~1").Replace(key))
		}
		pointer := strings.Join(keys, "/")
		if name {
			pointer = someName
		}
		out = append(out, violation{pointer, brokenKind(e.ErrorKind), e.ErrorKind.LocalizedString(printer)})
	}
	walk(invalid, false)
	slices.SortFunc(out, compareViolations)
	return slices.Compact(out)
}

func compareViolations(a, b violation) int {
	return cmp.Or(cmp.Compare(a.pointer, b.pointer), cmp.Compare(a.broken, b.broken), cmp.Compare(a.message, b.message))
}

// brokenKind returns the keyword that is violated.
func brokenKind(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Type:
		return "type: want " + strings.Join(k.Want, " or ")
	case *kind.Required:
		return "required: missing " + doubles(k.Missing)
	case *kind.DependentRequired:
		return "dependentRequired: missing " + doubles(k.Missing)
	case *kind.Dependency:
		return "dependencies: missing " + doubles(k.Missing)
	case *kind.Not:
		return "not"
	case *kind.FalseSchema:
		return "nothing is allowed here"
	}
	if path := k.KeywordPath(); len(path) > 0 {
		return path[0]
	}
	return "a value that is not allowed"
}
