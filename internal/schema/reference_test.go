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

// A reference is a schema as another implementation reads it.
type reference struct {
	schema    *jsonschema.Schema // nil for one that is none
	unchecked []string
	err       error // why it is none
}

// violations returns where arguments break a schema.
func violations(n *node, arguments []byte) []rules.Violation {
	v := &validator{scanner: source.NewScanner()}
	return v.violations(n, arguments)
}

// A violation is what is said of one place.
type violation struct{ pointer, broken, message string }

// someName stands for the place of an object that has a name it should not have.
// The other implementation does not tell it.
const someName = "?"

// newReference reads a schema with the other implementation.
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

// An unreadable pattern matches everything.
type unreadable string

func (unreadable) MatchString(string) bool { return true }
func (u unreadable) String() string        { return string(u) }

// rewrite makes JSON Schema of what OpenAPI writes otherwise.
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

// violations returns what the other implementation says of arguments, but for
// schemas that only lead back to themselves, which is no fault of the arguments.
func (r reference) violations(arguments []byte) []violation {
	if r.schema == nil {
		return nil
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(arguments))
	if err != nil {
		return nil
	}
	invalid, broken := errors.AsType[*jsonschema.ValidationError](r.schema.Validate(doc))
	if !broken {
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

// brokenKind names the keyword that is broken.
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
