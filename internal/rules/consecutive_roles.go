package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

var consecutiveRoles = &Rule{
	Name: "consecutive-roles", Category: Roles, Family: MessageOrder, Severity: ordersSeverity,
	Summary:    "Two messages in a row have the same role",
	Points:     []profile.Point{profile.ConsecutiveRoles},
	Strategies: []string{"merge", "drop", "text"},
	What:       `Checks for consecutive messages with the same role.`,
	Why: `Some providers expect the user and the assistant to alternate. Most merge such messages or ignore
this.`,
	Repair: `By default, toolguard merges the messages if the provider requires it.

- ` + "`merge`" + ` (default, safe): merge the messages. This is unsafe if one of them has signed reasoning.
  Messages with a list of calls or with other fields stay separate.
- ` + "`drop`" + ` (unsafe): drop the second message with its calls and their results.
- ` + "`text`" + ` (unsafe): turn the calls and results of the messages into text, so that the messages can be
  merged.`,
	Bad:  `[{"role":"user","content":"a"},{"role":"user","content":"b"},{"role":"assistant","content":"c"}]`,
	Good: `[{"role":"user","content":"a"},{"role":"assistant","content":"c"}]`,
	Check: func(c *Context) {
		if !c.arrays() || c.Native.Wire == profile.Items || c.Window == transcript.WindowNext || c.Window == transcript.WindowOwn {
			return
		}
		severity := Info
		if c.known() {
			severity = severityOf(c.cell(profile.ConsecutiveRoles))
		}
		open := len(c.openServers()) > 0 // then a message must not mix results with other blocks
		for i := 1; i < len(c.Messages); i++ {
			m, prev := &c.Messages[i], &c.Messages[i-1]
			if m.Role != prev.Role || m.Role != transcript.RoleUser && m.Role != transcript.RoleAssistant {
				continue
			}
			if c.wronglyPut(int32(i)) || c.wronglyPut(int32(i)-1) {
				continue // block-in-wrong-role reports it, and the message gets another role
			}
			if c.Incomplete && c.Lines && m.Record-prev.Record > 1 {
				continue // an unreadable record is between them
			}
			class := operation.Safe
			if c.signed(m.Turn) || c.signed(prev.Turn) {
				class = operation.Unsafe
			}
			if c.known() && c.Profile.UsersInRow && m.Role == transcript.RoleUser {
				continue
			}
			// Calls in a user message are answered by a separate message.
			astray := m.Role == transcript.RoleUser && (c.holds(int32(i), transcript.BlockCall) || c.holds(int32(i)-1, transcript.BlockCall))
			// Once the calls and results of both messages are in their places, another
			// message may be between them.
			unsettled := c.unsettled(int32(i)) || c.unsettled(int32(i)-1)
			var op *operation.Operation
			switch {
			case unsettled:
			case c.strategy() == "drop":
				op = c.dropSecond(int32(i))
			case c.strategy() == "text":
				if op = c.messageAsText(int32(i)); op == nil {
					op = c.messageAsText(int32(i) - 1)
				}
			}
			if op == nil && !unsettled && !astray && (c.Window != transcript.WindowTool || c.listed(int32(i)) == c.listed(int32(i)-1)) &&
				(c.plain(int32(i)) || c.plain(int32(i)-1) && c.Window == transcript.WindowTool) &&
				(severityOf(c.cell(profile.Mixed)) < Warning && !open || c.holds(int32(i), transcript.BlockResult) == c.holds(int32(i)-1, transcript.BlockResult)) {
				op = c.op(m.Turn, class, "merge the message into the one before it", &operation.MergeMessage{Message: int32(i)})
			}
			c.report(int32(i), Finding{
				Severity: severity, Span: m.RoleSpan(), Refusal: c.cell(profile.ConsecutiveRoles).Text, Fix: op,
				Message: "two messages of role " + m.Role.String() + " in a row",
			})
		}
	},
}

// dropSecond returns the operation that drops the second of two messages with the same role.
func (c *Context) dropSecond(message int32) *operation.Operation {
	m := &c.Messages[message]
	switch {
	case c.calls(m):
		return c.dropTurn(message)
	case c.holds(message, transcript.BlockResult):
		return nil // its calls would have no result
	}
	return c.op(m.Turn, operation.Unsafe, "drop the message", &operation.DropMessages{Messages: []int32{message}, CopyOf: -1})
}

// unsettled reports whether a call or a result of a message has no counterpart in its place
// yet.
func (c *Context) unsettled(message int32) bool {
	m := &c.Messages[message]
	if len(c.spokenBehind(message)) > 0 {
		return true
	}
	for b := m.BlockLo; b < m.BlockHi; b++ {
		switch ref := c.Blocks[b].Ref; c.Blocks[b].Kind {
		case transcript.BlockCall:
			x := &c.Pairing.Calls[ref]
			if x.State == pairing.Missing || x.State == pairing.Answered && (x.Place != pairing.InWindow || c.Results[x.Result].WrongRole) {
				return true
			}
		case transcript.BlockResult:
			l := &c.Pairing.Results[ref]
			if l.Fate == pairing.Answers && c.Pairing.Calls[l.Call].Place != pairing.InWindow || c.Results[ref].WrongRole {
				return true
			}
		}
	}
	return false
}

// plain reports whether a message has no calls in a list beside its content.
func (c *Context) plain(message int32) bool {
	m := &c.Messages[message]
	for b := m.BlockLo; b < m.BlockHi; b++ {
		if k := c.Blocks[b].Kind; k != transcript.BlockText && (k == transcript.BlockReasoning || c.Window == transcript.WindowTool) {
			return false
		}
	}
	return true
}

// holds reports whether a message has a block of a kind.
func (c *Context) holds(message int32, kind transcript.BlockKind) bool {
	m := &c.Messages[message]
	for b := m.BlockLo; b < m.BlockHi; b++ {
		if c.Blocks[b].Kind == kind {
			return true
		}
	}
	return false
}

// listed reports whether the content of a message is a list of blocks.
func (c *Context) listed(message int32) bool {
	return c.form(c.Look(transcript.MemberContent, c.Messages[message].Span()).Span) == profile.FormList
}
