package rules

import (
	"strconv"

	"github.com/toolguard/toolguard/internal/operation"
)

var duplicateRecord = &Rule{
	Name: "duplicate-record", Category: Links, Severity: "warning",
	Summary: "Two records of a log have one id",
	Doc: `The records of a linked log name their parents by id, so an id must be unique.
Agents write a record twice when a session is resumed or two processes append to
one file. Pairing looks at one of the two only: the first of equals, else the
last, as the agents do.

**Repair.** A copy that equals the first but for its timestamp is dropped
(safe). Records that differ are left alone.`,
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
				Message: "the id " + strconv.Quote(clip(l.ID)) + " belongs to an earlier record too, which differs",
				Related: []Related{{"the first is here", l.First}},
			}
			if l.Identical {
				f.Message = "the record " + strconv.Quote(clip(l.ID)) + " was written before"
				f.Fix = fileOp(operation.Safe, "drop the copy", &operation.DropRecord{At: l.Whole, CopyOf: l.First})
			}
			c.report(f)
		}
	},
}
