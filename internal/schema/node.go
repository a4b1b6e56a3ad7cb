package schema

import (
	"regexp"

	"github.com/toolguard/toolguard/internal/source"
)

// A draft is a version of JSON Schema.
type draft int

// The supported drafts.
const (
	draft4    draft = 4
	draft6    draft = 6
	draft7    draft = 7
	draft2019 draft = 2019
	draft2020 draft = 2020
)

// A node is one compiled schema. Fields that are nil or empty require nothing.
type node struct {
	draft draft
	res   *resource
	// always is set for a schema that allows everything, and never for one that allows
	// nothing.
	always, never bool

	types     kinds
	constant  *equals
	enum      *equals
	format    *format
	ref       *node
	recursive *node  // the target of $recursiveRef if no outer one is found
	dynamic   *node  // the same for $dynamicRef
	anchor    string // the name that $dynamicRef looks for; "" to use only its target
	// The anchors that the schema itself declares.
	recursiveAnchor bool
	dynamicAnchor   string

	object *objectRules
	array  *arrayRules
	text   *textRules
	number *numberRules

	not, ifs, then, otherwise *node
	allOf, anyOf, oneOf       []*node
}

// A resource is a schema with its own address, and everything in it.
type resource struct {
	root *node
	// recursive is set if $recursiveRef continues outside this resource.
	recursive bool
	dynamic   map[string]*node // by the name of $dynamicAnchor
}

// An equals is the set of values that an enum or a const allows.
type equals struct {
	keyword string
	kinds   kinds
	values  map[string]bool // in canonical form
	message string
}

// objectRules are the keywords for objects.
type objectRules struct {
	least, most       int // -1 if not set
	required          []string
	properties        map[string]*node
	patterns          []patternRule
	additional        *node
	closed            bool // additionalProperties is the literal false
	names             *node
	dependencies      []dependency
	dependentRequired []dependency
	dependentSchemas  []dependency
	unevaluated       *node
}

// A patternRule is one of patternProperties. An invalid pattern is nil and matches
// everything.
type patternRule struct {
	pattern *regexp.Regexp
	schema  *node
}

// A dependency is a requirement for objects that have a certain field.
type dependency struct {
	name     string
	required []string
	schema   *node
}

// arrayRules are the keywords for arrays.
type arrayRules struct {
	least, most           int // -1 if not set
	unique                bool
	first                 []*node // the schemas of the first elements
	rest                  *node   // the schema of the others
	closed                bool    // additionalItems is the literal false
	contains              *node
	leastMatch, mostMatch int // -1 if not set
	unevaluated           *node
}

// textRules are the keywords for strings.
type textRules struct {
	least, most int // -1 if not set
	pattern     *regexp.Regexp
}

// numberRules are the keywords for numbers.
type numberRules struct {
	bounds     []bound
	multipleOf *limit
}

// A limit is a number in a schema to which numbers are compared.
type limit struct {
	value decimal
	text  string // as written
}

// A bound is a minimum or maximum.
type bound struct {
	limit
	keyword string
	// sign is the result of comparing a number with the bound that is not allowed.
	sign      int
	exclusive bool
}

// kinds is a set of types.
type kinds uint8

// The types, in the order in which messages list them.
const (
	kindNull kinds = 1 << iota
	kindBoolean
	kindNumber
	kindInteger
	kindString
	kindArray
	kindObject
)

// kindNames returns the names of the types.
func kindNames() []string {
	return []string{"null", "boolean", "number", "integer", "string", "array", "object"}
}

// kindNamed returns the type with the given name, or 0.
func kindNamed(name string) kinds {
	for i, n := range kindNames() {
		if n == name {
			return 1 << i
		}
	}
	return 0
}

// names returns the names of the types in the set.
func (k kinds) names() []string {
	var out []string
	for i, name := range kindNames() {
		if k&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	return out
}

// kindOf returns the type of a value. It does not distinguish integers from other
// numbers.
func kindOf(v source.Value) kinds {
	switch v.Kind() {
	case source.Null:
		return kindNull
	case source.Bool:
		return kindBoolean
	case source.Number:
		return kindNumber
	case source.String:
		return kindString
	case source.Array:
		return kindArray
	default:
		return kindObject
	}
}
