package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

var nulPadding = &Rule{
	Name: "nul-padding", Category: Framing, Severity: "error",
	Summary: "NUL bytes at the end of the file or between records",
	Doc: `Some file systems leave a file padded with NUL bytes when the machine stops while the file is
being written. NUL is not JSON, so parsers stop there.

**Repair.** The bytes are removed (safe, because they hold nothing).`,
	Bad: "{\"role\":\"user\",\"content\":\"q\"}\n\x00\x00\x00\x00",
	Good: `{"role":"user","content":"q"}
`,
	CheckFile: func(c *FileContext) {
		eachFault(c, source.FaultNUL, func(f *transcript.RecordFault) Finding {
			return Finding{
				Severity: Error, Message: plural(int(f.Span.Len()), "NUL byte", "NUL bytes") + " between records",
				Fix: fileOp(operation.Safe, "strip the NUL bytes", &operation.DropBytes{At: f.Span}),
			}
		})
	},
}
