package schema

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/sample"
	"github.com/toolguard/toolguard/internal/source"
)

// differ describes how the results for a schema and arguments differ from those of the
// other implementation.
func differ(t *testing.T, schema, arguments string) string {
	t.Helper()
	n, unchecked := compile(source.NewValue([]byte(schema), 0), nil)
	return differOf(t, n, unchecked, newOther(t, schema), arguments)
}

func differOf(t *testing.T, n *node, unchecked []string, ref other, arguments string) string {
	t.Helper()
	if (n != nil) != ref.ok {
		return fmt.Sprintf("is a schema: %v, want %v: %s", n != nil, ref.ok, ref.invalid)
	}
	if n == nil {
		return ""
	}
	// The keys of patternProperties are patterns since draft 7. For earlier drafts, the
	// other implementation compiles only those that are used.
	told := slices.DeleteFunc(slices.Clone(unchecked), func(p string) bool {
		return n.draft < draft7 && !slices.Contains(ref.unchecked, p)
	})
	if !slices.Equal(told, ref.unchecked) {
		return fmt.Sprintf("unchecked: %q, want %q", unchecked, ref.unchecked)
	}
	want := ref.violations(t, arguments)
	var got []violation
	for _, v := range violations(n, []byte(arguments)) {
		got = append(got, violation{v.Pointer, v.Broken, v.Message})
	}
	for _, list := range [][]violation{got, want} {
		for i := range list {
			switch list[i].broken {
			case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "format":
				list[i].message = "" // the other implementation formats numbers differently
			case "enum", "const":
				list[i].message = strings.ReplaceAll(list[i].message, "<nil>", "null")
			}
		}
		slices.SortFunc(list, compareViolations)
	}
	// The other implementation does not say which object has an invalid key, so try all.
	alike := func(list []violation, w violation, pointer string) bool {
		return slices.ContainsFunc(list, func(x violation) bool {
			return x.broken == w.broken && x.message == w.message && (pointer == "" || x.pointer == pointer)
		})
	}
	names := slices.Clone(want)
	want = slices.DeleteFunc(want, func(w violation) bool { return w.pointer == someName && alike(got, w, "") })
	got = slices.DeleteFunc(got, func(w violation) bool { return alike(names, w, someName) && !slices.Contains(names, w) })
	return cmp.Diff(slices.Compact(want), slices.Compact(got), cmp.AllowUnexported(violation{}))
}

// TestRandom compares the validation of random schemas and arguments with another
// implementation, including messages and places.
func TestRandom(t *testing.T) {
	t.Parallel()
	pairs, seed := sample.Inputs(200_000, 3_000, 1_000), sample.Seed(1)
	g := &maker{Rand: rand.New(rand.NewPCG(seed, 7))}
	schemas, broken, fits, none := 0, 0, 0, 0
	for n := 0; n < pairs; {
		text := g.schema()
		compiled, unchecked := compile(source.NewValue([]byte(text), 0), nil)
		ref := newOther(t, text)
		schemas++
		if compiled == nil {
			none++
		}
		for range 12 {
			n++
			arguments := g.near(parsed(text), parsed(text), 0)
			if d := differOf(t, compiled, unchecked, ref, arguments); d != "" {
				t.Fatalf("seed %d, schema %d:\n%s\n%s\n%s", seed, schemas, text, arguments, d)
			}
			if compiled == nil {
				break
			}
			if violations(compiled, []byte(arguments)) == nil {
				fits++
			} else {
				broken++
			}
		}
	}
	t.Logf("%d schemas, %d of them invalid; %d arguments are valid, %d are not", schemas, none, fits, broken)
	if fits < pairs/5 || broken < pairs/5 || none > schemas/4 {
		t.Error("the random values are not varied enough")
	}
}

// parsed returns the value of a text.
func parsed(text string) source.Value { return source.NewValue([]byte(text), 0) }

// A maker makes random schemas and arguments.
type maker struct {
	*rand.Rand
	draft draft
}

func (g *maker) pick(list ...string) string { return list[g.IntN(len(list))] }

// defsKey returns the key of the schemas that references lead to.
func (g *maker) defsKey() string {
	if g.draft >= draft2019 {
		return "$defs"
	}
	return "definitions"
}

// schema makes a complete schema.
func (g *maker) schema() string {
	address := g.pick("", "", "http://json-schema.org/draft-04/schema#", "http://json-schema.org/draft-06/schema#",
		"http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2019-09/schema", "https://json-schema.org/draft/2020-12/schema")
	g.draft = draft2020
	if address != "" {
		g.draft, _ = draftOf(address)
	}
	members := g.keywords(0)
	if address != "" {
		members = append(members, `"$schema":"`+address+`"`)
	}
	members = slices.DeleteFunc(members, func(m string) bool {
		return strings.HasPrefix(m, `"$ref"`) && g.IntN(4) > 0 || strings.HasPrefix(m, `"`+g.defsKey()+`"`)
	})
	id := strconv.Quote(g.draft.idKey())
	defs := []string{
		`"a":` + g.sub(2), `"b/~":` + g.sub(2), `"c":{"type":"object","properties":{"next":{"$ref":"#/` + g.defsKey() + `/c"}}}`,
		`"d":{` + id + `:"d.json","type":["object","string"],"` + g.defsKey() + `":{"e":` + g.sub(3) + `}}`,
	}
	if g.draft >= draft2019 {
		defs = append(defs, `"f":{"$anchor":"named","minProperties":1}`)
	} else {
		defs = append(defs, `"f":{`+id+`:"#named","minProperties":1}`)
	}
	members = append(members, `"`+g.defsKey()+`":{`+strings.Join(defs, ",")+`}`)
	if g.draft == draft2020 && g.IntN(3) == 0 {
		members = append(members, `"$dynamicAnchor":"meta"`)
	}
	if g.draft == draft2019 && g.IntN(3) == 0 {
		members = append(members, `"$recursiveAnchor":true`)
	}
	return "{" + strings.Join(members, ",") + "}"
}

// sub makes a subschema.
func (g *maker) sub(depth int) string {
	if g.draft > draft4 && g.IntN(8) == 0 {
		return g.pick("true", "false", "true")
	}
	if depth > 3 {
		return g.pick(`{}`, `{"type":"string"}`, `{"type":"integer"}`, `{"enum":[1,"a",null]}`)
	}
	return "{" + strings.Join(g.keywords(depth), ",") + "}"
}

func (g *maker) subs(depth int) string {
	list := []string{g.sub(depth)}
	for g.IntN(2) == 0 {
		list = append(list, g.sub(depth))
	}
	return "[" + strings.Join(list, ",") + "]"
}

func (g *maker) named(depth int, names ...string) string {
	var list []string
	for _, name := range names {
		if g.IntN(2) == 0 {
			list = append(list, strconv.Quote(name)+":"+g.sub(depth))
		}
	}
	return "{" + strings.Join(list, ",") + "}"
}

// keywords makes the keywords of a schema, each at most once.
func (g *maker) keywords(depth int) []string {
	taken := map[string]bool{}
	var out []string
	for range 1 + g.IntN(4) {
		key, value := g.keyword(depth + 1)
		if taken[key] {
			continue
		}
		// Old drafts ignore the siblings of a reference, but the other implementation
		// evaluates those that are newer than draft 4.
		if later := []string{"const", "contains", "propertyNames", "if"}; g.draft < draft2019 {
			if taken["$ref"] && slices.Contains(later, key) || key == "$ref" && slices.ContainsFunc(later, func(k string) bool { return taken[k] }) {
				continue
			}
		}
		taken[key] = true
		out = append(out, strconv.Quote(key)+":"+value)
		if g.draft == draft4 && strings.HasPrefix(key, "exclusive") {
			bound := strings.ToLower(strings.TrimPrefix(key, "exclusive"))
			if !taken[bound] {
				taken[bound] = true
				out = append(out, strconv.Quote(bound)+":"+g.number())
			}
		}
		if key == "if" {
			out = append(out, `"then":`+g.sub(depth+1), `"else":`+g.sub(depth+1))
		}
		if key == "contains" && g.draft >= draft2019 {
			out = append(out, `"minContains":`+g.pick("0", "1", "2"))
			if g.IntN(2) == 0 {
				out = append(out, `"maxContains":`+g.pick("0", "1", "2"))
			}
		}
	}
	return out
}

func (g *maker) number() string {
	return g.pick("0", "1", "2", "3", "-1", "1.0", "0.5", "2.50", "1e1", "12e-1", "100000000000000000000000000001", "0.1", "1e300", "-2.5E+0")
}

func (g *maker) strings() string {
	return g.pick(`["a"]`, `["b"]`, `["a","b"]`, `["c","x"]`, `["zz/~"]`)
}

// keyword makes one keyword with its value.
func (g *maker) keyword(depth int) (key, value string) {
	count := func(key string) (string, string) { return key, g.pick("0", "1", "2", "3", "2.0") }
	names := []string{"a", "b", "c", "x1", "zz/~"}
	switch g.IntN(44) {
	case 0, 1, 2:
		return "type", g.pick(`"object"`, `"array"`, `"string"`, `"number"`, `"integer"`, `"boolean"`, `"null"`, `"OBJECT"`)
	case 3:
		return "type", g.pick(`["object","null"]`, `["string","integer"]`, `["array","number","STRING"]`, `["object","array"]`)
	case 4:
		return "enum", g.pick(`["a","b"]`, `[1,2.0,null]`, `[{"a":1},[1,2],"a"]`, `[true]`, `[0.1,100000000000000000000000000001]`, `["it's \"q\""]`)
	case 5:
		return "const", g.pick(`"a"`, `1.0`, `null`, `{"a":[1]}`, `[]`, `false`)
	case 6, 7, 8, 9:
		return "properties", g.named(depth, names...)
	case 10, 11:
		return "required", g.strings()
	case 12, 13:
		return "additionalProperties", g.pick("false", "true", g.sub(depth))
	case 14:
		return "patternProperties", g.named(depth, "^x", "[a-c]", "(?!z)z")
	case 15:
		return "propertyNames", g.pick(`{"maxLength":1}`, `{"enum":["a","b","c"]}`, `{"pattern":"^[a-z]$"}`, g.sub(depth))
	case 16:
		return count(g.pick("minProperties", "maxProperties"))
	case 17:
		return "dependencies", g.pick(`{"a":["b"]}`, `{"a":["b","c"],"b":["a"]}`, `{"a":`+g.sub(depth)+`}`)
	case 18:
		return "dependentRequired", g.pick(`{"a":["b"]}`, `{"b":["c","a"]}`)
	case 19:
		return "dependentSchemas", g.named(depth, "a", "b")
	case 20, 21, 22:
		if g.draft < draft2020 && g.IntN(2) == 0 {
			return "items", g.subs(depth)
		}
		return "items", g.sub(depth)
	case 23:
		return "prefixItems", g.subs(depth)
	case 24:
		return "additionalItems", g.pick("false", "true", g.sub(depth))
	case 25:
		return "contains", g.sub(depth)
	case 26:
		return count(g.pick("minItems", "maxItems"))
	case 27:
		return "uniqueItems", g.pick("true", "true", "false")
	case 28:
		return count(g.pick("minLength", "maxLength"))
	case 29:
		return "pattern", g.pick(`"^a"`, `"b$"`, `"^.{2}$"`, `"^(?=a)"`, `"\\d"`)
	case 30, 31:
		return g.pick("minimum", "maximum"), g.number()
	case 32:
		if g.draft == draft4 {
			return g.pick("exclusiveMinimum", "exclusiveMaximum"), g.pick("true", "false")
		}
		return g.pick("exclusiveMinimum", "exclusiveMaximum"), g.number()
	case 33:
		return "multipleOf", g.pick("1", "0.5", "0.1", "3", "2.5e0", "1e-2", "7e20")
	case 34, 35, 36:
		return g.pick("allOf", "anyOf", "oneOf"), g.subs(depth)
	case 37:
		return "not", g.sub(depth)
	case 38:
		return "if", g.sub(depth)
	case 39:
		defs := g.defsKey()
		return "$ref", strconv.Quote("#" + g.pick("", "/"+defs+"/a", "/"+defs+"/b~1~0", "/"+defs+"/c", "/"+defs+"/b%7E1~0", "named", "/"+defs+"/d/"+defs+"/e") + "")
	case 40:
		return g.pick("$ref", "$recursiveRef", "$dynamicRef"), g.pick(`"d.json"`, `"#"`, `"#named"`, `"#meta"`, `"#/properties/a"`, `"other.json"`)
	case 41, 42:
		return g.pick("unevaluatedProperties", "unevaluatedItems"), g.pick("false", "false", g.sub(depth))
	default:
		return g.pick("format", "nullable", "title", "default"), g.pick(`"date"`, `true`, `"ipv4"`, `"email"`)
	}
}

// near makes arguments that are valid or nearly valid for a schema.
func (g *maker) near(s, root source.Value, depth int) string {
	if depth > 6 || g.IntN(25) == 0 {
		return g.any(depth)
	}
	if s.Kind() != source.Object {
		return g.any(depth)
	}
	o := newObject(s)
	if ref := o.get("$ref"); ref.Exists() && g.IntN(5) > 0 {
		c := &compiler{objects: map[int64]*object{}}
		if to, ok := c.follow(root, strings.ReplaceAll(strings.TrimPrefix(ref.Str(), "#"), "%7E", "~")); ok {
			return g.near(to, root, depth+1)
		}
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		if list := o.get(key); list.Exists() && g.IntN(3) == 0 {
			for _, e := range list.Elements() {
				if g.IntN(2) == 0 {
					return g.near(e, root, depth+1)
				}
			}
		}
	}
	for _, key := range []string{"if", "then", "else", "not"} {
		if in := o.get(key); in.Exists() && g.IntN(5) == 0 {
			return g.near(in, root, depth+1)
		}
	}
	if v := o.get("const"); v.Exists() && g.IntN(4) > 0 {
		return string(v.Raw())
	}
	if v := o.get("enum"); v.Exists() && g.IntN(4) > 0 {
		var list []string
		for _, e := range v.Elements() {
			list = append(list, string(e.Raw()))
		}
		return g.pick(list...)
	}
	types, _ := typesOf(o)
	if types == 0 {
		types = g.likely(o)
	}
	names := types.names()
	switch g.pick(names...) {
	case "object":
		return g.nearObject(o, root, depth)
	case "array":
		return g.nearArray(o, root, depth)
	case "string":
		return g.text()
	case "integer":
		return g.pick("1", "2", "3.0", "10", "1e2", "0", "-1")
	case "number":
		return g.number()
	case "boolean":
		return g.pick("true", "false")
	}
	return "null"
}

// likely guesses the type that a schema without a type is for.
func (g *maker) likely(o *object) kinds {
	for _, m := range o.members {
		switch name := string(m.name); {
		case strings.Contains(strings.ToLower(name), "propert"), strings.HasPrefix(name, "depend"), name == "required":
			return kindObject
		case strings.Contains(strings.ToLower(name), "items"), strings.Contains(name, "ontains"):
			return kindArray
		case strings.HasSuffix(name, "Length"), name == "pattern", name == "format":
			return kindString
		case strings.HasSuffix(name, "imum"), name == "multipleOf":
			return kindNumber
		}
	}
	return 1 << g.IntN(7)
}

func (g *maker) text() string {
	return g.pick(`"a"`, `"b"`, `"ab"`, `"äö"`, `"\u00e4"`, `"a\"b"`, `"\ud83d\ude00"`, `""`, `"1"`, `"2024-02-29"`, `"127.0.0.1"`, `"a@b.c"`)
}

func (g *maker) nearObject(o *object, root source.Value, depth int) string {
	var list []string
	add := func(name string, s source.Value) {
		list = append(list, strconv.Quote(name)+":"+g.near(s, root, depth+1))
	}
	if v := o.get("properties"); v.Exists() {
		for k, s := range v.Members() {
			if g.IntN(4) > 0 {
				add(k.Str(), s)
			}
		}
	}
	for _, e := range o.get("required").Elements() {
		if g.IntN(8) > 0 && !o.get("properties").Get(e.Str()).Exists() {
			add(e.Str(), o.get("additionalProperties"))
		}
	}
	if g.IntN(3) == 0 {
		add(g.pick("a", "b", "c", "x1", "y", "zz/~", "next"), o.get("additionalProperties"))
	}
	return "{" + strings.Join(list, ",") + "}"
}

func (g *maker) nearArray(o *object, root source.Value, depth int) string {
	var list []string
	rest := o.get("items")
	for _, e := range o.get("prefixItems").Elements() {
		list = append(list, g.near(e, root, depth+1))
	}
	for _, e := range rest.Elements() {
		list = append(list, g.near(e, root, depth+1))
	}
	if rest.Kind() == source.Array || !rest.Exists() {
		rest = o.get("contains")
	}
	for g.IntN(3) > 0 {
		list = append(list, g.near(rest, root, depth+1))
	}
	return "[" + strings.Join(list, ",") + "]"
}

// any makes an arbitrary value.
func (g *maker) any(depth int) string {
	switch g.IntN(8) {
	case 0:
		return g.text()
	case 1:
		return g.number()
	case 2:
		return g.pick("true", "false", "null")
	case 3:
		return g.pick("[]", "{}", `[1,1.0]`, `{"a":1,"b":2}`, `[{"a":1},{"a":1}]`)
	default:
		if depth > 3 {
			return "1"
		}
		if g.IntN(2) == 0 {
			return `[` + g.any(depth+1) + `,` + g.any(depth+1) + `]`
		}
		return `{` + strconv.Quote(g.pick("a", "b", "c", "x1", "next")) + `:` + g.any(depth+1) + `}`
	}
}
