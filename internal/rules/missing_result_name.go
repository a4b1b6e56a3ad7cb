package rules

import (
	"cmp"
	"slices"

	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

var missingResultName = &Rule{
	Name: "missing-result-name", Category: IDs, Severity: "by provider; error for legacy functions",
	Summary: "A tool result does not name its tool",
	Points:  []profile.Point{profile.NoResultName},
	What:    `Checks for results that do not repeat the name of the tool, if the provider requires it.`,
	Why: `Gemini, Ollama and OpenAI's legacy functions assign results to calls by name. Programs that
translate from an API that pairs by id lose the name.`,
	Repair: `toolguard copies the name from the call (safe). This is unsafe if another call of the turn has the
same id and another name.`,
	Bad: `[{"role":"user","content":"q"},
 {"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{}"}},
 {"role":"function","content":"1"}]`,
	Good: `[{"role":"user","content":"q"},
 {"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{}"}},
 {"role":"function","name":"f","content":"1"}]`,
	Check: func(c *Context) {
		cell := c.cell(profile.NoResultName)
		for i := range c.Results {
			res := &c.Results[i]
			l := c.Pairing.Results[i]
			severity, text := severityOf(cell), cell.Text
			switch legacy := res.Kind == transcript.KindLegacyFunction; {
			case legacy && l.Fate == pairing.Answers && !fits(c.Calls[l.Call].Kind, res.Kind):
				continue // result-kind-mismatch reports it, and the right type needs no name
			case legacy:
				severity, text = Error, "Missing parameter 'name': messages with role 'function' must have a 'name'."
			case !c.shaped():
				continue
			}
			if severity == Off || res.Answer.ByProvider() || l.Fate == pairing.Ignored || res.Name.IsString() && res.Name.Text() != "" {
				continue
			}
			f := Finding{Severity: severity, Refusal: text, Message: resultName(res) + " does not name its tool", Span: res.Name.Span}
			f.Fix = c.nameFix(i)
			c.aboutResult(i, f)
		}
	},
}

// nameFix returns the operation that gives a result the name of its call.
func (c *Context) nameFix(i int) *operation.Operation {
	res := &c.Results[i]
	l := c.Pairing.Results[i]
	if l.Call < 0 || !c.Calls[l.Call].Name.IsString() || c.Calls[l.Call].Name.Text() == "" {
		return nil
	}
	says := res.Name.Given() && res.Name.Text() != "" // an empty name says nothing
	if says && c.twin(l.Call) {
		return nil // it may belong to another call, and the name is the only evidence
	}
	name := c.Calls[l.Call].Name.Raw
	var do operation.Action = &operation.AddMember{At: c.Blocks[res.Block].Span, Member: transcript.MemberResultName, Text: name}
	if res.Name.Present() {
		do = &operation.SetValue{At: res.Name.Span, Text: name, Call: -1}
	}
	class := operation.Safe
	switch {
	case says && (pairing.Key(res.ID) == "" || c.Pairing.Calls[l.Call].Confidence == pairing.Positional):
		class = operation.Unsafe // the name says that the result belongs to another call
	case c.twin(l.Call) && c.twins[l.Call].names:
		class = operation.Unsafe // it may belong to the other call, which has another name
	}
	return c.op(c.turn(c.Calls[l.Call].Message), class, "copy the name from the call", do)
}

// twin reports whether another call of the turn has the same id as a call.
func (c *Context) twin(call int32) bool {
	if c.twins == nil {
		c.twins = c.findTwins()
	}
	return c.twins[call].others
}

// twins describe the other calls of a call's turn with the same id.
type twins struct {
	others   bool // there are other calls
	answered bool // one of them has a result
	names    bool // their names differ
}

// findTwins returns the twins of each call. Calls without an id have none.
func (c *Context) findTwins() []twins {
	out := make([]twins, len(c.Calls))
	order := make([]int32, 0, len(c.Calls))
	for i := range c.Calls {
		if pairing.Key(c.Calls[i].ID) != "" {
			order = append(order, int32(i))
		}
	}
	compare := func(a, b int32) int {
		x, y := &c.Calls[a], &c.Calls[b]
		if by := cmp.Compare(c.turn(x.Message), c.turn(y.Message)); by != 0 {
			return by
		}
		return cmp.Compare(pairing.Key(x.ID), pairing.Key(y.ID))
	}
	slices.SortFunc(order, compare)
	for lo, hi := 0, 0; lo < len(order); lo = hi {
		var t twins
		for hi = lo; hi < len(order) && compare(order[lo], order[hi]) == 0; hi++ {
			t.others = t.others || hi > lo
			t.answered = t.answered || c.Pairing.Calls[order[hi]].State == pairing.Answered
			t.names = t.names || c.Calls[order[hi]].Name.Text() != c.Calls[order[lo]].Name.Text()
		}
		for _, i := range order[lo:hi] {
			out[i] = t
		}
	}
	return out
}
