package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/transcript"
)

var rawNewlineInString = &Rule{
	Name: "raw-newline-in-string", Category: Framing, Severity: "error",
	Summary: "A record is spread over lines by an unescaped line feed in a string",
	Doc: `A string holds a line feed as such and not as ` + "`\\n`" + `, so that one record takes
several lines (gh:github/copilot-cli#2649). Readers that go by lines see pieces
that are no JSON.

**Repair.** The line feeds are escaped (safe).`,
	Bad: `{"role":"user","content":"q"}
{"role":"user","content":"two
lines"}
{"role":"assistant","content":"a"}`,
	Good: `{"role":"user","content":"q"}
{"role":"user","content":"two\nlines"}
{"role":"assistant","content":"a"}`,
	CheckFile: func(c *FileContext) {
		eachFault(c, transcript.FaultRawNewline, func(f *FileFault) Finding {
			return Finding{
				Severity: Error, Message: "a line feed inside a string is not escaped" + times(f),
				Fix: fileOp(operation.Safe, `escape the line feeds as \n`, &operation.EscapeNewlines{At: f.Whole}),
			}
		})
	},
}
