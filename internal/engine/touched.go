package engine

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sort"

	"github.com/toolguard/toolguard/internal/container"
	"github.com/toolguard/toolguard/internal/detect"
	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/source"
)

// leastKept is the size from which a result is proved by what its edits touch. Below, a second check
// takes milliseconds.
const leastKept = 8 << 20

// A probe is how tests look into the proof by what was touched.
type probe struct {
	least int64 // instead of leastKept
	// kept says of each check after edits whether it took from the earlier one what they do not touch.
	kept []bool
	// plant plants an error in what is known of the edits of a source that was checked; nil for none.
	plant func(t *touched, was *roundChecker)
}

// keeps reports whether the check of a source is kept for the next round.
func (o *FixOptions) keeps(src *source.Source) bool {
	least := int64(leastKept)
	if o.probe != nil {
		least = o.probe.least
	}
	return container.Recalls && !o.ProveFull && src.Size() >= least
}

// A stretch is consecutive rows of a dataset that edits touch. Their numbers are the same before and
// after the edits.
type stretch struct {
	was, is                     source.Span
	records, conversations      int // in front of it
	ownRecords, ownConversation int // in it
}

// A touched is what edits touch in a dataset: each row with an edit in it or at its ends, but for one whose line
// end is before the edit.
type touched struct {
	list []stretch
}

// touches returns what edits of the source of c touch. It returns nil if that is most of the source, or
// if it is not known where rows begin.
func (c *roundChecker) touches(edits []edit.Edit) (*touched, error) {
	starts, size := &c.report.File.Starts, c.src.Size()
	n := starts.Len()
	if n == 0 || len(edits) == 0 {
		return nil, nil
	}
	at := func(record int) int64 {
		if record == n {
			return size
		}
		return starts.At(record)
	}
	// begins reports whether a row begins on a line of its own. last is one that does.
	last := 0
	begins := func(record int) (bool, error) {
		if record == 0 || record == last || record == n {
			return true, nil
		}
		b, err := c.src.View(source.Span{Start: at(record) - 1, End: at(record)})
		if err != nil || b[0] != '\n' {
			return false, err
		}
		last = record
		return true, nil
	}
	out, read, grown := &touched{}, int64(0), int64(0)
	for _, e := range edits {
		lo := max(0, starts.Find(e.Span.Start)-1)
		if lo+1 < n && at(lo+1) == e.Span.Start { // a row ends at its line end, whatever follows
			behind, err := begins(lo + 1)
			if err != nil {
				return nil, err
			}
			if behind {
				lo++
			}
		}
		hi := max(lo+1, starts.Find(e.Span.End+1))
		for whole, err := begins(lo); !whole; whole, err = begins(lo) {
			if err != nil {
				return nil, err
			}
			lo--
		}
		for whole, err := begins(hi); !whole; whole, err = begins(hi) {
			if err != nil {
				return nil, err
			}
			hi++
		}
		s := stretch{was: source.Span{Start: at(lo), End: at(hi)}, records: lo, ownRecords: hi - lo}
		if lo == 0 {
			s.was.Start = 0
		}
		s.is.Start = s.was.Start + grown
		if k := len(out.list); k > 0 && out.list[k-1].was.End >= s.was.Start {
			last := out.list[k-1]
			out.list, read = out.list[:k-1], read-last.was.Len()
			s.was.Start, s.is.Start, s.records = last.was.Start, last.is.Start, last.records
			s.was.End = max(s.was.End, last.was.End)
			s.ownRecords = max(hi, last.records+last.ownRecords) - last.records
		}
		grown += int64(len(e.Text)) - e.Span.Len()
		s.is.End = s.was.End + grown
		if read += s.was.Len(); read > size/2 {
			return nil, nil
		}
		out.list = append(out.list, s)
	}
	for i := range out.list {
		s := &out.list[i]
		before := func(record int) int {
			k, _ := slices.BinarySearch(c.rowOf, int32(record)+1)
			return k
		}
		s.conversations = before(s.records)
		s.ownConversation = before(s.records+s.ownRecords) - s.conversations
	}
	return out, nil
}

// by returns how far the edits move an offset that none of them touches, and all else in its row.
func (t *touched) by(offset int64) int64 {
	i := sort.Search(len(t.list), func(i int) bool { return t.list[i].was.End > offset })
	if i == 0 {
		return 0
	}
	return t.list[i-1].is.End - t.list[i-1].was.End
}

// conversation reports whether an edit touches a conversation.
func (t *touched) conversation(n int) bool {
	i := sort.Search(len(t.list), func(i int) bool { return t.list[i].conversations+t.list[i].ownConversation > n })
	return i < len(t.list) && n >= t.list[i].conversations
}

// rowsOnly reports whether nothing is known of a file but its rows: nothing is wrong with a record, and no
// row holds a log. Then what is found in a row depends on no other row.
func rowsOnly(f *container.File) bool {
	return len(f.Faults)+len(f.Broken)+len(f.Keys)+len(f.Links)+len(f.Branches)+len(f.Logs) == 0 && f.CheckOnly == ""
}

// again checks a source like run, after edits of the source that prev has checked. It reads only the
// rows that the edits touch, as they were and as they are, and takes the rest from prev: all that prev
// found, without what it found in those rows as they were. If that cannot be done, or if the rows as
// they were are not what prev found, it returns nil, and the source must be read whole.
func (c *roundChecker) again(ctx context.Context, prev *roundChecker, edits []edit.Edit) (*Report, error) {
	if c.ctx = ctx; !container.Recalls || prev.reading.InRows() && !rowsOnly(prev.report.File) {
		return nil, nil
	}
	t, err := prev.touches(edits)
	if t == nil || err != nil {
		return nil, err
	}
	p := cmp.Or(c.round.opts.probe, &probe{})
	p.kept = append(p.kept, false)
	if p.plant != nil {
		p.plant(t, prev)
	}
	if prev.reading.InLog() {
		return c.recall(ctx, prev.reading, t, p)
	}
	reading := container.Open(c.src, detect.Options{Dialects: c.opts.Dialects, Dialect: c.opts.Dialect})
	if !reading.Alike(prev.reading) {
		reading.Release()
		return nil, nil
	}
	reading.Learn(prev.reading)
	alone := newRoundChecker(prev.src, c.opts, &round{
		settler: &settler{opts: c.round.opts, held: c.round.held, did: map[ruleIn]bool{}}, last: true, facts: facts{src: prev.src},
	})
	was, is := rowsAgain{roundChecker: alone, in: prev.reading.RowReader()}, rowsAgain{roundChecker: c, in: reading.RowReader()}
	file := reading.File
	start := func(from, to int) {
		for at := range prev.report.File.Starts.Range(from, to) {
			file.Starts.Append(at + t.by(at))
		}
	}
	next := 0 // record
	for i := range t.list {
		s := &t.list[i]
		a, err := was.read(ctx, s, s.was)
		if a == nil || err != nil {
			return nil, err
		}
		b, err := is.read(ctx, s, s.is)
		if b == nil || err != nil || !slices.Equal(is.dials, was.dials) {
			return nil, err
		}
		start(next, s.records)
		for at := range b.Starts.All() {
			file.Starts.Append(at)
		}
		next = max(next, s.records) + s.ownRecords
		file.Skipped += b.Skipped - a.Skipped
		file.Opaque += b.Opaque - a.Opaque
	}
	start(next, prev.report.File.Records)
	if !reading.Replace(prev.reading, was.text, is.text) || reading.End() != nil || file.CheckOnly != "" {
		return nil, nil
	}
	file.Records, file.Conversations = prev.report.File.Records, prev.report.File.Conversations
	file.Skipped += prev.report.File.Skipped
	file.Opaque += prev.report.File.Opaque
	if !prev.agrees(alone, t) || !c.count(prev, alone) {
		return nil, nil
	}
	c.report.File, c.dials, c.firstDial = file, prev.dials, 0
	c.reading, c.rowOf = reading, prev.rowOf
	c.take(prev, t)
	was.in.Release()
	is.in.Release()
	p.kept[len(p.kept)-1] = true
	return c.report, c.End()
}

// recall checks a log like run, after edits of the source that of has read. It reads only the records that the
// edits touch, and takes the model of the others from that reading. If that cannot be done, it reads all of them,
// or returns nil.
func (c *roundChecker) recall(ctx context.Context, of *container.Reading, t *touched, p *probe) (*Report, error) {
	parts := make([]container.Touched, len(t.list))
	for i, s := range t.list {
		parts[i] = container.Touched{Was: s.was, Is: s.is, Before: s.records, Records: s.ownRecords}
	}
	c.recalls = func(r *container.Reading) { p.kept[len(p.kept)-1] = r.Recall(of, parts) }
	rep, err := c.run(ctx)
	if errors.Is(err, container.ErrDoubt) {
		p.kept[len(p.kept)-1] = false
		return nil, nil
	}
	return rep, err
}

// A rowsAgain checks stretches, one after the other.
type rowsAgain struct {
	*roundChecker
	in   *container.RowReader
	text container.Text
}

// read checks the rows of a stretch, which are at a span. It returns what is known of them, or nil if
// they are not the rows of the stretch, or cannot be checked without the others.
func (r *rowsAgain) read(ctx context.Context, s *stretch, span source.Span) (*container.File, error) {
	c := r.roundChecker
	at := source.Stretch{From: span.Start, To: span.End, Before: s.records}
	r.in.Before = s.conversations
	conversations := r.in.Conversations(&at)
	c.ctx, c.src, c.report.File, c.dials, c.firstDial = ctx, r.in.Source, r.in.File(), nil, s.conversations
	for conv, err := range conversations {
		if err != nil {
			return nil, ctx.Err() // any other error is that of a check of the whole
		}
		if err := c.next(conv, nil); err != nil {
			return nil, err
		}
	}
	f := r.in.File()
	r.text.Add(r.in.Text())
	if !rowsOnly(f) || at.End > at.To || at.Wasted > 0 || f.Records != s.ownRecords || f.Conversations != s.conversations+s.ownConversation {
		return nil, nil
	}
	return f, nil
}

// agrees reports whether c has found in the touched rows what another check found in them alone.
func (c *roundChecker) agrees(was *roundChecker, t *touched) bool {
	r, w := c.round, was.round
	counts, found := map[counted]int{}, map[ruleIn]int{}
	for k, n := range r.counts {
		if t.conversation(k.conversation) {
			counts[k] = n
		}
	}
	for k, n := range r.found {
		if t.conversation(k.conversation) {
			found[k] = n
		}
	}
	if !maps.Equal(counts, w.counts) || !maps.Equal(found, w.found) {
		return false
	}
	byCall := func(a, b fact) int {
		return cmp.Or(bySpan(a.block, b.block), bySpan(a.payload, b.payload), bySpan(a.call, b.call))
	}
	var facts []fact
	for i := range r.facts.list {
		if f := &r.facts.list[i]; t.conversation(int(f.conversation)) {
			facts = append(facts, *f)
		}
	}
	slices.SortFunc(facts, byCall)
	slices.SortFunc(w.facts.list, byCall)
	if !slices.EqualFunc(facts, w.facts.list, func(a, b fact) bool {
		if a.unfolded != nil && b.unfolded != nil && *a.unfolded == *b.unfolded {
			a.unfolded = b.unfolded
		}
		return a == b
	}) {
		return false
	}
	type sign struct {
		span                 source.Span
		conversation, record int32
		rule                 string
	}
	signs := func(hs *hits) (out []sign) {
		for i := range hs.list {
			if h := &hs.list[i]; t.conversation(int(h.conversation)) {
				out = append(out, sign{h.span, h.conversation, h.record, hs.rule(h).Name})
			}
		}
		slices.SortFunc(out, func(a, b sign) int {
			return cmp.Or(bySpan(a.span, b.span), cmp.Compare(a.rule, b.rule), cmp.Compare(a.conversation, b.conversation))
		})
		return out
	}
	return len(was.found.list) == len(signs(&was.found)) && slices.Equal(signs(&c.found), signs(&was.found))
}

// count adds the numbers of the rows that no edit touches: those of all rows of prev, without those of
// the touched rows as they were. It returns false if the numbers decide which findings are kept.
func (c *roundChecker) count(prev, was *roundChecker) bool {
	c.report.Calls += prev.report.Calls - was.report.Calls
	c.report.Results += prev.report.Results - was.report.Results
	c.round.unanswered += prev.round.unanswered - was.round.unanswered
	kinds := map[findingKind]kindCount{}
	own := c.kinds
	c.report.Rest, c.kinds = nil, nil
	for _, of := range []map[findingKind]kindCount{prev.kinds, own} {
		for k := range of {
			n := prev.kinds[k].n - was.kinds[k].n + own[k].n
			if k.most > 0 && max(n, prev.kinds[k].n) > k.most && was.kinds[k].n+own[k].n > 0 {
				return false
			}
			kinds[k] = kindCount{n: n}
		}
	}
	for k, n := range kinds {
		if n.n > 0 {
			c.over(k, n.n)
		}
	}
	return true
}

// take takes what prev found in the rows that no edit touches.
func (c *roundChecker) take(prev *roundChecker, t *touched) {
	r, p := c.round, prev.round
	r.spoken, r.mixed, r.named = p.spoken, p.mixed, p.named
	for k, n := range p.counts {
		if !t.conversation(k.conversation) {
			r.counts[k] = n
		}
	}
	for k, n := range p.found {
		if !t.conversation(k.conversation) {
			r.found[k] = n
		}
	}
	r.facts.list = slices.Grow(r.facts.list, len(p.facts.list))
	for _, f := range p.facts.list {
		if t.conversation(int(f.conversation)) {
			continue
		}
		source.Move(t.by(f.block.Start), &f.block, &f.payload, &f.call, &f.name, &f.args)
		r.facts.list = append(r.facts.list, f)
	}
	if p.first || p.facts.changed != nil {
		r.facts.changed = map[int32]bool{}
		maps.Copy(r.facts.changed, p.facts.changed)
		for i := range t.list {
			for n := range t.list[i].ownConversation {
				r.facts.changed[int32(t.list[i].conversations+n)] = true
			}
		}
	}
	offers := map[int32]int32{} // the new numbers of those of prev
	texts, from := unpacker{packed: &prev.found.packed}, unpacker{packed: &prev.offers.details}
	for i := range prev.found.list {
		h := &prev.found.list[i]
		if t.conversation(int(h.conversation)) {
			continue
		}
		f := prev.found.finding(h, &texts)
		by := t.by(f.Span.Start)
		source.Move(by, &f.Span)
		for k := range f.Related {
			source.Move(by, &f.Related[k].Span)
		}
		if f.Fix != nil {
			if offers[f.Fix.ID] == 0 {
				o := prev.offers.list[f.Fix.ID-1]
				d := o.read(&from)
				o.number = 0
				c.offers.add(o, &d)
				offers[f.Fix.ID] = int32(len(c.offers.list))
			}
			f.Fix.ID = offers[f.Fix.ID]
		}
		c.found.add(f)
	}
	c.offers.open, c.current = nil, len(c.found.list)
}
