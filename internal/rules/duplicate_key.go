package rules

import "strconv"

var duplicateKey = &Rule{
	Name: "duplicate-key", Category: Framing, Severity: "warning",
	Summary: "The same key stands twice in a record, message, block or call",
	Doc: `Readers disagree on which of the two counts: most languages' parsers take the
last, some the first (gjson and jq's streaming form among them). So one tool
sees another message than the next.

Only objects that make up the transcript are looked at, never a payload.

**Repair.** None: which value was meant is not to be told.`,
	Bad:  `{"role":"user","content":"a","content":"b"}`,
	Good: `{"role":"user","content":"a","name":"b"}`,
	CheckFile: func(c *FileContext) {
		for _, k := range c.Keys {
			c.report(Finding{
				Severity: Warning, Message: "the key " + strconv.Quote(clip(k.Key)) + " stands twice in one object",
				Discreet: "a key stands twice in one object",
				Span:     k.Again, Record: k.Record,
				Related: []Related{{"the first is here", k.First}},
			})
		}
	},
}
