// Package schema knows how tools are declared, in the shapes of the APIs and of
// the Model Context Protocol, and holds arguments against what was declared. It
// reaches no network: a schema that refers to another document is none.
package schema

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
)

// Tools are declared tools, by name. It implements rules.Tools.
type Tools struct {
	names   []string
	schemas map[string]*jsonschema.Schema // nil for a tool without a schema
}

// errNoTools says that a value declares no tools.
var errNoTools = errors.New("no tools are declared in it: want a list of tools, as OpenAI, Anthropic, Gemini, Bedrock or MCP write it")

// Parse reads a file that declares tools: a list of them, or an object that has
// one.
func Parse(text []byte) (*Tools, error) {
	s := source.NewScanner().Scan(text, 0, source.Strict)
	if s.Kind != source.FaultNone {
		return nil, fmt.Errorf("not JSON at byte %d", s.At)
	}
	v := source.NewValue(text, 0)
	t := Declared(v)
	if t == nil && v.Kind() == source.Array {
		t = read(v)
	}
	if t == nil {
		return nil, errNoTools
	}
	return t, nil
}

// Declared reads the tools that an object declares beside its messages, nil for
// none.
func Declared(v source.Value) *Tools {
	if v.Kind() != source.Object {
		return nil
	}
	for _, path := range [][]string{{"tools"}, {"functions"}, {"toolConfig", "tools"}, {"result", "tools"}} {
		if list := v.Path(path...); list.Kind() == source.Array && list.First().Exists() {
			if t := read(list); t != nil {
				return t
			}
		}
	}
	return nil
}

// read reads a list of tools, nil where nothing in it has a name.
func read(list source.Value) *Tools {
	t := &Tools{schemas: map[string]*jsonschema.Schema{}}
	for _, e := range list.Elements() {
		t.add(e)
	}
	if len(t.names) == 0 {
		return nil
	}
	return t
}

// add reads one tool, or an element that declares several.
func (t *Tools) add(e source.Value) {
	for _, key := range []string{"functionDeclarations", "function_declarations"} {
		if list := e.Get(key); list.Kind() == source.Array {
			for _, f := range list.Elements() {
				t.add(f)
			}
			return
		}
	}
	for _, key := range []string{"function", "custom", "toolSpec"} {
		if inner := e.Get(key); inner.Kind() == source.Object {
			e = inner
			break
		}
	}
	name := e.Get("name")
	if name.Kind() != source.String || name.Str() == "" || slices.Contains(t.names, name.Str()) {
		return
	}
	t.names = append(t.names, name.Str())
	for _, path := range [][]string{
		{"parameters"}, {"parametersJsonSchema"}, {"input_schema"}, {"inputSchema", "json"}, {"inputSchema"},
	} {
		if s := e.Path(path...); s.Kind() == source.Object {
			t.schemas[name.Str()] = compile(s.Raw())
			return
		}
	}
}

// compile returns the schema that a text is, nil for one that is none.
func compile(text []byte) *jsonschema.Schema {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // none
	if err := c.AddResource(base, plain(doc)); err != nil {
		return nil
	}
	s, err := c.Compile(base)
	if err != nil {
		return nil
	}
	return s
}

// base is the address that a schema is known by while it is compiled.
const base = "schema:///tool"

// plain writes a schema as JSON Schema that follows OpenAPI: types in capitals,
// and nullable.
func plain(doc any) any {
	switch doc := doc.(type) {
	case []any:
		for i := range doc {
			doc[i] = plain(doc[i])
		}
	case map[string]any:
		for k, v := range doc {
			switch v := v.(type) {
			case string:
				if k == "type" {
					doc[k] = strings.ToLower(v)
				}
			default:
				doc[k] = plain(v)
			}
		}
		if typ, ok := doc["type"].(string); ok && doc["nullable"] == true {
			doc["type"] = []any{typ, "null"}
		}
	}
	return doc
}

// Names implements rules.Tools.
func (t *Tools) Names() []string { return t.names }

// Violations implements rules.Tools.
func (t *Tools) Violations(tool string, arguments []byte) []rules.Violation {
	s := t.schemas[tool]
	if s == nil {
		return nil
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(arguments))
	if err != nil {
		return nil
	}
	invalid, ok := errors.AsType[*jsonschema.ValidationError](s.Validate(doc))
	if !ok {
		return nil
	}
	var out []rules.Violation
	printer := message.NewPrinter(language.English)
	root := source.NewValue(arguments, 0)
	var walk func(e *jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		for _, cause := range e.Causes {
			walk(cause)
		}
		if len(e.Causes) > 0 {
			return
		}
		v := rules.Violation{Message: e.ErrorKind.LocalizedString(printer), Broken: broken(e.ErrorKind)}
		value, depth := at(root, e.InstanceLocation)
		v.Span, v.Depth = value.Span(), depth
		for _, key := range e.InstanceLocation {
			v.Pointer += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
		}
		out = append(out, v)
	}
	walk(invalid)
	slices.SortStableFunc(out, func(a, b rules.Violation) int {
		if a.Span.Start != b.Span.Start {
			return int(a.Span.Start - b.Span.Start)
		}
		return strings.Compare(a.Message, b.Message)
	})
	return slices.Compact(out)
}

// broken names what of a schema is broken: its keyword, and what the schema
// declares for it. Nothing of the arguments is in it.
func broken(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Type:
		return "type: want " + strings.Join(k.Want, " or ")
	case *kind.Required:
		return "required: missing " + quoted(k.Missing)
	case *kind.DependentRequired:
		return "dependentRequired: missing " + quoted(k.Missing)
	case *kind.Dependency:
		return "dependencies: missing " + quoted(k.Missing)
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

func quoted(names []string) string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = strconv.Quote(name)
	}
	return strings.Join(out, ", ")
}

// at returns the value at a place in another, as far as that leads, and how many
// keys lead to it.
func at(v source.Value, location []string) (value source.Value, depth int) {
	for _, key := range location {
		next := v.Get(key)
		if v.Kind() == source.Array {
			n, err := strconv.Atoi(key)
			if err != nil {
				return v, depth
			}
			for i, e := range v.Elements() {
				if i == n {
					next = e
				}
			}
		}
		if next.Exists() {
			v = next
			depth++
		}
	}
	return v, depth
}
