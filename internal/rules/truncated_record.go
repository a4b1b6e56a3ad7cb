package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

var truncatedRecord = &Rule{
	Name: "truncated-record", Category: Framing, Family: "invalid-json", Severity: "error; warning in a log whose client skips the record",
	Summary: "The last record is cut off",
	What:    `Checks for files that end in the middle of their last record.`,
	Why: `The program crashed, or the disk was full, while the record was being written. The rest of the
record is lost. A program that does not expect this cannot load the session at all. The clients of
some logs skip such a record when they resume the session. Then the finding is a warning. The
record must still go, because the next record that is written would follow on the same line (see
` + "`glued-records`" + `).`,
	Repair: "`fix --unsafe`" + ` drops the incomplete record. Without ` + "`--unsafe`" + ` the record stays, and toolguard
inserts no placeholder results, because a missing result may be in it.

In a log whose client skips the record, this is a safe repair if all that is complete in the record
is in other records too: each key, string, number and literal, as often as in the record. What is
cut off must be the beginning of a key or a value there. For example, the program wrote the record
again.`,
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
			class := operation.Unsafe
			if c.LeavesOut {
				out.Severity, class = Warning, operation.Safe // unless something is only there
				out.Message += "; the client skips it when it resumes the session"
			}
			if out.Unfixed = unwritten; c.Lines {
				out.Unfixed = ""
				out.Fix = fileOp(class, "drop the incomplete record", &operation.DropRecord{At: f.Whole, Torn: c.LeavesOut, Last: c.LeavesOut})
			}
			return out
		})
	},
}
