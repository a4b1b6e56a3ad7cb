package container

import (
	"cmp"
	"slices"

	"github.com/toolguard/toolguard/internal/detect"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A LogList is a list whose elements are the records of a log, in their order.
type LogList struct {
	Dialect string
	Array   source.Span
}

// A File is what was read of one file. Its conversations were handed out while
// it was read.
type File struct {
	detect.Decision
	// CheckOnly says why the file is not to be repaired; "" where it may be.
	CheckOnly string
	// InText says how calls are written that are mere text, in a file that has no
	// others; "" elsewhere.
	InText  string
	Records int // framed records, unreadable ones included
	Skipped int // records that hold nothing that speaks
	// Opaque counts elements among the messages that no dialect knows. They are
	// neither read nor changed.
	Opaque        int
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

// Read reads a source and hands out each conversation as soon as it is whole.
// It returns an *ErrNotTranscript when there is none to be found.
func Read(src *source.Source, opts detect.Options, yield func(*transcript.Conversation) error) (*File, error) {
	f := &File{}
	opts.Dialects, opts.Dialect = opts.Dialects.Forced(opts.Dialect)
	shape, err := detect.Survey(src, opts)
	if shape != nil {
		f.Decision, f.Document = shape.Decision, shape.Document
	}
	if err != nil {
		return f, err
	}
	r := &reader{file: f, src: src, opts: opts, shape: shape, yield: yield, end: src.Size()}
	if err := r.read(src); err != nil {
		return f, err
	}
	f.InText = r.inText.reason()
	if d := opts.Dialects.ByName(f.Dialect); d != nil {
		f.CheckOnly = cmp.Or(d.CheckOnly, f.CheckOnly)
	}
	if p := src.Packed(); p != "" {
		f.CheckOnly = "it is compressed with " + p + ": unpack it first"
	}
	return f, nil
}

type reader struct {
	// again is where keys stand that stand twice in the conversation that is read,
	// doubled the same of those before, in sorted runs.
	again   []int64
	doubled [][]int64
	file    *File
	src     *source.Source
	opts    detect.Options
	shape   *detect.Verdict
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
		return &detect.ErrNotTranscript{Reason: reason, Discreet: reason}
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
	case detect.ClassLog:
		return newLogSink(r, r.shape.Log)
	case detect.ClassFold:
		return &foldSink{r: r, folder: newFolder(r.opts.Dialects.ByName(r.shape.Dialect).Fold, false)}
	case detect.ClassPatch:
		return &patchSink{r: r, d: r.opts.Dialects.ByName(r.shape.Dialect)}
	case detect.ClassMessage:
		q := r.newSequence("")
		q.lines = true
		return &lineSink{r: r, seq: q}
	case detect.ClassConversation:
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
	r.file.Opaque += len(c.Unread)
	r.sortDoubled()
	c.Idless, c.Doubled = idless(c), r.doubled
	r.inText.add(r.src, c)
	r.err = r.yield(c)
}

func idless(c *transcript.Conversation) bool {
	n := 0
	for i := range c.Calls {
		if call := &c.Calls[i]; !call.Answer.ByProvider() && call.Answer != transcript.AnswerByPosition {
			n++
			if call.ID.Given() {
				return false
			}
		}
	}
	for i := range c.Results {
		if res := &c.Results[i]; !res.Answer.ByProvider() && res.Answer != transcript.AnswerByPosition {
			n++
			if res.ID.Given() {
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
