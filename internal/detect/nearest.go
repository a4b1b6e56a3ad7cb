package detect

import (
	"fmt"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/source"
)

// mostCompared is how many objects are compared with the marks of described dialects.
const mostCompared = 256

// A nearest looks for the dialect of a config file that has the most marks in common
// with an object. It is nearest to a mistake in the table.
type nearest struct {
	described []*dialect.Dialect
	left      int
	dialect   *dialect.Dialect
	held      int
	mark      string // the first one that does not hold
}

func newNearest(set *dialect.Set) *nearest {
	n := &nearest{described: set.UserDefined(), left: mostCompared}
	if len(n.described) == 1 && len(n.described[0].Marks) > 0 { // no other can be meant
		n.dialect, n.mark = n.described[0], n.described[0].Marks[0].String()
	}
	return n
}

// look compares a value, and what it holds.
func (n *nearest) look(v source.Value, depth int) {
	if n.left--; n.left < 0 || depth > mostDepth || len(n.described) == 0 {
		return
	}
	if v.Kind() == source.Object {
		n.compare(v)
	}
	for _, val := range v.Members() {
		n.look(val, depth+1)
	}
	for _, e := range v.Present() {
		n.look(e, depth+1)
	}
}

// mostDepth is how deep objects are that are compared.
const mostDepth = 4

func (n *nearest) compare(v source.Value) {
	for _, d := range n.described {
		held, mark := 0, ""
		for i := range d.Marks {
			switch c := &d.Marks[i]; {
			case c.Holds(v):
				held++
			case mark == "":
				mark = c.String()
			}
		}
		if held > n.held && mark != "" {
			n.dialect, n.held, n.mark = d, held, mark
		}
	}
}

// String says which mark does not hold, "" where no dialect is near.
func (n *nearest) String() string {
	if n.dialect == nil {
		return ""
	}
	return fmt.Sprintf("; for the dialect %s the mark %q does not hold", n.dialect.Name, n.mark)
}
