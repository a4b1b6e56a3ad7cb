package rules

var unsentBranch = &Rule{
	Name: "unsent-branch", Category: Links, Severity: "info",
	Summary: "Results are on a branch of the session that is not sent",
	What: `Checks session logs whose records name their parents for results on branches that the agent does not
send. There is one finding for each conversation of a file. Results before a compaction, and results
that are also on the branch that is sent, do not count.`,
	Why: `If two programs write to one session, each continues from the last record that it knows. Both append
to one file, so the session has two branches. When an agent resumes it, it follows the parents from
the last record and sends only one branch. The tools of the other branch have run, but the model
does not see their results (anthropics/claude-code#37737, #48270). The message says so if records of
the two branches alternate.

A human who goes back to an earlier prompt also leaves a branch behind. Then nothing is wrong.`,
	Repair: `None. toolguard cannot know which branch is meant, and a history has one order.`,
	Bad: `{"type":"user","uuid":"u0","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"go"}}
{"type":"user","uuid":"u1","parentUuid":"u0","sessionId":"s","message":{"role":"user","content":"one"}}
{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"s","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"ls","input":{}}]}}
{"type":"user","uuid":"v1","parentUuid":"u0","sessionId":"s","message":{"role":"user","content":"two"}}
{"type":"user","uuid":"r1","parentUuid":"a1","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a.txt"}]}}
{"type":"assistant","uuid":"b1","parentUuid":"v1","sessionId":"s","message":{"id":"m2","role":"assistant","content":[{"type":"text","text":"Two."}]}}`,
	Good: `{"type":"user","uuid":"u0","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"go"}}
{"type":"user","uuid":"u1","parentUuid":"u0","sessionId":"s","message":{"role":"user","content":"one"}}
{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"s","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"One."}]}}
{"type":"user","uuid":"v1","parentUuid":"u0","sessionId":"s","message":{"role":"user","content":"two"}}
{"type":"assistant","uuid":"b1","parentUuid":"v1","sessionId":"s","message":{"id":"m2","role":"assistant","content":[{"type":"text","text":"Two."}]}}`,
	CheckFile: func(c *FileContext) {
		for _, b := range c.Branches {
			verb := "are"
			if b.Results == 1 {
				verb = "is"
			}
			f := Finding{
				Severity: Info, Span: b.Span, Record: b.Record,
				Message: plural(b.Results, "result", "results") + " on " + plural(b.Branches, "branch", "branches") + " of the session " + verb + " not sent",
			}
			if b.Mixed {
				f.Message += "; records of two branches alternate, as if two programs wrote the session"
			}
			if !b.On.IsZero() {
				f.Related = []Related{{"the session goes on here instead", b.On}}
			}
			c.report(f)
		}
	},
}
