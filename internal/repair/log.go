package repair

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
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
	// Starts are the offsets at which the records begin, by index from 0.
	Starts []int64

	lines   *list
	kept    []*list        // lists of the ids that a compaction keeps
	removed map[int32]bool // records
	// dropped are the records of which nothing is left, with where each has its
	// content.
	dropped map[int32]transcript.Span
	insert  map[int32][]insertion  // by the record that they go behind
	rename  map[string]string      // ids of calls, as written
	relink  []*operation.Operation // parents that no record is
	// says tells what the conversations that are repaired say of their records.
	says map[int32]said
}

// An insertion is a record to be made for a call.
type insertion struct {
	call    int32  // the record that holds it
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

// NewLog returns a Log without any changes.
func NewLog(src *transcript.Source, format *dialect.Log, starts []int64) *Log {
	return &Log{
		Source: src, Format: format, Starts: starts,
		removed: map[int32]bool{}, dropped: map[int32]transcript.Span{}, insert: map[int32][]insertion{}, rename: map[string]string{}, says: map[int32]said{},
	}
}

// Empty reports whether nothing is to be changed.
func (l *Log) Empty() bool {
	return len(l.removed) == 0 && len(l.dropped) == 0 && len(l.insert) == 0 && len(l.rename) == 0 && len(l.relink) == 0
}

// Record carries out an operation on a record as such.
func (l *Log) Record(op *operation.Operation) bool {
	switch op.Kind {
	case operation.DropRecord:
		l.removed[op.Record] = true
	case operation.Relink:
		l.relink = append(l.relink, op)
	default:
		return false
	}
	return true
}

// lay inserts a record for each call of a turn that is to get a result.
func (l *Log) lay(p *Plan, lo *layout) {
	l.listen(p.Conv)
	for _, e := range lo.news() {
		if e.msg >= 0 {
			continue // nothing is moved in a log
		}
		call := &p.Conv.Calls[e.call]
		ins := insertion{
			call: p.Conv.Messages[call.Message].Record, message: e.text, id: call.ID.Raw,
			content: string(transcript.NewValue(e.text, 0).Get(p.keys(call.Message).Content).Raw()),
		}
		if fields := p.driver.WriteMessage("["+string(e.text)+"]", p.value(call.Message)); fields != nil {
			if ins.message, p.err = build(fields); p.err != nil {
				return
			}
		}
		behind := p.Conv.Messages[p.lastBeforeReuse(e.call)].Record
		if l.Format.Chain {
			behind = max(behind, p.lastAnswered(e.call))
		}
		l.insert[behind] = append(l.insert[behind], ins)
	}
}

// listen notes what a conversation says of its records.
func (l *Log) listen(c *transcript.Conversation) {
	if len(c.Messages) == 0 {
		return
	}
	if s, known := l.says[c.Messages[0].Record]; known && s.conversation == c.Index {
		return
	}
	for i := range c.Messages {
		m := &c.Messages[i]
		s := said{conversation: c.Index, turn: m.Turn}
		for b := m.BlockLo; b < m.BlockHi; b++ {
			s.results = s.results || c.Blocks[b].Kind == transcript.BlockResult
		}
		l.says[m.Record] = s
	}
}

// lastAnswered returns the record of the last result of the calls before one in
// its turn, 0 for none.
func (p *Plan) lastAnswered(c int32) int32 {
	last := int32(0)
	turn := p.Conv.Messages[p.Conv.Calls[c].Message].Turn
	for k := c - 1; k >= 0 && p.Conv.Messages[p.Conv.Calls[k].Message].Turn == turn; k-- {
		if r := p.Pairing.Calls[k].Result; r >= 0 {
			last = max(last, p.Conv.Messages[p.Conv.Results[r].Message].Record)
		}
	}
	return last
}

// lastBeforeReuse returns the message that a call's result goes behind: the last
// one of its turn or, where the lines of another turn that uses the id stand
// between, its own.
func (p *Plan) lastBeforeReuse(c int32) int32 {
	call := &p.Conv.Calls[c]
	turn := p.Conv.Messages[call.Message].Turn
	for _, other := range p.Conv.Calls[c+1:] {
		if other.Message > p.ends[turn] {
			break
		}
		if p.Conv.Messages[other.Message].Turn != turn && pairing.Key(other.ID) == pairing.Key(call.ID) {
			return call.Message
		}
	}
	return p.ends[turn]
}

// A node is what a record says of its place in the chain.
type node struct {
	record int32
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
	if l.Empty() {
		return nil, nil
	}
	w := &window{src: l.Source}
	l.lines = &list{src: w, lines: true}
	var edits []transcript.Edit
	set := func(s transcript.Span, raw string) {
		edits = append(edits, transcript.Edit{Span: s, Text: []byte(raw)})
	}
	nodes, style, err := l.nodes(set)
	if err != nil {
		return nil, err
	}
	l.settle(nodes, set)
	byID := map[string]int{} // where two records have one id, one that stays
	children := map[string][]int{}
	for i := range nodes {
		n := &nodes[i]
		if at, again := byID[n.id]; n.id != "" && (!again || !l.removed[n.record] || l.removed[nodes[at].record]) {
			byID[n.id] = i
		}
		if n.parent.IsString() {
			children[n.parent.Raw] = append(children[n.parent.Raw], i)
		}
	}
	// The parent that the children of a removed record get: the nearest one
	// that stays.
	heir := func(id string) string {
		for range len(nodes) {
			i, known := byID[id]
			if !known || !l.removed[nodes[i].record] {
				return id
			}
			if id = nodes[i].parent.Raw; id == "" {
				return "null"
			}
		}
		return "null"
	}
	parents := map[int]string{} // what a node's parent becomes
	for i := range nodes {
		n := &nodes[i]
		if l.removed[n.record] {
			l.lines.remove(n.span)
			continue
		}
		if n.parent.IsString() {
			if to := heir(n.parent.Raw); to != n.parent.Raw {
				parents[i] = to
			}
		}
		for _, ref := range n.refs {
			if to := heir(ref.Raw); to != ref.Raw {
				set(ref.Span, to)
			}
		}
	}
	weave := &weaver{Log: l, nodes: nodes, byID: byID, children: children, style: style, parents: parents}
	for i := range nodes {
		for _, ins := range l.insert[nodes[i].record] {
			if err := weave.insert(i, ins); err != nil {
				return nil, err
			}
		}
	}
	l.renumber(nodes, set)
	l.relinkAll(nodes, parents)
	for i, to := range parents {
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

// settle decides what becomes of the records of which nothing is left. Where
// another record has the same id, removing the one would bring the other to
// light: it is emptied.
func (l *Log) settle(nodes []node, set func(transcript.Span, string)) {
	stay := map[string]int{}
	for i := range nodes {
		if _, dropped := l.dropped[nodes[i].record]; !dropped && !l.removed[nodes[i].record] {
			stay[nodes[i].id]++
		}
	}
	for i := range nodes {
		n := &nodes[i]
		switch content, dropped := l.dropped[n.record]; {
		case !dropped:
		case n.id != "" && stay[n.id] > 0 && !content.IsZero():
			set(content, "[]")
		default:
			l.removed[n.record] = true
		}
	}
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
	for rec, err := range transcript.Records(l.Source) {
		if err != nil {
			return nil, style, err
		}
		n := node{record: int32(rec.Index), span: rec.Span}
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
		nodes = append(nodes, n)
	}
	return nodes, style, nil
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

// renumber keeps the numbers true by which compactions name the first record
// that they keep.
func (l *Log) renumber(nodes []node, set func(transcript.Span, string)) {
	for i := range nodes {
		first, err := strconv.Atoi(nodes[i].kept.Raw)
		if err != nil {
			continue
		}
		by := 0
		for k := range nodes {
			if int(nodes[k].record) > first {
				break
			}
			by += len(l.insert[nodes[k].record])
			if l.removed[nodes[k].record] {
				by--
			}
		}
		if by != 0 {
			set(nodes[i].kept.Span, strconv.Itoa(first+by))
		}
	}
}

// A weaver puts new records into the chain.
type weaver struct {
	*Log
	nodes    []node
	byID     map[string]int
	children map[string][]int
	style    recordStyle
	parents  map[int]string // what a node's parent becomes
	tails    map[int]string // the id of the last new record behind a node
}

// insert makes a record with a result, and hangs what follows on to it.
func (w *weaver) insert(at int, ins insertion) error {
	call := -1
	for i := at; i >= 0; i-- {
		if w.nodes[i].record == ins.call {
			call = i
			break
		}
	}
	if call < 0 {
		return fmt.Errorf("record %d is not there any more", ins.call)
	}
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
			n := &w.nodes[i]
			if s, known := w.says[n.record]; known && (s.results || s.turn == w.says[ins.call].turn && s.conversation == w.says[ins.call].conversation) || w.removed[n.record] {
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
	if err := w.write(anchor.span, caller, ins, id, parent); err != nil || anchor.id == "" {
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
		fields = append(fields, dialect.Field{Key: f.Type.Key(), Raw: quote(f.ResultType)})
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
// records whose parent does not exist.
func (l *Log) relinkAll(nodes []node, parents map[int]string) {
	if len(l.relink) == 0 {
		return
	}
	want := map[int64]bool{}
	for _, op := range l.relink {
		want[op.Span.Start] = true
	}
	last := map[string]string{}
	for i := range nodes {
		n := &nodes[i]
		if want[n.parent.Span.Start] && n.parent.IsString() && last[n.scope] != "" {
			parents[i] = last[n.scope]
		}
		if n.id != "" {
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
