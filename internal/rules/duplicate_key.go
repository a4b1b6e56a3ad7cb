package rules

import "strconv"

var duplicateKey = &Rule{
	Name: "duplicate-key", Category: Framing, Severity: "warning",
	Summary: "The same key appears twice in one object",
	Doc: `Programs disagree about which of the two values counts. Most parsers take the last one, and some
the first one, such as gjson and the streaming form of jq. So one program sees another message
than the next.

Only records, messages, blocks and calls are checked, not the arguments of calls or the content
of results.

**Repair.** None, because toolguard cannot know which value is meant. Nothing else is
repaired in such a message either.`,
	Bad:  `{"role":"user","content":"a","content":"b"}`,
	Good: `{"role":"user","content":"a","name":"b"}`,
	CheckFile: func(c *FileContext) {
		for _, k := range c.Keys {
			c.report(Finding{
				Severity: Warning, Message: "the key " + strconv.Quote(clip(k.Key)) + " appears twice in one object",
				Discreet: "a key appears twice in one object",
				Span:     k.Again, Record: k.Record,
				Related: []Related{{"the first is here", k.First}},
			})
		}
	},
}
