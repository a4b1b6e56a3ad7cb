package repair

import (
	"slices"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// takeBlock removes a block from its message, and the message if it becomes empty.
func (d *draft) takeBlock(b int32) bool {
	blk := &d.Conv.Blocks[b]
	m := blk.Message
	if d.gone[m] {
		return true
	}
	l := d.contents(m)
	if l == nil || !l.array.Contains(blk.Span) {
		array := arrayOf(d.at(d.Conv.Messages[m].Span()), blk.Span)
		if !array.Exists() {
			return false
		}
		l = d.list(array.Span().Start, array.Span())
	}
	if !d.blocks[m][b] {
		d.take(b)
		l.remove(blk.Span)
	}
	return true
}

// arrayOf returns the list in v that has the element at a span, None if there is none.
func arrayOf(v source.Value, at source.Span) source.Value {
	for _, e := range v.Elements() {
		if e.Span() == at {
			return v
		}
		if e.Span().Contains(at) {
			return arrayOf(e, at)
		}
	}
	for _, e := range v.Members() {
		if e.Span().Contains(at) {
			return arrayOf(e, at)
		}
	}
	return source.Value{}
}

// take notes that a block is removed from its message.
func (d *draft) take(b int32) {
	m := d.Conv.Blocks[b].Message
	of := d.blocks[m]
	put(&of, b, true)
	put(&d.blocks, m, of)
	d.taken = append(d.taken, d.Conv.Blocks[b].Span)
}

// prune removes the messages whose blocks are all removed.
func (d *draft) prune() {
	for m := range d.blocks {
		if l := d.contents(m); d.hollow(m, false) && !d.kept[m] && l != nil && len(l.inserts) == 0 {
			d.dropMessage(m)
		}
	}
}

// dropMessage removes a message. It returns false if the message cannot be removed.
func (d *draft) dropMessage(m int32) bool {
	if d.gone[m] {
		return true
	}
	span := d.Conv.Messages[m].Span()
	if d.Log != nil {
		put(&d.log().dropped, span.Start, d.content(m).Span())
		d.taken = append(d.taken, d.Log.recordAt(span.Start))
	} else if h := d.holder(m); h != nil {
		h.remove(span)
		d.taken = append(d.taken, span)
	} else {
		return false
	}
	put(&d.gone, m, true)
	return true
}

// splitResults replaces a message by one for each of the results in it.
func (d *draft) splitResults(m int32) bool {
	driver, ok := d.driver.(dialect.Splitter)
	if !ok || d.Log != nil {
		return false
	}
	span := d.Conv.Messages[m].Span()
	h, messages := d.holder(m), driver.Split(d.at(span))
	if h == nil || len(messages) == 0 || !d.dropMessage(m) {
		return false
	}
	for _, fields := range messages {
		text := render(d.build(fields), styleOf(d.at(span)), 0)
		if text == nil {
			return false
		}
		h.after(span, text)
	}
	return true
}

// dropUnread removes an element among the messages that is not one.
func (d *draft) dropUnread(at source.Span) bool {
	l := d.listAround(at)
	if l == nil {
		return false
	}
	l.remove(at)
	d.taken = append(d.taken, at)
	return true
}

// dropBlock removes a block, or the message or item if it is one.
func (d *draft) dropBlock(b int32) bool {
	blk := &d.Conv.Blocks[b]
	m, l := blk.Message, d.contents(blk.Message)
	outside := func(other transcript.Block) bool { return !blk.Span.Contains(other.Span) }
	all := !slices.ContainsFunc(d.blocksOf(m), outside) && (l == nil || !l.array.Contains(blk.Span))
	switch msg := &d.Conv.Messages[m]; {
	case all || blk.Span == msg.Span():
		return d.alone(m) && d.dropMessage(m)
	case blk.Kind == transcript.BlockResult && msg.Role == transcript.RoleTool && d.results(m) < len(d.blocksOf(m)) && string(d.text(msg.RoleSpan())) != `"user"`:
		return false // the rest would be read as a result
	}
	return d.takeBlock(b)
}

// alone reports whether a message holds at most one result. A message that answers several
// calls at once is not split.
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

// copyOf notes that a removed block is an exact copy of one that stays. Its message may be
// removed with it if the rest of the message is a copy too.
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

// dropCalls removes calls, all or none, together with their results if answers is set.
// Reasoning that led only to them is removed too if strip is set.
func (d *draft) dropCalls(calls []int32, answers, strip bool) bool {
	d.strip = strip
	return d.each(calls, d.callRemovable) && d.each(calls, func(c int32) bool {
		return d.dropCall(c) && (!answers || len(d.answers[c]) == 0 || d.each(d.answers[c], d.dropResult))
	})
}

// dropCall removes a call from its message, the list of calls if it becomes empty, and the
// message if it becomes empty.
func (d *draft) dropCall(c int32) bool {
	call := &d.Conv.Calls[c]
	m := call.Message
	switch {
	case d.Conv.Blocks[call.Block].Span == d.Conv.Messages[m].Span(): // an item
		// Reasoning that led only to this call is removed with it.
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

// takeCall removes a call and its copies from a list beside the content of its message.
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

// callList returns the field of a message that lists calls and contains a block, None if the
// block is elsewhere.
func (p *Plan) callList(m int32, block source.Span) source.Value {
	keys := p.keys(m)
	for _, key := range keys.Calls {
		if calls := dialect.Lens(key).In(keys.Body); calls.Span().Contains(block) {
			return calls
		}
	}
	return source.Value{}
}

// dropElement removes an element from a list in an object. It also removes the list if it
// becomes empty, unless keep is set.
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

// dropCopies removes the copies of a call in its message.
func (d *draft) dropCopies(c int32) {
	keys := d.keys(d.Conv.Calls[c].Message)
	for _, cp := range d.copiesOf(c) {
		if cp.List.IsZero() {
			continue // it is removed with the call
		}
		owner := holder(keys.Body, cp.List)
		d.taken = append(d.taken, cp.Block)
		// A list outside of the message body stays, even if it is empty.
		keep := keys.Body.Get(keys.Content).Span() == cp.List || !keys.Body.Span().Contains(cp.List)
		d.dropElement(owner, d.at(cp.List), cp.Block, keep)
	}
}

// holder returns the object that contains the value at a span: the body of a message, or an
// object in it.
func holder(body source.Value, at source.Span) source.Value {
	for _, v := range body.Members() {
		if v.Kind() == source.Object && v.Span() != at && v.Span().Contains(at) {
			return v
		}
	}
	return body
}

// dropResult removes a result. It returns false if the result cannot be removed.
func (d *draft) dropResult(r int32) bool { return d.dropBlock(d.Conv.Results[r].Block) }

// callRemovable reports whether a call can be removed.
func (p *Plan) callRemovable(c int32) bool {
	call := &p.Conv.Calls[c]
	m, blk := call.Message, p.Conv.Blocks[call.Block].Span
	// A map of calls is not changed.
	return !p.foreign(m) && (blk == p.Conv.Messages[m].Span() || p.callList(m, blk).Kind() != source.Object)
}

// behind reports whether the results of a call come after it, so that their order shows which
// call they answer.
func (p *Plan) behind(c int32) bool {
	return !slices.ContainsFunc(p.answers[c], func(r int32) bool { return p.Conv.Results[r].Block < p.Conv.Calls[c].Block })
}

// hollow reports whether a message becomes empty: apart from its removed blocks it has only
// reasoning that is removed too and, if texts is set, empty texts.
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

// cutMembers returns edits that remove fields from an object, each with one comma.
func cutMembers(v source.Value, cut func(key, val source.Value) bool) (edits []edit.Edit) {
	end, first := int64(-1), int64(-1) // the end of the previous field; the start of the first field, if it is removed
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

// removeMember removes the field whose value is at a span. plain says that it holds no
// recorded content.
func (d *draft) removeMember(v source.Value, val source.Span, plain bool) {
	for _, e := range cutMembers(v, func(_, member source.Value) bool { return member.Span() == val }) {
		d.sets = append(d.sets, set{Edit: e, plain: plain})
	}
}
