package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

var resultContentType = &Rule{
	Name: "result-content-type", Category: Payload, Severity: "error in a request body, with --send or --provider, and for null in OpenAI chat; else warning",
	Summary: "The provider does not accept the content of a tool result",
	Points:  []profile.Point{profile.ResultContent, profile.NullResult},
	What: `Checks for results whose content has a type that the provider does not accept. A
result that answers no call is an ` + "`orphan-tool-result`" + ` only.`,
	Why: `OpenAI and Anthropic expect a string or a list of parts. Gemini expects an object. Null, a number
or a bare object is a return value of a tool that nobody converted to text. OpenAI's chat API
always rejects null.`,
	Repair: `toolguard converts the content. All of this is safe, because the bytes of the value stay.

- Null and missing content become an empty text.
- A list of texts becomes one text.
- Any other value becomes text that contains its JSON.
- For Gemini, the value is wrapped in an object. For Bedrock, it is wrapped in a block.`,
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
		if !c.sent() { // its agent may convert it
			severity = min(severity, Warning)
		}
		null := c.cell(profile.NullResult)
		for i := range c.Results {
			res := &c.Results[i]
			form := formOf(res.Form)
			if res.Answer.ByProvider() || c.Pairing.Results[i].Fate == pairing.Ignored || c.callLost(i) || c.Profile.ResultForms&form != 0 || severity == Off {
				continue
			}
			f := Finding{Severity: severity, Span: res.Payload, Refusal: cell.Text, Message: "the content of the " + resultName(res) + " is " + formName(form)}
			if form == profile.FormNull && severityOf(null) != Off {
				f.Severity, f.Refusal = severityOf(null), null.Text
			}
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
		return "missing"
	}
	return "a number or a boolean"
}

// contentFix returns the operation that converts the content of a result to a form that the
// profile accepts.
func (c *Context) contentFix(i int, form profile.Form) *operation.Operation {
	res := &c.Results[i]
	title, text := "convert the content to text", ""
	raw := c.Text(res.Payload)
	if form == profile.FormAbsent {
		raw = "null"
	}
	none := form == profile.FormAbsent || form == profile.FormNull
	switch forms := c.Profile.ResultForms; {
	case forms == profile.FormObject && form == profile.FormAbsent:
		title, text = "add an empty object", `{}`
	case forms == profile.FormObject:
		title, text = "wrap the content in an object", `{"result":`+raw+`}`
	case forms == profile.FormList && none:
		title, text = "set content to an empty text", `[{"text":""}]`
	case forms == profile.FormList && form == profile.FormObject:
		title, text = "convert the content to a block", `[{"json":`+raw+`}]`
	case forms == profile.FormList:
		title, text = "convert the content to a block", `[{"text":`+source.AsText(source.NewValue([]byte(raw), 0))+`}]`
	default:
		if text = source.AsText(source.NewValue([]byte(raw), 0)); none {
			title = `set content to ""`
		}
	}
	var do operation.Action = &operation.SetValue{At: res.Payload, Text: text, Call: -1}
	if form == profile.FormAbsent {
		do = &operation.AddMember{At: c.Blocks[res.Block].Span, Member: transcript.MemberResultContent, Text: text}
	}
	return c.op(c.turn(res.Message), operation.Safe, title, do)
}
