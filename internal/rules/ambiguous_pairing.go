package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/transcript"
)

var ambiguousPairing = &Rule{
	Name: "ambiguous-pairing", Category: Pairing, Severity: "warning",
	Summary:    "Calls without usable ids cannot be paired with their results",
	Strategies: []string{"leave", "mint"},
	What: `Checks for calls without usable ids that cannot be paired with their results. toolguard pairs
calls and results without ids by tool name and then by position. This works only if there are as
many results as calls.`,
	Why: `The numbers differ, so a call has no result or a result has no call. toolguard does not guess
which one.`,
	Repair: `- ` + "`leave`" + ` (default): change nothing.
- ` + "`mint`" + ` (unsafe): pair the calls and results of a turn by position and give each pair a new id. A
  leftover call also gets an id, and then a placeholder result from ` + "`missing-tool-result`" + `. A
  leftover result becomes text.`,
	Bad: `[{"role":"assistant","content":null,"tool_calls":[{"type":"function","function":{"name":"f","arguments":"{}"}},{"type":"function","function":{"name":"f","arguments":"{}"}}]},
 {"role":"tool","name":"f","content":"1"},
 {"role":"user","content":"n"}]`,
	Good: `[{"role":"assistant","content":null,"tool_calls":[{"type":"function","function":{"name":"f","arguments":"{}"}},{"type":"function","function":{"name":"f","arguments":"{}"}}]},
 {"role":"tool","name":"f","content":"1"},
 {"role":"tool","name":"f","content":"2"},
 {"role":"user","content":"n"}]`,
	Check: func(c *Context) {
		for i := range c.Pairing.Calls {
			if c.Pairing.Calls[i].State != pairing.Unclear || c.Pairing.Calls[i].Surplus {
				continue // a surplus call has no result in any case
			}
			f := Finding{
				Severity: Warning, Confidence: pairing.Ambiguous.String(),
				Message: callName(&c.Calls[i]) + " cannot be paired: ids are missing, and the numbers of calls and results differ",
				Fix:     c.minting(int32(i)),
			}
			if f.Fix != nil {
				f.Fix.ByStrategy = c.strategy() != "mint"
			}
			c.aboutCall(i, f)
		}
	},
}

// A minting pairs the calls and results of a turn by position, if they cannot be paired
// otherwise.
type minting struct {
	calls, results []int32 // the ambiguous ones
	mint           operation.MintIDs
	rest           []int32 // results for which no call is left
	text           *operation.Operation
}

// mintings are the mintings of a conversation, by turn.
type mintings struct {
	turns  map[int32]*minting
	turnOf map[int32]int32 // by result
}

func (m *mintings) of(turn int32) *minting {
	if m.turns[turn] == nil {
		m.turns[turn] = &minting{}
	}
	return m.turns[turn]
}

// mintings pairs ambiguous calls and results by position.
func (c *Context) mintings() *mintings {
	if c.minted != nil {
		return c.minted
	}
	all := &mintings{map[int32]*minting{}, map[int32]int32{}}
	for i := range c.Pairing.Calls {
		if c.Pairing.Calls[i].State == pairing.Unclear {
			m := all.of(c.turn(c.Calls[i].Message))
			m.calls = append(m.calls, int32(i))
		}
	}
	// A result belongs to the nearest turn before it that has ambiguous calls. Any other turn
	// between them would have ended the window of that turn.
	next, turn := 0, int32(-1)
	for i := range c.Pairing.Results {
		for ; next < len(c.Calls) && (turn < 0 || c.Calls[next].Block < c.Results[i].Block); next++ {
			if c.Pairing.Calls[next].State == pairing.Unclear {
				turn = c.turn(c.Calls[next].Message)
			}
		}
		if c.Pairing.Results[i].Fate == pairing.Undecided && turn >= 0 {
			m := all.of(turn)
			m.results = append(m.results, int32(i))
			all.turnOf[int32(i)] = turn
		}
	}
	for _, m := range all.turns {
		c.place(m)
	}
	c.minted = all
	return all
}

// place lets each result answer the first call that has no other answer, unless their ids or
// names differ.
func (c *Context) place(m *minting) {
	answered := make([]int32, len(m.calls))
	// The calls of a name, with an id and without, and the calls of any name.
	type kind struct {
		name       string
		any, hasID bool
	}
	queues := map[kind][]int{}
	kindOf := func(name, id transcript.Token) kind {
		return kind{name: pairing.Key(name), hasID: pairing.Key(id) != ""}
	}
	for k, i := range m.calls {
		answered[k] = -1
		own := kindOf(c.Calls[i].Name, c.Calls[i].ID)
		queues[own] = append(queues[own], k)
		own.name, own.any = "", true
		queues[own] = append(queues[own], k)
	}
	first := func(k kind) int {
		q := queues[k]
		for len(q) > 0 && answered[q[0]] >= 0 {
			q = q[1:]
		}
		if queues[k] = q; len(q) == 0 {
			return len(m.calls)
		}
		return q[0]
	}
	for _, r := range m.results {
		own := kindOf(c.Results[r].Name, c.Results[r].ID)
		may := []kind{{name: own.name}, {}}
		if own.name == "" {
			may = []kind{{any: true}}
		}
		if !own.hasID {
			for _, k := range may {
				k.hasID = true
				may = append(may, k)
			}
		}
		at := len(m.calls)
		for _, k := range may {
			at = min(at, first(k))
		}
		if at == len(m.calls) {
			m.rest = append(m.rest, r)
			continue
		}
		answered[at] = r
	}
	for k, i := range m.calls {
		if answered[k] >= 0 || pairing.Key(c.Calls[i].ID) == "" {
			m.mint.Calls = append(m.mint.Calls, i)
			m.mint.Results = append(m.mint.Results, answered[k])
		}
	}
}

// minting returns the operation that pairs the calls of a turn, including call i. If no id is
// missing, the results of the turn become text.
func (c *Context) minting(i int32) *operation.Operation {
	turn := c.turn(c.Calls[i].Message)
	m := c.mintings().of(turn)
	if len(m.mint.Calls) == 0 {
		return c.restAsText(turn, m)
	}
	op, do := turnOp[operation.MintIDs](c, turn, operation.Unsafe, "pair calls and results by position and give them ids")
	*do = m.mint
	return op
}

// restAsText returns the operation that turns the results of a turn for which no call is left
// into text.
func (c *Context) restAsText(turn int32, m *minting) *operation.Operation {
	if m.text == nil && len(m.rest) > 0 {
		m.text = c.asText(turn, nil, m.rest)
	}
	return m.text
}

// unplaced returns the operation that turns a result into text if results without ids are
// paired by position and no call is left for it.
func (c *Context) unplaced(i int) *operation.Operation {
	all := c.mintings()
	turn, unclear := all.turnOf[int32(i)]
	if c.Strategy[ambiguousPairing.Name] != "mint" || !unclear {
		return nil
	}
	return c.restAsText(turn, all.of(turn))
}
