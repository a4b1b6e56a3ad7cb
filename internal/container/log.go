package container

import (
	"bytes"
	"math"
	"slices"
	"strconv"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A log reads the conversations of a session log. Its records wrap messages of several
// interleaved threads and may name their parents.
type log struct {
	*reading
	d    *dialect.Dialect
	tell func(*transcript.Conversation) // says where the records are
	end  int64                          // the offset at which the records end

	env     envelope
	chain   chain
	edits   []int32 // the links of records that edit others
	steps   int     // of all walks of between
	written written
	threads []*thread
	byName  map[string]*thread
	last    *thread // of the previous record, unless its parent identified it
	others  func(source.Value) bool
	names   map[uint64]bool // of the session, if records that repeat results may name another
	from    *records        // the lines of the file, if they are the records
	memos   []memo          // of the records, if they are kept
	odd     bool            // the current record does more than a memo says
}

// newLog returns a log whose records are before offset end.
func newLog(r *reading, d *dialect.Dialect, end int64, tell func(*transcript.Conversation)) *log {
	l := &log{
		reading: r, d: d, tell: tell, end: end,
		env: newEnvelope(d.Log, r.onKey, r.follow.lenses), byName: map[string]*thread{},
	}
	l.others = l.isOthers // allocated once instead of for each record
	return l
}

func (l *log) conversations(from elements) conversations {
	return func(yield func(*transcript.Conversation, error) bool) {
		err := error(nil)
		if Recalls && l.recall != nil {
			err = l.recalled()
		} else {
			err = each(from, l.record)
		}
		if err == nil {
			err = l.judge()
		}
		if err != nil {
			yield(nil, err)
			return
		}
		l.ascents()
		for _, t := range l.threads {
			l.finish(t)
		}
		l.forget()
		// The main conversation comes first, even if a sub-agent has the first record.
		threads := slices.Clone(l.threads)
		slices.SortStableFunc(threads, func(a, b *thread) int { return min(len(a.conv().Name), 1) - min(len(b.conv().Name), 1) })
		for _, t := range threads {
			if len(t.conv().Messages) > 0 && !yield(t.conv(), nil) {
				return
			}
		}
	}
}

// forget forgets what was only needed to read records, unless the log is recalled later.
func (l *log) forget() {
	if l.keeps {
		return
	}
	l.chain = chain{}
	for _, t := range l.threads {
		t.open, t.closed = nil, nil
		t.q.b.Done()
	}
}

// finish sets what is known about a thread only after all records have been read.
func (l *log) finish(t *thread) {
	c := t.conv()
	c.Window, c.Enveloped = l.d.Window, true
	l.tell(c)
	if l.env.counted {
		c.AppendOnly, c.OnResume = true, l.d.Log.OnResume
	}
	t.settle(c.Messages)
	c.Notes = t.settled()
	c.Echoes = t.echoed()
}

// ascents sets for each message that may be behind one that ends a turn the nearest message from which
// its record descends. A message without a link descends from the one before it.
func (l *log) ascents() {
	if !slices.ContainsFunc(l.threads, func(t *thread) bool {
		return t.conv().Closes && t.conv().Linked && len(t.conv().Results) > 0
	}) {
		return
	}
	for _, t := range l.threads {
		above := make([]int32, len(t.conv().Messages))
		for i := range above {
			above[i] = int32(i) - 1
		}
		t.conv().Above = above
	}
	near := slices.Repeat([]int32{-1}, len(l.chain.links)) // by link: its message, or the nearest one above it
	descend(len(near), l.chain.parent, func(i, above int32) {
		k := l.link(i)
		if above >= 0 && l.link(above).thread == k.thread {
			near[i] = near[above]
		}
		if k.msg >= 0 {
			l.threads[k.thread].conv().Above[k.msg], near[i] = near[i], k.msg
		}
	})
}

func (l *log) record(e element) error {
	for l.odd = false; l.keeps && len(l.memos) < int(e.record); {
		l.memos = append(l.memos, memoRead)
	}
	if e.val.Kind() != source.Object {
		l.file.Skipped++
		return nil
	}
	twice := len(l.file.Keys)
	if l.env.read(e); l.follow.link != nil {
		l.follow.link(l.env.more, l.file.Keys[twice:])
	}
	if l.file.CheckOnly == "" {
		l.file.CheckOnly = l.env.checkOnly()
	}
	if want, follows := l.env.count(); !follows {
		l.file.Links = append(l.file.Links, transcript.LinkFault{
			Ordinal: true, Want: want, Record: e.record, Span: l.env.at[envOrdinal].Span(), Whole: e.val.Span(),
		})
	}
	if again, err := l.written.again(l, e); again || err != nil {
		l.file.Skipped++
		return err
	}
	own, noted := l.id(l.env.at[envID]), false
	at := link{placed: e.placed(), parent: l.id(l.env.at[envParent]), msg: -1}
	t := l.threadOf(at.parent)
	at.thread = t.n

	payload := l.env.payload(e.val)
	read, err := false, error(nil)
	if l.env.speaks(payload) {
		if read, err = l.read(t, e.record, payload, l.env.at[envType], l.env.at[envTurnAlt]); read {
			at.msg = int32(len(t.conv().Messages) - 1)
			if m := &t.conv().Messages[at.msg]; m.Role == transcript.RoleAssistant && l.env.is(l.d.Log.Closes) {
				t.conv().Closes = true
				m.Flags |= transcript.MessageCloses
			}
		}
	} else {
		err = l.event(t, e)
		l.named(e.val)
		l.echo(t, e)
		noted = l.note(t, e)
		l.odd = l.odd || noted
	}
	said := t // if it has the message
	if !read {
		said = nil
		l.file.Skipped++
		if is := l.d.Log.Hooks.Progress; is != nil && is(e.val) {
			at.msg = progress
		}
	}
	if own == 0 || err != nil {
		l.remember(e, said)
		return err
	}
	t.conv().Linked = t.conv().Linked || l.d.Log.Parent != ""
	if first, again := l.chain.add(own, at, l.end); again {
		return l.duplicate(&l.chain.links[first], at, e.val)
	}
	l.remember(e, said)
	if noted {
		t.notes[len(t.notes)-1].link = int32(len(l.chain.links) - 1)
	}
	if edit := l.d.Log.Hooks.Edit; edit != nil {
		if _, is := edit(e.val); is {
			l.edits = append(l.edits, int32(len(l.chain.links)-1))
		}
	}
	return nil
}

// event reads a record without a message.
func (l *log) event(t *thread, e element) error {
	index := e.record
	log := l.d.Log
	if len(log.Boundary)+len(log.Rollback)+len(log.Aborts) == 0 {
		return nil
	}
	l.odd = l.odd || l.env.is(log.Boundary) || l.env.is(log.Rollback) || l.env.is(log.Aborts)
	switch {
	case l.env.is(log.Boundary):
		if done := l.env.at[envSuccess]; !done.Exists() || done.True() {
			for _, kept := range []source.Value{l.env.at[envKeptFrom], l.env.at[envKeptIndex]} {
				if kept.Kind() == source.String || kept.Kind() == source.Number {
					t.conv().Compactions = append(t.conv().Compactions, transcript.Compaction{Whole: e.val.Span(), Kept: kept.Span()})
					break
				}
			}
			return l.compact(t, index)
		}
	case l.env.is(log.Rollback):
		n := 1
		if turns, err := strconv.Atoi(string(l.env.at[envTurns].Raw())); err == nil {
			n = turns
		}
		t.rollBack(t.conv().Messages, n)
	case l.env.is(log.Aborts):
		t.abort()
	}
	return nil
}

// note reads a text that the client sends with the messages. It returns false if the record has none.
func (l *log) note(t *thread, e element) bool {
	for _, n := range l.d.Log.Notes {
		if !l.env.at[envType].Is(n.Type) || l.env.at[envHistory].First().Exists() { // such a history has the summary too
			continue
		}
		if text := n.Text.In(e.val); text.Exists() && text.Kind() != source.Null {
			t.notes = append(t.notes, note{transcript.Note{Record: e.record, Whole: e.val.Span(), Text: text.Span()}, t.now, -1})
			return true
		}
	}
	return false
}

// compact begins a new segment, which contains only what the compaction keeps.
func (l *log) compact(t *thread, index int32) error {
	if rd, keeps := t.q.reader(l.d).(dialect.Compactor); keeps {
		rd.Compacted()
	}
	from := index
	if id := l.id(l.env.at[envKeptFrom]); id != 0 {
		if at, known := l.chain.find(id); known {
			from = l.link(at).record
		}
	} else if n, err := strconv.Atoi(string(l.env.at[envKeptIndex].Raw())); err == nil {
		from = int32(min(max(n, -1), math.MaxInt32-1)) + 1
	}
	messages := t.conv().Messages
	t.begin(messages, from)
	preserved := l.env.at[envPreserved]
	if preserved.Kind() == source.Object {
		preserved = preserved.Get("uuids")
	}
	keep := func(at int32) {
		if k := &l.chain.links[at]; k.thread == t.n && k.msg >= 0 {
			messages[k.msg].Segment = t.now
		}
	}
	if preserved.Exists() {
		for _, id := range preserved.Present() {
			if at, known := l.chain.find(l.id(id)); known {
				keep(at)
			}
		}
	} else {
		for _, at := range l.between(l.id(l.env.at[envHead]), l.id(l.env.at[envTail])) {
			keep(at)
		}
	}
	for _, m := range l.env.at[envHistory].Present() {
		if m.Kind() != source.Object {
			continue
		}
		if _, err := l.read(t, index, m, source.Value{}, source.Value{}); err != nil {
			return err
		}
	}
	return nil
}

// mostSteps limits how many steps between may take for each record of a log. Otherwise a log whose
// compactions all keep the same records would take quadratic time. Real logs have fewer compactions.
const mostSteps = 64

// between returns the links from record tail up to its ancestor head, given the hashes of their ids.
// It returns none if head is not an ancestor, because the client then keeps nothing either.
func (l *log) between(head, tail uint64) []int32 {
	if head == 0 || tail == 0 {
		return nil
	}
	first, known := l.chain.find(head)
	at, also := l.chain.find(tail)
	if !known || !also {
		return nil
	}
	path := []int32{at}
	for ; at != first; path = append(path, at) {
		l.steps++
		if at = l.chain.parent(at); at < 0 || len(path) > len(l.chain.links) || l.steps > mostSteps*len(l.chain.links) {
			return nil
		}
	}
	return path
}

// read reads a message. It returns false if no dialect recognizes it.
func (l *log) read(t *thread, index int32, payload, typ, turnAlt source.Value) (bool, error) {
	q, c := t.q, t.conv()
	rd := q.reader(l.d)
	q.b.Record = index
	before, since := len(c.Messages), c.Mark()
	calls, results := len(c.Calls), len(c.Results)
	defer func() { l.pair(t, calls, results) }()
	own := l.readOwn(rd, payload, typ, turnAlt)
	l.odd = l.odd || !own || len(c.Messages) != before+1
	q.b.Strays(since, payload, l.d.Beside)
	if !own {
		// A message of another dialect in an envelope of this one.
		if read, err := q.read(element{record: index, val: payload}); !read {
			return false, err
		}
		for i := before; i < len(c.Messages); i++ { // none if it holds no message
			c.Messages[i].Flags |= transcript.MessageForeign
		}
	}
	l.seen++
	l.taken++
	if len(c.Messages) == before {
		return false, nil // the record only describes an earlier message
	}
	l.mark(t, payload)
	return true, nil
}

// readOwn reads a message that the dialect of the log recognizes.
func (l *log) readOwn(rd dialect.Reader, payload, typ, turnAlt source.Value) bool {
	if tr, ok := rd.(dialect.TurnReader); ok {
		return tr.ReadPart(payload, typ, turnAlt, l.others)
	}
	if l.opts.Dialects.Ask(payload).Reads(l.d) == evidence.None {
		return false
	}
	rd.Read(payload)
	return true
}

// isOthers reports whether a message certainly belongs to another dialect.
func (l *log) isOthers(v source.Value) bool {
	d, claim, _ := l.opts.Dialects.ClaimOf(v)
	return claim == evidence.Decisive && d != l.d
}

// duplicate records a record whose id an earlier record has. Pairing sees only one of the
// two: the first if they are identical, and otherwise the last.
func (l *log) duplicate(first *link, again link, v source.Value) error {
	before, err := l.value(first.span())
	if err != nil {
		return err
	}
	same := l.identical(before, v)
	id := dialect.Lens(l.d.Log.ID)
	l.file.Links = append(l.file.Links, transcript.LinkFault{
		Duplicate: true, Identical: same, Record: again.record, ID: id.In(v).Str(),
		Span: id.In(v).Span(), FirstRecord: first.record, First: id.In(before).Span(), Whole: v.Span(),
	})
	passed := &again
	if !same {
		passed = first
	}
	if passed.msg >= 0 {
		l.message(passed).Flags |= transcript.MessageReplay
	}
	if !same {
		*first = again
	}
	return nil
}

// identical reports whether two records differ at most in their timestamps.
func (l *log) identical(a, b source.Value) bool {
	headA, tailA := split(a, dialect.Lens(l.d.Log.Time).In(a))
	headB, tailB := split(b, dialect.Lens(l.d.Log.Time).In(b))
	return bytes.Equal(headA, headB) && bytes.Equal(tailA, tailB)
}

// split returns the text of a record before and after a value in it.
func split(record, at source.Value) (head, tail []byte) {
	raw := record.Raw()
	if !at.Exists() {
		return raw, nil
	}
	lo := at.Span().Start - record.Span().Start
	return raw[:lo], raw[lo+at.Span().Len():]
}

func (l *log) link(i int32) *link { return &l.chain.links[i] }

// message returns the message of a link that has one.
func (l *log) message(k *link) *transcript.Message {
	return &l.threads[k.thread].conv().Messages[k.msg]
}
