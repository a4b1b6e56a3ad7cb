package engine

import (
	"cmp"
	"slices"
	"sort"

	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/repair"
	"github.com/toolguard/toolguard/internal/source"
)

// A fact is what a conversation says of one result: which call it answers, if any.
// Repairs change where a result stands, and never which call it answers.
type fact struct {
	block, payload source.Span // of the result
	call           source.Span // the block of the call that it answers, zero for none
	name, args     source.Span // of that call
	lead           uint32      // how many bytes of the result stand before its payload
	conversation   int32
	placeholder    bool
}

// facts are those of a source. What stands as it stood is not read to prove that it
// is there.
type facts struct {
	src  *source.Source
	list []fact
	err  error // of src
}

// add adds those of a conversation.
func (p *facts) add(plan *repair.Plan) {
	c := plan.Conv
	if c.Unfolded != nil {
		return
	}
	p.list = slices.Grow(p.list, len(c.Results))
	for i := range c.Results {
		f := fact{block: c.Blocks[c.Results[i].Block].Span, payload: c.Results[i].Payload, conversation: int32(c.Index)}
		if f.block.Contains(f.payload) {
			f.lead = uint32(f.payload.Start - f.block.Start)
		}
		if x := plan.Pairing.Results[i]; x.Fate == pairing.Answers {
			call := &c.Calls[x.Call]
			f.call, f.args = c.Blocks[call.Block].Span, call.Args
			if call.Name.Present() {
				f.name = call.Name.Span
			}
			f.placeholder = plan.Known(int32(i))
		}
		p.list = append(p.list, f)
	}
}

// sum returns what a fact says, however that is written.
func (p *facts) sum(f fact) (out edit.Sum) {
	for i, s := range []source.Span{f.args, f.payload, f.name} {
		if s.IsZero() {
			continue
		}
		b, err := p.src.Bytes(s)
		p.err = cmp.Or(p.err, err)
		total := edit.Total(b)
		out = out.Plus(edit.Sum{total[0] << i, total[1] << i}) // which of them it is counts too
	}
	return out
}

// waive notes the facts about what unsafe fixes touch: they may change them.
func (p *facts) waive(touched []source.Span, waived map[edit.Sum]bool) error {
	slices.SortFunc(touched, bySpan)
	last := make([]int64, len(touched)) // where the spans up to each end
	end := int64(0)
	for i, s := range touched {
		end = max(end, s.End)
		last[i] = end
	}
	hit := func(s source.Span) bool {
		i := sort.Search(len(touched), func(i int) bool { return touched[i].Start >= s.End })
		return i > 0 && !s.IsZero() && last[i-1] > s.Start
	}
	for _, f := range p.list {
		if hit(f.block) || hit(f.call) {
			waived[p.sum(f)] = true
		}
	}
	return p.err
}

// lost returns the facts that do not hold any more, and that no unsafe repair was to
// change.
func (p *facts) lost(pieces *edit.Pieces, now *facts, waived map[edit.Sum]bool) ([]fact, error) {
	type pair struct{ args, payload source.Span }
	stands := map[pair]bool{}
	for _, f := range now.list {
		args, there := whole(pieces, f.args)
		payload, too := whole(pieces, f.payload)
		if there && too && !f.call.IsZero() {
			stands[pair{args, payload}] = true
		}
	}
	gone := slices.DeleteFunc(slices.Clone(p.list), func(f fact) bool {
		return f.call.IsZero() || f.placeholder || stands[pair{f.args, f.payload}]
	})
	if len(gone) == 0 {
		return nil, nil
	}
	// They may stand elsewhere, or in another form.
	holds := map[edit.Sum]bool{}
	for _, f := range now.list {
		if !f.call.IsZero() {
			holds[now.sum(f)] = true
		}
	}
	gone = slices.DeleteFunc(gone, func(f fact) bool {
		sum := p.sum(f)
		return holds[sum] || waived[sum]
	})
	return gone, cmp.Or(p.err, now.err)
}

// whole returns where a span stood in the original, if it stood there as it is.
func whole(p *edit.Pieces, s source.Span) (source.Span, bool) {
	if s.IsZero() {
		return s, true
	}
	was, there := p.Original(s)
	return was, there && was.Len() == s.Len()
}

func bySpan(a, b source.Span) int {
	return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End))
}
