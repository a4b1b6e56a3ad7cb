package reference

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestValidate compares whole answers. The third request has the schema of the second.
func TestValidate(t *testing.T) {
	t.Parallel()
	v, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	const schema = `{"type":"object","required":["a"],"properties":{"a":{"type":["string","null"]},"b":{"format":"date"},"c":{"pattern":"(?!x)"}},"propertyNames":{"maxLength":1}}`
	for _, tt := range []struct {
		request Request
		want    Answer
	}{
		{
			Request{Schema: `{"type":1}`, URL: "schema:///x", Values: []string{`1`}},
			Answer{Invalid: "\"schema:///x#\" is not valid against metaschema: jsonschema validation failed with 'https://json-schema.org/draft/2020-12/schema#'\n" +
				"- at '': 'allOf' failed\n  - at '/type': 'anyOf' failed\n    - at '/type': value must be one of 'array', 'boolean', 'integer', 'null', 'number', 'object', 'string'\n    - at '/type': got number, want array"},
		},
		{
			Request{Schema: schema, URL: "schema:///x", Values: []string{`{"a":null,"b":"x"}`, `{"bb":1}`, `{"a":1}`, `{`}},
			Answer{Unchecked: []string{"(?!x)"}, Failures: [][]Failure{
				nil,
				{
					{At: []string{}, Keyword: "required", Missing: []string{"a"}, Message: "missing property 'a'"},
					{At: []string{}, Name: true, Keyword: "maxLength", Message: "maxLength: got 2, want 1"},
				},
				{{At: []string{"a"}, Keyword: "type", Want: []string{"null", "string"}, Message: "got number, want null or string"}},
				{{Keyword: "json", Message: "unexpected EOF"}},
			}},
		},
		{
			Request{Schema: schema, URL: "schema:///x", Formats: true, Values: []string{`{"a":null,"b":"x"}`}},
			Answer{Unchecked: []string{"(?!x)"}, Failures: [][]Failure{
				{{At: []string{"b"}, Keyword: "format", Message: "'x' is not valid date: parsing time \"x\" as \"2006-01-02\": cannot parse \"x\" as \"2006\""}},
			}},
		},
	} {
		got, err := v.Validate(tt.request)
		if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", tt.request.Schema, err, diff)
		}
	}
}
