package rules

import (
	"fmt"

	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

var tooDeep = &Rule{
	Name: "too-deep", Category: Framing, Severity: "error",
	Summary: "A record is nested too deep to be read",
	What:    fmt.Sprintf("Checks for records whose arrays and objects are nested more than %d levels deep.", source.MaxDepth),
	Why:     `Recursive parsers run out of stack on such a record. toolguard does not read it either.`,
	Repair:  `toolguard cannot repair this.`,
	Bad:     deep(source.MaxDepth + 1),
	Good:    deep(10),
	CheckFile: func(c *FileContext) {
		eachFault(c, source.FaultTooDeep, func(*transcript.RecordFault) Finding {
			return Finding{Severity: Error, Message: fmt.Sprintf("the record is nested deeper than %d levels", source.MaxDepth)}
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
