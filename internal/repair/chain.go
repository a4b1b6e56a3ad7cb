package repair

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash/maphash"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/source"
)

// A chain is what one fix does to the records of a session log. Nothing is moved
// in a log: records are inserted, emptied or removed, and the links between them
// are kept.
type chain struct {
	*Log
	d *draft
	// What is to become of records goes by where something of each stands.
	removed  []int64
	dropped  map[int64]source.Span // nothing is left of them, with where each has its content
	inserted []insertion
	texted   []int64       // their results became text
	renamed  [][2]string   // ids of calls, as written
	relinked []source.Span // parents that no record is
	ordinals []source.Span // of records from which on they are counted anew

	gone     map[int32]bool  // nodes
	new      map[string]bool // ids of new records
	lines    *list
	sets     []set
	appended int64         // records with an ordinal
	within   []source.Span // the records that the edits stand in
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
			Log: d.Log, d: d, dropped: map[int64]source.Span{}, gone: map[int32]bool{}, new: map[string]bool{},
			lines: &list{src: d.src, array: d.Log.Array, lines: d.Log.Array.IsZero()},
		}
	}
	return d.changes
}

// standing returns where a message stands.
func (p *Plan) standing(m int32) int64 { return p.Conv.Messages[m].Span().Start }

// layRecords inserts a record for each call of a turn that is to get a result.
func (l *layout) layRecords() bool {
	news, _ := l.news() // placeholders alone: nothing is moved in a log
	for _, e := range news {
		call := &l.Conv.Calls[e.call]
		ins := insertion{
			call: l.standing(call.Message), message: e.text, id: call.ID.Raw, of: e.call,
			content: string(source.NewValue(e.text, 0).Get(l.keys(call.Message).Content).Raw()),
		}
		if fields := l.driver.WriteMessage("["+string(e.text)+"]", l.value(call.Message)); fields != nil {
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
	// In the order of what they go behind, those of one record as they came.
	sort.SliceStable(c.inserted, func(i, j int) bool { return c.inserted[i].behind < c.inserted[j].behind })
	c.insert()
	for _, r := range c.renamed {
		for _, at := range c.callRefs[r[0]] {
			c.set(at, r[1])
		}
	}
	for _, at := range c.texted {
		c.forget(at)
	}
	// Which record is lost is not known where a record may have another id, nor what hangs
	// on what where it may have another parent.
	c.d.failed = c.d.failed || len(c.relinked) > 0 && c.doubled
	for _, at := range c.relinked {
		c.toTheOneBefore(at)
	}
	for _, at := range c.ordinals {
		c.count(at)
	}
	c.renumber()
	for _, e := range c.lines.compile() {
		c.sets = append(c.sets, set{Edit: e})
	}
	for _, s := range c.sets {
		edits = append(edits, s.Edit)
		if n := c.at(s.Span.Start); int(n) < len(c.nodes) && c.nodes[n].start <= s.Span.Start {
			c.within = append(c.within, c.nodes[n].span())
		}
	}
	return edits
}

// set replaces what is no recorded content.
func (c *chain) set(s source.Span, raw string) {
	c.sets = append(c.sets, set{Edit: edit.Edit{Span: s, Text: []byte(raw)}, plain: true})
}

// text returns what stands at a span, "" for an empty one.
func (c *chain) text(s source.Span) string { return c.d.src.text(s.Start, s.End) }

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
			c.sets = append(c.sets, set{Edit: edit.Edit{Span: content, Text: []byte("[]")}})
		}
	}
}

// leaves reports whether records have an id and none of them stays.
func (c *chain) leaves(id int32) bool {
	stays := func(i int32) bool { return !c.gone[i] }
	return id >= 0 && c.byID[id] >= 0 && !stays(c.byID[id]) && !slices.ContainsFunc(c.twins[id], stays)
}

// heir returns what becomes the parent of what hangs on a record that is removed: the
// parent of the last of the removed ones on the way from it to what stays.
func (c *chain) heir(i int32) string {
	for range c.gone { // no longer, for they may name each other in a circle
		n := &c.nodes[i]
		if !c.leaves(n.parent) {
			return cmp.Or(c.text(n.parentAt()), "null")
		}
		i = c.byID[n.parent]
	}
	return "null"
}

// takeOut removes a record: what hung on it hangs on what it hung on.
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
		if !c.gone[c.at(at.Start)] {
			c.set(at, to)
		}
	}
}

// renumber keeps the numbers true by which compactions name the first record
// that they keep.
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

// insert makes the records with results, and hangs what follows on to them.
func (c *chain) insert() {
	parents := map[int32]string{} // by node: what its parent becomes
	tails := map[int32]string{}   // by node: the id of the last new record behind it
	lists := map[source.Span]*list{}
	for i := range c.inserted {
		ins := &c.inserted[i]
		at, caller := c.at(ins.behind), &c.nodes[c.at(ins.call)]
		// It comes behind what belongs to the call.
		for int(at)+1 < len(c.nodes) && c.nodes[at+1].follow && c.nodes[at+1].scope == caller.scope && c.nodes[at+1].hangsOn(&c.nodes[at]) {
			at++
		}
		anchor := c.anchor(at, c.d.turn(ins.of))
		on := &c.nodes[anchor]
		c.from(on, on.idAt())
		id := c.lost(at)
		if id == "" || c.new[id] {
			id = c.fresh(c.text(caller.idAt()), ins.id)
		}
		text, err := c.record(at, caller, ins, id, cmp.Or(tails[anchor], c.text(on.idAt())))
		if err != nil {
			c.d.failed = true
			return
		}
		c.lines.after(c.nodes[at].span(), text)
		if id == "" {
			continue
		}
		c.new[id] = true
		if on.id < 0 {
			continue
		}
		tails[anchor] = id
		for k := range c.hanging(on.id) {
			if k > at || anchor == at {
				parents[k] = id
			}
		}
		for _, k := range c.kept[caller.id] {
			if lists[k.in] == nil {
				lists[k.in] = &list{src: c.d.src, array: k.in}
			}
			lists[k.in].after(k.at, []byte(id))
		}
	}
	for i, to := range parents {
		c.set(c.nodes[i].parentAt(), to)
	}
	for _, l := range lists {
		for _, e := range l.compile() {
			c.set(e.Span, string(e.Text))
		}
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
		if n.parent < 0 || c.byID[n.parent] >= 0 || c.children[n.parent] != i || n.sibling >= 0 {
			return ""
		}
		c.from(n, n.parentAt())
		return c.text(n.parentAt())
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

// record returns a new record with a result, which goes behind another: of the call's
// record it takes over what the dialect's row says, in the same order, and nothing else.
func (c *chain) record(at int32, caller *node, ins *insertion, id, parent string) ([]byte, error) {
	f, behind, call := c.Format, c.d.at(c.nodes[at].span()), c.d.at(caller.span())
	if f.Ordinal != "" && int(at) < len(c.nodes)-1 && call.Get(f.Ordinal).Exists() {
		return nil, errors.New("a log with ordinals is only ever appended to")
	}
	var fields []dialect.Field
	add := func(key, raw string) { fields = append(fields, dialect.Field{Key: key, Raw: raw}) }
	if f.ResultType != "" {
		add(f.Type.Key(), source.Quote(f.ResultType))
	}
	if f.Payload != "" {
		add(f.Payload.Key(), string(ins.message))
	} else {
		for k, v := range source.NewValue(ins.message, 0).Members() {
			add(k.Str(), string(v.Raw()))
		}
	}
	for _, p := range f.Copied {
		into, key, _ := strings.Cut(string(p), ".")
		i := slices.IndexFunc(fields, func(field dialect.Field) bool { return field.Key == into })
		if v := p.In(call); v.Exists() && i >= 0 {
			whole, err := c.d.objects.setField([]byte(fields[i].Raw), dialect.Field{Key: key, Raw: string(v.Raw())})
			if err != nil {
				return nil, err
			}
			fields[i].Raw = string(whole)
		}
	}
	var last source.Value
	if f.Ordinal != "" {
		last = c.d.at(c.nodes[len(c.nodes)-1].span()).Get(f.Ordinal)
	}
	if last.Exists() {
		n, err := strconv.ParseInt(string(last.Raw()), 10, 64)
		if err != nil {
			return nil, err
		}
		c.appended++
		add(f.Ordinal, strconv.FormatInt(n+c.appended, 10))
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
	if called := c.text(caller.idAt()); c.source && called != "" {
		add(f.ResultSource, called)
	}
	out := make([]dialect.Field, 0, len(fields)+len(f.Envelope))
	time := behind.Get(f.Time)
	for k, v := range call.Members() {
		enveloped := slices.ContainsFunc(f.Envelope, k.Is)
		if enveloped && k.Is(f.Time) && time.Exists() {
			v = time // it is not older than what it stands behind
		}
		// An envelope has times, ids and flags. What is no scalar was recorded there.
		enveloped = enveloped && v.Kind() != source.Object && v.Kind() != source.Array
		if i := slices.IndexFunc(fields, func(field dialect.Field) bool { return k.Is(field.Key) }); i >= 0 {
			out = append(out, fields[i])
		} else if enveloped || k.Is(f.Type.Key()) && f.Type.Parent() == "" {
			out = append(out, dialect.Field{Key: k.Str(), Raw: string(v.Raw())})
		}
	}
	text, err := c.d.objects.build(append(out, fields...))
	if err != nil {
		return nil, err
	}
	return render(text, styleOf(call), 0), err
}

// forget cuts what a record says of a result beside its message: there is no result
// any more.
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

// from notes what an edit is made from: a link of a record. If that could be read as
// another one, nothing is made from it.
func (c *chain) from(n *node, at source.Span) {
	c.d.reads = append(c.d.reads, at)
	c.d.failed = c.d.failed || n.doubled
}

// toTheOneBefore names the record before, of the same scope, as the parent of a
// record whose parent does not exist. What hangs on that record itself would close
// a circle, and is passed over. So are ids that stand twice, if there are others.
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

// hangs reports whether a node can hang on an id without closing a circle, whichever
// of the records with that id is meant.
func (c *chain) hangs(i, id int32) bool {
	var reads []source.Span
	for _, k := range append([]int32{c.byID[id]}, c.twins[id]...) {
		root := c.rootOf(k)
		if root == i || root < 0 {
			return false
		}
		if root > i {
			// It may get a parent too, which must not hang on this record.
			reads = append(reads, c.nodes[root].parentAt())
		}
	}
	c.d.reads = append(c.d.reads, reads...)
	return true
}

// count gives the record whose ordinal stands at a span, and those behind it, the
// ordinals that follow on from the record before.
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

// derivedID returns a JSON string with an id that depends on nothing but the
// record and the call: in the form of a version 4 UUID, or of eight hex digits
// unless the record's id is a UUID too.
func derivedID(record, call string, salt int, short bool) string {
	const uuid = len(`"01234567-89ab-cdef-0123-456789abcdef"`)
	h := sha256.Sum256([]byte(record + "\x00" + call + "\x00" + strconv.Itoa(salt)))
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
