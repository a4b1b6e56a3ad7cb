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
	u := &unfold.Unfolded{}
	u.Make("[", list, nil)
	for _, e := range list.Present() {
		writeTurn(u, n.user.In(e))
		for _, event := range n.events.In(e).Present() {
			writeTurn(u, n.event.In(event))
		}
		calls, final := n.calls.In(e), n.final.In(e)
		if expected && calls.First().Exists() {
			writeParts(u, n.model, n.call, calls, final.Get("parts")) // no result comes between them
			continue
		}
		writeParts(u, n.model, n.call, calls, source.Value{})
		writeParts(u, n.tool, n.result, n.results.In(e), source.Value{})
		writeTurn(u, final)
	}
	u.Make("]", list, nil)
	ctx.listed = true // it is one of a set
	ctx.Unfolded, ctx.CheckOnly, ctx.Expected = u, invocationCheckOnly, expected
	before := len(f.found)
	f.array(u.Value(), path, ctx, freeDepth)
	return len(f.found) > before
}

// writeTurn writes a message unchanged, if there is one.
func writeTurn(u *unfold.Unfolded, v source.Value) {
	if v.Kind() == source.Object {
		u.Next(v, nil)
		u.Copy(v, nil)
	}
}

// writeParts writes a message of the parts in list, followed by the parts in more unchanged.
// It writes nothing if list is empty.
func writeParts(u *unfold.Unfolded, message, part string, list, more source.Value) {
	if list.First().Kind() != source.Object {
		return
	}
	u.Next(list, nil)
	u.Make(message, list, nil)
	for _, e := range list.Present() {
		u.Next(e, nil)
		u.Make(part, e, nil)
		u.Copy(e, nil)
		u.Make("}", e, nil)
	}
	for _, e := range more.Present() {
		u.Next(e, nil)
		u.Copy(e, nil)
	}
	u.Make("]}", list, nil)
}
