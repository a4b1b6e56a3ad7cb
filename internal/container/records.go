package container

import (
	"iter"

	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// An element is a value that may speak.
type element struct {
	record int32 // the one that it stands in
	val    source.Value
	// where says where in the source a part of a value stands that was put together
	// from pieces, and in which record; nil for one that is in the source as it is.
	where func(source.Span) (source.Span, int32)
}

// elements yields elements, good until the next one.
type elements = iter.Seq2[element, error]

// A records yields what speaks in the records of a source, and notes their faults.
type records struct {
	*reading
	torn bool // a record could not be read
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

// inside returns what speaks in a record.
func (s *records) inside(v source.Value) source.Value {
	val := v.Path(s.shape.Into...)
	for i := 0; i < len(s.shape.Else) && !val.Exists(); i++ {
		val = v.Path(s.shape.Else[i]...)
	}
	return val
}

// framed yields the records as the source is framed. The survey has read a document
// already.
func (s *records) framed(yield func(source.Record, error) bool) {
	if doc := s.shape.Document; doc.Index > 0 {
		source.Again(s.src, doc)(yield)
		return
	}
	source.Records(s.src)(yield)
}

func (s *records) note(rec source.Record) {
	s.file.Records++
	s.file.Starts.Append(rec.Span.Start)
	if s.look != nil {
		s.look(rec)
	}
	for _, f := range rec.Faults {
		s.file.Faults = append(s.file.Faults, transcript.RecordFault{Fault: f, Record: int32(rec.Index), Whole: rec.Span})
		if rec.Readable() {
			s.torn = s.torn || f.Kind == source.FaultGlued // what stands before it on its line
		} else {
			s.torn = s.torn || f.Unreadable()
		}
	}
}

// unknown yields no conversations: those of a file of which nothing could be made
// out.
func (s *records) unknown(yield func(*transcript.Conversation, error) bool) {
	for _, err := range s.elements {
		if err != nil {
			yield(nil, err)
			return
		}
	}
}

// inList yields what speaks in the elements of a list.
func inList(record int32, list source.Value, into []string) elements {
	return func(yield func(element, error) bool) {
		for e := range list.Ahead() {
			if !yield(element{record: record, val: e.Path(into...)}, nil) {
				return
			}
		}
	}
}
