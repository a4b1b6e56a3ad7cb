package dialect

import (
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// hooks are what the file of one dialect adds to the reader of its driver. The dialect has a
// type that embeds the driver, in whose Reader it calls hook, and a type that embeds the reader
// and overrides the hooks that it needs.
type hooks interface {
	// onElement is called before an element is read. It returns what is read in its place, or
	// None if the driver must not read it.
	onElement(v source.Value) source.Value
	// onEnd is called after an element has been read.
	onEnd(v source.Value)
	// The call or the result that onCall or onResult returns replaces the one that was read
	// from v. onCall returns false if v is not a call.
	onCall(v source.Value, call transcript.Call) (_ transcript.Call, is bool)
	onResult(v source.Value, res transcript.Result) transcript.Result
	// onMessage is called when a message of a side list has begun. It reports whether it has
	// read the content.
	onMessage() bool
	// onPart reports whether it has read a part of the content of a side list that is neither
	// text nor reasoning.
	onPart(part, tag source.Value) bool
}

// A hooked is the part that the readers of all drivers share.
type hooked struct {
	b     *transcript.Builder
	hooks hooks
}

// hookable is a reader that can have hooks.
type hookable interface {
	Reader
	hooks
	use(h hooks)
}

// hook returns a reader whose own methods are its hooks.
func hook(r hookable) Reader {
	r.use(r)
	return r
}

func (r *hooked) use(h hooks) { r.hooks = h }

func (r *hooked) onElement(v source.Value) source.Value { return v }

func (r *hooked) onEnd(source.Value) {}

func (r *hooked) onCall(_ source.Value, call transcript.Call) (transcript.Call, bool) {
	return call, true
}

func (r *hooked) onResult(_ source.Value, res transcript.Result) transcript.Result { return res }

func (r *hooked) onMessage() bool { return false }

func (r *hooked) onPart(_, _ source.Value) bool { return false }

// element reads an element with read, between the hooks.
func (r *hooked) element(v source.Value, read func(source.Value)) {
	if as := r.hooks.onElement(v); as.Exists() {
		read(as)
		r.hooks.onEnd(as)
	}
}

// addCall adds a call, or another block if the hooks say that it is none.
func (r *hooked) addCall(v source.Value, call transcript.Call, flags transcript.BlockFlags) {
	if call, is := r.hooks.onCall(v, call); is {
		r.b.Call(v, call, flags)
	} else {
		r.b.Block(transcript.BlockOther, v, flags)
	}
}

// texts adds a text, or calls part with each part of it.
func (r *hooked) texts(v source.Value, flags transcript.BlockFlags, part func(source.Value)) {
	switch v.Kind() {
	case source.String:
		r.b.Block(transcript.BlockText, v, flags|textFlags(v))
	case source.Array:
		for _, p := range v.Present() {
			part(p)
		}
	}
}

// typed adds a part: as a text if it has one, else as a block of the given kind.
func (r *hooked) typed(part source.Value, other transcript.BlockKind, flags transcript.BlockFlags) {
	if text := part.Get("text"); text.Kind() == source.String {
		r.b.Block(transcript.BlockText, part, flags|textFlags(text))
		return
	}
	r.b.Block(other, part, flags)
}

// addResult adds a result.
func (r *hooked) addResult(v source.Value, res transcript.Result) {
	r.b.Result(v, r.hooks.onResult(v, res))
}

// A flat is the part that the readers of items and of events share.
type flat struct {
	hooked
	model  bool // the previous element was the assistant's
	called bool // the assistant's turn has a call
}

// begin starts a message. Consecutive elements of the assistant are one turn, until
// it speaks again after a call.
func (r *flat) begin(v, roleAt source.Value, role transcript.Role, turn string, speaks bool) *transcript.Message {
	m := r.b.Begin(v, roleAt, role, turn)
	if role == transcript.RoleAssistant && turn == "" && r.model && !(speaks && r.called) {
		r.b.SameTurn()
		m = r.b.Message()
	} else {
		r.called = false
	}
	r.model = role == transcript.RoleAssistant
	return m
}
