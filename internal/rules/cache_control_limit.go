package rules

import (
	"fmt"
	"strings"

	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

var cacheControlLimit = &Rule{
	Name: "cache-control-limit", Category: Reasoning, Severity: "error (Anthropic)",
	Summary: "More blocks are marked for the prompt cache than the provider allows",
	Points:  []profile.Point{profile.CacheLimit},
	What: `Checks how many blocks are marked with ` + "`cache_control`" + `. Anthropic allows four in the system
prompt, the tools and the messages together.`,
	Why: `The API rejects the request. Clients exceed the limit if they mark the newest message in every
turn and never remove an older mark.`,
	Repair: `toolguard removes the first marks in the messages (safe, because they are not content; unsafe if
the message has signed reasoning).`,
	Bad:  `[{"role":"user","content":[{"type":"text","text":"1","cache_control":{"type":"ephemeral"}},{"type":"text","text":"2","cache_control":{"type":"ephemeral"}},{"type":"text","text":"3","cache_control":{"type":"ephemeral"}},{"type":"text","text":"4","cache_control":{"type":"ephemeral"}},{"type":"text","text":"5","cache_control":{"type":"ephemeral"}}]},{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"hi"}]}]`,
	Good: `[{"role":"user","content":[{"type":"text","text":"1","cache_control":{"type":"ephemeral"}},{"type":"text","text":"2"}]},{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"hi"}]}]`,
	Check: func(c *Context) {
		most := c.Profile.CacheMax
		if most == 0 || !c.shaped() || !c.arrays() {
			return
		}
		cell := c.cell(profile.CacheLimit)
		var marks []transcript.Token
		var at []int32
		for i := range c.Messages {
			if c.Messages[i].Has(transcript.MessageUnmarked) {
				continue
			}
			for _, part := range c.Marked(c.Messages[i].Span()) {
				if t := c.Look(transcript.MemberCacheMark, part); t.Given() {
					marks, at = append(marks, t), append(at, int32(i))
				}
			}
		}
		total := len(marks) + c.marksAround()
		if len(marks) == 0 || total <= most {
			return
		}
		over := min(total-most, len(marks))
		for i := range over {
			m := &c.Messages[at[i]]
			class := operation.Safe
			if c.signed(m.Turn) {
				class = operation.Unsafe
			}
			op := c.op(m.Turn, class, "remove the cache mark", &operation.RemoveMember{Message: at[i], At: marks[i].Span})
			c.report(at[i], Finding{
				Severity: severityOf(cell), Span: marks[i].Span, Fix: op,
				Refusal: strings.Replace(cell.Text, "Found 5.", fmt.Sprintf("Found %d.", total), 1),
				Message: fmt.Sprintf("%d blocks are marked for the prompt cache; the %s allows %d", total, c.Profile.Title, most),
			})
		}
	},
}

// cacheMark matches a cache marker that is not null.
var cacheMark = lazily(`"cache_control"\s*:\s*\{`)

// marksAround counts the cache markers outside of the messages, in the system prompt and the
// tools.
func (c *Context) marksAround() int {
	if c.Holder.IsZero() || len(c.Lists) == 0 || !c.Holder.Contains(c.Lists[0]) {
		return 0
	}
	before := c.Text(source.Span{Start: c.Holder.Start, End: c.Lists[0].Start})
	last := c.Lists[len(c.Lists)-1]
	behind := c.Text(source.Span{Start: min(last.End, c.Holder.End), End: c.Holder.End})
	mark := cacheMark()
	return len(mark.FindAllStringIndex(before, -1)) + len(mark.FindAllStringIndex(behind, -1))
}
