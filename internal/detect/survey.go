package detect

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"sync"

	"github.com/toolguard/toolguard/internal/source"
)

// Survey reads the head of a source and decides what it is. The error is an
// *ErrNotTranscript if the source is not a transcript; the verdict is set even then.
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
	if opts.Request {
		return request(src, opts.Dialect)
	}
	if reason, err := store(src); err != nil || reason != "" {
		return &Verdict{reason: reason, foreign: true}, err
	}
	if is, like, err := isYAML(src); err != nil || is {
		if err != nil {
			return nil, err
		}
		return yaml(src, opts, like)
	}
	rd := source.NewReader(src)
	framing, err := rd.Framing()
	if err != nil {
		return nil, err
	}
	switch framing {
	case source.FramingNone:
		return &Verdict{Decision: Decision{Framing: framing}, reason: rd.Reason()}, nil
	case source.FramingEmpty:
		return &Verdict{Decision: Decision{Framing: framing, Container: ContainerEmpty, Sure: true}}, nil
	}
	outer := newBeginning(framing, opts)
	if err := outer.read(src, rd, nil); err != nil {
		return nil, err
	}
	s := outer.verdict()
	if into := outer.tally.wrapper(s.Class, framing == source.FramingDocument); into != nil && s.reason == "" {
		inner := newBeginning(framing, opts)
		if framing == source.FramingDocument {
			inner.add(s.Document, into, 1)
		} else if err := inner.read(src, source.NewReader(src), into); err != nil {
			return nil, err
		}
		if held := inner.verdict(); held.reason != "" || held.Class != ClassOther && held.Class != ClassConversation {
			held.Into, held.Wrap, held.Pointer, held.Document = into, wrapName(into), "", s.Document
			if held.Class == ClassMessage {
				held.Else = outer.tally.wraps.others(into)
			}
			return held, nil
		}
	}
	if s.Class == ClassOther && s.reason == "" {
		return s, outer.nothing(src, s)
	}
	return s, nil
}

// A beginning holds what is known from the first records of a source.
type beginning struct {
	opts     Options
	framing  source.Framing
	tally    *tally
	foreign  recognition
	near     *nearest
	index    source.Indexer
	document source.Record
	first    source.Kind // of the first readable record
	bad      int         // unreadable records
	unread   bool        // no dialect reads the last record
}

func newBeginning(framing source.Framing, opts Options) *beginning {
	return &beginning{framing: framing, opts: opts, tally: newTally(opts), near: newNearest(opts.Dialects)}
}

// read counts the first records of a source, or the values at a path in them.
func (b *beginning) read(src *source.Source, rd *source.Reader, into []string) error {
	start := int64(-1)
	before := 0 // the number of records before the first message
	for n := 1; ; n++ {
		rec, err := rd.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if start < 0 {
			start = rec.Span.Start
		}
		b.add(rec, into, n)
		if err := src.Err(); err != nil { // a document is a single record
			return err
		}
		t := b.tally
		if !t.sure && t.decisive() == 0 {
			before = n
		}
		looked := rec.Span.End - start
		// In a file without calls nothing is decisive.
		enough := n-before >= headRecords/4 && t.decisive() > 0 || t.marked || b.foreign.sure() || t.sure && looked > 4*headBytes
		if looked > mostHead || (looked > headBytes || n >= headRecords) && enough || n >= settledRecords && b.settled() {
			return nil
		}
	}
}

// settledRecords is how many records are enough if they agree.
const settledRecords = 12

// settled reports whether the records so far leave no doubt: most are of one class, and
// all decisive ones are for one dialect.
func (b *beginning) settled() bool {
	return b.framing == source.FramingLines && b.bad == 0 && !b.foreign.any() && b.tally.agrees()
}

// add counts record number n.
func (b *beginning) add(rec source.Record, into []string, n int) {
	if b.framing == source.FramingDocument {
		b.document = rec // no later record can overwrite it
	}
	if !rec.Readable() {
		b.bad++
		return
	}
	v := rec.Value.Path(into...)
	if b.first == source.None {
		b.first = v.Kind()
	}
	if n <= headRecords || b.unread {
		v = b.index.Of(v) // every dialect examines it
	}
	read := b.tally.add(v, b.framing == source.FramingDocument)
	b.unread = !read
	if b.opts.Dialect == nil && (!read || n <= headRecords) { // what else it could be
		b.foreign.add(v, read)
	}
	if !read || n <= headRecords {
		b.near.look(v, 0)
	}
}

// verdict decides what a source is from its head.
func (b *beginning) verdict() *Verdict {
	s := &Verdict{Decision: Decision{Framing: b.framing}, Document: b.document}
	b.tally.decide(s)
	if reason := b.foreign.reason(b.tally.known); reason != "" && b.opts.Dialect == nil && !b.tally.marked {
		s.Class, s.reason, s.foreign = ClassOther, reason, true
	}
	return s
}

// nothing decides what a source without messages is.
func (b *beginning) nothing(src *source.Source, s *Verdict) (err error) {
	t, document := b.tally, b.framing == source.FramingDocument
	if document && b.document.Readable() && t.alone(b.document.Value) {
		if t.decide(s); s.Class != ClassOther {
			return nil
		}
	}
	switch {
	case t.n == 0 && b.bad > 0:
		// No record is readable. Report only the faults, and only if the file looks like
		// a transcript.
		s.Container = b.framing.String()
		if document {
			s.reason, err = brokenReason(src, s.Document)
		}
	case document && t.emptyArray:
		s.Container = ContainerDocument
		s.Sure = true
	case t.newSession != nil && t.other+t.unknownTools == 0 && b.opts.Dialect == nil:
		s.Dialect, s.Container, s.Sure = t.newSession.Name, ContainerLines, true
		if document {
			s.Container = ContainerDocument
		}
	case t.prompt != nil && t.other+t.unknownTools == 0 && (b.opts.Dialect == nil || b.opts.Dialect.Name == t.prompt.Name):
		s.Dialect, s.Key = t.prompt.Name, "a request with text as its only message"
		s.Container = ContainerConversations
		if document {
			s.Container = ContainerDocument
		}
	case document && t.unspoken:
		s.Container = ContainerDocument
	case document && t.pieces > 0 || 2*t.pieces > t.n:
		s.reason, s.foreign = streamReason, true
	default:
		s.reason, s.discreet = t.reason(b.first)
		near := b.near.String()
		s.discreet = cmp.Or(s.discreet, s.reason) + near
		s.reason += near
		s.Unknown = near == "" && b.opts.Dialect == nil && t.spans == 0 && (document && listed(b.document.Value, 0) || !document && t.objects > 1)
	}
	return err
}

// mostListed limits in how many fields of an object listed looks.
const mostListed = 64

// listed reports whether a value has a list that begins with two objects.
func listed(v source.Value, depth int) bool {
	switch v.Kind() {
	case source.Array:
		n := 0
		for e := range v.Each() {
			if e.Kind() != source.Object {
				return false
			}
			if n++; n == 2 {
				return true
			}
		}
	case source.Object:
		n := 0
		for _, val := range v.Members() {
			if n++; n > mostListed || depth == mostDepth {
				return false
			}
			if listed(val, depth+1) {
				return true
			}
		}
	}
	return false
}

// calling matches a tool call or a tool result in a transcript: a field with the id of a
// call, a typed block, or an array of calls. It does not match schemas, which have
// objects as the values of such fields. It is compiled on first use.
var calling = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"(?:tool_call_id|tool_use_id|toolCallId|toolUseId)"\s*:\s*"` +
		`|"type"\s*:\s*"(?:tool_use|tool_result|tool-call|tool-result|function_call|function_call_output)"` +
		`|"(?:tool_calls|toolCalls|tool_uses|toolRequests)"\s*:\s*\[\s*\{` +
		`|"(?:functionCall|functionResponse|function_call|toolUse|toolResult)"\s*:\s*\{\s*"(?:id|name|toolUseId|args|arguments|response|content)"\s*:\s*[^{\s]`)
})

// calls reports whether a text has what calling matches. All keys and types of that begin in one of
// two ways, which are found fast.
func calls(text []byte) bool {
	return (bytes.Contains(text, []byte(`"tool`)) || bytes.Contains(text, []byte(`"function`))) && calling().Match(text)
}

// looks reports whether the head of a source looks like a transcript with calls in any
// format.
func looks(src *source.Source) (bool, error) {
	head, err := src.Bytes(source.Span{End: min(src.Size(), headBytes)})
	return calls(head), err
}

// brokenReason says why an unreadable document is not a transcript. It returns "" if the
// document begins like one.
func brokenReason(src *source.Source, doc source.Record) (string, error) {
	head, err := src.Bytes(source.Span{Start: doc.Span.Start, End: min(doc.Span.End, doc.Span.Start+headBytes)})
	if err != nil {
		return "", err
	}
	if bytes.Contains(head, []byte(`"role"`)) || bytes.Contains(head, []byte(`"parentUuid"`)) || calls(head) {
		return "", nil
	}
	return faultReason(doc), nil
}

// faultReason says why a record cannot be read.
func faultReason(rec source.Record) string {
	for _, f := range rec.Faults {
		switch {
		case f.Kind == source.FaultTooDeep:
			return fmt.Sprintf("nested deeper than %d levels at byte %d", source.MaxDepth, f.Span.Start+1)
		case f.Kind == source.FaultTruncated:
			return "invalid JSON: unexpected end of input, expected " + f.Want
		case f.Unreadable():
			return fmt.Sprintf("invalid JSON: expected %s at byte %d", f.Want, f.Span.Start+1)
		}
	}
	return ""
}
