package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
)

// A Lens is a path of a row from an element to a value in it. Of several alternatives, the
// first one that leads to a value other than null wins, whatever the order of keys in the
// file; a null counts only if there is nothing else.
type Lens = evidence.Path

// rawAt returns the raw value at the end of a path, or "" if it is absent or null.
func rawAt(l Lens, v source.Value) string {
	if l.Leads(v) {
		return string(l.In(v).Raw())
	}
	return ""
}
