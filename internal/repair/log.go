package repair

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"iter"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A Log compiles what operations do to the records of a session log. Nothing
// is moved in a log: records are inserted, emptied or removed, and the links
// between them are kept. One Log serves all conversations of a file.
type Log struct {
	Source *transcript.Source
	Format *dialect.Log
	// Array is the list whose elements the records are; zero where they are the
	// lines of the file.
	Array transcript.Span
	// Trial is set where it is only asked what could be done: nothing will be
	// compiled.
	Trial bool

	lines *list
	kept  []*list // lists of the ids that a compaction keeps
	// What is to become of records goes by where something of each stands.
	removed  map[int64]bool
	dropped  map[int64]transcript.Span // nothing is left of them, with where each has its content
	insert   map[int64][]insertion     // by the record that they go behind
	inserted int
	texted   []int64                // their results became text
	says     map[int64]said         // what the conversations that are repaired say of their records
	rename   map[string]string      // ids of calls, as written
	relink   []*operation.Operation // parents that no record is
}

// An insertion is a record to be made for a call.
type insertion struct {
	call    int64  // where the record stands that holds it
	message []byte // with the result
	content string // of the result
	id      string // of the call, as written
}

// A said is what a conversation says of a record.
type said struct {
	conversation int
	turn         int32
	results      bool // it carries some
}

// NewLog returns a Log without any changes, of the records that are the elements
// of an array or, without one, the lines of the file.
func NewLog(src *transcript.Source, format *dialect.Log, array transcript.Span) *Log {
	return &Log{
		Source: src, Format: format, Array: array,
		removed: map[int64]bool{}, dropped: map[int64]transcript.Span{}, insert: map[int64][]insertion{}, rename: map[string]string{}, says: map[int64]said{},
	}
}

// changes counts what is to be changed; nothing is where there is no log.
func (l *Log) changes() int {
	if l == nil {
		return 0
	}
	return len(l.removed) + len(l.dropped) + l.inserted + len(l.texted) + len(l.rename) + len(l.relink)
}

// Record carries out an operation on a record as such.
func (l *Log) Record(op *operation.Operation) bool {
	switch op.Kind {
	case operation.DropRecord:
		l.removed[op.Span.Start] = true
	case operation.Relink:
		l.relink = append(l.relink, op)
	default:
		return false
	}
	return true
}

// lay inserts a record for each call of a turn that is to get a result.
func (l *Log) lay(p *Plan, lo *layout) {
	if !l.Trial {
		l.listen(p.Conv)
	}
	for _, e := range lo.news() {
		if e.msg >= 0 {
			continue // nothing is moved in a log
		}
		call := &p.Conv.Calls[e.call]
		ins := insertion{
			call: p.standing(call.Message), message: e.text, id: call.ID.Raw,
			content: string(transcript.NewValue(e.text, 0).Get(p.keys(call.Message).Content).Raw()),
		}
		if fields := p.driver.WriteMessage("["+string(e.text)+"]", p.value(call.Message)); fields != nil {
			if ins.message, p.err = build(fields); p.err != nil {
				return
			}
		}
		behind := p.standing(p.lastBeforeReuse(e.call))
		if last := p.lastAnswered(e.call); l.Format.Chain && !p.usedAgain(e.call, last) {
			behind = max(behind, last)
		}
		l.insert[behind] = append(l.insert[behind], ins)
		l.inserted++
	}
}

// listen notes what a conversation says of its records.
func (l *Log) listen(c *transcript.Conversation) {
	if len(c.Messages) == 0 {
		return
	}
	if s, known := l.says[c.Messages[0].Span().Start]; known && s.conversation == c.Index {
		return
	}
	for i := range c.Messages {
		m := &c.Messages[i]
		s := said{conversation: c.Index, turn: m.Turn}
		for b := m.BlockLo; b < m.BlockHi; b++ {
			s.results = s.results || c.Blocks[b].Kind == transcript.BlockResult
		}
		l.says[m.Span().Start] = s
	}
}

// standing returns where a message stands.
func (p *Plan) standing(m int32) int64 { return p.Conv.Messages[m].Span().Start }

// lastAnswered returns where the last result of the calls before one in its turn
// stands, 0 for none. One that stands too late, and stays there, does not count.
func (p *Plan) lastAnswered(c int32) int64 {
	last := int64(0)
	turn := p.Conv.Messages[p.Conv.Calls[c].Message].Turn
	for k := c - 1; k >= 0 && p.Conv.Messages[p.Conv.Calls[k].Message].Turn == turn; k-- {
		if r := p.Pairing.Calls[k].Result; r >= 0 && p.Pairing.Calls[k].Place != pairing.Later {
			last = max(last, p.standing(p.Conv.Results[r].Message))
		}
	}
	return last
}

// usedAgain reports whether another turn uses the id of a call up to an offset.
func (p *Plan) usedAgain(c int32, off int64) bool {
	call := &p.Conv.Calls[c]
	for _, other := range p.Conv.Calls[c+1:] {
		if p.standing(other.Message) > off {
			return false
		}
		if p.Conv.Messages[other.Message].Turn != p.Conv.Messages[call.Message].Turn && pairing.Key(other.ID) == pairing.Key(call.ID) {
			return true
		}
	}
	return false
}

// lastBeforeReuse returns the message that a call's result goes behind: the last
// one of its turn or, where the lines of another turn that uses the id stand
// between, its own.
func (p *Plan) lastBeforeReuse(c int32) int32 {
	own := p.Conv.Calls[c].Message
	if last := p.ends[p.Conv.Messages[own].Turn]; !p.usedAgain(c, p.standing(last)) {
		return last
	}
	return own
}

// A node is what a record says of its place in the chain.
type node struct {
	record int // its number, from 1
	span   transcript.Span
	id     string // as written, "" for none
	parent transcript.Token
	scope  string
	refs   []transcript.Token // other members that name a record
	kept   transcript.Token   // the number of the first record that a compaction keeps
	follow bool               // it may stand between a call and its result
}

// A keep is where a compaction names a record that it keeps.
type keep struct {
	in *list
	at transcript.Span
}

// Compile returns the edits for all that was asked for.
func (l *Log) Compile() ([]transcript.Edit, error) {
	if l.changes() == 0 {
		return nil, nil
	}
	w := &window{src: l.Source}
	l.lines = &list{src: w, array: l.Array, lines: l.Array.IsZero()}
	var edits []transcript.Edit
	set := func(s transcript.Span, raw string) {
		edits = append(edits, transcript.Edit{Span: s, Text: []byte(raw)})
	}
	slices.Sort(l.texted)
	nodes, style, err := l.nodes(set)
	if err != nil {
		return nil, err
	}
	weave := l.weaver(nodes, style)
	weave.settle(set)
	weave.index()
	for i := range nodes {
		n := &nodes[i]
		if weave.gone[i] {
			l.lines.remove(n.span)
			continue
		}
		if n.parent.IsString() {
			if to := weave.heir(n.parent.Raw); to != n.parent.Raw {
				weave.parents[i] = to
			}
		}
		for _, ref := range n.refs {
			if to := weave.heir(ref.Raw); to != ref.Raw {
				set(ref.Span, to)
			}
		}
	}
	for i := range nodes {
		for _, ins := range weave.inserts[i] {
			if err := weave.insert(i, ins); err != nil {
				return nil, err
			}
		}
	}
	weave.renumber(set)
	l.relinkAll(nodes, weave.parents)
	for i, to := range weave.parents {
		set(nodes[i].parent.Span, to)
	}
	for _, k := range l.kept {
		edits = append(edits, k.compile()...)
	}
	edits = append(edits, l.lines.compile()...)
	if w.err != nil {
		return nil, w.err
	}
	return disjoint(edits), nil
}

// recordStyle says what records of results hold besides the message, and which
// records compactions keep.
type recordStyle struct {
	copy, source bool
	kept         map[string][]keep
}

// nodes reads the places of all records in the chain, and renames the copies
// of ids beside messages on the way.
func (l *Log) nodes(set func(transcript.Span, string)) ([]node, recordStyle, error) {
	var nodes []node
	style := recordStyle{kept: map[string][]keep{}}
	f := l.Format
	for rec, err := range l.records() {
		if err != nil {
			return nil, style, err
		}
		n := node{record: rec.Index, span: rec.Span}
		for k, v := range rec.Value.Members() {
			switch {
			case f.ID != "" && k.Is(f.ID) && v.Kind() == transcript.String:
				n.id = string(v.Raw())
			case f.Parent != "" && k.Is(f.Parent):
				n.parent = transcript.TokenOf(v, rec.Span)
			case f.ResultCopy != "" && k.Is(f.ResultCopy):
				style.copy = true
			case f.ResultSource != "" && k.Is(f.ResultSource):
				style.source = true
				n.ref(l, v)
			case slices.ContainsFunc(f.Refs, k.Is):
				n.ref(l, v)
			}
		}
		in := func(p dialect.Path) transcript.Value {
			if p == "" {
				return transcript.Value{}
			}
			return p.In(rec.Value)
		}
		for _, p := range f.CallRefs {
			if v := in(p); v.Kind() == transcript.String {
				if to, renamed := l.rename[string(v.Raw())]; renamed {
					set(v.Span(), to)
				}
			}
		}
		n.scope = string(in(f.Side).Raw()) + string(in(f.Agent).Raw())
		if len(l.insert) > 0 {
			l.preserved(in(f.Preserved), style.kept)
			n.follow = len(f.Follows) > 0 && slices.ContainsFunc(f.Follows, in(f.Type).Is)
		}
		if kept := in(f.KeptIndex); kept.Exists() {
			n.kept = transcript.TokenOf(kept, rec.Span)
		}
		if at, _ := slices.BinarySearch(l.texted, rec.Span.Start); at < len(l.texted) && l.texted[at] < rec.Span.End {
			// There is no result any more that these could be about.
			for _, e := range cutMembers(rec.Value, f.ResultCopy, f.ResultSource) {
				set(e.Span, "")
			}
		}
		nodes = append(nodes, n)
	}
	return nodes, style, nil
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

// ref notes a member that may name a record that is removed.
func (n *node) ref(l *Log, v transcript.Value) {
	if len(l.removed)+len(l.dropped) > 0 && v.Kind() == transcript.String {
		n.refs = append(n.refs, transcript.TokenOf(v, n.span))
	}
}

// preserved notes which records a compaction keeps.
func (l *Log) preserved(v transcript.Value, kept map[string][]keep) {
	if v.Kind() == transcript.Object {
		v = v.Get("uuids")
	}
	if v.Kind() != transcript.Array {
		return
	}
	ids := &list{src: l.lines.src, array: v.Span()}
	l.kept = append(l.kept, ids)
	for _, e := range v.Elements() {
		if e.Kind() == transcript.String {
			kept[string(e.Raw())] = append(kept[string(e.Raw())], keep{ids, e.Span()})
		}
	}
}

// A weaver puts new records into the chain, and takes others out.
type weaver struct {
	*Log
	nodes    []node
	style    recordStyle
	gone     map[int]bool
	emptied  map[int]transcript.Span // with where each has its content
	inserts  map[int][]insertion
	saying   map[int]said
	byID     map[string]int // where two records have one id, one that stays
	children map[string][]int
	parents  map[int]string // what a node's parent becomes
	tails    map[int]string // the id of the last new record behind a node
}

// weaver finds the nodes that something is to become of.
func (l *Log) weaver(nodes []node, style recordStyle) *weaver {
	w := &weaver{
		Log: l, nodes: nodes, style: style, gone: map[int]bool{}, emptied: map[int]transcript.Span{}, inserts: map[int][]insertion{},
		saying: map[int]said{}, byID: map[string]int{}, children: map[string][]int{}, parents: map[int]string{},
	}
	for at := range l.removed {
		w.gone[w.at(at)] = true
	}
	for at, content := range l.dropped {
		w.emptied[w.at(at)] = content
	}
	for at, ins := range l.insert {
		w.inserts[w.at(at)] = ins
	}
	for at, s := range l.says {
		w.saying[w.at(at)] = s
	}
	return w
}

// at returns the node in which an offset lies.
func (w *weaver) at(off int64) int {
	return sort.Search(len(w.nodes), func(i int) bool { return w.nodes[i].span.End > off })
}

// settle decides what becomes of the records of which nothing is left. Where
// another record has the same id, removing the one would bring the other to
// light: it is emptied.
func (w *weaver) settle(set func(transcript.Span, string)) {
	stay := map[string]int{}
	for i := range w.nodes {
		if _, emptied := w.emptied[i]; !emptied && !w.gone[i] {
			stay[w.nodes[i].id]++
		}
	}
	for i, content := range w.emptied {
		if id := w.nodes[i].id; id != "" && stay[id] > 0 && !content.IsZero() {
			set(content, "[]")
		} else {
			w.gone[i] = true
		}
	}
}

// index looks up the nodes by their ids.
func (w *weaver) index() {
	for i := range w.nodes {
		n := &w.nodes[i]
		if at, again := w.byID[n.id]; n.id != "" && (!again || !w.gone[i] || w.gone[at]) {
			w.byID[n.id] = i
		}
		if n.parent.IsString() {
			w.children[n.parent.Raw] = append(w.children[n.parent.Raw], i)
		}
	}
}

// heir returns the parent that the children of a record get: the nearest one
// that stays.
func (w *weaver) heir(id string) string {
	for range len(w.nodes) {
		i, known := w.byID[id]
		if !known || !w.gone[i] {
			return id
		}
		if id = w.nodes[i].parent.Raw; id == "" {
			return "null"
		}
	}
	return "null"
}

// renumber keeps the numbers true by which compactions name the first record
// that they keep.
func (w *weaver) renumber(set func(transcript.Span, string)) {
	for i := range w.nodes {
		first, err := strconv.Atoi(w.nodes[i].kept.Raw)
		if err != nil {
			continue
		}
		by := 0
		for k := range w.nodes {
			if w.nodes[k].record > first {
				break
			}
			by += len(w.inserts[k])
			if w.gone[k] {
				by--
			}
		}
		if by != 0 {
			set(w.nodes[i].kept.Span, strconv.Itoa(first+by))
		}
	}
}

// insert makes a record with a result, and hangs what follows on to it.
func (w *weaver) insert(at int, ins insertion) error {
	call := w.at(ins.call)
	caller := &w.nodes[call]
	if !w.Format.Chain {
		id := w.fresh(caller.id, ins.id)
		if err := w.write(w.nodes[at].span, caller, ins, id, caller.id); err != nil || caller.id == "" {
			return err
		}
		for _, k := range w.style.kept[caller.id] {
			k.in.after(k.at, []byte(id))
		}
		for _, i := range w.children[caller.id] {
			if s, known := w.saying[i]; known && (s.results || s.turn == w.saying[call].turn && s.conversation == w.saying[call].conversation) || w.gone[i] {
				continue
			}
			if _, done := w.parents[i]; !done {
				w.parents[i] = id
			}
		}
		return nil
	}
	// It comes behind what belongs to the call, and between that record and the
	// ones that hang on it.
	for at+1 < len(w.nodes) && w.nodes[at+1].follow && w.nodes[at+1].scope == caller.scope && w.nodes[at+1].parent.Raw == w.nodes[at].id {
		at++
	}
	anchor := &w.nodes[at]
	parent := anchor.id
	if tail, more := w.tails[at]; more {
		parent = tail
	}
	id := w.fresh(caller.id, ins.id)
	if err := w.write(anchor.span, caller, ins, id, parent); err != nil || id == "" || anchor.id == "" {
		return err
	}
	if w.tails == nil {
		w.tails = map[int]string{}
	}
	w.tails[at] = id
	for _, i := range w.children[anchor.id] {
		w.parents[i] = id
	}
	return nil
}

// fresh returns an id for a new record, which no other has.
func (w *weaver) fresh(record, call string) string {
	if record == "" {
		return ""
	}
	for salt := 0; ; salt++ {
		id := derivedID(record, call, salt, w.Format.ShortIDs)
		if _, taken := w.byID[id]; !taken {
			w.byID[id] = -1
			return id
		}
	}
}

// write writes a record like that of a call, with its result.
func (w *weaver) write(behind transcript.Span, caller *node, ins insertion, id, parent string) error {
	text, err := w.Source.Bytes(caller.span)
	if err != nil {
		return err
	}
	f := w.Format
	record := transcript.NewValue(text, 0)
	st := styleOf(record)
	out, err := compact(text)
	if err != nil {
		return err
	}
	for _, key := range f.CallOnly {
		if out, err = unset(out, key); err != nil {
			return err
		}
	}
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
			whole, err := set([]byte(fields[i].Raw), key, string(v.Raw()))
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
	if w.style.copy && ins.content != "" {
		fields = append(fields, dialect.Field{Key: f.ResultCopy, Raw: ins.content})
	}
	if w.style.source && caller.id != "" {
		fields = append(fields, dialect.Field{Key: f.ResultSource, Raw: caller.id})
	}
	for _, field := range fields {
		if out, err = set(out, field.Key, field.Raw); err != nil {
			return err
		}
	}
	w.lines.after(behind, render(out, st, 0))
	return nil
}

// relinkAll names the record before, of the same scope, as the parent of
// records whose parent does not exist. An id that stands twice may lead in a
// circle: it is passed over.
func (l *Log) relinkAll(nodes []node, parents map[int]string) {
	if len(l.relink) == 0 {
		return
	}
	want := map[int64]bool{}
	for _, op := range l.relink {
		want[op.Span.Start] = true
	}
	times := map[string]int{}
	for i := range nodes {
		times[nodes[i].id]++
	}
	last := map[string]string{}
	for i := range nodes {
		n := &nodes[i]
		if want[n.parent.Span.Start] && n.parent.IsString() && last[n.scope] != "" {
			parents[i] = last[n.scope]
		}
		if n.id != "" && times[n.id] == 1 {
			last[n.scope] = n.id
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
