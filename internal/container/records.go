package container

import (
	"iter"
	"slices"

	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// An element is a value that may be a message.
type element struct {
	record int32 // the record that holds it
	val    source.Value
	// where maps a span of an assembled value to its span and record in the source. It is
	// nil for a value that is in the source.
	where func(source.Span) (source.Span, int32)
}

// elements yields elements. Each is valid until the next one.
type elements = iter.Seq2[element, error]

// A records yields the messages in the records of a source and records their faults.
type records struct {
	*reading
	torn []source.Span // what could not be read: records, and parts of lines
}

func (s *records) elements(yield func(element, error) bool) {
	for rec, err := range s.framed {
		if err != nil {
			yield(element{}, err)
			return
		}
		s.note(rec)
		if rec.Readable() && !yield(element{record: int32(rec.Index), val: s.inside(rec.Value)}, nil) {
			return
		}
	}
}

// tell tells a conversation what could not be read.
func (s *records) tell(c *transcript.Conversation) { c.Incomplete, c.Torn = len(s.torn) > 0, s.torn }

// inside returns the part of a record that may be a message.
func (s *records) inside(v source.Value) source.Value {
	val := v.Path(s.shape.Into...)
	for i := 0; i < len(s.shape.Else) && !val.Exists(); i++ {
		val = v.Path(s.shape.Else[i]...)
	}
	return val
}

// framed yields the records of the source. It does not read a document again that the
// survey has already read.
func (s *records) framed(yield func(source.Record, error) bool) {
	if doc := s.shape.Document; doc.Index > 0 {
		source.Again(s.src, doc)(yield)
		return
	}
	source.Records(s.src)(yield)
}

func (s *records) note(rec source.Record) {
	s.file.Records++
	s.noteBroken(rec)
	s.file.Starts.Append(rec.Span.Start)
	if s.look != nil {
		s.look(rec)
	}
	for _, f := range rec.Faults {
		s.file.Faults = append(s.file.Faults, transcript.RecordFault{Fault: f, Record: int32(rec.Index), Whole: rec.Span})
		switch n := len(s.torn); {
		case rec.Readable() && f.Kind == source.FaultGlued: // the torn record before it on the line
			s.torn = append(s.torn, f.Span)
		case !rec.Readable() && f.Unreadable() && (n == 0 || s.torn[n-1] != rec.Span):
			s.torn = append(s.torn, rec.Span)
		}
	}
}

// noteBroken notes a record that toolguard reads, but no client that parses line by line.
func (s *records) noteBroken(rec source.Record) {
	if !rec.Readable() || s.file.Framing != source.FramingLines || !rec.Shared && len(rec.Faults) == 0 {
		return
	}
	add := func(record int32) {
		if n := len(s.file.Broken); n == 0 || s.file.Broken[n-1] < record {
			s.file.Broken = append(s.file.Broken, record)
		}
	}
	if rec.Shared {
		add(int32(rec.Index) - 1)
	}
	if rec.Shared || slices.ContainsFunc(rec.Faults, func(f source.Fault) bool {
		switch f.Kind {
		case source.FaultGlued, source.FaultRawNewline:
			return true
		case source.FaultNUL: // another run is on a line of its own
			return f.Span.End == rec.Span.Start || f.Span.Start == rec.Span.End
		}
		return false
	}) {
		add(int32(rec.Index))
	}
}

// unknown yields no conversations. It is used for a file whose class is unknown.
func (s *records) unknown(yield func(*transcript.Conversation, error) bool) {
	for _, err := range s.elements {
		if err != nil {
			yield(nil, err)
			return
		}
	}
}

// inList yields the elements of an array that are not null.
func inList(record int32, list source.Value, into []string) elements {
	return func(yield func(element, error) bool) {
		for e := range list.Ahead() {
			if e.Kind() != source.Null && !yield(element{record: record, val: e.Path(into...)}, nil) {
				return
			}
		}
	}
}
