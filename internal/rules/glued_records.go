package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

var gluedRecords = &Rule{
	Name: "glued-records", Category: Framing, Severity: "error",
	Summary: "A line contains more than one record",
	What: `Checks for lines that contain an incomplete record followed by a complete one, and for lines that
contain several complete records.`,
	Why: `The agent crashed while it was writing a record, and the next run appended to the same line
(github/copilot-cli#4098). The line is not valid JSON, so programs that read line by line lose
the complete records too.`,
	Repair: "`fix --unsafe`" + ` removes an incomplete record and keeps the complete one. toolguard does not separate
complete records.

In a log whose client is known to leave out lines that it cannot read, removing the incomplete
record is a safe repair if all that is complete in it is in other records too, as in
` + "`truncated-record`" + `. Usually the complete record behind it is the same one, written again.`,
	Bad: `{"role":"user","content":"q"}
{"role":"assistant","con{"role":"user","content":"n"}`,
	Good: `{"role":"user","content":"q"}
{"role":"user","content":"n"}`,
	CheckFile: func(c *FileContext) {
		eachFault(c, source.FaultGlued, func(f *transcript.RecordFault) Finding {
			return Finding{
				Severity: Error, Message: "this line contains an incomplete record and a complete one" + c.behind(),
				Fix: fileOp(c.tornClass(), "remove the incomplete record", &operation.DropBytes{At: f.Span, Torn: c.LeavesOut}),
			}
		})
		eachFault(c, source.FaultSameLine, func(*transcript.RecordFault) Finding {
			return Finding{Severity: Error, Message: "this line contains more than one complete record"}
		})
	},
}
