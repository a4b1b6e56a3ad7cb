package repair

import (
	"hash/maphash"
	"iter"
	"slices"
	"sort"
	"strconv"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A Log is a session log and the links between its records. The links are read once, when the
// first fix needs them, and never change.
type Log struct {
	Source *source.Source
	Format *dialect.Log
	// Array is the list whose elements are the records; zero if they are the lines of the
	// file.
	Array source.Span
	// Trial says that fixes are only tried. Then their effect on records other than those of
	// their calls and results is not worked out.
	Trial bool

	memory   Memory
	added    bool // records were added
	doubled  bool // a record has its id or its parent twice
	indexed  bool
	lenses   *dialect.Lenses
	members  transcript.Builder
	twice    []transcript.KeyFault
	none     int32 // the scope of records that name none
	seed     maphash.Seed
	ids      source.Index
	hashes   []idHashes // of the ids and the parents of the nodes, until these are indexed
	nodes    []node
	refs     map[int32][]source.Span // by id: where a record refers to it, other than as its parent
	keptFrom map[source.Span]bool    // those of refs that name the first record that a compaction keeps
	counts   []count
	kept     map[int32][]keep // by id: where a compaction lists it as kept
	segments []segment
	ends     map[int32][]int // by id: the segments that begin or end with it
	callRefs map[string][]source.Span
	copy     bool              // records of results repeat the content of the result
	source   bool              // records of results name the record of the call
	byID     []int32           // the node with an id, the last one if there are several
	twins    map[int32][]int32 // by id: the other nodes, before the last one
	children []int32           // by id: the first node with that parent, -1 for none
	roots    []int32           // by node; nil until they are needed
	near     int32             // the node that at found last
}

// A node is the place of a record in the chain. A log has one for each record, so a node
// holds no text: ids are numbered, and read again when they are written.
type node struct {
	start  int64
	length uint32
	// id and parent are numbers of ids, -1 for none.
	id, parent         int32
	idSlot, parentSlot slot
	scope              int32 // the number of the value that tells its thread of the log from others
	sibling            int32 // the next node with the same parent, -1 for none
	follow             bool  // it may come between a call and its result
	torn               bool  // it cannot be read
	doubled            bool  // it has its id or its parent twice, so another program may read the other one
}

// An idHashes are the hashes of the id and the parent of a record, 0 for none.
type idHashes struct{ id, parent uint64 }

// A slot is the place of a value in a record; its length is 0 if there is none.
type slot struct{ at, length uint32 }

func slotOf(s, record source.Span) slot {
	return slot{uint32(s.Start - record.Start), uint32(s.Len())}
}

func (n *node) span() source.Span {
	return source.Span{Start: n.start, End: n.start + int64(n.length)}
}

// idAt and parentAt return the spans of the id and the parent, an empty span if there is
// none.
func (n *node) idAt() source.Span     { return n.in(n.idSlot) }
func (n *node) parentAt() source.Span { return n.in(n.parentSlot) }

func (n *node) in(p slot) source.Span {
	return source.Span{Start: n.start + int64(p.at), End: n.start + int64(p.at) + int64(p.length)}
}

// hangsOn reports whether another record is the parent, or whether neither has an id that
// could show it.
func (n *node) hangsOn(other *node) bool {
	if other.id < 0 {
		return n.parentSlot.length == 0
	}
	return n.parent == other.id
}

// A count is where a compaction gives the number of the first record that it keeps.
type count struct {
	first int
	at    source.Span
}

// A keep is where a compaction lists a record that it keeps.
type keep struct {
	in source.Span // the list
	at source.Span
}

// A segment is where a compaction names the first and the last record of those that it keeps.
type segment struct {
	head, tail     int32 // numbers of ids
	headAt, tailAt source.Span
}

// NewLog returns the log whose records are the elements of an array or, if array is zero, the
// lines of the file.
func NewLog(src *source.Source, format *dialect.Log, array source.Span) *Log {
	return &Log{Source: src, Format: format, Array: array}
}

// number returns the number of an id, given as JSON.
func (l *Log) number(id []byte) int32 {
	n, _ := l.ids.Number(l.hash(id), -1)
	return n
}

// hash returns the hash of an id, given as JSON.
func (l *Log) hash(id []byte) uint64 { return max(maphash.Bytes(l.seed, id), 1) }

// The slots of a node's fields. The fields that name other records follow them, and then the
// fields that name calls.
const (
	linkID = iota
	linkParent
	linkCopy
	linkSource
	linkAgent
	linkSide
	linkType
	linkPreserved
	linkHead
	linkTail
	linkKeptIndex
	linkRefs
)

// index reads the links of all records. It reads the records itself if none were added.
func (l *Log) index() error {
	if l.indexed {
		return nil
	}
	l.indexed = true
	if !l.added {
		for rec, err := range l.records() {
			if err != nil {
				return err
			}
			l.Read(rec)
		}
	}
	l.hang()
	return nil
}

// begin prepares for the first record.
func (l *Log) begin() {
	l.added, l.seed = true, maphash.MakeSeed()
	l.refs, l.callRefs = map[int32][]source.Span{}, map[string][]source.Span{}
	l.ends = map[int32][]int{}
	l.kept, l.twins = map[int32][]keep{}, map[int32][]int32{}
	l.none = l.number(nil)
}

// Lenses returns the lenses to what links a record.
func (l *Log) Lenses() []dialect.Lens {
	f := l.Format
	lenses := []dialect.Lens{
		linkID: dialect.Lens(f.ID), linkParent: dialect.Lens(f.Parent), linkCopy: dialect.Lens(f.ResultCopy), linkSource: dialect.Lens(f.ResultSource),
		linkAgent: f.Agent, linkSide: f.Side, linkType: f.Type, linkPreserved: f.Preserved, linkHead: f.Head, linkTail: f.Tail, linkKeptIndex: f.KeptIndex,
	}
	for _, key := range f.Refs {
		lenses = append(lenses, dialect.Lens(key))
	}
	return append(lenses, f.CallRefs...)
}

// Read adds the next record of the log and its links. A caller that reads all records anyway adds them, so
// that the log does not read them again.
func (l *Log) Read(rec source.Record) {
	if l.lenses == nil {
		l.lenses = dialect.NewLenses(l.Lenses()...)
		l.members.OnKeyFault = func(k transcript.KeyFault) { l.twice = append(l.twice, k) }
	}
	l.Add(rec)
	l.twice = l.twice[:0]
	at := l.lenses.Read(&l.members, rec.Value)
	l.Link(at, l.twice)
}

// Add adds the next record of the log, so far without links.
func (l *Log) Add(rec source.Record) {
	if !l.added {
		l.begin()
	}
	n := node{start: rec.Span.Start, length: uint32(rec.Span.Len()), id: -1, parent: -1, sibling: -1, torn: !rec.Readable(), scope: l.none}
	first, end := n.start, l.Source.Size()
	if len(l.nodes) > 0 {
		first = l.nodes[0].start
	}
	if !l.Array.IsZero() {
		end = l.Array.End
	}
	l.nodes = transcript.Room(l.nodes, rec.Span.End-first, end-first)
	l.nodes = append(l.nodes, n)
	l.hashes = append(transcript.Room(l.hashes, rec.Span.End-first, end-first), idHashes{})
}

// Link adds the links of the last record: what the lenses lead to in it. twice are keys that occur twice in it.
// Most records have few of them, and a value is large, so none is copied that is absent.
func (l *Log) Link(at []source.Value, twice []transcript.KeyFault) {
	n, hashes := &l.nodes[len(l.nodes)-1], &l.hashes[len(l.nodes)-1]
	record := n.span()
	if slices.ContainsFunc(twice, func(k transcript.KeyFault) bool { return k.Key == l.Format.ID || k.Key == l.Format.Parent }) {
		n.doubled, l.doubled = true, true
	}
	if v := &at[linkParent]; source.Exists(v) {
		n.parentSlot = slotOf(v.Span(), record)
		if v.Kind() == source.String {
			hashes.parent = l.hash(v.Raw())
		}
	}
	l.copy = l.copy || source.Exists(&at[linkCopy])
	l.source = l.source || source.Exists(&at[linkSource])
	l.ref(&at[linkSource])
	refs, callRefs := at[linkRefs:linkRefs+len(l.Format.Refs)], at[linkRefs+len(l.Format.Refs):]
	for i := range refs {
		l.ref(&refs[i])
		if source.Exists(&refs[i]) && dialect.Lens(l.Format.Refs[i]) == l.Format.KeptFrom {
			if l.keptFrom == nil {
				l.keptFrom = map[source.Span]bool{}
			}
			l.keptFrom[refs[i].Span()] = true
		}
	}
	for i := range callRefs {
		if v := &callRefs[i]; source.Exists(v) && v.Kind() == source.String {
			l.callRefs[string(v.Raw())] = append(l.callRefs[string(v.Raw())], v.Span())
		}
	}
	if side, thread := &at[linkSide], &at[linkAgent]; source.Exists(side) && side.True() {
		n.scope = l.number(append([]byte("side "), thread.Raw()...))
	} else if source.Exists(thread) {
		n.scope = l.number(thread.Raw())
	}
	if source.Exists(&at[linkPreserved]) {
		l.preserved(at[linkPreserved])
	}
	if head, tail := &at[linkHead], &at[linkTail]; source.Exists(head) && head.Kind() == source.String && tail.Kind() == source.String {
		s := segment{l.number(head.Raw()), l.number(tail.Raw()), head.Span(), tail.Span()}
		l.ends[s.head] = append(l.ends[s.head], len(l.segments))
		if s.tail != s.head {
			l.ends[s.tail] = append(l.ends[s.tail], len(l.segments))
		}
		l.segments = append(l.segments, s)
	}
	n.follow = len(l.Format.Follows) > 0 && slices.ContainsFunc(l.Format.Follows, at[linkType].Is)
	if v := &at[linkKeptIndex]; source.Exists(v) {
		if at, err := strconv.Atoi(string(v.Raw())); err == nil {
			l.counts = append(l.counts, count{at, v.Span()})
		}
	}
	if v := &at[linkID]; source.Exists(v) && v.Kind() == source.String {
		hashes.id, n.idSlot = l.hash(v.Raw()), slotOf(v.Span(), record)
	}
}

// hang numbers the ids of the nodes and of their parents, and indexes the nodes by them. A parent is often the
// last record with an id.
func (l *Log) hang() {
	l.ids.Reserve(l.ids.Len() + len(l.nodes))
	last := -1
	for i := range l.nodes {
		n, h := &l.nodes[i], l.hashes[i]
		if h.parent != 0 {
			n.parent, _ = l.ids.Number(h.parent, last)
		}
		if h.id != 0 {
			n.id, _ = l.ids.Number(h.id, -1)
			last = int(n.id)
		}
	}
	l.hashes = nil
	l.byID = slices.Repeat([]int32{-1}, l.ids.Len())
	l.children = slices.Repeat([]int32{-1}, l.ids.Len())
	for i := range l.nodes {
		id := l.nodes[i].id
		if id < 0 {
			continue
		}
		if other := l.byID[id]; other >= 0 {
			l.twins[id] = append(l.twins[id], other)
		}
		l.byID[id] = int32(i)
	}
	for i := len(l.nodes) - 1; i >= 0; i-- {
		if parent := l.nodes[i].parent; parent >= 0 {
			l.nodes[i].sibling, l.children[parent] = l.children[parent], int32(i)
		}
	}
}

// records yields the records of the log.
func (l *Log) records() iter.Seq2[source.Record, error] {
	if l.Array.IsZero() {
		return source.Records(l.Source)
	}
	return func(yield func(source.Record, error) bool) {
		text, err := l.Source.Bytes(l.Array)
		if err != nil {
			yield(source.Record{}, err)
			return
		}
		for _, e := range source.NewValue(text, l.Array.Start).Elements() {
			if !yield(source.Record{Span: e.Span(), Value: e}, nil) {
				return
			}
		}
	}
}

// ref notes where a record refers to another one.
func (l *Log) ref(v *source.Value) {
	if source.Exists(v) && v.Kind() == source.String {
		id := l.number(v.Raw())
		l.refs[id] = append(l.refs[id], v.Span())
	}
}

// preserved notes which records a compaction keeps.
func (l *Log) preserved(v source.Value) {
	if v.Kind() == source.Object {
		v = v.Get("uuids")
	}
	for _, e := range v.Elements() {
		if e.Kind() == source.String {
			id := l.number(e.Raw())
			l.kept[id] = append(l.kept[id], keep{v.Span(), e.Span()})
		}
	}
}

// at returns the node that contains an offset, or the first one behind it.
func (l *Log) at(off int64) int32 {
	if int(l.near) >= len(l.nodes) || !holds(l.nodes[l.near].span(), off) {
		l.near = int32(sort.Search(len(l.nodes), func(i int) bool { return l.nodes[i].span().End > off }))
	}
	return l.near
}

// recordAt returns the record that contains an offset, an empty span if none does: the offset
// may be in the white space between two records, or behind the last one. It needs no index.
func (l *Log) recordAt(off int64) source.Span {
	at := source.Span{}
	switch {
	case l.indexed:
		if i := l.at(off); int(i) < len(l.nodes) {
			at = l.nodes[i].span()
		}
	case !l.Array.IsZero():
		for rec, err := range l.records() {
			if err == nil && rec.Span.End > off {
				at = rec.Span
				break
			}
		}
	default:
		return l.inLine(off)
	}
	if !holds(at, off) {
		return source.Span{}
	}
	return at
}

// holds reports whether a span contains the byte at an offset.
func holds(s source.Span, off int64) bool { return s.Start <= off && off < s.End }

// inLine returns the record that contains an offset. It reads only the line with the offset.
func (l *Log) inLine(off int64) source.Span {
	w := &window{src: l.Source}
	from, to := off, off
	for from > 0 && w.err == nil && w.at(from-1) != '\n' {
		from--
	}
	for to < w.size() && w.err == nil && w.at(to) != '\n' {
		to++
	}
	line := source.FromBytes(l.Source.Name(), w.bytes(from, to))
	line.AsLines()
	for rec, err := range source.Records(line) {
		if at := (source.Span{Start: from + rec.Span.Start, End: from + rec.Span.End}); err == nil && holds(at, off) {
			return at
		}
	}
	return source.Span{}
}

// hanging yields the children of an id, in order.
func (l *Log) hanging(on int32) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		if on < 0 {
			return // no parent
		}
		for i := l.children[on]; i >= 0 && yield(i); i = l.nodes[i].sibling {
		}
	}
}

// Record returns the fix for an operation on a record as a whole, and false if op is not such
// an operation.
func (l *Log) Record(op *operation.Operation) (f edit.Fix, ok bool, err error) {
	p := &Plan{Source: l.Source, Conv: &transcript.Conversation{}, Log: l, Memory: &l.memory}
	p.src = p.read(l.Source)
	record := rowOf(op).record
	if record == nil {
		return f, false, nil
	}
	d := p.draft()
	return d.fix(record(d, op.Do))
}

func (d *draft) dropRecord(do *operation.DropRecord) bool {
	if !do.CopyOf.IsZero() {
		d.stays = append(d.stays, d.Log.recordAt(do.CopyOf.Start))
	}
	d.taken = append(d.taken, do.At)
	d.log().removed = []int64{do.At.Start}
	return true
}

func (d *draft) relinkRecord(do *operation.RelinkRecord) bool {
	d.log().relinked = []relinking{{do.At, do.To}}
	return true
}

func (d *draft) renumber(do *operation.Renumber) bool {
	d.log().ordinals = []source.Span{do.At}
	return true
}

// rootOf returns the root of a node, -1 if its parents form a circle.
func (l *Log) rootOf(node int32) int32 {
	const unknown, circle = -2, -1
	if l.roots == nil {
		l.roots = slices.Repeat([]int32{unknown}, len(l.nodes))
	}
	var path []int32
	at := node
	for l.roots[at] == unknown {
		path = append(path, at)
		l.roots[at] = circle // if it is reached again
		if up := l.nodes[at].parent; up >= 0 && l.byID[up] >= 0 {
			at = l.byID[up]
		} else {
			l.roots[at] = at
		}
	}
	root := l.roots[at]
	for _, n := range path {
		l.roots[n] = root
	}
	return root
}
