package dialect

import (
	"slices"

	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A Field is a field of an object to write. Raw is its value as JSON.
type Field struct {
	Key, Raw string
}

// A NewResult describes a result to write.
type NewResult struct {
	Kind transcript.CallKind
	// ID and Name are JSON strings; "" means none.
	ID, Name string
	// Text is a JSON string.
	Text string
	// Element is the call's element, and Message is the message that holds it. The
	// result uses the same spelling.
	Element, Message source.Value
	// Fresh returns a new id for the message, as a JSON string.
	Fresh func() string
	// Named is a result of the conversation that repeats the tool's name, or None.
	Named source.Value
}

// A Writer is a driver that can also write messages.
type Writer interface {
	Driver
	// WriteResult returns the fields of a result: of a separate message or item or,
	// if WriteMessage does not return nil, of a block. It returns nil for a kind of
	// call whose result cannot be inserted.
	WriteResult(r NewResult) []Field
	// WriteText returns a call or a result written as text.
	WriteText(t NewText) Text
	// Keys returns the keys that a repair needs to change a message, in that
	// message's spelling.
	Keys(message source.Value) WriterKeys
}

// A MessageWriter is a driver whose results are blocks of a message.
type MessageWriter interface {
	// WriteMessage returns the fields of a message that carries blocks of results, or nil if each
	// result is a message. content is the list of blocks as JSON, near is a message of the
	// conversation.
	WriteMessage(content string, near source.Value) []Field
}

// WriteMessage is that of a MessageWriter, and nil for other drivers.
func WriteMessage(d Writer, content string, near source.Value) []Field {
	if w, carries := d.(MessageWriter); carries {
		return w.WriteMessage(content, near)
	}
	return nil
}

// A Retagger is a driver in which a field names the kind of a result.
type Retagger interface {
	// Retagged returns the value of that field for a result of kind from that becomes one of
	// kind to. It returns "" if the kinds differ in other fields.
	Retagged(from, to transcript.CallKind) string
}

// A Splitter is a driver that knows messages with a list of results in the shape of another
// program.
type Splitter interface {
	// Split returns the fields of one message for each result in such a message. It returns
	// nil if a result lacks its content, or does not name its call or its tool.
	Split(message source.Value) [][]Field
}

// An IDKeyer is a driver whose messages may hold ids under different keys.
type IDKeyer interface {
	// IDKey returns the key of the id of the call or the result whose element has
	// the span at. It returns "" if Keys has the key.
	IDKey(message source.Value, at source.Span) string
}

// WriterKeys are the keys of the fields that a repair changes.
type WriterKeys struct {
	Body    source.Value // the object that holds the fields of the message
	Content string
	Calls   []string // lists of calls
	// KeepCalls is set if an empty list of calls is kept.
	KeepCalls bool
	ID        string // of a call
	ResultID  string
	Type      string // the field that names the kind of a result
	// TextBlock is a block of text, with "$text" for the text.
	TextBlock Template
	// UserText is such a block for the user, if the dialect has another one for the
	// assistant.
	UserText  Template
	Assistant string // the role of a message that makes calls
}

// TextFields returns the fields of a block of text; raw is a JSON string.
func (k *WriterKeys) TextFields(raw string) []Field {
	return fill(k.TextBlock, map[string]string{"$text": raw})
}

// UserTextFields returns the fields of a block of text in a message of the
// user or in a result; raw is a JSON string.
func (k *WriterKeys) UserTextFields(raw string) []Field {
	if k.UserText != "" {
		return fill(k.UserText, map[string]string{"$text": raw})
	}
	return k.TextFields(raw)
}

// given returns the fields that have a value.
func given(fields ...Field) []Field {
	return slices.DeleteFunc(fields, func(f Field) bool { return f.Raw == "" })
}

// emptyFields returns those of the named fields that the object has, with empty
// values.
func emptyFields(of source.Value, names ...string) []Field {
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
