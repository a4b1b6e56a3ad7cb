package schema

import (
	"strings"

	"github.com/toolguard/toolguard/internal/source"
)

// walk visits a schema and all its subschemas. It records their sections and checks that
// they are valid schemas. in is the enclosing section, or nil.
func (c *compiler) walk(v source.Value, in *section) {
	at := v.Span().Start
	if c.invalid || c.known[at] != nil {
		return
	}
	if v.Kind() == source.Bool && in != nil && in.draft > draft4 {
		c.known[at] = in
		return
	}
	if v.Kind() != source.Object {
		c.invalid = true
		return
	}
	o := c.object(v)
	if in = c.section(v, o, in); in == nil || !in.anchor(v, o) {
		c.invalid = true
		return
	}
	c.known[at] = in
	for _, m := range o.members {
		if !c.fits(shapeOf(string(m.name), in.draft), m.value, o, in) {
			c.invalid = true
		}
	}
	if in.draft == draft4 && (o.has("exclusiveMinimum") && !o.has("minimum") || o.has("exclusiveMaximum") && !o.has("maximum")) {
		c.invalid = true
	}
}

// fits reports whether the value of a keyword has its shape. It walks the schemas in the
// value.
func (c *compiler) fits(s shape, v source.Value, o *object, in *section) bool {
	switch s {
	case shapeSchemaOrBool:
		if v.Kind() != source.Bool {
			c.walk(v, in)
		}
	case shapeSchema:
		c.walk(v, in)
	case shapeSchemaOrList, shapeSchemaList:
		if s == shapeSchemaOrList && v.Kind() != source.Array {
			c.walk(v, in)
			return true
		}
		for _, e := range v.Elements() {
			c.walk(e, in)
		}
		return v.First().Exists()
	case shapeSchemasByName, shapeSchemasByPattern, shapeDependencies:
		return c.fitsByName(s, v, in)
	case shapeTypes:
		_, ok := typesOf(o)
		return ok
	case shapeExclusive, shapeBool:
		return v.Kind() == source.Bool
	case shapeEnum:
		return v.Kind() == source.Array && (in.draft >= draft2019 || v.First().Exists() && distinct(v))
	case shapeStrings:
		return areStrings(v, in.draft)
	case shapeStringsByName:
		for _, m := range c.object(v).members {
			if !areStrings(m.value, in.draft) {
				return false
			}
		}
		return v.Kind() == source.Object
	case shapeVocabulary:
		for _, m := range c.object(v).members {
			if m.value.Kind() != source.Bool || !isURI(string(m.name)) {
				return false
			}
		}
		return v.Kind() == source.Object
	case shapeList:
		return v.Kind() == source.Array
	case shapeNumber, shapeCount, shapePositive:
		return fitsNumber(s, v)
	case shapeAny:
	default:
		return c.fitsText(s, v, in.draft)
	}
	return true
}

func (c *compiler) fitsByName(s shape, v source.Value, in *section) bool {
	if v.Kind() != source.Object {
		return false
	}
	for _, m := range c.object(v).members {
		switch {
		case s == shapeSchemasByPattern && c.pattern(string(m.name)) == nil:
			// Without a valid pattern, it is unknown which properties the schema is for.
		case s == shapeDependencies && m.value.Kind() == source.Array:
			if !areStrings(m.value, in.draft) {
				return false
			}
		default:
			c.walk(m.value, in)
		}
	}
	return true
}

func fitsNumber(s shape, v source.Value) bool {
	if v.Kind() != source.Number {
		return false
	}
	d := parseDecimal(v.Raw())
	switch s {
	case shapeCount:
		return d.integer() && d.sign() >= 0
	case shapePositive:
		return d.sign() > 0
	}
	return true
}

func (c *compiler) fitsText(s shape, v source.Value, d draft) bool {
	if v.Kind() != source.String {
		return false
	}
	text := v.Str()
	switch s {
	case shapePattern:
		c.pattern(text)
	case shapeAddress:
		return isURI(text)
	case shapeReference:
		return isReference(text)
	case shapeID:
		_, fragment, _ := strings.Cut(text, "#")
		return fragment == "" && isReference(text)
	case shapeAnchor:
		return isAnchor(text, d)
	}
	return true
}

// isAnchor reports whether a text is a valid anchor name in a draft.
func isAnchor(text string, d draft) bool {
	more := "-._"
	if d == draft2019 {
		more += ":"
	}
	for i, r := range text {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_' && d >= draft2020
		if !letter && (i == 0 || !strings.ContainsRune(more+"0123456789", r)) {
			return false
		}
	}
	return text != ""
}

// areStrings reports whether a value is an array of different strings.
func areStrings(v source.Value, d draft) bool {
	for _, e := range v.Elements() {
		if e.Kind() != source.String {
			return false
		}
	}
	return v.Kind() == source.Array && distinct(v) && (d > draft4 || v.First().Exists())
}

// distinct reports whether all elements of an array are different.
func distinct(v source.Value) bool {
	seen := map[string]bool{}
	for _, e := range v.Elements() {
		text := canonical(e)
		if seen[text] {
			return false
		}
		seen[text] = true
	}
	return true
}

// typesOf returns the types that a schema allows, and whether they are valid. It accepts
// the uppercase types and the nullable keyword of OpenAPI.
func typesOf(o *object) (types kinds, ok bool) {
	v := o.get("type")
	if v.Kind() == source.String {
		types = kindNamed(strings.ToLower(v.Str()))
		ok = types != 0
	} else {
		ok = v.Kind() == source.Array
		for _, e := range v.Elements() {
			k := kindNamed(strings.ToLower(e.Str()))
			if k == 0 || types&k != 0 {
				ok = false
			}
			types |= k
		}
	}
	if v.Exists() && o.get("nullable").True() {
		types |= kindNull
	}
	return types, ok && types != 0
}
