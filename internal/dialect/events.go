package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// Events is the driver for logs in which a call and its result are separate events,
// one per record. Paths start at the event.
type Events struct {
	Type     Lens           `row:"needed"` // the kind of an event
	Messages []MessageEvent `toml:"says"`
	// Roles are additional spellings of roles at RoleAt. Only user-defined dialects
	// have them.
	Roles   []RoleName
	Calls   []CallEvent
	Results []ResultEvent `row:"needed"`
}

// A MessageEvent is a kind of event that is a message.
type MessageEvent struct {
	Type string `row:"needed"`
	// Role is the role if RoleAt does not lead to one.
	Role   transcript.Role
	RoleAt Lens
	Text   Lens `row:"needed"`
	// Turn is a value that the events of one turn share.
	Turn Lens
	// Calls leads to the list of the message's calls, each described by Call. Few
	// built-in dialects have such a list, but a log of messages needs it.
	Calls Lens
	Call  *CallEvent
}

// A CallEvent is a kind of event that is a call, or an element of a list of calls.
type CallEvent struct {
	Type string
	ID   Lens `row:"needed"`
	Name Lens `row:"needed"`
	// Turn is a value that the events of one turn share, as in a MessageEvent.
	Turn Lens
	// Args leads to the arguments. It is empty if they are not checked.
	Args Lens
	Want transcript.ArgsConvention
	// Answer is the template for a result. It is empty if no result can be
	// inserted, as in most built-in dialects, which are only checked.
	Answer Template
}

// A ResultEvent is a kind of event that answers a call.
type ResultEvent struct {
	Type string `row:"needed"`
	// In leads to a list of results, and the other paths then start at its
	// elements. It is empty if the event is a single result.
	In      Lens
	ID      Lens `row:"needed"`
	Payload Lens
	Error   []*evidence.Cond // one condition is enough
}

func (d *Events) call(typ source.Value) *CallEvent {
	return first(d.Calls, func(c *CallEvent) bool { return typ.Is(c.Type) })
}

func (d *Events) result(typ source.Value) *ResultEvent {
	return first(d.Results, func(r *ResultEvent) bool { return typ.Is(r.Type) })
}

func (d *Events) message(typ source.Value) *MessageEvent {
	return first(d.Messages, func(m *MessageEvent) bool { return typ.Is(m.Type) })
}

// first returns the first element of a list for which is holds, or nil.
func first[T any](list []T, is func(*T) bool) *T {
	for i := range list {
		if is(&list[i]) {
			return &list[i]
		}
	}
	return nil
}

// Reader implements Driver.
func (d *Events) Reader(b *transcript.Builder) Reader {
	r := d.reader(b)
	return hook(&r)
}

// reader returns a reader that has no hooks yet.
func (d *Events) reader(b *transcript.Builder) eventsReader {
	return eventsReader{row: d, flat: flat{hooked: hooked{b: b}}}
}

type eventsReader struct {
	row *Events
	flat
}

// Compacted implements Compactor.
func (r *eventsReader) Compacted() { r.model = false }

// Read implements Reader.
func (r *eventsReader) Read(v source.Value) { r.element(v, r.read) }

func (r *eventsReader) read(v source.Value) {
	r.b.Fields(v, nil, nil)
	typ := r.row.Type.In(v)
	if c := r.row.call(typ); c != nil {
		r.begin(v, source.Value{}, transcript.RoleAssistant, c.Turn.name(v), false).Flags |= transcript.MessageItem
		r.makes(v, c)
		return
	}
	if res := r.row.result(typ); res != nil && res.In != "" {
		r.begin(v, source.Value{}, transcript.RoleTool, "", false)
		for _, e := range res.In.In(v).Present() {
			r.answer(e, res.ID, res.Payload, evidence.AnyHolds(res.Error, e))
		}
		return
	} else if res != nil {
		r.begin(v, source.Value{}, transcript.RoleTool, "", false).Flags |= transcript.MessageItem
		r.answer(v, res.ID, res.Payload, evidence.AnyHolds(res.Error, v))
		return
	}
	s := r.row.message(typ)
	if s == nil {
		return
	}
	role, at := s.Role, source.Value{}
	if s.RoleAt != "" {
		at = s.RoleAt.In(v)
		role = roleIn(r.row.Roles, at)
	}
	turn := ""
	if role == transcript.RoleAssistant {
		turn = s.Turn.name(v)
	}
	m := r.begin(v, at, role, turn, true)
	text := s.Text.In(v)
	r.part(text)
	calls := source.Value{}
	if s.Calls != "" {
		calls = s.Calls.In(v)
	}
	for _, e := range calls.Present() {
		if e.Kind() == source.Object {
			r.makes(e, s.Call)
		} else {
			r.b.Block(transcript.BlockOther, e, 0)
		}
	}
	if hollow(text) && !calls.First().Exists() {
		markHollow(m, text)
	}
}

// part adds a part of the text of a message. It may be a text, or more parts.
func (r *eventsReader) part(v source.Value) {
	switch v.Kind() {
	case source.Object:
		r.typed(v, transcript.BlockOther, 0)
	default:
		r.texts(v, 0, r.part)
	}
}

// makes reads a call.
func (r *eventsReader) makes(v source.Value, c *CallEvent) {
	r.called = true
	call := transcript.Call{ID: r.b.Token(owned(v, c.ID, c.ID.In(v))), Name: r.b.Name(c.Name.In(v), v.Span()), Form: transcript.ArgsText}
	if c.Args != "" {
		setArgs(r.b, &call, c.Args.In(v), c.Want)
	}
	r.addCall(v, call, 0)
}

func (r *eventsReader) answer(v source.Value, id, payload Lens, failed bool) {
	res := transcript.Result{ID: r.b.Token(owned(v, id, id.In(v))), Name: transcript.Token{Span: v.Span()}, Error: failed}
	if payload != "" {
		res.Hold(payload.In(v))
	}
	r.addResult(v, res)
}

// WriteResult implements Writer.
func (d *Events) WriteResult(r NewResult) []Field {
	c := d.call(d.Type.In(r.Element))
	for i := range d.Messages {
		if c == nil {
			c = d.Messages[i].Call
		}
	}
	if c == nil || c.Answer == "" || r.ID == "" {
		return nil
	}
	return fill(c.Answer, map[string]string{"$id": r.ID, "$name": r.Name, "$text": r.Text})
}

// WriteText implements Writer. An event records what happened, so most dialects have no text
// that can replace it.
func (d *Events) WriteText(NewText) Text { return Text{} }

// Keys implements Writer.
func (d *Events) Keys(v source.Value) WriterKeys {
	keys := WriterKeys{Body: v, Type: d.Type.Key(), Assistant: writtenRole(d.Roles, transcript.RoleAssistant)}
	typ := d.Type.In(v)
	if c := d.call(typ); c != nil {
		keys.ID = c.ID.Key()
	}
	if r := d.result(typ); r != nil {
		keys.ResultID = r.ID.Key()
	}
	if s := d.message(typ); s != nil {
		keys.Content = s.Text.Key()
		if s.Calls != "" {
			keys.Calls, keys.KeepCalls, keys.ID = []string{s.Calls.Key()}, true, s.Call.ID.Key()
		}
		// Text and calls are fields of the same object.
		if through := s.Text.Parent(); through != "" {
			keys.Body = through.In(v)
		}
	}
	return keys
}
