// Package detect knows what a file is: how it is framed and in what container,
// which dialect it speaks, at which places of a document a conversation lies, or
// why it is no transcript. One verdict a file. How to read on is the business of
// package container.
package detect

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/source"
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
	Holders  int    // objects around messages that only its files have
	Key      string // the first discriminating key, with where it stands

	at     int64 // where the first decisive element stands
	marked int   // elements that have the marks of a user-defined dialect
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

// Survey looks at the head of a source and decides what it is. The error is an
// *ErrNotTranscript where it is no transcript; the verdict tells all the same.
func Survey(src *source.Source, opts Options) (*Verdict, error) {
	v, err := survey(src, opts)
	if err != nil {
		return nil, err
	}
	if (v.reason != "" || !v.Sure) && !v.foreign {
		if v.Looks, err = looks(src); err != nil {
			return nil, err
		}
	}
	if v.reason != "" {
		return v, &ErrNotTranscript{v.reason, cmp.Or(v.discreet, v.reason)}
	}
	return v, nil
}

func survey(src *source.Source, opts Options) (*Verdict, error) {
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
	near := newNearest(opts.Dialects)
	var foreign recognition
	bad := 0
	var first source.Kind
	start := int64(-1)
	before := 0 // how many records come before the first that speaks
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
			v := rec.Value
			if n <= headRecords {
				v = v.Indexed() // every dialect has a look at it
			}
			read := t.add(v, framing == source.FramingDocument)
			if err := src.Err(); err != nil { // a document is one record
				return nil, err
			}
			if !read || n <= headRecords {
				foreign.add(v, read)
				near.look(v, 0)
			}
			if err := src.Err(); err != nil {
				return nil, err
			}
		}
		if !t.sure {
			before = n
		}
		looked := rec.Span.End - start
		// Of a file without calls nothing decides.
		enough := n-before >= headRecords/4 && t.decisive() > 0 || t.marked || foreign.sure() || t.sure && looked > 4*headBytes
		if looked > mostHead || (looked > headBytes || n >= headRecords) && enough {
			break
		}
	}
	t.decide(s)
	if reason := foreign.reason(t.known); reason != "" && opts.Dialect == nil && !t.marked {
		s.Class, s.reason, s.foreign = ClassOther, reason, true
		return s, nil
	}
	if s.Class == ClassOther && framing == source.FramingDocument && s.Document.Readable() && t.alone(s.Document.Value) {
		t.decide(s)
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
		case t.newSession != nil && t.other+t.unknownTools == 0 && opts.Dialect == nil:
			s.Dialect, s.Container, s.Sure = t.newSession.Name, ContainerLines, true
			if framing == source.FramingDocument {
				s.Container = ContainerDocument
			}
		case framing == source.FramingDocument && t.unspoken:
			s.Container = ContainerDocument
		case framing == source.FramingDocument && t.pieces > 0 || 2*t.pieces > t.n:
			s.reason, s.foreign = streamReason, true
		default:
			s.reason, s.discreet = t.reason(first)
			s.discreet = cmp.Or(s.discreet, s.reason) + near.String()
			s.reason += near.String()
		}
	}
	return s, nil
}

// calling is how transcripts write that a tool is called or has answered: a member
// that names a call by an id, a block of that type, a list of calls. What describes
// such members, as a schema does, has an object in their place.
var calling = regexp.MustCompile(`"(?:tool_call_id|tool_use_id|toolCallId|toolUseId)"\s*:\s*"` +
	`|"type"\s*:\s*"(?:tool_use|tool_result|tool-call|tool-result|function_call|function_call_output)"` +
	`|"(?:tool_calls|toolCalls|tool_uses|toolRequests)"\s*:\s*\[\s*\{` +
	`|"(?:functionCall|functionResponse|function_call|toolUse|toolResult)"\s*:\s*\{\s*"(?:id|name|toolUseId|args|arguments|response|content)"\s*:\s*[^{\s]`)

// looks reports whether the head of a source looks like that of a transcript with
// calls, however it is written.
func looks(src *source.Source) (bool, error) {
	head, err := src.Bytes(source.Span{End: min(src.Size(), headBytes)})
	return calling.Match(head), err
}

// brokenReason says why a document that cannot be read is no transcript, ""
// when its beginning looks like one.
func brokenReason(src *source.Source, doc source.Record) (string, error) {
	head, err := src.Bytes(source.Span{Start: doc.Span.Start, End: min(doc.Span.End, doc.Span.Start+headBytes)})
	if err != nil {
		return "", err
	}
	if bytes.Contains(head, []byte(`"role"`)) || bytes.Contains(head, []byte(`"parentUuid"`)) || calling.Match(head) {
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
