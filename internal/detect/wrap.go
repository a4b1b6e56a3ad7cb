package detect

import (
	"slices"
	"strings"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/unfold"
)

// maxWrap is how many members may lead from a record to what speaks in it, mostWraps
// how many ways to it are told apart.
const (
	maxWrap   = 3
	mostWraps = 64
)

// A wrapTally learns in which member of its records a program keeps messages, or the
// records of another program's log, beside what it notes about them itself.
type wrapTally struct {
	set    *dialect.Set
	n      int // records so far
	pieces int // those of them that are events of a stream
	paths  []wrapped
}

// A wrapped is a path from a record to what speaks in it.
type wrapped struct {
	path   []string
	speaks int  // records in which a message stands there, or a record of a log
	sure   int  // those in which it is such as only one dialect has
	holds  int  // records from the first of them on in which an object stands there
	before int  // records before that, which can be of anything
	begun  bool // one of them begins a log
}

// add counts what speaks in the members of a record.
func (t *wrapTally) add(v source.Value) {
	t.walk(v, nil)
	for i := range t.paths {
		if w := &t.paths[i]; v.Path(w.path...).Kind() == source.Object {
			w.holds++
		}
	}
}

func (t *wrapTally) walk(v source.Value, path []string) {
	if w, _ := pieces.Weigh(v); w > evidence.None {
		t.pieces++
		return // what it holds is part of a message
	}
	for k, val := range v.Members() {
		if val.Kind() != source.Object {
			continue
		}
		inner := slices.Concat(path, []string{k.Str()})
		claim, header, whole := speaksAs(t.set, val)
		if claim != evidence.None {
			t.count(inner, claim, header)
		}
		if !whole && len(inner) < maxWrap {
			t.walk(val, inner)
		}
	}
}

// speaksAs says how surely a value is a message, or a record of a log, and whether it
// begins one. It is so as a whole where nothing in it is asked the same.
func speaksAs(set *dialect.Set, v source.Value) (claim evidence.Weight, header, whole bool) {
	if d, begins := patchOf(set, v); d != nil {
		if begins {
			return evidence.Decisive, false, true
		}
		return evidence.Plain, false, true
	}
	if ColumnOf(v, &unfold.Unfolded{}) != nil {
		return evidence.Decisive, false, true
	}
	if _, c := logOf(set, v); c.Weight != evidence.None && !c.yields(set, v) {
		return c.Weight, c.header, true
	}
	if controls(set, v) {
		return evidence.Plain, false, true
	}
	_, claim, _ = set.ClaimOf(v)
	if !isMessage(claim, v) {
		return evidence.None, false, false
	}
	return claim, false, claim == evidence.Decisive
}

func (t *wrapTally) count(path []string, claim evidence.Weight, header bool) {
	i := slices.IndexFunc(t.paths, func(w wrapped) bool { return slices.Equal(w.path, path) })
	if i < 0 {
		if len(t.paths) == mostWraps {
			return
		}
		i = len(t.paths)
		t.paths = append(t.paths, wrapped{path: path, before: t.n - 1})
	}
	w := &t.paths[i]
	if header {
		if !w.begun {
			w.speaks++ // it says nothing yet, and other programs note the like in each record
		}
		w.begun = true
		return
	}
	w.speaks++
	if claim == evidence.Decisive {
		w.sure++
	}
}

// best returns the path at which most speaks as only a transcript would, nil unless
// at least half of the records do from the first of them on, or hold anything there
// where one decides.
func (t *wrapTally) best() *wrapped {
	var best *wrapped
	for i := range t.paths {
		w := &t.paths[i]
		of := w.speaks
		if w.sure > 0 {
			of = w.holds
		}
		if 2*of < t.n-min(w.before, t.n-t.pieces-1) {
			continue
		}
		if best == nil || w.sure > best.sure || w.sure == best.sure && w.speaks > best.speaks {
			best = w
		}
	}
	return best
}

// others returns the paths beside one at which about as much speaks.
func (t *wrapTally) others(into []string) (out [][]string) {
	last := len(into) - 1
	i := slices.IndexFunc(t.paths, func(w wrapped) bool { return slices.Equal(w.path, into) })
	for _, w := range t.paths {
		if len(w.path) == len(into) && slices.Equal(w.path[:last], into[:last]) && w.path[last] != into[last] && 4*w.speaks >= t.paths[i].speaks {
			out = append(out, w.path)
		}
	}
	return out
}

// sure returns how many of the values that speak are such as only one dialect has.
func (t *wrapTally) sure() int {
	n := 0
	for i := range t.paths {
		n += t.paths[i].sure
	}
	return n
}

// wrapper returns the path from each record to what speaks in it, nil where the
// records, which are of a class, are not around anything. In a document one has to
// decide: many have an object somewhere that could be a message.
func (t *tally) wrapper(class Class, document bool) []string {
	w := t.wraps.best()
	if w == nil || document && w.sure == 0 {
		return nil
	}
	log := t.logs.best()
	switch {
	case class == ClassOther, class == ClassLog && log.headers+log.decisive == 0 && w.sure > 0:
		return w.path
	case class == ClassConversation && w.sure > 0 && w.speaks > t.byClass[ClassConversation]:
		return w.path // some records of the log say what was compacted
	}
	return nil
}

// around reports whether there is a list in v whose elements are around messages.
func (f *finder) around(v source.Value, depth int) bool {
	if depth > freeDepth {
		if f.left -= v.Span().Len(); f.left < 0 {
			return false
		}
	}
	if v.First().Kind() == source.Object && wrapOf(f.set, v) != nil {
		return true
	}
	for _, val := range v.Members() {
		if k := val.Kind(); (k == source.Array || k == source.Object) && f.around(val, depth+1) {
			return true
		}
	}
	for _, e := range v.Present() {
		if k := e.Kind(); (k == source.Array || k == source.Object) && f.around(e, depth+1) {
			return true
		}
	}
	return false
}

// wrapped finds the conversation that the elements of a list are around, and reports
// whether there is one.
func (f *finder) wrapped(list source.Value, path []string, ctx Place) bool {
	if n := len(path); n > 0 && slices.Contains(alternatives, path[n-1]) {
		return false
	}
	if ctx.Into = wrapOf(f.set, list); ctx.Into == nil {
		return false
	}
	class, log := listClass(f.set, list, ctx.Into)
	if class != ClassOther {
		f.emit(ctx, path, class, log, list)
	}
	return class != ClassOther
}

// wrapOf returns the path from the elements of a list to what speaks in them, nil
// where that is none, or where they hold conversations beside it.
func wrapOf(set *dialect.Set, v source.Value) []string {
	t := &wrapTally{set: set}
	for i, e := range v.Present() {
		if i == listHead {
			break
		}
		t.n++
		if e.Kind() == source.Object && e.Get("role").Kind() != source.String {
			t.add(e)
		}
	}
	w := t.best()
	if w == nil || slices.ContainsFunc(w.path, func(name string) bool { return slices.Contains(traceKeys, name) }) {
		return nil // what was put out time and again is no conversation
	}
	for i, e := range v.Present() {
		if i == listHead {
			break
		}
		if holdsBeside(set, e, w.path) {
			return nil
		}
	}
	return w.path
}

// holdsBeside reports whether an element holds conversations beside what a path leads
// to.
func holdsBeside(set *dialect.Set, e source.Value, path []string) bool {
	for _, name := range path {
		for k, val := range e.Members() {
			if !k.Is(name) && len(Find(set, val)) > 0 {
				return true
			}
		}
		e = e.Get(name)
	}
	return false
}

func wrapName(path []string) string { return strings.Join(path, ".") }
