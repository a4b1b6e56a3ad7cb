package dialect

import (
	"strings"

	"github.com/toolguard/toolguard/internal/source"
)

// An Echo is a type of record that repeats the result of a call beside the messages. The
// agent does not send such a record, but it holds the result if the message is lost.
type Echo struct {
	Type string // the type or the subtype of the record
	When []Cond // all must hold
	ID   Lens   // the id of the call
	// Text leads to the result. The first alternative that is not an empty text counts. A
	// list of texts is sent as its JSON or, if Joined is set, as the texts.
	Text   Lens
	Joined bool
	// Form is the text of the result if Code leads to a number. "$code" and "$text" stand
	// for that number and for the text. Without Form, the result is the text.
	Code Lens
	Form string
}

// EchoOf returns the echo that a record is, or nil. is reports whether the record has a
// type or a subtype.
func (l *Log) EchoOf(record source.Value, is func(kind string) bool) *Echo {
	for i := range l.Echoes {
		e := &l.Echoes[i]
		if !is(e.Type) {
			continue
		}
		holds := true
		for k := range e.When {
			holds = holds && e.When[k].holds(record)
		}
		if holds {
			return e
		}
	}
	return nil
}

// EchoIn returns the echo that a record is, or nil.
func (l *Log) EchoIn(record source.Value) *Echo {
	return l.EchoOf(record, func(kind string) bool {
		return l.Type.In(record).Is(kind) || l.Subtype != "" && l.Subtype.In(record).Is(kind)
	})
}

// Result returns the result in a record as the agent would have sent it, and false if the
// record has none that is a text.
func (e *Echo) Result(record source.Value) (text string, ok bool) {
	for alt := range e.Text.Alternatives() {
		if got, is := e.said(alt.In(record)); is && (!ok || text == "") {
			text, ok = got, true
		}
	}
	code := source.Value{}
	if e.Form != "" {
		code = e.Code.In(record)
	}
	switch {
	case ok && code.Kind() == source.Number:
		return strings.NewReplacer("$code", string(code.Raw()), "$text", text).Replace(e.Form), true
	case text == "":
		return "", false // nothing shows that the call is over
	}
	return text, ok
}

// said returns the text of a value.
func (e *Echo) said(v source.Value) (text string, ok bool) {
	switch v.Kind() {
	case source.String:
		return v.Str(), true
	case source.Array:
		var texts strings.Builder
		for _, part := range v.Elements() {
			t := part.Get("text")
			if !part.Get("type").Is("text") || t.Kind() != source.String {
				return "", false
			}
			texts.WriteString(t.Str())
		}
		if e.Joined {
			return texts.String(), true
		}
		return string(v.Raw()), true
	case source.Object:
		return string(v.Raw()), !e.Joined
	}
	return "", false
}
