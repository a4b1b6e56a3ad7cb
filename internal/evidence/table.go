package evidence

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/toolguard/toolguard/internal/source"
)

// A Weight says how surely a value is an element of a dialect.
type Weight uint8

// The weights.
const (
	None     Weight = iota
	Weak            // a message that it reads as well, written as others write theirs
	Plain           // a message that any dialect of its family could hold
	Shared          // it writes what only a few dialects do
	Decisive        // it writes a call, a result or the like as only this dialect does
)

var weights = [...]string{"none", "weak", "plain", "shared", "decisive"}

// A row is one piece of evidence: if all of it holds, it has the weight.
type row struct {
	weight Weight
	conds  []Cond
	groups []group
	shown  string
	byList bool
	alike  bool
}

// A group is conditions on the elements of a list.
type group struct {
	list  string
	conds []Cond
	not   bool // no element of it is such
	at    int  // the number of the list in a table
	bit   uint // among the groups of that list
}

// parseRow reads a row as NewTable takes it.
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

// A Table is the evidence for a dialect. The first row that holds decides; a row of
// the weight None says that a value is another dialect's.
type Table struct {
	once  sync.Once
	texts []string
	rows  []row          // the texts, compiled
	slots map[string]int // of the first names of paths
	known []string       // those names, and others that speak of tools in the dialect
	lists []list
}

// A list is one whose elements conditions ask for.
type list struct {
	paths  [][]string // its alternatives, by name
	slots  []int      // of the first names
	object string     // what an object is that is there instead: ".*", ".?", or nothing
	groups []*group
	inner  map[string]int // slots of the members of an element
}

// MostElements is how many elements of a list are asked about at most: a list of more
// is a list of messages, and no message has so many parts.
const MostElements = 4096

// mostSlots bounds how many first names a table has.
const mostSlots = 32

// mostLists bounds how many lists.
const mostLists = 8

// NewTable returns a table of rows, each of which is a weight and conditions:
//
//	decisive if role=tool|function and content:any
//	weak if role:string and any content has type!=text and @tools
//	shared if role:string and any parts has type=thinking and no parts has type=image
//
// Behind "any" is a list of which one element has all conditions up to the next list,
// behind "no" one of which none has them. A list is named by the names that lead to it,
// or alternatives of them. With ".*" behind them the members of an object count as
// elements if that is there instead, with ".?" the object itself does.
//
// What is shown of a row is its first condition, without any that of its first list.
// Remarks follow:
//
//	, shown as name    shows the member of that name instead
//	, shown by list    shows the name of the list
//	, alike            others write the same: the row is weighed only where something else
//	                   in a value could speak for the dialect, or where the dialect is known
//
// Rows are texts, and compiled when somebody asks for the first time, because most tables
// are never asked.
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

// Knows adds names that speak of tools as the dialect does, and stand in no
// condition.
func (t *Table) Knows(names ...string) *Table {
	t.known = append(t.known, names...)
	return t
}

// place gives each first name a slot.
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

// list files a group under its list.
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

// in returns the list in a value of which the first names have been read, and its
// name.
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

// each calls a function with the elements of the list, until it returns false.
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

// read fills slots with the members of an object, of several of a name the first.
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

// held returns which groups of a list some element has all conditions of.
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

// held reports whether the condition holds of a value of which the first names have
// been read.
func (c *Cond) held(of source.Value, slots []source.Value) bool {
	return c.holds(func(p *path) source.Value {
		if p.key == "" {
			return of
		}
		return slots[p.slot]
	}, of)
}

// Weigh returns the weight of the evidence that an object is of the dialect, and
// what decided.
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

// unknownTools reports whether a member speaks of tools that is not known.
func (t *Table) unknownTools(v source.Value) bool {
	for k, val := range v.Members() {
		if UnknownToolMember(k, val) && !slices.ContainsFunc(t.known, k.Is) {
			return true
		}
	}
	return false
}

// A Sign is what decided: a member, and its value where that says more.
type Sign struct {
	table *Table
	row   *row
	of    source.Value
	name  string // of a sign without a table
}

// Alike reports whether others write the same.
func (s Sign) Alike() bool { return s.row != nil && s.row.alike }

// In returns the sign for another value of which the same decided.
func (s Sign) In(v source.Value) Sign {
	if s.row != nil {
		s.of = v
	}
	return s
}

// Named returns the sign that is a member of that name.
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

// shown describes how a condition holds of a value, of which the member goes by the
// given name if there is one.
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

// Keywords are names and texts of which one occurs in each value that a row of a table
// holds of: among its members, or those of an object or of the elements of a list
// in it.
type Keywords []string

// Keywords returns, for each row that speaks for the dialect, what such keywords
// there are.
func (t *Table) Keywords() [][]Keywords {
	t.once.Do(t.compile)
	var out [][]Keywords
	var needed []Keywords // by all rows that follow
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

// keywordsOf returns the keywords of conditions on a value that stands as deep.
func keywordsOf(conds []Cond, depth int) []Keywords {
	var out []Keywords
	for i := range conds {
		out = append(out, conds[i].keywords(depth)...)
	}
	return out
}

// Keywords returns the names and texts that occur in each value that the condition
// holds of.
func (c *Cond) Keywords() []Keywords { return c.keywords(0) }

// keywords returns those of a condition on a value that stands as deep: 0 for the
// value itself, 1 for an element of a list in it. What is deeper is not looked at.
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
				// Elements of a list stand as deep as its members would.
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

// scalar reports whether a text could be written as another scalar than a string.
func (c *Cond) scalar() bool {
	return slices.ContainsFunc(c.is, func(s string) bool {
		return s == "" || s == "true" || s == "false" || s == "null" || strings.IndexAny(s[:1], "-0123456789") == 0
	})
}
