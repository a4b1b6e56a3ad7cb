// Package schema knows how tools are declared, in the shapes of the APIs and of
// the Model Context Protocol, and holds arguments against what was declared. It
// reaches no network: a schema that refers to another document is none.
package schema

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
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
	// unchecked are the patterns of a tool's schema that cannot be read.
	unchecked map[string][]string
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
	t := &Tools{schemas: map[string]*jsonschema.Schema{}, unchecked: map[string][]string{}}
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
	if name.Kind() != source.String || name.Str() == "" {
		return
	}
	if _, known := t.schemas[name.Str()]; known {
		return
	}
	t.names = append(t.names, name.Str())
	t.schemas[name.Str()] = nil
	for _, path := range [][]string{
		{"parameters"}, {"parametersJsonSchema"}, {"input_schema"}, {"inputSchema", "json"}, {"inputSchema"},
	} {
		if s := e.Path(path...); s.Kind() == source.Object {
			t.schemas[name.Str()], t.unchecked[name.Str()] = compile(s.Raw())
			return
		}
	}
}

// compile returns the schema that a text is, nil for one that is none, and the
// patterns in it that cannot be read.
func compile(text []byte) (s *jsonschema.Schema, unchecked []string) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, nil
	}
	plain(doc)
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // none
	c.UseRegexpEngine(func(pattern string) (jsonschema.Regexp, error) {
		re, err := regexp.Compile(pattern)
		if err != nil {
			// One pattern is no reason to check nothing.
			if !slices.Contains(unchecked, pattern) {
				unchecked = append(unchecked, pattern)
			}
			return anything(pattern), nil
		}
		return re, nil
	})
	if err := c.AddResource(base, doc); err != nil {
		return nil, nil
	}
	if s, err = c.Compile(base); err != nil {
		return nil, nil
	}
	slices.Sort(unchecked)
	return s, unchecked
}

// anything is a pattern that cannot be read, and is taken to match.
type anything string

// MatchString implements jsonschema.Regexp.
func (anything) MatchString(string) bool { return true }

// String implements jsonschema.Regexp.
func (a anything) String() string { return string(a) }

// base is the address that a schema is known by while it is compiled.
const base = "schema:///tool"

// The keywords whose values are schemas, lists of schemas, and schemas by name.
// All others hold data, such as the values of an enum.
var (
	oneSchema = []string{
		"items", "additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "not", "propertyNames", "then",
		"unevaluatedItems", "unevaluatedProperties",
	}
	listedSchemas = []string{"allOf", "anyOf", "items", "oneOf", "prefixItems"}
	namedSchemas  = []string{"$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"}
)

// plain rewrites a schema that follows OpenAPI as JSON Schema does: types in
// capitals, and nullable.
func plain(schema any) {
	s, ok := schema.(map[string]any)
	if !ok {
		return
	}
	for _, key := range oneSchema {
		plain(s[key])
	}
	for _, key := range listedSchemas {
		if list, ok := s[key].([]any); ok {
			for _, in := range list {
				plain(in)
			}
		}
	}
	for _, key := range namedSchemas {
		named, _ := s[key].(map[string]any)
		for name, in := range named {
			plain(in)
			if _, err := regexp.Compile(name); err != nil && key == "patternProperties" {
				named[name] = true // which properties it is about is not known
			}
		}
	}
	var types []any
	switch typ := s["type"].(type) {
	case string:
		types = []any{typ}
	case []any:
		types = typ
	default:
		return
	}
	for i, typ := range types {
		if name, ok := typ.(string); ok {
			types[i] = strings.ToLower(name)
		}
	}
	if s["nullable"] == true && !slices.Contains(types, any("null")) {
		types = append(types, "null")
	}
	if _, one := s["type"].(string); one && len(types) == 1 {
		s["type"] = types[0]
		return
	}
	s["type"] = types
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
	root := &place{value: source.NewValue(arguments, 0)}
	var walk func(e *jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		for _, cause := range e.Causes {
			walk(cause)
		}
		if len(e.Causes) > 0 {
			return
		}
		if k, ok := e.ErrorKind.(*kind.AdditionalProperties); ok {
			slices.Sort(k.Properties) // they come out of a map
		}
		v := rules.Violation{Message: e.ErrorKind.LocalizedString(printer), Broken: broken(e.ErrorKind)}
		at := root.at(e.InstanceLocation)
		v.Span, v.Depth = at.value.Span(), at.depth
		for _, key := range e.InstanceLocation {
			v.Pointer += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
		}
		out = append(out, v)
	}
	walk(invalid)
	slices.SortFunc(out, func(a, b rules.Violation) int {
		return cmp.Or(
			cmp.Compare(a.Span.Start, b.Span.Start), cmp.Compare(a.Span.End, b.Span.End),
			cmp.Compare(a.Pointer, b.Pointer), cmp.Compare(a.Message, b.Message), cmp.Compare(a.Broken, b.Broken),
		)
	})
	return slices.Compact(out)
}

// Unchecked implements rules.Tools.
func (t *Tools) Unchecked(tool string) []string { return t.unchecked[tool] }

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

// A place is a value in arguments, and the places in it as far as they were
// asked for.
type place struct {
	value source.Value
	depth int // how many keys lead to it
	in    map[string]*place
}

// at returns the place that keys lead to, as far as they lead.
func (p *place) at(location []string) *place {
	for _, key := range location {
		if next := p.places()[key]; next != nil {
			p = next
		}
	}
	return p
}

// places returns the members or elements of a value. They are found once: there
// can be as many violations as there are of them.
func (p *place) places() map[string]*place {
	if p.in != nil {
		return p.in
	}
	p.in = map[string]*place{}
	add := func(key string, v source.Value) {
		if p.in[key] == nil {
			p.in[key] = &place{value: v, depth: p.depth + 1}
		}
	}
	for key, v := range p.value.Members() {
		add(key.Str(), v)
	}
	for i, v := range p.value.Elements() {
		add(strconv.Itoa(i), v)
	}
	return p.in
}
