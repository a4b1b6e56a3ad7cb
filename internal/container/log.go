package container

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"slices"
	"strconv"
	"sync"

	"github.com/toolguard/toolguard/internal/detect"
	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// logSink reads a session log: records that wrap messages, from several scopes
// side by side, and that may name their parents.
type logSink struct {
	r    *reader
	d    *dialect.Dialect
	log  *dialect.Log
	seed maphash.Seed

	scopes []*scope
	byName map[string]*scope
	chain
	unreadable bool
	counted    bool  // records are numbered
	ordinal    int64 // the number of the record before
	envelope   *dialect.Plan
	slots      dialect.Slots
	rec        []source.Value // the envelope of the record that was read last, by slots
	array      source.Span    // the list whose elements the records are, zero for lines
}

// The slots of what is read of the envelope of a record. Those of the members that
// count records are behind them.
const (
	envType = iota
	envSubtype
	envPayload
	envID
	envParent
	envSide
	envAgent
	envMeta
	envSummary
	envHidden
	envTurnAlt
	envSuccess
	envPreserved
	envKeptFrom
	envKeptIndex
	envHistory
	envTurns
	envBeside
	envOrdinal
	envNumbered
)

// envelopePlan is the plan of what is read of the envelope.
func envelopePlan(l *dialect.Log) *dialect.Plan {
	lenses := []dialect.Lens{
		envType: l.Type, envSubtype: l.Subtype, envPayload: l.Payload, envID: dialect.Lens(l.ID), envParent: dialect.Lens(l.Parent),
		envSide: l.Side, envAgent: l.Agent, envMeta: l.Meta, envSummary: l.Summary, envHidden: l.Hidden, envTurnAlt: l.TurnAlt,
		envSuccess: l.Success, envPreserved: l.Preserved, envKeptFrom: l.KeptFrom, envKeptIndex: l.KeptIndex,
		envHistory: l.History, envTurns: l.Turns, envBeside: dialect.Lens(l.ResultCopy), envOrdinal: dialect.Lens(l.Ordinal),
	}
	for _, key := range l.Numbered {
		lenses = append(lenses, dialect.Lens(key))
	}
	return dialect.NewPlan(lenses...)
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
	// spoken are the messages of that turn, as far as they are new to it, typed
	// the messages by a human.
	spoken, typed []int32
	gone          []stretch       // what was taken back, in order
	keep          map[uint64]bool // ids that a compaction preserved
}

func newLogSink(r *reader, d *dialect.Dialect) *logSink {
	return &logSink{
		r: r, d: d, log: d.Log, seed: maphash.MakeSeed(),
		byName: map[string]*scope{}, envelope: envelopePlan(d.Log),
	}
}

func (s *logSink) torn(int32) { s.unreadable = true }

func (s *logSink) record(index int32, v source.Value) {
	if v.Kind() != source.Object {
		s.r.file.Skipped++
		return
	}
	kf := transcript.Builder{Record: index, OnKeyFault: s.r.onKey}
	s.rec = s.envelope.Read(&kf, v, &s.slots)
	typ, id, parent := s.rec[envType], s.rec[envID], s.rec[envParent]
	payload := v
	if s.log.Payload != "" {
		payload = s.rec[envPayload]
	}
	s.numbered()
	s.count(index, v)

	ln := link{msg: -1, record: index, start: v.Span().Start, length: uint32(v.Span().Len())}
	var own uint64 // the hash of its id, 0 for none
	if id.Kind() == source.String {
		own = s.hash(id.Raw())
	}
	if parent.Kind() == source.String {
		ln.parent = s.hash(parent.Raw())
	}
	sc, n := s.scopeOf(s.rec[envSide].True(), s.rec[envAgent], ln.parent)
	ln.scope = n

	c := sc.q.b.Conv
	switch {
	case payload.Kind() == source.Object && slices.ContainsFunc(s.log.Speaks, typ.Is):
		if !s.read(sc, index, payload, typ, s.rec[envTurnAlt]) {
			s.r.file.Skipped++
			break
		}
		ln.msg = int32(len(c.Messages) - 1)
		s.mark(sc, payload)
	default:
		s.event(sc, index, typ)
		s.r.file.Skipped++
	}
	if own == 0 {
		return
	}
	c.Linked = c.Linked || s.log.Parent != ""
	if first, again := s.find(own); again {
		s.duplicate(first, ln, v)
		return
	}
	s.add(own, ln, s.r.end)
}

// numbered looks for a member that counts records.
func (s *logSink) numbered() {
	if s.r.file.CheckOnly != "" {
		return
	}
	for i, n := range s.rec[envNumbered:] {
		if n.Exists() {
			s.r.file.CheckOnly = fmt.Sprintf("its records are counted (%s), so that none can be put in or taken out", s.log.Numbered[i])
		}
	}
}

// count holds the number of a record against that of the one before it.
func (s *logSink) count(index int32, record source.Value) {
	v := s.rec[envOrdinal]
	if !v.Exists() || v.Kind() == source.Null {
		return
	}
	n, err := strconv.ParseInt(string(v.Raw()), 10, 64)
	want := s.ordinal + 1
	if s.counted && (err != nil || n != want) {
		s.r.file.Links = append(s.r.file.Links, transcript.LinkFault{
			Ordinal: true, Want: want, Record: index, Span: v.Span(), Whole: record.Span(),
		})
	}
	if s.counted = s.counted || err == nil; err != nil {
		n = want
	}
	s.ordinal = n
}

// event reads a record that does not speak.
func (s *logSink) event(sc *scope, index int32, typ source.Value) {
	if len(s.log.Boundary)+len(s.log.Rollback)+len(s.log.Aborts) == 0 {
		return
	}
	subtype := s.rec[envSubtype]
	is := func(kinds []string) bool {
		return slices.ContainsFunc(kinds, typ.Is) || slices.ContainsFunc(kinds, subtype.Is)
	}
	switch {
	case is(s.log.Boundary):
		if done := s.rec[envSuccess]; done.Exists() && !done.True() {
			return
		}
		s.boundary(sc, index)
	case is(s.log.Rollback):
		n := 1
		if turns, err := strconv.Atoi(string(s.rec[envTurns].Raw())); err == nil {
			n = turns
		}
		s.rollBack(sc, n)
	case is(s.log.Aborts):
		abort(sc)
	}
}

// boundary begins a new segment: only what the compaction keeps comes along.
func (s *logSink) boundary(sc *scope, index int32) {
	c := sc.q.b.Conv
	sc.segment++
	sc.keep = map[uint64]bool{}
	for _, id := range preservedIDs(s.rec[envPreserved]) {
		sc.keep[s.hash(id.Raw())] = true
	}
	s.preserve(sc)
	if rd, keeps := sc.q.readers[s.d].(dialect.Compactor); keeps {
		rd.Compacted()
	}
	from := index
	if id := s.rec[envKeptFrom]; id.Kind() == source.String {
		if at, known := s.find(s.hash(id.Raw())); known {
			from = s.links[at].record
		}
	} else if n, err := strconv.Atoi(string(s.rec[envKeptIndex].Raw())); err == nil {
		from = int32(n) + 1
	}
	for i := len(c.Messages) - 1; i >= 0 && c.Messages[i].Record >= from; i-- {
		c.Messages[i].Segment = sc.segment
	}
	for _, m := range s.rec[envHistory].Elements() {
		if m.Kind() == source.Object && s.read(sc, index, m, source.Value{}, source.Value{}) {
			s.mark(sc, m)
		}
	}
}

// rollBack takes back the last turns, each from what a human typed on.
func (s *logSink) rollBack(sc *scope, turns int) {
	from := int32(0)
	switch keep := len(sc.typed) - turns; {
	case turns <= 0:
		return
	case keep >= 0:
		from = sc.typed[keep]
		sc.typed = sc.typed[:keep]
	default:
		sc.typed = nil
	}
	c := sc.q.b.Conv
	mark := func(from, to int32) {
		for i := from; i < to; i++ {
			c.Messages[i].Flags |= transcript.MessageSuperseded
		}
	}
	// What was taken back before is not walked again, or many rollbacks of a long
	// thread would take forever.
	end := int32(len(c.Messages))
	back := stretch{from, end}
	for n := len(sc.gone) - 1; n >= 0 && sc.gone[n].hi >= from; n-- {
		mark(sc.gone[n].hi, end)
		end, back.lo = sc.gone[n].lo, min(back.lo, sc.gone[n].lo)
		sc.gone = sc.gone[:n]
	}
	mark(from, end)
	sc.gone = append(sc.gone, back)
}

// A stretch is the messages from lo to before hi.
type stretch struct{ lo, hi int32 }

// abort marks the model's last turn as broken off.
func abort(sc *scope) {
	for _, i := range sc.spoken {
		sc.q.b.Conv.Messages[i].Flags |= transcript.MessageAborted
	}
	sc.spoken = sc.spoken[:0]
}

// read reads the message that a record wraps. It returns false for one that
// no dialect claims.
func (s *logSink) read(sc *scope, index int32, payload, typ, turnAlt source.Value) bool {
	q := sc.q
	rd := q.readers[s.d]
	if rd == nil {
		rd = s.d.Driver.Reader(q.b)
		q.readers[s.d] = rd
	}
	q.b.Record = index
	before := len(q.b.Conv.Messages)
	since := q.b.Conv.Mark()
	read := readInto(rd, s.d, payload, typ, turnAlt)
	q.b.Strays(since, payload, s.d.Beside)
	if !read {
		// A message in another dialect, in the envelope of this one.
		if !q.add(index, payload) {
			return false
		}
		for i := before; i < len(q.b.Conv.Messages); i++ { // none, where it does not speak
			q.b.Conv.Messages[i].Flags |= transcript.MessageForeign
		}
	}
	s.r.seen++
	s.r.taken++
	if len(q.b.Conv.Messages) == before {
		return false // it only tells of what was said
	}
	q.b.Message().Segment = sc.segment
	return true
}

// readInto reads a message that the driver of a log's dialect claims.
func readInto(rd dialect.Reader, d *dialect.Dialect, payload, typ, turnAlt source.Value) bool {
	if tr, ok := rd.(dialect.TurnReader); ok {
		return tr.ReadPart(payload, typ, turnAlt)
	}
	if d.Reads(payload) == dialect.ClaimNone {
		return false
	}
	rd.Read(payload)
	return true
}

// mark sets what the envelope tells of the message that was read last.
func (s *logSink) mark(sc *scope, payload source.Value) {
	c := sc.q.b.Conv
	m := &c.Messages[len(c.Messages)-1]
	if s.rec[envHidden].True() {
		m.Flags |= transcript.MessageSuperseded
	}
	if m.Role == transcript.RoleAssistant {
		if m.Turn != sc.lastTurn {
			sc.lastTurn, sc.spoken = m.Turn, sc.spoken[:0]
		}
		sc.spoken = append(sc.spoken, int32(len(c.Messages)-1))
		return
	}
	if m.Role != transcript.RoleUser || s.rec[envMeta].True() || s.rec[envSummary].True() {
		return
	}
	for b := m.BlockLo; b < m.BlockHi; b++ {
		if c.Blocks[b].Kind == transcript.BlockResult {
			if v := s.rec[envBeside]; v.Exists() {
				c.Results[c.Blocks[b].Ref].Beside = s.hash(v.Raw())
			}
			return
		}
	}
	text, typed := typedText(sc.q.b, payload)
	switch {
	case !typed:
	case s.log.Interrupt != "" && bytes.HasPrefix(text, []byte(s.log.Interrupt)):
		abort(sc) // the agent says itself that the turn before was broken off
	case len(text) > 0 && text[0] == '<' && bytes.IndexByte(text, '>') > 1:
		// What the agent writes itself comes in tags.
	default:
		m.Flags |= transcript.MessageTyped
		if len(s.log.Rollback) > 0 {
			sc.typed = append(sc.typed, int32(len(c.Messages)-1))
		}
	}
}

// typedText returns the first text of the message that was read last.
func typedText(b *transcript.Builder, payload source.Value) ([]byte, bool) {
	at, has := b.Text()
	if !has || !payload.Span().Contains(at) {
		return nil, false
	}
	from := at.Start - payload.Span().Start
	text := source.NewValue(payload.Raw()[from:from+at.Len()], at.Start)
	if text.Kind() == source.Object {
		text = text.Get("text")
	}
	if text.Kind() != source.String {
		return nil, false
	}
	return clip(text), true
}

// clip returns the beginning of a text, enough to see how it begins. Of what may
// stand escaped only a bracket matters, which some writers never leave as it is.
func clip(v source.Value) []byte {
	raw := v.Raw()
	raw = raw[1 : len(raw)-1]
	if len(raw) >= 6 && bytes.EqualFold(raw[:6], []byte(`\u003c`)) {
		raw = []byte(v.Str())
	}
	return raw[:min(len(raw), 256)]
}

func (s *logSink) hash(b []byte) uint64 {
	if h := maphash.Bytes(s.seed, b); h != 0 {
		return h
	}
	return 1
}

// identical reports whether two records are equal but for their timestamps.
func (s *logSink) identical(a, b source.Value) bool {
	headA, tailA := split(a, dialect.Lens(s.log.Time).In(a))
	headB, tailB := split(b, dialect.Lens(s.log.Time).In(b))
	return bytes.Equal(headA, headB) && bytes.Equal(tailA, tailB)
}

// split returns the text of a record before and behind a value in it.
func split(record, at source.Value) (head, tail []byte) {
	raw := record.Raw()
	if !at.Exists() {
		return raw, nil
	}
	lo := at.Span().Start - record.Span().Start
	return raw[:lo], raw[lo+at.Span().Len():]
}

// scopeOf returns the scope of a record. A sub-agent without an id of its own
// is told from others by the chain of its records.
func (s *logSink) scopeOf(side bool, agent source.Value, parent uint64) (*scope, int32) {
	name := ""
	switch {
	case agent.Kind() == source.String:
		name = "agent " + agent.Str()
	case side:
		if at, known := s.find(parent); known && s.scopes[s.links[at].scope].side {
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

func preservedIDs(v source.Value) (ids []source.Value) {
	if v.Kind() == source.Object {
		v = v.Get("uuids")
	}
	for _, e := range v.Elements() {
		if e.Kind() == source.String {
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
		if at, known := s.find(id); known && s.links[at].scope == sc.n && s.links[at].msg >= 0 {
			c.Messages[s.links[at].msg].Segment = sc.segment
		}
	}
}

// duplicate notes a record whose id an earlier one has. Pairing sees one of
// the two: the first of equals, else the last.
func (s *logSink) duplicate(first int32, again link, v source.Value) {
	f := &s.links[first]
	before := s.r.value(f.span())
	same := s.identical(before, v)
	id := dialect.Lens(s.log.ID).In(v)
	s.r.file.Links = append(s.r.file.Links, transcript.LinkFault{
		Duplicate: true, Identical: same, Record: again.record, ID: id.Str(),
		Span: id.Span(), First: dialect.Lens(s.log.ID).In(before).Span(), Whole: v.Span(),
	})
	replay := func(l *link) {
		if l.msg >= 0 {
			s.message(l).Flags |= transcript.MessageReplay
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
		c.Window = s.d.Window
		c.Enveloped = true
		c.Lines = s.r.shape.Class == detect.ClassLog && s.r.shape.Framing != source.FramingDocument
		if !s.array.IsZero() {
			c.Lists = []source.Span{s.array}
		}
		if s.unreadable {
			c.Incomplete = true
		}
		if s.counted {
			c.AppendOnly, c.OnResume = true, s.log.OnResume
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
			if at, known := s.find(p); known && at != i {
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
	liveTurns := make([][]bool, len(s.scopes))
	for i, sc := range s.scopes {
		liveTurns[i] = make([]bool, sc.q.b.Conv.Turns)
	}
	for i := range s.links {
		if l := &s.links[i]; live[i] && l.msg >= 0 {
			liveTurns[l.scope][s.message(l).Turn] = true
		}
	}
	// inLiveTurn reports whether a record belongs to a turn of the live branch,
	// though it need not lie on the path itself.
	inLiveTurn := func(l *link) bool { return l.msg >= 0 && liveTurns[l.scope][s.message(l).Turn] }
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
			case inLiveTurn(l):
				state[n] = alive
			case p < 0 || s.links[p].scope != l.scope:
				state[n] = alive // a root of its own: nothing is known against it
			case state[p] == dead:
				state[n] = dead
			case (live[p] || inLiveTurn(&s.links[p])) && s.speaks(l):
				state[n] = dead
			default:
				state[n] = state[p]
			}
		}
	}
	roots := sync.OnceValue(func() []int32 { return rootsOf(len(s.links), parent) })
	for i := range s.links {
		l := &s.links[i]
		if state[i] == dead && l.msg >= 0 {
			s.message(l).Flags |= transcript.MessageSuperseded
		}
		if l.parent == 0 {
			continue
		}
		if _, known := s.find(l.parent); known {
			continue
		}
		// What hangs on it is not cut off, and what stands in a circle leads nowhere.
		follows := false
		for k := firstOf[l.scope]; k < int32(i) && !follows; k++ {
			root := roots()[k]
			follows = s.links[k].scope == l.scope && root >= 0 && root != int32(i)
		}
		s.r.file.Links = append(s.r.file.Links, transcript.LinkFault{
			Key: s.log.Parent, Live: live[i] && follows, Relink: follows, Record: l.record,
			Span: dialect.Lens(s.log.Parent).In(s.r.value(l.span())).Span(), Whole: l.span(),
		})
	}
}

// rootsOf returns for each of n links the one on which it hangs in the end, -1 where
// parents lead in a circle.
func rootsOf(n int, parent func(int32) int32) []int32 {
	const unknown, circle = -2, -1
	roots := slices.Repeat([]int32{unknown}, n)
	var path []int32
	for i := range roots {
		at := int32(i)
		for path = path[:0]; roots[at] == unknown; {
			path = append(path, at)
			roots[at] = circle // if it is come by again
			if up := parent(at); up >= 0 {
				at = up
			} else {
				roots[at] = at
			}
		}
		for _, k := range path {
			roots[k] = roots[at]
		}
	}
	return roots
}

// message returns the message of a link that has one.
func (s *logSink) message(l *link) *transcript.Message {
	return &s.scopes[l.scope].q.b.Conv.Messages[l.msg]
}

// speaks reports whether a record holds a message that the model or a human
// made: results, and what does not speak, hang on to their parent.
func (s *logSink) speaks(l *link) bool {
	return l.msg >= 0 && (s.message(l).Role == transcript.RoleAssistant || s.message(l).Has(transcript.MessageTyped))
}
