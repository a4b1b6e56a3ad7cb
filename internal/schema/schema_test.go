package schema

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/source"
)

const berths = `{"type":"object","properties":{"pier":{"type":"integer","minimum":1},"names":{"type":"array","items":{"type":"string"}}},"required":["pier"],"additionalProperties":false}`

// shapes are the ways to declare a tool named berths.
var shapes = map[string]string{
	"openai chat":      `[{"type":"function","function":{"name":"berths","description":"d","parameters":` + berths + `}}]`,
	"openai responses": `[{"type":"function","name":"berths","parameters":` + berths + `,"strict":true}]`,
	"openai functions": `{"functions":[{"name":"berths","parameters":` + berths + `}]}`,
	"anthropic":        `{"model":"m","messages":[],"tools":[{"name":"berths","input_schema":` + berths + `}]}`,
	"gemini":           `{"tools":[{"functionDeclarations":[{"name":"berths","parameters":` + strings.ReplaceAll(strings.ReplaceAll(berths, `"object"`, `"OBJECT"`), `"integer"`, `"INTEGER"`) + `}]}]}`,
	"gemini, as JSON":  `{"tools":[{"function_declarations":[{"name":"berths","parametersJsonSchema":` + berths + `}]}]}`,
	"bedrock":          `{"toolConfig":{"tools":[{"toolSpec":{"name":"berths","inputSchema":{"json":` + berths + `}}}]}}`,
	"mcp":              `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"berths","inputSchema":` + berths + `}]}}`,
}

// TestShapes checks that arguments are validated against the same schema in each form of
// declaration, and that violations have their places.
func TestShapes(t *testing.T) {
	for name, text := range shapes {
		tools, err := Parse([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !slices.Equal(tools.Names(), []string{"berths"}) {
			t.Errorf("%s: %q", name, tools.Names())
		}
		for args, want := range map[string]string{
			`{"pier":1}`:                        "",
			`{"pier":1,"names":["a"]}`:          "",
			`{ "pier": "1"}`:                    `/pier "1": got string, want integer`,
			`{"pier":0}`:                        `/pier 0: minimum: got 0, want 1`,
			`{}`:                                ` {}: missing property 'pier'`,
			`{"pier":1,"x/y~":2}`:               ` {"pier":1,"x/y~":2}: additional properties 'x/y~' not allowed`,
			`{"pier":1,"names":["a",2,"b"]}`:    `/names/1 2: got number, want string`,
			`{"pier":1,"names":["a",2,null]}`:   `/names/1 2: got number, want string; /names/2 null: got null, want string`,
			`{"pier":1e400}`:                    "",
			`not JSON, which is another matter`: "",
		} {
			var got []string
			for _, v := range tools.Violations("berths", []byte(args)) {
				got = append(got, fmt.Sprintf("%s %s: %s", v.Pointer, args[v.Span.Start:v.Span.End], v.Message))
			}
			if s := strings.Join(got, "; "); s != want {
				t.Errorf("%s, %s: %s, want %s", name, args, s, want)
			}
		}
		if v := tools.Violations("another", []byte(`{}`)); v != nil {
			t.Errorf("%s: an unknown tool: %v", name, v)
		}
	}
}

// TestNullable checks that the nullable keyword of OpenAPI is supported.
func TestNullable(t *testing.T) {
	tools, err := Parse([]byte(`[{"name":"f","parameters":{"type":"OBJECT","properties":{"a":{"type":"STRING","nullable":true}}}}]`))
	if err != nil {
		t.Fatal(err)
	}
	if v := tools.Violations("f", []byte(`{"a":null}`)); v != nil {
		t.Errorf("null: %v", v)
	}
	if v := tools.Violations("f", []byte(`{"a":1}`)); len(v) != 1 {
		t.Errorf("a number: %v", v)
	}
}

// TestNoSchema checks that an invalid or remote schema allows everything and is never
// fetched.
func TestNoSchema(t *testing.T) {
	for _, s := range []string{
		`{"$ref":"https://example.com/schema.json"}`, `{"$ref":"file:///etc/passwd"}`, `{"type":7}`, `{"properties":[]}`, `true`, `"object"`,
	} {
		tools, err := Parse([]byte(`[{"name":"f","parameters":` + s + `}]`))
		if err != nil {
			t.Errorf("%s: %v", s, err)
			continue
		}
		if v := tools.Violations("f", []byte(`{"a":1}`)); v != nil {
			t.Errorf("%s: %v", s, v)
		}
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		``:                         "invalid JSON at byte 0",
		`{"tools":[`:               "invalid JSON at byte 10",
		`{"tools":[]}`:             errNoTools.Error(),
		`[{"description":"d"}]`:    errNoTools.Error(),
		`{"name":"f"}`:             errNoTools.Error(),
		`"f"`:                      errNoTools.Error(),
		`[{"name":7},{"name":""}]`: errNoTools.Error(),
	} {
		if _, err := Parse([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	// The first of two tools with the same name counts, as for a provider that accepts
	// both.
	tools, err := Parse([]byte(`[{"name":"f"},{"name":"g"},{"name":"f","parameters":{"type":"string"}}]`))
	if err != nil || !slices.Equal(tools.Names(), []string{"f", "g"}) || tools.Violations("f", []byte(`{}`)) != nil {
		t.Errorf("two tools with the same name: %v, %v", tools, err)
	}
}

func TestDeclared(t *testing.T) {
	for text, want := range map[string]int{
		`{"messages":[]}`: 0, `[]`: 0, `null`: 0, `{"tools":{}}`: 0,
		`{"tools":[{"type":"web_search"}],"functions":[{"name":"f"}]}`: 1,
		`{"tools":" [{\"name\":\"f\"}]"}`:                              0,
	} {
		n := 0
		if tools, _ := new(Cache).Declared(source.NewValue([]byte(text), 0)); tools != nil {
			n = len(tools.Names())
		}
		if n != want {
			t.Errorf("%s: %d tools, want %d", text, n, want)
		}
	}
}

// TestBroken checks the messages that quote only the schema, and the depth of violations
// in the arguments.
func TestBroken(t *testing.T) {
	const secret = "SECRET"
	for _, tt := range []struct {
		schema, args, want string
		depth              int
	}{
		{`{"type":"object"}`, `"SECRET"`, `type: want object`, 0},
		{`{"properties":{"a":{"type":["string","null"]}}}`, `{"a":7}`, `type: want null or string`, 1},
		{`{"additionalProperties":{"items":{"type":"null"}}}`, `{"SECRET/~":[null,"SECRET"]}`, `type: want null`, 2},
		{`{"required":["a","b\""]}`, `{"SECRET":1}`, `required: missing "a", "b\""`, 0},
		{`{"additionalProperties":false}`, `{"SECRET":1}`, `additionalProperties`, 0},
		{`{"properties":{"a":{"enum":["x",1]}}}`, `{"a":"SECRET"}`, `enum`, 1},
		{`{"properties":{"a":{"const":"x"}}}`, `{"a":"SECRET"}`, `const`, 1},
		{`{"properties":{"a":{"pattern":"^x"}}}`, `{"a":"SECRET"}`, `pattern`, 1},
		{`{"properties":{"a":{"maximum":3}}}`, `{"a":4}`, `maximum`, 1},
		{`{"properties":{"a":{"maxLength":3}}}`, `{"a":"SECRET"}`, `maxLength`, 1},
		{`{"propertyNames":{"maxLength":3}}`, `{"SECRET":1}`, `maxLength`, 0},
		{`{"dependentRequired":{"a":["b"]}}`, `{"a":"SECRET"}`, `dependentRequired: missing "b"`, 0},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","dependencies":{"a":["b"]}}`, `{"a":"SECRET"}`, `dependencies: missing "b"`, 0},
		{`{"not":{"required":["SECRET"]}}`, `{"SECRET":1}`, `not`, 0},
		{`{"properties":{"a":false}}`, `{"a":"SECRET"}`, `nothing is allowed here`, 1},
		{`{"properties":{"a":{"uniqueItems":true}}}`, `{"a":["SECRET","SECRET"]}`, `uniqueItems`, 1},
		{`{"oneOf":[{},{}]}`, `{"SECRET":1}`, `oneOf`, 0},
	} {
		tools, err := Parse([]byte(`[{"name":"f","parameters":` + tt.schema + `}]`))
		if err != nil {
			t.Fatal(err)
		}
		got := tools.Violations("f", []byte(tt.args))
		if len(got) != 1 || got[0].Broken != tt.want || got[0].Depth != tt.depth || strings.Contains(got[0].Broken, secret) {
			t.Errorf("%s, %s: %+v, want %s at depth %d", tt.schema, tt.args, got, tt.want, tt.depth)
		}
	}
}

// TestCache checks that repeated declarations are compiled once and others are not mixed
// up.
func TestCache(t *testing.T) {
	t.Parallel()
	declared := func(c *Cache, name string) *Tools {
		tools, _ := c.Declared(source.NewValue([]byte(`{"n":1,"tools":[{"name":"`+name+`","input_schema":{"type":"object"}}]}`), 0))
		return tools
	}
	var c Cache
	first := declared(&c, "a")
	if other := declared(&c, "b"); other == first || !slices.Equal(other.Names(), []string{"b"}) {
		t.Errorf("another tool is %v", other.Names())
	}
	if again := declared(&c, "a"); again != first {
		t.Error("the same tool is compiled again")
	}
	long := strings.Repeat("x", mostCached/2)
	for i := range 5 {
		declared(&c, long+strconv.Itoa(i))
	}
	if c.size > mostCached || len(c.made) > 2 {
		t.Errorf("%d texts of %d bytes are kept", len(c.made), c.size)
	}
}

// TestMessagesAreShort checks that messages do not copy large parts of a schema or
// arguments.
func TestMessagesAreShort(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 10_000)
	enum := make([]string, 5000)
	for i := range enum {
		enum[i] = strconv.Itoa(i)
	}
	for _, tt := range []struct{ schema, args string }{
		{`{"properties":{"v":{"enum":[` + strings.Join(enum, ",") + `]}}}`, `{"v":-1}`},
		{`{"properties":{"v":{"pattern":"^y"}}}`, `{"v":"` + long + `"}`},
		{`{"properties":{"v":{"format":"date"}},"$schema":"http://json-schema.org/draft-07/schema#"}`, `{"v":"` + long + `"}`},
		{`{"required":["` + strings.Join(enum, `","`) + `"]}`, `{}`},
		{`{"additionalProperties":false}`, `{"` + long + `":1}`},
		{`{"properties":{"v":{"multipleOf":7}}}`, `{"v":1` + strings.Repeat("0", 100_000) + `}`},
	} {
		tools, err := Parse([]byte(`[{"name":"f","input_schema":` + tt.schema + `}]`))
		if err != nil {
			t.Fatal(err)
		}
		found := tools.Violations("f", []byte(tt.args))
		if len(found) != 1 || len(found[0].Message) > 3*mostQuoted {
			t.Errorf("%.60s: %d violations: %.900v", tt.schema, len(found), fmt.Sprint(found))
		}
	}
}
