package rules

import (
	"strings"

	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

var missingCallID = &Rule{
	Name: "missing-call-id", Category: IDs, Severity: "error; info in datasets that write no ids",
	Summary: "A tool call or a tool result has no id",
	Points:  []profile.Point{profile.MissingID},
	What: `Checks for calls and results whose id is missing, null, empty, or the text ` + "`null`" + `.

A message in which Agno stores the results of several calls for Gemini is one finding.`,
	Why: `APIs reject such a history. Programs that compare ids find nothing wrong, because for them empty
ids are equal.`,
	Repair: `If toolguard can pair a call and its result by name or position without doubt, it gives both a new
id (safe). This is unsafe if the result names another tool, or if a later result without an id may
belong to the call. If there is any doubt, ` + "`ambiguous-pairing`" + ` reports the calls.

` + "`fix --unsafe`" + ` splits a message of Agno into one for each result, and drops its other fields. If a
result has no content, or names neither its call nor its tool, load the history with Agno instead.`,
	Bad: `[{"role":"assistant","content":null,"tool_calls":[{"id":"","type":"function","function":{"name":"f","arguments":"{}"}}]},
 {"role":"tool","tool_call_id":"","content":"ok"}]`,
	Good: `[{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},
 {"role":"tool","tool_call_id":"c1","content":"ok"}]`,
	Check: func(c *Context) {
		severity := severityOf(c.cell(profile.MissingID))
		if c.Idless && c.past() {
			severity = min(severity, Info)
		}
		var shared map[string]bool             // nil until needed
		var ops map[int32]*operation.Operation // by call
		mint := func(call, res int32) *operation.Operation {
			if call < 0 || c.Pairing.Calls[call].State == pairing.Unclear {
				return nil
			}
			op := ops[call]
			if op == nil {
				turn := c.turn(c.Calls[call].Message)
				class := operation.Safe
				if id := pairing.Key(c.Calls[call].ID); c.signed(turn) {
					if shared == nil {
						shared = c.sharedIDs()
					}
					if id == "" || shared[id] {
						class = operation.Unsafe
					}
				}
				switch {
				case res < 0:
					if c.loose(call) >= 0 {
						class = operation.Unsafe // an id would separate it from what may be its result
					}
				case c.contradicts(call, res):
					class = operation.Unsafe // only its place shows that it answers this call
				}
				op = c.op(turn, class, "give the call and its result an id", &operation.MintIDs{Calls: []int32{call}, Results: []int32{res}})
				if ops == nil {
					ops = map[int32]*operation.Operation{}
				}
				ops[call] = op
			}
			return op
		}
		for i := range c.Calls {
			call := &c.Calls[i]
			if call.Answer.ByProvider() || call.Answer == transcript.AnswerByPosition || pairing.Key(call.ID) != "" || c.Pairing.Calls[i].State == pairing.Exempt {
				continue
			}
			f := Finding{
				Severity: severity, Message: callName(call) + " has no id", Refusal: c.cell(profile.MissingID).Text,
				Fix: mint(int32(i), c.Pairing.Calls[i].Result),
			}
			if c.Pairing.Calls[i].State == pairing.Unclear {
				f.Unfixed = "toolguard cannot know which result answers the call: see ambiguous-pairing"
			}
			c.aboutCall(i, f)
		}
		for i := range c.Results {
			res := &c.Results[i]
			l := c.Pairing.Results[i]
			if res.Answer.ByProvider() || res.Answer == transcript.AnswerByPosition || pairing.Key(res.ID) != "" || l.Fate == pairing.Ignored {
				continue
			}
			if res.Answer == transcript.AnswerOwnRecord {
				continue // the record of its call has no id
			}
			if l.Call >= 0 && c.Calls[l.Call].Answer == transcript.AnswerByPosition {
				continue // result-kind-mismatch reports it
			}
			f := Finding{Severity: severity, Message: resultName(res) + " does not say which call it answers", Refusal: c.cell(profile.MissingID).Text}
			switch {
			case l.Fate == pairing.Answers:
				f.Fix = mint(l.Call, int32(i))
			case l.Fate == pairing.Undecided:
				f.Unfixed = "toolguard cannot know which call the result answers: see ambiguous-pairing"
			case c.Slice:
				f.Severity = min(f.Severity, Info) // its call is not in this file
			case l.Fate == pairing.Orphan:
				f.Unfixed = "the result answers no call of this conversation: see orphan-tool-result"
			}
			c.aboutResult(i, f)
		}
		for i := range c.Messages {
			if m := &c.Messages[i]; m.Has(transcript.MessageOtherShape) && !m.Has(transcript.MessageReplay) {
				c.manyResults(int32(i))
			}
		}
	},
}

// manyResults reports a message that has a list of results in the place of calls. The calls that
// it answers are related to it, and are not reported as without results.
func (c *Context) manyResults(message int32) {
	m := &c.Messages[message]
	f := Finding{
		Severity: Error, Span: m.RoleSpan(), Refusal: c.cell(profile.MissingID).Text,
		Message: "the message does not say which call it answers: it has a list of results in the place of calls, as Agno stores them for Gemini",
		Fix:     c.op(m.Turn, operation.Unsafe, "write one message for each result", &operation.SplitResults{Message: message}),
	}
	for _, call := range c.causes().odd[message] {
		f.Related = append(f.Related, Related{"this call has its result there", c.Calls[call].ID.Span})
	}
	c.report(message, f)
}

// contradicts reports whether a result has the name of another tool than the call.
func (c *Context) contradicts(call, res int32) bool {
	a, b := c.Calls[call].Name, c.Results[res].Name
	if pairing.Key(a) == "" || pairing.Key(b) == "" {
		return false
	}
	return strings.TrimSpace(a.Text()) != strings.TrimSpace(b.Text())
}

// A stray is the kind of a result that names no call: the segment of the conversation, and
// the name of its tool, "" for none, or any name.
type stray struct {
	segment int32
	name    string
	any     bool
}

// loose returns a result after a call that names no call and may answer this one; -1 if there
// is none.
func (c *Context) loose(call int32) int32 {
	name := func(t transcript.Token) string {
		if pairing.Key(t) == "" {
			return ""
		}
		return strings.TrimSpace(t.Text())
	}
	if c.strays == nil {
		c.strays = map[stray]int32{}
		for i := range c.Results {
			res := &c.Results[i]
			if c.Pairing.Results[i].Fate == pairing.Orphan && pairing.Key(res.ID) == "" && !res.Answer.ByProvider() {
				at := c.Messages[res.Message].Segment
				// The last result of each kind is enough.
				c.strays[stray{segment: at, name: name(res.Name)}] = int32(i)
				c.strays[stray{segment: at, any: true}] = int32(i)
			}
		}
	}
	own := name(c.Calls[call].Name)
	at := c.Messages[c.Calls[call].Message].Segment
	for _, k := range []stray{{at, own, own == ""}, {segment: at}} {
		if i, is := c.strays[k]; is && c.Results[i].Block > c.Calls[call].Block {
			return i
		}
	}
	return -1
}

// sharedIDs returns the ids that more than one call or result has.
func (c *Context) sharedIDs() map[string]bool {
	out := map[string]bool{}
	note := func(t transcript.Token) {
		id := pairing.Key(t)
		_, seen := out[id]
		out[id] = seen
	}
	for i := range c.Calls {
		note(c.Calls[i].ID)
	}
	for i := range c.Results {
		note(c.Results[i].ID)
	}
	return out
}
