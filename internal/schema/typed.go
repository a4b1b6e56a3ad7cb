package schema

import (
	"strings"

	"github.com/toolguard/toolguard/internal/source"
)

// objectRules reads the keywords for objects. It returns nil if there are none.
func (c *compiler) objectRules(n *node, o *object) *objectRules {
	r := &objectRules{
		least: count(o, "minProperties"), most: count(o, "maxProperties"),
		required: stringsIn(o.get("required")),
	}
	used := r.least >= 0 || r.most >= 0 || len(r.required) > 0
	c.named(o, "properties", func(name string, v source.Value) {
		if r.properties == nil {
			r.properties = map[string]*node{}
		}
		r.properties[name] = c.node(v)
	})
	c.named(o, "patternProperties", func(name string, v source.Value) {
		rule := patternRule{pattern: c.pattern(name), schema: &node{always: true}}
		if rule.pattern != nil {
			rule.schema = c.node(v)
		}
		r.patterns = append(r.patterns, rule)
	})
	if v := o.get("additionalProperties"); v.Kind() == source.Bool {
		r.closed = !v.True()
		if !r.closed {
			r.additional = &node{always: true}
		}
	} else {
		r.additional = c.schema(o, "additionalProperties")
	}
	c.named(o, "dependencies", func(name string, v source.Value) {
		if v.Kind() == source.Array {
			r.dependencies = append(r.dependencies, dependency{name: name, required: stringsIn(v)})
			return
		}
		r.dependencies = append(r.dependencies, dependency{name: name, schema: c.node(v)})
	})
	if n.draft >= draft6 {
		r.names = c.schema(o, "propertyNames")
	}
	if n.draft >= draft2019 {
		c.named(o, "dependentRequired", func(name string, v source.Value) {
			r.dependentRequired = append(r.dependentRequired, dependency{name: name, required: stringsIn(v)})
		})
		c.named(o, "dependentSchemas", func(name string, v source.Value) {
			r.dependentSchemas = append(r.dependentSchemas, dependency{name: name, schema: c.node(v)})
		})
		r.unevaluated = c.schema(o, "unevaluatedProperties")
	}
	used = used || r.properties != nil || r.patterns != nil || r.additional != nil || r.closed || r.names != nil ||
		r.dependencies != nil || r.dependentRequired != nil || r.dependentSchemas != nil || r.unevaluated != nil
	if !used {
		return nil
	}
	return r
}

// arrayRules reads the keywords for arrays. It returns nil if there are none.
func (c *compiler) arrayRules(n *node, o *object) *arrayRules {
	r := &arrayRules{
		least: count(o, "minItems"), most: count(o, "maxItems"), unique: o.get("uniqueItems").True(),
		leastMatch: -1, mostMatch: -1,
	}
	items := o.get("items")
	switch {
	case n.draft >= draft2020:
		r.first, r.rest = c.schemas(o, "prefixItems"), c.schema(o, "items")
	case items.Kind() == source.Array:
		r.first = c.schemas(o, "items")
		if v := o.get("additionalItems"); v.Kind() == source.Bool {
			r.closed = !v.True()
			if !r.closed {
				r.rest = &node{always: true}
			}
		} else {
			r.rest = c.schema(o, "additionalItems")
		}
	default:
		r.rest = c.schema(o, "items")
	}
	if n.draft >= draft6 {
		r.contains = c.schema(o, "contains")
	}
	if n.draft >= draft2019 {
		r.leastMatch, r.mostMatch = count(o, "minContains"), count(o, "maxContains")
		r.unevaluated = c.schema(o, "unevaluatedItems")
	}
	if r.least < 0 && r.most < 0 && !r.unique && r.first == nil && r.rest == nil && r.contains == nil && r.unevaluated == nil {
		return nil
	}
	return r
}

// textRules reads the keywords for strings. It returns nil if there are none.
func (c *compiler) textRules(o *object) *textRules {
	r := &textRules{least: count(o, "minLength"), most: count(o, "maxLength")}
	if v := o.get("pattern"); v.Kind() == source.String {
		r.pattern = c.pattern(v.Str())
	}
	if r.least < 0 && r.most < 0 && r.pattern == nil {
		return nil
	}
	return r
}

// numberRulesOf reads the keywords for numbers. It returns nil if there are none.
func numberRulesOf(o *object) *numberRules {
	r := &numberRules{multipleOf: limitOf(o.get("multipleOf"))}
	for _, b := range []bound{
		{keyword: "minimum", sign: -1},
		{keyword: "maximum", sign: 1},
		{keyword: "exclusiveMinimum", sign: -1, exclusive: true},
		{keyword: "exclusiveMaximum", sign: 1, exclusive: true},
	} {
		if !b.exclusive {
			// In draft 4 a separate keyword says that the bound is exclusive.
			if key := "exclusive" + strings.ToUpper(b.keyword[:1]) + b.keyword[1:]; o.get(key).True() {
				b.exclusive = true
			}
		}
		if l := limitOf(o.get(b.keyword)); l != nil {
			b.limit = *l
			if b.exclusive && !strings.HasPrefix(b.keyword, "exclusive") {
				b.keyword = "exclusive" + strings.ToUpper(b.keyword[:1]) + b.keyword[1:]
			}
			r.bounds = append(r.bounds, b)
		}
	}
	if r.bounds == nil && r.multipleOf == nil {
		return nil
	}
	return r
}
