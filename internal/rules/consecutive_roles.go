package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/transcript"
)

var consecutiveRoles = &Rule{
	Name: "consecutive-roles", Category: Roles, Severity: "info; the profile's severity with --send or --target",
	Summary: "Two messages of one role follow each other",
	Doc: `Some providers want user and assistant to alternate. Most merge neighbours, or do
not care.

**Repair.** The messages are merged (safe; unsafe where one carries signed
reasoning), when the provider wants it.`,
	Bad:  `[{"role":"user","content":"a"},{"role":"user","content":"b"},{"role":"assistant","content":"c"}]`,
	Good: `[{"role":"user","content":"a"},{"role":"assistant","content":"c"}]`,
	Check: func(c *Context) {
		if !c.arrays() || c.Window == transcript.WindowNext {
			return
		}
		severity := Info
		if c.Send || c.Target {
			severity = severityOf(c.Profile.ConsecutiveRoles)
		}
		for i := 1; i < len(c.Messages); i++ {
			m, prev := &c.Messages[i], &c.Messages[i-1]
			if m.Role != prev.Role || m.Role != transcript.RoleUser && m.Role != transcript.RoleAssistant {
				continue
			}
			if c.Incomplete && c.Lines && m.Record-prev.Record > 1 {
				continue // what stood between them cannot be read
			}
			class := operation.Safe
			if c.signed(m.Turn) || c.signed(prev.Turn) {
				class = operation.Unsafe
			}
			op := c.op(operation.Merge, m.Turn, class, "merge it with the message before")
			op.Messages = []int32{int32(i)}
			c.report(int32(i), Finding{
				Severity: severity, Span: m.RoleSpan(), ProviderError: c.Profile.ConsecutiveRoles.Text, Fix: op,
				Message: "a second message of role " + m.Role.String() + " in a row",
			})
		}
	},
}
