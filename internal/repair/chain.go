package repair

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A chain is what one fix does to the records of a session log. Nothing is moved
// in a log: records are inserted, emptied or removed, and the links between them
// are kept.
type chain struct {
	*Log
	d *draft
	// What is to become of records goes by where something of each stands.
	removed  []int64
	dropped  map[int64]transcript.Span // nothing is left of them, with where each has its content
	inserted []insertion
	texted   []int64           // their results became text
	renamed  [][2]string       // ids of calls, as written
	relinked []transcript.Span // parents that no record is
	ordinals []transcript.Span // of records from which on they are counted anew

	gone     map[int32]bool // nodes
	new      map[string]bool
	lines    *list
	lists    map[transcript.Span]*list // of the ids that compactions keep
	edits    []edit.Edit
	appended int64             // records with an ordinal
	plain    []transcript.Span // edits of what is no recorded content
	within   []transcript.Span
}

// An insertion is a record to be made for a call.
type insertion struct {
	behind  int64  // where the record stands that it goes behind
	call    int64  // where the one stands that holds the call
	message []byte // with the result
	content string // of the result
	id      string // of the call, as written
	of      int32  // the call
}

// log returns what the draft does to its log.
func (d *draft) log() *chain {
	if d.changes == nil {
		d.changes = &chain{
			Log: d.Log, d: d, dropped: map[int64]transcript.Span{}, gone: map[int32]bool{}, new: map[string]bool{},
			lists: map[transcript.Span]*list{},
		}
	}
	return d.changes
}

func (c *chain) remove(at int64)                 { c.removed = append(c.removed, at) }
func (c *chain) relink(at transcript.Span)       { c.relinked = append(c.relinked, at) }
func (c *chain) renumberFrom(at transcript.Span) { c.ordinals = append(c.ordinals, at) }

// standing returns where a message stands.
func (p *Plan) standing(m int32) int64 { return p.Conv.Messages[m].Span().Start }

// layRecords inserts a record for each call of a turn that is to get a result.
func (l *layout) layRecords() bool {
	for _, e := range l.news() {
		call := &l.Conv.Calls[e.call]
		ins := insertion{
			call: l.standing(call.Message), message: e.text, id: call.ID.Raw, of: e.call,
			content: string(transcript.NewValue(e.text, 0).Get(l.keys(call.Message).Content).Raw()),
		}
		if fields := l.driver.WriteMessage("["+string(e.text)+"]", l.value(call.Message)); fields != nil {
			if ins.message = l.build(fields); ins.message == nil {
				return false
			}
		}
		last := l.ends[l.turn]
		if l.usedAgain(e.call, l.standing(last)) {
			last = call.Message
		}
		ins.behind = l.standing(last)
		if last := l.lastAnswered(e.call); !l.usedAgain(e.call, last) {
			ins.behind = max(ins.behind, last)
		}
		c := l.log()
		c.inserted = append(c.inserted, ins)
	}
	return l.changes != nil
}

// lastAnswered returns where the last result of the calls before one in its turn
// stands, 0 for none. One that stands too late, and stays there, does not count.
func (p *Plan) lastAnswered(c int32) int64 {
	last := int64(0)
	for k := c - 1; k >= 0 && p.turn(k) == p.turn(c); k-- {
		if r := p.Pairing.Calls[k].Result; r >= 0 && p.Pairing.Calls[k].Place != pairing.Later {
			last = max(last, p.standing(p.Conv.Results[r].Message))
		}
	}
	return last
}

// usedAgain reports whether another turn uses the id of a call up to an offset.
func (p *Plan) usedAgain(c int32, off int64) bool {
	for other := c + 1; int(other) < len(p.Conv.Calls); other++ {
		if p.standing(p.Conv.Calls[other].Message) > off {
			return false
		}
		if p.turn(other) != p.turn(c) && pairing.Key(p.Conv.Calls[other].ID) == pairing.Key(p.Conv.Calls[c].ID) {
			return true
		}
	}
	return false
}

// untold reports whether it is not found out what becomes of other records. Whether
// a record can get a parent depends on nothing else.
func (c *chain) untold() bool { return c.Trial && len(c.relinked) == 0 }

// compile returns the edits for all that was asked for.
func (c *chain) compile() []edit.Edit {
	if c.untold() {
		return nil
	}
	if err := c.index(); err != nil {
		c.d.src.err = cmp.Or(c.d.src.err, err)
		return nil
	}
	c.lines = &list{src: c.d.src, array: c.Array, lines: c.Array.IsZero()}
	c.settle()
	for i := range c.gone {
		c.takeOut(i)
	}
	// In the order of what they go behind, those of one record as they came.
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
	for _, at := range c.relinked {
		c.toTheOneBefore(at)
	}
	for _, at := range c.ordinals {
		c.count(at)
	}
	c.renumber()
	for _, l := range c.lists {
		edits := l.compile()
		for _, e := range edits {
			c.plain = append(c.plain, e.Span)
		}
		c.edits = append(c.edits, edits...)
	}
	c.edits = append(c.edits, c.lines.compile()...)
	for _, e := range c.edits {
		if n := c.at(e.Span.Start); int(n) < len(c.nodes) && c.nodes[n].start <= e.Span.Start {
			c.within = append(c.within, c.nodes[n].span())
		}
	}
	return c.edits
}

// set replaces what is no recorded content.
func (c *chain) set(s transcript.Span, raw string) {
	c.edits = append(c.edits, edit.Edit{Span: s, Text: []byte(raw)})
	c.plain = append(c.plain, s)
	c.within = append(c.within, c.nodes[c.at(s.Start)].span())
}

// text returns what stands in a slot of a node's record.
func (c *chain) text(n *node, p slot) string {
	s := n.in(p)
	return c.d.src.text(s.Start, s.End)
}

// settle decides what becomes of the records of which nothing is left. Where
// another record has the same id, removing the one would bring the other to
// light: it is emptied.
func (c *chain) settle() {
	for _, at := range c.removed {
		c.gone[c.at(at)] = true
	}
	for at := range c.dropped {
		c.gone[c.at(at)] = true
	}
	for at, content := range c.dropped {
		i := c.at(at)
		if id := c.nodes[i].id; id >= 0 && !content.IsZero() && !c.leaves(id) {
			delete(c.gone, i)
			c.edits = append(c.edits, edit.Edit{Span: content, Text: []byte("[]")})
			c.within = append(c.within, c.nodes[i].span())
		}
	}
}

// leaves reports whether no record with an id stays.
func (c *chain) leaves(id int32) bool {
	if id < 0 || c.byID[id] < 0 {
		return false
	}
	for _, i := range c.twins[id] {
		if !c.gone[i] {
			return false
		}
	}
	return len(c.twins[id]) > 0 || c.gone[c.byID[id]]
}

// eldest returns the last of the removed records on the way from one of them to
// what stays: its parent is the one that the children of all of them get.
func (c *chain) eldest(i int32) int32 {
	for range len(c.gone) {
		parent := c.nodes[i].parent
		if !c.leaves(parent) {
			break
		}
		i = c.byID[parent]
	}
	return i
}

// parentOf returns the parent that a record names.
func (c *chain) parentOf(at int32) string {
	n := &c.nodes[at]
	if n.parentSlot.length == 0 || c.leaves(n.parent) { // they name each other in a circle
		return "null"
	}
	return c.text(n, n.parentSlot)
}

// takeOut removes a record: what hung on it hangs on what it hung on.
func (c *chain) takeOut(i int32) {
	n := &c.nodes[i]
	c.lines.remove(n.span())
	if !c.leaves(n.id) {
		return
	}
	to := c.parentOf(c.eldest(i))
	for k := range c.hanging(n.id) {
		if !c.gone[k] {
			c.set(c.nodes[k].in(c.nodes[k].parentSlot), to)
		}
	}
	for _, r := range c.refs[n.id] {
		if !c.gone[r.node] {
			c.set(c.nodes[r.node].in(r.at), to)
		}
	}
}

// renumber keeps the numbers true by which compactions name the first record
// that they keep.
func (c *chain) renumber() {
	for _, k := range c.counts {
		by := 0
		for i := range c.gone {
			if int(i)+1 <= k.first {
				by--
			}
		}
		for i := range c.inserted {
			if int(c.at(c.inserted[i].behind))+1 <= k.first {
				by++
			}
		}
		if by != 0 {
			c.set(k.at, strconv.Itoa(k.first+by))
		}
	}
}

// insert makes the records with results, and hangs what follows on to them.
func (c *chain) insert() {
	parents := map[int32]string{} // by node: what its parent becomes
	tails := map[int32]string{}   // by node: the id of the last new record behind it
	for i := range c.inserted {
		ins := &c.inserted[i]
		at, call, turn := c.at(ins.behind), c.at(ins.call), c.d.turn(ins.of)
		caller := &c.nodes[call]
		called := c.text(caller, caller.idSlot)
		// It comes behind what belongs to the call.
		for int(at)+1 < len(c.nodes) && c.nodes[at+1].follow && c.nodes[at+1].scope == caller.scope && c.nodes[at+1].hangsOn(&c.nodes[at]) {
			at++
		}
		anchor := c.anchor(at, turn)
		on, parent := c.nodes[anchor].id, c.text(&c.nodes[anchor], c.nodes[anchor].idSlot)
		c.d.reads = append(c.d.reads, c.nodes[anchor].in(c.nodes[anchor].idSlot))
		if tail, more := tails[anchor]; more {
			parent = tail
		}
		id := c.lost(at)
		if id == "" || c.new[id] {
			id = c.fresh(called, ins.id)
		}
		if id != "" {
			c.new[id] = true
		}
		if c.Format.Ordinal != "" && int(at) < len(c.nodes)-1 && c.d.at(caller.span()).Get(c.Format.Ordinal).Exists() {
			c.d.failed = true // such a log is only ever appended to
			return
		}
		c.write(c.nodes[at].span(), caller.span(), ins, id, called, parent)
		if id == "" || on < 0 {
			continue
		}
		tails[anchor] = id
		for k := range c.hanging(on) {
			if k > at || anchor == at {
				parents[k] = id
			}
		}
		for _, k := range c.kept[caller.id] {
			if c.lists[k.in] == nil {
				c.lists[k.in] = &list{src: c.d.src, array: k.in}
			}
			c.lists[k.in].after(k.at, []byte(id))
		}
	}
	for i, to := range parents {
		c.set(c.nodes[i].in(c.nodes[i].parentSlot), to)
	}
}

// anchor returns the record that a new one hangs on which stands behind another:
// that one or, if nothing behind it hangs on it, the last record of the turn and its
// results on which something does. So it stands on the way from the end of the log
// to its root, between those that it stands between in the file.
func (c *chain) anchor(at, turn int32) int32 {
	goesOn := func(i int32) bool {
		for k := range c.hanging(c.nodes[i].id) {
			if k > at {
				return true
			}
		}
		return false
	}
	if goesOn(at) {
		return at
	}
	on := int32(-1)
	for _, m := range c.d.messagesOf(turn) {
		if i := c.at(c.d.standing(m)); i < at && c.nodes[i].scope == c.nodes[at].scope && goesOn(i) {
			on = max(on, i)
		}
	}
	if on < 0 {
		return at
	}
	return on
}

// messagesOf returns the messages of a turn, and those with results of it.
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

// lost returns the id of a record that is not there any more, where only the next
// record behind the one at hand names it as its parent: that is the place of the
// new one. It returns "" where there is none.
func (c *chain) lost(at int32) string {
	for i := at + 1; int(i) < len(c.nodes); i++ {
		n := &c.nodes[i]
		if n.scope != c.nodes[at].scope || n.id < 0 {
			continue
		}
		if n.parent < 0 || c.byID[n.parent] >= 0 {
			return ""
		}
		for k := range c.hanging(n.parent) {
			if k != i {
				return ""
			}
		}
		c.d.reads = append(c.d.reads, n.in(n.parentSlot))
		return c.text(n, n.parentSlot)
	}
	return ""
}

// fresh returns an id for a new record, which no other has.
func (c *chain) fresh(record, call string) string {
	if record == "" {
		return ""
	}
	for salt := 0; ; salt++ {
		id := derivedID(record, call, salt, c.Format.ShortIDs)
		if n, taken := c.ids.Find(maphash.String(c.seed, id)); !c.new[id] && (!taken || c.byID[n] < 0) {
			return id
		}
	}
}

// write writes a record with a result: of the call's record it takes over what the
// dialect's row says, in the same order, and nothing else.
func (c *chain) write(behind, call transcript.Span, ins *insertion, id, caller, parent string) {
	f := c.Format
	record := c.d.at(call)
	var fields []dialect.Field
	if f.ResultType != "" {
		fields = append(fields, dialect.Field{Key: f.Type.Key(), Raw: transcript.Quote(f.ResultType)})
	}
	if f.Payload == "" {
		for k, v := range transcript.NewValue(ins.message, 0).Members() {
			fields = append(fields, dialect.Field{Key: k.Str(), Raw: string(v.Raw())})
		}
	} else {
		fields = append(fields, dialect.Field{Key: f.Payload.Key(), Raw: string(ins.message)})
	}
	for _, p := range f.Copied {
		into, key, _ := strings.Cut(string(p), ".")
		i := slices.IndexFunc(fields, func(field dialect.Field) bool { return field.Key == into })
		if v := p.In(record); v.Exists() && i >= 0 {
			whole, err := setFields([]byte(fields[i].Raw), dialect.Field{Key: key, Raw: string(v.Raw())})
			if err != nil {
				c.d.failed = true
				return
			}
			fields[i].Raw = string(whole)
		}
	}
	if last := c.d.at(c.nodes[len(c.nodes)-1].span()).Get(f.Ordinal); f.Ordinal != "" && last.Exists() {
		n, err := strconv.ParseInt(string(last.Raw()), 10, 64)
		if err != nil {
			c.d.failed = true
			return
		}
		c.appended++
		fields = append(fields, dialect.Field{Key: f.Ordinal, Raw: strconv.FormatInt(n+c.appended, 10)})
	}
	if id != "" {
		fields = append(fields, dialect.Field{Key: f.ID, Raw: id})
		if f.Parent != "" {
			fields = append(fields, dialect.Field{Key: f.Parent, Raw: cmp.Or(parent, "null")})
		}
	}
	if c.copy && ins.content != "" {
		fields = append(fields, dialect.Field{Key: f.ResultCopy, Raw: ins.content})
	}
	if c.source && caller != "" {
		fields = append(fields, dialect.Field{Key: f.ResultSource, Raw: caller})
	}
	var out []dialect.Field
	for k, v := range record.Members() {
		i := slices.IndexFunc(fields, func(field dialect.Field) bool { return k.Is(field.Key) })
		switch {
		case i >= 0:
			out = append(out, fields[i])
		case k.Is(f.Time) && slices.ContainsFunc(f.Envelope, k.Is) && c.d.at(behind).Get(f.Time).Exists():
			// It is not older than what it stands behind.
			out = append(out, dialect.Field{Key: f.Time, Raw: string(c.d.at(behind).Get(f.Time).Raw())})
		case slices.ContainsFunc(f.Envelope, k.Is), k.Is(f.Type.Key()) && f.Type.Parent() == "":
			out = append(out, dialect.Field{Key: k.Str(), Raw: string(v.Raw())})
		}
	}
	text := c.d.build(append(out, fields...))
	if text == nil {
		return
	}
	compacted, err := compact(text)
	if err != nil {
		c.d.failed = true
		return
	}
	c.lines.after(behind, render(compacted, styleOf(record), 0))
}

// forget cuts what a record says of a result beside its message: there is no result
// any more.
func (c *chain) forget(at int64) {
	f := c.Format
	record := c.d.at(c.nodes[c.at(at)].span())
	cut := func(key, _ transcript.Value) bool {
		return f.ResultCopy != "" && key.Is(f.ResultCopy) || f.ResultSource != "" && key.Is(f.ResultSource)
	}
	c.edits = append(c.edits, cutMembers(record, cut)...)
	c.d.taken = append(c.d.taken, record.Span())
}

// toTheOneBefore names the record before, of the same scope, as the parent of a
// record whose parent does not exist. What hangs on that record itself would close
// a circle, and an id that stands twice may: both are passed over.
func (c *chain) toTheOneBefore(parent transcript.Span) {
	i := c.at(parent.Start)
	for k := i - 1; k >= 0; k-- {
		n := &c.nodes[k]
		if n.scope != c.nodes[i].scope || n.id < 0 || len(c.twins[n.id]) > 0 {
			continue
		}
		root := c.rootOf(k)
		if root == i || root < 0 {
			continue
		}
		c.set(parent, c.text(n, n.idSlot))
		c.d.reads = append(c.d.reads, n.in(n.idSlot))
		if root > i {
			// It may get a parent too, which must not hang on this record.
			r := &c.nodes[root]
			c.d.reads = append(c.d.reads, r.in(r.parentSlot))
		}
		return
	}
}

// count gives the record whose ordinal stands at a span, and those behind it, the
// ordinals that follow on from the record before.
func (c *chain) count(at transcript.Span) {
	last, counting := int64(-1), false
	for rec, err := range c.records() {
		if err != nil {
			c.d.src.err = cmp.Or(c.d.src.err, err)
			return
		}
		v := rec.Value.Get(c.Format.Ordinal)
		n, err := strconv.ParseInt(string(v.Raw()), 10, 64)
		if counting = counting || v.Span() == at; !counting {
			if err == nil {
				last = n
			}
			continue
		}
		if last++; v.Exists() && (err != nil || n != last) {
			c.set(v.Span(), strconv.FormatInt(last, 10))
		}
	}
}

// derivedID returns a JSON string with an id that depends on nothing but the
// record and the call: in the form of a version 4 UUID, or of eight hex digits
// unless the record's id is a UUID too.
func derivedID(record, call string, salt int, short bool) string {
	h := sha256.Sum256([]byte(fmt.Sprintf("%s\x00%s\x00%d", record, call, salt)))
	const uuid = len(`"01234567-89ab-cdef-0123-456789abcdef"`)
	if short && len(record) != uuid {
		return fmt.Sprintf(`"%x"`, h[:4])
	}
	h[6] = h[6]&0x0f | 0x40
	h[8] = h[8]&0x3f | 0x80
	return fmt.Sprintf(`"%x-%x-%x-%x-%x"`, h[0:4], h[4:6], h[6:8], h[8:10], h[10:16])
}

// compact removes the white space between the tokens of a value.
func compact(b []byte) ([]byte, error) {
	var out strings.Builder
	inString := false
	for i := 0; i < len(b); i++ {
		c := b[i]
		switch {
		case inString && c == '\\' && i+1 < len(b):
			out.WriteByte(c)
			i++
			c = b[i]
		case c == '"':
			inString = !inString
		case !inString && blank(c):
			continue
		}
		out.WriteByte(c)
	}
	return []byte(out.String()), whole([]byte(out.String()))
}
