package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

var truncatedRecord = &Rule{
	Name: "truncated-record", Category: Framing, Severity: "error",
	Summary: "The last record is cut off",
	What:    `Checks for files that end in the middle of their last record.`,
	Why: `The program crashed, or the disk was full, while the record was being written. The rest of the
record is lost. A program that does not expect this cannot load the session at all.`,
	Repair: "`fix --unsafe`" + ` drops the incomplete record. Without ` + "`--unsafe`" + ` the record stays, and toolguard
inserts no placeholder results, because a missing result may be in it.`,
	Bad: `{"role":"user","content":"q"}
{"role":"assistant","cont`,
	Good: `{"role":"user","content":"q"}
{"role":"assistant","content":"a"}`,
	CheckFile: func(c *FileContext) {
		eachFault(c, source.FaultTruncated, func(f *transcript.RecordFault) Finding {
			out := Finding{Severity: Error, Message: "the input ends in the middle of this record", Span: source.Span{Start: f.Span.End - 1, End: f.Span.End}}
			if f.Want != "" {
				out.Message += ": expected " + f.Want
			}
			if c.Lines {
				out.Fix = fileOp(operation.Unsafe, "drop the incomplete record", &operation.DropRecord{At: f.Whole})
			}
			return out
		})
	},
}
