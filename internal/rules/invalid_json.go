package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/transcript"
)

var invalidJSON = &Rule{
	Name: "invalid-json", Category: Framing, Severity: "error",
	Summary: "A record is not JSON",
	Doc: `A record cannot be parsed. The finding stands at the exact byte where it stops
being JSON and says what was expected there. The other records are still read.

Readers that parse line by line lose the record or stop at it; a call or a
result that was in it is gone for them. That is why no placeholder is ever
inserted into a conversation with an unreadable record: the result may be in it.

**Repair.** None by default. In JSONL, ` + "`fix --unsafe`" + ` drops the line.`,
	Bad: `{"role":"user","content":"q"}
{"role":"assistant","content":"a"
{"role":"user","content":"n"}`,
	Good: `{"role":"user","content":"q"}
{"role":"assistant","content":"a"}
{"role":"user","content":"n"}`,
	CheckFile: func(c *FileContext) {
		eachFault(c, transcript.FaultInvalidJSON, func(f *FileFault) Finding {
			out := Finding{Severity: Error, Message: "not JSON: expected " + f.Want}
			if f.Want == "" {
				out.Message = "not JSON"
			}
			if c.Lines {
				out.Fix = fileOp(operation.Unsafe, "drop the line", &operation.DropRecord{At: f.Whole})
			}
			return out
		})
	},
}
