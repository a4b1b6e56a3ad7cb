package schema

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/toolguard/toolguard/internal/source"
)

// object checks the keywords for objects.
func (c *checking) object(r *objectRules) {
	o := c.at.object()
	if r.least >= 0 && len(o.members) < r.least {
		c.fail(counted("minProperties", len(o.members), r.least), "minProperties")
	}
	if r.most >= 0 && len(o.members) > r.most {
		c.fail(counted("maxProperties", len(o.members), r.most), "maxProperties")
	}
	if lack := o.lacks(r.required); lack != nil {
		c.fail(missing(lack), "required: missing "+doubles(lack))
	}
	for _, d := range r.dependencies {
		c.depend(d, "dependencies")
	}
	if r.additional != nil || r.closed {
		c.evaluated.all = true
	}
	c.members(r)
	if r.names != nil {
		for i := range o.members {
			if c.done() {
				return
			}
			name := c.v.place(place{value: c.at.value.Part(o.members[i].key), in: c.at, name: true})
			// The scope of the object does not apply to its keys.
			if _, ok := c.v.check(r.names, name, nil, false); !ok {
				c.ok = false
			}
			c.v.release(name)
		}
	}
	for _, d := range r.dependentSchemas {
		c.depend(d, "dependentSchemas")
	}
	for _, d := range r.dependentRequired {
		c.depend(d, "dependentRequired")
	}
}

// lacks returns the keys that an object does not have.
func (o *object) lacks(names []string) []string {
	var lack []string
	for _, name := range names {
		if !o.has(name) {
			lack = append(lack, name)
		}
	}
	return lack
}

// depend checks a requirement for objects that have a certain field.
func (c *checking) depend(d dependency, keyword string) {
	o := c.at.object()
	if c.done() || !o.has(d.name) {
		return
	}
	if d.schema != nil {
		c.must(d.schema)
		return
	}
	if lack := o.lacks(d.required); lack != nil {
		c.fail(fmt.Sprintf("properties %s required, if %s exists", singles(lack), single(d.name)), keyword+": missing "+doubles(lack))
	}
}

// members checks properties, patternProperties and additionalProperties.
func (c *checking) members(r *objectRules) {
	if r.properties == nil && r.patterns == nil && r.additional == nil && !r.closed {
		return
	}
	o := c.at.object()
	var additional []string
	for i := range o.members {
		if c.done() {
			return
		}
		m := o.members[i]
		var at *place
		check := func(n *node) {
			if at == nil {
				at = c.member(m)
			}
			if _, ok := c.v.check(n, at, c.sc, false); !ok {
				c.ok = false
			}
		}
		named := false
		if n := r.properties[string(m.name)]; n != nil {
			named = true
			check(n)
		}
		for _, p := range r.patterns {
			if p.pattern == nil || p.pattern.Match(m.name) {
				named = true
				check(p.schema)
			}
		}
		switch {
		case named:
			if c.need {
				c.evaluated.mark(i, len(o.members))
			}
		case r.closed:
			additional = append(additional, string(m.name))
		case r.additional != nil:
			check(r.additional)
		}
		if at != nil {
			c.v.release(at)
		}
	}
	if additional != nil {
		slices.Sort(additional)
		c.fail("additional properties "+singles(additional)+" not allowed", "additionalProperties")
	}
}

// array checks the keywords for arrays.
func (c *checking) array(r *arrayRules) {
	size := c.at.length()
	if r.least >= 0 && size < r.least {
		c.fail(counted("minItems", size, r.least), "minItems")
	}
	if r.most >= 0 && size > r.most {
		c.fail(counted("maxItems", size, r.most), "maxItems")
	}
	if r.unique {
		c.unique()
	}
	if r.first != nil || r.rest != nil {
		for i, e := range c.at.value.Elements() {
			if c.done() || i >= len(r.first) && r.rest == nil {
				break
			}
			n := r.rest
			if i < len(r.first) {
				n = r.first[i]
			}
			if !c.value(n, c.element(i, e)) {
				c.ok = false
			}
		}
	}
	if r.closed && size > len(r.first) {
		c.fail(fmt.Sprintf("last %d additionalItem(s) not allowed", size-len(r.first)), "additionalItems")
	}
	if r.closed || r.rest != nil {
		c.evaluated.all = true
	} else if c.need {
		for i := range min(size, len(r.first)) {
			c.evaluated.mark(i, size)
		}
	}
	if r.contains != nil && !c.done() {
		c.contains(r, size)
	}
}

// unique checks that all elements are different.
func (c *checking) unique() {
	first := map[string]int{}
	for i, e := range c.at.value.Elements() {
		text := canonical(e)
		if j, taken := first[text]; taken {
			c.fail(fmt.Sprintf("items at %d and %d are equal", j, i), "uniqueItems")
			return
		}
		first[text] = i
	}
}

// contains checks how many elements match a schema.
func (c *checking) contains(r *arrayRules, size int) {
	before := len(c.v.found)
	var fit []int
	for i, e := range c.at.value.Elements() {
		if c.value(r.contains, c.element(i, e)) {
			fit = append(fit, i)
			if c.need && c.n.draft >= draft2020 {
				c.evaluated.mark(i, size)
			}
		}
	}
	least := max(r.leastMatch, 0)
	if r.leastMatch < 0 {
		least = 1
	}
	switch {
	case len(fit) >= least:
		c.v.found = c.v.found[:before]
	case len(fit) < size:
		c.ok = false // the elements that do not match have been reported
	case r.leastMatch < 0:
		c.fail("no items match contains schema", "contains")
	default:
		c.fail(matched("min", r.leastMatch, fit), "minContains")
	}
	if r.mostMatch >= 0 && len(fit) > r.mostMatch {
		c.fail(matched("max", r.mostMatch, fit), "maxContains")
	}
}

// text checks the keywords for strings.
func (c *checking) text(r *textRules) {
	text := c.at.value.Text()
	if r.least >= 0 || r.most >= 0 {
		size := utf8.RuneCount(text)
		if size < r.least {
			c.fail(counted("minLength", size, r.least), "minLength")
		}
		if r.most >= 0 && size > r.most {
			c.fail(counted("maxLength", size, r.most), "maxLength")
		}
	}
	if r.pattern != nil && !r.pattern.Match(text) {
		c.fail(single(string(text))+" does not match pattern "+single(r.pattern.String()), "pattern")
	}
}

// number checks the keywords for numbers.
func (c *checking) number(r *numberRules) {
	raw := c.at.value.Raw()
	d := parseDecimal(raw)
	said := func(keyword string, l limit) {
		c.fail(keyword+": got "+written(raw)+", want "+l.text, keyword)
	}
	for _, b := range r.bounds {
		if got := d.compare(b.value); got == b.sign || b.exclusive && got == 0 {
			said(b.keyword, b.limit)
		}
	}
	if m := r.multipleOf; m != nil && !d.multiple(m.value) {
		said("multipleOf", *m)
	}
}

// unevaluated checks the parts that no other keyword has evaluated.
func (c *checking) unevaluated() {
	if c.done() || !c.n.evaluates(c.at) {
		return
	}
	if c.at.value.Kind() == source.Object {
		for i, m := range c.at.object().members {
			if !c.done() && !c.evaluated.has(i) && !c.value(c.n.object.unevaluated, c.member(m)) {
				c.ok = false
			}
		}
	} else {
		for i, e := range c.at.value.Elements() {
			if !c.done() && !c.evaluated.has(i) && !c.value(c.n.array.unevaluated, c.element(i, e)) {
				c.ok = false
			}
		}
	}
	c.evaluated.all = true
}
