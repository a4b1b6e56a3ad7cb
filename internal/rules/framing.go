package rules

import (
	"fmt"

	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// eachFault reports a finding for every fault of a kind.
func eachFault(c *FileContext, kind source.FaultKind, finding func(f *transcript.RecordFault) Finding) {
	for i := range c.Faults {
		if f := &c.Faults[i]; f.Kind == kind {
			out := finding(f)
			if out.Span.IsZero() {
				out.Span = f.Span
			}
			out.Record = f.Record
			c.report(out)
		}
	}
}

// unwritten says why a document is not repaired that is not valid JSON.
const unwritten = "toolguard does not guess what was meant, and nothing can be left out of a document that it cannot read"

// behind says what the client does about the lines behind one that it cannot read, "" if it reads
// them.
func (c *FileContext) behind() string {
	if !c.Stops {
		return ""
	}
	return "; the client drops this line and all lines behind it when it resumes the session"
}

// tornClass returns the class of dropping a fragment of a record. If the client leaves the
// fragment out anyway, it is safe unless something is only there.
func (c *FileContext) tornClass() operation.Class {
	if c.LeavesOut {
		return operation.Safe
	}
	return operation.Unsafe
}

// times says how often a fault occurs, if more than once.
func times(f *transcript.RecordFault) string {
	if f.Count > 1 {
		return fmt.Sprintf(", the first of %d in this record", f.Count)
	}
	return ""
}

// fileOp returns an operation on records or bytes of the file.
func fileOp(class operation.Class, title string, do operation.Action) *operation.Operation {
	return &operation.Operation{Class: class, Title: title, Turn: -1, Do: do}
}
