package detect

import (
	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/unfold"
)

// invocationCheckOnly says why an evaluation set is not repaired.
const invocationCheckOnly = "an evaluation set states what an agent is expected to do"

// An invocation describes array elements that spread one turn of a conversation over
// several fields: the user message, the calls and their results, and the final answer.
// The paths start at the element.
type invocation struct {
	user, calls, results, final dialect.Lens
	// events is the path to an array that replaces calls and results. Each element has a
	// message at event.
	events, event dialect.Lens
	// call and result begin the parts that hold a call or a result. model and tool begin
	// the messages that hold those parts.
	call, result, model, tool string
}

// evalCase describes the evaluation sets of the Agent Development Kit.
var evalCase = invocation{
	user: "user_content|userContent", final: "final_response|finalResponse",
	calls:   "intermediate_data.tool_uses|intermediateData.toolUses",
	results: "intermediate_data.tool_responses|intermediateData.toolResponses",
	events:  "intermediate_data.invocation_events|intermediateData.invocationEvents", event: "content",
	call: `{"functionCall":`, result: `{"functionResponse":`,
	model: `{"role":"model","parts":[`, tool: `{"role":"user","parts":[`,
}

// is reports whether v is such an element.
func (n *invocation) is(v source.Value) bool {
	return n.user.In(v).Kind() == source.Object && (n.calls.In(v).Exists() || n.events.In(v).Exists())
}

// invocations finds the conversation in an array of invocations. If none of them has
// results, the calls are only expected and nothing answers them.
func (f *finder) invocations(list source.Value, path []string, ctx Place) bool {
	n := &evalCase
	is := false
	for i, e := range list.Present() {
		if is = n.is(e); is || i >= listHead {
			break
		}
	}
	if !is {
		return false
	}
	expected := true
	for _, e := range list.Present() {
		expected = expected && !n.results.In(e).First().Exists() && !n.events.In(e).First().Exists()
	}
	w := invocationWriter{u: &unfold.Unfolded{}}
	w.u.Make("[", list, nil)
	for _, e := range list.Present() {
		w.message(n.user.In(e))
		for _, event := range n.events.In(e).Present() {
			w.message(n.event.In(event))
		}
		calls, final := n.calls.In(e), n.final.In(e)
		if expected && calls.First().Exists() {
			w.parts(n.model, n.call, calls, final.Get("parts")) // no result comes between them
			continue
		}
		w.parts(n.model, n.call, calls, source.Value{})
		w.parts(n.tool, n.result, n.results.In(e), source.Value{})
		w.message(final)
	}
	w.u.Make("]", list, nil)
	ctx.listed = true // it is one of a set
	ctx.Unfolded, ctx.CheckOnly, ctx.Expected = w.u, invocationCheckOnly, expected
	before := len(f.found)
	f.array(w.u.Value(), path, ctx, freeDepth)
	return len(f.found) > before
}

type invocationWriter struct {
	u *unfold.Unfolded
	n int
}

func (w *invocationWriter) begin(at source.Value) {
	if w.n++; w.n > 1 {
		w.u.Make(",", at, nil)
	}
}

// message writes a message unchanged, if there is one.
func (w *invocationWriter) message(v source.Value) {
	if v.Kind() == source.Object {
		w.begin(v)
		w.u.Copy(v, nil)
	}
}

// parts writes a message of the parts in list, followed by the parts in more unchanged.
// It writes nothing if list is empty.
func (w *invocationWriter) parts(message, part string, list, more source.Value) {
	if list.First().Kind() != source.Object {
		return
	}
	w.begin(list)
	w.u.Make(message, list, nil)
	sep := ""
	for _, e := range list.Present() {
		w.u.Make(sep, e, nil)
		sep = ","
		w.u.Make(part, e, nil)
		w.u.Copy(e, nil)
		w.u.Make("}", e, nil)
	}
	for _, e := range more.Present() {
		w.u.Make(",", e, nil)
		w.u.Copy(e, nil)
	}
	w.u.Make("]}", list, nil)
}
