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
	t := new(Cache).Declared(v)
	if t == nil && v.Kind() == source.Array {
		t = read(v)
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
	t := read(list)
	if c.size += len(text); c.made == nil || c.size > mostCached {
		c.made, c.size = map[string]*Tools{}, len(text)
	}
	c.made[string(text)] = t
	return t
}

// toolPlaces are the paths at which objects declare tools, the preferred one first.
var toolPlaces = [...][]string{{"tools"}, {"functions"}, {"toolConfig", "tools"}, {"result", "tools"}}

// Declared returns the tools that an object declares beside its messages, or nil. lists
// are the spans of the messages.
func (c *Cache) Declared(v source.Value, lists ...source.Span) *Tools {
	if v.Kind() != source.Object {
		return nil
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
		if list.Kind() == source.Array && list.First().Exists() && !slices.Contains(lists, list.Span()) {
			if t := c.read(list); t != nil {
				return t
			}
		}
	}
	return nil
}

// read reads an array of tools. It returns nil if none of them has a name.
func read(list source.Value) *Tools {
	t := &Tools{schemas: map[string]*node{}, unchecked: map[string][]string{}}
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
			t.schemas[name.Str()], t.unchecked[name.Str()] = compile(s)
			return
		}
	}
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
