package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

var gluedRecords = &Rule{
	Name: "glued-records", Category: Framing, Severity: "error",
	Summary: "A torn record and a complete one are on one line",
	Doc: `The agent crashed while it wrote a record, and the next run appended to the torn line
(github/copilot-cli#4098). The line is not
JSON, so programs also lose the complete record after the torn one.

**Repair.** ` + "`fix --unsafe`" + ` drops the torn prefix and keeps the complete record.`,
	Bad: `{"role":"user","content":"q"}
{"role":"assistant","con{"role":"user","content":"n"}`,
	Good: `{"role":"user","content":"q"}
{"role":"user","content":"n"}`,
	CheckFile: func(c *FileContext) {
		eachFault(c, source.FaultGlued, func(f *transcript.RecordFault) Finding {
			return Finding{
				Severity: Error, Message: "a torn record comes before a complete one on this line",
				Fix: fileOp(operation.Unsafe, "drop the torn prefix", &operation.DropBytes{At: f.Span}),
			}
		})
	},
}
