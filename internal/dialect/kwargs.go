package dialect

import (
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// kwargs is a side list whose messages can have their calls in additional_kwargs
// only, in the form of the provider.
type kwargs struct {
	*sideList
	inner *sideList // of a call there
}

// withKwargs returns a side list that reads such calls too.
func withKwargs(row SideList) Driver {
	return &kwargs{sideListOf(row), sideListOf(SideList{
		ID: "id", Function: "function", Custom: "custom", Name: "name", Args: "arguments", Input: "input",
	})}
}

// calls returns the calls in additional_kwargs of a message that has no list of
// calls itself: a list of calls, or one call of an older API.
func (d *kwargs) calls(body source.Value) (list, legacy source.Value) {
	for alt := range d.Calls.Alternatives() {
		if firstCall(alt.In(body)).Exists() {
			return source.Value{}, source.Value{}
		}
	}
	if d.Invalid != "" && firstCall(d.Invalid.In(body)).Exists() {
		return source.Value{}, source.Value{}
	}
	more := body.Get("additional_kwargs")
	if list = more.Get("tool_calls"); d.inner.callsIn(list) {
		return list, source.Value{}
	}
	if legacy = more.Get("function_call"); legacy.Get("name").Kind() == source.String {
		return source.Value{}, legacy
	}
	return source.Value{}, source.Value{}
}

// Reader implements Driver.
func (d *kwargs) Reader(b *transcript.Builder) Reader {
	return &kwargsReader{d.sideList.Reader(b).(*sideListReader), d, d.inner.Reader(b).(*sideListReader)}
}

type kwargsReader struct {
	*sideListReader
	kwargs *kwargs
	inner  *sideListReader
}

// Read implements Reader.
func (r *kwargsReader) Read(v source.Value) {
	r.sideListReader.Read(v)
	c, m := r.b.Conv, r.b.Message()
	if m.Role == transcript.RoleTool {
		// Where the role is the name of a class, the old role function has a class too.
		if res := len(c.Results) - 1; res >= 0 && c.Results[res].Message == int32(len(c.Messages)-1) && r.Role.Nth(1).In(v).Is("FunctionMessage") {
			c.Results[res].Kind, c.Results[res].NoIDs = transcript.KindLegacyFunction, true
		}
		return
	}
	list, legacy := r.kwargs.calls(r.body(v))
	wrong := m.Role == transcript.RoleUser || m.Role == transcript.RoleSystem
	for _, call := range list.Elements() {
		r.inner.readCall(call, transcript.ArgsWantString, wrong)
	}
	if legacy.Exists() {
		call := transcript.Call{
			ID: transcript.Token{Span: legacy.Span()}, Name: transcript.TokenOf(legacy.Get("name"), legacy.Span()),
			Kind: transcript.KindLegacyFunction, NoIDs: true, WrongRole: wrong,
		}
		setArgs(r.b, &call, legacy.Get("arguments"), transcript.ArgsWantString)
		r.b.Call(legacy, call, 0)
	}
}

// WriteResult implements Writer. It writes no FunctionMessage.
func (d *kwargs) WriteResult(r NewResult) []Field {
	if r.Kind == transcript.KindLegacyFunction && d.roleSpelling(r.Message) > 0 {
		return nil
	}
	return d.sideList.WriteResult(r)
}

// Keys implements Writer.
func (d *kwargs) Keys(v source.Value) WriterKeys {
	k := d.sideList.Keys(v)
	if list, _ := d.calls(d.body(v)); list.Exists() {
		k.Calls, k.KeepCalls = append(k.Calls, "additional_kwargs.tool_calls"), true
	}
	return k
}
