package rules

import (
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

var missingToolConfig = &Rule{
	Name: "missing-tool-config", Category: Reasoning, Severity: "error (Bedrock request bodies)",
	Summary:    "A request with calls declares no tools",
	Points:     []profile.Point{profile.NoToolConfig},
	Strategies: []string{"leave", "text"},
	Doc: `Bedrock requires ` + "`toolConfig`" + ` in every request whose messages contain calls or results, even if
the model is not to call anything any more.

**Repair.** By default, none, because it is not known what the tools were.

` + "`--strategy missing-tool-config=text`" + ` turns all calls and results of the history into text
(unsafe).`,
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
		op := c.allAsText()
		op.ByStrategy = c.strategy() != "text"
		for i := range c.Calls {
			c.aboutCall(i, Finding{
				Severity: severityOf(cell), Refusal: cell.Text, Fix: op,
				Message: "the request declares no tools, but " + callName(&c.Calls[i]) + " is in its history",
			})
			return
		}
	},
}
