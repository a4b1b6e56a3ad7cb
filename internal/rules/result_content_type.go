package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

var resultContentType = &Rule{
	Name: "result-content-type", Category: Payload, Severity: "error in a request body, with --send or --target; else warning",
	Summary: "The content of a result has a shape that the provider refuses",
	Points:  []profile.Point{profile.ResultContent},
	Doc: `OpenAI and Anthropic want a text or a list of parts, Gemini an object. Null, a
number or a bare object comes from a tool's return value that nobody turned into
text.

**Repair.** Null and nothing become an empty text, a list of nothing but text its text,
any other value its JSON as text; for Gemini it is wrapped in an object, for Bedrock
in a block (all safe: the bytes of the value stay).`,
	Bad: `[{"role":"user","content":"q"},
 {"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},
 {"role":"tool","tool_call_id":"c1","content":null}]`,
	Good: `[{"role":"user","content":"q"},
 {"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},
 {"role":"tool","tool_call_id":"c1","content":""}]`,
	Check: func(c *Context) {
		cell := c.cell(profile.ResultContent)
		severity := severityOf(cell)
		if c.Profile.ResultForms == 0 || !c.shaped() || !c.arrays() {
			return
		}
		if !c.sent() {
			severity = min(severity, Warning)
		}
		for i := range c.Results {
			res := &c.Results[i]
			form := c.form(res.Payload)
			if res.Server || c.Pairing.Results[i].Fate == pairing.Ignored || c.Profile.ResultForms&form != 0 || severity == Off {
				continue
			}
			f := Finding{Severity: severity, Span: res.Payload, Refusal: cell.Text, Message: "the content of the " + resultName(res) + " is " + formName(form)}
			if form == profile.FormAbsent {
				f.Span = res.ID.Span
			}
			f.Fix = c.contentFix(i, form)
			c.aboutResult(i, f)
		}
	},
}

// formName describes a form.
func formName(f profile.Form) string {
	switch f {
	case profile.FormString:
		return "a text"
	case profile.FormList:
		return "a list"
	case profile.FormObject:
		return "an object"
	case profile.FormNull:
		return "null"
	case profile.FormAbsent:
		return "not there"
	}
	return "a number or a truth value"
}

// contentFix returns the operation that puts a result's content into a form
// that the profile takes.
func (c *Context) contentFix(i int, form profile.Form) *operation.Operation {
	res := &c.Results[i]
	title, text := "write it as text", ""
	raw := c.Text(res.Payload)
	if form == profile.FormAbsent {
		raw = "null"
	}
	none := form == profile.FormAbsent || form == profile.FormNull
	switch forms := c.Profile.ResultForms; {
	case forms == profile.FormObject && form == profile.FormAbsent:
		title, text = "add an empty object", `{}`
	case forms == profile.FormObject:
		title, text = "wrap it in an object", `{"result":`+raw+`}`
	case forms == profile.FormList && none:
		title, text = "write an empty text", `[{"text":""}]`
	case forms == profile.FormList && form == profile.FormObject:
		title, text = "write it as a block", `[{"json":`+raw+`}]`
	case forms == profile.FormList:
		title, text = "write it as a block", `[{"text":`+transcript.AsText(transcript.NewValue([]byte(raw), 0))+`}]`
	default:
		if text = transcript.AsText(transcript.NewValue([]byte(raw), 0)); none {
			title = `write ""`
		}
	}
	var do operation.Action = &operation.SetValue{At: res.Payload, Text: text, Call: -1}
	if form == profile.FormAbsent {
		do = &operation.AddMember{At: c.Blocks[res.Block].Span, Member: transcript.MemberResultContent, Text: text}
	}
	return c.op(c.turn(res.Message), operation.Safe, title, do)
}
