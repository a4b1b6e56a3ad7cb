package repair

import (
	"slices"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// takeBlock takes a block out of its message, which is removed when nothing is
// left of it.
func (d *draft) takeBlock(b int32) bool {
	blk := &d.Conv.Blocks[b]
	m := blk.Message
	if d.gone[m] {
		return true
	}
	l := d.contents(m)
	if l == nil {
		return false
	}
	if !d.blocks[m][b] {
		d.take(b)
		l.remove(blk.Span)
	}
	return true
}

// take notes that a block is taken out of its message.
func (d *draft) take(b int32) {
	m := d.Conv.Blocks[b].Message
	if d.blocks[m] == nil {
		d.blocks[m] = map[int32]bool{}
	}
	d.blocks[m][b] = true
	d.taken = append(d.taken, d.Conv.Blocks[b].Span)
}

// prune removes the messages of which every block was taken out.
func (d *draft) prune() {
	for m := range d.blocks {
		if l := d.contents(m); d.hollow(m, false) && !d.kept[m] && l != nil && len(l.inserts) == 0 {
			d.dropMessage(m)
		}
	}
}

// dropMessage removes a message, false where it cannot be removed.
func (d *draft) dropMessage(m int32) bool {
	if d.gone[m] {
		return true
	}
	span := d.Conv.Messages[m].Span()
	if d.Log != nil {
		d.log().dropped[span.Start] = d.content(m).Span()
		d.taken = append(d.taken, d.Log.recordAt(span.Start))
	} else if h := d.holder(m); h != nil {
		h.remove(span)
		d.taken = append(d.taken, span)
	} else {
		return false
	}
	d.gone[m] = true
	return true
}

// dropBlock removes a block, or the message or item that it is.
func (d *draft) dropBlock(b int32) bool {
	blk := &d.Conv.Blocks[b]
	m, l := blk.Message, d.contents(blk.Message)
	outside := func(other transcript.Block) bool { return !blk.Span.Contains(other.Span) }
	all := !slices.ContainsFunc(d.blocksOf(m), outside) && (l == nil || !l.array.Contains(blk.Span))
	switch msg := &d.Conv.Messages[m]; {
	case all || blk.Span == msg.Span():
		return d.alone(m) && d.dropMessage(m)
	case blk.Kind == transcript.BlockResult && msg.Role == transcript.RoleTool && d.results(m) < len(d.blocksOf(m)) && string(d.text(msg.RoleSpan())) != `"user"`:
		return false // what is left would pass for a result
	}
	return d.takeBlock(b)
}

// alone reports whether a message holds one result at most: where it answers
// several calls at once it is not taken apart.
func (p *Plan) alone(m int32) bool { return p.results(m) <= 1 }

// results counts the results in a message.
func (p *Plan) results(m int32) (n int) {
	for _, b := range p.blocksOf(m) {
		if b.Kind == transcript.BlockResult {
			n++
		}
	}
	return n
}

// copyOf notes that a block that is taken out is an exact copy of one that stays.
// With it its message may go, where that says nothing else either.
func (d *draft) copyOf(stays, goes int32) {
	blk := &d.Conv.Blocks[stays]
	switch {
	case blk.Message == d.Conv.Blocks[goes].Message:
		d.stays = append(d.stays, blk.Span)
	case d.Log != nil:
		d.stays = append(d.stays, d.Log.recordAt(blk.Span.Start))
	default:
		d.stays = append(d.stays, d.Conv.Messages[blk.Message].Span())
	}
}

// dropCalls removes calls, all or none, with what answers them unless that stays.
// Reasoning that led to nothing else goes along if strip is set.
func (d *draft) dropCalls(calls []int32, answers, strip bool) bool {
	d.strip = strip
	return d.each(calls, d.callRemovable) && d.each(calls, func(c int32) bool {
		return d.dropCall(c) && (!answers || len(d.answers[c]) == 0 || d.each(d.answers[c], d.dropResult))
	})
}

// dropCall removes a call from its message, the list that becomes empty with
// it, and the message of which nothing is left.
func (d *draft) dropCall(c int32) bool {
	call := &d.Conv.Calls[c]
	m := call.Message
	switch {
	case d.Conv.Blocks[call.Block].Span == d.Conv.Messages[m].Span(): // an item
		// Reasoning that led to nothing else goes with it.
		next := int(m) + 1
		led := next < len(d.Conv.Messages) && d.Conv.Messages[next].Role == transcript.RoleAssistant && !d.gone[m+1]
		for k := m - 1; d.strip && !led && k >= 0 && d.reasons(k); k-- {
			d.dropMessage(k)
		}
		return d.dropMessage(m)
	case len(d.keys(m).Calls) == 0:
		d.dropCopies(c)
		return d.takeBlock(call.Block)
	}
	d.takeCall(c)
	return !d.hollow(m, true) || d.dropMessage(m)
}

// takeCall takes a call out of a list beside its message's content, with what
// repeats it.
func (d *draft) takeCall(c int32) {
	d.dropCopies(c)
	call := &d.Conv.Calls[c]
	d.take(call.Block)
	keys, blk := d.keys(call.Message), d.Conv.Blocks[call.Block].Span
	if calls := d.callList(call.Message, blk); calls.Kind() == source.Array {
		d.dropElement(keys.Body, calls, blk, keys.KeepCalls)
	} else {
		d.removeMember(holder(keys.Body, blk), blk, false) // a single call outside of a list
	}
}

// reasons reports whether a message is an item of reasoning.
func (p *Plan) reasons(m int32) bool {
	blocks := p.blocksOf(m)
	return len(blocks) > 0 && blocks[0].Kind == transcript.BlockReasoning
}

// callList returns the member of a message that lists calls and holds a block, None
// where the block stands elsewhere.
func (p *Plan) callList(m int32, block source.Span) source.Value {
	keys := p.keys(m)
	for _, key := range keys.Calls {
		if calls := dialect.Lens(key).In(keys.Body); calls.Span().Contains(block) {
			return calls
		}
	}
	return source.Value{}
}

// dropElement takes an element out of a list in an object, and the list with it when
// nothing is left in it, unless it is to be kept.
func (d *draft) dropElement(object, list source.Value, element source.Span, keep bool) {
	l := d.list(list.Span().Start, list.Span())
	l.remove(element)
	n := 0
	for range list.Elements() {
		n++
	}
	if !keep && n == len(l.removed) {
		delete(d.lists, list.Span().Start)
		d.removeMember(holding(object, list.Span()), list.Span(), false)
	}
}

// dropCopies removes what repeats a call in its message.
func (d *draft) dropCopies(c int32) {
	keys := d.keys(d.Conv.Calls[c].Message)
	for _, cp := range d.copiesOf(c) {
		if cp.List.IsZero() {
			continue // it goes with the call
		}
		owner := holder(keys.Body, cp.List)
		d.taken = append(d.taken, cp.Block)
		// A list outside of what the message says stays, though nothing is in it.
		keep := keys.Body.Get(keys.Content).Span() == cp.List || !keys.Body.Span().Contains(cp.List)
		d.dropElement(owner, d.at(cp.List), cp.Block, keep)
	}
}

// holder returns the object with the value at a span: the body of a message, or an
// object in it.
func holder(body source.Value, at source.Span) source.Value {
	for _, v := range body.Members() {
		if v.Kind() == source.Object && v.Span() != at && v.Span().Contains(at) {
			return v
		}
	}
	return body
}

// dropResult removes a result, false where it cannot be removed.
func (d *draft) dropResult(r int32) bool { return d.dropBlock(d.Conv.Results[r].Block) }

// callRemovable reports whether a call can be removed.
func (p *Plan) callRemovable(c int32) bool {
	call := &p.Conv.Calls[c]
	m, blk := call.Message, p.Conv.Blocks[call.Block].Span
	// A map of calls is left alone.
	return !p.foreign(m) && (blk == p.Conv.Messages[m].Span() || p.callList(m, blk).Kind() != source.Object)
}

// behind reports whether the results of a call stand behind it, so that order
// tells which they are.
func (p *Plan) behind(c int32) bool {
	return !slices.ContainsFunc(p.answers[c], func(r int32) bool { return p.Conv.Results[r].Block < p.Conv.Calls[c].Block })
}

// hollow reports whether nothing is left of a message but for the blocks that are
// taken out, what goes along with them and, if that is asked, texts that say nothing.
func (d *draft) hollow(m int32, texts bool) bool {
	for i, b := range d.blocksOf(m) {
		along := d.strip && b.Kind == transcript.BlockReasoning || texts && b.Kind == transcript.BlockText && b.Span.Len() <= 2
		if !along && !d.blocks[m][d.Conv.Messages[m].BlockLo+int32(i)] {
			return false
		}
	}
	return true
}

// dropTurn removes a turn with all its results.
func (d *draft) dropTurn(turn int32) bool {
	for m := range d.Conv.Messages {
		if d.Conv.Messages[m].Turn == turn && !d.dropMessage(int32(m)) {
			return false
		}
	}
	for c := range d.Conv.Calls {
		if r := d.Pairing.Calls[c].Result; d.turn(int32(c)) == turn && r >= 0 && d.Pairing.Results[r].Fate == pairing.Answers && !d.dropResult(r) {
			return false
		}
	}
	return true
}

// cutMembers cuts members out of an object, each with one comma.
func cutMembers(v source.Value, cut func(key, val source.Value) bool) (edits []edit.Edit) {
	end, first := int64(-1), int64(-1) // the end of the member before; where the first members begin, if they go
	drop := func(from, to int64) { edits = append(edits, edit.Edit{Span: source.Span{Start: from, End: to}}) }
	for k, val := range v.Members() {
		switch goes := cut(k, val); {
		case goes && end >= 0 && first < 0:
			drop(end, val.Span().End)
		case goes && first < 0:
			first = k.Span().Start
		case !goes && first >= 0:
			drop(first, k.Span().Start)
			first = -1
		}
		end = val.Span().End
	}
	if first >= 0 {
		drop(first, end)
	}
	return edits
}

// removeMember cuts the member whose value stands at a span. It is plain where it
// holds no recorded content.
func (d *draft) removeMember(v source.Value, val source.Span, plain bool) {
	for _, e := range cutMembers(v, func(_, member source.Value) bool { return member.Span() == val }) {
		d.sets = append(d.sets, set{Edit: e, plain: plain})
	}
}
