package schema

import (
	"regexp"

	"github.com/toolguard/toolguard/internal/source"
)

// A draft is a version of JSON Schema.
type draft int

// The drafts that are read.
const (
	draft4    draft = 4
	draft6    draft = 6
	draft7    draft = 7
	draft2019 draft = 2019
	draft2020 draft = 2020
)

// A node is one schema. What is nil or empty in it says nothing.
type node struct {
	draft draft
	res   *resource
	// always is set for a schema that allows everything, never for one that
	// allows nothing.
	always, never bool

	types     kinds
	constant  *equals
	enum      *equals
	format    *format
	ref       *node
	recursive *node  // the target of $recursiveRef where nothing else is found
	dynamic   *node  // the same of $dynamicRef
	anchor    string // the name that $dynamicRef looks for; "" for its target alone
	// What a target says of itself.
	recursiveAnchor bool
	dynamicAnchor   string

	object *objectRules
	array  *arrayRules
	text   *textRules
	number *numberRules

	not, ifs, then, otherwise *node
	allOf, anyOf, oneOf       []*node
}

// A resource is a schema with an address of its own, and what is in it.
type resource struct {
	root *node
	// recursive is set if $recursiveRef looks further out than this resource.
	recursive bool
	dynamic   map[string]*node // by the names of $dynamicAnchor
}

// An equals is the values that an enum or a const allows.
type equals struct {
	keyword string
	kinds   kinds
	values  map[string]bool // in canonical form
	message string
}

// objectRules are the keywords about objects.
type objectRules struct {
	least, most       int // -1 for none
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

// A patternRule is one of patternProperties. A pattern that cannot be read is
// nil, and taken to match.
type patternRule struct {
	pattern *regexp.Regexp
	schema  *node
}

// A dependency is what is asked of an object that has a member.
type dependency struct {
	name     string
	required []string
	schema   *node
}

// arrayRules are the keywords about arrays.
type arrayRules struct {
	least, most           int // -1 for none
	unique                bool
	first                 []*node // the schemas of the first elements
	rest                  *node   // of those that follow
	closed                bool    // additionalItems is the literal false
	contains              *node
	leastMatch, mostMatch int // -1 for none
	unevaluated           *node
}

// textRules are the keywords about strings.
type textRules struct {
	least, most int // -1 for none
	pattern     *regexp.Regexp
}

// numberRules are the keywords about numbers.
type numberRules struct {
	bounds     []bound
	multipleOf *limit
}

// A limit is a number that a schema holds numbers against.
type limit struct {
	value decimal
	text  string // as it is written
}

// A bound is a limit that numbers stay above or below.
type bound struct {
	limit
	keyword string
	// sign is what comparing the number with the bound must not give.
	sign      int
	exclusive bool
}

// kinds is a set of types.
type kinds uint8

// The types, in the order in which they are told.
const (
	kindNull kinds = 1 << iota
	kindBoolean
	kindNumber
	kindInteger
	kindString
	kindArray
	kindObject
)

// kindNames are the names of the types.
func kindNames() []string {
	return []string{"null", "boolean", "number", "integer", "string", "array", "object"}
}

// kindNamed returns the type of a name, 0 for none.
func kindNamed(name string) kinds {
	for i, n := range kindNames() {
		if n == name {
			return 1 << i
		}
	}
	return 0
}

// names lists the types of a set.
func (k kinds) names() []string {
	var out []string
	for i, name := range kindNames() {
		if k&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	return out
}

// kindOf returns the type of a value. That a number is an integer is another
// matter.
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
