// Package schema reads tool declarations in the formats of model APIs and the Model
// Context Protocol, and validates arguments against them. It never uses the network: a
// schema that refers to another document is invalid.
//
// It supports JSON Schema from draft 4 to 2020-12. The default is 2020-12. It validates
// itself, because the library with the same drafts prepares their metaschemas in every run,
// before main, and makes the program larger. Tests compare the results with that library.
package schema

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
)

// Tools are declared tools by name. It implements rules.Tools.
type Tools struct {
	names   []string
	schemas map[string]*node // nil for a tool without a schema
	// unchecked are the invalid patterns in the schema of each tool.
	unchecked map[string][]string
	// nulls are those in the schemas, at offsets from start.
	nulls []rules.ToolNulls
	start int64
	text  bool // the list is JSON in a string
	// validators are reused between calls.
	validators sync.Pool
}

// errNoTools says that a value declares no tools.
var errNoTools = errors.New("no tools declared: expected an array of tools in the format of OpenAI, Anthropic, Gemini, Bedrock or MCP")

// Parse reads a file of tool declarations: an array of tools, or an object with one.
func Parse(text []byte) (*Tools, error) {
	s := source.NewScanner().Scan(text, 0, source.Strict)
	if s.Kind != source.FaultNone {
		return nil, fmt.Errorf("invalid JSON at byte %d", s.At)
	}
	v := source.NewValue(text, 0)
	t, _ := new(Cache).Declared(v)
	if t == nil && v.Kind() == source.Array {
		t = read(v, 0)
	}
	if t == nil {
		return nil, errNoTools
	}
	return t, nil
}

// A Cache keeps the tools that were declared last, because most rows of a dataset declare
// the same ones. The zero value is ready to use. A Cache is not safe for concurrent use.
type Cache struct {
	made map[string]*Tools // by the text of the declarations
	size int               // of these texts
}

// mostCached limits the size of the texts in a cache.
const mostCached = 1 << 20

// read is the function read with caching.
func (c *Cache) read(list source.Value) *Tools {
	text := list.Raw()
	if t, known := c.made[string(text)]; known {
		return t
	}
	t := readText(list)
	if c.size += len(text); c.made == nil || c.size > mostCached {
		c.made, c.size = map[string]*Tools{}, len(text)
	}
	c.made[string(text)] = t
	return t
}

// toolPlaces are the paths at which objects declare tools, the preferred one first.
var toolPlaces = [...][]string{{"tools"}, {"functions"}, {"toolConfig", "tools"}, {"result", "tools"}}

// Declared returns the tools that an object declares beside its messages, or nil, and the nulls in
// their schemas. The list of tools may be JSON in a string. Then no tools are returned, because the
// formats with such strings do not say where the arguments of a call are. lists are the spans of the
// messages.
func (c *Cache) Declared(v source.Value, lists ...source.Span) (tools *Tools, declared rules.Declarations) {
	if v.Kind() != source.Object {
		return nil, declared
	}
	var found [len(toolPlaces)]source.Value
	for k, val := range v.Members() {
		for n, path := range toolPlaces {
			if !found[n].Exists() && k.Is(path[0]) {
				found[n] = val
			}
		}
	}
	for n, path := range toolPlaces {
		list := found[n].Path(path[1:]...)
		if (list.Kind() == source.Array && list.First().Exists() || list.Kind() == source.String) && !slices.Contains(lists, list.Span()) {
			if tools = c.read(list); tools != nil {
				declared = rules.Declarations{List: list.Span(), Nulls: tools.nulls}
				break
			}
		}
	}
	if tools != nil && tools.text {
		tools = nil
	}
	return tools, declared
}

// readText is read for an array, or for a string that holds one.
func readText(v source.Value) *Tools {
	if v.Kind() != source.String {
		return read(v, v.Span().Start)
	}
	if inner := v.Raw()[1:]; inner[source.SkipBlank(inner, 0)] != '[' {
		return nil
	}
	text := []byte(v.Str())
	if s := source.NewScanner().Scan(text, 0, source.Strict); s.Kind != source.FaultNone || source.SkipBlank(text, s.End) < len(text) {
		return nil
	}
	t := read(source.NewValue(text, 0), 0)
	if t != nil {
		t.text = true
	}
	return t
}

// read reads an array of tools in a text that starts at an offset. It returns nil if none of them has
// a name.
func read(list source.Value, start int64) *Tools {
	t := &Tools{schemas: map[string]*node{}, unchecked: map[string][]string{}, start: start}
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
	s := schemaOf(e)
	var out map[int64]bool
	if found := nullsOf(s, t.start); len(found) > 0 {
		t.nulls = append(t.nulls, rules.ToolNulls{Tool: name.Str(), Nulls: found})
		// They would make the schema invalid, and stand for no field.
		out = map[int64]bool{}
		for _, n := range found {
			out[t.start+n.At] = true
		}
	}
	if _, known := t.schemas[name.Str()]; known {
		return
	}
	t.names = append(t.names, name.Str())
	t.schemas[name.Str()] = nil
	if s.Exists() {
		t.schemas[name.Str()], t.unchecked[name.Str()] = compile(s, out)
	}
}

// schemaOf returns the schema of a tool, None if it has none.
func schemaOf(tool source.Value) source.Value {
	for _, path := range [][]string{
		{"parameters"}, {"parametersJsonSchema"}, {"input_schema"}, {"inputSchema", "json"}, {"inputSchema"},
	} {
		if s := tool.Path(path...); s.Kind() == source.Object {
			return s
		}
	}
	return source.Value{}
}

// Names implements rules.Tools.
func (t *Tools) Names() []string { return t.names }

// Violations implements rules.Tools.
func (t *Tools) Violations(tool string, arguments []byte) []rules.Violation {
	n := t.schemas[tool]
	if n == nil {
		return nil
	}
	v, kept := t.validators.Get().(*validator)
	if !kept {
		v = &validator{scanner: source.NewScanner()}
	}
	out := v.violations(n, arguments)
	t.validators.Put(v) // unless it panicked: then its state is not known
	return out
}

// Unchecked implements rules.Tools.
func (t *Tools) Unchecked(tool string) []string { return t.unchecked[tool] }
