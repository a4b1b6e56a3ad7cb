package container

import (
	"iter"
	"slices"

	"github.com/toolguard/toolguard/internal/detect"
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

// A placed is the place of a record or an element, from which it can be read again. There is one
// for each record of a log, so it is small.
type placed struct {
	start  int64
	length uint32
	record int32
}

func (e element) placed() placed {
	at := e.val.Span()
	return placed{start: at.Start, length: uint32(at.Len()), record: e.record}
}

func (p placed) span() source.Span {
	return source.Span{Start: p.start, End: p.start + int64(p.length)}
}

// elements yields elements. Each is valid until the next one.
type elements = iter.Seq2[element, error]

// each passes each element to use. It returns the first error.
func each(from elements, use func(element) error) error {
	for e, err := range from {
		if err == nil {
			err = use(e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// A records yields the messages in the records of a source and records their faults.
type records struct {
	*reading
	torn []source.Span // what could not be read: records, and parts of lines
	// framed are the records if not all of the source are read.
	framed iter.Seq2[source.Record, error]
}

func (s *records) elements(yield func(element, error) bool) {
	framed := source.Records(s.src)
	switch doc := s.shape.Document; {
	case s.framed != nil:
		framed = s.framed
	case doc.Index > 0: // detection has already read it
		framed = source.Again(s.src, doc)
	}
	for rec, err := range framed {
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

// tell sets in a conversation whether its messages are lines, and what could not be read.
func (s *records) tell(c *transcript.Conversation) {
	c.Incomplete, c.Torn = len(s.torn) > 0, s.torn
	switch s.shape.Class {
	case detect.ClassLog, detect.ClassFold, detect.ClassMessage:
		c.Lines = s.shape.Framing != source.FramingDocument && s.shape.Into == nil
	}
}

// inside returns the part of a record that may be a message.
func (s *records) inside(v source.Value) source.Value {
	val := v.Path(s.shape.Into...)
	for i := 0; i < len(s.shape.Else) && !val.Exists(); i++ {
		val = v.Path(s.shape.Else[i]...)
	}
	return val
}

// Look has look called with each record, readable or not, before it counts.
func (r *reading) Look(look func(source.Record)) { r.look = look }

func (s *records) note(rec source.Record) {
	if s.look != nil { // who looks may begin another row
		s.look(rec)
	}
	s.file.Records++
	s.noteBroken(rec)
	s.file.Starts.Append(rec.Span.Start)
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
	if err := each(s.elements, func(element) error { return nil }); err != nil {
		yield(nil, err)
	}
}

// within yields values in one record as elements: what is at the path into in each. It omits nulls
// that hold no element.
func within(record int32, values iter.Seq[source.Value], into []string) elements {
	return func(yield func(element, error) bool) {
		for v := range values {
			if into != nil && v.Kind() == source.Null {
				continue
			}
			if !yield(element{record: record, val: v.Path(into...)}, nil) {
				return
			}
		}
	}
}
