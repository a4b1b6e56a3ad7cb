package rules

import (
	"strconv"

	"github.com/toolguard/toolguard/internal/operation"
)

var duplicateRecord = &Rule{
	Name: "duplicate-record", Category: Links, Severity: "warning; error if the agent reads both records",
	Summary: "Two records of a session log have the same id",
	What:    `Checks session logs for records that have the same id.`,
	Why: `In a linked log, each record names its parent by id, so ids must be unique. Agents write a record
twice when they resume a session, or when two processes append to one file.

toolguard reads only one of the two records, as agents do. If they are identical, it reads the
first one. Otherwise it reads the last one.

Kimi Code has no ids on its records and reads both copies, so it sends a call twice. There, the
finding is an error.`,
	Repair: `toolguard drops a copy that is identical to the first record except for the timestamp (safe). It
keeps records that differ, and a copy of a record in a line that clients cannot read, such as one
behind an incomplete record.`,
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
				Message: "the id " + strconv.Quote(clip(l.ID)) + " also belongs to an earlier, different record",
				Related: []Related{{"the first record is here", l.First}},
			}
			if l.Identical {
				f.Message = "the record " + strconv.Quote(clip(l.ID)) + " repeats an earlier record"
				if l.Sent {
					f.Severity = Error
					f.Message += ", and the agent reads both"
				}
				if c.Broken(l.FirstRecord) && !c.Broken(l.Record) {
					f.Unfixed = stayBroken
				} else {
					f.Fix = fileOp(operation.Safe, "drop the copy", &operation.DropRecord{At: l.Whole, CopyOf: l.First})
				}
			}
			c.report(f)
		}
	},
}
