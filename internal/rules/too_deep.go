package rules

import (
	"fmt"

	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

var tooDeep = &Rule{
	Name: "too-deep", Category: Framing, Severity: "error",
	Summary: "A record is nested too deep to be read",
	Doc: fmt.Sprintf(`Arrays and objects are nested deeper than %d levels. Recursive parsers run out of stack on such
a record, so toolguard does not read it.

**Repair.** None.`, source.MaxDepth),
	Bad:  deep(source.MaxDepth + 1),
	Good: deep(10),
	CheckFile: func(c *FileContext) {
		eachFault(c, source.FaultTooDeep, func(*transcript.RecordFault) Finding {
			return Finding{Severity: Error, Message: fmt.Sprintf("nested deeper than %d levels", source.MaxDepth)}
		})
	},
}

// deep returns a message with content nested n levels deep.
func deep(n int) string {
	b := []byte(`{"role":"user","content":`)
	for range n {
		b = append(b, '[')
	}
	for range n {
		b = append(b, ']')
	}
	return string(append(b, '}'))
}
