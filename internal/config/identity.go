package config

import (
	"strings"

	"github.com/toolguard/toolguard/internal/dialect"
)

// The tables of the drivers. Keys that are not in the driver's row say how messages of a format
// differ from those of other formats.
type (
	blocks struct {
		dialect.Blocks

		Mark dialect.Lens // a field that every message has
	}
	sideList struct {
		dialect.SideList

		Faint      bool           // plain messages look like those of another format
		Own, Never []string       // roles that only this format has, and fields that no message has
		Mark       []dialect.Lens // every result has at least one of these fields
	}
	items    struct{ dialect.Items }
	events   struct{ dialect.Events }
	combined struct {
		dialect.Combined

		Members, Never, Own []string         // fields: every message has one of Members and none of Never; roles: Own
		Kind                dialect.Lens     // the type of an element
		Kinds               []string         // the types of messages, which may end in "*"
		Marks               [][]dialect.Lens // sets of fields that only messages of this format have
	}
)

func (t *blocks) row() dialect.Driver   { return dialect.NewBlocks(&t.Blocks) }
func (t *sideList) row() dialect.Driver { return dialect.NewSideList(&t.SideList) }
func (t *items) row() dialect.Driver    { return &t.Items }
func (t *events) row() dialect.Driver   { return &t.Events }
func (t *combined) row() dialect.Driver { return &t.Combined }

func (t *items) identity() dialect.Identity  { return dialect.Identity{} }
func (t *events) identity() dialect.Identity { return dialect.Identity{} }

func (t *blocks) identity() (id dialect.Identity) {
	if t.Mark != "" {
		id.Needs = []string{dialect.Present(t.Mark)}
	}
	return id
}

func (t *sideList) identity() dialect.Identity {
	id := dialect.Identity{Own: t.Own, Faint: t.Faint}
	if len(t.Never) > 0 {
		id.Needs = []string{"!" + dialect.Present(lenses(t.Never)...)}
	}
	if len(t.Mark) > 0 {
		id.Results = []string{dialect.Present(t.Mark...)}
	}
	return id
}

func (t *combined) identity() dialect.Identity {
	id := dialect.Identity{Own: t.Own, Needs: []string{dialect.Present(lenses(t.Members)...)}}
	if len(t.Never) > 0 {
		id.Needs = append(id.Needs, "!"+dialect.Present(lenses(t.Never)...))
	}
	if t.Kind != "" {
		id.Needs = append(id.Needs, dialect.Present(t.Kind)+"="+strings.Join(t.Kinds, "|"))
	}
	for _, set := range t.Marks {
		var conds []string
		for _, l := range set {
			conds = append(conds, dialect.Present(l))
		}
		id.Marks = append(id.Marks, conds)
	}
	return id
}

// lenses returns the paths to fields.
func lenses(keys []string) (out []dialect.Lens) {
	for _, key := range keys {
		out = append(out, dialect.Lens(key))
	}
	return out
}
