package dialect

import (
	"slices"

	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// Items is the driver for flat lists of items: messages, reasoning, calls and
// outputs.
type Items struct {
	Type string `row:"needed,name"` // of an item
	Role string `row:"needed,name"` // of a message item
	// Roles are additional spellings of roles. Only user-defined dialects have
	// them.
	Roles []RoleName
	Text  string `row:"needed,name"` // content of a message item
	// Messages lists the types of a message item: the user's, then the assistant's
	// if it is another. An item without a type is also a message if it has a role.
	Messages []string `row:"needed"`
	// ID lists the keys of the id that a call and its output share. The first one
	// present counts.
	ID    []string   `row:"needed,name"`
	Item  string     `row:"name"` // the item's own id
	Name  string     `row:"needed,name"`
	Pairs []ItemPair `row:"needed"`
	// ProviderCalls lists the types of calls that the provider runs. They hold
	// their own result.
	ProviderCalls []string `toml:"hosted"`
	// Reference is the type of an item that only refers to one that the provider
	// stores.
	Reference string
	// Reasoning is the type of a reasoning item, and Sealed the key of its opaque
	// content.
	Reasoning, Sealed string
	// Execution is the key of a field that is "server" on a call that the provider
	// runs. Two built-in dialects have it, and related formats may.
	Execution string
	// TextTypes lists the content types that only this dialect uses, beginning with
	// those for a text of the user and of the assistant.
	TextTypes []string
	// Typed is set if every message item has a type and a list of parts. In such a
	// dialect, an item with a plain text would be invalid.
	Typed bool
}

// An ItemPair is a type of call and the types of its outputs.
type ItemPair struct {
	Call    string   `row:"needed"`
	Outputs []string `row:"needed"`
	// Kind distinguishes protocols. Kind, Free and Answer are for dialects with
	// calls of several protocols, as two built-in dialects have.
	Kind transcript.CallKind
	// Args is the key of the arguments. It is empty if there are no arguments to
	// check.
	Args string `row:"name"`
	// Free marks arguments that are free text.
	Free bool
	// CallID and OutputID are the keys of the shared id, if they differ from the
	// driver's. One built-in dialect has them, and in many formats a call and its
	// output use different keys for the id.
	CallID   string `row:"name"`
	OutputID string `row:"name"`
	Payload  string `row:"name"`
	// Answer is the type of the output that is written for a call, if it is not the
	// first of Outputs. If it is empty, no output is written for a call without
	// arguments.
	Answer string
}

// answer returns the type of the output that is written for a call, or "".
func (p *ItemPair) answer() string {
	if p.Answer == "" && p.Args != "" && len(p.Outputs) > 0 {
		return p.Outputs[0]
	}
	return p.Answer
}

func (p *ItemPair) payload() string {
	if p.Payload != "" {
		return p.Payload
	}
	return "output"
}

func (d *Items) pair(typ source.Value) (p *ItemPair, call bool) {
	for i := range d.Pairs {
		p := &d.Pairs[i]
		if typ.Is(p.Call) {
			return p, true
		}
		if contains(p.Outputs, typ) {
			return p, false
		}
	}
	return nil, false
}

// id returns the id that pairs an item: the first one that is not null, else one
// that is null.
func (d *Items) id(v source.Value, p *ItemPair, call bool) source.Value {
	own := p.OutputID
	if call {
		own = p.CallID
	}
	var null source.Value
	for i := range len(d.ID) + 1 {
		key := own
		if i < len(d.ID) {
			key = d.ID[i]
		}
		if key == "" {
			continue
		}
		id := v.Get(key)
		if isSet(id) {
			return id
		}
		if !null.Exists() {
			null = id
		}
	}
	return null
}

// Damaged implements Guesser.
func (d *Items) Damaged(v source.Value) bool {
	p, _ := d.pair(v.Get(d.Type))
	return p != nil || d.roleless(v)
}

// roleless reports whether v is a message without a role.
func (d *Items) roleless(v source.Value) bool {
	typ := v.Get(d.Type)
	return v.Kind() == source.Object && !isSet(v.Get(d.Role)) && (!typ.Exists() || contains(d.Messages, typ))
}

// Reader implements Driver.
func (d *Items) Reader(b *transcript.Builder) Reader {
	r := d.reader(b)
	return hook(&r)
}

// reader returns a reader that has no hooks yet.
func (d *Items) reader(b *transcript.Builder) itemsReader {
	return itemsReader{row: d, flat: flat{hooked: hooked{b: b}}, itemIDs: map[string]string{}}
}

type itemsReader struct {
	row *Items
	flat
	// itemIDs maps a call's own id to its pairing id, for outputs that use the own
	// id.
	itemIDs map[string]string
}

// Read implements Reader.
func (r *itemsReader) Read(v source.Value) { r.element(v, r.read) }

func (r *itemsReader) read(v source.Value) {
	b := r.b
	var f [4]source.Value
	b.Fields(v, []string{r.row.Type, r.row.Role, r.row.Text, r.row.Item}, f[:])
	typ, roleVal, content, item := f[0], f[1], f[2], f[3]
	var flags transcript.BlockFlags
	if item.Kind() == source.String {
		flags |= transcript.BlockHasID
	}
	begin := func(role transcript.Role) *transcript.Message {
		return r.begin(v, roleVal, role, "", !typ.Exists() || contains(r.row.Messages, typ))
	}
	p, isCall := r.row.pair(typ)
	switch {
	case p != nil && isCall:
		begin(transcript.RoleAssistant).Flags |= transcript.MessageItem
		r.called = true
		id := r.row.id(v, p, true)
		call := transcript.Call{ID: r.b.Token(id, v.Span()), Kind: p.Kind, Name: r.b.Name(v.Get(r.row.Name), v.Span())}
		switch {
		case p.Args == "":
			call.Form = transcript.ArgsText
		case p.Free:
			setText(&call, v.Get(p.Args))
		default:
			setArgs(r.b, &call, v.Get(p.Args), transcript.ArgsWantString)
		}
		if v.Get(r.row.Execution).Is("server") {
			call.Answer = transcript.AnswerProviderRecord
		}
		if isSet(item) && isSet(id) {
			r.itemIDs[string(item.Raw())] = string(id.Raw())
		}
		r.addCall(v, call, flags)
	case p != nil:
		if v.Get(r.row.Execution).Is("server") {
			begin(transcript.RoleAssistant).Flags |= transcript.MessageItem
			b.Block(transcript.BlockOther, v, flags)
			return
		}
		begin(transcript.RoleTool).Flags |= transcript.MessageItem
		id := r.row.id(v, p, false)
		res := transcript.Result{ID: r.b.Token(id, v.Span()), Kind: p.Kind, Name: transcript.Token{Span: v.Span()}}
		if p.OutputID == r.row.Item && p.OutputID != "" && !r.row.keyed(v) {
			if call, known := r.itemIDs[res.ID.Raw]; known {
				res.ID.Raw = call
			}
		}
		res.Hold(v.Get(p.payload()))
		r.addResult(v, res)
	case contains(r.row.ProviderCalls, typ):
		begin(transcript.RoleAssistant).Flags |= transcript.MessageItem
		b.Call(v, transcript.Call{
			ID: r.b.Token(item, v.Span()), Name: r.b.Name(v.Get(r.row.Name), v.Span()),
			Answer: transcript.AnswerProviderRecord, Form: transcript.ArgsText,
		}, flags)
	case typ.Is(r.row.Reasoning):
		begin(transcript.RoleAssistant).Flags |= transcript.MessageItem
		if s := v.Get(r.row.Sealed); s.Kind() == source.String && len(s.Raw()) > 2 {
			flags |= transcript.BlockSigned
		}
		b.Block(transcript.BlockReasoning, v, flags)
	case roleVal.Kind() == source.String, r.row.roleless(v):
		m := begin(roleIn(r.row.Roles, roleVal))
		r.texts(content, flags, func(part source.Value) { r.typed(part, transcript.BlockMedia, flags) })
		if hollow(content) {
			markHollow(m, content)
		}
	case r.row.Reference != "" && typ.Is(r.row.Reference):
		b.Conv.References = true
		begin(transcript.RoleOther).Flags |= transcript.MessageItem
		b.Block(transcript.BlockOther, v, flags|transcript.BlockReference)
	default:
		begin(transcript.RoleOther).Flags |= transcript.MessageItem
		b.Block(transcript.BlockOther, v, flags)
	}
}

// keyed reports whether v has one of the driver's keys for the shared id.
func (d *Items) keyed(v source.Value) bool {
	for _, key := range d.ID {
		if isSet(v.Get(key)) {
			return true
		}
	}
	return false
}

// WriteResult implements Writer.
func (d *Items) WriteResult(r NewResult) []Field {
	if r.ID == "" {
		return nil
	}
	p, call := d.pair(r.Element.Get(d.Type))
	if p == nil || !call || p.answer() == "" {
		return nil
	}
	return []Field{{d.Type, `"` + p.answer() + `"`}, {d.outputID(p, r.Element), r.ID}, {p.payload(), r.Text}}
}

// outputID returns the key under which the output of a call names the call: the key
// of the call's id, or OutputID if the call is identified by CallID.
func (d *Items) outputID(p *ItemPair, call source.Value) string {
	if slices.Contains(d.ID, p.CallID) && p.OutputID != "" {
		return p.OutputID // the call uses another key for the id than its output
	}
	for _, key := range d.ID {
		if isSet(call.Get(key)) {
			return key
		}
	}
	if p.OutputID != "" && p.CallID != "" && isSet(call.Get(p.CallID)) {
		return p.OutputID
	}
	return d.ID[0]
}

// WriteText implements Writer.
func (d *Items) WriteText(t NewText) Text {
	role, tag := transcript.RoleUser, 0
	if t.Call {
		role, tag = transcript.RoleAssistant, 1
	}
	if !t.Call && !t.whole {
		t.keep(t.Element, anyKey, t.Content)
	}
	stays := func(e source.Value) bool { return !t.Call && contains(d.TextTypes, e.Get("type")) }
	parts := t.blocks([]source.Value{t.Content}, stays, func(raw string) []Field {
		if len(d.TextTypes) <= tag {
			return nil
		}
		return []Field{{"type", `"` + d.TextTypes[tag] + `"`}, {"text", raw}}
	})
	var out []Field
	content := t.content(parts)
	if d.Typed || len(d.Messages) > 1 {
		out = append(out, Field{d.Type, `"` + d.Messages[min(tag, len(d.Messages)-1)] + `"`})
	}
	if d.Typed {
		content = list(parts)
	}
	return Text{Message: append(out, Field{d.Role, `"` + writtenRole(d.Roles, role) + `"`}, Field{d.Text, content})}
}

// Retagged implements Writer.
func (d *Items) Retagged(from, to transcript.CallKind) string {
	a, b := d.ofKind(from), d.ofKind(to)
	if a == nil || b == nil || a.payload() != b.payload() || a.OutputID != b.OutputID {
		return ""
	}
	return b.Outputs[0]
}

func (d *Items) ofKind(kind transcript.CallKind) *ItemPair {
	return first(d.Pairs, func(p *ItemPair) bool { return p.Kind == kind })
}

// Keys implements Writer.
func (d *Items) Keys(v source.Value) WriterKeys {
	out := WriterKeys{Body: v, Content: d.Text, ID: d.ID[0], ResultID: d.ID[0], Type: d.Type, Assistant: writtenRole(d.Roles, transcript.RoleAssistant)}
	if len(d.TextTypes) > 0 {
		out.UserText = Template(`{"type":"` + d.TextTypes[0] + `","text":"$text"}`)
	}
	return out
}
