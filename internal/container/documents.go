package container

import (
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/toolguard/toolguard/internal/contain"
	"github.com/toolguard/toolguard/internal/detect"
	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A documents reads the conversations in each record of a document or of lines.
type documents struct {
	*reading
	from *records
	rows *detect.Rows
	last *dialect.Dialect   // of the previous record; nil if that had no messages
	root transcript.Builder // reports duplicate keys in the records
	// seq reads one conversation after another, each from the place at. It is nil before
	// the first one.
	seq *sequence
	at  detect.Place
	// inRecord counts the conversations of the current record from 0.
	inRecord int
	// inside is set while a record is read, and not while a conversation of it is used.
	inside bool
}

func (d *documents) conversations(yield func(*transcript.Conversation, error) bool) {
	give := func(c *transcript.Conversation, err error) bool {
		d.inside = false
		more := yield(c, err)
		d.inside = true
		return more
	}
	if d.rows == nil {
		d.renew()
	}
	for e, err := range d.from.elements {
		if err != nil {
			yield(nil, err)
			return
		}
		more, caught := d.in(e, give)
		if caught != nil {
			d.forget()
			d.renew()
			more = yield(nil, &RecordError{caught})
		}
		if !more {
			return
		}
	}
}

// renew prepares d for the first record, and for the one after a panic, which may have left what
// was learnt from earlier records half written.
func (d *documents) renew() {
	if d.rows, d.last, d.seq = detect.NewRows(d.opts.Dialects), nil, nil; d.known != nil {
		d.rows = d.known.Like(d.opts.Dialects)
	}
	if d.keeps {
		d.known = d.rows
	}
	d.root = transcript.Builder{OnKeyFault: d.onKey}
}

// in yields the conversations of a record and reports whether to continue. It catches a panic,
// unless it is one of yield.
func (d *documents) in(e element, yield func(*transcript.Conversation, error) bool) (more bool, caught *contain.Error) {
	d.inside = true
	defer func() {
		if d.inside {
			if value := recover(); value != nil {
				caught = contain.Of(value)
			}
		}
	}()
	return d.read(e, yield), nil
}

// inYAML yields the conversations in the documents of a YAML file. A panic ends the file.
func (d *documents) inYAML(yield func(*transcript.Conversation, error) bool) {
	for with := 0; ; with++ {
		found, n, err := d.shape.YAML.Next()
		d.file.Records = n
		switch {
		case errors.Is(err, io.EOF):
			d.file.Skipped = n - with
			return
		case err != nil:
			yield(nil, err)
			return
		case !d.found(element{record: int32(n), val: found[0].Unfolded.Value()}, found, yield):
			return
		}
	}
}

// read yields the conversations of a record and reports whether to continue.
func (d *documents) read(e element, yield func(*transcript.Conversation, error) bool) bool {
	d.root.Record, d.inRecord = e.record, 0
	d.root.Fields(e.val, nil, nil)
	found := d.shape.Places
	if d.shape.Places = nil; found == nil {
		found = d.rows.Find(e.val, d.last)
	}
	if len(found) == 0 {
		d.file.Skipped++
	}
	return d.found(e, found, yield)
}

// found yields the conversations at places of a record and reports whether to continue.
func (d *documents) found(e element, found []detect.Place, yield func(*transcript.Conversation, error) bool) bool {
	for i := range found {
		d.at = found[i]
		found[i] = detect.Place{}          // unfolded text is released with its conversation
		if d.at.Class != detect.ClassLog { // not as a sequence, which a short row would allocate
			c, err := d.place(e, &d.at, len(found) > 1)
			if !yield(d.inElement(c), err) || err != nil {
				return false
			}
			continue
		}
		for c, err := range d.log(e, &d.at) {
			if !yield(d.inElement(c), err) || err != nil {
				return false
			}
		}
	}
	return true
}

// listed yields the conversations at some of many places of a document.
func (d *documents) listed(e element, places []detect.Place) conversations {
	return func(yield func(*transcript.Conversation, error) bool) {
		for _, d.at = range places {
			c, err := d.place(e, &d.at, true)
			if !yield(d.inElement(c), err) || err != nil {
				return
			}
		}
	}
}

// inElement notes which element of a list holds a conversation from the current place.
func (d *documents) inElement(c *transcript.Conversation) *transcript.Conversation {
	if c != nil {
		c.Element, c.List = d.at.Element, d.at.List
		if d.shape.Framing == source.FramingLines {
			c.Seed = "row " + strconv.Itoa(d.inRecord)
		}
		d.inRecord++
	}
	return c
}

// log returns the conversations of a log that is stored in an array.
func (d *documents) log(e element, p *detect.Place) conversations {
	ordered, inOrder := chained(p)
	var lists []source.Span
	if inOrder {
		lists = []source.Span{p.Parts[0].Span()}
		d.file.Logs = append(d.file.Logs, LogList{p.Log.Name, lists[0]})
	}
	tell := func(c *transcript.Conversation) { c.Lists = slices.Clone(lists) }
	return newLog(d.reading, p.Log, e.val.Span().End, tell).conversations(within(e.record, slices.Values(ordered), nil))
}

// place reads the conversation at one place of a record. several is set if the record has
// more than one.
func (d *documents) place(e element, p *detect.Place, several bool) (*transcript.Conversation, error) {
	if d.seq == nil {
		d.seq = d.newSequence("", 0)
	}
	q := d.seq
	q.again(e.val.Span().End)
	if p.Unfolded != nil {
		q.unfolded(p.Unfolded)
	}
	if p.CheckOnly != "" {
		d.file.CheckOnly = p.CheckOnly
	}
	d.describe(q.b.Conv, e, p, several)
	q.choose(p)
	q.listed, d.last = true, q.primary
	for _, part := range p.Parts {
		if err := d.part(q, e, part, p.Into); err != nil {
			return nil, err
		}
	}
	c := q.b.Conv
	if p.Expected {
		expect(c)
	}
	q.finish()
	if h := p.Hint; p.HintSure && h.Holder != nil && h.Holder.Waits {
		wait(c)
	}
	return c, nil
}

// part reads one array of messages, or one single message, of a conversation.
func (d *documents) part(q *sequence, e element, part source.Value, into []string) error {
	if part.Kind() != source.Array {
		_, err := q.read(element{record: e.record, val: part})
		return err
	}
	if into == nil {
		q.b.Conv.Lists = append(q.b.Conv.Lists, part.Span())
	}
	q.b.End = part.Span().End
	if q.primary != nil && q.primary.Fold != nil {
		again := func(at source.Span) (source.Value, error) { return part.Part(at), nil }
		from := within(e.record, part.Ahead(), into)
		f := folding{reading: d.reading, log: q.primary.Fold, from: from, again: again, skipped: new(int)}
		return each(f.elements, q.take)
	}
	return each(within(e.record, part.Ahead(), into), q.take)
}

// describe records what the place of a conversation reveals about it.
func (d *documents) describe(c *transcript.Conversation, e element, p *detect.Place, several bool) {
	isLine := d.shape.Framing != source.FramingDocument && d.shape.Framing != source.FramingYAML
	c.Use, c.ElsewhereState, c.Slice, c.Holder = p.Use(isLine), p.Elsewhere, p.Slice(), p.Holder
	if c.Use == transcript.UseBody || c.Use == transcript.UseTrace && p.Answered() {
		c.Model, c.Hosts = p.Model, p.Hosts
	} else { // only an address tells where something other than a request went
		c.Hosts = slices.DeleteFunc(slices.Clone(p.Hosts), func(at string) bool { return !strings.Contains(at, "://") })
	}
	c.Row = c.Use == transcript.UseDataset && !p.Modelled()
	if isLine {
		c.Name = "record " + strconv.Itoa(int(e.record))
	}
	if several && p.Pointer != "" {
		if c.Name != "" {
			c.Name += " "
		}
		c.Name += p.Pointer
	}
}

// expect marks all calls as calls without a result to pair.
func expect(c *transcript.Conversation) {
	for i := range c.Calls {
		if a := &c.Calls[i].Answer; a.ByProvider() {
			*a = transcript.AnswerProviderRecord
		} else {
			*a = transcript.AnswerNone
		}
	}
}

// wait marks the calls of the last turn as waiting for approval.
func wait(c *transcript.Conversation) {
	for i := range c.Calls {
		if call := &c.Calls[i]; c.Messages[call.Message].Turn == int32(c.Turns)-1 {
			call.State = transcript.CallWaiting
		}
	}
}
