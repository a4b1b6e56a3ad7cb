package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

var toolResultNotFirst = &Rule{
	Name: "tool-result-not-first", Category: Pairing, Severity: "error",
	Summary: "Other content comes before a tool result",
	Points:  []profile.Point{profile.NotFirst},
	What: `Checks for content before the results in a user message that answers calls. Consecutive user
messages count as one message, so a user message between a call and its result counts too.`,
	Why: `A user message that answers calls must begin with the results. Text and images come after them.
Otherwise the API answers as if the result were missing.`,
	Repair: `toolguard puts the results first (safe).`,
	Bad: `[{"role":"user","content":"go"},
 {"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},
 {"role":"user","content":[{"type":"text","text":"here:"},{"type":"tool_result","tool_use_id":"a","content":"1"}]}]`,
	Good: `[{"role":"user","content":"go"},
 {"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},
 {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"},{"type":"text","text":"here"}]}]`,
	Check: func(c *Context) {
		if c.Window != transcript.WindowUser {
			return
		}
		message, wedge, wedged, fore := int32(-1), source.Span{}, false, int32(-1)
		for i := range c.Pairing.Results {
			l := &c.Pairing.Results[i]
			res := &c.Results[i]
			if l.Fate != pairing.Answers || res.Answer.ByProvider() || res.WrongRole || c.Pairing.Calls[l.Call].Place != pairing.InWindow {
				continue
			}
			call := &c.Calls[l.Call]
			if res.Message != message {
				message = res.Message
				wedge, wedged = c.wedge(call, res)
				fore = c.foreBlock(message)
			}
			other, before := wedge, wedged
			if fore >= 0 && fore < res.Block {
				other, before = c.Blocks[fore].Span, true
			}
			if !before {
				continue
			}
			f := Finding{
				Severity: Error, Refusal: c.cell(profile.NotFirst).Text,
				Message: resultName(res) + " comes after other content",
				Related: []Related{{"this content comes before it", other}},
			}
			if c.Messages[res.Message].Has(transcript.MessageForeign) {
				f.Unfixed = "toolguard does not rewrite a message in another format: see mixed-dialect"
			} else {
				f.Fix, _ = turnOp[operation.ReorderResults](c, c.turn(call.Message), operation.Safe, "put the results first")
			}
			c.aboutResult(i, f)
		}
	},
}

// foreBlock returns the first block of a message that is not a result, -1 if there is none.
func (c *Context) foreBlock(message int32) int32 {
	m := &c.Messages[message]
	for b := m.BlockLo; b < m.BlockHi; b++ {
		if c.Blocks[b].Kind != transcript.BlockResult {
			return b
		}
	}
	return -1
}

// wedge returns the user message with content between a call's turn and the message of its
// result, if there is one: alone, or after other results.
func (c *Context) wedge(call *transcript.Call, res *transcript.Result) (source.Span, bool) {
	for k := res.Message - 1; k > call.Message; k-- {
		prev := &c.Messages[k]
		if prev.Role != transcript.RoleUser {
			break
		}
		switch {
		case prev.Void():
			continue
		case prev.Has(transcript.MessageText):
			return prev.RoleSpan(), true
		case c.Blocks[prev.BlockHi-1].Kind == transcript.BlockResult:
			return source.Span{}, false
		case c.Blocks[prev.BlockLo].Kind == transcript.BlockResult:
			return c.Blocks[c.foreBlock(k)].Span, true // they are merged when they are sent
		}
		return prev.RoleSpan(), true
	}
	return source.Span{}, false
}
