package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

var loneSurrogate = &Rule{
	Name: "lone-surrogate", Category: Framing, Severity: "error",
	Summary: "A \\u escape holds half of a surrogate pair",
	Doc: `A text was cut in the middle of a character outside the Basic Multilingual Plane, and one half
of the surrogate pair is left. APIs answer ` + "`no low surrogate in string`" + `. Parsers in other
languages replace it or reject the record.

**Repair.** ` + "`fix --unsafe`" + ` replaces it with ` + "`\\ufffd`" + `.`,
	Bad:  `{"role":"user","content":"smile \ud83d"}`,
	Good: `{"role":"user","content":"smile \ud83d\ude00"}`,
	CheckFile: func(c *FileContext) {
		eachFault(c, source.FaultLoneSurrogate, func(f *transcript.RecordFault) Finding {
			return Finding{
				Severity: Error, Message: "half of a surrogate pair" + times(f), Refusal: "no low surrogate in string",
				Fix: fileOp(operation.Unsafe, `replace it by \ufffd`, &operation.ReplaceBytes{At: f.Whole}),
			}
		})
	},
}
