package schema

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/toolguard/toolguard/internal/source"
)

// A compiler compiles the text of one schema to nodes. The nodes do not refer to the
// text.
type compiler struct {
	sections  []*section
	addresses map[string]*section
	// What is known about the text, by the offset of a value: the section of each schema,
	// the fields of objects, and nodes.
	known   map[int64]*section
	objects map[int64]*object
	nodes   map[int64]*node
	queue   []source.Value // the schemas whose nodes are not filled yet

	patterns  map[string]*regexp.Regexp // nil for an invalid pattern
	unchecked []string
	nulls     map[int64]bool // the offsets of the fields that are left out
	// invalid is set if the text is not a valid schema.
	invalid bool
}

// compile returns the compiled schema without some fields, which are null, and its invalid
// patterns. The node is nil if v is not a valid schema without them.
func compile(v source.Value, nulls map[int64]bool) (n *node, unchecked []string) {
	c := &compiler{
		nulls:     nulls,
		addresses: map[string]*section{},
		known:     map[int64]*section{},
		objects:   map[int64]*object{},
		nodes:     map[int64]*node{},
		patterns:  map[string]*regexp.Regexp{},
	}
	c.walk(v, nil)
	if c.invalid {
		return nil, nil
	}
	n = c.node(v)
	for len(c.queue) > 0 && !c.invalid {
		next := c.queue[len(c.queue)-1]
		c.queue = c.queue[:len(c.queue)-1]
		c.fill(next)
	}
	if c.invalid {
		return nil, nil
	}
	slices.Sort(c.unchecked)
	return n, c.unchecked
}

// object returns the fields of an object in the text.
func (c *compiler) object(v source.Value) *object {
	at := v.Span().Start
	o := c.objects[at]
	if o == nil {
		o = newObject(v)
		if len(c.nulls) > 0 {
			o.members = slices.DeleteFunc(o.members, func(m member) bool { return c.nulls[m.value.Span().Start] })
			o.numbers = nil // they have changed
		}
		c.objects[at] = o
	}
	return o
}

// node returns the node of a schema in the text. It is filled later, because a schema can
// refer to one that contains it.
func (c *compiler) node(v source.Value) *node {
	at := v.Span().Start
	if n := c.nodes[at]; n != nil {
		return n
	}
	in := c.known[at]
	if in == nil {
		c.invalid = true
		return &node{}
	}
	n := &node{draft: in.draft, res: in.resource}
	c.nodes[at] = n
	c.queue = append(c.queue, v)
	in.resource.root = c.node(in.value)
	return n
}

// pattern returns a pattern of the schema, or nil if it is invalid.
func (c *compiler) pattern(text string) *regexp.Regexp {
	re, known := c.patterns[text]
	if !known {
		var err error
		if re, err = regexp.Compile(text); err != nil {
			re = nil
			// An invalid pattern must not disable all other checks.
			c.unchecked = append(c.unchecked, text)
		}
		c.patterns[text] = re
	}
	return re
}

// fill reads the keywords of a schema.
func (c *compiler) fill(v source.Value) {
	n, in := c.nodes[v.Span().Start], c.known[v.Span().Start]
	if v.Kind() == source.Bool {
		n.always, n.never = v.True(), !v.True()
		return
	}
	o := c.object(v)
	if len(o.members) == 0 {
		n.always = true
		return
	}
	if v.Span() == in.value.Span() && n.draft >= draft2020 {
		for _, name := range in.dynamic {
			if in.resource.dynamic == nil {
				in.resource.dynamic = map[string]*node{}
			}
			in.resource.dynamic[name] = c.node(in.anchors[name])
		}
	}
	n.ref = c.reference(o, "$ref", in)
	if n.ref != nil && n.draft < draft2019 {
		return // siblings of a reference are ignored
	}
	c.fillAny(n, o, in)
	n.object = c.objectRules(n, o)
	n.array = c.arrayRules(n, o)
	n.text = c.textRules(o)
	n.number = numberRulesOf(o)
}

// fillAny reads the keywords for values of any type.
func (c *compiler) fillAny(n *node, o *object, in *section) {
	n.types, _ = typesOf(o)
	if list := o.get("enum"); list.Kind() == source.Array {
		n.enum = enumOf(list)
	}
	if n.draft < draft2019 {
		n.format = formatNamed(o.get("format").Str())
	}
	n.not = c.schema(o, "not")
	n.allOf, n.anyOf, n.oneOf = c.schemas(o, "allOf"), c.schemas(o, "anyOf"), c.schemas(o, "oneOf")
	if val := o.get("const"); val.Exists() && n.draft >= draft6 {
		n.constant = constOf(val)
	}
	if v := o.get("if"); v.Exists() && n.draft >= draft7 {
		n.ifs = c.schema(o, "if")
		// A branch that a literal condition rules out is skipped, because its references
		// may be invalid.
		if v.Kind() != source.Bool || v.True() {
			n.then = c.schema(o, "then")
		}
		if !v.True() {
			n.otherwise = c.schema(o, "else")
		}
	}
	if n.draft >= draft2019 {
		n.recursive = c.reference(o, "$recursiveRef", in)
		n.recursiveAnchor = o.get("$recursiveAnchor").True()
		if n == in.resource.root {
			in.resource.recursive = n.recursiveAnchor
		}
	}
	if n.draft >= draft2020 {
		n.dynamicAnchor = o.get("$dynamicAnchor").Str()
		n.dynamic = c.reference(o, "$dynamicRef", in)
		if _, fragment, _ := splitAddress(o.get("$dynamicRef").Str()); !strings.HasPrefix(fragment, "/") {
			n.anchor = fragment
		}
	}
}

// schema returns the schema of a keyword, or nil.
func (c *compiler) schema(o *object, key string) *node {
	v := o.get(key)
	if !v.Exists() {
		return nil
	}
	return c.node(v)
}

// schemas returns the schemas in the array of a keyword.
func (c *compiler) schemas(o *object, key string) []*node {
	var out []*node
	for _, v := range o.get(key).Elements() {
		out = append(out, c.node(v))
	}
	return out
}

// named calls f for each field of the object of a keyword.
func (c *compiler) named(o *object, key string, f func(name string, v source.Value)) {
	v := o.get(key)
	if v.Kind() != source.Object {
		return
	}
	for _, m := range c.object(v).members {
		f(string(m.name), m.value)
	}
}

// limitOf returns a number as a limit, or nil if v is not a number.
func limitOf(v source.Value) *limit {
	if v.Kind() != source.Number {
		return nil
	}
	text := bytes.Clone(v.Raw())
	return &limit{parseDecimal(text), written(text)}
}

// count returns the value of a keyword for a count, or -1.
func count(o *object, key string) int {
	v := o.get(key)
	if v.Kind() != source.Number {
		return -1
	}
	return parseDecimal(v.Raw()).count()
}

// stringsIn returns the strings in an array.
func stringsIn(v source.Value) []string {
	var out []string
	for _, e := range v.Elements() {
		if e.Kind() == source.String {
			out = append(out, e.Str())
		}
	}
	return out
}
