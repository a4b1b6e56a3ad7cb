package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

var invalidJSON = &Rule{
	Name: "invalid-json", Category: Framing, Severity: "error",
	Summary: "A record is not valid JSON",
	What: `Checks for records that are not valid JSON. The finding points to the byte where the record stops
being JSON, and says what toolguard expected there.`,
	Why: `Programs that read a transcript line by line skip such a record or stop at it. Either way they
lose its tool calls and tool results.

toolguard reads all other records. It inserts no placeholder results into the conversation,
because a missing result may be in the unreadable record.`,
	Repair: `By default, toolguard leaves the record alone. In JSONL, ` + "`fix --unsafe`" + ` drops the line.

In a log whose client is known to leave out lines that it cannot read, dropping the beginning of a
record is a safe repair if all that is complete in it is in other records too, as in
` + "`truncated-record`" + `.`,
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
			if at := c.Text(source.Span{Start: f.Span.Start, End: min(f.Span.Start+2, f.Whole.End)}); at == "//" || at == "/*" {
				out.Message += "; JSON has no comments"
			}
			out.Message += c.behind()
			if out.Unfixed = unwritten; c.Lines {
				out.Unfixed = ""
				out.Fix = fileOp(c.tornClass(), "drop the line", &operation.DropRecord{At: f.Whole, Torn: c.LeavesOut})
			}
			return out
		})
	},
}
