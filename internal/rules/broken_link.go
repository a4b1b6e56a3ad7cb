package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
)

var brokenLink = &Rule{
	Name: "broken-link", Category: Links, Severity: "warning; error where it cuts the live branch off",
	Summary: "A record names a parent that no record is",
	Doc: `An agent that resumes a session walks from the last record to the first along
the parents. Where a parent is missing the walk ends, and everything before it is
out of the model's sight. When that happens on the branch in use while earlier
records are there, it is an error; elsewhere a warning.

**Repair.** ` + "`fix --unsafe`" + ` names the record before it in the same scope as the
parent: that may join what never belonged together.`,
	Bad: `{"type":"user","uuid":"u0","parentUuid":null,"message":{"role":"user","content":"go"}}
{"type":"user","uuid":"u1","parentUuid":"gone","message":{"role":"user","content":"on"}}`,
	Good: `{"type":"user","uuid":"u0","parentUuid":null,"message":{"role":"user","content":"go"}}
{"type":"user","uuid":"u1","parentUuid":"u0","message":{"role":"user","content":"on"}}`,
	CheckFile: func(c *FileContext) {
		for _, l := range c.Links {
			if l.Duplicate {
				continue
			}
			f := Finding{
				Severity: Warning, Span: l.Span, Record: l.Record,
				Message: "no record is the parent " + clip(c.Text(l.Span)),
			}
			if l.Live {
				f.Severity = Error
				f.Message += ": the records before it are cut off"
			}
			if l.Relink {
				f.Fix = fileOp(operation.Unsafe, "name the record before it as the parent", &operation.RelinkRecord{At: l.Span})
			}
			c.report(f)
		}
	},
}
