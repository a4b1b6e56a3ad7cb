package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
)

var brokenLink = &Rule{
	Name: "broken-link", Category: Links, Severity: "warning; error if it cuts off records of the current branch",
	Summary: "The parent of a record does not exist",
	What:    `Checks session logs for records whose parent does not exist.`,
	Why: `When an agent resumes a session, it follows the parents from the last record to the first. If a
parent is missing, the agent stops there, and the model no longer sees anything before that point.

The finding is an error if it cuts off earlier records of the current branch. Otherwise it is a
warning.`,
	Repair: "`fix --unsafe`" + ` makes the previous record of the same scope the parent. This is unsafe because the
two records may never have belonged together.

It is safe in a log in which each record names the one that was written before it, such as that of
Qwen Code, if only one record can be the parent: those before it are one chain, those after it
descend from it, and all others can be read.`,
	Bad: `{"type":"user","uuid":"u0","parentUuid":null,"message":{"role":"user","content":"go"}}
{"type":"user","uuid":"u1","parentUuid":"gone","message":{"role":"user","content":"on"}}`,
	Good: `{"type":"user","uuid":"u0","parentUuid":null,"message":{"role":"user","content":"go"}}
{"type":"user","uuid":"u1","parentUuid":"u0","message":{"role":"user","content":"on"}}`,
	CheckFile: func(c *FileContext) {
		for _, l := range c.Links {
			if l.Duplicate || l.Ordinal || l.Passed {
				continue
			}
			f := Finding{
				Severity: Warning, Span: l.Span, Record: l.Record,
				Message: l.Key + " " + clip(c.Text(l.Span)) + " points to no record in this file",
			}
			if l.Live {
				f.Severity = Error
				f.Message += ", so the records before it are cut off"
			}
			if l.Relink {
				class := operation.Unsafe
				if l.Sole {
					class = operation.Safe
				}
				f.Fix = fileOp(class, "set the parent to the record before it", &operation.RelinkRecord{At: l.Span})
			}
			c.report(f)
		}
	},
}
