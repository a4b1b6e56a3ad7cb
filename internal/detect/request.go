package detect

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/source"
)

// ErrOtherDialect is the error for a request whose messages are in another dialect than the
// one that it is read as.
type ErrOtherDialect struct {
	Dialect string // the one that it is read as
	Found   string // that of the message
	Pointer string // to the message
}

// Error implements error.
func (e *ErrOtherDialect) Error() string {
	return fmt.Sprintf("expected a request in the format %s, but the message %s is in the format %s", e.Dialect, e.Pointer, e.Found)
}

// request decides where the messages of a source are that is one request to the API of a
// dialect. It only looks at the fields of the request.
func request(src *source.Source, d *dialect.Dialect) (*Verdict, error) {
	rd := source.NewReader(src)
	framing, err := rd.Framing()
	if err != nil {
		return nil, err
	}
	s := &Verdict{Decision: Decision{Framing: framing, Container: ContainerDocument, Sure: true}}
	switch framing {
	case source.FramingDocument:
	case source.FramingNone:
		s.reason = rd.Reason()
		return s, nil
	case source.FramingEmpty:
		s.reason = unlike(d, "the input is empty")
		return s, nil
	default:
		s.reason, err = notOne(src, rd, d)
		return s, err
	}
	if s.Document, err = rd.Next(); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	v := s.Document.Value
	switch {
	case !s.Document.Readable():
		s.Container, s.Sure = framing.String(), false
		s.reason, err = brokenReason(src, s.Document)
		return s, err
	case v.Kind() != source.Object:
		s.reason = unlike(d, "the input is "+kindName(v))
		return s, nil
	}
	s.Class = ClassConversation
	if s.Places, s.reason = places(d, v); len(s.Places) > 0 {
		s.Pointer, s.Dialect, s.Key = s.Places[0].Pointer, d.Name, "--from"
	}
	return s, nil
}

// places returns the conversations in a request, which are not nil even if it has no messages,
// and why the value is no request, "" if it is one. Parsers disagree about which of two equal
// keys counts, so each list with the messages is a conversation.
func places(d *dialect.Dialect, v source.Value) (found []Place, reason string) {
	var firsts, others []source.Value // the lists
	has, instead := false, false
	for k, val := range v.Members() {
		i := slices.IndexFunc(d.Body.Lists, k.Is)
		null := val.Kind() == source.Null // counts as absent
		switch {
		case null && i != 0:
		case slices.ContainsFunc(d.Body.Instead, k.Is):
			instead = true
		case i > 0 && val.Kind() == source.Array:
			others = append(others, val.Light())
		case i == 0 && val.Kind() == source.Array:
			has = true
			firsts = append(firsts, val.Light())
		case i == 0 && (val.Kind() == source.String && d.Body.Text):
			has = true
		case i == 0 && val.Kind() == source.Object && d.Body.Single:
			has = true
			firsts = append(firsts, val)
		case i == 0 && !null:
			return nil, unlike(d, fmt.Sprintf("%q is %s", d.Body.Lists[0], kindName(val)))
		}
	}
	if !has && !instead {
		found := "the input has no field %q"
		if v.Get(d.Body.Lists[0]).Exists() {
			found = "%q is null"
		}
		return nil, unlike(d, fmt.Sprintf(found, d.Body.Lists[0]))
	}
	k := look(nil, v, nil)
	place := Place{Class: ClassMessage, Pointer: pointer(d.Body.Lists[:1]), body: true}.beside(&k, v)
	if len(firsts) == 0 {
		// The provider knows the messages before these.
		firsts, place.Elsewhere = []source.Value{{}}, true
	}
	found = []Place{}
	for _, first := range firsts {
		p := place
		filled := false
		for _, list := range append([]source.Value{first}, others...) {
			if !list.Exists() {
				continue
			}
			p.Parts = append(p.Parts, list)
			filled = filled || list.Kind() == source.Object
			for range list.Elements() {
				filled = true
				break
			}
		}
		if filled {
			found = append(found, p)
		}
	}
	return found, ""
}

// notOne says why a source that is not one JSON value is no request.
func notOne(src *source.Source, rd *source.Reader, d *dialect.Dialect) (string, error) {
	first, err := rd.Next()
	if err != nil {
		return "", err
	}
	start := first.Span.Start
	for _, f := range first.Faults {
		if f.Kind == source.FaultNUL && !first.Value.Exists() {
			return "invalid JSON: unexpected NUL byte at byte " + strconv.FormatInt(f.Span.Start+1, 10), nil
		}
	}
	if !first.Readable() {
		return faultReason(first), nil
	}
	_, err = rd.Next()
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	const mark = "\ufeff"
	if head, viewErr := src.Bytes(source.Span{End: min(start, int64(2*len(mark)))}); errors.Is(err, io.EOF) && viewErr == nil && bytes.HasPrefix(head, []byte(mark+mark)) {
		return fmt.Sprintf("invalid JSON: a second byte order mark at byte %d", len(mark)+1), nil
	}
	return unlike(d, "the input has several JSON values"), nil
}

// unlike says why the input is not a request in a dialect.
func unlike(d *dialect.Dialect, found string) string {
	or := ""
	if d.Body.Text {
		or += " or a text"
	}
	if d.Body.Single {
		or += " or a message"
	}
	with := fmt.Sprintf("an array%s in the field %q", or, d.Body.Lists[0])
	if n := len(d.Body.Instead); n > 0 {
		var names []string
		for _, key := range d.Body.Instead {
			names = append(names, strconv.Quote(key))
		}
		if n > 1 {
			names = append(names[:n-2], names[n-2]+" or "+names[n-1])
		}
		with += ", or with the field " + strings.Join(names, ", ")
	}
	return fmt.Sprintf("expected a request in the format %s, which is an object with %s, but %s", d.Name, with, found)
}

// kindName returns the kind of a value with its article, or the literal.
func kindName(v source.Value) string {
	switch v.Kind() {
	case source.Object:
		return "an object"
	case source.Array:
		return "an array"
	case source.String:
		return "a string"
	case source.Number:
		return "a number"
	}
	return string(v.Raw()) // null, true or false
}
