package repair

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"hash/maphash"
	"iter"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/toolguard/toolguard/internal/edit"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A node is what a record says of its place in the chain. A log has one for each
// record, so that it holds no text: ids are numbered, and read again where they
// are to be written.
type node struct {
	start  int64
	length uint32
	record int32 // its number, from 1
	// id and parent are numbers of ids, -1 for none.
	id, parent         int32
	idSlot, parentSlot slot
	scope              int32
	sibling            int32 // the next node with the same parent, -1 for none
	conversation, turn int32 // of what is said of it
	known              bool  // something is said of it
	results            bool  // it carries some
	follow             bool  // it may stand between a call and its result
	gone               bool
}

// A slot is where a value stands in a record, of no length for none.
type slot struct{ at, length uint32 }

func slotOf(v transcript.Value, record transcript.Span) slot {
	return slot{uint32(v.Span().Start - record.Start), uint32(v.Span().Len())}
}

func (n *node) span() transcript.Span {
	return transcript.Span{Start: n.start, End: n.start + int64(n.length)}
}

// in returns where in the source a slot of the record is.
func (n *node) in(p slot) transcript.Span {
	return transcript.Span{Start: n.start + int64(p.at), End: n.start + int64(p.at) + int64(p.length)}
}

// A ref is where a record names another one than its parent.
type ref struct {
	node, id int32
	at       slot
}

// A count is where a compaction names the first record that it keeps by its
// number.
type count struct {
	first int
	at    transcript.Span
}

// A keep is where a compaction names a record that it keeps.
type keep struct {
	in *list
	at transcript.Span
}

// A weaver puts new records into the chain, and takes others out.
type weaver struct {
	*Log
	seed     maphash.Seed
	ids      transcript.Index
	scopes   map[string]int32
	nodes    []node
	refs     []ref
	counts   []count
	copy     bool             // records of results repeat the result's content
	source   bool             // they name the record of the call
	kept     map[int32][]keep // by id
	lists    []*list          // of the ids that compactions keep
	byID     []int32          // nodes; where two records have one id, one that stays; -1 for none
	children []int32          // by id: the first node with that parent, -1 for none
	parents  map[int32]string // what a node's parent becomes
	tails    map[int32]string // the id of the last new record behind a node
	new      map[string]bool  // ids of new records
	edits    []edit.Edit      // beside those of lists
}

func (w *weaver) set(s transcript.Span, raw string) {
	w.edits = append(w.edits, edit.Edit{Span: s, Text: []byte(raw)})
}

// Compile returns the edits for all that was asked for.
func (l *Log) Compile() ([]edit.Edit, error) {
	if l.changes() == 0 {
		return nil, nil
	}
	src := &window{src: l.Source}
	l.lines = &list{src: src, array: l.Array, lines: l.Array.IsZero()}
	w := &weaver{
		Log: l, seed: maphash.MakeSeed(), scopes: map[string]int32{}, kept: map[int32][]keep{},
		parents: map[int32]string{}, tails: map[int32]string{}, new: map[string]bool{},
	}
	slices.Sort(l.texted)
	if err := w.read(); err != nil {
		return nil, err
	}
	w.settle()
	w.index()
	// In the order of what they go behind, those of one record as they came.
	slices.SortStableFunc(l.insert, func(a, b insertion) int { return cmp.Compare(a.behind, b.behind) })
	for i := range l.insert {
		if err := w.insert(&l.insert[i]); err != nil {
			return nil, err
		}
	}
	for i := range w.nodes {
		n := &w.nodes[i]
		if n.gone {
			l.lines.remove(n.span())
			continue
		}
		if _, done := w.parents[int32(i)]; !done && n.parent >= 0 && w.leaves(n.parent) {
			w.parents[int32(i)] = w.parentOf(w.eldest(n.parent))
		}
	}
	for _, r := range w.refs {
		if n := &w.nodes[r.node]; !n.gone && w.leaves(r.id) {
			w.set(n.in(r.at), w.parentOf(w.eldest(r.id)))
		}
	}
	w.renumber()
	w.relinkAll()
	for i, to := range w.parents {
		n := &w.nodes[i]
		w.set(n.in(n.parentSlot), to)
	}
	for _, k := range w.lists {
		w.edits = append(w.edits, k.compile()...)
	}
	w.nodes, w.ids, w.byID, w.children = nil, transcript.Index{}, nil, nil
	w.edits = append(w.edits, l.lines.compile()...)
	if src.err != nil {
		return nil, src.err
	}
	return disjoint(w.edits), nil
}

// number returns the number of an id, as it is written.
func (w *weaver) number(id []byte) int32 {
	h := maphash.Bytes(w.seed, id)
	if n, known := w.ids.Find(h); known {
		return n
	}
	w.ids.Add(h)
	n, _ := w.ids.Find(h)
	return n
}

// read reads the places of all records in the chain, and renames the copies of
// ids beside messages on the way.
func (w *weaver) read() error {
	var members transcript.Members
	f := w.Format
	first, end := int64(-1), w.Source.Size()
	if !w.Array.IsZero() {
		end = w.Array.End
	}
	for rec, err := range w.records() {
		if err != nil {
			return err
		}
		record := members.Of(rec.Value)
		n := node{start: rec.Span.Start, length: uint32(rec.Span.Len()), record: int32(rec.Index), id: -1, parent: -1, sibling: -1}
		for k, v := range record.Members() {
			switch {
			case f.ID != "" && k.Is(f.ID) && v.Kind() == transcript.String:
				n.id, n.idSlot = w.number(v.Raw()), slotOf(v, rec.Span)
			case f.Parent != "" && k.Is(f.Parent):
				n.parent, n.parentSlot = -1, slotOf(v, rec.Span)
				if v.Kind() == transcript.String {
					n.parent = w.number(v.Raw())
				}
			case f.ResultCopy != "" && k.Is(f.ResultCopy):
				w.copy = true
			case f.ResultSource != "" && k.Is(f.ResultSource):
				w.source = true
				w.ref(v, rec.Span)
			case slices.ContainsFunc(f.Refs, k.Is):
				w.ref(v, rec.Span)
			}
		}
		in := func(p dialect.Path) transcript.Value {
			if p == "" {
				return transcript.Value{}
			}
			return p.In(record)
		}
		if len(w.rename) > 0 {
			for _, p := range f.CallRefs {
				if v := in(p); v.Kind() == transcript.String {
					if to, renamed := w.rename[string(v.Raw())]; renamed {
						w.set(v.Span(), to)
					}
				}
			}
		}
		n.scope = w.scope(in(f.Side).Raw(), in(f.Agent).Raw())
		if len(w.Log.insert) > 0 {
			w.preserved(in(f.Preserved))
			n.follow = len(f.Follows) > 0 && slices.ContainsFunc(f.Follows, in(f.Type).Is)
		}
		if v := in(f.KeptIndex); v.Exists() {
			if at, err := strconv.Atoi(string(v.Raw())); err == nil {
				w.counts = append(w.counts, count{at, v.Span()})
			}
		}
		if at, _ := slices.BinarySearch(w.texted, rec.Span.Start); at < len(w.texted) && w.texted[at] < rec.Span.End {
			// There is no result any more that these could be about.
			for _, e := range cutMembers(rec.Value, f.ResultCopy, f.ResultSource) {
				w.set(e.Span, "")
			}
		}
		if first < 0 {
			first = n.start
		}
		w.nodes = transcript.Room(w.nodes, rec.Span.End-first, end-first)
		w.ids.Reserve(cap(w.nodes))
		w.nodes = append(w.nodes, n)
	}
	for i := range w.says {
		s := &w.says[i]
		n := &w.nodes[w.at(s.at)]
		n.known, n.conversation, n.turn, n.results = true, s.conversation, s.turn, s.results
	}
	return nil
}

// scope returns the number of a thread of the log.
func (w *weaver) scope(side, agent []byte) int32 {
	if n, known := w.scopes[string(side)+string(agent)]; known {
		return n
	}
	n := int32(len(w.scopes))
	w.scopes[string(side)+string(agent)] = n
	return n
}

// records returns the records of the log.
func (l *Log) records() iter.Seq2[transcript.Record, error] {
	if l.Array.IsZero() {
		return transcript.Records(l.Source)
	}
	return func(yield func(transcript.Record, error) bool) {
		text, err := l.Source.Bytes(l.Array)
		if err != nil {
			yield(transcript.Record{}, err)
			return
		}
		n := 0
		for _, e := range transcript.NewValue(text, l.Array.Start).Elements() {
			n++
			if !yield(transcript.Record{Index: n, Span: e.Span(), Value: e}, nil) {
				return
			}
		}
	}
}

// ref notes a member of the next node that may name a record that is removed.
func (w *weaver) ref(v transcript.Value, record transcript.Span) {
	if len(w.removed)+len(w.dropped) > 0 && v.Kind() == transcript.String {
		w.refs = append(w.refs, ref{int32(len(w.nodes)), w.number(v.Raw()), slotOf(v, record)})
	}
}

// preserved notes which records a compaction keeps.
func (w *weaver) preserved(v transcript.Value) {
	if v.Kind() == transcript.Object {
		v = v.Get("uuids")
	}
	if v.Kind() != transcript.Array {
		return
	}
	ids := &list{src: w.lines.src, array: v.Span()}
	w.lists = append(w.lists, ids)
	for _, e := range v.Elements() {
		if e.Kind() == transcript.String {
			id := w.number(e.Raw())
			w.kept[id] = append(w.kept[id], keep{ids, e.Span()})
		}
	}
}

// at returns the node in which an offset lies.
func (w *weaver) at(off int64) int32 {
	return int32(sort.Search(len(w.nodes), func(i int) bool { return w.nodes[i].span().End > off }))
}

// text returns what stands in a slot of a node's record.
func (w *weaver) text(n *node, p slot) string {
	s := n.in(p)
	return w.lines.src.text(s.Start, s.End)
}

// settle decides what becomes of the records of which nothing is left. Where
// another record has the same id, removing the one would bring the other to
// light: it is emptied.
func (w *weaver) settle() {
	for at := range w.removed {
		w.nodes[w.at(at)].gone = true
	}
	if len(w.dropped) == 0 {
		return
	}
	emptied := map[int32]transcript.Span{} // with where each has its content
	for at, content := range w.dropped {
		emptied[w.at(at)] = content
	}
	stay := make([]bool, w.ids.Len())
	for i := range w.nodes {
		n := &w.nodes[i]
		if _, empty := emptied[int32(i)]; !empty && !n.gone && n.id >= 0 {
			stay[n.id] = true
		}
	}
	for i, content := range emptied {
		if id := w.nodes[i].id; id >= 0 && stay[id] && !content.IsZero() {
			w.set(content, "[]")
		} else {
			w.nodes[i].gone = true
		}
	}
}

// index looks up the nodes by their ids.
func (w *weaver) index() {
	w.byID = slices.Repeat([]int32{-1}, w.ids.Len())
	w.children = slices.Repeat([]int32{-1}, w.ids.Len())
	for i := range w.nodes {
		n := &w.nodes[i]
		if n.id < 0 {
			continue
		}
		if at := w.byID[n.id]; at < 0 || !n.gone || w.nodes[at].gone {
			w.byID[n.id] = int32(i)
		}
	}
	for i := len(w.nodes) - 1; i >= 0; i-- {
		n := &w.nodes[i]
		if n.gone || n.parent < 0 {
			continue
		}
		parent := n.parent
		if w.leaves(parent) {
			parent = w.nodes[w.eldest(parent)].parent
		}
		if parent >= 0 {
			n.sibling, w.children[parent] = w.children[parent], int32(i)
		}
	}
}

// hanging yields the records that hang on an id, those whose own parent is
// removed among them.
func (w *weaver) hanging(on int32) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		if on < 0 {
			return // on none
		}
		for i := w.children[on]; i >= 0 && yield(i); i = w.nodes[i].sibling {
		}
	}
}

// leaves reports whether the record with an id is removed.
func (w *weaver) leaves(id int32) bool { return w.byID[id] >= 0 && w.nodes[w.byID[id]].gone }

// eldest returns the last of the removed records on the way from one of them to
// what stays: its parent is the one that the children of all of them get.
func (w *weaver) eldest(id int32) int32 {
	at := w.byID[id]
	for range w.nodes {
		parent := w.nodes[at].parent
		if parent < 0 || !w.leaves(parent) {
			break
		}
		at = w.byID[parent]
	}
	return at
}

// parentOf returns the parent that a record names.
func (w *weaver) parentOf(at int32) string {
	n := &w.nodes[at]
	if n.parentSlot.length == 0 || n.parent >= 0 && w.leaves(n.parent) { // they name each other in a circle
		return "null"
	}
	return w.text(n, n.parentSlot)
}

// renumber keeps the numbers true by which compactions name the first record
// that they keep.
func (w *weaver) renumber() {
	for _, c := range w.counts {
		by := 0
		for i := range w.nodes {
			n := &w.nodes[i]
			if int(n.record) > c.first {
				break
			}
			if n.gone {
				by--
			}
		}
		for i := range w.Log.insert {
			if int(w.nodes[w.at(w.Log.insert[i].behind)].record) <= c.first {
				by++
			}
		}
		if by != 0 {
			w.set(c.at, strconv.Itoa(c.first+by))
		}
	}
}

// insert makes a record with a result, and hangs what follows on to it.
func (w *weaver) insert(ins *insertion) error {
	at, call := w.at(ins.behind), w.at(ins.call)
	caller := &w.nodes[call]
	called := w.text(caller, caller.idSlot)
	id := w.fresh(called, ins.id)
	if !w.Format.Chain {
		var after []int32 // what is to hang on the new record, that stands before it
		for i := range w.hanging(caller.id) {
			if n := &w.nodes[i]; !n.known || !n.results && (n.turn != caller.turn || n.conversation != caller.conversation) {
				after = append(after, i)
			}
		}
		if k := slices.IndexFunc(after, func(i int32) bool { return i > call }); k >= 0 && after[k] <= at {
			at = after[k] - 1
			ins.behind = w.nodes[at].start
		}
		if err := w.write(w.nodes[at].span(), caller.span(), ins, id, called, called); err != nil || called == "" {
			return err
		}
		for _, k := range w.kept[caller.id] {
			k.in.after(k.at, []byte(id))
		}
		for _, i := range after {
			if _, done := w.parents[i]; !done {
				w.parents[i] = id
			}
		}
		return nil
	}
	// It comes behind what belongs to the call, and between that record and the
	// ones that hang on it.
	for int(at)+1 < len(w.nodes) && w.nodes[at+1].follow && w.nodes[at+1].scope == caller.scope && w.nodes[at+1].hangsOn(&w.nodes[at]) {
		at++
	}
	anchor := &w.nodes[at]
	on, parent := anchor.id, w.text(anchor, anchor.idSlot)
	if anchor.gone && on >= 0 {
		eldest := w.eldest(on)
		on, parent = w.nodes[eldest].parent, w.parentOf(eldest)
	}
	if tail, more := w.tails[at]; more {
		parent = tail
	}
	if err := w.write(anchor.span(), caller.span(), ins, id, called, parent); err != nil || id == "" || on < 0 {
		return err
	}
	w.tails[at] = id
	for i := range w.hanging(on) {
		if !anchor.gone || i > at {
			w.parents[i] = id
		}
	}
	return nil
}

// hangsOn reports whether another record is the parent, or neither has an id to
// tell it by.
func (n *node) hangsOn(other *node) bool {
	if other.id < 0 {
		return n.parentSlot.length == 0
	}
	return n.parent == other.id
}

// fresh returns an id for a new record, which no other has.
func (w *weaver) fresh(record, call string) string {
	if record == "" {
		return ""
	}
	for salt := 0; ; salt++ {
		id := derivedID(record, call, salt, w.Format.ShortIDs)
		if n, taken := w.ids.Find(maphash.String(w.seed, id)); !w.new[id] && (!taken || w.byID[n] < 0) {
			w.new[id] = true
			return id
		}
	}
}

// write writes a record like that of a call, with its result.
func (w *weaver) write(behind, call transcript.Span, ins *insertion, id, caller, parent string) error {
	text, err := w.Source.Bytes(call)
	if err != nil {
		return err
	}
	f := w.Format
	var members transcript.Members
	record := members.Of(transcript.NewValue(text, 0))
	st := styleOf(record)
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
			whole, err := set([]byte(fields[i].Raw), dialect.Field{Key: key, Raw: string(v.Raw())})
			if err != nil {
				return err
			}
			fields[i].Raw = string(whole)
		}
	}
	if id != "" {
		fields = append(fields, dialect.Field{Key: f.ID, Raw: id})
		if f.Parent != "" {
			fields = append(fields, dialect.Field{Key: f.Parent, Raw: cmp.Or(parent, "null")})
		}
	}
	if w.copy && ins.content != "" {
		fields = append(fields, dialect.Field{Key: f.ResultCopy, Raw: ins.content})
	}
	if w.source && caller != "" {
		fields = append(fields, dialect.Field{Key: f.ResultSource, Raw: caller})
	}
	// What is not taken over may be most of the record.
	spare := cutMembers(record, f.CallOnly...)
	for _, field := range fields {
		if v := record.Get(field.Key); v.Exists() {
			spare = append(spare, edit.Edit{Span: v.Span(), Text: []byte("null")})
		}
	}
	out, err := compact(splice(text, disjoint(spare)))
	if err != nil {
		return err
	}
	if out, err = set(out, fields...); err != nil {
		return err
	}
	w.lines.after(behind, render(out, st, 0))
	ins.message = nil // it may be one of very many
	return nil
}

// relinkAll names the record before, of the same scope, as the parent of
// records whose parent does not exist. An id that stands twice may lead in a
// circle: it is passed over.
func (w *weaver) relinkAll() {
	if len(w.relink) == 0 {
		return
	}
	want := map[int64]bool{}
	for _, op := range w.relink {
		want[op.Span.Start] = true
	}
	times := make([]int, w.ids.Len())
	for i := range w.nodes {
		if id := w.nodes[i].id; id >= 0 {
			times[id]++
		}
	}
	last := map[int32]*node{} // by scope
	for i := range w.nodes {
		n := &w.nodes[i]
		if before := last[n.scope]; before != nil && n.parent >= 0 && want[n.in(n.parentSlot).Start] {
			w.parents[int32(i)] = w.text(before, before.idSlot)
		}
		if n.id >= 0 && times[n.id] == 1 {
			last[n.scope] = n
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
