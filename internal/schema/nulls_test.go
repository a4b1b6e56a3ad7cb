package schema

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
)

// TestNulls compares the nulls that are found in the schema of a tool.
func TestNulls(t *testing.T) {
	for name, c := range map[string]struct {
		schema string
		want   []string
	}{
		"properties":     {`{"properties":{"a":null,"b":{"type":"string"},"c":null}}`, []string{"a at 2, named", "c at 2, named"}},
		"required":       {`{"properties":{"a":null,"b":null},"required":["b"]}`, []string{"a at 2, named", "b at 2, named, required"}},
		"keywords":       {`{"type":null,"enum":null,"items":null,"required":null,"properties":null,"description":null,"minLength":null,"$ref":null}`, []string{"type at 1", "enum at 1", "items at 1", "required at 1", "properties at 1", "description at 1", "minLength at 1", "$ref at 1"}},
		"nested":         {`{"properties":{"a":{"items":{"properties":{"b":null}}}}}`, []string{"b at 5, named"}},
		"lists":          {`{"anyOf":[{"format":null}],"$defs":{"d":null},"additionalProperties":{"title":null}}`, []string{"format at 3", "d at 2, named", "title at 2"}},
		"names":          {`{"properties":{"enum":{"type":"string"},"properties":null}}`, []string{"properties at 2, named"}},
		"legal":          {`{"properties":{"a":{"type":["string","null"],"default":null,"const":null,"enum":[null],"examples":[null],"x-note":null,"nullable":null}}}`, nil},
		"values":         {`{"default":{"properties":{"a":null}},"const":{"enum":null},"enum":[{"type":null}],"examples":[{"items":null}],"x":{"type":null}}`, nil},
		"boolean":        {`{"properties":{"a":true},"additionalProperties":false,"description":"null"}`, nil},
		"not in draft 4": {`{"$schema":"http://json-schema.org/draft-04/schema#","if":null,"type":null}`, []string{"type at 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			list := ` [{"name":"f","input_schema":` + c.schema + `}]`
			for _, tools := range []string{list, strconv.Quote(list)} {
				text := `{"tools":` + tools + `}`
				found, declared := new(Cache).Declared(source.NewValue([]byte(text), 0))
				in, at := text, declared.List.Start
				if tools != list {
					in, at = list, 0
				}
				if string(text[declared.List.Start:declared.List.End]) != strings.TrimSpace(tools) || found == nil == (tools == list) {
					t.Errorf("%v at %v", found, declared.List)
				}
				var got []string
				for _, tool := range declared.Nulls {
					for _, n := range tool.Nulls {
						if in[at+n.At:at+n.At+4] != "null" {
							t.Errorf("%s is not at %d", n.Key, n.At)
						}
						got = append(got, told(n))
					}
				}
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

func told(n rules.Null) string {
	text := n.Key + " at " + strconv.Itoa(n.Depth)
	if n.Named {
		text += ", named"
	}
	if n.Required {
		text += ", required"
	}
	return text
}

// TestWithoutNulls: arguments are checked against a schema with nulls as if it did not have them.
func TestWithoutNulls(t *testing.T) {
	padding, fields := strings.Repeat(`"e":null,`, 20), strings.Repeat(`"n":1,`, 20)
	tools, err := Parse([]byte(`[{"name":"f","parameters":{"type":"object","enum":null,"additionalProperties":false,
 "properties":{` + padding + `"b":null,"a":{"type":"string","minLength":null}},"required":["c"]}}]`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range tools.Violations("f", []byte(`{`+fields+`"a":7,"b":1}`)) {
		got = append(got, v.Pointer+" "+v.Message)
	}
	want := []string{" additional properties 'b', 'n' not allowed", " missing property 'c'", "/a got number, want string"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
