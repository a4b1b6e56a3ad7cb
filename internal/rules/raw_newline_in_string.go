package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

var rawNewlineInString = &Rule{
	Name: "raw-newline-in-string", Category: Framing, Severity: "error",
	Summary: "A string contains a line feed that is not escaped",
	What:    `Checks for strings that contain a line feed that is not escaped.`,
	Why: `In JSON, a line feed in a string is written as ` + "`\\n`" + `. A raw line feed spreads one record over
several lines (github/copilot-cli#2649). Programs that read line by line see fragments that are
not valid JSON.`,
	Repair: `toolguard escapes the line feeds (safe).`,
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
