package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/transcript"
)

var truncatedRecord = &Rule{
	Name: "truncated-record", Category: Framing, Severity: "error",
	Summary: "The last record is cut off",
	Doc: `The input ends inside its last record: a crash or a full disk while it was
written. What the record held is lost, but a reader that does not expect it
loses the whole session.

**Repair.** ` + "`fix --unsafe`" + ` drops the torn record. Without it the record stays,
and no placeholder is inserted, because the result may be in it.`,
	Bad: `{"role":"user","content":"q"}
{"role":"assistant","cont`,
	Good: `{"role":"user","content":"q"}
{"role":"assistant","content":"a"}`,
	CheckFile: func(c *FileContext) {
		eachFault(c, transcript.FaultTruncated, func(f *FileFault) Finding {
			out := Finding{Severity: Error, Message: "the input ends inside this record", Span: transcript.Span{Start: f.Span.End - 1, End: f.Span.End}}
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
