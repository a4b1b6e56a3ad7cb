package container

import (
	"bytes"
	"slices"

	"github.com/toolguard/toolguard/internal/detect"
	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
	"github.com/toolguard/toolguard/internal/unfold"
)

// A sequence reads the elements of one conversation, which may be in more than one
// dialect.
type sequence struct {
	r       *reading
	b       *transcript.Builder
	onKey   func(transcript.KeyFault)
	primary *dialect.Dialect
	// listed is set if the elements are those of a messages array.
	listed  bool
	readers []reader
	// told holds what the dialects answered about the first elements, in order, before
	// those were read. The first `used` of them have been read.
	told []told
	used int
}

// A told is what the dialects answered about one element.
type told struct {
	at      source.Span
	answers dialect.Answers
}

// mostTold is the number of elements whose answers a sequence keeps.
const mostTold = 256

// ask asks the dialects about an element before it is read.
func (q *sequence) ask(v source.Value) dialect.Asked {
	asked := q.r.opts.Dialects.Ask(v)
	if len(q.told) < mostTold {
		q.told = append(q.told, told{v.Span(), asked.Answers()})
	}
	return asked
}

// asked asks the dialects about an element that is being read.
func (q *sequence) asked(v source.Value) dialect.Asked {
	if q.used < len(q.told) && q.told[q.used].at == v.Span() {
		q.used++
		return q.r.opts.Dialects.Again(v, q.told[q.used-1].answers)
	}
	return q.r.opts.Dialects.Ask(v)
}

// A reader is the reader of a dialect that has occurred.
type reader struct {
	dialect.Reader
	of *dialect.Dialect
	// used is set if the reader has read elements of an earlier conversation.
	used bool
}

// reader returns the reader of a dialect.
func (q *sequence) reader(d *dialect.Dialect) dialect.Reader {
	for i := range q.readers {
		r := &q.readers[i]
		if r.of != d {
			continue
		}
		if r.used {
			r.used = false
			if again, renews := r.Reader.(dialect.Renewer); renews {
				again.Renew()
			} else {
				r.Reader = d.Driver.Reader(q.b)
			}
		}
		return r.Reader
	}
	q.readers = append(q.readers, reader{Reader: d.Driver.Reader(q.b), of: d})
	return q.readers[len(q.readers)-1].Reader
}

// newSequence returns a sequence of elements before offset end, which is 0 if unknown.
func (r *reading) newSequence(name string, end int64) *sequence {
	b := transcript.NewBuilder(&transcript.Conversation{Name: name})
	b.OfTools, b.MarksCache, b.Shared = evidence.ToolKey, r.opts.Dialects.MarksCache, &r.shared
	q := &sequence{r: r, b: b, onKey: r.onKey}
	q.begin(end)
	return q
}

// begin prepares a sequence for elements before offset end.
func (q *sequence) begin(end int64) {
	q.b.OnKeyFault, q.b.End = q.onKey, end
	q.primary = q.r.opts.Dialect
	if q.primary != nil {
		return
	}
	switch q.r.shape.Class {
	case detect.ClassMessage, detect.ClassFold, detect.ClassPatch, detect.ClassRow:
		q.primary = q.r.opts.Dialects.ByName(q.r.shape.Dialect)
	}
}

// again prepares a sequence for the elements of the next conversation, which overwrites
// the previous one.
func (q *sequence) again(end int64) {
	q.b.Again()
	for i := range q.readers {
		q.readers[i].used = true
	}
	q.listed = false
	q.told, q.used = q.told[:0], 0
	q.begin(end)
}

// unfolded says that the elements were unfolded from another form.
func (q *sequence) unfolded(u *unfold.Unfolded) {
	q.b.Conv.Unfolded = u
	q.b.OnKeyFault = func(k transcript.KeyFault) {
		k.First, k.Again = u.Origin(k.First), u.Origin(k.Again)
		q.onKey(k)
	}
}

// choose determines the dialect from all elements of a conversation.
func (q *sequence) choose(p *detect.Place) {
	if q.primary == nil && p.HintSure && !hasMarks(p, q.r.opts.Dialects) {
		q.primary = p.Hint
	}
	if q.primary != nil {
		return
	}
	for _, part := range p.Parts {
		for e := range part.Each() {
			if d, claim, _ := q.ask(e.Path(p.Into...)).Claim(); claim == evidence.Decisive {
				q.primary = d
				return
			}
		}
	}
	if q.primary = p.Hint; q.primary == nil {
		q.primary = q.r.opts.Dialects.ByName(q.r.shape.Dialect)
	}
}

// hasMarks reports whether an element has the marks of a user-defined dialect.
func hasMarks(p *detect.Place, set *dialect.Set) bool {
	if len(set.UserDefined()) == 0 {
		return false
	}
	for _, part := range p.Parts {
		for e := range part.Each() {
			if set.ByMarks(e.Path(p.Into...)) != nil {
				return true
			}
		}
	}
	return false
}

// take reads one element, whether or not a dialect recognizes it.
func (q *sequence) take(e element) error {
	_, err := q.read(e)
	return err
}

// read reads one element. It returns false if no dialect recognizes the element or if it
// is a bookkeeping record.
func (q *sequence) read(e element) (bool, error) {
	// The elements of a document are read without the source, so check its error here.
	if err := q.r.src.Err(); err != nil {
		return false, err
	}
	if e.where == nil {
		return q.add(e.record, e.val), nil
	}
	mark, onKey := q.b.Conv.Mark(), q.b.OnKeyFault
	q.b.OnKeyFault = nil // the pieces have already reported their keys
	read := q.add(e.record, e.val)
	q.b.OnKeyFault = onKey
	q.b.Conv.Relocate(mark, e.where)
	return read, nil
}

func (q *sequence) add(record int32, v source.Value) bool {
	if bytes.HasPrefix(v.Get("role").Text(), []byte("_")) {
		return false
	}
	d := q.primary
	if d == nil {
		d = q.r.opts.Dialects.Plain()
	}
	if s, ok := d.Driver.(dialect.Skipper); ok && s.Skips(v) {
		return false
	}
	q.r.seen++
	asked := q.asked(v)
	claim := asked.Reads(d)
	foreign := false
	if claim < evidence.Shared {
		other, otherClaim, _ := asked.Claim()
		switch {
		case claim > evidence.None && (otherClaim < evidence.Decisive || onlyText(v)):
		case q.r.opts.Dialect != nil:
			// The user's choice wins, but the message is marked as foreign.
			if foreign = otherClaim == evidence.Decisive && other != d; foreign && q.r.other.dialect == nil {
				q.r.other.dialect, q.r.other.at = other, v.Span()
			}
		case otherClaim == evidence.Decisive && q.primary == nil:
			q.primary, d, claim = other, other, otherClaim
		case otherClaim == evidence.Decisive:
			foreign = other != d
			d, claim = other, otherClaim
		case claim == evidence.None:
			d, claim = other, otherClaim
		}
	}
	q.r.file.Marked = q.r.file.Marked || claim >= evidence.Shared
	if claim == evidence.Decisive && d == q.r.opts.Dialect {
		q.r.own++
	}
	if claim == evidence.None || claim == evidence.Weak && q.primary == nil && evidence.HasUnknownBlocks(v) || d == nil {
		// Among messages, an element is also a message if it is damaged or has only a
		// known role. Any other element without a dialect is opaque.
		if !q.damaged(v) && (!v.Get("role").Exists() || !detect.KnownRole(v) || q.primary == nil && evidence.HasUnknownBlocks(v)) {
			if q.b.End > 0 && (q.listed || q.r.shape.Class == detect.ClassMessage) {
				q.b.Conv.Unread = append(q.b.Conv.Unread, transcript.Unread{
					Span: v.Span(), Record: record, Before: int32(len(q.b.Conv.Messages)), Kind: v.Kind(),
					Listed: q.listed && v.Exists(),
					Bare:   v.Kind() == source.Object && !v.Get("role").Exists() && !v.Get("type").Exists(),
				})
			}
			return false
		}
		if d = q.primary; d == nil {
			d = q.r.opts.Dialects.Plain()
		}
	}
	rd := q.reader(d)
	q.b.Record = record
	q.r.taken++
	since := q.b.Conv.Mark()
	rd.Read(v)
	q.b.Strays(since, v, d.Beside)
	if n := len(q.b.Conv.Messages); foreign && n > 0 {
		q.b.Conv.Messages[n-1].Flags |= transcript.MessageForeign
	}
	return true
}

// damaged reports whether an element of a messages array belongs to its dialect although
// the marks of the dialect are missing.
func (q *sequence) damaged(v source.Value) bool {
	if q.primary == nil || !q.listed {
		return false
	}
	d, ok := q.primary.Driver.(dialect.Guesser)
	return ok && d.Damaged(v)
}

// onlyText reports whether a plain message has only text, so that no dialect can claim it
// with more certainty.
func onlyText(v source.Value) bool {
	text := false
	for k, val := range v.Members() {
		switch {
		case k.Is("content"):
			text = val.Kind() == source.String
		case k.Is("type"), k.Is("tool_calls"), k.Is("tool_call_id"), k.Is("function_call"):
			return false
		}
	}
	return text
}

// finish sets what is known only after all elements have been read.
func (q *sequence) finish() {
	d := q.primary
	if d == nil {
		d = q.r.opts.Dialects.Plain()
	}
	c := q.b.Conv
	c.Dialect, c.Window = d.Name, d.Window
	if d.Window == transcript.WindowLog {
		typed(c)
	}
	if d.Slice {
		c.Slice, c.Use = true, transcript.UseTrace
	}
	if d.Dataset && c.Use == transcript.UseLog {
		c.Use = transcript.UseDataset
	}
}

// typed marks the messages that a human typed, for agents that rebuild the history from a
// messages array. These are the user messages without a result.
func typed(c *transcript.Conversation) {
	isResult := func(b transcript.Block) bool { return b.Kind == transcript.BlockResult }
	for i := range c.Messages {
		m := &c.Messages[i]
		blocks := c.Blocks[m.BlockLo:m.BlockHi]
		if m.Role == transcript.RoleUser && (m.Has(transcript.MessageText) || len(blocks) > 0) && !slices.ContainsFunc(blocks, isResult) {
			m.Flags |= transcript.MessageTyped
		}
	}
}
