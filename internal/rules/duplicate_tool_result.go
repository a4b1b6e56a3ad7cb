package rules

import (
	"bytes"
	"slices"
	"strings"

	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

var duplicateToolResult = &Rule{
	Name: "duplicate-tool-result", Category: Pairing, Family: "misplaced-tool-result", Severity: "error",
	Summary:    "A tool call has more than one result",
	Points:     []profile.Point{profile.Duplicate},
	Strategies: []string{"first", "last", "text", "leave"},
	What:       `Checks for tool calls that have more than one result.`,
	Why: `A tool was retried, or a repair inserted a placeholder and the real result came later. Gemini CLI
records each result twice, in the record of its call and as a message, and sends both when it
resumes the session. It then gives each of several calls the results of all of them. Providers
reject the second result.`,
	Repair: `With every strategy, toolguard drops these results:

- a copy that differs only in its own id (safe)
- a known placeholder if there is a real result too (safe, or unsafe if an assistant turn was
  written with the placeholder)

It drops no result if the other one is in a line that clients cannot read. If two real results
differ, the strategy decides.

- ` + "`first`" + ` (default, unsafe): keep the first result.
- ` + "`last`" + ` (unsafe): keep the last result.
- ` + "`text`" + ` (unsafe): turn the second result into text.
- ` + "`leave`" + `: change nothing.`,
	Bad: `[{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},
 {"role":"tool","tool_call_id":"c1","content":"a.txt"},
 {"role":"tool","tool_call_id":"c1","content":"a.txt"},
 {"role":"user","content":"n"}]`,
	Good: `[{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},
 {"role":"tool","tool_call_id":"c1","content":"a.txt"},
 {"role":"user","content":"n"}]`,
	Check: func(c *Context) {
		before := map[int32]int32{} // by call: the previous result
		for i := range c.Pairing.Results {
			l := &c.Pairing.Results[i]
			res := &c.Results[i]
			if l.Fate != pairing.Duplicate || res.Answer.ByProvider() {
				continue
			}
			turn := c.turn(c.Calls[l.Call].Message)
			f := Finding{
				Severity: Error,
				Message:  resultName(res) + " is a second result for its call",
				Refusal:  c.cell(profile.Duplicate).Text,
			}
			first := c.Pairing.Calls[l.Call].Result
			if first >= 0 {
				f.Related = []Related{{"the first result is here", c.Results[first].ID.Span}}
			}
			if _, seen := before[l.Call]; !seen {
				before[l.Call] = first
			}
			drop, keep, copyOf := int32(i), first, int32(-1)
			class, title := operation.Safe, "" // without a title nothing is done
			switch {
			case first < 0 && c.strategy() == "text":
				f.Fix = c.asText(turn, nil, []int32{int32(i)})
			case first < 0:
				class, title = operation.Unsafe, "drop the result"
			case c.identical(&c.Results[first], res):
				copyOf = first
				if c.standing(&c.Results[first]) > c.standing(res) {
					drop, keep, copyOf = first, int32(i), int32(i)
				}
				title = "drop the identical copy"
			case c.placeholder(int32(i)):
				title = "drop the placeholder and keep the real result"
			case c.placeholder(first) && res.Block < c.Calls[l.Call].Block && !c.movesBack():
				// It cannot be moved to its place, and recorded content is not dropped for a
				// placeholder.
			case c.placeholder(first):
				drop, keep = first, int32(i)
				title = "replace the placeholder before it with this result"
				if c.arrays() && c.spokeBetween(&c.Results[first], res) {
					class = operation.Unsafe
				}
			case c.strategy() == "leave":
			case c.strategy() == "text":
				f.Fix = c.asText(turn, nil, []int32{int32(i)})
			case c.strategy() == "last":
				class, title = operation.Unsafe, "keep this result and drop the one before it"
				drop, keep = before[l.Call], int32(i)
			default:
				class, title = operation.Unsafe, "keep the first result and drop this one"
			}
			before[l.Call] = int32(i)
			if title != "" && keep >= 0 {
				f.Unfixed = c.onlyBroken(c.Results[keep].Message, c.Results[drop].Message)
			}
			if m := &c.Messages[c.Results[drop].Message]; title != "" && f.Unfixed == "" && m.BlockHi-m.BlockLo == 1 {
				f.Unfixed = c.mustStay(c.Results[drop].Message, false)
			}
			if title != "" && f.Unfixed == "" {
				f.Fix = c.op(turn, class, title, &operation.DropResults{Results: []int32{drop}, CopyOf: copyOf})
			}
			c.aboutResult(i, f)
		}
	},
}

// spokeBetween reports whether the model spoke between two results of a call, so that it had
// seen only the first one.
func (c *Context) spokeBetween(first, second *transcript.Result) bool {
	for m := first.Message + 1; m < second.Message; m++ {
		if msg := &c.Messages[m]; msg.Role == transcript.RoleAssistant && !msg.Has(transcript.MessageReplay) {
			return true
		}
	}
	return false
}

// standing rates the place of a result; lower is better. Of two copies, the one stays that is
// sent and is where a result belongs.
func (c *Context) standing(res *transcript.Result) int {
	n := 0
	if res.WrongRole {
		n++
	}
	if c.hidden(res.Message) {
		n += 2
	}
	return n
}

// movesBack reports whether a result before its call is moved after it.
func (c *Context) movesBack() bool {
	return c.arrays() && c.Strategy[resultBeforeCall.Name] != "leave"
}

// identical reports whether two results have the same content, byte for byte, even if their
// other fields differ.
func (c *Context) identical(a, b *transcript.Result) bool {
	if a.Answer == transcript.AnswerOwnRecord || b.Answer == transcript.AnswerOwnRecord {
		// The record says how the call ended, and the other result does not.
		return !a.Payload.IsZero() && !b.Payload.IsZero() && c.alike(a.Payload, b.Payload)
	}
	if a.Error != b.Error || !c.alike(a.Beside, b.Beside) {
		return false
	}
	x, y := c.Text(c.Blocks[a.Block].Span), c.Text(c.Blocks[b.Block].Span)
	if x == y {
		return true
	}
	if a.Payload.IsZero() || b.Payload.IsZero() || !c.alike(a.Payload, b.Payload) {
		return false
	}
	was, n := c.besides(a, x), 0
	for _, m := range c.besides(b, y) {
		if !slices.Contains(was, m) {
			return false
		}
		n++
	}
	return n == len(was)
}

// alike reports whether two spans hold the same bytes.
func (c *Context) alike(a, b source.Span) bool {
	return a.Len() == b.Len() && (a.Len() == 0 || c.Text(a) == c.Text(b))
}

// besides returns the fields of a result except its id and its content, as JSON.
func (c *Context) besides(res *transcript.Result, text string) (out []string) {
	for k, v := range source.NewValue([]byte(text), c.Blocks[res.Block].Span.Start).Members() {
		if v.Span() != res.ID.Span && v.Span() != res.Payload {
			out = append(out, string(k.Raw())+":"+string(v.Raw()))
		}
	}
	return out
}

// placeholder reports whether a result is a text that toolguard or another tool inserts for a
// result that was never recorded.
func (c *Context) placeholder(result int32) bool {
	return IsPlaceholder(c.Results[result].Payload, c.Window, c.Own(result), func(at source.Span) []byte { return []byte(c.Text(at)) })
}

// IsPlaceholder reports whether the payload of a result is a placeholder, which is not
// recorded content. own is the text, as JSON, that this run inserts for the result, or "" if
// it is the default text.
func IsPlaceholder(payload source.Span, window transcript.Window, own string, read func(source.Span) []byte) bool {
	const most = 512
	if payload.IsZero() || payload.Len() > int64(most+len(own)) {
		return false
	}
	text := read(payload)
	if bytes.HasPrefix(text, []byte("[")) || bytes.HasPrefix(text, []byte("{")) {
		text = onlyText(source.NewValue(text, 0))
	}
	text = bytes.TrimSuffix(bytes.TrimPrefix(text, []byte(`"`)), []byte(`"`))
	for _, known := range placeholders {
		if start, open := strings.CutSuffix(known, "…"); string(text) == known || open && len(text) >= len(start) && string(text[:len(start)]) == start {
			return true
		}
	}
	return own != "" && string(text) == own || string(text) == "aborted" && window == transcript.WindowNext
}

// onlyText returns the text, as JSON, that is all that a value says, nil if it says more or less. A
// list of one text block means the same as the text, and so does an object in which only one field
// says more than what kind of value it is.
func onlyText(v source.Value) []byte {
	for {
		var one source.Value
		switch v.Kind() {
		case source.String:
			return v.Raw()
		case source.Array:
			for i, e := range v.Elements() {
				if i > 0 {
					return nil
				}
				one = e
			}
		case source.Object:
			for k, val := range v.Members() {
				switch {
				case k.Is("type") && val.Kind() == source.String, (k.Is("isError") || k.Is("is_error")) && val.Kind() == source.Bool:
				case one.Exists():
					return nil
				default:
					one = val
				}
			}
		}
		if v = one; !v.Exists() {
			return nil
		}
	}
}

// Placeholders returns the texts, as JSON, that IsPlaceholder knows. After a text that ends in
// … the name of the tool follows.
func Placeholders() []string { return slices.Clone(placeholders) }

// placeholders are the texts, as JSON, that known tools insert for a result that was never
// recorded. After a text that ends in … the name of the tool follows.
var placeholders = []string{
	"[toolguard] No result was recorded for this tool call; it may or may not have run.",
	"No result provided",
	"[Tool call was interrupted and did not return a result.]",
	"Tool execution was interrupted before completion.",
	"Context condensation triggered. Tool execution deferred.",
	"The tool call was interrupted before a result was produced.",
	"[System: Tool execution skipped/interrupted by user. No result provided for tool '…",
	"[openclaw] missing tool result in session history; inserted synthetic error result for transcript repair.",
	"Tool was interrupted.",
	"[Tool execution was interrupted]",
	"[Tool execution was interrupted or lost]",
	"Tool canceled by user",
	"The tool execution result was lost due to context management truncation.",
	"[Tool result missing due to internal error]",
	"[Request interrupted by user for tool use]",
}
