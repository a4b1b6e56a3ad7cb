package schema

import (
	"bytes"

	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
)

// nulls collects the nulls of a schema that no JSON Schema may have.
type nulls struct {
	draft draft
	start int64 // of the text
	found []rules.Null
}

// nullsOf returns the nulls of a schema in a text that starts at an offset. Most schemas have none.
func nullsOf(v source.Value, start int64) []rules.Null {
	if v.Kind() != source.Object || !bytes.Contains(v.Raw(), []byte("null")) {
		return nil
	}
	n := nulls{draft: draft2020, start: start}
	if d, known := draftOf(newObject(v).get("$schema").Str()); known {
		n.draft = d
	}
	n.schema(v, 0)
	return n.found
}

// schema looks at the keywords of a schema, which is in depth objects or arrays of the outermost
// one. null is no value of a keyword whose values have a shape. Others, such as default, const and
// unknown ones, may be null.
func (n *nulls) schema(v source.Value, depth int) {
	for k, val := range v.Members() {
		key := string(k.Text())
		s := shapeOf(key, n.draft)
		switch {
		case s == shapeAny:
		case val.Kind() == source.Null:
			n.found = append(n.found, rules.Null{At: val.Span().Start - n.start, Key: key, Depth: depth + 1})
		case s == shapeSchemasByName, s == shapeSchemasByPattern, s == shapeDependencies:
			n.named(val, depth+1, v.Get("required"))
		case s == shapeSchema, s == shapeSchemaOrBool, s == shapeSchemaOrList, s == shapeSchemaList:
			if val.Kind() == source.Object {
				n.schema(val, depth+1)
			}
			for _, e := range val.Elements() {
				n.schema(e, depth+2)
			}
		}
	}
}

// named looks at schemas by name.
func (n *nulls) named(v source.Value, depth int, required source.Value) {
	for k, val := range v.Members() {
		if val.Kind() != source.Null {
			n.schema(val, depth+1)
			continue
		}
		null := rules.Null{At: val.Span().Start - n.start, Key: string(k.Text()), Depth: depth + 1, Named: true}
		for _, name := range required.Elements() {
			null.Required = null.Required || name.Is(null.Key)
		}
		n.found = append(n.found, null)
	}
}
