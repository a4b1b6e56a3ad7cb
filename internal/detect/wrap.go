package detect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/unfold"
)

// wrappers are members in which programs keep a message, or a record of
// another program's log, beside what they note about it themselves.
var wrappers = []string{"message", "msg", "content", "data", "payload", "event", "record", "item", "entry", "raw"}

// maxWrap is how many wrappers may stand around a message.
const maxWrap = 3

// A wrapTally counts at which paths of elements messages stand.
type wrapTally struct {
	set   *dialect.Set
	n     int // elements looked at
	paths []wrapped
}

// A wrapped is a path from an element to what speaks in it.
type wrapped struct {
	path           []string
	sure, messages int
	logs           int
	votes          votes // for the log that the elements are records of
	patches        int
	patch          *dialect.Dialect // of the document that such a log of changes begins with
	column         bool             // it is JSON text in a row of a table
	dialect        string           // of the first element that decides, or of the first
	key            string           // by which it was decided
}

// add counts what speaks in an element.
func (t *wrapTally) add(v source.Value) {
	t.n++
	t.walk(v, nil)
}

func (t *wrapTally) walk(v source.Value, path []string) {
	if path == nil && t.row(v) {
		return
	}
	if w, _ := pieces.Weigh(v); w > evidence.None {
		return // what it holds is part of a message
	}
	for k, val := range v.Members() {
		if val.Kind() != source.Object || !slices.ContainsFunc(wrappers, k.Is) {
			continue
		}
		inner := slices.Concat(path, []string{k.Str()})
		if d, begins := patchOf(t.set, val); d != nil {
			w := t.at(inner)
			w.patches++
			if begins && w.patch == nil {
				w.patch = d
				w.decide(d, string(d.Patch.List), evidence.Decisive, val)
			}
			continue
		}
		if d, c := logOf(t.set, val); c.Weight != evidence.None && !c.yields(t.set, val) {
			w := t.at(inner)
			w.logs++
			w.votes.add(t.set, val)
			w.decide(d, c.sign, c.Weight, val)
			continue
		}
		d, claim, sign := ClaimOf(t.set, val)
		if isMessage(claim, val) {
			w := t.at(inner)
			w.messages++
			w.decide(d, sign.String(), claim, val)
		}
		if claim == evidence.Decisive {
			continue
		}
		if len(inner) < maxWrap {
			t.walk(val, inner)
		}
	}
}

// row reports whether an element is a row of a table, and counts what speaks in it.
func (t *wrapTally) row(v source.Value) bool {
	u := &unfold.Unfolded{}
	c := ColumnOf(v, u)
	if c == nil {
		return false
	}
	if d, claim, sign := ClaimOf(t.set, u.Value()); isMessage(claim, u.Value()) {
		w := t.at([]string{c.Text})
		w.messages++
		w.column = true
		w.decide(d, sign.String(), claim, v)
	}
	return true
}

// decide notes by what an element told its dialect.
func (w *wrapped) decide(d *dialect.Dialect, sign string, claim evidence.Weight, v source.Value) {
	if sure := claim == evidence.Decisive; w.dialect == "" || sure && w.sure == 0 {
		w.dialect, w.key = d.Name, fmt.Sprintf("%s at byte %d", sign, v.Span().Start)
	}
	if claim == evidence.Decisive {
		w.sure++
	}
}

func (t *wrapTally) at(path []string) *wrapped {
	for i := range t.paths {
		if slices.Equal(t.paths[i].path, path) {
			return &t.paths[i]
		}
	}
	t.paths = append(t.paths, wrapped{path: path})
	return &t.paths[len(t.paths)-1]
}

// best returns the path at which most elements speak, nil unless at least half
// of them do and one does so as only a transcript would.
func (t *wrapTally) best() *wrapped {
	var best *wrapped
	for i := range t.paths {
		if w := &t.paths[i]; best == nil || w.sure > best.sure || w.sure == best.sure && w.speaks() > best.speaks() {
			best = w
		}
	}
	if best == nil || 2*best.speaks() < t.n {
		return nil
	}
	return best
}

// speaks returns how many of the wrapped values are messages or records of a log.
func (w *wrapped) speaks() int {
	if w.patch == nil {
		return w.messages + w.logs // nothing is known of what is changed
	}
	return w.messages + w.logs + w.patches
}

// logged reports whether the wrapped values are records of a log, and one of them as
// only that log has it.
func (w *wrapped) logged() bool { return w.class() != ClassMessage && w.sure > 0 }

// class returns what the wrapped values are.
func (w *wrapped) class() Class {
	switch {
	case w.patch != nil && w.patches > w.logs+w.messages:
		return ClassPatch
	case w.logs > w.messages:
		return ClassLog
	}
	return ClassMessage
}

// log returns the log that the elements are records of.
func (w *wrapped) log() *vote { return w.votes.best() }

// wrapOf says where in the elements of a list messages stand.
func wrapOf(set *dialect.Set, v source.Value) *wrapped {
	t := &wrapTally{set: set}
	for i, e := range v.Present() {
		if i == listHead {
			break
		}
		if e.Kind() == source.Object && e.Get("role").Kind() != source.String {
			t.add(e)
		} else {
			t.n++
		}
	}
	return t.best()
}

func (w *wrapped) String() string { return strings.Join(w.path, ".") }
