package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

var blockInWrongRole = &Rule{
	Name: "block-in-wrong-role", Category: Roles, Severity: "error",
	Summary:    "A tool call is outside an assistant message, or a tool result is inside one",
	Points:     []profile.Point{profile.WrongRole},
	Strategies: []string{"move", "text", "drop"},
	What: `Checks for calls outside assistant messages, and for results inside them. A message that names an
open call as results do, but has the role of the user, the assistant or an unknown one, counts as
its result. The call gets no finding of its own. A result that answers no call is an
` + "`orphan-tool-result`" + ` only.`,
	Why: `Calls belong in assistant messages. Results belong in user messages or in messages of role ` + "`tool`" + `.
Providers reject blocks in a message of the wrong role.`,
	Repair: `By default, toolguard puts calls and results into a message of the right role. A result stays if a
later result answers the same call, because toolguard does not change the order of two results. It
moves nothing in session logs. A message that is itself the result gets the role of results,
which is unsafe if its role is an unknown one.

- ` + "`move`" + ` (default, safe): give a message that consists of calls the role of the assistant. Move a
  result to the message that answers its call. Moving a result that comes before two calls with its
  id is unsafe.
- ` + "`text`" + ` (unsafe): turn the call and its result into text.
- ` + "`drop`" + ` (unsafe): remove the call and its result.`,
	Bad: `[{"role":"user","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},
 {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"}]}]`,
	Good: `[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},
 {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"}]}]`,
	Check: func(c *Context) {
		for i := range c.Calls {
			call := &c.Calls[i]
			if !call.WrongRole || c.Pairing.Calls[i].State == pairing.Exempt {
				continue
			}
			var op *operation.Operation
			switch strategy := c.strategyOr("move"); {
			case strategy == "text":
				op = c.callAsText(int32(i))
			case strategy == "drop":
				op = c.dropCall(int32(i))
			case c.arrays() && c.onlyCalls(call.Message):
				op = c.op(c.turn(call.Message), operation.Safe, `set role to "assistant"`, &operation.MoveBlock{Block: call.Block})
			}
			c.aboutCall(i, Finding{
				Severity: Error, Refusal: c.cell(profile.WrongRole).Text, Fix: op,
				Message: callName(call) + " is in a message of role " + c.Messages[call.Message].Role.String(),
			})
		}
		for i := range c.Results {
			res := &c.Results[i]
			if !res.WrongRole || c.Pairing.Results[i].Fate == pairing.Ignored || c.callLost(i) {
				continue
			}
			var op *operation.Operation
			var why string
			switch strategy := c.strategyOr("move"); {
			case strategy == "text" && c.Pairing.Results[i].Fate == pairing.Answers:
				op = c.callAsText(c.Pairing.Results[i].Call)
			case strategy == "text":
				op = c.asText(c.turn(res.Message), nil, []int32{int32(i)})
			case strategy == "drop" && c.Pairing.Results[i].Fate == pairing.Answers:
				op = c.dropCall(c.Pairing.Results[i].Call)
			case strategy == "drop":
				op = c.op(c.turn(res.Message), operation.Unsafe, "drop the result", &operation.DropResults{Results: []int32{int32(i)}, CopyOf: -1})
			case c.Messages[res.Message].Has(transcript.MessageForeign):
				why = "toolguard does not rewrite a message in another format: this one is not in that of the conversation (" + c.Dialect + ")"
			case c.overtaken(i):
				why = "toolguard cannot know which of two results answers the call"
			case c.arrays() && (c.Pairing.Results[i].Fate == pairing.Answers || c.Pairing.Results[i].Fate == pairing.Duplicate):
				class := operation.Safe
				if call := c.Pairing.Results[i].Call; res.Block < c.Calls[call].Block && c.twin(call) {
					class = operation.Unsafe // its new place would decide which of the two it answers
				}
				op = c.op(c.turn(res.Message), class, "move the result to the message that answers the call", &operation.MoveBlock{Block: res.Block})
			}
			c.aboutResult(i, Finding{
				Severity: Error, Refusal: c.cell(profile.WrongRole).Text, Fix: op, Unfixed: why,
				Message: resultName(res) + " is in a message of role " + c.Messages[res.Message].Role.String(),
			})
		}
		for i := range c.Messages {
			if call, is := c.causes().astray[int32(i)]; is {
				c.astray(int32(i), call)
			}
		}
	},
}

// overtaken reports whether result i comes before the result that answers its call. Moving it
// after that one would reverse their order. Moving it before would change which one answers.
func (c *Context) overtaken(i int) bool {
	l := c.Pairing.Results[i]
	return l.Fate == pairing.Duplicate && c.Pairing.Calls[l.Call].State == pairing.Answered && c.Pairing.Calls[l.Call].Result > int32(i)
}

// onlyCalls reports whether a message holds only calls.
func (c *Context) onlyCalls(message int32) bool {
	m := &c.Messages[message]
	for b := m.BlockLo; b < m.BlockHi; b++ {
		if c.Blocks[b].Kind != transcript.BlockCall {
			return false
		}
	}
	return true
}

// astray reports a message that names a call as results do, and has a role that cannot carry
// results.
func (c *Context) astray(message, call int32) {
	m := &c.Messages[message]
	role := m.Role.String()
	if m.Role == transcript.RoleOther {
		role = quote(transcript.Token{Raw: c.Text(m.RoleSpan()), Span: m.RoleSpan()})
	}
	f := Finding{
		Severity: Error, Span: m.RoleSpan(), Refusal: c.cell(profile.WrongRole).Text,
		Message: "result for " + quote(c.Calls[call].ID) + " is in a message of role " + role,
		Related: []Related{{"the call is here", c.Calls[call].ID.Span}},
	}
	f.identify(c.Calls[call].ID)
	f.nameTool(c.Calls[call].Name)
	f.Kind = kindNames[c.Calls[call].Kind]
	switch strategy, word := c.strategyOr("move"), c.Native.Role("tool"); {
	case strategy == "text":
		f.Fix = c.callAsText(call) // the message is text already
	case strategy == "drop":
		f.Fix = c.dropCall(call)
	case word != "":
		class := operation.Safe
		if m.Role == transcript.RoleOther {
			class = operation.Unsafe // it may be about the call without being its result
		}
		f.Fix = c.op(c.turn(c.Calls[call].Message), class, `set role to "`+word+`"`, &operation.SetValue{At: m.RoleSpan(), Text: source.Quote(word), Call: -1})
	}
	c.report(message, f)
}
