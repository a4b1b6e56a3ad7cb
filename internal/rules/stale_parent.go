package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
)

var staleParent = &Rule{
	Name: "stale-parent", Category: Links, Severity: "error",
	Summary: "The parent of a record is a progress record that the conversation had passed",
	What: `Checks session logs of Claude Code for a record of the current branch whose parent is a
` + "`progress`" + ` record, although messages came after that record.

It is no finding if these messages begin with another prompt at the same place. Then a human edited
the prompt, or the agent sent it again.`,
	Why: `Old versions of Claude Code gave a new message the last record in memory as its parent, even if that
was a report on a running tool or subagent. When Claude Code resumes the session, it follows the
parents. The messages after the progress record are on another branch, so the model no longer sees
them (anthropics/claude-code#37437, #35024).`,
	Repair: `toolguard makes the last message before the record its parent. This is safe if all messages that the
branch leaves out lead to that message: nothing is removed, and the next request has them again.
Otherwise, it is unsafe.`,
	Bad: `{"type":"user","uuid":"u0","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"go"}}
{"type":"assistant","uuid":"a1","parentUuid":"u0","sessionId":"s","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"ls","input":{}}]}}
{"type":"progress","uuid":"p1","parentUuid":"a1","sessionId":"s","data":{"type":"bash_progress"}}
{"type":"user","uuid":"u1","parentUuid":"a1","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a.txt"}]}}
{"type":"assistant","uuid":"a2","parentUuid":"u1","sessionId":"s","message":{"id":"m2","role":"assistant","content":[{"type":"text","text":"One file."}]}}
{"type":"user","uuid":"u2","parentUuid":"p1","sessionId":"s","message":{"role":"user","content":"on"}}`,
	Good: `{"type":"user","uuid":"u0","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"go"}}
{"type":"assistant","uuid":"a1","parentUuid":"u0","sessionId":"s","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"ls","input":{}}]}}
{"type":"progress","uuid":"p1","parentUuid":"a1","sessionId":"s","data":{"type":"bash_progress"}}
{"type":"user","uuid":"u1","parentUuid":"p1","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a.txt"}]}}
{"type":"assistant","uuid":"a2","parentUuid":"u1","sessionId":"s","message":{"id":"m2","role":"assistant","content":[{"type":"text","text":"One file."}]}}
{"type":"user","uuid":"u2","parentUuid":"a2","sessionId":"s","message":{"role":"user","content":"on"}}`,
	CheckFile: func(c *FileContext) {
		for _, l := range c.Links {
			if !l.Passed {
				continue
			}
			class := operation.Unsafe
			if l.Sure {
				class = operation.Safe
			}
			c.report(Finding{
				Severity: Error, Span: l.Span, Record: l.Record,
				Message: l.Key + " " + clip(c.Text(l.Span)) + " points to a progress record, so the messages after that record are cut off",
				Related: []Related{{"the last message that is cut off is here", l.First}},
				Fix:     fileOp(class, "set the parent to the last message before it", &operation.RelinkRecord{At: l.Span, To: l.First}),
			})
		}
	},
}
