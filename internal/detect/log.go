package detect

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/transcript"
)

// logSink reads a session log: records that wrap messages, from several scopes
// side by side, and that may name their parents.
type logSink struct {
	r    *reader
	d    *dialect.Dialect
	log  *dialect.Log
	seed maphash.Seed

	scopes     []*scope
	byName     map[string]*scope
	links      []link
	byID       map[uint64]int32
	unreadable bool
	keys       []string
	vals       []transcript.Value
}

// A scope is one thread of a log: the main one, or a sub-agent's.
type scope struct {
	q    *sequence
	n    int32 // its index
	side bool
	// segment counts the compactions so far.
	segment int32
	// lastTurn is the turn of the last assistant message, -1 before one.
	lastTurn int32
	// spoken are the messages of that turn, as far as they are new to it.
	spoken []int32
	keep   map[uint64]bool // ids that a compaction preserved
}

// A link is a record's place in the chain of records.
type link struct {
	id, parent uint64 // hashes of the ids, 0 for none
	content    uint64 // hash of the record but for its timestamp
	at, pat    int64  // where the id and the parent are written
	start, end int64  // the record
	idLen      int32
	parentLen  int32
	scope      int32
	msg        int32 // its message in the scope's conversation, -1 for none
	record     int32
	result     bool // a message of results, or nothing that speaks: it hangs on to its parent
}

func newLogSink(r *reader, d *dialect.Dialect) *logSink {
	l := d.Log
	return &logSink{
		r: r, d: d, log: l, seed: maphash.MakeSeed(),
		byName: map[string]*scope{}, byID: map[uint64]int32{},
		keys: []string{l.Type, l.Payload, l.ID, l.Parent, l.Side, l.Agent, l.Meta, l.Summary, l.Hidden, l.Subtype, l.TurnAlt, l.Time, l.Preserved[0]},
		vals: make([]transcript.Value, 13),
	}
}

func (s *logSink) torn(int32) { s.unreadable = true }

func (s *logSink) record(index int32, v transcript.Value) {
	if v.Kind() != transcript.Object {
		s.r.file.Skipped++
		return
	}
	kf := transcript.Builder{Record: index, OnKeyFault: s.r.onKey}
	kf.Fields(v, s.keys, s.vals)
	typ, payload, id, parent := s.vals[0], s.vals[1], s.vals[2], s.vals[3]
	side, agent, meta, summary, hidden := s.vals[4].True(), s.vals[5], s.vals[6].True(), s.vals[7].True(), s.vals[8].True()
	subtype, turnAlt, time, preserved := s.vals[9], s.vals[10], s.vals[11], s.vals[12]

	ln := link{msg: -1, record: index, start: v.Span().Start, end: v.Span().End, result: true}
	if id.Kind() == transcript.String {
		ln.id, ln.at, ln.idLen = s.hash(id.Raw()), id.Span().Start, int32(id.Span().Len())
	}
	if parent.Kind() == transcript.String {
		ln.parent, ln.pat, ln.parentLen = s.hash(parent.Raw()), parent.Span().Start, int32(parent.Span().Len())
	}
	sc, n := s.scopeOf(side, agent, ln.parent)
	ln.scope = n

	speaks := payload.Kind() == transcript.Object
	if speaks {
		speaks = false
		for _, t := range s.log.Speaks {
			speaks = speaks || typ.Is(t)
		}
	}
	c := sc.q.b.Conv
	switch {
	case speaks:
		if !s.message(sc, index, payload, turnAlt) {
			s.r.file.Skipped++
			break
		}
		m := &c.Messages[len(c.Messages)-1]
		ln.msg = int32(len(c.Messages) - 1)
		s.mark(sc, m, payload, meta, summary, hidden)
		ln.result = m.Role != transcript.RoleAssistant && !m.Has(transcript.MessageTyped)
	case subtype.Is(s.log.Boundary):
		sc.segment++
		sc.keep = map[uint64]bool{}
		for _, e := range preservedIDs(preserved.Path(s.log.Preserved[1:]...)) {
			sc.keep[s.hash(e.Raw())] = true
		}
		s.preserve(sc)
		s.r.file.Skipped++
	default:
		s.r.file.Skipped++
	}
	if ln.id == 0 {
		return
	}
	c.Linked = true
	ln.content = s.hashBut(v, time)
	if first, again := s.byID[ln.id]; again {
		s.duplicate(first, ln, id)
		return
	}
	s.byID[ln.id] = int32(len(s.links))
	s.links = append(s.links, ln)
}

// message reads the message that a record wraps. It returns false for one that
// no dialect claims.
func (s *logSink) message(sc *scope, index int32, payload, turnAlt transcript.Value) bool {
	q := sc.q
	rd := q.readers[s.d]
	if rd == nil {
		rd = s.d.Driver.Reader(q.b)
		q.readers[s.d] = rd
	}
	q.b.Record = index
	if tr, ok := rd.(dialect.TurnReader); ok {
		alt := ""
		if turnAlt.Kind() == transcript.String {
			alt = string(turnAlt.Raw())
		}
		if !tr.ReadPart(payload, alt) {
			// A message in another dialect, in the envelope of this one.
			if !q.add(index, payload) {
				return false
			}
			q.b.Message().Flags |= transcript.MessageForeign
		}
	} else {
		rd.Read(payload)
	}
	q.b.Message().Segment = sc.segment
	return true
}

// mark sets what the envelope tells of a message.
func (s *logSink) mark(sc *scope, m *transcript.Message, payload transcript.Value, meta, summary, hidden bool) {
	if hidden {
		m.Flags |= transcript.MessageSuperseded
	}
	c := sc.q.b.Conv
	if m.Role == transcript.RoleAssistant {
		if m.Turn != sc.lastTurn {
			sc.lastTurn, sc.spoken = m.Turn, sc.spoken[:0]
		}
		sc.spoken = append(sc.spoken, int32(len(c.Messages)-1))
		return
	}
	if m.Role != transcript.RoleUser || meta || summary {
		return
	}
	for b := m.BlockLo; b < m.BlockHi; b++ {
		if c.Blocks[b].Kind == transcript.BlockResult {
			return
		}
	}
	text, typed := typedText(payload.Get("content"))
	switch {
	case !typed:
	case s.log.Interrupt != "" && strings.HasPrefix(text, s.log.Interrupt):
		// The agent says itself that the turn before was broken off.
		for _, i := range sc.spoken {
			c.Messages[i].Flags |= transcript.MessageAborted
		}
		sc.spoken = sc.spoken[:0]
	case strings.HasPrefix(text, "<") && strings.IndexByte(text, '>') > 1:
		// What the agent writes itself comes in tags.
	default:
		m.Flags |= transcript.MessageTyped
	}
}

// typedText returns the first text of a message's content.
func typedText(content transcript.Value) (string, bool) {
	if content.Kind() == transcript.String {
		return clip(content), true
	}
	for _, part := range content.Elements() {
		if text := part.Get("text"); text.Kind() == transcript.String {
			return clip(text), true
		}
	}
	return "", false
}

// clip returns the beginning of a text, enough to see how it begins.
func clip(v transcript.Value) string {
	raw := v.Raw()
	raw = raw[1 : len(raw)-1]
	return string(raw[:min(len(raw), 256)])
}

func (s *logSink) hash(b []byte) uint64 {
	if h := maphash.Bytes(s.seed, b); h != 0 {
		return h
	}
	return 1
}

// hashBut hashes a record without the value of one member.
func (s *logSink) hashBut(v, but transcript.Value) uint64 {
	var h maphash.Hash
	h.SetSeed(s.seed)
	raw := v.Raw()
	if but.Exists() {
		lo := but.Span().Start - v.Span().Start
		_, _ = h.Write(raw[:lo])
		_, _ = h.Write(raw[lo+but.Span().Len():])
	} else {
		_, _ = h.Write(raw)
	}
	return h.Sum64()
}

// scopeOf returns the scope of a record. A sub-agent without an id of its own
// is told from others by the chain of its records.
func (s *logSink) scopeOf(side bool, agent transcript.Value, parent uint64) (*scope, int32) {
	name := ""
	switch {
	case agent.Kind() == transcript.String:
		name = "agent " + agent.Str()
	case side:
		if at, known := s.byID[parent]; known && s.scopes[s.links[at].scope].side {
			n := s.links[at].scope
			return s.scopes[n], n
		}
		name = fmt.Sprintf("sidechain %d", len(s.scopes))
	}
	if sc := s.byName[name]; sc != nil {
		return sc, sc.n
	}
	sc := &scope{q: s.r.newSequence(name), n: int32(len(s.scopes)), side: side, lastTurn: -1}
	c := sc.q.b.Conv
	c.Dialect = s.d.Name
	sc.q.primary = nil
	s.byName[name] = sc
	s.scopes = append(s.scopes, sc)
	return sc, sc.n
}

func preservedIDs(v transcript.Value) (ids []transcript.Value) {
	if v.Kind() == transcript.Object {
		v = v.Get("uuids")
	}
	for _, e := range v.Elements() {
		if e.Kind() == transcript.String {
			ids = append(ids, e)
		}
	}
	return ids
}

// preserve carries the messages that a compaction keeps into the new segment.
func (s *logSink) preserve(sc *scope) {
	if len(sc.keep) == 0 {
		return
	}
	c := sc.q.b.Conv
	for id := range sc.keep {
		if at, known := s.byID[id]; known && s.links[at].scope == sc.n && s.links[at].msg >= 0 {
			c.Messages[s.links[at].msg].Segment = sc.segment
		}
	}
}

// duplicate notes a record whose id an earlier one has. Pairing sees one of
// the two: the first of equals, else the last.
func (s *logSink) duplicate(first int32, again link, id transcript.Value) {
	f := &s.links[first]
	same := f.content == again.content
	s.r.file.Links = append(s.r.file.Links, transcript.LinkFault{
		Duplicate: true, Identical: same, Record: again.record, ID: id.Str(),
		Span:  transcript.Span{Start: again.at, End: again.at + int64(again.idLen)},
		First: transcript.Span{Start: f.at, End: f.at + int64(f.idLen)},
		Whole: transcript.Span{Start: again.start, End: again.end},
	})
	replay := func(l *link) {
		if l.msg >= 0 {
			s.scopes[l.scope].q.b.Conv.Messages[l.msg].Flags |= transcript.MessageReplay
		}
	}
	if same {
		replay(&again)
		return
	}
	replay(f)
	s.links[first] = again
}

func (s *logSink) end() {
	s.judge()
	for _, sc := range s.scopes {
		c := sc.q.b.Conv
		if len(c.Messages) == 0 {
			continue
		}
		c.Window = transcript.WindowLog
		c.Lines = s.r.shape.class == classLog && s.r.shape.Framing != transcript.FramingDocument
		if s.unreadable {
			c.Incomplete = true
		}
		for i := range c.Messages {
			if c.Messages[i].Segment < sc.segment {
				c.Messages[i].Flags |= transcript.MessageSuperseded
			}
		}
		s.r.hand(c)
	}
}

// judge follows the links: which parents are missing, and which records lie on
// a branch that was given up.
func (s *logSink) judge() {
	// The live branch of each scope is the path from its last message to the
	// root.
	live := make([]bool, len(s.links))
	leaf := make([]int32, len(s.scopes))
	firstOf := make([]int32, len(s.scopes)) // the first link of the scope
	for i := range leaf {
		leaf[i], firstOf[i] = -1, -1
	}
	for i := range s.links {
		l := &s.links[i]
		if firstOf[l.scope] < 0 {
			firstOf[l.scope] = int32(i)
		}
		if l.msg >= 0 {
			leaf[l.scope] = int32(i)
		}
	}
	parent := func(i int32) int32 {
		if p := s.links[i].parent; p != 0 {
			if at, known := s.byID[p]; known && at != i {
				return at
			}
		}
		return -1
	}
	for _, at := range leaf {
		for i := at; i >= 0 && !live[i]; i = parent(i) {
			live[i] = true
		}
	}
	liveTurn := map[[2]int32]bool{}
	turnOf := func(l *link) [2]int32 {
		return [2]int32{l.scope, s.scopes[l.scope].q.b.Conv.Messages[l.msg].Turn}
	}
	for i := range s.links {
		if l := &s.links[i]; live[i] && l.msg >= 0 {
			liveTurn[turnOf(l)] = true
		}
	}
	// A record off the live branch is dead when the record by which its branch
	// leaves it is a new message of the model or of the human; results and
	// book-keeping only hang on.
	const unknown, alive, dead = 0, 1, 2
	state := make([]uint8, len(s.links))
	var path []int32
	for i := range s.links {
		at := int32(i)
		path = path[:0]
		for state[at] == unknown {
			state[at] = alive // against cycles
			path = append(path, at)
			p := parent(at)
			if live[at] || p < 0 || s.links[p].scope != s.links[at].scope {
				break
			}
			at = p
		}
		for _, n := range slices.Backward(path) {
			l := &s.links[n]
			p := parent(n)
			switch {
			case live[n]:
				state[n] = alive
			case l.msg >= 0 && liveTurn[turnOf(l)]:
				state[n] = alive
			case p < 0 || s.links[p].scope != l.scope:
				state[n] = alive // a root of its own: nothing is known against it
			case state[p] == dead:
				state[n] = dead
			case (live[p] || hangsOnLive(s, p, liveTurn, turnOf)) && !l.result:
				state[n] = dead
			default:
				state[n] = state[p]
			}
		}
	}
	for i := range s.links {
		l := &s.links[i]
		if state[i] == dead && l.msg >= 0 {
			s.scopes[l.scope].q.b.Conv.Messages[l.msg].Flags |= transcript.MessageSuperseded
		}
		if l.parent == 0 {
			continue
		}
		if _, known := s.byID[l.parent]; known {
			continue
		}
		s.r.file.Links = append(s.r.file.Links, transcript.LinkFault{
			Live: live[i] && firstOf[l.scope] != int32(i), Relink: firstOf[l.scope] != int32(i), Record: l.record,
			Span:  transcript.Span{Start: l.pat, End: l.pat + int64(l.parentLen)},
			Whole: transcript.Span{Start: l.start, End: l.end},
		})
	}
}

// hangsOnLive reports whether a record belongs to a turn of the live branch
// without lying on the path itself.
func hangsOnLive(s *logSink, i int32, liveTurn map[[2]int32]bool, turnOf func(*link) [2]int32) bool {
	l := &s.links[i]
	return l.msg >= 0 && liveTurn[turnOf(l)]
}
