package dialect

import (
	"slices"

	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// kwargs is a side list whose messages may have their calls only in
// additional_kwargs, in the provider's form, and may repeat calls there and in
// other fields. A result may come from an older API, with role function.
type kwargs struct {
	*SideListDriver
	copied []copyList
	inner  *SideListDriver // reads a call in additional_kwargs
}

// A copyList is a list in which a message repeats its calls.
type copyList struct {
	list Lens
	tags []string // the types of elements; empty means any
	id   Lens     // of an element
	name Lens
}

// providerCall describes a call in additional_kwargs.
var providerCall = NewSideList(&SideList{ID: "id", Function: "function|custom", Name: "name", Args: "arguments"})

// calls returns the calls in additional_kwargs of a message that has no other list
// of calls: a list of calls, or one call of an older API. read holds the values of
// the message.
func (d *kwargs) calls(read []source.Value) (list, legacy source.Value) {
	lists, more := read[d.compiled().alsoAt:len(read)-1], read[len(read)-1]
	if more.Kind() != source.Object || slices.ContainsFunc(lists, func(l source.Value) bool { return firstCall(l).Exists() }) {
		return source.Value{}, source.Value{}
	}
	if list = more.Get("tool_calls"); d.inner.callsIn(list) {
		return list, source.Value{}
	}
	if legacy = more.Get("function_call"); legacy.Get("name").Kind() == source.String {
		return source.Value{}, legacy
	}
	return source.Value{}, source.Value{}
}

// reader returns a reader that has no hooks yet.
func (d *kwargs) reader(b *transcript.Builder) kwargsReader {
	return kwargsReader{sideListReader: d.SideListDriver.reader(b), kwargs: d}
}

type kwargsReader struct {
	sideListReader
	kwargs *kwargs
	inner  *customReader // nil until it is needed
	lo     int           // the first call of the message
}

// A customReader reads calls, including those of tools that take free text.
type customReader struct{ sideListReader }

func (r *customReader) onCall(v source.Value, call transcript.Call) (transcript.Call, bool) {
	call, _ = customCall(v, call)
	return call, true
}

// onResult sets the kind of a result of the older API. If the role is the name of a class, that
// of the older API is, too.
func (r *kwargsReader) onResult(v source.Value, res transcript.Result) transcript.Result {
	if r.now.roleVal.Is("function") || r.row.Role.Nth(1).In(v).Is("FunctionMessage") {
		res.Kind, res.Answer = transcript.KindLegacyFunction, transcript.AnswerByPosition
	}
	return res
}

// onPart skips a call that the list of calls already has.
func (r *kwargsReader) onPart(_, tag source.Value) bool {
	return slices.ContainsFunc(r.kwargs.copied, func(l copyList) bool { return contains(l.tags, tag) })
}

// customCall reads a call of a tool that takes free text.
func customCall(v source.Value, call transcript.Call) (_ transcript.Call, is bool) {
	if call.Form != transcript.ArgsMissing {
		return call, false
	}
	custom := v.Get("custom")
	if custom.Kind() != source.Object || v.Get("function").Kind() == source.Object {
		return call, false
	}
	call.Want = transcript.ArgsWantAny
	setText(&call, custom.Get("input"))
	return call, true
}

// onElement notes where the calls of a message begin.
func (r *kwargsReader) onElement(v source.Value) source.Value {
	r.lo = len(r.b.Conv.Calls)
	return v
}

// onEnd reads the calls that only additional_kwargs has, and notes the copies of the others.
func (r *kwargsReader) onEnd(source.Value) {
	if n := len(r.b.Conv.Calls); n > r.lo {
		for i := range r.kwargs.copied {
			r.noteCopies(&r.kwargs.copied[i], r.now.body, r.lo, n)
		}
	}
	m := r.b.Message()
	if m.Role == transcript.RoleTool {
		return
	}
	list, legacy := r.kwargs.calls(r.vals)
	wrong := m.Role == transcript.RoleUser || m.Role == transcript.RoleSystem
	for _, call := range list.Present() {
		if r.inner == nil {
			r.inner = &customReader{r.kwargs.inner.reader(r.b)}
			r.inner.use(r.inner)
		}
		r.inner.readCall(call, transcript.ArgsWantString, wrong)
	}
	if legacy.Exists() {
		r.legacy(legacy, legacy.Get("name"), legacy.Get("arguments"), wrong)
	}
}

// legacy adds a call of the older API, which has no id.
func (r *kwargsReader) legacy(v, name, args source.Value, wrong bool) {
	call := transcript.Call{
		ID: transcript.Token{Span: v.Span()}, Name: transcript.TokenOf(name, v.Span()),
		Kind: transcript.KindLegacyFunction, Answer: transcript.AnswerByPosition, WrongRole: wrong,
	}
	setArgs(r.b, &call, args, transcript.ArgsWantString)
	r.b.Call(v, call, 0)
}

// noteCopies notes where a list repeats the calls from lo to hi of a message. It
// matches them by id, in order, or by index if there are no ids.
func (r *kwargsReader) noteCopies(l *copyList, body source.Value, lo, hi int) {
	c := r.b.Conv
	list := l.list.In(body)
	taken := make([]bool, hi-lo) // calls that already have a copy in this list
	var byID map[string][]int    // those calls by id; nil until one is not at its index
	n := 0
	for _, e := range list.Present() {
		if e.Kind() != source.Object || len(l.tags) > 0 && !contains(l.tags, e.Get("type")) {
			continue
		}
		id := transcript.TokenOf(l.id.In(e), e.Span())
		at := -1
		switch {
		case lo+n < hi && !taken[n] && (c.Calls[lo+n].ID.Raw == id.Raw && id.IsString() || !id.IsString() && !c.Calls[lo+n].ID.IsString()):
			at = lo + n
		case id.IsString():
			if byID == nil {
				byID = map[string][]int{}
				for i := lo; i < hi; i++ {
					byID[c.Calls[i].ID.Raw] = append(byID[c.Calls[i].ID.Raw], i)
				}
			}
			for at < 0 && len(byID[id.Raw]) > 0 {
				if i := byID[id.Raw][0]; !taken[i-lo] {
					at = i
				}
				byID[id.Raw] = byID[id.Raw][1:]
			}
		}
		n++
		if at < 0 {
			continue
		}
		taken[at-lo] = true
		name := l.name.In(e)
		c.Copies = append(c.Copies, transcript.Copy{
			Call: int32(at), List: list.Span(), Block: e.Span(), ID: id, IDKey: l.id.Key(), Name: transcript.TokenOf(name, e.Span()),
		})
	}
}

// WriteResult implements Writer. It writes no FunctionMessage.
func (d *kwargs) WriteResult(r NewResult) []Field {
	if r.Kind != transcript.KindLegacyFunction {
		return d.SideListDriver.WriteResult(r)
	}
	if r.Name == "" || d.roleSpelling(r.Message) > 0 {
		return nil
	}
	name := string(d.ResultName.Nth(spelling(d.ResultName, d.body(r.Named))))
	return d.message(r.Message, "function", []Field{{name, r.Name}, {d.Content.Key(), r.Text}})
}

// Retagged implements Writer.
func (d *kwargs) Retagged(from, to transcript.CallKind) string {
	if to == transcript.KindLegacyFunction {
		return "function"
	}
	return d.SideListDriver.Retagged(from, to)
}

// Keys implements Writer.
func (d *kwargs) Keys(v source.Value) WriterKeys {
	k := d.SideListDriver.Keys(v)
	has := false
	for key := range k.Body.Members() {
		has = has || key.Is("additional_kwargs")
	}
	if !has { // as almost all messages
		return k
	}
	if list, _ := d.calls(d.compiled().message.Read(&transcript.Builder{}, k.Body)); list.Exists() {
		k.Calls, k.KeepCalls = append(k.Calls, "additional_kwargs.tool_calls"), true
	}
	return k
}
