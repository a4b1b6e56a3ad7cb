package repair

import (
	"slices"

	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/pairing"
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
	for m, taken := range d.blocks {
		msg := &d.Conv.Messages[m]
		left := false
		for b := msg.BlockLo; b < msg.BlockHi; b++ {
			left = left || !taken[b] && !(d.strip && d.Conv.Blocks[b].Kind == transcript.BlockReasoning)
		}
		if l := d.contents(m); !left && !d.kept[m] && l != nil && len(l.inserts) == 0 {
			d.dropMessage(m)
		}
	}
}

// dropMessage removes a message, false where it cannot be removed.
func (d *draft) dropMessage(m int32) bool {
	switch {
	case d.gone[m]:
		return true
	case d.Log != nil:
		return d.dropRecord(m)
	}
	h := d.holder(m)
	if h == nil {
		return false
	}
	d.gone[m] = true
	d.taken = append(d.taken, d.Conv.Messages[m].Span())
	h.remove(d.Conv.Messages[m].Span())
	return true
}

// dropBlock removes a block, or the message or item that it is.
func (d *draft) dropBlock(b int32) bool {
	blk := &d.Conv.Blocks[b]
	if l := d.contents(blk.Message); blk.Span == d.Conv.Messages[blk.Message].Span() || d.all(b) && (l == nil || !l.array.Contains(blk.Span)) {
		return d.alone(blk.Message) && d.dropMessage(blk.Message)
	}
	if blk.Kind == transcript.BlockResult && d.mixed(blk.Message) {
		return false // what is left would pass for a result
	}
	return d.takeBlock(b)
}

// all reports whether a block is all that its message holds.
func (p *Plan) all(b int32) bool {
	blk := &p.Conv.Blocks[b]
	msg := &p.Conv.Messages[blk.Message]
	for other := msg.BlockLo; other < msg.BlockHi; other++ {
		if !blk.Span.Contains(p.Conv.Blocks[other].Span) {
			return false
		}
	}
	return true
}

// mixed reports whether a message of the tool's role holds something besides
// results.
func (p *Plan) mixed(m int32) bool {
	msg := &p.Conv.Messages[m]
	if msg.Role != transcript.RoleTool {
		return false
	}
	for b := msg.BlockLo; b < msg.BlockHi; b++ {
		if p.Conv.Blocks[b].Kind != transcript.BlockResult {
			return true
		}
	}
	return false
}

// alone reports whether a message holds one result at most: where it answers
// several calls at once it is not taken apart.
func (p *Plan) alone(m int32) bool { return p.results(m) <= 1 }

// results counts the results in a message.
func (p *Plan) results(m int32) (n int) {
	msg := &p.Conv.Messages[m]
	for b := msg.BlockLo; b < msg.BlockHi; b++ {
		if p.Conv.Blocks[b].Kind == transcript.BlockResult {
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
	for _, c := range calls {
		if !d.callRemovable(c) {
			return false
		}
	}
	d.strip = strip
	for _, c := range calls {
		if !d.dropCall(c) || answers && !d.each(d.answers[c], d.dropResult) && len(d.answers[c]) > 0 {
			return false
		}
	}
	return len(calls) > 0
}

// dropCall removes a call from its message, the list that becomes empty with
// it, and the message of which nothing is left.
func (d *draft) dropCall(c int32) bool {
	call := &d.Conv.Calls[c]
	m := call.Message
	keys := d.keys(m)
	blk := d.Conv.Blocks[call.Block]
	if blk.Span == d.Conv.Messages[m].Span() { // an item
		// Reasoning that led to nothing else goes with it.
		for k := m - 1; d.strip && k >= 0 && d.reasons(k) && !d.followed(m); k-- {
			d.dropMessage(k)
		}
		return d.dropMessage(m)
	}
	d.dropCopies(c)
	if len(keys.Calls) == 0 {
		return d.takeBlock(call.Block)
	}
	d.take(call.Block)
	if d.hollow(m) {
		return d.dropMessage(m)
	}
	d.takeListed(c)
	return true
}

// takeCall takes a call out of a list beside its message's content, with what
// repeats it.
func (d *draft) takeCall(c int32) {
	d.dropCopies(c)
	d.take(d.Conv.Calls[c].Block)
	d.takeListed(c)
}

func (d *draft) takeListed(c int32) {
	call := &d.Conv.Calls[c]
	keys := d.keys(call.Message)
	blk := d.Conv.Blocks[call.Block].Span
	calls := d.callList(call.Message, blk)
	if calls.Kind() != transcript.Array || !calls.Span().Contains(blk) {
		d.removeMember(keys.Body, blk, false) // a single call outside of a list
	} else {
		d.dropElement(keys.Body, calls, blk, keys.KeepCalls)
	}
}

// reasons reports whether a message is an item of reasoning.
func (p *Plan) reasons(m int32) bool {
	msg := &p.Conv.Messages[m]
	return msg.BlockLo < msg.BlockHi && p.Conv.Blocks[msg.BlockLo].Kind == transcript.BlockReasoning
}

// callList returns the list of calls of a message in which a block stands.
func (p *Plan) callList(m int32, block transcript.Span) transcript.Value {
	keys := p.keys(m)
	var calls transcript.Value
	for _, key := range keys.Calls {
		if calls = keys.Body.Get(key); calls.Span().Contains(block) {
			break
		}
	}
	return calls
}

// dropElement takes an element out of a list, and the list out of its object
// when nothing is left in it, unless it is to be kept.
func (d *draft) dropElement(object, list transcript.Value, element transcript.Span, keep bool) {
	l := d.list(list.Span().Start, list.Span())
	l.remove(element)
	n := 0
	for range list.Elements() {
		n++
	}
	if !keep && n == len(l.removed) {
		delete(d.lists, list.Span().Start)
		d.removeMember(object, list.Span(), false)
	}
}

// dropCopies removes what repeats a call in its message.
func (d *draft) dropCopies(c int32) {
	keys := d.keys(d.Conv.Calls[c].Message)
	for _, cp := range d.copiesOf(c) {
		if cp.List.IsZero() {
			continue // it goes with the call
		}
		owner := keys.Body
		for _, v := range keys.Body.Members() { // the list may stand one level down
			if v.Kind() == transcript.Object && v.Span().Contains(cp.List) {
				owner = v
			}
		}
		d.taken = append(d.taken, cp.Block)
		// A list outside of what the message says stays, though nothing is in it.
		keep := keys.Body.Get(keys.Content).Span() == cp.List || !keys.Body.Span().Contains(cp.List)
		d.dropElement(owner, d.at(cp.List), cp.Block, keep)
	}
}

// dropResults removes results, all or none.
func (d *draft) dropResults(results []int32) bool { return d.each(results, d.dropResult) }

// dropResult removes a result, false where it cannot be removed.
func (d *draft) dropResult(r int32) bool { return d.dropBlock(d.Conv.Results[r].Block) }

// callRemovable reports whether a call can be removed.
func (p *Plan) callRemovable(c int32) bool {
	call := &p.Conv.Calls[c]
	blk := &p.Conv.Blocks[call.Block]
	if p.foreign(call.Message) {
		return false
	}
	if blk.Span == p.Conv.Messages[call.Message].Span() || len(p.keys(call.Message).Calls) == 0 {
		return true
	}
	calls := p.callList(call.Message, blk.Span)
	return calls.Kind() != transcript.Object || !calls.Span().Contains(blk.Span) // a map of calls is left alone
}

// behind reports whether the results of a call stand behind it, so that order
// tells which they are.
func (p *Plan) behind(c int32) bool {
	return !slices.ContainsFunc(p.answers[c], func(r int32) bool { return p.Conv.Results[r].Block < p.Conv.Calls[c].Block })
}

// followed reports whether an item of the model comes right behind an item.
func (d *draft) followed(m int32) bool {
	n := m + 1
	return int(n) < len(d.Conv.Messages) && d.Conv.Messages[n].Role == transcript.RoleAssistant && !d.gone[n]
}

// hollow reports whether nothing is left of a message but for the blocks that are
// taken out.
func (d *draft) hollow(m int32) bool {
	msg := &d.Conv.Messages[m]
	for b := msg.BlockLo; b < msg.BlockHi; b++ {
		blk := &d.Conv.Blocks[b]
		if !d.blocks[m][b] && !(d.strip && blk.Kind == transcript.BlockReasoning) && (blk.Kind != transcript.BlockText || len(d.text(blk.Span)) > 2) {
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

// cutMembers cuts the members with these keys out of an object.
func cutMembers(v transcript.Value, cut func(key transcript.Value) bool) (edits []edit.Edit) {
	end := int64(-1) // of the member before, if one stays before
	open := int64(-1)
	for k, member := range v.Members() {
		if open >= 0 { // the first members go, up to this one
			edits = append(edits, edit.Edit{Span: transcript.Span{Start: open, End: k.Span().Start}})
			open = -1
		}
		switch {
		case !cut(k):
			end = member.Span().End
		case end >= 0:
			edits = append(edits, edit.Edit{Span: transcript.Span{Start: end, End: member.Span().End}})
			end = member.Span().End
		default:
			open = k.Span().Start
		}
	}
	if open >= 0 {
		edits = append(edits, edit.Edit{Span: transcript.Span{Start: open, End: v.Span().End - 1}})
	}
	return edits
}

// removeMember cuts the member whose value stands at a span, and one comma. It is
// plain where it holds no recorded content.
func (d *draft) removeMember(v transcript.Value, val transcript.Span, plain bool) {
	prev := int64(-1)
	found := false
	var cut transcript.Span
	for k, member := range v.Members() {
		if found {
			if prev < 0 {
				cut.End = k.Span().Start
			}
			break
		}
		if member.Span() == val {
			found = true
			cut = transcript.Span{Start: k.Span().Start, End: val.End}
			if prev >= 0 {
				cut.Start = prev
			}
			continue
		}
		prev = member.Span().End
	}
	if found {
		d.sets = append(d.sets, set{Edit: edit.Edit{Span: cut}, plain: plain})
	}
}
