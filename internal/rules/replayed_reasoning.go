package rules

import (
	"slices"
	"strings"

	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// ReplayedReasoning is the name of the rule whose repairs --strip-reasoning asks for.
const ReplayedReasoning = "replayed-reasoning"

var replayedReasoning = &Rule{
	Name: "replayed-reasoning", Category: Reasoning, Severity: "info with --strip-reasoning or --select, otherwise off",
	Summary: "A message has reasoning, or is tied to some",
	Points:  []profile.Point{profile.Sealed},
	OnDemand: func(o *Options) bool {
		return o.StripReasoning
	},
	What: `Reports what ` + "`--strip-reasoning`" + ` removes:

- thinking, reasoning items, and texts of reasoning
- signatures of thoughts, and encrypted content, except that of search results
- copies that clients keep of these beside a message
- ids of items of the Responses API, which tie a message to its reasoning`,
	Why: `Only the account, the model and the provider that wrote a signature or an encrypted text can read
it. After a change of one of them, the provider rejects every request of the session.`,
	Repair: "`toolguard fix --write --strip-reasoning FILE`" + ` removes all of it from a file (unsafe), and
` + "`toolguard doctor --fix --strip-reasoning`" + ` from the sessions of agents. Nothing else does, not even
` + "`--unsafe`" + `. A message that says nothing else is removed too.

Providers get what they demand instead:

- Gemini 3: the value that Google documents for a lost signature.
- DeepSeek: an empty reasoning text beside a call. It is not known that Kimi accepts one, so turn
  thinking off to go on with Kimi.
- Anthropic: a request whose last calls do not begin with thinking gets
  ` + "`\"thinking\":{\"type\":\"disabled\"}`" + `, and loses edits of ` + "`context_management`" + ` that need
  thinking. Adaptive thinking stays on.

A log that only grows gets the messages without reasoning at its end.`,
	Args: "--select replayed-reasoning",
	Bad: `[{"role":"user","content":"q"},
 {"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"c2ln"},{"type":"text","text":"a"}]}]`,
	Good: `[{"role":"user","content":"q"},
 {"role":"assistant","content":[{"type":"text","text":"a"}]}]`,
	Check: func(c *Context) {
		if !c.StripReasoning && !c.Explicit[c.rule.Name] {
			return
		}
		current := c.current()
		for i := range c.Messages {
			m := &c.Messages[i]
			do := &operation.StripReasoning{Message: int32(i)}
			what := "the message is tied to reasoning"
			for b := m.BlockLo; b < m.BlockHi; b++ {
				if c.Blocks[b].Kind == transcript.BlockReasoning {
					do.Drop = append(do.Drop, c.Blocks[b].Span)
					what = "the message has reasoning"
				}
			}
			for _, at := range c.Strips(m.Span()) {
				if !c.substitute(at) {
					do.Drop = append(do.Drop, at)
				}
			}
			c.keepDemanded(do, current)
			if len(do.Drop)+len(do.Set) > 0 {
				at := m.Span()
				if first := append(slices.Clone(do.Drop), spansOf(do.Set)...); len(first) > 0 {
					at = slices.MinFunc(first, func(a, b source.Span) int { return int(a.Start - b.Start) })
				}
				c.stripping(m.Turn, m.Record, at, what, "remove the reasoning", do)
			}
		}
		for _, u := range c.Asides() {
			what := "the element has reasoning"
			if u.Drop[0] == u.Span {
				what = "the element has only reasoning"
			}
			c.stripping(-1, u.Record, u.Drop[0], what, "remove the reasoning", &operation.StripReasoning{Message: -1, Aside: u.Span, Drop: u.Drop})
		}
		c.switchOff(current)
	},
}

// An Aside is an element among the messages that is none.
type Aside struct {
	Span   source.Span
	Record int32
	// Drop are the values in it that hold reasoning. The element itself is one if it has nothing else.
	Drop []source.Span
}

// spansOf returns the spans of values to set.
func spansOf(set []operation.Setting) (out []source.Span) {
	for _, s := range set {
		out = append(out, s.At)
	}
	return out
}

// stripping emits a finding about reasoning.
func (c *Context) stripping(turn, record int32, at source.Span, message, title string, do operation.Action) {
	f := Finding{Severity: Info, Span: at, Message: message}
	if c.StripReasoning {
		f.Fix = c.op(turn, operation.Unsafe, title, do)
	} else {
		f.Offer = "with --strip-reasoning"
	}
	c.emit(turn, record, f)
}

// substitute reports whether a value is the one that a provider documents for a lost
// signature.
func (c *Context) substitute(at source.Span) bool {
	return slices.ContainsFunc(profile.Sentinels(), func(s string) bool { return c.Text(at) == source.Quote(s) })
}

// keepDemanded keeps what the provider demands of a message with calls, or replaces it by what
// the provider accepts instead. current is the message at which the current turn begins.
func (c *Context) keepDemanded(do *operation.StripReasoning, current int32) {
	m := &c.Messages[do.Message]
	for b := m.BlockLo; b < m.BlockHi; b++ {
		if c.Blocks[b].Kind != transcript.BlockCall {
			continue
		}
		var at transcript.Token
		instead := source.Quote(c.Profile.Sentinel)
		switch {
		case c.Profile.Replay == profile.ReplayText && c.Knows(transcript.MemberReasoning):
			at, instead = c.Look(transcript.MemberReasoning, m.Span()), `""`
		case c.Profile.Replay == profile.ReplaySignature && c.Knows(transcript.MemberSignature) && do.Message >= current:
			at = c.Look(transcript.MemberSignature, c.Blocks[b].Span)
		}
		n := len(do.Drop)
		if !at.IsString() {
			continue
		}
		if do.Drop = slices.DeleteFunc(do.Drop, func(s source.Span) bool { return s == at.Span }); len(do.Drop) == n {
			continue // it is empty or a substitute already
		}
		if c.Profile.Replay == profile.ReplaySignature || c.Profile.BlankReasoning {
			do.Set = append(do.Set, operation.Setting{At: at.Span, Text: instead})
		}
	}
}

// thinkingParam returns the parameter by which the request turns thinking on so that its last
// calls must begin with thinking. It is none if the request does not.
func (c *Context) thinkingParam() (v source.Value, s profile.Switch) {
	s = c.Native.ThinkingSwitch()
	if c.Holder.IsZero() || s.At == "" {
		return source.Value{}, s
	}
	if v = atPath(c.Value(c.Holder), s.At); !v.Get("type").Is(s.On) {
		return source.Value{}, s
	}
	return v, s
}

// atPath returns the value at the end of a path of keys joined by dots.
func atPath(v source.Value, path string) source.Value {
	for key := range strings.SplitSeq(path, ".") {
		v = v.Get(key)
	}
	return v
}

// switchOff reports that thinking is on although the last calls do not begin with any once it is
// removed.
func (c *Context) switchOff(current int32) {
	last := int32(-1)
	for i := range c.Calls {
		call := &c.Calls[i]
		if call.Message >= current && !call.Answer.ByProvider() && c.Pairing.Calls[i].State != pairing.Exempt {
			last = call.Message
		}
	}
	if last < 0 || c.turn(last) != c.lastTurn() || c.hidden(last) || c.Profile.Wire != c.Native.Wire {
		return
	}
	param, s := c.thinkingParam()
	if !param.Exists() {
		return
	}
	do := &operation.StripReasoning{Message: last, Set: []operation.Setting{{At: param.Span(), Text: s.Off}}}
	at := param.Span()
	edits := atPath(c.Value(c.Holder), s.Edits)
	var stay []string
	n := 0
	for _, e := range edits.Elements() {
		n++
		if !strings.HasPrefix(e.Get("type").Str(), s.Needs) {
			stay = append(stay, string(e.Raw()))
		}
	}
	if s.Edits != "" && len(stay) < n {
		do.Set = append(do.Set, operation.Setting{At: edits.Span(), Text: "[" + strings.Join(stay, ",") + "]"})
	}
	c.stripping(c.turn(last), c.Messages[last].Record, at, "thinking is on, but the last calls will not begin with it", "turn thinking off", do)
}
