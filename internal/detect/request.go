package detect

import (
	"errors"
	"fmt"
	"io"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/source"
)

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
		s.reason = unlike(d, "the input has several JSON values")
		return s, nil
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
		s.Container, s.Dialect, s.Sure = framing.String(), "unknown", false
		s.reason, err = brokenReason(src, s.Document)
		return s, err
	case v.Kind() != source.Object:
		s.reason = unlike(d, "the input is "+kindName(v.Kind()))
		return s, nil
	}
	place := Place{Class: ClassMessage, Pointer: pointer(d.Body.Lists[:1]), body: true}.beside(v)
	filled := false
	for i, key := range d.Body.Lists {
		switch list := v.Get(key); {
		case list.Kind() == source.Array:
			place.Parts = append(place.Parts, list.Light())
			filled = filled || list.First().Exists()
		case i > 0, list.Kind() == source.String && d.Body.Text:
		case !list.Exists():
			s.reason = unlike(d, fmt.Sprintf("the input has no field %q", key))
			return s, nil
		default:
			s.reason = unlike(d, fmt.Sprintf("%q is %s", key, kindName(list.Kind())))
			return s, nil
		}
	}
	if filled {
		s.Class, s.Pointer, s.Places = ClassConversation, place.Pointer, []Place{place}
		s.Dialect, s.Key = d.Name, "--dialect"
	}
	return s, nil
}

// unlike says why the input is not a request in a dialect.
func unlike(d *dialect.Dialect, found string) string {
	or := ""
	if d.Body.Text {
		or = " or a text"
	}
	return fmt.Sprintf("expected a request in the dialect %s, which is an object with an array%s in the field %q, but %s", d.Name, or, d.Body.Lists[0], found)
}

// kindName returns the kind of a value with its article.
func kindName(k source.Kind) string {
	switch k {
	case source.Object:
		return "an object"
	case source.Array:
		return "an array"
	case source.String:
		return "a string"
	case source.Null:
		return "null"
	}
	return "a number or a boolean"
}
