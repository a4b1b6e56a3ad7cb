package schema

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

// declared returns a tool named f whose arguments have the given schema.
func declared(t *testing.T, schema string) *Tools {
	t.Helper()
	tools, err := Parse([]byte(`[{"name":"f","parameters":` + schema + `}]`))
	if err != nil {
		t.Fatal(err)
	}
	return tools
}

// TestWords checks that keyword values are read as schemas only where they are schemas.
func TestWords(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		schema, args string
		broken       bool
	}{
		{`{"type":"OBJECT","properties":{"a":{"type":["STRING","NULL"]}}}`, `{"a":null}`, false},
		{`{"type":"OBJECT","properties":{"a":{"type":["STRING","NULL"]}}}`, `{"a":1}`, true},
		{`{"type":"object","properties":{"a":{"type":["STRING"],"nullable":true}}}`, `{"a":null}`, false},
		{`{"type":"object","properties":{"a":{"type":["STRING"],"nullable":true}}}`, `{"a":1}`, true},
		{`{"properties":{"a":{"enum":[{"type":"READ"},"WRITE"]}}}`, `{"a":{"type":"READ"}}`, false},
		{`{"properties":{"a":{"enum":[{"type":"READ"},"WRITE"]}}}`, `{"a":{"type":"read"}}`, true},
		{`{"properties":{"a":{"const":{"type":"READ","nullable":true}}}}`, `{"a":{"type":"READ","nullable":true}}`, false},
		{`{"properties":{"a":{"default":{"type":"READ"},"type":"INTEGER"}}}`, `{"a":"x"}`, true},
		{`{"properties":{"type":{"type":"STRING"}}}`, `{"type":1}`, true},
		{`{"properties":{"enum":{"type":"STRING"}}}`, `{"enum":1}`, true},
		{`{"properties":{"a":{"anyOf":[{"type":"STRING"},{"items":{"type":"INTEGER"},"type":"ARRAY"}]}}}`, `{"a":["x"]}`, true},
		{`{"properties":{"a":{"$ref":"#/$defs/b"}},"$defs":{"b":{"type":"STRING"}}}`, `{"a":1}`, true},
		{`{"patternProperties":{"^a":{"type":"STRING"}}}`, `{"ab":1}`, true},
		{`{"additionalProperties":{"type":"STRING"}}`, `{"ab":1}`, true},
	} {
		if got := declared(t, tt.schema).Violations("f", []byte(tt.args)); tt.broken != (len(got) > 0) {
			t.Errorf("%s, %s: %v", tt.schema, tt.args, got)
		}
	}
}

// TestUnchecked checks that an invalid pattern is reported and is all that is not
// checked.
func TestUnchecked(t *testing.T) {
	t.Parallel()
	const ahead = `^(?!x).*$`
	for _, draft := range []string{"", `"$schema":"http://json-schema.org/draft-07/schema#",`} {
		for _, schema := range []string{
			`{` + draft + `"properties":{"a":{"type":"string"},"z":{"type":"string","pattern":"` + ahead + `"}}}`,
			`{` + draft + `"properties":{"a":{"type":"string"}},"patternProperties":{"` + ahead + `":{"type":"string"}},"additionalProperties":false}`,
		} {
			tools := declared(t, schema)
			if got := tools.Unchecked("f"); !reflect.DeepEqual(got, []string{ahead}) {
				t.Errorf("%s: %q", schema, got)
			}
			if got := tools.Violations("f", []byte(`{"a":1,"z":"x"}`)); len(got) != 1 || got[0].Pointer != "/a" {
				t.Errorf("%s: %v", schema, got)
			}
			if got := tools.Violations("f", []byte(`{"a":"1","z":"x"}`)); got != nil {
				t.Errorf("%s: %v", schema, got)
			}
		}
	}
}

// TestOrder checks that violations always have the same order and messages.
func TestOrder(t *testing.T) {
	t.Parallel()
	var names, members []string
	for i := range 20 {
		names = append(names, fmt.Sprintf(`"k%d":{"type":"string","minLength":3},"l%d":{"anyOf":[{"type":"string"},{"minimum":5}]}`, i, i))
		members = append(members, fmt.Sprintf(`"k%d":1,"l%d":2,"m%d":3`, i, i, i))
	}
	schema := `{"additionalProperties":false,"minProperties":100,"required":["x","y"],"properties":{` + strings.Join(names, ",") + `}}`
	args := []byte(`{` + strings.Join(members, ",") + `}`)
	want := declared(t, schema).Violations("f", args)
	if len(want) < 60 {
		t.Fatal(want)
	}
	for range 20 {
		if got := declared(t, schema).Violations("f", args); !reflect.DeepEqual(got, want) {
			t.Fatalf("%v, and then %v", want, got)
		}
	}
}

// TestReuse checks that the fields of one object are not used for the next one.
func TestReuse(t *testing.T) {
	t.Parallel()
	var many []string
	for i := range 3 * fewMembers {
		many = append(many, fmt.Sprintf(`"k%d":1`, i))
	}
	args := `[{` + strings.Join(many, ",") + `},{"k1":1},{"k0":1,"k1":1}]`
	tools := declared(t, `{"items":{"required":["k0"],"properties":{"k0":{"type":"integer"}}}}`)
	for range 2 {
		got := tools.Violations("f", []byte(args))
		if len(got) != 1 || got[0].Pointer != "/1" || got[0].Message != "missing property 'k0'" {
			t.Error(got)
		}
	}
}

// TestEnds checks that validation stops for a schema that requires too many checks or
// recurses without end.
func TestEnds(t *testing.T) {
	t.Parallel()
	var doubled, chain []string
	for i := range 60 {
		doubled = append(doubled, fmt.Sprintf(`"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i, i+1, i+1))
	}
	for i := range 3000 {
		chain = append(chain, fmt.Sprintf(`"d%d":{"$ref":"#/$defs/d%d"}`, i, i+1))
	}
	deep := strings.Repeat(`{"a":`, 900) + "1" + strings.Repeat("}", 900)
	for _, tt := range []struct {
		schema, args string
		want         int
	}{
		{`{"$ref":"#/$defs/d0","$defs":{` + strings.Join(doubled, ",") + `,"d60":{"type":"string"}}}`, `1`, 0},
		{`{"$ref":"#/$defs/d0","$defs":{` + strings.Join(chain, ",") + `,"d3000":{"type":"string"}}}`, `1`, 0},
		{`{"$ref":"#/$defs/d2900","$defs":{` + strings.Join(chain, ",") + `,"d3000":{"type":"string"}}}`, `1`, 1},
		{`{"type":"object","properties":{"a":{"$ref":"#"}}}`, deep, 1},
		{`{"oneOf":[{"$ref":"#"},{"$ref":"#"}]}`, deep, 0},
	} {
		if got := declared(t, tt.schema).Violations("f", []byte(tt.args)); len(got) != tt.want {
			t.Errorf("%.60s: %d, want %d", tt.schema, len(got), tt.want)
		}
	}
}

// BenchmarkUnique reports the ratio of the times for ten times the elements and fields:
// 10 if the work is linear.
func BenchmarkUnique(b *testing.B) {
	tools, err := Parse([]byte(`[{"name":"f","parameters":{"properties":{"a":{"uniqueItems":true},"b":{"additionalProperties":{"type":"string"},"required":["k1"]}}}}]`))
	if err != nil {
		b.Fatal(err)
	}
	find := func(n int) time.Duration {
		var text strings.Builder
		text.WriteString(`{"a":[0`)
		for i := range n {
			fmt.Fprintf(&text, `,{"k":%d}`, i)
		}
		text.WriteString(`],"b":{"k":""`)
		for i := range n {
			fmt.Fprintf(&text, `,"k%d":""`, i)
		}
		text.WriteString(`}}`)
		args := []byte(text.String())
		start := time.Now()
		if got := tools.Violations("f", args); got != nil {
			b.Fatal(got)
		}
		return time.Since(start)
	}
	var once, tenfold time.Duration
	for b.Loop() {
		once += find(2_000)
		tenfold += find(20_000)
	}
	b.ReportMetric(float64(tenfold)/float64(once), "x/10x-load")
}

// BenchmarkViolations reports the ratio of the times for ten times the violations: 10 if
// the work is linear.
func BenchmarkViolations(b *testing.B) {
	tools, err := Parse([]byte(`[{"name":"f","parameters":{"properties":{"a":{"items":{"type":"string"}}}}}]`))
	if err != nil {
		b.Fatal(err)
	}
	find := func(n int) time.Duration {
		args := []byte(`{"a":[` + strings.TrimSuffix(strings.Repeat("1,", n), ",") + `]}`)
		start := time.Now()
		if got := tools.Violations("f", args); len(got) != n || got[n-1].Pointer != fmt.Sprintf("/a/%d", n-1) {
			b.Fatal(len(got))
		}
		return time.Since(start)
	}
	var once, tenfold time.Duration
	for b.Loop() {
		once += find(1_000)
		tenfold += find(10_000)
	}
	b.ReportMetric(float64(tenfold)/float64(once), "x/10x-load")
}
