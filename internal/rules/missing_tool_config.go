package rules

import (
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

var missingToolConfig = &Rule{
	Name: "missing-tool-config", Category: Reasoning, Severity: "error (Bedrock request bodies)",
	Summary:    "A request with tool calls declares no tools",
	Points:     []profile.Point{profile.NoToolConfig},
	Strategies: []string{"leave", "text"},
	What:       `Checks for requests that contain calls or results but declare no tools.`,
	Why: `Bedrock requires ` + "`toolConfig`" + ` in every request whose messages contain calls or results, even if
the model should not call tools any more.`,
	Repair: `By default, toolguard leaves the request alone, because it cannot know what the tools were.

- ` + "`leave`" + ` (default): change nothing.
- ` + "`text`" + ` (unsafe): turn all calls and results of the history into text.`,
	Args: "--provider bedrock",
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
				Message: "the request declares no tools, but its history contains " + callName(&c.Calls[i]),
			})
			return
		}
	},
}
