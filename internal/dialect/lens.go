package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
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

// roleIn returns the role that v names in a dialect with its own role names.
func roleIn(names []RoleName, v source.Value) transcript.Role {
	if n := first(names, func(n *RoleName) bool { return writes(v, n.Written) }); n != nil {
		return n.Role
	}
	return roleOf(v)
}

// writtenRole returns the spelling of a role in a dialect: the first of its own
// names, or the usual one.
func writtenRole(names []RoleName, role transcript.Role) string {
	if n := first(names, func(n *RoleName) bool { return n.Role == role }); n != nil {
		return n.Written
	}
	return role.String()
}

// A RoleName is a dialect's name for a role.
type RoleName struct {
	Written string
	Role    transcript.Role
}
