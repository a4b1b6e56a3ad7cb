package repair

import (
	"crypto/sha256"
	"fmt"
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
	kept    []*list                // lists of the ids that a compaction keeps
	removed map[int32]bool         // records
	insert  map[int32][]insertion  // by the record that they go behind
	rename  map[string]string      // ids of calls, as written
	relink  []*operation.Operation // parents that no record is
}

// An insertion is a record to be made for a call.
type insertion struct {
	call  int32 // the record that holds it
	block []byte
	id    string // of the call, as written
}

// NewLog returns a Log without any changes.
func NewLog(src *transcript.Source, format *dialect.Log, starts []int64) *Log {
	return &Log{
		Source: src, Format: format, Starts: starts,
		removed: map[int32]bool{}, insert: map[int32][]insertion{}, rename: map[string]string{},
	}
}

// Empty reports whether nothing is to be changed.
func (l *Log) Empty() bool {
	return len(l.removed) == 0 && len(l.insert) == 0 && len(l.rename) == 0 && len(l.relink) == 0
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
	for _, e := range lo.news() {
		if e.msg >= 0 {
			continue // nothing is moved in a log
		}
		call := &p.Conv.Calls[e.call]
		last := p.Conv.Messages[p.lastBeforeReuse(e.call)].Record
		l.insert[last] = append(l.insert[last], insertion{
			call: p.Conv.Messages[call.Message].Record, block: e.text, id: call.ID.Raw,
		})
	}
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
	record         int32
	span           transcript.Span
	id             string // as written, "" for none
	parent         transcript.Token
	turn, scope    string
	carriesResults bool
	refs           []transcript.Token // other members that name a record
}

// A keep is where a compaction names a record that it keeps.
type keep struct {
	in *list
	at transcript.Span
}

// refKeys are the members by which a record names others than its parent.
var refKeys = []string{"leafUuid", "logicalParentUuid"}

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
	for i := range nodes {
		for _, ins := range l.insert[nodes[i].record] {
			if err := l.insertBehind(nodes, byID, children, i, ins, style, parents); err != nil {
				return nil, err
			}
		}
	}
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
		var side, agent string
		for k, v := range rec.Value.Members() {
			switch {
			case k.Is(f.ID) && v.Kind() == transcript.String:
				n.id = string(v.Raw())
			case k.Is(f.Parent):
				n.parent = transcript.TokenOf(v, rec.Span)
			case k.Is(f.Side):
				side = string(v.Raw())
			case k.Is(f.Agent):
				agent = string(v.Raw())
			case k.Is(f.Payload):
				n.turn = string(v.Get("id").Raw())
				n.carriesResults = v.Get("content").First().Get("type").Is("tool_result")
			case k.Is(f.ResultCopy):
				style.copy = true
			case k.Is(f.ResultSource):
				style.source = true
				n.ref(l, v)
			case k.Is(refKeys[0]), k.Is(refKeys[1]):
				n.ref(l, v)
			case k.Is(f.Preserved[0]) && len(l.insert) > 0:
				l.preserved(v.Path(f.Preserved[1:]...), style.kept)
			}
			if v.Kind() == transcript.String && (k.Is("toolUseID") || k.Is("parentToolUseID") || k.Is("sourceToolUseID")) {
				if to, renamed := l.rename[string(v.Raw())]; renamed {
					set(v.Span(), to)
				}
			}
		}
		n.scope = side + agent
		nodes = append(nodes, n)
	}
	return nodes, style, nil
}

// ref notes a member that may name a record that is removed.
func (n *node) ref(l *Log, v transcript.Value) {
	if len(l.removed) > 0 && v.Kind() == transcript.String {
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

// insertBehind makes a record with a result, and hangs what followed the call
// on to it.
func (l *Log) insertBehind(nodes []node, byID map[string]int, children map[string][]int, at int, ins insertion, style recordStyle, parents map[int]string) error {
	call := -1
	for i := at; i >= 0; i-- {
		if nodes[i].record == ins.call {
			call = i
			break
		}
	}
	if call < 0 {
		return fmt.Errorf("record %d is not there any more", ins.call)
	}
	text, err := l.Source.Bytes(nodes[call].span)
	if err != nil {
		return err
	}
	f := l.Format
	st := styleOf(transcript.NewValue(text, 0))
	id := ""
	for salt := 0; ; salt++ {
		id = derivedUUID(nodes[call].id, ins.id, salt)
		if _, taken := byID[id]; !taken {
			break
		}
	}
	payload := `{"role":"user","content":[` + string(ins.block) + `]}`
	rec := string(text)
	type change struct{ key, raw string }
	changes := []change{{f.Type, `"user"`}, {f.Payload, payload}}
	if nodes[call].id != "" {
		byID[id] = -1
		changes = append(changes, change{f.ID, id}, change{f.Parent, nodes[call].id})
	}
	content := transcript.NewValue(ins.block, 0).Get("content")
	if style.copy && content.Exists() {
		changes = append(changes, change{f.ResultCopy, string(content.Raw())})
	}
	if style.source && nodes[call].id != "" {
		changes = append(changes, change{f.ResultSource, nodes[call].id})
	}
	out, err := compact([]byte(rec))
	if err != nil {
		return err
	}
	for _, key := range f.CallOnly {
		if out, err = unset(out, key); err != nil {
			return err
		}
	}
	for _, c := range changes {
		if out, err = set(out, c.key, c.raw); err != nil {
			return err
		}
	}
	l.lines.after(nodes[at].span, render(out, st, 0))
	if nodes[call].id == "" {
		return nil
	}
	for _, k := range style.kept[nodes[call].id] {
		k.in.after(k.at, []byte(id))
	}
	for _, i := range children[nodes[call].id] {
		n := &nodes[i]
		if n.carriesResults || n.turn != "" && n.turn == nodes[call].turn || l.removed[n.record] {
			continue
		}
		if _, done := parents[i]; !done {
			parents[i] = id
		}
	}
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

// derivedUUID returns a JSON string with an id in the form of a version 4 UUID
// that depends on nothing but the record and the call.
func derivedUUID(record, call string, salt int) string {
	h := sha256.Sum256([]byte(fmt.Sprintf("%s\x00%s\x00%d", record, call, salt)))
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
