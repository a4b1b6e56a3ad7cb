package evidence

import (
	"cmp"
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

// A row is one piece of evidence. If all its conditions hold, it has the weight.
type row struct {
	weight Weight
	conds  []Cond
	groups []group
	shown  string
	byList bool
	alike  bool
}

// A group is a set of conditions on the elements of an array.
type group struct {
	list  string
	conds []Cond
	not   bool // no element satisfies them
	at    int  // the index of the list in the table
	bit   uint // its bit among the groups of that list
}

// parseRow parses a row in the syntax of NewTable.
func parseRow(text string) row {
	says, remarks, more := strings.Cut(text, ", ")
	weight, conds, ok := strings.Cut(says, " if ")
	n := slices.Index(weights[:], weight)
	if !ok || n < 0 {
		panic("evidence: want a weight and conditions: " + text)
	}
	r := row{weight: Weight(n)}
	for cond := range strings.SplitSeq(conds, " and ") {
		switch words := strings.Fields(cond); {
		case len(words) == 4 && (words[0] == "any" || words[0] == "no") && words[2] == "has":
			r.groups = append(r.groups, group{list: words[1], not: words[0] == "no", conds: All(words[3])})
		case len(words) != 1:
			panic("evidence: want one condition, or a list and one: " + text)
		case len(r.groups) > 0:
			g := &r.groups[len(r.groups)-1]
			g.conds = append(g.conds, All(cond)...)
		default:
			r.conds = append(r.conds, All(cond)...)
		}
	}
	for more {
		var remark string
		remark, remarks, more = strings.Cut(remarks, ", ")
		name, as := strings.CutPrefix(remark, "shown as ")
		switch {
		case as:
			r.shown = name
		case remark == "shown by list":
			r.byList = true
		case remark == "alike":
			r.alike = true
		default:
			panic("evidence: no such remark: " + text)
		}
	}
	return r
}

// A Table is the evidence for a dialect. The first row that holds decides. A row of
// weight None says that a value belongs to another dialect.
type Table struct {
	once  sync.Once
	texts []string
	rows  []row          // the texts, compiled
	slots map[string]int // of the first names of paths
	known []string       // those keys, and others that the dialect uses for tools
	lists []list
}

// A list is an array whose elements are examined by conditions.
type list struct {
	paths  [][]string // alternative paths, as keys
	slots  []int      // of the first keys
	object string     // how an object in its place is treated: ".*", ".?", or not at all
	groups []*group
	inner  map[string]int // slots of the fields of an element
}

// MostElements limits how many elements of an array are examined. A longer array holds
// messages, because no message has so many parts.
const MostElements = 4096

// mostSlots limits the number of first keys of a table.
const mostSlots = 32

// mostLists limits the number of lists of a table.
const mostLists = 8

// NewTable returns a table of rows, each of which is a weight and conditions:
//
//	decisive if role=tool|function and content:any
//	weak if role:string and any content has type!=text and @tools
//	shared if role:string and any parts has type=thinking and no parts has type=image
//
// "any" is followed by an array of which one element satisfies all conditions up to the
// next array, and "no" by one of which no element does. An array is given by its path or
// by alternative paths. If the path ends with ".*" and leads to an object, the values of
// its fields count as elements. If it ends with ".?", the object itself is the only
// element.
//
// Reports show the first condition of a row, or if it has none, that of its first
// array. Remarks can follow:
//
//	, shown as name    shows the field with that name instead
//	, shown by list    shows the name of the array
//	, alike            other dialects write the same: the row counts only if something
//	                   else in a value may be evidence for the dialect, or if the
//	                   dialect is known
//
// Rows are compiled on first use, because most tables are never used.
func NewTable(rows ...string) *Table { return &Table{texts: rows} }

// compile compiles the rows.
func (t *Table) compile() {
	t.rows = make([]row, len(t.texts))
	t.slots = map[string]int{}
	for i, text := range t.texts {
		t.rows[i] = parseRow(text)
		r := &t.rows[i]
		place(r.conds, t.slots)
		for j := range r.groups {
			t.list(&r.groups[j])
		}
	}
	if len(t.lists) > mostLists {
		panic("evidence: too many lists in a table")
	}
	for name := range t.slots {
		t.known = append(t.known, name)
	}
}

// Knows adds keys about tools that the dialect uses but that are in no condition.
func (t *Table) Knows(names ...string) *Table {
	t.known = append(t.known, names...)
	return t
}

// place gives each first key a slot.
func place(conds []Cond, slots map[string]int) {
	for i := range conds {
		for j := range conds[i].alts {
			if p := &conds[i].alts[j]; p.key != "" {
				p.slot = slotOf(p.key, slots)
			}
		}
	}
}

func slotOf(key string, slots map[string]int) int {
	n, known := slots[key]
	if !known {
		n = len(slots)
		if n == mostSlots {
			panic("evidence: too many names in a table")
		}
		slots[key] = n
	}
	return n
}

// list adds a group to its list.
func (t *Table) list(g *group) {
	name, object := g.list, ""
	if n := len(name) - 2; n >= 0 && (name[n:] == ".*" || name[n:] == ".?") {
		name, object = name[:n], name[n:]
	}
	var paths [][]string
	for alt := range strings.SplitSeq(name, "|") {
		paths = append(paths, strings.FieldsFunc(alt, func(c rune) bool { return c == '.' }))
	}
	g.at = slices.IndexFunc(t.lists, func(l list) bool {
		return l.object == object && slices.EqualFunc(l.paths, paths, slices.Equal)
	})
	if g.at < 0 {
		l := list{paths: paths, object: object, inner: map[string]int{}}
		for _, p := range paths {
			slot := -1 // the value itself
			if len(p) > 0 {
				slot = slotOf(p[0], t.slots)
			}
			l.slots = append(l.slots, slot)
		}
		g.at = len(t.lists)
		t.lists = append(t.lists, l)
	}
	l := &t.lists[g.at]
	place(g.conds, l.inner)
	g.bit = uint(len(l.groups))
	l.groups = append(l.groups, g)
}

// in returns the array in a value and the name of its path. slots are the values of the
// first keys.
func (l *list) in(v source.Value, slots []source.Value) (got source.Value, name string) {
	for i, p := range l.paths {
		got := v
		if l.slots[i] >= 0 {
			got = slots[l.slots[i]]
			for _, name := range p[1:] {
				got = got.Get(name)
			}
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

// read sets slots to the fields of an object. If a key occurs twice, the first one
// counts.
func read(v source.Value, at map[string]int, slots []source.Value) {
	left := len(at)
	for k, val := range v.Members() {
		raw := k.Raw()
		n, known := at[string(raw[1:len(raw)-1])]
		if !known && slices.Contains(raw, '\\') {
			n, known = at[k.Str()]
		}
		if known && !slots[n].Exists() {
			slots[n] = val
			if left--; left == 0 {
				return
			}
		}
	}
}

// held returns the set of groups of the list that an element satisfies.
func (l *list) held(v source.Value) (bits uint64) {
	all := uint64(1)<<len(l.groups) - 1
	var room [mostSlots]source.Value
	slots := room[:len(l.inner)]
	l.each(v, func(e source.Value) bool {
		clear(slots)
		read(e, l.inner, slots)
		for i, g := range l.groups {
			if bits&(1<<i) == 0 && allHold(g.conds, e, slots) {
				bits |= 1 << i
			}
		}
		return bits != all
	})
	return bits
}

func allHold(conds []Cond, of source.Value, slots []source.Value) bool {
	for i := range conds {
		if !conds[i].held(of, slots) {
			return false
		}
	}
	return true
}

// held reports whether the condition holds for a value whose first keys are in slots.
func (c *Cond) held(of source.Value, slots []source.Value) bool {
	return c.holds(func(p *path) source.Value {
		if p.key == "" {
			return of
		}
		return slots[p.slot]
	}, of)
}

// Weigh returns the weight of the evidence that an object belongs to the dialect, and the
// sign that decided it.
func (t *Table) Weigh(v source.Value) (Weight, Sign) {
	if t == nil || v.Kind() != source.Object {
		return None, Sign{}
	}
	t.once.Do(t.compile)
	var room [mostSlots]source.Value
	slots := room[:len(t.slots)]
	read(v, t.slots, slots)
	var held [mostLists]uint64
	var asked [mostLists]bool
	for i := range t.rows {
		r := &t.rows[i]
		if !t.allHold(r.conds, v, slots) {
			continue
		}
		ok := true
		for j := range r.groups {
			g := &r.groups[j]
			if !asked[g.at] {
				l := &t.lists[g.at]
				in, _ := l.in(v, slots)
				held[g.at], asked[g.at] = l.held(in), true
			}
			if ok = held[g.at]>>g.bit&1 == 1 != g.not; !ok {
				break
			}
		}
		if ok {
			return r.weight, Sign{table: t, row: r, of: v}
		}
	}
	return None, Sign{}
}

func (t *Table) allHold(conds []Cond, v source.Value, slots []source.Value) bool {
	for i := range conds {
		if c := &conds[i]; c.tool {
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
	row   *row
	of    source.Value
	name  string // of a sign without a table
}

// Alike reports whether other dialects write the same.
func (s Sign) Alike() bool { return s.row != nil && s.row.alike }

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
	if s.row == nil {
		return s.name
	}
	if len(s.row.conds) > 0 {
		return s.row.conds[0].shown(s.of, s.row.shown)
	}
	g := &s.row.groups[0]
	l := &s.table.lists[g.at]
	var room [mostSlots]source.Value
	read(s.of, s.table.slots, room[:len(s.table.slots)])
	list, name := l.in(s.of, room[:])
	if s.row.byList {
		return name
	}
	l.each(list, func(e source.Value) bool {
		for i := range g.conds {
			if !g.conds[i].Holds(e) {
				return true
			}
		}
		name = g.conds[0].shown(e, s.row.shown)
		return false
	})
	return name
}

// shown describes how a condition holds for a value. If name is not empty, it is used for
// the field.
func (c *Cond) shown(v source.Value, name string) string {
	p := &c.alts[0]
	got := source.Value{}
	for i := range c.alts {
		if found := c.alts[i].behind(c.alts[i].first(v)); c.any(found, c.alts[i].many) {
			p, got = &c.alts[i], found
			break
		}
	}
	name = cmp.Or(name, p.name())
	if got.Kind() == source.String && (len(c.is) > 0 || c.kind == aString) {
		return name + " " + string(got.Raw())
	}
	return name
}

// Keywords are keys and strings, at least one of which occurs in each value for which a
// row holds: as a key or value of the object itself, or of an object or array element
// directly in it.
type Keywords []string

// Keywords returns the keywords of each row that is evidence for the dialect.
func (t *Table) Keywords() [][]Keywords {
	t.once.Do(t.compile)
	var out [][]Keywords
	var needed []Keywords // by all following rows
	for i := range t.rows {
		r := &t.rows[i]
		if r.weight == None {
			if len(r.conds) == 1 && len(r.groups) == 0 && r.conds[0].not {
				c := r.conds[0]
				c.not = false
				needed = append(needed, c.keywords(0)...)
			}
			continue
		}
		if r.alike {
			continue
		}
		words := append(slices.Clip(needed), keywordsOf(r.conds, 0)...)
		for j := range r.groups {
			g := &r.groups[j]
			l := &t.lists[g.at]
			if g.not {
				continue
			}
			depth := 0
			for k := range 2 {
				var names Keywords
				for _, p := range l.paths {
					if len(p) <= k {
						names = nil
						break
					}
					names = append(names, p[k])
					depth = max(depth, len(p))
				}
				if names != nil {
					words = append(words, names)
				}
			}
			for _, p := range l.paths {
				depth = max(depth, len(p))
			}
			if depth <= 1 && l.object != ".*" {
				words = append(words, keywordsOf(g.conds, depth)...)
			}
		}
		out = append(out, words)
	}
	return out
}

// keywordsOf returns the keywords of conditions on a value at the given depth.
func keywordsOf(conds []Cond, depth int) []Keywords {
	var out []Keywords
	for i := range conds {
		out = append(out, conds[i].keywords(depth)...)
	}
	return out
}

// Keywords returns the keys and strings that occur in each value for which the condition
// holds.
func (c *Cond) Keywords() []Keywords { return c.keywords(0) }

// keywords is Keywords for a value at the given depth: 0 for the value itself, 1 for an
// element of an array in it. Deeper values are ignored.
func (c *Cond) keywords(depth int) []Keywords {
	if c.not || c.tool {
		return nil
	}
	var out []Keywords
	names, deep := make([][]string, len(c.alts)), false
	for i := range c.alts {
		p := &c.alts[i]
		if p.key == "" {
			return nil
		}
		names[i] = []string{p.key}
		for rest := p.rest; rest != ""; {
			name := rest
			if at := outside(rest, '.'); at >= 0 {
				name, rest = rest[:at], rest[at+1:]
			} else {
				rest = ""
			}
			switch {
			case name == "#" || strings.Trim(name, "0123456789") == "":
				// The elements of an array are as deep as its fields would be.
			case strings.ContainsAny(name, `#@[{(*?\!`):
				rest, deep = "", true
			default:
				names[i] = append(names[i], name)
			}
		}
	}
	for level := depth; level < 2; level++ {
		var m Keywords
		for i := range names {
			if len(names[i]) <= level-depth {
				m = nil
				break
			}
			m = append(m, names[i][level-depth])
		}
		if m != nil {
			out = append(out, m)
		}
	}
	texts := len(c.is) > 0 && !deep
	for i := range names {
		texts = texts && len(names[i])+depth <= 2
	}
	for _, s := range c.is {
		texts = texts && !strings.Contains(s, "*")
	}
	if texts && !c.scalar() {
		out = append(out, c.is)
	}
	return out
}

// scalar reports whether a text could also be a scalar other than a string.
func (c *Cond) scalar() bool {
	return slices.ContainsFunc(c.is, func(s string) bool {
		return s == "" || s == "true" || s == "false" || s == "null" || strings.IndexAny(s[:1], "-0123456789") == 0
	})
}
