package table

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/toolguard/toolguard/parquet/internal/lines"
)

// A shape says how a node is written as JSON.
type shape uint8

const (
	shapeLeaf   shape = iota
	shapeObject       // its children are fields
	shapeList         // its only child repeats
	shapeMap          // its only child repeats, and has keys and values
)

// A node is a node of the schema.
type node struct {
	name               string
	path               string // with dots
	optional, repeated bool
	def, rep           int // the levels of its values
	shape              shape
	// bare is set for the repeated node of a list whose values are its only child.
	bare     bool
	children []*node
	leaf     int // the number of its first leaf
	leaves   int // how many leaves it has
	*scalar      // of a leaf
	key      []byte
}

const (
	// mostLeaves limits what is held for each column.
	mostLeaves = 10_000
	// mostDepth limits the recursion, and levels that do not fit in a byte.
	mostDepth = 100
)

// schema builds the tree of a schema.
func schema(elements []format.SchemaElement) (root *node, leaves []*node, err error) {
	b := builder{rest: elements}
	if root, err = b.node(nil, 0); err != nil {
		return nil, nil, fmt.Errorf("schema: %w", err)
	}
	if len(b.rest) > 0 {
		return nil, nil, fmt.Errorf("schema: expected %d elements, got %d", len(elements)-len(b.rest), len(elements))
	}
	if root.shape == shapeLeaf || len(b.leaves) == 0 {
		return nil, nil, errors.New("schema: expected columns")
	}
	root.shape = shapeObject
	return root, b.leaves, nil
}

// A builder takes the elements of a schema one after the other.
type builder struct {
	rest   []format.SchemaElement
	leaves []*node
}

func (b *builder) node(parent *node, depth int) (*node, error) {
	if len(b.rest) == 0 {
		return nil, errors.New("expected more elements")
	}
	e := &b.rest[0]
	b.rest = b.rest[1:]
	n := &node{name: e.Name, path: e.Name, leaf: len(b.leaves)}
	if parent != nil {
		n.def, n.rep = parent.def, parent.rep
		if parent.path != "" && depth > 1 {
			n.path = parent.path + "." + e.Name
		}
		switch {
		case e.RepetitionType.Valid && e.RepetitionType.V == format.Optional:
			n.optional, n.def = true, n.def+1
		case e.RepetitionType.Valid && e.RepetitionType.V == format.Repeated:
			n.repeated, n.def, n.rep = true, n.def+1, n.rep+1
		}
	} else {
		n.path = ""
	}
	n.key = append(lines.AppendString(nil, []byte(n.name)), ':')
	if depth > mostDepth {
		return nil, fmt.Errorf("%s: nested deeper than %d levels", n.path, mostDepth)
	}
	if e.Type.Valid {
		if n.scalar = scalarOf(e); n.scalar == nil {
			return nil, fmt.Errorf("%s: unknown type %d", n.path, e.Type.V)
		}
		if b.leaves = append(b.leaves, n); len(b.leaves) > mostLeaves {
			return nil, fmt.Errorf("more than %d columns", mostLeaves)
		}
		n.leaves = 1
		return n, nil
	}
	n.shape = shapeObject
	count := 0
	if e.NumChildren.Valid {
		count = int(e.NumChildren.V)
	}
	if count <= 0 || count > len(b.rest) {
		return nil, fmt.Errorf("%s: expected 1 to %d fields in a group, got %d", n.path, len(b.rest), count)
	}
	names := map[string]bool{}
	for range count {
		c, err := b.node(n, depth+1)
		if err != nil {
			return nil, err
		}
		if names[c.name] {
			return nil, fmt.Errorf("%s: two fields have this name", c.path)
		}
		names[c.name] = true
		n.children = append(n.children, c)
	}
	n.leaves = len(b.leaves) - n.leaf
	n.annotate(e)
	return n, nil
}

// annotate finds the lists and the maps.
func (n *node) annotate(e *format.SchemaElement) {
	list, mapping := false, false
	switch e.LogicalType.Value.(type) {
	case *format.ListType:
		list = true
	case *format.MapType:
		mapping = true
	case nil:
		if e.ConvertedType.Valid {
			list = e.ConvertedType.V == deprecated.List
			mapping = e.ConvertedType.V == deprecated.Map || e.ConvertedType.V == deprecated.MapKeyValue
		}
	}
	if len(n.children) != 1 || !n.children[0].repeated || n.repeated {
		return
	}
	switch c := n.children[0]; {
	case list:
		n.shape = shapeList
		// The rules of the format for lists of older writers.
		c.bare = c.shape == shapeObject && len(c.children) == 1 && !c.children[0].repeated && c.name != "array" && c.name != n.name+"_tuple"
	case mapping && len(c.children) == 2 && c.children[0].shape == shapeLeaf && !c.children[0].optional && !c.children[0].repeated && !c.children[1].repeated:
		n.shape = shapeMap
	}
}

// child returns the field of a name.
func (n *node) child(name string) *node {
	for _, c := range n.children {
		if c.name == name {
			return c
		}
	}
	return nil
}

// names lists the names of the fields.
func (n *node) names() string {
	var out []string
	for _, c := range n.children {
		out = append(out, strconv.Quote(c.name))
	}
	return strings.Join(out, ", ")
}
