package detect

import (
	"fmt"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/source"
)

// mostCompared limits how many objects are compared with the marks of user-defined
// dialects.
const mostCompared = 256

// A nearest finds the user-defined dialect and object with the most marks in common. If
// the config file has a mistake, it is probably in the next mark of that dialect.
type nearest struct {
	described []*dialect.Dialect
	left      int
	dialect   *dialect.Dialect
	held      int
	mark      string // the first mark that does not match
}

func newNearest(set *dialect.Set) *nearest {
	n := &nearest{described: set.UserDefined(), left: mostCompared}
	if len(n.described) == 1 && len(n.described[0].Marks) > 0 { // there is no other dialect
		n.dialect, n.mark = n.described[0], n.described[0].Marks[0].String()
	}
	return n
}

// look compares a value and the values inside it.
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

// mostDepth is the depth to which values are compared.
const mostDepth = 4

func (n *nearest) compare(v source.Value) {
	for _, d := range n.described {
		held, mark := 0, ""
		for i := range d.Marks {
			switch c := d.Marks[i]; {
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

// String names the mark that does not match, or returns "" if no dialect is near.
func (n *nearest) String() string {
	if n.dialect == nil {
		return ""
	}
	return fmt.Sprintf("; the mark %q of the format %s does not match", n.mark, n.dialect.Name)
}
