package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

var nulPadding = &Rule{
	Name: "nul-padding", Category: Framing, Severity: "error",
	Summary: "The file contains NUL bytes at its end or between records",
	What:    `Checks for NUL bytes at the end of the file or between records.`,
	Why: `Some file systems pad a file with NUL bytes if the machine stops while the file is being written.
NUL bytes are not valid JSON, so parsers stop there.`,
	Repair: `toolguard removes the NUL bytes (safe, because they are not content).`,
	Bad:    "{\"role\":\"user\",\"content\":\"q\"}\n\x00\x00\x00\x00",
	Good: `{"role":"user","content":"q"}
`,
	CheckFile: func(c *FileContext) {
		eachFault(c, source.FaultNUL, func(f *transcript.RecordFault) Finding {
			return Finding{
				Severity: Error, Message: plural(int(f.Span.Len()), "NUL byte", "NUL bytes") + " outside the records",
				Fix: fileOp(operation.Safe, "remove the NUL bytes", &operation.DropBytes{At: f.Span}),
			}
		})
	},
}
