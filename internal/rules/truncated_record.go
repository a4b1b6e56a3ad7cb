package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

var truncatedRecord = &Rule{
	Name: "truncated-record", Category: Framing, Severity: "error",
	Summary: "The last record is cut off",
	Doc: `The input ends in the middle of its last record, because the program crashed or the disk was
full while it was written. The content of the record is lost. A program that does not expect
this fails to load the whole session.

**Repair.** ` + "`fix --unsafe`" + ` drops the torn record. Otherwise the record stays, and toolguard
inserts no placeholder, because the result may be in it.`,
	Bad: `{"role":"user","content":"q"}
{"role":"assistant","cont`,
	Good: `{"role":"user","content":"q"}
{"role":"assistant","content":"a"}`,
	CheckFile: func(c *FileContext) {
		eachFault(c, source.FaultTruncated, func(f *transcript.RecordFault) Finding {
			out := Finding{Severity: Error, Message: "the input ends inside this record", Span: source.Span{Start: f.Span.End - 1, End: f.Span.End}}
			if f.Want != "" {
				out.Message += ": expected " + f.Want
			}
			if c.Lines {
				out.Fix = fileOp(operation.Unsafe, "drop the torn record", &operation.DropRecord{At: f.Whole})
			}
			return out
		})
	},
}
