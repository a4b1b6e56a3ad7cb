package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

var rawNewlineInString = &Rule{
	Name: "raw-newline-in-string", Category: Framing, Severity: "error",
	Summary: "An unescaped line feed in a string spreads a record over several lines",
	Doc: `A string contains a line feed as it is instead of ` + "`\\n`" + `, so one record takes several lines
(github/copilot-cli#2649). Programs that
read line by line see pieces that are not JSON.

**Repair.** The line feeds are escaped (safe).`,
	Bad: `{"role":"user","content":"q"}
{"role":"user","content":"two
lines"}
{"role":"assistant","content":"a"}`,
	Good: `{"role":"user","content":"q"}
{"role":"user","content":"two\nlines"}
{"role":"assistant","content":"a"}`,
	CheckFile: func(c *FileContext) {
		eachFault(c, source.FaultRawNewline, func(f *transcript.RecordFault) Finding {
			return Finding{
				Severity: Error, Message: "a line feed inside a string is not escaped" + times(f),
				Fix: fileOp(operation.Safe, `escape the line feeds as \n`, &operation.EscapeNewlines{At: f.Whole}),
			}
		})
	},
}
