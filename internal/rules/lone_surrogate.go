package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/transcript"
)

var loneSurrogate = &Rule{
	Name: "lone-surrogate", Category: Framing, Severity: "error",
	Summary: "Half of a surrogate pair in a \\u escape",
	Doc: `A text was cut in the middle of a character outside the Basic Multilingual
Plane: one half of the pair stands alone. APIs answer ` + "`no low surrogate in string`" + `,
and parsers in other languages replace it or refuse the record.

**Repair.** ` + "`fix --unsafe`" + ` replaces it by ` + "`\\ufffd`" + `.`,
	Bad:  `{"role":"user","content":"smile \ud83d"}`,
	Good: `{"role":"user","content":"smile \ud83d\ude00"}`,
	CheckFile: func(c *FileContext) {
		eachFault(c, transcript.FaultLoneSurrogate, func(f *FileFault) Finding {
			return Finding{
				Severity: Error, Message: "half of a surrogate pair" + times(f), Refusal: "no low surrogate in string",
				Fix: fileOp(operation.Unsafe, `replace it by \ufffd`, &operation.ReplaceBytes{At: f.Whole}),
			}
		})
	},
}
