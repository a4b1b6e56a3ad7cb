package schema

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
)

// A validator validates values against schemas, one after another.
type validator struct {
	scanner source.Scanner
	idle    []*place // unused places

	found []rules.Violation
	// quiet is greater than 0 while only the verdict matters.
	quiet int
	// steps is the number of checks that are left. Even a short schema can require more
	// checks than anyone would wait for.
	steps  int
	gaveUp bool
}

// The limits of a validation: the number of checks, the additional checks for each byte
// of the arguments, and the nesting of schemas at one place.
const (
	mostSteps  = 1 << 22
	stepsAByte = 64
	mostOpen   = source.MaxDepth
)

// A scope is the resources that references passed through, the innermost first.
type scope struct {
	res *resource
	out *scope
}

// violations returns where arguments violate a schema, in the order of the text. It
// returns nothing if the arguments are invalid JSON.
func (v *validator) violations(n *node, arguments []byte) []rules.Violation {
	scan := v.scanner.Scan(arguments, 0, source.Strict)
	if scan.Kind != source.FaultNone || source.SkipBlank(arguments, scan.End) != len(arguments) {
		return nil
	}
	v.found, v.gaveUp, v.steps = nil, false, mostSteps+stepsAByte*len(arguments)
	root := v.place(place{value: source.NewValue(arguments, 0), index: -1})
	defer v.release(root)
	// Most arguments are valid and need no messages, so check without messages first.
	if _, ok := v.accepts(n, root, nil, false); ok {
		return nil
	}
	v.check(n, root, nil, false)
	if v.gaveUp {
		return nil
	}
	sort.SliceStable(v.found, func(i, j int) bool {
		a, b := &v.found[i], &v.found[j]
		return cmp.Or(
			cmp.Compare(a.Span.Start, b.Span.Start), cmp.Compare(a.Span.End, b.Span.End),
			cmp.Compare(a.Pointer, b.Pointer), cmp.Compare(a.Message, b.Message), cmp.Compare(a.Broken, b.Broken),
		) < 0
	})
	return slices.Compact(v.found)
}

// fail records a violation at a place.
func (v *validator) fail(at *place, message, broken string) {
	if v.quiet > 0 {
		return
	}
	if at.name {
		at = at.in
	}
	v.found = append(v.found, rules.Violation{
		Pointer: at.pointer(), Depth: at.depth, Span: at.value.Span(), Message: message, Broken: broken,
	})
}

// accepts reports whether a value is valid, without recording violations.
func (v *validator) accepts(n *node, at *place, sc *scope, need bool) (evaluated, bool) {
	v.quiet++
	defer func() { v.quiet-- }()
	return v.check(n, at, sc, need)
}

// check checks a place against a schema. It reports whether the value is valid and, if
// need is set, what the schema has evaluated.
func (v *validator) check(n *node, at *place, sc *scope, need bool) (evaluated, bool) {
	v.steps--
	if len(at.open) == mostOpen || v.steps < 0 {
		v.gaveUp = true
	}
	if n.always || v.gaveUp {
		return evaluated{}, true
	}
	if n.never {
		v.fail(at, "false schema", "nothing is allowed here")
		return evaluated{}, false
	}
	if slices.Contains(at.open, n) {
		// The schema refers back to itself. No value is valid that way, and there is
		// nothing to report.
		return evaluated{}, false
	}
	if at.open == nil {
		at.open = at.room[:0]
	}
	at.open = append(at.open, n)
	defer func() { at.open = at.open[:len(at.open)-1] }()
	if sc == nil || sc.res != n.res {
		sc = &scope{n.res, sc}
	}
	if !v.plain(n, at) {
		return evaluated{}, false
	}
	if n.ref != nil && n.draft < draft2019 {
		return v.check(n.ref, at, sc, need)
	}
	c := checking{v: v, n: n, at: at, sc: sc, need: need || n.evaluates(at), ok: true}
	c.refer(n.ref)
	switch at.value.Kind() {
	case source.Object:
		if n.object != nil {
			c.object(n.object)
		}
	case source.Array:
		if n.array != nil {
			c.array(n.array)
		}
	case source.String:
		if n.text != nil {
			c.text(n.text)
		}
	case source.Number:
		if n.number != nil {
			c.number(n.number)
		}
	}
	if c.done() {
		return evaluated{}, false
	}
	c.refer(c.recursive())
	c.refer(c.dynamic())
	c.combined()
	c.unevaluated()
	return c.evaluated, c.ok
}

// plain checks the keywords for values of any type. If one fails, the other keywords are
// not checked.
func (v *validator) plain(n *node, at *place) bool {
	kind := kindOf(at.value)
	if n.types != 0 && n.types&kind == 0 {
		if n.types&kindInteger == 0 || kind != kindNumber || !parseDecimal(at.value.Raw()).integer() {
			want := strings.Join(n.types.names(), " or ")
			v.fail(at, "got "+kind.names()[0]+", want "+want, "type: want "+want)
			return false
		}
	}
	for _, e := range []*equals{n.constant, n.enum} {
		if e != nil && !e.allows(at.value) {
			v.fail(at, e.message, e.keyword)
			return false
		}
	}
	if n.format != nil && kind == kindString && !n.format.allows(at.value.Str()) {
		v.fail(at, single(at.value.Str())+" is not a valid "+n.format.name, "format")
		return false
	}
	return true
}

// evaluates reports whether the schema needs to know what was evaluated at a place.
func (n *node) evaluates(at *place) bool {
	switch at.value.Kind() {
	case source.Object:
		return n.object != nil && n.object.unevaluated != nil
	case source.Array:
		return n.array != nil && n.array.unevaluated != nil
	}
	return false
}

// A checking is the check of one place against one schema.
type checking struct {
	v         *validator
	n         *node
	at        *place
	sc        *scope
	need      bool // what is evaluated must be known
	evaluated evaluated
	ok        bool
}

// done reports whether the verdict is known and nothing else is needed.
func (c *checking) done() bool { return !c.ok && c.v.quiet > 0 }

// fail records that the value violates a keyword.
func (c *checking) fail(message, broken string) {
	c.ok = false
	c.v.fail(c.at, message, broken)
}

// self checks the same place against a subschema.
func (c *checking) self(n *node) bool {
	s, ok := c.v.check(n, c.at, c.sc, c.need)
	if ok && c.need {
		c.evaluated.add(s)
	}
	return ok
}

// must is self for a subschema that must match.
func (c *checking) must(n *node) {
	if !c.self(n) {
		c.ok = false
	}
}

// value checks another place against a schema and releases the place.
func (c *checking) value(n *node, at *place) bool {
	_, ok := c.v.check(n, at, c.sc, false)
	c.v.release(at)
	return ok
}

// refer follows a reference unless n is nil.
func (c *checking) refer(n *node) {
	if n != nil && !c.done() {
		c.must(n)
	}
}

// recursive returns the target of $recursiveRef: the outermost resource that permits it.
func (c *checking) recursive() *node {
	to := c.n.recursive
	if to == nil || !to.recursiveAnchor {
		return to
	}
	for sc := c.sc; sc != nil; sc = sc.out {
		if sc.res.recursive {
			to = sc.res.root
		}
	}
	return to
}

// dynamic returns the target of $dynamicRef: the anchor with its name in the outermost
// resource that has one.
func (c *checking) dynamic() *node {
	to := c.n.dynamic
	if to == nil || c.n.anchor == "" || to.dynamicAnchor != c.n.anchor {
		return to
	}
	for sc := c.sc; sc != nil; sc = sc.out {
		if outer := sc.res.dynamic[c.n.anchor]; outer != nil {
			to = outer
		}
	}
	return to
}

// combined checks not, allOf, anyOf, oneOf and if.
func (c *checking) combined() {
	n := c.n
	if n.not != nil && !c.done() {
		if s, ok := c.v.accepts(n.not, c.at, c.sc, c.need); ok {
			c.evaluated.add(s) // one finding is enough
			c.fail("'not' failed", "not")
		}
	}
	for _, in := range n.allOf {
		c.refer(in)
	}
	if len(n.anyOf) > 0 && !c.done() {
		c.anyOf()
	}
	if len(n.oneOf) > 0 && !c.done() {
		c.oneOf()
	}
	if n.ifs != nil && !c.done() {
		s, ok := c.v.accepts(n.ifs, c.at, c.sc, c.need)
		if ok {
			if c.need {
				c.evaluated.add(s)
			}
			c.refer(n.then)
		} else {
			c.refer(n.otherwise)
		}
	}
}

func (c *checking) anyOf() {
	before, fits := len(c.v.found), false
	for _, in := range c.n.anyOf {
		if c.self(in) {
			fits = true
			if !c.need {
				break
			}
		}
	}
	if fits {
		c.v.found = c.v.found[:before]
		return
	}
	c.ok = false
}

func (c *checking) oneOf() {
	before, first := len(c.v.found), -1
	for i, in := range c.n.oneOf {
		if first < 0 {
			if c.self(in) {
				first = i
				c.v.found = c.v.found[:before]
			}
			continue
		}
		if s, ok := c.v.accepts(in, c.at, c.sc, c.need); ok {
			c.evaluated.add(s)
			c.fail(twoMatch(first, i), "oneOf")
			return
		}
	}
	if first < 0 {
		c.ok = false
	}
}
