package engine

import (
	"cmp"
	"slices"
	"sort"

	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/repair"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A fact records which call a result answers, if any. A repair may move a result, but it must
// not change which call the result answers.
type fact struct {
	block, payload source.Span // of the result
	call           source.Span // the block of the call, zero if there is none
	name, args     source.Span // of that call
	lead           uint32      // how many bytes of the result come before its payload
	conversation   int32
	placeholder    bool              // its payload is known to be a placeholder
	window         transcript.Window // of the conversation, if the payload must be read to know that
	unfolded       *edit.Sum         // its sum if it is in unfolded text
}

// facts are the facts of a source. A result that did not change is not read again for the
// proof.
type facts struct {
	src  *source.Source
	list []fact
	err  error // of src
	// changed are the conversations that were read again since the first round; nil means all.
	changed map[int32]bool
}

// add adds the facts of a conversation.
func (p *facts) add(plan *repair.Plan) {
	c := plan.Conv
	if c.Unfolded != nil && !c.Unfolded.Editable() {
		return
	}
	if n := len(p.list) + len(c.Results); n > cap(p.list) && p.src != nil && len(c.Messages) > 0 && c.Unfolded == nil {
		// Rows come one after another, so a list of theirs gets room for those of the whole source.
		p.list = transcript.Room(slices.Clip(p.list), c.Messages[0].Span().Start, p.src.Size())
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
			if c.Unfolded != nil || plan.Placeholder != "" || c.Window == 0 {
				f.placeholder = plan.Known(int32(i))
			} else {
				f.window = c.Window
			}
		}
		if c.Unfolded != nil {
			sum := f.sum(func(s source.Span) []byte { return c.Unfolded.Bytes(s) })
			f.unfolded = &sum
			for _, s := range []*source.Span{&f.block, &f.payload, &f.call, &f.name, &f.args} {
				if !s.IsZero() {
					*s = c.Unfolded.Origin(*s)
				}
			}
		}
		p.list = append(p.list, f)
	}
}

// text returns the text of a span of the source.
func (p *facts) text(s source.Span) []byte {
	if p.err != nil {
		return nil
	}
	b, err := p.src.View(s)
	p.err = cmp.Or(err, p.src.Err())
	return b
}

// inserted reports whether the payload of a result is a placeholder. It is only read if the answer matters.
func (p *facts) inserted(f *fact) bool {
	return f.placeholder || f.window != 0 && rules.IsPlaceholder(f.payload, f.window, "", p.text)
}

// sum returns a hash of a fact that does not depend on how it is written.
func (p *facts) sum(f fact) edit.Sum {
	if f.unfolded != nil {
		return *f.unfolded
	}
	return f.sum(p.text)
}

// sum is facts.sum; text returns the text of a span.
func (f *fact) sum(text func(source.Span) []byte) (out edit.Sum) {
	for i, s := range [3]source.Span{f.args, f.payload, f.name} {
		if !s.IsZero() {
			total := edit.Total(text(s))
			out = out.Plus(edit.Sum{total[0] << i, total[1] << i}) // the position of each part counts too
		}
	}
	return out
}

// waive notes the facts that unsafe fixes touch, because these may change.
func (p *facts) waive(touched []source.Span, waived map[edit.Sum]bool) error {
	slices.SortFunc(touched, bySpan)
	last := make([]int64, len(touched)) // the end of the last of the spans up to each
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

// lost returns the facts that no longer hold, except those that an unsafe repair may change.
func (p *facts) lost(pieces *edit.Pieces, now *facts, waived map[edit.Sum]bool) ([]fact, error) {
	same := func(f *fact) bool { return now.changed != nil && !now.changed[f.conversation] }
	// stands reports whether a fact of the repaired text was copied whole from the original, and from where.
	stands := func(f *fact) (args, payload source.Span, stands bool) {
		if f.call.IsZero() || same(f) && !(f.args.IsZero() && f.payload.IsZero()) {
			return args, payload, false
		}
		args, there := whole(pieces, f.args)
		payload, too := whole(pieces, f.payload)
		return args, payload, there && too
	}
	// Most are in the same order as before.
	var gone []fact
	next := 0
	for i := range p.list {
		f := &p.list[i]
		if same(f) || f.call.IsZero() {
			continue
		}
		found := false
		for ; next < len(now.list) && !found; next++ {
			args, payload, there := stands(&now.list[next])
			if there && payload.Start > f.payload.Start {
				break
			}
			found = there && args == f.args && payload == f.payload
		}
		if !found {
			gone = append(gone, *f)
		}
	}
	if len(gone) > 0 {
		type pair struct{ args, payload source.Span }
		all := map[pair]bool{}
		for i := range now.list {
			if args, payload, there := stands(&now.list[i]); there {
				all[pair{args, payload}] = true
			}
		}
		gone = slices.DeleteFunc(gone, func(f fact) bool { return all[pair{f.args, f.payload}] || p.inserted(&f) })
	}
	if len(gone) == 0 {
		return nil, p.err
	}
	// The others may have moved, or may be written in another form.
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

// whole returns the span of the original that a span of the repaired text was copied from, if
// all of it was.
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
