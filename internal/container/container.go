package container

import (
	"cmp"
	"errors"
	"hash/maphash"
	"iter"

	"github.com/toolguard/toolguard/internal/contain"
	"github.com/toolguard/toolguard/internal/detect"
	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A LogList is an array whose elements are the records of a log, in order.
type LogList struct {
	Dialect string
	Array   source.Span
}

// A File is what is known about one file. The decision is known from the start, the rest
// once all conversations have been read.
type File struct {
	detect.Decision
	// CheckOnly says why the file must not be repaired; "" if it may be.
	CheckOnly string
	// InText describes the calls of a file whose calls are all plain text; "" for other
	// files.
	InText  string
	Records int // framed records, including unreadable ones
	Skipped int // records without a message
	// Opaque counts elements among the messages that no dialect recognizes. They are
	// neither read nor changed.
	Opaque        int
	Conversations int
	Faults        []transcript.RecordFault
	// Broken are the records, in order, that toolguard reads, but no client that parses line by
	// line.
	Broken   []int32
	Keys     []transcript.KeyFault
	Links    []transcript.LinkFault
	Branches []transcript.Branch
	Logs     []LogList
	// Starts are the offsets of the records, indexed from 0.
	Starts source.Offsets
	// Document is the only record of a JSON document, kept so that nobody reads it again.
	Document source.Record

	doubted bool
}

// Doubt says that a panic was caught while the file was in use, so what was learnt from it is not
// used for later files.
func (f *File) Doubt() { f.doubted = true }

// A conversations yields the conversations of a file, each as soon as it is complete.
type conversations = iter.Seq2[*transcript.Conversation, error]

// Open detects what a source is.
func Open(src *source.Source, opts detect.Options) *Reading {
	f := &File{}
	opts.Dialects = opts.Dialects.Knowing(opts.Dialect)
	fresh := opts.Dialects
	opts.Dialects = fresh.Remembering()
	shape, err := detect.Survey(src, opts)
	if shape != nil {
		f.Decision, f.Document = shape.Decision, shape.Document
	}
	r := &Reading{File: f, reading: &reading{file: f, src: src, fresh: fresh, opts: opts, shape: shape, seed: maphash.MakeSeed()}, err: err}
	if r.Listed = err == nil && r.isListed(); err != nil {
		opts.Dialects.Release()
	}
	return r
}

// Read is Open for those who read a file from its start to its end.
func Read(src *source.Source, opts detect.Options) (*File, iter.Seq2[*transcript.Conversation, error]) {
	r := Open(src, opts)
	return r.File, r.Conversations
}

// A Reading reads one file.
type Reading struct {
	File *File
	// Listed is set for a document with many conversations, each of which can be read without the others.
	Listed bool
	*reading
	err error // why there are no conversations
}

// Conversations yields the conversations. They are read while the caller ranges over them, which it
// may do once. Each is valid until the next one. The sequence ends with an *ErrNotTranscript if there
// are none, and goes on after a *RecordError.
func (r *Reading) Conversations(yield func(*transcript.Conversation, error) bool) {
	if r.err != nil {
		yield(nil, r.err)
		return
	}
	r.conversations(yield)
}

// A RecordError is a panic while a record was read. The records behind it can be read.
type RecordError struct{ caught *contain.Error }

// Error implements error.
func (e *RecordError) Error() string { return e.caught.Error() }

// Unwrap returns the panic.
func (e *RecordError) Unwrap() error { return e.caught }

// A reading is the shared state of everything that reads one file.
type reading struct {
	file   *File
	src    *source.Source
	fresh  *dialect.Set // the dialects of opts, without a memory
	opts   detect.Options
	look   func(source.Record)
	shape  *detect.Verdict
	keys   doubledKeys
	shared transcript.Shared
	// seen and taken count the elements that were examined and understood.
	seen, taken int
	// own counts the elements that only the user's dialect writes, and other is the first one
	// that only another dialect writes.
	own   int
	other struct {
		dialect *dialect.Dialect
		at      source.Span
	}
	inText inText
	root   element      // the document whose conversations are read side by side
	text   []byte       // of the value that was last read again
	seed   maphash.Seed // of the hashes of ids and records
	asLog  *log         // if the lines are the records of one
	follow follower     // of the records of a log
	keeps  bool         // what is known of each record of a log, and of the forms of rows
	known  *detect.Rows // what is known of the forms of rows
	recall *recall      // nil if all is read
}

func (r *reading) conversations(yield func(*transcript.Conversation, error) bool) {
	for c, err := range r.kept() {
		if err == nil {
			err = r.complete(c)
		}
		more := yield(c, err)
		if !more || err != nil && !errors.As(err, new(*RecordError)) {
			r.release()
			return
		}
	}
	if err := r.end(); err != nil {
		yield(nil, err)
	}
}

// end sets what is known about the file once everything was read, and passes on what was learnt.
func (r *reading) end() error {
	defer r.release()
	return r.finish()
}

// release passes on what was learnt about values to the readings of later files. A panic does not
// come here.
func (r *reading) release() {
	if !r.file.doubted {
		r.opts.Dialects.Release()
	}
}

// complete sets what is known about a conversation once it has been read.
func (r *reading) complete(c *transcript.Conversation) (err error) {
	defer func() {
		if value := recover(); value != nil {
			r.forget()
			err = &RecordError{contain.Of(value)}
		}
	}()
	c.Index = r.file.Conversations
	r.file.Conversations++
	r.file.Opaque += len(c.Unread)
	c.Idless, c.Doubled = idless(c), r.keys.sorted()
	r.inText.add(r.src, c)
	return nil
}

// forget forgets what was learnt from earlier records for the next ones.
func (r *reading) forget() {
	r.file.Doubt()
	r.opts.Dialects = r.fresh.Remembering()
	r.shared, r.text, r.known = transcript.Shared{}, nil, nil
}

// kept returns the conversations as the file stores them.
func (r *reading) kept() conversations {
	from := &records{reading: r}
	if r.shape.Framing == source.FramingEmpty {
		return nothing
	}
	switch r.shape.Class {
	case detect.ClassLog:
		l := newLog(r, r.shape.Log, r.src.Size(), from.tell)
		l.from, r.asLog = from, l
		return l.conversations(from.elements)
	case detect.ClassMessage, detect.ClassFold, detect.ClassPatch:
		return from.whole
	case detect.ClassRow:
		return (&table{records: from}).conversations
	case detect.ClassYAML:
		return (&documents{reading: r}).inYAML
	case detect.ClassConversation:
		return (&documents{reading: r, from: from}).conversations
	}
	return from.unknown
}

// nothing yields the conversations of a file without records: none.
func nothing(func(*transcript.Conversation, error) bool) {}

// finish sets what is known only after everything has been read.
func (r *reading) finish() error {
	if err := r.inDialect(); err != nil {
		return err
	}
	r.file.InText = r.inText.reason()
	if d := r.opts.Dialects.ByName(r.file.Dialect); d != nil {
		r.file.CheckOnly = cmp.Or(d.CheckOnly, r.file.CheckOnly)
	}
	if p := r.src.Packed(); p != "" {
		r.file.CheckOnly = "it is compressed with " + p + ": unpack it first"
	}
	return nil
}

// inDialect returns an error if the file is not in the dialect that the user named. A request
// may consist of messages that toolguard does not know, but not of those of another API.
func (r *reading) inDialect() error {
	d := r.opts.Dialect
	switch {
	case d == nil:
	case r.opts.Request && r.other.dialect != nil && r.own == 0:
		at := r.src.Pointers(r.file.Document.Value, []source.Span{r.other.at})
		return &detect.ErrOtherDialect{Dialect: d.Name, Found: r.other.dialect.Name, Pointer: at[0]}
	case !r.opts.Request && r.seen > 0 && r.taken == 0:
		reason := "no message is in the format " + d.Name
		return &detect.ErrNotTranscript{Reason: reason, Discreet: reason}
	}
	return nil
}

// idless reports whether no call and no result has a field for an id.
func idless(c *transcript.Conversation) bool {
	without := 0
	given := func(by transcript.Answer, id transcript.Token) bool {
		if by.ByProvider() || by == transcript.AnswerByPosition {
			return false // is paired in another way
		}
		without++
		return id.Given()
	}
	for i := range c.Calls {
		if given(c.Calls[i].Answer, c.Calls[i].ID) {
			return false
		}
	}
	for i := range c.Results {
		if given(c.Results[i].Answer, c.Results[i].ID) {
			return false
		}
	}
	return without > 0
}

// onKey records a key that occurs twice in an object.
func (r *reading) onKey(k transcript.KeyFault) {
	r.file.Keys = append(r.file.Keys, k)
	r.keys.add(k.Again.Start)
}

// id returns the hash of an id, or 0 if there is none.
func (r *reading) id(v source.Value) uint64 {
	if v.Kind() != source.String {
		return 0
	}
	return r.hash(v.Raw())
}

func (r *reading) hash(b []byte) uint64 { return max(1, maphash.Bytes(r.seed, b)) }

// value reads a value of the source again. It is valid until the next call.
func (r *reading) value(at source.Span) (source.Value, error) {
	text, err := r.src.Into(r.text, at)
	if err != nil {
		return source.Value{}, err
	}
	r.text = text
	return source.NewValue(text, at.Start), nil
}
