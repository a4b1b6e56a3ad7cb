package dialect

import (
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A Field is a member of an object that is to be written. Raw is its value as
// JSON.
type Field struct {
	Key, Raw string
}

// A NewResult is what a result that is to be written says.
type NewResult struct {
	Kind transcript.CallKind
	// ID and Name are JSON strings, "" for none.
	ID, Name string
	// Text is a JSON string.
	Text string
	// Element is the call's element, and Message the message it stands in, whose
	// spelling the result follows.
	Element, Message source.Value
	// Fresh returns an id for the message, as a JSON string.
	Fresh func() string
	// Named is a result of the conversation that repeats the tool's name, None
	// where none does.
	Named source.Value
}

// A Writer is a driver that can also write.
type Writer interface {
	Driver
	// WriteResult returns the members of a result: of a message or item of its own
	// or, where Message does not return nil, of a block. It returns nil for a
	// kind of call whose result cannot be made up.
	WriteResult(r NewResult) []Field
	// WriteMessage returns the members of a message that carries blocks of
	// results; content is their list as JSON, near a message of the
	// conversation.
	WriteMessage(content string, near source.Value) []Field
	// WriteText returns how a call or a result is written as text.
	WriteText(t NewText) Text
	// Retagged returns what the member that tells a result's kind is to say so
	// that a result of the one kind becomes one of the other; "" where kinds are
	// not told apart, or differ in more than that.
	Retagged(from, to transcript.CallKind) string
	// Keys returns what a repair needs to know to change a message, as that
	// message spells it.
	Keys(message source.Value) WriterKeys
}

// An IDKeyer is a driver that writes ids under different keys in one message.
type IDKeyer interface {
	// IDKey returns the key of the id of the call or the result whose element
	// stands at a span of a message, "" where Keys has it.
	IDKey(message source.Value, at source.Span) string
}

// WriterKeys are names of members that a repair touches.
type WriterKeys struct {
	Body    source.Value // what holds the members of the message
	Content string
	Calls   []string // lists of calls
	// KeepCalls is set where a list of calls stays when nothing is left in it.
	KeepCalls bool
	ID        string // of a call
	ResultID  string
	Type      string // tells the kind of a result
	// TextBlock is how a block of text is written, with "$text" for the text.
	TextBlock Template
	Assistant string // the role of a message that makes calls
}

// TextFields returns the members of a block of text; raw is a JSON string.
func (k *WriterKeys) TextFields(raw string) []Field {
	return fill(k.TextBlock, map[string]string{"$text": raw})
}

// emptied returns those of the named members that an object has, with nothing in
// them.
func emptied(of source.Value, names ...string) []Field {
	var out []Field
	for _, name := range names {
		switch of.Get(name).Kind() {
		case source.None:
		case source.Object:
			out = append(out, Field{name, "{}"})
		case source.Array:
			out = append(out, Field{name, "[]"})
		default:
			out = append(out, Field{name, "null"})
		}
	}
	return out
}
