package rules

import (
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

var missingToolConfig = &Rule{
	Name: "missing-tool-config", Category: Reasoning, Severity: "error (Bedrock request bodies)",
	Summary: "A request holds calls, and declares no tools",
	Points:  []profile.Point{profile.NoToolConfig},
	Doc: `Bedrock wants ` + "`toolConfig`" + ` in every request whose messages hold calls or results, also
where the model is not to call anything any more.

**Repair.** None: what the tools were is not known.`,
	Args: "--target bedrock",
	Bad: `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"go"},
 {"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},
 {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"}]}]}`,
	Good: `{"model":"m","max_tokens":9,"tools":[{"name":"f","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"go"},
 {"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},
 {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"}]}]}`,
	Check: func(c *Context) {
		cell := c.cell(profile.NoToolConfig)
		if severityOf(cell) == Off || c.Use != transcript.UseBody || c.Tools != nil {
			return
		}
		for i := range c.Calls {
			c.aboutCall(i, Finding{Severity: severityOf(cell), Refusal: cell.Text, Message: "the request declares no tools, but " + callName(&c.Calls[i]) + " is made in it"})
			return
		}
	},
}
