// Package detect knows where messages stand in a file: how the file is framed,
// which dialect it speaks, at which places of a document a conversation lies,
// and how the records of a log hang together. It does not know what is right
// or wrong.
package detect

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// Options steer how a file is read.
type Options struct {
	// Dialects are those that a file may be written in; nil means the built-in
	// ones.
	Dialects *dialect.Set
	// Dialect skips the choice of a dialect; nil means that the file decides.
	Dialect *dialect.Dialect
}

// A Candidate is a dialect that a file could speak.
type Candidate struct {
	Dialect  string
	Decisive int    // elements that only this dialect writes
	Shared   int    // elements that only few dialects write
	Plain    int    // elements that it could have written too
	Hints    int    // requests around messages that are for its API
	Held     int    // objects around messages that only its files have
	Key      string // the first discriminating key, with where it stands

	at  int64 // where the first decisive element stands
	own int   // elements that have the marks of a dialect that somebody has described
}

// A Decision says what a file was found to be, and why.
type Decision struct {
	Framing   source.Framing
	Container string
	Dialect   string
	// Pointer is where the first conversation stands: a JSON pointer, "" for
	// the root, and for a log the member that holds the message.
	Pointer string
	// Wrap leads from an element of the list, or from a record, to the message
	// or the log's record that it holds: "message". Empty where none does.
	Wrap string
	// Looks is set for a file that is no transcript, or not surely one, and yet
	// speaks of calls as one would.
	Looks bool
	// Key is what decided the dialect: `tool_calls[0].function at byte 120`.
	Key string
	// Sure is false for a file that is JSON but shows no sign of a transcript
	// that only a transcript would show.
	Sure      bool
	RunnersUp []Candidate
}

// A LogList is a list whose elements are the records of a log, in their order.
type LogList struct {
	Dialect string
	Array   source.Span
}

// A File is what was read of one file. Its conversations were handed out while
// it was read.
type File struct {
	Decision
	// CheckOnly says why the file is not to be repaired; "" where it may be.
	CheckOnly string
	// InText says how calls are written that are mere text, in a file that has no
	// others; "" elsewhere.
	InText        string
	Records       int // framed records, unreadable ones included
	Skipped       int // records that hold nothing that speaks
	Conversations int
	Faults        []transcript.RecordFault
	Keys          []transcript.KeyFault
	Links         []transcript.LinkFault
	Logs          []LogList
	// Starts are the offsets at which the records begin, by index from 0.
	Starts source.Offsets
	// Document is the one record of a JSON document, so that nobody needs to
	// read it again.
	Document source.Record
}

// ErrNotTranscript is the error of a file that can be read, but in which no
// transcript is to be found.
type ErrNotTranscript struct {
	// Reason says what it is instead, Discreet the same without names of members
	// that stand in the file.
	Reason, Discreet string
}

// Error implements error.
func (e *ErrNotTranscript) Error() string { return "not a transcript: " + e.Reason }

// Containers, as reports name them.
const (
	ContainerDocument      = "json-messages"       // a JSON document with one list of messages
	ContainerDocuments     = "json-conversations"  // a JSON document with several
	ContainerLog           = "json-log"            // a JSON document with a list of log records
	ContainerLines         = "jsonl-messages"      // a message a line
	ContainerConversations = "jsonl-conversations" // a conversation a line
	ContainerLinkedLog     = "linked-log"          // a log whose records name their parents
	ContainerEventLog      = "event-log"           // a log without links
	ContainerFoldingLog    = "folding-log"         // a log in which a record takes the place of an earlier one, or changes it
	ContainerEmpty         = "empty"
)

// Read reads a source and hands out each conversation as soon as it is whole.
// It returns an *ErrNotTranscript when there is none to be found.
func Read(src *source.Source, opts Options, yield func(*transcript.Conversation) error) (*File, error) {
	f := &File{}
	opts.Dialects, opts.Dialect = opts.Dialects.Given(opts.Dialect)
	shape, err := Survey(src, opts)
	if err != nil {
		return f, err
	}
	f.Decision = shape.Decision
	f.Document = shape.Document
	if (shape.reason != "" || !shape.Sure) && !shape.foreign {
		if f.Looks, err = looks(src); err != nil {
			return f, err
		}
	}
	if shape.reason != "" {
		return f, &ErrNotTranscript{shape.reason, cmp.Or(shape.discreet, shape.reason)}
	}
	r := &reader{file: f, src: src, opts: opts, shape: shape, yield: yield, end: src.Size()}
	if err := r.read(src); err != nil {
		return f, err
	}
	f.InText = r.inText.reason()
	if d := opts.Dialects.ByName(f.Dialect); d != nil && f.CheckOnly == "" {
		f.CheckOnly = d.CheckOnly
	}
	if p := src.Packed(); p != "" {
		f.CheckOnly = "it is compressed with " + p + ": unpack it first"
	}
	return f, nil
}

// headRecords and headBytes are what a survey looks at. Where nothing in that says
// whether the file is a transcript, it looks on until something does, up to
// mostHead bytes: an agent can keep books for long before anybody says a word.
const (
	headRecords = 256
	headBytes   = 4 << 20
	mostHead    = 64 << 20
)

// A Verdict is what a survey found.
type Verdict struct {
	Decision
	Class    Class
	reason   string   // why it is no transcript
	discreet string   // the same without names of members, where that differs
	foreign  bool     // it is of a format that is known to have nothing to pair
	Into     []string // leads from a record to what speaks in it
	Column   bool     // what speaks is JSON text in it
	Log      *dialect.Dialect
	Document source.Record // of a file that is one
	Places   []Place       // in the document
}

// Survey looks at the head of a source and decides what it is.
func Survey(src *source.Source, opts Options) (*Verdict, error) {
	if reason, err := store(src); err != nil || reason != "" {
		return &Verdict{reason: reason, foreign: true}, err
	}
	rd := source.NewReader(src)
	framing, err := rd.Framing()
	if err != nil {
		return nil, err
	}
	s := &Verdict{Decision: Decision{Framing: framing}}
	switch framing {
	case source.FramingNone:
		s.reason = rd.Reason()
		return s, nil
	case source.FramingEmpty:
		s.Container = ContainerEmpty
		s.Sure = true
		return s, nil
	}
	t := newTally(opts)
	var foreign recognition
	bad := 0
	var first source.Kind
	start := int64(-1)
	for n := 1; ; n++ {
		rec, err := rd.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if start < 0 {
			start = rec.Span.Start
		}
		if framing == source.FramingDocument {
			s.Document = rec // nothing comes behind it that could overwrite it
		}
		if !rec.Readable() {
			bad++
		} else {
			if first == source.None {
				first = rec.Value.Kind()
			}
			v := rec.Value.Indexed() // every dialect has a look at it
			read := t.add(v, framing == source.FramingDocument)
			if err := src.Err(); err != nil { // a document is one record
				return nil, err
			}
			foreign.add(v, read)
			if err := src.Err(); err != nil {
				return nil, err
			}
		}
		looked := rec.Span.End - start
		if looked > mostHead || (looked > headBytes || n >= headRecords) && (t.sure || t.told || foreign.sure()) {
			break
		}
	}
	t.decide(s)
	if reason := foreign.reason(t.known); reason != "" && opts.Dialect == nil && !t.told {
		s.Class, s.reason, s.foreign = ClassOther, reason, true
		return s, nil
	}
	if s.Class == ClassOther {
		switch {
		case t.n == 0 && bad > 0:
			// Nothing could be read, so nothing can be told about it but its
			// faults, if it looks like a transcript at all.
			s.Container = framing.String()
			s.Dialect = "unknown"
			if framing == source.FramingDocument {
				if s.reason, err = brokenReason(src, s.Document); err != nil {
					return nil, err
				}
			}
		case framing == source.FramingDocument && t.emptyArray:
			s.Container = ContainerDocument
			s.Sure = true
		case t.begun != nil && t.other+t.alien == 0 && opts.Dialect == nil:
			s.Dialect, s.Container, s.Sure = t.begun.Name, ContainerLines, true
			if framing == source.FramingDocument {
				s.Container = ContainerDocument
			}
		case framing == source.FramingDocument && t.unspoken:
			s.Container = ContainerDocument
		default:
			s.reason, s.discreet = t.reason(first)
		}
	}
	return s, nil
}

// speech and tools are names that a transcript has: one of each is in one with
// calls, and in other JSON hardly ever.
var (
	speech = []string{`"role"`, `"type"`, `"sender"`, `"from"`, `"author"`, `"parentUuid"`}
	tools  = []string{
		`"tool_calls"`, `"tool_call_id"`, `"tool_use"`, `"tool_use_id"`, `"tool_result"`, `"function_call"`, `"call_id"`,
		`"toolCalls"`, `"toolCallId"`, `"toolUse"`, `"toolUseId"`, `"toolResult"`, `"functionCall"`, `"functionResponse"`, `"tool-call"`, `"tool-result"`,
	}
)

// looks reports whether the head of a source looks like that of a transcript with
// calls, however it is written.
func looks(src *source.Source) (bool, error) {
	head, err := src.Bytes(source.Span{End: min(src.Size(), headBytes)})
	in := func(name string) bool { return bytes.Contains(head, []byte(name)) }
	return slices.ContainsFunc(speech, in) && slices.ContainsFunc(tools, in), err
}

// brokenReason says why a document that cannot be read is no transcript, ""
// when its beginning looks like one.
func brokenReason(src *source.Source, doc source.Record) (string, error) {
	head, err := src.Bytes(source.Span{Start: doc.Span.Start, End: min(doc.Span.End, doc.Span.Start+headBytes)})
	if err != nil {
		return "", err
	}
	in := func(name string) bool { return bytes.Contains(head, []byte(name)) }
	if in(`"role"`) || in(`"parentUuid"`) || slices.ContainsFunc(tools, in) {
		return "", nil
	}
	for _, f := range doc.Faults {
		switch {
		case f.Kind == source.FaultTooDeep:
			return fmt.Sprintf("nested deeper than %d levels at byte %d", source.MaxDepth, f.Span.Start), nil
		case f.Kind == source.FaultTruncated:
			return fmt.Sprintf("not JSON: ends where %s was expected", f.Want), nil
		case f.Unreadable():
			return fmt.Sprintf("not JSON: expected %s at byte %d", f.Want, f.Span.Start), nil
		}
	}
	return "", nil
}

type reader struct {
	// again is where keys stand that stand twice in the conversation that is read,
	// doubled the same of those before, in sorted runs.
	again   []int64
	doubled [][]int64
	file    *File
	src     *source.Source
	opts    Options
	shape   *Verdict
	yield   func(*transcript.Conversation) error
	err     error
	end     int64 // where what is read ends
	// seen and taken count the elements that were looked at and understood.
	seen, taken int
	inText      inText
}

func (r *reader) read(src *source.Source) error {
	if r.shape.Framing == source.FramingEmpty {
		return nil
	}
	sink := r.sink()
	if doc := r.shape.Document; doc.Index > 0 {
		r.record(sink, doc)
	} else {
		for rec, err := range source.Records(src) {
			if err != nil {
				return err
			}
			if r.record(sink, rec); r.err != nil {
				return r.err
			}
		}
	}
	sink.end()
	if r.err == nil && r.opts.Dialect != nil && r.seen > 0 && r.taken == 0 {
		reason := "nothing in it is written in " + r.opts.Dialect.Name
		return &ErrNotTranscript{reason, reason}
	}
	return r.err
}

// record passes one record on to the sink.
func (r *reader) record(sink sink, rec source.Record) {
	r.file.Records++
	r.file.Starts.Append(rec.Span.Start)
	for _, f := range rec.Faults {
		r.file.Faults = append(r.file.Faults, transcript.RecordFault{Fault: f, Record: int32(rec.Index), Whole: rec.Span})
	}
	if !rec.Readable() {
		if slices.ContainsFunc(rec.Faults, source.Fault.Unreadable) {
			sink.torn(int32(rec.Index))
		}
		return
	}
	if slices.ContainsFunc(rec.Faults, func(f source.Fault) bool { return f.Kind == source.FaultGlued }) {
		sink.torn(int32(rec.Index)) // what stands before it on its line
	}
	sink.record(int32(rec.Index), rec.Value.Path(r.shape.Into...))
}

// A sink takes the records of a file and makes conversations of them.
type sink interface {
	record(index int32, v source.Value)
	torn(index int32) // a record could not be read
	end()
}

func (r *reader) sink() sink {
	if r.shape.Column {
		return &rowSink{r: r, of: map[string]*sequence{}}
	}
	switch r.shape.Class {
	case ClassLog:
		return newLogSink(r, r.shape.Log)
	case ClassFold:
		return &foldSink{r: r, folder: newFolder(r.opts.Dialects.ByName(r.shape.Dialect).Fold, false)}
	case ClassPatch:
		return &patchSink{r: r, d: r.opts.Dialects.ByName(r.shape.Dialect)}
	case ClassMessage:
		q := r.newSequence("")
		q.lines = true
		return &lineSink{r: r, seq: q}
	case ClassConversation:
		return &conversationSink{r: r}
	}
	return nothingSink{}
}

// nothingSink serves a file of which nothing could be made out.
type nothingSink struct{}

func (nothingSink) record(int32, source.Value) {}
func (nothingSink) torn(int32)                 {}
func (nothingSink) end()                       {}

// hand passes a finished conversation on.
func (r *reader) hand(c *transcript.Conversation) {
	if r.err != nil {
		return
	}
	c.Index = r.file.Conversations
	r.file.Conversations++
	r.sortDoubled()
	c.Idless, c.Doubled = idless(c), r.doubled
	r.inText.add(r.src, c)
	r.err = r.yield(c)
}

func idless(c *transcript.Conversation) bool {
	n := 0
	for i := range c.Calls {
		if call := &c.Calls[i]; !call.Server && !call.NoIDs {
			n++
			if call.ID.Present() {
				return false
			}
		}
	}
	for i := range c.Results {
		if res := &c.Results[i]; !res.Server && !res.NoIDs {
			n++
			if res.ID.Present() {
				return false
			}
		}
	}
	return n > 0
}

// value reads a value of the source again. A source that fails ends the reading.
func (r *reader) value(at source.Span) source.Value {
	text, err := r.src.Bytes(at)
	if r.err == nil {
		r.err = err
	}
	return source.NewValue(text, at.Start)
}

func (r *reader) onKey(k transcript.KeyFault) {
	r.file.Keys = append(r.file.Keys, k)
	r.again = append(r.again, k.Again.Start)
}

// sortDoubled adds the doubled keys that are new to the sorted runs. Keys of an
// outer object are told before those of an inner one, so they come in any order.
// Each run is longer than the next, so there are few.
func (r *reader) sortDoubled() {
	if len(r.again) == 0 {
		return
	}
	slices.Sort(r.again)
	runs := append(slices.Clone(r.doubled), r.again)
	r.again = nil
	for n := len(runs); n > 1 && len(runs[n-2]) <= len(runs[n-1]); n-- {
		runs[n-2] = slices.Concat(runs[n-2], runs[n-1])
		slices.Sort(runs[n-2])
		runs = runs[:n-1]
	}
	r.doubled = runs
}

// lineSink reads a message a line into one conversation.
type lineSink struct {
	r    *reader
	seq  *sequence
	past int // how many messages are not sent any more
}

func (s *lineSink) record(index int32, v source.Value) {
	if s.r.shape.Framing == source.FramingDocument && (v.Get("stop_reason").Exists() || s.r.shape.Into != nil) {
		s.seq.b.Conv.Use = transcript.UseTrace // one recorded answer, or one of the files that make up a history
		s.seq.b.Conv.Slice = s.r.shape.Into != nil
	}
	if !s.seq.add(index, v) {
		s.r.file.Skipped++
		if d := s.seq.primary; d != nil && d.Head != nil && v.Get(d.Head.Tag).Is(d.Head.Value) {
			// What is no number counts nothing.
			s.past, _ = strconv.Atoi(string(v.Get(d.Head.Past).Raw()))
		}
	}
}

func (s *lineSink) torn(int32) { s.seq.b.Conv.Incomplete = true }

func (s *lineSink) end() {
	s.seq.b.Conv.Lines = s.r.shape.Framing != source.FramingDocument && s.r.shape.Into == nil
	s.r.finish(s.seq)
	for i := range min(max(0, s.past), len(s.seq.b.Conv.Messages)) {
		s.seq.b.Conv.Messages[i].Flags |= transcript.MessageSuperseded
	}
	s.r.hand(s.seq.b.Conv)
}

// conversationSink finds the conversations in each record.
type conversationSink struct{ r *reader }

func (s *conversationSink) record(index int32, v source.Value) {
	root := transcript.Builder{Record: index, OnKeyFault: s.r.onKey}
	root.Fields(v, nil, nil)
	s.r.end = v.Span().End
	found := s.r.shape.Places
	if s.r.shape.Places = nil; found == nil {
		found = Find(s.r.opts.Dialects, v)
	}
	if len(found) == 0 {
		s.r.file.Skipped++
		return
	}
	lines := s.r.shape.Framing != source.FramingDocument
	for _, p := range found {
		if p.Class == ClassLog {
			ls := newLogSink(s.r, p.Log)
			records, inOrder := chained(p)
			if inOrder {
				ls.array = p.Parts[0].Span()
				s.r.file.Logs = append(s.r.file.Logs, LogList{p.Log.Name, ls.array})
			}
			for _, e := range records {
				ls.record(index, e)
			}
			ls.end()
			continue
		}
		q := s.r.newSequence("")
		c := q.b.Conv
		if c.Unfolded = p.Unfolded; p.Unfolded != nil {
			q.b.OnKeyFault = func(k transcript.KeyFault) {
				k.First, k.Again = p.Unfolded.Origin(k.First), p.Unfolded.Origin(k.Again)
				s.r.onKey(k)
			}
		}
		if p.CheckOnly != "" {
			s.r.file.CheckOnly = p.CheckOnly
		}
		c.Use, c.ElsewhereState, c.Slice, c.Holder = p.Use(lines), p.Elsewhere, p.Traced || p.CheckOnly == spanCheckOnly, p.Holder
		if c.Use == transcript.UseBody || c.Use == transcript.UseTrace && p.answered {
			c.Model, c.Hosts = p.Model, p.Hosts
		} else { // of what is no request only the address tells where it went
			c.Hosts = slices.DeleteFunc(slices.Clone(p.Hosts), func(at string) bool { return !strings.Contains(at, "://") })
		}
		if lines {
			c.Name = fmt.Sprintf("record %d", index)
		}
		if len(found) > 1 && p.Pointer != "" {
			if c.Name != "" {
				c.Name += " "
			}
			c.Name += p.Pointer
		}
		q.choose(p)
		q.listed = true
		for _, part := range p.Parts {
			if part.Kind() != source.Array {
				q.add(index, part)
				continue
			}
			if p.Into == nil {
				c.Lists = append(c.Lists, part.Span())
			}
			q.b.End = part.Span().End
			if q.primary != nil && q.primary.Fold != nil {
				for _, e := range foldList(part, p.Into, q.primary.Fold) {
					q.add(index, e)
				}
				continue
			}
			for _, e := range part.Elements() {
				q.add(index, e.Path(p.Into...))
			}
		}
		for i := range c.Calls {
			c.Calls[i].Hosted = c.Calls[i].Hosted || p.Expected
		}
		s.r.finish(q)
		if h := p.Hint; p.Held && h.Holder != nil && h.Holder.Waits {
			wait(c)
		}
		s.r.hand(c)
	}
}

// wait marks the calls of the last turn as such that wait for approval.
func wait(c *transcript.Conversation) {
	for i := range c.Calls {
		if call := &c.Calls[i]; c.Messages[call.Message].Turn == int32(c.Turns)-1 {
			call.State = transcript.CallWaiting
		}
	}
}

func (s *conversationSink) torn(int32) {}
func (s *conversationSink) end()       {}

// A sequence reads the elements of one conversation that may speak more than
// one dialect.
type sequence struct {
	r       *reader
	b       *transcript.Builder
	primary *dialect.Dialect
	// listed is set where the elements are those of a list of messages.
	listed bool
	// lines is set where the records of a file are messages.
	lines   bool
	readers map[*dialect.Dialect]dialect.Reader
}

func (r *reader) newSequence(name string) *sequence {
	c := &transcript.Conversation{Name: name}
	b := transcript.NewBuilder(c)
	b.OnKeyFault, b.End = r.onKey, r.end
	q := &sequence{r: r, b: b, readers: map[*dialect.Dialect]dialect.Reader{}}
	if d := r.opts.Dialect; d != nil {
		q.primary = d
	} else if r.shape.Class == ClassMessage {
		q.primary = r.opts.Dialects.ByName(r.shape.Dialect)
	}
	return q
}

// choose settles the dialect of elements that are all at hand.
func (q *sequence) choose(p Place) {
	if q.primary == nil && p.Held && !p.told(q.r.opts.Dialects) {
		q.primary = p.Hint
	}
	if q.primary != nil {
		return
	}
	for _, part := range p.Parts {
		for _, e := range part.Elements() {
			if d, claim, _ := ClaimOf(q.r.opts.Dialects, e.Path(p.Into...)); claim == dialect.ClaimDecisive {
				q.primary = d
				return
			}
		}
	}
	if q.primary = p.Hint; q.primary == nil {
		q.primary = q.r.opts.Dialects.ByName(q.r.shape.Dialect)
	}
}

// told reports whether an element has the marks of a dialect that somebody has
// described.
func (p *Place) told(set *dialect.Set) bool {
	if len(set.Own()) == 0 {
		return false
	}
	for _, part := range p.Parts {
		for _, e := range part.Elements() {
			if set.Told(e.Path(p.Into...)) != nil {
				return true
			}
		}
	}
	return false
}

// add reads one element. It returns false for one that no dialect claims, and
// for book-keeping.
func (q *sequence) add(record int32, v source.Value) bool {
	if q.r.err == nil {
		q.r.err = q.r.src.Err()
	}
	if q.r.err != nil {
		return false
	}
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
	claim := d.Reads(v)
	foreign := false
	if claim < dialect.ClaimShared && (claim == dialect.ClaimNone || !onlyText(v)) {
		other, otherClaim, _ := ClaimOf(q.r.opts.Dialects, v)
		switch {
		case q.r.opts.Dialect != nil:
			// The user has the say, but is told.
			foreign = otherClaim == dialect.ClaimDecisive && other != d
		case otherClaim == dialect.ClaimDecisive && q.primary == nil:
			q.primary, d, claim = other, other, otherClaim
		case otherClaim == dialect.ClaimDecisive:
			foreign = other != d
			d, claim = other, otherClaim
		case claim == dialect.ClaimNone:
			d, claim = other, otherClaim
		}
	}
	if claim == dialect.ClaimNone || claim == dialect.ClaimFaint && q.primary == nil && dialect.Alien(v) || d == nil {
		// Among messages, one that has a role and nothing else is one too, and so
		// is a damaged one. What else a message holds is opaque where its dialect
		// is known.
		if !q.damaged(v) && (!v.Get("role").Exists() || !KnownRole(v) || q.primary == nil && dialect.Alien(v)) {
			if q.b.End > 0 && (q.listed || q.lines) {
				q.b.Conv.Unread = append(q.b.Conv.Unread, transcript.Unread{Span: v.Span(), Before: int32(len(q.b.Conv.Messages))})
			}
			return false
		}
		if d = q.primary; d == nil {
			d = q.r.opts.Dialects.Plain()
		}
	}
	rd := q.readers[d]
	if rd == nil {
		rd = d.Driver.Reader(q.b)
		q.readers[d] = rd
	}
	q.b.Record = record
	q.r.taken++
	rd.Read(v)
	if n := len(q.b.Conv.Messages); foreign && n > 0 {
		q.b.Conv.Messages[n-1].Flags |= transcript.MessageForeign
	}
	return true
}

// damaged reports whether an element of a list of messages is one of its
// dialect, though it lacks what tells.
func (q *sequence) damaged(v source.Value) bool {
	if q.primary == nil || !q.listed {
		return false
	}
	d, ok := q.primary.Driver.(dialect.Guesser)
	return ok && d.Damaged(v)
}

// onlyText reports whether a plain message is text and nothing else, so that no
// dialect can claim it more surely.
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

// typed marks what a human says in a list of messages of which their agent
// rebuilds the history: what a user's message says that holds no result.
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

// finish settles what is known only when all elements have been read.
func (r *reader) finish(q *sequence) {
	d := q.primary
	if d == nil {
		d = r.opts.Dialects.Plain()
	}
	q.b.Conv.Dialect = d.Name
	q.b.Conv.Window = d.Window
	if d.Window == transcript.WindowLog {
		typed(q.b.Conv)
	}
	if d.Slice {
		q.b.Conv.Slice, q.b.Conv.Use = true, transcript.UseTrace
	}
	if d.Dataset && q.b.Conv.Use == transcript.UseLog {
		q.b.Conv.Use = transcript.UseDataset
	}
}
