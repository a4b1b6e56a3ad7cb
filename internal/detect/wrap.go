package detect

import (
	"slices"
	"strings"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/unfold"
)

// maxWrap limits the length of the path from a record to the message in it, and mostWraps
// the number of paths that are counted.
const (
	maxWrap   = 3
	mostWraps = 64
)

// A wrapTally finds the field in which a program keeps messages, or records of another
// program's log, inside its own records.
type wrapTally struct {
	set    *dialect.Set
	n      int // records so far
	pieces int // records that are events of a stream
	paths  []wrapped
}

// A wrapped is a path from a record to the message in it.
type wrapped struct {
	path   []string
	speaks int  // records with a message or a log record at the path
	sure   int  // records with a decisive one
	holds  int  // records with an object at the path, from the first message on
	before int  // records before that one, of any kind
	begun  bool // a record at the path begins a log
}

// add counts the messages in the fields of a record.
func (t *wrapTally) add(v source.Value) {
	t.walk(v, nil)
	for i := range t.paths {
		if w := &t.paths[i]; v.Path(w.path...).Kind() == source.Object {
			w.holds++
		}
	}
}

func (t *wrapTally) walk(v source.Value, path []string) {
	if isPiece(v) {
		t.pieces++
		return // its fields are part of a message
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

// speaksAs says with what weight a value is a message or a log record, and whether it
// begins a log. whole is set if the values inside it are not examined.
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
	if c := new(candidates).record(set, v); c.Weight != evidence.None && !c.yields(set, v) {
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
			w.speaks++ // a header is not enough, because other programs write similar fields in each record
		}
		w.begun = true
		return
	}
	w.speaks++
	if claim == evidence.Decisive {
		w.sure++
	}
}

// best returns the path with the strongest evidence. It returns nil unless at least half
// of the records from the first message on have a message there, or an object there if a
// message is decisive.
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

// others returns the sibling paths that have about as many messages.
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

// sure returns the number of decisive messages at all paths.
func (t *wrapTally) sure() int {
	n := 0
	for i := range t.paths {
		n += t.paths[i].sure
	}
	return n
}

// wrapper returns the path from each record to the message in it. It returns nil if the
// records, which are of the given class, wrap nothing. A document needs a decisive
// message, because many documents contain an object that could be a message.
func (t *tally) wrapper(class Class, document bool) []string {
	w := t.wraps.best()
	if w == nil || document && w.sure == 0 {
		return nil
	}
	log := t.logs.best()
	switch {
	case class == ClassOther, class == ClassLog && log.Decisive == 0 && w.sure > 0:
		return w.path
	case class == ClassConversation && w.sure > 0 && w.speaks > t.byClass[ClassConversation]:
		return w.path // some records of the log describe what was compacted
	}
	return nil
}

// mostLater is how many arrays are postponed.
const mostLater = 256

// postpone notes an array that may wrap messages. Looking for them takes long, and is only
// necessary if there are no others.
func (f *finder) postpone(list source.Value, path []string) {
	if f.wraps || f.lone || f.wrap || len(f.found) > 0 || isAlternative(path) {
		return
	}
	if len(f.later) == mostLater {
		f.wrapping()
	}
	f.later = append(f.later, list.Light())
}

// wrapping reports whether the elements of a postponed array wrap messages. If none do, a search
// for wrapped messages finds nothing.
func (f *finder) wrapping() bool {
	f.wrap = f.wrap || slices.ContainsFunc(f.later, func(list source.Value) bool { return wrapOf(f.set, list) != nil })
	f.later = f.later[:0]
	return f.wrap
}

// isAlternative reports whether a path leads to an array whose elements do not form a conversation.
func isAlternative(path []string) bool {
	return len(path) > 0 && slices.Contains(alternatives, path[len(path)-1])
}

// wrapped finds the conversation whose messages are wrapped by the elements of an array.
// It reports whether there is one.
func (f *finder) wrapped(list source.Value, path []string, ctx Place) bool {
	if isAlternative(path) {
		return false
	}
	if ctx.Into = wrapOf(f.set, list); ctx.Into == nil {
		return false
	}
	class, log := f.listClass(list, ctx.Into)
	if class != ClassOther {
		f.emit(ctx, path, class, log, list)
	}
	return class != ClassOther
}

// wrapOf returns the path from the elements of an array to the messages in them. It
// returns nil if there is none, or if the elements hold conversations elsewhere too.
func wrapOf(set *dialect.Set, v source.Value) []string {
	t := &wrapTally{set: set}
	var index source.Indexer
	for i, e := range v.Present() {
		if i == listHead {
			break
		}
		t.n++
		if e.Kind() != source.Object {
			continue
		}
		if e = index.Of(e); e.Get("role").Kind() != source.String {
			t.add(e)
		}
	}
	w := t.best()
	if w == nil || slices.ContainsFunc(w.path, func(name string) bool { return compiledFields().of[name].roles(0)&roleTrace != 0 }) {
		return nil // repeated outputs are not a conversation
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

// holdsBeside reports whether an element holds conversations outside the value at a path.
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
