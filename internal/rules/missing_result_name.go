package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

var missingResultName = &Rule{
	Name: "missing-result-name", Category: IDs, Severity: "profile; error for legacy functions",
	Summary: "A result does not name its tool",
	Points:  []profile.Point{profile.NoResultName},
	Doc: `Where results are assigned to calls by name (Gemini, Ollama, OpenAI's legacy functions), a
result must repeat the name of the tool. Translations from APIs that pair by id lose it.

**Repair.** The name is copied from the call (safe; unsafe where another call of the turn has
the same id and another name).`,
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
	if res.Name.Present() && c.twin(l.Call) {
		return nil // another call may be meant, and the name is all that tells
	}
	name := c.Calls[l.Call].Name.Raw
	var do operation.Action = &operation.AddMember{At: c.Blocks[res.Block].Span, Member: transcript.MemberResultName, Text: name}
	if res.Name.Present() {
		do = &operation.SetValue{At: res.Name.Span, Text: name, Call: -1}
	}
	class := operation.Safe
	switch {
	case res.Name.Present() && (pairing.Key(res.ID) == "" || c.Pairing.Calls[l.Call].Confidence == pairing.Positional):
		class = operation.Unsafe // by its name, the result is of another call
	case c.twin(l.Call) && c.twins[c.turnID(l.Call)].names:
		class = operation.Unsafe // it may be of the other call, which has another name
	}
	return c.op(c.turn(c.Calls[l.Call].Message), class, "copy the name from the call", do)
}

// twin reports whether another call of the turn has the id of a call.
func (c *Context) twin(call int32) bool {
	if c.twins == nil {
		c.twins = make(map[turnID]twins, len(c.Calls))
		for i := range c.Calls {
			key := c.turnID(int32(i))
			t := c.twins[key]
			if name := c.Calls[i].Name.Text(); t.calls == 0 {
				t.name = name
			} else if name != t.name {
				t.names = true
			}
			t.calls++
			t.answered = t.answered || c.Pairing.Calls[i].State == pairing.Answered
			c.twins[key] = t
		}
	}
	key := c.turnID(call)
	return key.id != "" && c.twins[key].calls > 1
}

// twins are the calls of one id in one turn.
type twins struct {
	calls    int
	answered bool   // one of them
	name     string // of the first
	names    bool   // they have different ones
}

// A turnID is an id in a turn.
type turnID struct {
	turn int32
	id   string
}

func (c *Context) turnID(call int32) turnID {
	return turnID{c.turn(c.Calls[call].Message), pairing.Key(c.Calls[call].ID)}
}
