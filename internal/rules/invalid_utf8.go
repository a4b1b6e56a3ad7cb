package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/transcript"
)

var invalidUTF8 = &Rule{
	Name: "invalid-utf8", Category: Framing, Severity: "error",
	Summary: "Bytes that are not UTF-8",
	Doc: `JSON is UTF-8. Strict parsers refuse such a record, lenient ones put a
replacement character in its place, so that ids that hold it no longer match.

**Repair.** ` + "`fix --unsafe`" + ` replaces the bytes by U+FFFD.`,
	Bad:  "{\"role\":\"user\",\"content\":\"caf\xe9\"}",
	Good: `{"role":"user","content":"café"}`,
	CheckFile: func(c *FileContext) {
		eachFault(c, transcript.FaultInvalidUTF8, func(f *FileFault) Finding {
			return Finding{
				Severity: Error, Message: "bytes that are not UTF-8" + times(f),
				Fix: fileOp(operation.Unsafe, "replace them by U+FFFD", &operation.ReplaceBytes{At: f.Whole}),
			}
		})
	},
}
