package evidence

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/toolguard/toolguard/internal/source"
)

// A Weight says with what certainty a value is an element of a dialect.
type Weight uint8

// The weights.
const (
	None     Weight = iota
	Weak            // a message that the dialect can read, written as in other dialects
	Plain           // a message that any dialect of the family could have written
	Shared          // it has something that only a few dialects write
	Decisive        // it has a call, a result or the like that only this dialect writes so
)

var weights = [...]string{"none", "weak", "plain", "shared", "decisive"}

// A Row is one piece of evidence. If all its conditions hold, it has the weight.
type Row struct {
	Weight Weight
	If     []*Cond
	Lists  []Elements
	Sign   string // what reports show, if not the first condition
	Shown  string // the field that they show instead of that of the condition
	ByList bool   // reports show the name of the first list
	// Alike is set if other dialects write the same: the row counts only if something else in
	// a value may be evidence for the dialect, or if the dialect is known.
	Alike bool
	// Known is set if the row counts only if the dialect is known.
	Known bool
}

// Elements are conditions on the elements of an array: one element satisfies all of them
// or, if No is set, none does.
type Elements struct {
	// List leads to the array. Its alternatives are joined by "|", and its keys by ".". If it
	// ends with ".*" and leads to an object, the values of its fields count as elements. If it
	// ends with ".?", the object itself is the only element.
	List string
	No   bool
	If   []*Cond

	at  int  // the index of the list in the table
	bit uint // its bit among the conditions on that list
}

// parseRow parses a row in the syntax of Table.Rows.
func parseRow(text string) Row {
	says, remarks, more := strings.Cut(text, ", ")
	weight, conds, ok := strings.Cut(says, " if ")
	n := slices.Index(weights[:], weight)
	if !ok || n < 0 {
		panic("evidence: want a weight and conditions: " + text)
	}
	r := Row{Weight: Weight(n)}
	for cond := range strings.SplitSeq(conds, " and ") {
		switch words := strings.Fields(cond); {
		case len(words) == 4 && (words[0] == "any" || words[0] == "no") && words[2] == "has":
			r.Lists = append(r.Lists, Elements{List: words[1], No: words[0] == "no", If: All(words[3])})
		case len(words) != 1:
			panic("evidence: want one condition, or a list and one: " + text)
		case len(r.Lists) > 0:
			e := &r.Lists[len(r.Lists)-1]
			e.If = append(e.If, All(cond)...)
		default:
			r.If = append(r.If, All(cond)...)
		}
	}
	for more {
		var remark string
		remark, remarks, more = strings.Cut(remarks, ", ")
		name, as := strings.CutPrefix(remark, "shown as ")
		switch {
		case as:
			r.Shown = name
		case remark == "shown by list":
			r.ByList = true
		case remark == "alike":
			r.Alike = true
		default:
			panic("evidence: no such remark: " + text)
		}
	}
	return r
}

// A Table is the evidence for a dialect. The first row that holds decides. A row of
// weight None says that a value belongs to another dialect. Rows are compiled on first use,
// because most tables are never used.
type Table struct {
	// Rows are texts, each of which is a weight and conditions:
	//
	//	decisive if role=tool|function and content:any
	//	weak if role:string and any content has type!=text and @tools
	//	shared if role:string and any parts has type=thinking and no parts has type=image
	//
	// "any" is followed by an array of which one element satisfies all conditions up to the
	// next array, and "no" by one of which no element does; Elements.List says how arrays are
	// written.
	//
	// Reports show the first condition of a row, or if it has none, that of its first
	// array. Remarks can follow: "shown as name", "shown by list" and "alike", for the fields of
	// a Row.
	Rows []string
	// Knows are keys about tools that the dialect uses but that are in no condition.
	Knows []string

	once  sync.Once
	rows  []Row
	slots slots    // of the first keys of paths
	known []string // those keys, and Knows
	lists []list
	keyed bool // no row holds for an object without any of the keys
}

// slots are the places of the values of keys.
type slots struct {
	of map[string]int
	// heads holds the first bytes of the keys by their length, so that few other keys are looked
	// up. Long keys share the last place.
	heads [maxHead + 1]uint64
}

const maxHead = 31

// head returns the place and the bit of a key in heads.
func head[T string | []byte](key T) (n int, bit uint64) {
	return min(len(key), maxHead), 1 << (key[0] & 63)
}

// A list is an array whose elements are examined by conditions.
type list struct {
	paths  [][]string // alternative paths, as keys
	slots  []int      // of the first keys
	object string     // how an object in its place is treated: ".*", ".?", or not at all
	conds  [][]*Cond  // on the elements
	inner  slots
}

// MostElements limits how many elements of an array are examined. A longer array holds
// messages, because no message has so many parts.
const MostElements = 4096

const (
	// fewSlots and fewLists are how many values and answers fit on the stack.
	fewSlots = 32
	fewLists = 8
	// mostConds limits how many sets of conditions a list has, which have a bit each.
	mostConds = 64
)

// TableOf returns a table of rows.
func TableOf(rows ...Row) *Table { return &Table{rows: rows} }

// compile compiles the rows.
func (t *Table) compile() {
	for _, text := range t.Rows {
		t.rows = append(t.rows, parseRow(text))
	}
	t.keyed = true
	for i := range t.rows {
		r := &t.rows[i]
		t.slots.place(r.If)
		keyed := len(AnyKey(r.If)) > 0
		for j := range r.Lists {
			e := &r.Lists[j]
			t.list(e)
			keyed = keyed || !e.No && !slices.Contains(t.lists[e.at].slots, -1)
		}
		t.keyed = t.keyed && (keyed || r.Weight == None)
	}
	t.known = slices.AppendSeq(slices.Clone(t.Knows), maps.Keys(t.slots.of))
}

// Needs returns keys of which an object has at least one if a row is evidence for it. It returns
// none if a row needs no key.
func (t *Table) Needs() (keys []string) {
	t.once.Do(t.compile)
	for i := range t.rows {
		if t.rows[i].Weight == None {
			continue
		}
		var of []string
		for _, c := range t.rows[i].If {
			// Most objects of some kinds have a type.
			if k := c.Keys(); !c.not && len(k) > 0 && !slices.Contains(k, "") && (of == nil || !slices.Contains(k, "type")) {
				of = k
			}
		}
		if of == nil {
			return nil
		}
		keys = append(keys, of...)
	}
	return keys
}

// place gives each first key a slot.
func (s *slots) place(conds []*Cond) {
	for _, c := range conds {
		for i := range c.compiled().alts {
			if p := &c.alts[i]; p.key != "" {
				p.slot = s.add(p.key)
			}
		}
	}
}

// add returns the slot of a key.
func (s *slots) add(key string) int {
	n, known := s.of[key]
	if !known {
		if s.of == nil {
			s.of = map[string]int{}
		}
		n = len(s.of)
		s.of[key] = n
		at, bit := head(key)
		s.heads[at] |= bit
	}
	return n
}

// list adds conditions to their list.
func (t *Table) list(e *Elements) {
	name, object := e.List, ""
	if n := len(name) - 2; n >= 0 && (name[n:] == ".*" || name[n:] == ".?") {
		name, object = name[:n], name[n:]
	}
	var paths [][]string
	for alt := range strings.SplitSeq(name, "|") {
		paths = append(paths, strings.FieldsFunc(alt, func(c rune) bool { return c == '.' }))
	}
	e.at = slices.IndexFunc(t.lists, func(l list) bool {
		return l.object == object && len(l.conds) < mostConds && slices.EqualFunc(l.paths, paths, slices.Equal)
	})
	if e.at < 0 {
		l := list{paths: paths, object: object}
		for _, p := range paths {
			slot := -1 // the value itself
			if len(p) > 0 {
				slot = t.slots.add(p[0])
			}
			l.slots = append(l.slots, slot)
		}
		e.at = len(t.lists)
		t.lists = append(t.lists, l)
	}
	l := &t.lists[e.at]
	l.inner.place(e.If)
	e.bit = uint(len(l.conds))
	l.conds = append(l.conds, e.If)
}

// in returns the array in a value and the name of its path. slots are the values of the
// first keys.
func (l *list) in(v source.Value, slots []source.Value) (got source.Value, name string) {
	for i, p := range l.paths {
		got := v
		if l.slots[i] >= 0 {
			got = slots[l.slots[i]].Path(p[1:]...)
		}
		if k := got.Kind(); k == source.Array || k == source.Object && l.object != "" {
			if len(p) > 0 {
				name = p[len(p)-1]
			}
			return got, name
		}
	}
	return source.Value{}, ""
}

// each yields the elements of the list.
func (l *list) each(v source.Value, yield func(e source.Value) bool) {
	switch {
	case v.Kind() == source.Object && l.object == ".?":
		yield(v)
	case v.Kind() == source.Object:
		for _, e := range v.Members() {
			if !yield(e) {
				return
			}
		}
	default:
		for i, e := range v.Present() {
			if i >= MostElements || !yield(e) {
				return
			}
		}
	}
}

// read sets values to the fields of an object, in one pass, and reports whether it has any. If a
// key occurs twice, the first one counts.
func (s *slots) read(v source.Value, values []source.Value) (has bool) {
	left := len(s.of)
	for k, val := range v.Members() {
		key := k.Raw()
		if key = key[1 : len(key)-1]; len(key) == 0 {
			continue
		}
		n, known := 0, false
		if at, bit := head(key); s.heads[at]&bit != 0 {
			n, known = s.of[string(key)]
		}
		if !known && bytes.IndexByte(key, '\\') >= 0 {
			n, known = s.of[k.Str()]
		}
		if known && !values[n].Exists() {
			values[n], has = val, true
			if left--; left == 0 {
				break
			}
		}
	}
	return has
}

// sized returns the first n values of buf, which can be on the stack, or a new slice if buf is
// too short.
func sized[T any](buf []T, n int) []T {
	if n > len(buf) {
		return make([]T, n)
	}
	return buf[:n]
}

// held returns the set of conditions of the list that an element satisfies.
func (l *list) held(v source.Value) (bits uint64) {
	all := ^uint64(0) >> (mostConds - len(l.conds))
	var stack [fewSlots]source.Value
	slots := sized(stack[:], len(l.inner.of))
	l.each(v, func(e source.Value) bool {
		clear(slots)
		l.inner.read(e, slots)
		for i, conds := range l.conds {
			if bits&(1<<i) == 0 && allHeld(conds, e, slots) {
				bits |= 1 << i
			}
		}
		return bits != all
	})
	return bits
}

func allHeld(conds []*Cond, of source.Value, slots []source.Value) bool {
	for _, c := range conds {
		if !c.held(of, slots) {
			return false
		}
	}
	return true
}

// Weigh returns the weight of the evidence that an object belongs to the dialect, and the
// sign that decided it. known says that the dialect is known.
func (t *Table) Weigh(v source.Value, known bool) (Weight, Sign) {
	if t == nil || v.Kind() != source.Object {
		return None, Sign{}
	}
	t.once.Do(t.compile)
	var values [fewSlots]source.Value
	slots := sized(values[:], len(t.slots.of))
	if !t.slots.read(v, slots) && t.keyed {
		return None, Sign{}
	}
	var bits [fewLists]uint64
	var answers [fewLists]bool
	held, asked := sized(bits[:], len(t.lists)), sized(answers[:], len(t.lists))
	for i := range t.rows {
		r := &t.rows[i]
		if r.Known && !known || !t.allHold(r.If, v, slots) {
			continue
		}
		ok := true
		for j := range r.Lists {
			e := &r.Lists[j]
			if !asked[e.at] {
				l := &t.lists[e.at]
				in, _ := l.in(v, slots)
				held[e.at], asked[e.at] = l.held(in), true
			}
			if ok = held[e.at]>>e.bit&1 == 1 != e.No; !ok {
				break
			}
		}
		if ok {
			return r.Weight, Sign{table: t, row: r, of: v}
		}
	}
	return None, Sign{}
}

// allHold is allHeld for conditions on a whole message.
func (t *Table) allHold(conds []*Cond, v source.Value, slots []source.Value) bool {
	for _, c := range conds {
		if c.tool {
			if t.unknownTools(v) == c.not {
				return false
			}
		} else if !c.held(v, slots) {
			return false
		}
	}
	return true
}

// unknownTools reports whether an unknown field is about tools.
func (t *Table) unknownTools(v source.Value) bool {
	for k, val := range v.Members() {
		if UnknownToolMember(k, val) && !slices.ContainsFunc(t.known, k.Is) {
			return true
		}
	}
	return false
}

// A Sign is what decided: a field, and its value if that matters.
type Sign struct {
	table *Table
	row   *Row
	of    source.Value
	name  string // of a sign without a table
}

// Alike reports whether other dialects write the same.
func (s Sign) Alike() bool { return s.row != nil && s.row.Alike }

// In returns the same sign for another value.
func (s Sign) In(v source.Value) Sign {
	if s.row != nil {
		s.of = v
	}
	return s
}

// Named returns the sign of a field with the given name.
func Named(name string) Sign { return Sign{name: name} }

// String describes the sign: `tool_calls`, `type "tool_use"`.
func (s Sign) String() string {
	switch {
	case s.row == nil:
		return s.name
	case s.row.Sign != "":
		return s.row.Sign
	case len(s.row.If) > 0:
		return s.row.If[0].shown(s.of, s.row.Shown)
	}
	first := &s.row.Lists[0]
	l := &s.table.lists[first.at]
	slots := make([]source.Value, len(s.table.slots.of))
	s.table.slots.read(s.of, slots)
	in, name := l.in(s.of, slots)
	if s.row.ByList {
		return name
	}
	l.each(in, func(e source.Value) bool {
		holds := Hold(first.If, e)
		if holds {
			name = first.If[0].shown(e, s.row.Shown)
		}
		return !holds
	})
	return name
}

// Keywords are keys and strings, at least one of which occurs in each value for which a
// row holds: as a key or value of the object itself, or of an object or array element
// directly in it.
type Keywords []string

// Keywords returns the keywords of each row that is evidence for the dialect. known says that
// the dialect is known.
func (t *Table) Keywords(known bool) [][]Keywords {
	t.once.Do(t.compile)
	var out [][]Keywords
	var needed []Keywords // by all following rows
	for i := range t.rows {
		r := &t.rows[i]
		switch {
		case r.Known && !known, r.Alike:
			continue
		case r.Weight == None:
			if len(r.If) == 1 && len(r.Lists) == 0 && r.If[0].not {
				needed = append(needed, r.If[0].keywords(0, true)...)
			}
			continue
		}
		words := append(slices.Clip(needed), keywordsOf(r.If, 0)...)
		for j := range r.Lists {
			if e := &r.Lists[j]; !e.No {
				words = append(words, t.lists[e.at].keywords(e.If)...)
			}
		}
		out = append(out, words)
	}
	return out
}

// keywords returns the keywords of the paths, and of conditions on the elements.
func (l *list) keywords(conds []*Cond) (words []Keywords) {
	depth := 0
	for _, p := range l.paths {
		depth = max(depth, len(p))
	}
	for k := range 2 {
		if !slices.ContainsFunc(l.paths, func(p []string) bool { return len(p) <= k }) {
			var names Keywords
			for _, p := range l.paths {
				names = append(names, p[k])
			}
			words = append(words, names)
		}
	}
	if depth <= 1 && l.object != ".*" {
		words = append(words, keywordsOf(conds, depth)...)
	}
	return words
}

// keywordsOf returns the keywords of conditions on a value at the given depth.
func keywordsOf(conds []*Cond, depth int) []Keywords {
	var out []Keywords
	for _, c := range conds {
		out = append(out, c.keywords(depth, false)...)
	}
	return out
}
