package schema

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/sample"
)

// drafts returns the beginnings of schemas that name each draft, or none.
func drafts() []string {
	out := []string{""}
	for _, address := range []string{
		"http://json-schema.org/draft-04/schema#", "http://json-schema.org/draft-06/schema#", "http://json-schema.org/draft-07/schema",
		"https://json-schema.org/draft/2019-09/schema", "https://json-schema.org/draft/2020-12/schema#",
	} {
		out = append(out, `"$schema":"`+address+`",`)
	}
	return out
}

// TestInvalidSchemas checks that a keyword with a value of any kind is a valid schema in
// the same drafts as for another implementation.
func TestInvalidSchemas(t *testing.T) {
	t.Parallel()
	keywords := strings.Fields(`additionalItems additionalProperties allOf anyOf const contains contentEncoding contentMediaType
		contentSchema default definitions dependencies dependentRequired dependentSchemas deprecated description else enum examples
		exclusiveMaximum exclusiveMinimum format id if items maxContains maxItems maxLength maxProperties maximum minContains minItems
		minLength minProperties minimum multipleOf not nullable oneOf other pattern patternProperties prefixItems properties propertyNames
		readOnly required then title type unevaluatedItems unevaluatedProperties uniqueItems writeOnly
		$anchor $comment $defs $dynamicAnchor $dynamicRef $id $recursiveAnchor $recursiveRef $ref $vocabulary`)
	values := []string{
		`true`, `false`, `null`, `0`, `1`, `1.0`, `-1`, `1.5`, `""`, `"a"`, `"#"`, `"#a"`, `"a#b"`, `"_a"`, `"a:b"`, `"http://h/x"`, `"\\"`, `"%"`, `"#%zz"`, `"string"`,
		`"(?=a)"`, `"a b"`, `[]`, `[1]`, `["a"]`, `["a","a"]`, `[1,1.0]`, `[{}]`, `[true]`, `["string"]`, `["string","STRING"]`, `["string",1]`, `{}`, `{"a":1}`, `{"a":true}`,
		`{"a":{}}`, `{"a":[]}`, `{"a":["b"]}`, `{"a":["b","b"]}`, `{"(?=a)":1}`, `{"http://h/x":true}`, `{"type":"nothing"}`, `{"$ref":"#/nothing"}`, `{"$schema":"http://h/x"}`,
	}
	n := 0
	for i, draft := range drafts() {
		for j, key := range keywords {
			for k, value := range values {
				switch {
				case (i+j+k)%sample.Size(1, 3, 3) > 0:
					continue
				case key == "patternProperties" && value == `{"(?=a)":1}`:
					continue // it is unknown which properties the schema is for, so any value is accepted
				case key == "additionalItems" && value == `{"$schema":"http://h/x"}`:
					continue // the newest draft lacks this keyword, but the other implementation reads part of it
				case key == "const" && value == `"\\"`:
					continue // the other implementation shows one backslash too few
				}
				schema := fmt.Sprintf(`{%s"%s":%s}`, draft, key, value)
				n++
				if d := differ(t, schema, `{"a":[1]}`); d != "" {
					t.Errorf("%s: %s", schema, d)
				}
			}
		}
	}
	if n < sample.Size(10_000, 3_000, 3_000) {
		t.Error(n)
	}
}

// TestKeywords checks valid and invalid values for each keyword.
func TestKeywords(t *testing.T) {
	t.Parallel()
	const (
		d4    = `"$schema":"http://json-schema.org/draft-04/schema#",`
		d7    = `"$schema":"http://json-schema.org/draft-07/schema#",`
		d2019 = `"$schema":"https://json-schema.org/draft/2019-09/schema",`
	)
	for _, tt := range []struct{ schema, args, want string }{
		{`{"type":"integer"}`, `1.0`, ``},
		{`{"type":"integer"}`, `1e2`, ``},
		{`{"type":"integer"}`, `10e-1`, ``},
		{`{"type":"integer"}`, `1.5`, ` got number, want integer`},
		{`{"type":"integer"}`, `1e-99999999999999999999`, ` got number, want integer`},
		{`{"type":"integer"}`, `1e99999999999999999999`, ``},
		{`{"minimum":1}`, `1e99999999999999999999`, ``},
		{`{"minimum":1e2}`, `99.50`, ` minimum: got 99.50, want 1e2`},
		{`{"maximum":0}`, `1e99999999999999999999`, ` maximum: got 1e99999999999999999999, want 0`},
		{`{"minimum":-2}`, `-2.000`, ``},
		{
			`{"maximum":100000000000000000000000000000000001}`, `100000000000000000000000000000000002`,
			` maximum: got 100000000000000000000000000000000002, want 100000000000000000000000000000000001`,
		},
		{`{"exclusiveMinimum":0}`, `0.0`, ` exclusiveMinimum: got 0.0, want 0`},
		{`{` + d4 + `"minimum":0,"exclusiveMinimum":true}`, `0`, ` exclusiveMinimum: got 0, want 0`},
		{`{` + d4 + `"maximum":0,"exclusiveMaximum":false}`, `0`, ``},
		{`{"multipleOf":0.01}`, `4.35`, ``},
		{`{"multipleOf":0.01}`, `4.351`, ` multipleOf: got 4.351, want 0.01`},
		{`{"multipleOf":7}`, `1e300`, ` multipleOf: got 1e300, want 7`},
		{`{"multipleOf":1e-300}`, `1e300`, ``},
		{`{"multipleOf":3}`, `3e99999999999999999999`, ``},
		// 5 to the power of 30 divides 10 to the power of 30, and no lower one.
		{`{"multipleOf":931322574615478515625}`, `1e30`, ``},
		{`{"multipleOf":931322574615478515625}`, `7e1000000`, ``},
		{`{"multipleOf":931322574615478515625}`, `1e29`, ` multipleOf: got 1e29, want 931322574615478515625`},
		{`{"multipleOf":931322574615478515625}`, `931322574615478515626e5`, ` multipleOf: got 931322574615478515626e5, want 931322574615478515625`},
		{`{"multipleOf":123456789012345678901234567890123456789}`, `12193263113702179522620027431262002743124980948001249809479`, ``},
		{`{"multipleOf":123456789012345678901234567890123456789}`, `12193263113702179522620027431262002743124980948001249809478`, ` multipleOf: got 12193263113702179522620027431262002743124980948001249809478, want 123456789012345678901234567890123456789`},
		{`{"multipleOf":1` + strings.Repeat("3", 1000) + `}`, `1`, ``},
		{`{"enum":["a",1,null]}`, `1.0`, ``},
		{`{"enum":["a",1,null]}`, `"1"`, ` value must be one of 'a', 1, null`},
		{`{"enum":["it's"]}`, `1`, ` value must be 'it\'s'`},
		{`{"enum":[{"a":1,"b":[2]}]}`, `{"b":[2.0],"a":1e0}`, ``},
		{`{"enum":[{"a":1}]}`, `{"a":1,"b":2}`, ` 'enum' failed`},
		{`{"const":[]}`, `{}`, ` 'const' failed`},
		{`{"const":"ä"}`, `"\u00e4"`, ``},
		{`{"maxLength":1}`, `"\ud83d\ude00"`, ``},
		{`{"minLength":2}`, `"ä"`, ` minLength: got 1, want 2`},
		{`{"pattern":"^ä$"}`, `"\u00e4"`, ``},
		{`{"pattern":"^a"}`, `"b"`, ` 'b' does not match pattern '^a'`},
		{`{"properties":{"a\"~/":{"type":"null"}}}`, `{"a\"~/":1}`, `/a"~0~1 got number, want null`},
		{`{"properties":{"ä":{"type":"null"}}}`, `{"\u00e4":1}`, `/ä got number, want null`},
		{`{"required":["a","b"]}`, `{"\u0061":1}`, ` missing property 'b'`},
		{`{"additionalProperties":false,"properties":{"a":{}},"patternProperties":{"^x":{}}}`, `{"a":1,"xy":1,"z":1,"c":1}`, ` additional properties 'c', 'z' not allowed`},
		{`{"propertyNames":{"maxLength":2}}`, `{"abc":1}`, ` maxLength: got 3, want 2`},
		{`{"properties":{"a":{"items":{"propertyNames":{"maxLength":2}}}}}`, `{"a":[{"abc":1}]}`, `/a/0 maxLength: got 3, want 2`},
		{`{"minProperties":2}`, `{"a":1,"a":2}`, ` minProperties: got 1, want 2`},
		{`{"properties":{"a":{"type":"string"}}}`, `{"a":1,"a":"2"}`, ``},
		{`{"maxProperties":0}`, `{"a":1}`, ` maxProperties: got 1, want 0`},
		{`{"dependencies":{"a":{"required":["b"]}}}`, `{"a":1}`, ` missing property 'b'`},
		{`{"dependentRequired":{"a":["b","c"]}}`, `{"a":1}`, ` properties 'b', 'c' required, if 'a' exists`},
		{`{"dependentSchemas":{"a":false}}`, `{"a":1}`, ` false schema`},
		{`{"items":{"type":"string"}}`, `["a",1]`, `/1 got number, want string`},
		{`{"prefixItems":[{"type":"string"}],"items":false}`, `["a",1]`, `/1 false schema`},
		{`{` + d7 + `"items":[{"type":"string"}],"additionalItems":false}`, `["a",1,2]`, ` last 2 additionalItem(s) not allowed`},
		{`{` + d7 + `"items":[{"type":"string"}],"additionalItems":false}`, `["a",1]`, ` last 1 additionalItem(s) not allowed`},
		{`{` + d7 + `"items":[{"type":"string"}],"additionalItems":{"type":"null"}}`, `["a",1]`, `/1 got number, want null`},
		{`{"items":[{"type":"string"}]}`, `[1]`, ``}, // not a schema in 2020-12
		{`{"contains":{"type":"string"}}`, `[]`, ` no items match contains schema`},
		{`{"contains":{"type":"string"}}`, `[1]`, `/0 got number, want string`},
		{`{"contains":{},"minContains":2}`, `[1]`, ` min 2 items required to match contains schema, but matched 1 items at 0`},
		{`{"contains":{},"maxContains":1}`, `[1,2]`, ` max 1 items required to match contains schema, but matched 2 items at 0 1`},
		{`{"minItems":1}`, `[]`, ` minItems: got 0, want 1`},
		{`{"maxItems":1}`, `[1,2]`, ` maxItems: got 2, want 1`},
		{`{"uniqueItems":true}`, `[1,"1",true,{"a":1,"b":2},1.0]`, ` items at 0 and 4 are equal`},
		{`{"uniqueItems":true}`, `[[1,2],[2,1],["1,2"],{},[],"",null,false]`, ``},
		{`{"allOf":[{"type":"string"},{"minimum":3}]}`, `2`, ` got number, want string;  minimum: got 2, want 3`},
		{`{"anyOf":[{"type":"string"},{"minimum":3}]}`, `3`, ``},
		{`{"anyOf":[{"type":"string"},{"minimum":3}]}`, `2`, ` got number, want string;  minimum: got 2, want 3`},
		{`{"oneOf":[{"type":"string"},{"minimum":3},true]}`, `3`, ` 'oneOf' failed, subschemas 1, 2 matched`},
		{`{"not":{"type":"string"}}`, `"a"`, ` 'not' failed`},
		{`{"if":{"type":"string"},"then":{"minLength":2},"else":{"minimum":2}}`, `1`, ` minimum: got 1, want 2`},
		{`{"if":{"type":"string"},"then":{"minLength":2},"else":{"minimum":2}}`, `"a"`, ` minLength: got 1, want 2`},
		{`{"$ref":"#/$defs/a~1b~0","$defs":{"a/b~":{"type":"null"}}}`, `1`, ` got number, want null`},
		{`{"$ref":"#/$defs/%C3%A4","$defs":{"ä":{"type":"null"}}}`, `1`, ` got number, want null`},
		{`{"$ref":"#a","$defs":{"x":{"$anchor":"a","type":"null"}}}`, `1`, ` got number, want null`},
		{`{"$id":"http://h/root","$ref":"x","$defs":{"x":{"$id":"http://h/x","type":"null"}}}`, `1`, ` got number, want null`},
		{`{"$ref":"urn:a:b#c","$defs":{"x":{"$id":"urn:a:b","$defs":{"y":{"$anchor":"c","type":"null"}}}}}`, `1`, ` got number, want null`},
		{`{"$ref":"#/x/0","x":[{"type":"NULL"}]}`, `1`, ` got number, want null`}, // not in a place of a schema
		{`{"$ref":"#"}`, `1`, ``},
		{`{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`, `1`, ``},
		{`{"anyOf":[{"$ref":"#"},{"type":"string"}]}`, `1`, ` got number, want string`},
		{`{"properties":{"a":{"$ref":"#"}},"required":["b"]}`, `{"b":1,"a":{"b":1,"a":{}}}`, `/a/a missing property 'b'`},
		{`{` + d7 + `"properties":{"a":{"$ref":"#/definitions/b","type":"string"}},"definitions":{"b":{"type":"null"}}}`, `{"a":null}`, ``},
		{`{` + d7 + `"properties":{"a":{"$ref":"#/definitions/b","$id":"http://h/b"}},"definitions":{"b":{"$id":"http://h/b","type":"null"}}}`, `{"a":1}`, `/a got number, want null`},
		{`{` + d2019 + `"properties":{"a":{"$ref":"#/$defs/b","type":"string"}},"$defs":{"b":{}}}`, `{"a":null}`, `/a got null, want string`},
		{
			`{` + d2019 + `"$ref":"tree","unevaluatedProperties":false,"$defs":{"t":{"$id":"tree","$recursiveAnchor":true,"properties":{"a":{"items":{"$recursiveRef":"#"}}}}}}`,
			`{"a":[{"b":1}]}`, ``,
		},
		{
			`{` + d2019 + `"$recursiveAnchor":true,"$ref":"tree","unevaluatedProperties":false,"$defs":{"t":{"$id":"tree","$recursiveAnchor":true,"properties":{"a":{"items":{"$recursiveRef":"#"}}}}}}`,
			`{"a":[{"b":1}]}`, `/a false schema; /a/0/b false schema`,
		},
		{
			`{"$dynamicAnchor":"node","$ref":"tree","unevaluatedProperties":false,"$defs":{"t":{"$id":"tree","$dynamicAnchor":"node","properties":{"a":{"items":{"$dynamicRef":"#node"}}}}}}`,
			`{"a":[{"b":1}]}`, `/a false schema; /a/0/b false schema`,
		},
		{`{"unevaluatedProperties":false,"allOf":[{"properties":{"a":true}}],"if":{"required":["b"],"properties":{"b":true}}}`, `{"a":1,"b":1,"c":1}`, `/c false schema`},
		{`{"unevaluatedProperties":false,"anyOf":[{"properties":{"a":true}},{"properties":{"b":true}}]}`, `{"a":1,"b":1}`, ``},
		{`{"unevaluatedItems":false,"prefixItems":[true],"contains":{"type":"string"}}`, `[1,"a",2]`, `/2 false schema`},
		{`{` + d2019 + `"unevaluatedItems":{"type":"string"},"items":[true]}`, `[1,"a",2]`, `/2 got number, want string`},
		{`{"$schema":"http://json-schema.org/draft-07/schema","format":"date"}`, `"2023-02-29"`, ` '2023-02-29' is not a valid date`},
		{`{"format":"date"}`, `"2023-02-29"`, ``},
		{`{"properties":{"a":{"$ref":"http://json-schema.org/draft-07/schema#"}}}`, `{"a":7}`, `/a got number, want boolean or object`},
	} {
		tools := declared(t, tt.schema)
		var said []string
		for _, v := range tools.Violations("f", []byte(tt.args)) {
			said = append(said, v.Pointer+" "+v.Message)
		}
		if got := strings.Join(said, "; "); got != tt.want {
			t.Errorf("%s, %s: %s, want %s", tt.schema, tt.args, got, tt.want)
		}
	}
}

// TestFormats compares which strings have a format with another implementation.
func TestFormats(t *testing.T) {
	t.Parallel()
	texts := []string{
		"", "a", "/", "/a", "/a~0~1", "/~", "/~2", "0", "0#", "01", "1/a", "12#", "1#a", "#", "00000000-0000-0000-0000-00000000000f", "00000000-0000-0000-0000-00000000000g",
		"0000000-00000-0000-0000-00000000000f", "P", "P1Y", "P1M2D", "P1D2M", "PT1H", "PT", "P1YT", "P1W", "PW", "P1.5D", "PT1H2M3S", "PT1S2M", "P1DT1H", "PT1HT", "1D",
		"2024-01-01T00:00:00Z/P1D", "P1D/2024-01-01T00:00:00Z", "2024-01-01T00:00:00Z/2024-01-02T00:00:00Z", "P1D/P1D", "2024-01-01T00:00:00Z",
		"1.2.3.4", "01.2.3.4", "1.2.3", "1.2.3.256", "1.2.3.4.5", "::1", "::ffff:1.2.3.4", "1::2::3", "fe80::1%eth0", ":", "g::", "1.2.3.4:",
		"example.com", "example.com.", "-a.b", "a-.b", "a..b", "a_b", "ä.de", strings.Repeat("a", 64), strings.Repeat("a", 63), strings.Repeat("a.", 127),
		"a@b", "a@b.c", "@b", "a@", "a b@c", `"a b"@c`, `"a"b"@c`, ".a@b", "a.@b", "a..b@c", "a@[1.2.3.4]", "a@[IPv6:::1]", "a@[1.2.3]", strings.Repeat("a", 65) + "@b",
		"2024-02-29", "2023-02-29", "2024-1-1", "20240101", "12:00:00Z", "12:00:00z", "12:00:00.5+01:00", "12:00:00.Z", "12:00:00", "24:00:00Z", "12:60:00Z", "23:59:60Z", "12:59:60Z",
		"00:59:60+01:00", "22:59:60-01:00", "23:59:60+01:00", "12:00:61Z", "12:00:00+0100", "12:00:00+24:00", "12:00:00+01:60", "2024-01-01t12:00:00Z", "2024-01-01 12:00:00Z", "2024-01-01T12:00Z",
		"http://h", "http://h/a b", "/a/b", "a\\b", "http://[::1]/", "http://[::1/", "http://::1/", "urn:a", "%zz", "http://h/{a}", "http://h/{a", "http://h/a}", "http://h/%7Ba%7D/{b}", "http://h/{{a}}",
		"1.2.3", "1.2", "1.02.3", "1.2.3-a", "1.2.3-01", "1.2.3-0a.1", "1.2.3-", "1.2.3+a.b", "1.2.3+", "1.2.3+a+b", "1.2.3-a+b", "v1.2.3", "a.2.3",
	}
	for name := range strings.FieldsSeq(`json-pointer relative-json-pointer uuid duration period ipv4 ipv6 hostname email date time date-time
		uri iri uri-reference iri-reference uri-template semver regex color`) {
		schema := `{"$schema":"http://json-schema.org/draft-07/schema#","format":"` + name + `"}`
		fits := 0
		for _, text := range texts {
			args := fmt.Sprintf("%q", text)
			if d := differ(t, schema, args); d != "" {
				t.Errorf("%s, %s: %s", name, args, d)
			}
			if declared(t, schema).Violations("f", []byte(args)) == nil {
				fits++
			}
		}
		if known := formatNamed(name) != nil; fits == 0 || known == (fits == len(texts)) {
			t.Errorf("%s: %d of %d are valid", name, fits, len(texts))
		}
	}
}
