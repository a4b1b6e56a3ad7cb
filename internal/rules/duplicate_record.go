package rules

import (
	"strconv"

	"github.com/toolguard/toolguard/internal/operation"
)

var duplicateRecord = &Rule{
	Name: "duplicate-record", Category: Links, Severity: "warning",
	Summary: "Two records of a log have the same id",
	Doc: `The records of a linked log name their parents by id, so an id must be unique. Agents write a
record twice when a session is resumed or two processes append to one file. toolguard uses one of
the two for pairing, as the agents do: the first one if they are identical, and otherwise the
last one.

**Repair.** A copy that is identical to the first record except for its timestamp is dropped
(safe). Records that differ stay.`,
	Bad: `{"type":"user","uuid":"u0","parentUuid":null,"timestamp":"1","message":{"role":"user","content":"go"}}
{"type":"user","uuid":"u0","parentUuid":null,"timestamp":"2","message":{"role":"user","content":"go"}}`,
	Good: `{"type":"user","uuid":"u0","parentUuid":null,"timestamp":"1","message":{"role":"user","content":"go"}}
{"type":"user","uuid":"u1","parentUuid":"u0","timestamp":"2","message":{"role":"user","content":"go"}}`,
	CheckFile: func(c *FileContext) {
		for _, l := range c.Links {
			if !l.Duplicate {
				continue
			}
			f := Finding{
				Severity: Warning, Span: l.Span, Record: l.Record,
				Message: "the id " + strconv.Quote(clip(l.ID)) + " also belongs to an earlier record that differs",
				Related: []Related{{"the first is here", l.First}},
			}
			if l.Identical {
				f.Message = "the record " + strconv.Quote(clip(l.ID)) + " is repeated"
				f.Fix = fileOp(operation.Safe, "drop the copy", &operation.DropRecord{At: l.Whole, CopyOf: l.First})
			}
			c.report(f)
		}
	},
}
