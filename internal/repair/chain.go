package repair

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/digest"
	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/source"
)

// A chain is the changes of one fix to the records of a session log. Records are inserted,
// emptied, moved or removed, and the links between them are kept intact.
type chain struct {
	*Log
	d *draft
	// Records are identified by an offset inside them.
	removed  []int64
	dropped  map[int64]source.Span // records that become empty, with the spans of their content
	inserted []insertion
	texted   []int64     // records whose results became text
	renamed  [][2]string // ids of calls, as written
	relinked []relinking
	ordinals []source.Span // ordinals from which on records are numbered anew

	gone   map[int32]bool  // nodes
	new    map[string]bool // ids of new records
	lines  list
	lists  map[source.Span]*list // lists of ids, by their spans
	bounds map[int]bool          // segments whose ends are removed
	sets   []set
	places []int32       // the nodes that new records with numbers follow, in order
	behind map[int32]int // by node: the new records after it
	within []source.Span // the records that contain the edits
}

// A relinking is a new parent for a record.
type relinking struct {
	parent source.Span // the old one
	to     source.Span // the id of the new one; zero for the previous record
}

// An insertion is a new record for a call.
type insertion struct {
	behind  int64  // offset of the record that it follows
	call    int64  // offset of the record with the call
	message []byte // with the result
	content string // of the result
	id      string // of the call, as written
	of      int32  // the call
}

// log returns the changes of the draft to its log.
func (d *draft) log() *chain {
	if d.changes == nil {
		d.changes = &chain{Log: d.Log, d: d, lines: list{src: d.src, array: d.Log.Array, lines: d.Log.Array.IsZero()}}
	}
	return d.changes
}

// standing returns the offset of a message.
func (p *Plan) standing(m int32) int64 { return p.Conv.Messages[m].Span().Start }

// layRecords inserts a record for each call of a turn that gets a result, or moves those of results.
func (l *layout) layRecords() bool {
	if len(l.comes) > 0 {
		return l.moveRecords()
	}
	news, _ := l.news() // only placeholders
	for _, e := range news {
		call := &l.Conv.Calls[e.call]
		ins := insertion{
			call: l.standing(call.Message), message: e.text, id: call.ID.Raw, of: e.call,
			content: string(source.NewValue(e.text, 0).Get(l.keys(call.Message).Content).Raw()),
		}
		if fields := dialect.WriteMessage(l.driver, "["+string(e.text)+"]", l.value(call.Message)); fields != nil {
			if ins.message = l.build(fields); ins.message == nil {
				return false
			}
		}
		if ins.behind = l.standing(l.ends[l.turn]); l.usedAgain(e.call, ins.behind) {
			ins.behind = ins.call
		}
		if answered := l.lastAnswered(e.call); !l.usedAgain(e.call, answered) {
			ins.behind = max(ins.behind, answered)
		}
		c := l.log()
		c.inserted = append(c.inserted, ins)
	}
	return l.changes != nil
}

// lastAnswered returns the offset of the last result of the calls before c in its turn, 0 if
// there is none. Results out of place do not count.
func (p *Plan) lastAnswered(c int32) int64 {
	b := p.streakOf(c)
	return b.answered[c-b.first]
}

// usedAgain reports whether another turn uses the id of a call again before an offset.
func (p *Plan) usedAgain(c int32, off int64) bool {
	for other := p.streakOf(c).end; int(other) < len(p.Conv.Calls); other++ {
		if p.standing(p.Conv.Calls[other].Message) > off {
			return false
		}
		if p.turn(other) != p.turn(c) && pairing.Key(p.Conv.Calls[other].ID) == pairing.Key(p.Conv.Calls[c].ID) {
			return true
		}
	}
	return false
}

// A streak is successive calls of one turn. It is kept for the next call, because a turn can have very many.
type streak struct {
	first, end int32
	answered   []int64 // by call: the offset of the last result, in place, of those before it, 0 if there is none
}

// streakOf returns the streak of a call.
func (p *Plan) streakOf(c int32) *streak {
	b := &p.streak
	if b.first <= c && c < b.end {
		return b
	}
	b.first, b.end, b.answered = c, c, b.answered[:0]
	for b.first > 0 && p.turn(b.first-1) == p.turn(c) {
		b.first--
	}
	last := int64(0)
	for b.end = b.first; int(b.end) < len(p.Conv.Calls) && p.turn(b.end) == p.turn(c); b.end++ {
		b.answered = append(b.answered, last)
		if r := p.Pairing.Calls[b.end].Result; r >= 0 && p.Pairing.Calls[b.end].Place == pairing.InWindow {
			last = max(last, p.standing(p.Conv.Results[r].Message))
		}
	}
	return b
}

// untold reports whether the effect on other records is left open, because this is a trial.
// Whether a record can get a parent depends on the other records, so relinking is always
// worked out.
func (c *chain) untold() bool { return c.Trial && len(c.relinked) == 0 }

// compile returns the edits for all changes.
func (c *chain) compile() (edits []edit.Edit) {
	if c.untold() {
		return nil
	}
	if err := c.index(); err != nil {
		c.d.src.err = cmp.Or(c.d.src.err, err)
		return nil
	}
	c.settle()
	for i := range c.gone {
		c.takeOut(i)
	}
	for s, stays := range c.bounds {
		if stays {
			c.shorten(&c.segments[s])
		}
	}
	// Sorted by the record they follow. Insertions after the same record keep their order.
	slices.SortStableFunc(c.inserted, func(a, b insertion) int { return cmp.Compare(a.behind, b.behind) })
	c.insert()
	for _, r := range c.renamed {
		for _, at := range c.callRefs[r[0]] {
			c.set(at, r[1])
		}
	}
	for _, at := range c.texted {
		c.forget(at)
	}
	// If a record has two ids, the lost record is not known. If it has two parents, its place
	// in the tree is not known.
	c.d.failed = c.d.failed || len(c.relinked) > 0 && c.doubled
	for _, r := range c.relinked {
		if r.to.IsZero() {
			c.toTheOneBefore(r.parent)
		} else {
			c.toThat(r)
		}
	}
	for _, at := range c.ordinals {
		c.count(at)
	}
	c.renumber()
	for _, l := range c.lists {
		for _, e := range l.compile() {
			c.set(e.Span, string(e.Text))
		}
	}
	for _, e := range c.lines.compile() {
		c.sets = append(c.sets, set{Edit: e})
	}
	edits, c.within = make([]edit.Edit, 0, len(c.sets)), slices.Grow(c.within, len(c.sets))
	for _, s := range c.sets {
		edits = append(edits, s.Edit)
		if n := c.at(s.Span.Start); int(n) < len(c.nodes) && c.nodes[n].start <= s.Span.Start {
			c.within = append(c.within, c.nodes[n].span())
		}
	}
	return edits
}

// set replaces text that is not recorded content.
func (c *chain) set(s source.Span, raw string) {
	c.sets = append(c.sets, set{Edit: edit.Edit{Span: s, Text: []byte(raw)}, plain: true})
}

// text returns the text at a span, "" if it is empty.
func (c *chain) text(s source.Span) string { return c.d.src.text(s.Start, s.End) }

// settle decides what happens to records that become empty. If another record has the same
// id, removing one would make readers use the other, so the record is emptied instead.
func (c *chain) settle() {
	for _, at := range c.removed {
		put(&c.gone, c.at(at), true)
	}
	for at := range c.dropped {
		put(&c.gone, c.at(at), true)
	}
	for at, content := range c.dropped {
		i := c.at(at)
		if id := c.nodes[i].id; id >= 0 && !content.IsZero() && !c.leaves(id) {
			delete(c.gone, i)
			c.sets = append(c.sets, set{Edit: edit.Edit{Span: content, Text: []byte("[]")}})
		}
	}
}

// leaves reports whether some records have the id and none of them stays.
func (c *chain) leaves(id int32) bool {
	stays := func(i int32) bool { return !c.gone[i] }
	return id >= 0 && c.byID[id] >= 0 && !stays(c.byID[id]) && !slices.ContainsFunc(c.twins[id], stays)
}

// heir returns the new parent, as JSON, of the records whose parent is removed: the first
// ancestor that stays.
func (c *chain) heir(i int32) string {
	for range c.gone { // bounded, because parents may form a circle
		n := &c.nodes[i]
		if !c.leaves(n.parent) {
			return cmp.Or(c.text(n.parentAt()), "null")
		}
		i = c.byID[n.parent]
	}
	return "null"
}

// takeOut removes a record. Its children become children of its parent.
func (c *chain) takeOut(i int32) {
	n := &c.nodes[i]
	c.lines.remove(n.span())
	if !c.leaves(n.id) {
		return
	}
	to := c.heir(i)
	for k := range c.hanging(n.id) {
		if !c.gone[k] {
			c.set(c.nodes[k].parentAt(), to)
		}
	}
	for _, at := range c.refs[n.id] {
		switch {
		case c.gone[c.at(at.Start)]:
		case c.keptFrom[at]:
			c.set(at, cmp.Or(c.next(i), to))
		default:
			c.set(at, to)
		}
	}
	for _, k := range c.kept[n.id] {
		if !c.gone[c.at(k.at.Start)] {
			c.listOf(k.in).remove(k.at)
		}
	}
	for _, s := range c.ends[n.id] {
		put(&c.bounds, s, !c.gone[c.at(c.segments[s].headAt.Start)])
	}
}

// next returns the id of the first record that stays of those behind a removed one, "" if there
// is none.
func (c *chain) next(i int32) string {
	for range c.gone { // bounded, because parents may form a circle
		child := int32(-1)
		for k := range c.hanging(c.nodes[i].id) {
			child = k
			break
		}
		if child < 0 || !c.gone[child] {
			if child < 0 || c.nodes[child].id < 0 {
				return ""
			}
			return c.text(c.nodes[child].idAt())
		}
		i = child
	}
	return ""
}

// renumber updates the numbers by which compactions identify the first record that they keep.
func (c *chain) renumber() {
	for _, k := range c.counts {
		first := k.first
		for i := range c.gone {
			if int(i) < k.first {
				first--
			}
		}
		for _, ins := range c.inserted {
			if int(c.at(ins.behind)) < k.first {
				first++
			}
		}
		if first != k.first {
			c.set(k.at, strconv.Itoa(first))
		}
	}
}

// insert makes the records with results, and makes them parents of the records that follow.
func (c *chain) insert() {
	parents := map[int32]string{} // by node: its new parent
	tails := map[int32]string{}   // by node: the id of the last new record after it
	spots := make([]spot, len(c.inserted))
	ends := map[spot]int{} // the last new record of each spot
	for i := range c.inserted {
		spots[i] = c.spot(&c.inserted[i])
		ends[spots[i]] = i
	}
	for i := range c.inserted {
		ins := &c.inserted[i]
		at, anchor, called := spots[i].at, spots[i].anchor, c.at(ins.call)
		caller := &c.nodes[called]
		on := &c.nodes[anchor]
		c.from(on, on.idAt())
		id := ""
		if ends[spots[i]] == i { // the next record hangs on the last of them
			id = c.lost(at)
		}
		if id == "" || c.new[id] {
			id = c.fresh(c.text(caller.idAt()), ins.id)
		}
		parent := tails[anchor]
		if parent == "" {
			parent = c.text(on.idAt())
		}
		text, err := c.record(at, called, ins, id, parent)
		if err != nil {
			c.d.failed = true
			return
		}
		c.lines.after(c.nodes[at].span(), text)
		if id == "" {
			continue
		}
		if len(c.inserted) > 1 {
			put(&c.new, id, true)
		}
		if on.id < 0 {
			continue
		}
		tails[anchor] = id
		for k := range c.hanging(on.id) {
			if k > at || anchor == at {
				parents[k] = id
			}
		}
		c.keepToo(id, caller, on)
	}
	for node, id := range tails {
		c.lengthen(&c.nodes[node], id)
	}
	c.makeRoom()
	for i, to := range parents {
		c.set(c.nodes[i].parentAt(), to)
	}
}

// A spot is the record that a new one follows, and its parent.
type spot struct{ at, anchor int32 }

// spot returns where a new record goes.
func (c *chain) spot(ins *insertion) spot {
	at, caller := c.at(ins.behind), &c.nodes[c.at(ins.call)]
	// It comes after the records that belong to the call.
	for int(at)+1 < len(c.nodes) && c.nodes[at+1].follow && c.nodes[at+1].scope == caller.scope && c.nodes[at+1].hangsOn(&c.nodes[at]) {
		at++
	}
	// A log with numbered records is only ever appended to, unless a recorded result belongs in
	// the middle. Only bookkeeping follows a call of its last turn.
	if f := c.Format; f.Ordinal != "" && c.d.at(caller.span()).Get(f.Ordinal).Exists() && c.d.Pairing.Calls[ins.of].State == pairing.Pending {
		// Behind one that is cut off, that one would be in the middle of the log.
		for at = int32(len(c.nodes) - 1); c.nodes[at].torn; at-- {
		}
	}
	return spot{at, c.anchor(at, c.d.turn(ins.of))}
}

// makeRoom renumbers the numbered records behind the new ones.
func (c *chain) makeRoom() {
	if len(c.places) == 0 {
		return
	}
	before := int64(0)
	for i := c.places[0] + 1; int(i) < len(c.nodes); i++ {
		for int(before) < len(c.places) && c.places[before] < i {
			before++
		}
		v := c.d.at(c.nodes[i].span()).Get(c.Format.Ordinal)
		if c.nodes[i].torn || !v.Exists() {
			continue
		}
		n, err := strconv.ParseInt(string(v.Raw()), 10, 64)
		if err != nil {
			c.d.failed = true
			return
		}
		c.set(v.Span(), strconv.FormatInt(n+before, 10))
	}
}

// anchor returns the parent of a new record after the record at. That is at itself, if a
// later record has it as its parent. Otherwise it is the last record of the turn and its
// results that a later record descends from. So the new record is on the path from the end of
// the log to its root.
func (c *chain) anchor(at, turn int32) int32 {
	goesOn := func(i int32) bool {
		for k := range c.hanging(c.nodes[i].id) {
			if k > at {
				return true
			}
		}
		return false
	}
	on := at
	if goesOn(at) {
		return on
	}
	for _, m := range c.d.messagesOf(turn) {
		i := c.at(c.d.standing(m))
		if i < at && (on == at || i > on) && c.nodes[i].scope == c.nodes[at].scope && goesOn(i) {
			on = i
		}
	}
	return on
}

// messagesOf returns the messages of a turn, and the messages with its results.
func (p *Plan) messagesOf(turn int32) []int32 {
	if p.byTurn == nil {
		p.byTurn = make([][]int32, p.Conv.Turns)
		add := func(turn, m int32) {
			if of := p.byTurn[turn]; len(of) == 0 || of[len(of)-1] != m {
				p.byTurn[turn] = append(of, m)
			}
		}
		for m := range p.Conv.Messages {
			add(p.Conv.Messages[m].Turn, int32(m))
		}
		for r, x := range p.Pairing.Results {
			if x.Call >= 0 {
				add(p.turn(x.Call), p.Conv.Results[r].Message)
			}
		}
	}
	return p.byTurn[turn]
}

// lost returns the id of a missing record that only the next record after at names as its
// parent. The new record takes its place. It returns "" if there is no such id.
func (c *chain) lost(at int32) string {
	for i := at + 1; int(i) < len(c.nodes); i++ {
		n := &c.nodes[i]
		if n.scope != c.nodes[at].scope || n.id < 0 {
			continue
		}
		if n.parent < 0 || c.byID[n.parent] >= 0 || c.children[n.parent] != i || n.sibling >= 0 {
			return ""
		}
		c.from(n, n.parentAt())
		return c.text(n.parentAt())
	}
	return ""
}

// fresh returns an id for a new record that no other record has.
func (c *chain) fresh(record, call string) string {
	if record == "" {
		return ""
	}
	for salt := 0; ; salt++ {
		id := derivedID(record, call, salt, c.Format.ShortIDs)
		if n, taken := c.ids.Find(c.hash([]byte(id))); !c.new[id] && (!taken || c.byID[n] < 0) {
			return id
		}
	}
}

// record returns a new record with a result, to follow the record at. From the record of the
// call it copies only the fields that the dialect's row names, in the same order.
func (c *chain) record(at, called int32, ins *insertion, id, parent string) ([]byte, error) {
	caller, f := &c.nodes[called], c.Format
	fields := c.d.fields[:0]
	add := func(key, raw string) { fields = append(fields, dialect.Field{Key: key, Raw: raw}) }
	if f.ResultType != "" {
		add(f.Type.Key(), source.Quote(f.ResultType))
	}
	if f.Payload != "" {
		path, raw := string(f.Payload.Nth(0)), string(ins.message)
		for dot := strings.LastIndexByte(path, '.'); dot >= 0; dot = strings.LastIndexByte(path, '.') {
			path, raw = path[:dot], "{"+source.Quote(path[dot+1:])+":"+raw+"}"
		}
		add(path, raw)
	} else {
		for k, v := range source.NewValue(ins.message, 0).Members() {
			add(k.Str(), string(v.Raw()))
		}
	}
	e := c.envelopeOf(called)
	for n, p := range f.Copied {
		into, key, _ := strings.Cut(string(p), ".")
		i := slices.IndexFunc(fields, func(field dialect.Field) bool { return field.Key == into })
		if raw := e.copied[n]; raw != "" && i >= 0 {
			whole, err := c.d.objects.setField([]byte(fields[i].Raw), dialect.Field{Key: key, Raw: raw})
			if err != nil {
				return nil, err
			}
			fields[i].Raw = string(whole)
		}
	}
	if last := c.stampOf(at).ordinal; last != "" {
		n, err := strconv.ParseInt(last, 10, 64)
		if err != nil {
			return nil, err
		}
		// The new records before it take numbers too.
		c.places = append(c.places, at)
		add(f.Ordinal, strconv.FormatInt(n+int64(len(c.places)), 10))
	}
	if id != "" {
		add(f.ID, id)
		if f.Parent != "" {
			add(f.Parent, cmp.Or(parent, "null"))
		}
	}
	if c.copy && ins.content != "" {
		add(f.ResultCopy, ins.content)
	}
	if id := c.text(caller.idAt()); c.source && id != "" {
		add(f.ResultSource, id)
	}
	out := c.d.outer[:0]
	when := source.Value{} // the time of the call
	if at != called || c.latest(at) {
		when = c.after(at)
	}
	for _, m := range e.members {
		if i := slices.IndexFunc(fields, func(field dialect.Field) bool { return m.Key == field.Key }); i >= 0 {
			out = append(out, fields[i])
			continue
		}
		if m.time && when.Exists() {
			m.Raw, m.common = c.d.objects.text(len(e.members), when.Raw()), scalar(when)
		}
		if !m.common {
			continue
		}
		if m.time && at == called {
			when = source.NewValue([]byte(m.Raw), 0) // if it has two
		}
		out = append(out, m.Field)
	}
	out = append(out, fields...)
	c.d.fields, c.d.outer = fields, out
	text, err := c.d.objects.build(out)
	if err != nil {
		return nil, err
	}
	return render(text, e.style, 0), err
}

// An envelope is what new records for the calls of a record take from it. It is kept for the next call,
// because one record can have very many.
type envelope struct {
	log     *Log
	of      int32 // the record
	members []member
	copied  []string // as JSON, in the order of Copied of the format; "" for none
	style   style
}

// A member is a member of a record. A common one is copied to a new record; others have no value here.
type member struct {
	dialect.Field
	common bool
	time   bool // that of the record
}

// scalar reports whether a value is no object and no array.
func scalar(v source.Value) bool { return v.Kind() != source.Object && v.Kind() != source.Array }

// envelopeOf returns the envelope of a record.
func (c *chain) envelopeOf(of int32) *envelope {
	e, f := &c.d.envelope, c.Format
	if e.log == c.Log && e.of == of {
		return e
	}
	call := c.d.at(c.nodes[of].span())
	*e = envelope{log: c.Log, of: of, members: e.members[:0], copied: e.copied[:0], style: styleOf(call)}
	for _, p := range f.Copied {
		e.copied = append(e.copied, string(p.In(call).Raw()))
	}
	typ := ""
	if f.Type.Parent() == "" {
		typ = f.Type.Key()
	}
	for k, v := range call.Members() {
		m := member{common: typ != "" && k.Is(typ)}
		if m.common {
			m.Key = typ
		} else if i := slices.IndexFunc(f.Envelope, k.Is); i >= 0 {
			// An envelope has times, ids and flags. Other values are recorded content.
			m.Key, m.time, m.common = f.Envelope[i], f.Envelope[i] == f.Time, scalar(v)
		} else {
			m.Key = k.Str()
		}
		if m.common {
			m.Raw = c.d.objects.text(len(e.members), v.Raw())
		}
		e.members = append(e.members, m)
	}
	return e
}

// A stamp is the time and the number of a record, which are kept for the next new record behind it.
type stamp struct {
	log     *Log
	of      int32
	time    source.Value
	ordinal string // "" for none
}

// stampOf returns the stamp of a record.
func (c *chain) stampOf(of int32) *stamp {
	st := &c.d.stamp
	if st.log == c.Log && st.of == of {
		return st
	}
	record := c.d.at(c.nodes[of].span())
	*st = stamp{log: c.Log, of: of}
	if was := record.Get(c.Format.Time); was.Exists() {
		st.time = source.NewValue(bytes.Clone(was.Raw()), 0)
	}
	if c.Format.Ordinal != "" {
		st.ordinal = string(record.Get(c.Format.Ordinal).Raw())
	}
	return st
}

// after returns the time of the next new record after the record at: that of the record at, or
// a few milliseconds more if nothing that has an id follows. Some agents resume a session at
// its latest record, and of two with the same time at the first.
func (c *chain) after(at int32) source.Value {
	was := c.stampOf(at).time
	if was.Kind() != source.String || !c.latest(at) {
		return was
	}
	const layout = "2006-01-02T15:04:05.000Z07:00"
	then, err := time.Parse(layout, was.Str())
	if err != nil || then.Format(layout) != was.Str() {
		return was
	}
	put(&c.behind, at, c.behind[at]+1)
	then = then.Add(time.Duration(c.behind[at]) * time.Millisecond)
	return source.NewValue([]byte(source.Quote(then.Format(layout))), 0)
}

// latest reports whether nothing that has an id follows the record at.
func (c *chain) latest(at int32) bool {
	for i := int(at) + 1; i < len(c.nodes); i++ {
		if n := &c.nodes[i]; n.id >= 0 || c.Format.ID == "" && !n.torn {
			return false
		}
	}
	return true
}

// forget removes the copy of a result that its record keeps beside the message, because the
// result became text.
func (c *chain) forget(at int64) {
	f := c.Format
	record := c.d.at(c.nodes[c.at(at)].span())
	for _, e := range cutMembers(record, func(key, _ source.Value) bool {
		return f.ResultCopy != "" && key.Is(f.ResultCopy) || f.ResultSource != "" && key.Is(f.ResultSource)
	}) {
		c.sets = append(c.sets, set{Edit: e})
	}
	c.d.taken = append(c.d.taken, record.Span())
}

// from notes that an edit depends on a link of a record. If the record has that link twice,
// other programs may read the other one, so the fix fails.
func (c *chain) from(n *node, at source.Span) {
	c.d.reads = append(c.d.reads, at)
	c.d.failed = c.d.failed || n.doubled
}

// toTheOneBefore makes the previous record of the same scope the parent of a record whose
// parent does not exist. It skips records that descend from that record, because they would
// close a circle, and it skips duplicate ids if there are others.
func (c *chain) toTheOneBefore(parent source.Span) {
	i := c.at(parent.Start)
	tried := map[int32]bool{}
	for _, twins := range []bool{false, true} {
		for k := i - 1; k >= 0; k-- {
			n := &c.nodes[k]
			if n.scope != c.nodes[i].scope || n.id < 0 || len(c.twins[n.id]) > 0 != twins || tried[n.id] {
				continue
			}
			if tried[n.id] = true; c.hangs(i, n.id) {
				c.set(parent, c.text(n.idAt()))
				c.from(n, n.idAt())
				return
			}
		}
	}
}

// toThat makes a record the parent of another, unless that would close a circle or another
// record has the same id.
func (c *chain) toThat(r relinking) {
	i, k := c.at(r.parent.Start), c.at(r.to.Start)
	n := &c.nodes[k]
	if n.id < 0 || len(c.twins[n.id]) > 0 || c.descends(k, i) {
		c.d.failed = true
		return
	}
	c.set(r.parent, c.text(r.to))
	c.from(n, n.idAt())
}

// descends reports whether node i is node k or descends from it.
func (c *chain) descends(i, k int32) bool {
	for range c.nodes {
		if i == k {
			return true
		}
		up := c.nodes[i].parent
		if up < 0 || c.byID[up] < 0 {
			return false
		}
		i = c.byID[up]
	}
	return true // a circle
}

// hangs reports whether a node can become a child of an id without closing a circle, for
// every record with that id.
func (c *chain) hangs(i, id int32) bool {
	var reads []source.Span
	for _, k := range append([]int32{c.byID[id]}, c.twins[id]...) {
		root := c.rootOf(k)
		if root == i || root < 0 {
			return false
		}
		if root > i {
			// That root may get a parent too, which must not descend from this record.
			reads = append(reads, c.nodes[root].parentAt())
		}
	}
	c.d.reads = append(c.d.reads, reads...)
	return true
}

// count renumbers the record with the ordinal at a span, and the records after it, so that
// they continue from the record before.
func (c *chain) count(at source.Span) {
	last, counting := int64(-1), false
	for rec, err := range c.records() {
		if err != nil {
			c.d.src.err = cmp.Or(c.d.src.err, err)
			return
		}
		v := rec.Value.Get(c.Format.Ordinal)
		n, err := strconv.ParseInt(string(v.Raw()), 10, 64)
		switch counting = counting || v.Span() == at; {
		case counting:
			if last++; v.Exists() && (err != nil || n != last) {
				c.set(v.Span(), strconv.FormatInt(last, 10))
			}
		case err == nil:
			last = n
		}
	}
}

// derivedID returns a JSON string with an id that depends only on the record and the call. It
// is a version 4 UUID, or eight hex digits if short is set and the record's id is not a UUID.
func derivedID(record, call string, salt int, short bool) string {
	const uuid = len(`"01234567-89ab-cdef-0123-456789abcdef"`)
	h := digest.Sum256([]byte(record + "\x00" + call + "\x00" + strconv.Itoa(salt)))
	groups := []int{4, 2, 2, 2, 6} // bytes
	if short && len(record) != uuid {
		groups = groups[:1]
	}
	h[6] = h[6]&0x0f | 0x40
	h[8] = h[8]&0x3f | 0x80
	out := append(make([]byte, 0, uuid), '"')
	at := 0
	for i, n := range groups {
		if i > 0 {
			out = append(out, '-')
		}
		out = hex.AppendEncode(out, h[at:at+n])
		at += n
	}
	return string(append(out, '"'))
}
