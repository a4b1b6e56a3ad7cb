package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

var invalidUTF8 = &Rule{
	Name: "invalid-utf8", Category: Framing, Severity: "error",
	Summary: "The file contains bytes that are not UTF-8",
	What:    `Checks for bytes that are not valid UTF-8.`,
	Why: `JSON is UTF-8. Strict parsers reject such a record. Lenient parsers replace the bytes, and then
two ids that contain them may no longer match.`,
	Repair: "`fix --unsafe`" + ` replaces the bytes with U+FFFD.`,
	Bad:    "{\"role\":\"user\",\"content\":\"caf\xe9\"}",
	Good:   `{"role":"user","content":"café"}`,
	CheckFile: func(c *FileContext) {
		eachFault(c, source.FaultInvalidUTF8, func(f *transcript.RecordFault) Finding {
			return Finding{
				Severity: Error, Message: "bytes that are not UTF-8" + times(f),
				Fix: fileOp(operation.Unsafe, "replace the bytes with U+FFFD", &operation.ReplaceBytes{At: f.Whole}),
			}
		})
	},
}
