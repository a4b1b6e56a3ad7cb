package rules

import (
	"fmt"

	"github.com/toolguard/toolguard/internal/operation"
)

var ordinalMismatch = &Rule{
	Name: "ordinal-mismatch", Category: Links, Severity: "error",
	Summary: "The ordinal of a record does not follow the previous one",
	What: `Checks Codex sessions for records whose ` + "`ordinal`" + ` is not one more than the ordinal of the previous
record.`,
	Why: `Some versions of Codex write the same ordinal twice when they resume an interrupted session. Codex
then stops reading at that record. The session freezes there for the user, although Codex still
writes later records to the file (openai/codex#41566, #41657, #42027), or ` + "`codex resume`" + ` no longer
lists the session (#38341).`,
	Repair: `toolguard renumbers that record and all records after it (safe). Codex also keeps what it has read
of a session in a database of its own. If the session stays frozen after the repair, that database
still has the old position.

toolguard inserts no placeholder in the middle of such a file, because that would change the ordinals
of all later records. A call in the middle without a result is an info: Codex answers it with
` + "`aborted`" + ` when it resumes the session. If another record repeats the result, toolguard inserts it and
renumbers the records behind it.`,
	Bad: `{"timestamp":"2026-01-02T03:04:05Z","ordinal":0,"type":"session_meta","payload":{"id":"s"}}
{"timestamp":"2026-01-02T03:04:06Z","ordinal":1,"type":"event_msg","payload":{"type":"token_count"}}
{"timestamp":"2026-01-02T03:04:07Z","ordinal":1,"type":"event_msg","payload":{"type":"thread_settings_applied"}}
{"timestamp":"2026-01-02T03:04:08Z","ordinal":2,"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}}`,
	Good: `{"timestamp":"2026-01-02T03:04:05Z","ordinal":0,"type":"session_meta","payload":{"id":"s"}}
{"timestamp":"2026-01-02T03:04:06Z","ordinal":1,"type":"event_msg","payload":{"type":"token_count"}}
{"timestamp":"2026-01-02T03:04:07Z","ordinal":2,"type":"event_msg","payload":{"type":"thread_settings_applied"}}
{"timestamp":"2026-01-02T03:04:08Z","ordinal":3,"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}}`,
	CheckFile: func(c *FileContext) {
		var renumber *operation.Operation // the first one renumbers the rest too
		for _, l := range c.Links {
			if !l.Ordinal {
				continue
			}
			if renumber == nil {
				renumber = fileOp(operation.Safe, "renumber the records from here on", &operation.Renumber{At: l.Span})
			}
			c.report(Finding{
				Severity: Error, Span: l.Span, Record: l.Record, Fix: renumber,
				Message: fmt.Sprintf("ordinal %s does not follow ordinal %d: expected %d", clip(c.Text(l.Span)), l.Want-1, l.Want),
			})
		}
	},
}
