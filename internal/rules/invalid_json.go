package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

var invalidJSON = &Rule{
	Name: "invalid-json", Category: Framing, Severity: "error",
	Summary: "A record is not JSON",
	Doc: `The record cannot be parsed. The finding points to the exact byte where it stops being JSON
and says what was expected there. The other records are still read. Programs that parse line
by line skip the record or stop at it, so a call or a result in it is lost for them. For this
reason toolguard inserts no placeholder into a conversation with an unreadable record: the
result may be in that record.

**Repair.** By default, none. In JSONL, ` + "`fix --unsafe`" + ` drops the line.`,
	Bad: `{"role":"user","content":"q"}
{"role":"assistant","content":"a"
{"role":"user","content":"n"}`,
	Good: `{"role":"user","content":"q"}
{"role":"assistant","content":"a"}
{"role":"user","content":"n"}`,
	CheckFile: func(c *FileContext) {
		eachFault(c, source.FaultInvalidJSON, func(f *transcript.RecordFault) Finding {
			out := Finding{Severity: Error, Message: "invalid JSON: expected " + f.Want}
			if f.Want == "" {
				out.Message = "invalid JSON"
			}
			if c.Lines {
				out.Fix = fileOp(operation.Unsafe, "drop the line", &operation.DropRecord{At: f.Whole})
			}
			return out
		})
	},
}
