package rules

import "strconv"

var duplicateKey = &Rule{
	Name: "duplicate-key", Category: Framing, Severity: "warning",
	Summary: "The same key appears twice in one object",
	What: `Checks for keys that appear twice in one object. The rule looks at records, messages, blocks and
calls. It does not look at the arguments of calls or the content of results.`,
	Why: `Parsers disagree about which of the two values counts. Most take the last one. Some, such as gjson
and the streaming form of jq, take the first one. So two programs can read different messages from
the same bytes. toolguard reads the first one of a message, and all lists of messages.`,
	Repair: `toolguard does not repair this, because it cannot know which value is meant. It makes no other
repair in such a message either.`,
	Bad:  `{"role":"user","content":"a","content":"b"}`,
	Good: `{"role":"user","content":"a","name":"b"}`,
	CheckFile: func(c *FileContext) {
		for _, k := range c.Keys {
			c.report(Finding{
				Severity: Warning, Message: "the key " + strconv.Quote(clip(k.Key)) + " appears twice in one object",
				Discreet: "a key appears twice in one object",
				Span:     k.Again, Record: k.Record,
				Related: []Related{{"the first one is here", k.First}},
			})
		}
	},
}
