package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

var loneSurrogate = &Rule{
	Name: "lone-surrogate", Category: Framing, Severity: "error",
	Summary: `A \u escape is half of a surrogate pair`,
	What:    `Checks for ` + "`\\u`" + ` escapes that are only one half of a surrogate pair.`,
	Why: `A program cut a text in the middle of a character outside the Basic Multilingual Plane, such as an
emoji. APIs answer ` + "`no low surrogate in string`" + `. Parsers in other languages replace the escape or
reject the record.`,
	Repair: "`fix --unsafe`" + ` replaces the escape with ` + "`\\ufffd`" + `.`,
	Bad:    `{"role":"user","content":"smile \ud83d"}`,
	Good:   `{"role":"user","content":"smile \ud83d\ude00"}`,
	CheckFile: func(c *FileContext) {
		eachFault(c, source.FaultLoneSurrogate, func(f *transcript.RecordFault) Finding {
			return Finding{
				Severity: Error, Message: "this escape is half of a surrogate pair" + times(f), Refusal: "no low surrogate in string",
				Fix: fileOp(operation.Unsafe, `replace the escape with \ufffd`, &operation.ReplaceBytes{At: f.Whole}),
			}
		})
	},
}
