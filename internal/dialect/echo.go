package dialect

import (
	"strings"

	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
)

// An Echo is a type of record that repeats the result of a call beside the messages. The
// agent does not send such a record, but it holds the result if the message is lost.
type Echo struct {
	Type string           // the type or the subtype of the record
	When []*evidence.Cond // all must hold
	ID   Lens             // the id of the call
	// Text leads to the result. The first alternative that is not an empty text counts. A
	// list of texts is sent as its JSON or, if Joined is set, as the texts.
	Text   Lens
	Joined bool
	// Wording is the text of the result if Code leads to a number. "$code" and "$text" stand
	// for that number and for the text. Without Wording, the result is the text.
	Code    Lens
	Wording string
	// Tools are the names of the tools whose results are worded so, if other records repeat
	// them as well.
	Tools []string
}

// Said is what a record says of the result of a call. Records of two types can say the same.
type Said struct {
	Code string // "" for none
	Text string
}

// EchoOf returns the echo that a record is, or nil. is reports whether the record has a
// type or a subtype.
func (l *Log) EchoOf(record source.Value, is func(kind string) bool) *Echo {
	for i := range l.Echoes {
		e := &l.Echoes[i]
		if is(e.Type) && evidence.Hold(e.When, record) {
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

// Result returns what a record says of the result, and false if the record has no result that is a
// text. unsure says that a key on the way to it occurs twice.
func (e *Echo) Result(record source.Value) (said Said, unsure, ok bool) {
	for alt := range e.Text.Alternatives() {
		if got, is := e.said(alt.In(record)); is && (!ok || said.Text == "") {
			said.Text, ok = got, true
		}
	}
	if e.Wording != "" && ok {
		if code := e.Code.In(record); code.Kind() == source.Number {
			said.Code = string(code.Raw())
		}
	}
	if said.Text == "" && said.Code == "" {
		return Said{}, false, false // nothing shows that the call is over
	}
	return said, forks(e.ID, record) || forks(e.Text, record) || forks(e.Code, record), true
}

// Written returns the text of a result as the agent would have sent it.
func (e *Echo) Written(said Said) string {
	if said.Code == "" {
		return said.Text
	}
	return strings.NewReplacer("$code", said.Code, "$text", said.Text).Replace(e.Wording)
}

// forks reports whether a key of a path occurs twice.
func forks(l Lens, v source.Value) bool {
	for alt := range l.Alternatives() {
		at := v
		for key := range strings.SplitSeq(string(alt), ".") {
			n := 0
			for k := range at.Members() {
				if k.Is(key) {
					n++
				}
			}
			if n > 1 {
				return true
			}
			at = at.Get(key)
		}
	}
	return false
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
