package dialect

import (
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A RoleName is a dialect's name for a role.
type RoleName struct {
	Written string
	Role    transcript.Role
}

// usual are the spellings of roles that every dialect knows.
var usual = []RoleName{
	{"system", transcript.RoleSystem},
	{"developer", transcript.RoleSystem},
	{"user", transcript.RoleUser},
	{"human", transcript.RoleUser},
	{"assistant", transcript.RoleAssistant},
	{"agent", transcript.RoleAssistant},
	{"model", transcript.RoleAssistant},
	{"ai", transcript.RoleAssistant},
	{"gpt", transcript.RoleAssistant},
	{"tool", transcript.RoleTool},
	{"function", transcript.RoleTool},
}

// spelled returns the spellings of a role, or all spellings of roles for RoleNone. The first role
// with a spelling counts.
func spelled(names []RoleName, role transcript.Role) (out []string) {
	for _, n := range names {
		if role == transcript.RoleNone || roleNameIn(names, n.Written) == role {
			out = append(out, n.Written)
		}
	}
	return out
}

// roleOf returns the role that a value names, in any known spelling.
func roleOf(v source.Value) transcript.Role {
	if !v.Exists() || v.Kind() == source.Null {
		return transcript.RoleNone
	}
	return roleNameIn(usual, string(v.Text()))
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

// roleNameIn returns the role with a spelling, the first of several.
func roleNameIn(names []RoleName, written string) transcript.Role {
	for i := range names {
		if names[i].Written == written {
			return names[i].Role
		}
	}
	return transcript.RoleOther
}
