package repair

import (
	"slices"
	"strings"

	"github.com/toolguard/toolguard/internal/edit"

	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/transcript"
)

// takeBlock takes a block out of its message, which is removed when nothing is
// left of it.
func (p *Plan) takeBlock(b int32) bool {
	blk := &p.Conv.Blocks[b]
	m := blk.Message
	if p.gone[m] {
		return true
	}
	l := p.contents(m)
	if l == nil {
		return false
	}
	if p.blocks[m] == nil {
		p.blocks[m] = map[int32]bool{}
	}
	if !p.blocks[m][b] {
		p.blocks[m][b] = true
		p.hulls[m] = p.hulls[m] || p.strip
		l.remove(blk.Span)
	}
	return true
}

// prune removes the messages of which every block was taken out.
func (p *Plan) prune() {
	for m, taken := range p.blocks {
		msg := &p.Conv.Messages[m]
		left := false
		for b := msg.BlockLo; b < msg.BlockHi; b++ {
			left = left || !taken[b] && !(p.hulls[m] && p.Conv.Blocks[b].Kind == transcript.BlockReasoning)
		}
		l := p.contents(m)
		if left || l == nil || len(l.inserts) > 0 {
			continue
		}
		if !p.gone[m] && p.dropMessage(m) {
			delete(p.lists, l.array.Start)
		}
	}
}

func (p *Plan) dropMessage(m int32) bool {
	if p.Log != nil {
		p.gone[m] = true
		keys := p.keys(m)
		p.Log.dropped[p.standing(m)] = keys.Body.Get(keys.Content).Span()
		return true
	}
	h := p.holder(m)
	if h == nil {
		return false
	}
	if !p.gone[m] {
		p.gone[m] = true
		h.remove(p.Conv.Messages[m].Span())
	}
	return true
}

// says reports whether a message holds anything besides its content and calls
// that could be worth keeping: a text, a list or an object under a name that is
// not mere book-keeping.
func (p *Plan) says(m int32) bool {
	keys := p.keys(m)
	for k, v := range keys.Body.Members() {
		if slices.ContainsFunc(keys.Calls, k.Is) {
			continue
		}
		switch k.Str() {
		case "role", keys.Content, "id", "type", "name", "model", "status", "usage", "finish_reason", "stop_reason", "stop_sequence",
			"timestamp", "created", "created_at", "ts":
			continue
		}
		if v.Kind() == transcript.String && len(v.Raw()) > 2 || v.First().Exists() {
			return true
		}
		for range v.Members() {
			return true
		}
	}
	return false
}

// dropBlock removes a block, or the message or item that it is.
func (p *Plan) dropBlock(b int32) bool {
	blk := &p.Conv.Blocks[b]
	if blk.Span == p.Conv.Messages[blk.Message].Span() {
		return p.alone(blk.Message) && p.dropMessage(blk.Message)
	}
	if blk.Kind == transcript.BlockResult && p.mixed(blk.Message) {
		return false // what is left would pass for a result
	}
	return p.takeBlock(b)
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

// dropCall removes a call from its message, the list that becomes empty with
// it, and the message of which nothing is left.
func (p *Plan) dropCall(c int32) {
	call := &p.Conv.Calls[c]
	keys := p.keys(call.Message)
	blk := p.Conv.Blocks[call.Block]
	msg := &p.Conv.Messages[call.Message]
	switch {
	case blk.Span == msg.Span(): // an item
		p.dropMessage(call.Message)
		// Reasoning that led to nothing else goes with it.
		for k := call.Message - 1; p.strip && k >= 0; k-- {
			m := &p.Conv.Messages[k]
			if m.BlockLo == m.BlockHi || p.Conv.Blocks[m.BlockLo].Kind != transcript.BlockReasoning || p.followed(call.Message) {
				break
			}
			p.dropMessage(k)
		}
		return
	case len(keys.Calls) == 0:
		p.dropCopies(c)
		p.takeBlock(call.Block)
		return
	}
	v := keys.Body
	calls := p.callList(call.Message, blk.Span)
	p.dropCopies(c)
	if calls.Kind() != transcript.Array || !calls.Span().Contains(blk.Span) {
		// A single call outside of a list: the member goes.
		if p.hollow(call.Message, map[int32]bool{call.Block: true}) {
			p.dropMessage(call.Message)
			return
		}
		p.removeMember(v, blk.Span)
		return
	}
	if p.blocks[call.Message] == nil {
		p.blocks[call.Message] = map[int32]bool{}
	}
	taken := p.blocks[call.Message]
	taken[call.Block] = true
	left := 0
	for b := msg.BlockLo; b < msg.BlockHi; b++ {
		if p.Conv.Blocks[b].Kind == transcript.BlockCall && !taken[b] {
			left++
		}
	}
	if left == 0 && p.hollow(call.Message, taken) {
		delete(p.lists, calls.Span().Start)
		p.dropMessage(call.Message)
		return
	}
	p.dropElement(v, calls, blk.Span, keys.KeepCalls)
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
func (p *Plan) dropElement(object, list transcript.Value, element transcript.Span, keep bool) {
	l := p.list(list.Span().Start, list.Span())
	l.remove(element)
	n := 0
	for range list.Elements() {
		n++
	}
	if !keep && n == len(l.removed) {
		delete(p.lists, list.Span().Start)
		p.removeMember(object, list.Span())
	}
}

// dropCopies removes what repeats a call in its message.
func (p *Plan) dropCopies(c int32) {
	keys := p.keys(p.Conv.Calls[c].Message)
	for _, cp := range p.copiesOf(c) {
		if cp.List.IsZero() {
			continue // it goes with the call
		}
		owner := keys.Body
		for _, v := range keys.Body.Members() { // the list may stand one level down
			if v.Kind() == transcript.Object && v.Span().Contains(cp.List) {
				owner = v
			}
		}
		// A list outside of what the message says stays, though nothing is in it.
		keep := keys.Body.Get(keys.Content).Span() == cp.List || !keys.Body.Span().Contains(cp.List)
		p.dropElement(owner, p.at(cp.List), cp.Block, keep)
	}
}

// dropCalls removes the calls of an operation with their results, all or none.
func (p *Plan) dropCalls(op *operation.Operation) bool {
	for _, c := range op.Calls {
		if !p.callRemovable(c) {
			return false
		}
	}
	answers := p.Answers(op)
	if !p.removable(answers) {
		return false
	}
	p.strip = op.Class == operation.Unsafe
	for _, c := range op.Calls {
		p.dropCall(c)
	}
	p.strip = false
	return p.dropResults(answers)
}

// dropResults removes results, all or none.
func (p *Plan) dropResults(results []int32) bool {
	if !p.removable(results) {
		return false
	}
	for _, r := range results {
		p.dropBlock(p.Conv.Results[r].Block)
	}
	return true
}

// removable reports whether results can be removed.
func (p *Plan) removable(results []int32) bool {
	for _, r := range results {
		blk := &p.Conv.Blocks[p.Conv.Results[r].Block]
		if blk.Span == p.Conv.Messages[blk.Message].Span() {
			if !p.alone(blk.Message) || !p.held(blk.Message) {
				return false
			}
		} else if p.contents(blk.Message) == nil {
			return false
		}
	}
	return true
}

// callRemovable reports whether a call can be removed.
func (p *Plan) callRemovable(c int32) bool {
	call := &p.Conv.Calls[c]
	blk := &p.Conv.Blocks[call.Block]
	switch {
	case p.foreign(call.Message):
		return false
	case blk.Span == p.Conv.Messages[call.Message].Span():
		return p.held(call.Message)
	case len(p.keys(call.Message).Calls) == 0:
		return p.contents(call.Message) != nil
	}
	calls := p.callList(call.Message, blk.Span)
	return calls.Kind() != transcript.Object || !calls.Span().Contains(blk.Span) // a map of calls is left alone
}

// held reports whether a message can be removed from what it stands in.
func (p *Plan) held(m int32) bool { return p.Log != nil || p.holder(m) != nil }

// Answers returns the results that go with the calls of an operation: those it
// names, and those that answer the calls.
func (p *Plan) Answers(op *operation.Operation) []int32 {
	out := slices.Clone(op.Results)
	for _, c := range op.Calls {
		for _, r := range p.answersOf(c) {
			if !slices.Contains(op.Results, r) {
				out = append(out, r)
			}
		}
	}
	return out
}

// answersOf returns the results of a call: what answers it, and repeats of that.
func (p *Plan) answersOf(c int32) []int32 {
	if p.answers == nil {
		p.answers = map[int32][]int32{}
		for r, x := range p.Pairing.Results {
			if x.Call >= 0 {
				p.answers[x.Call] = append(p.answers[x.Call], int32(r))
			}
		}
	}
	return p.answers[c]
}

// behind reports whether the results of a call stand behind it, so that order
// tells which they are.
func (p *Plan) behind(c int32) bool {
	for _, r := range p.answersOf(c) {
		if p.Conv.Results[r].Block < p.Conv.Calls[c].Block {
			return false
		}
	}
	return true
}

// followed reports whether an item of the model comes right behind an item.
func (p *Plan) followed(m int32) bool {
	n := m + 1
	return int(n) < len(p.Conv.Messages) && p.Conv.Messages[n].Role == transcript.RoleAssistant && !p.gone[n]
}

// hollow reports whether nothing is left of a message once blocks are taken.
func (p *Plan) hollow(m int32, taken map[int32]bool) bool {
	msg := &p.Conv.Messages[m]
	for b := msg.BlockLo; b < msg.BlockHi; b++ {
		blk := &p.Conv.Blocks[b]
		if !taken[b] && !(p.strip && blk.Kind == transcript.BlockReasoning) && (blk.Kind != transcript.BlockText || len(p.text(blk.Span)) > 2) {
			return false
		}
	}
	return true
}

// dropTurn removes a turn with all its results.
func (p *Plan) dropTurn(turn int32) bool {
	var messages, results []int32
	for m := range p.Conv.Messages {
		if p.Conv.Messages[m].Turn == turn {
			messages = append(messages, int32(m))
			if !p.held(int32(m)) {
				return false
			}
		}
	}
	for i, x := range p.Pairing.Calls {
		if p.Conv.Messages[p.Conv.Calls[i].Message].Turn == turn && x.Result >= 0 {
			results = append(results, x.Result)
		}
	}
	if !p.removable(results) {
		return false
	}
	for _, m := range messages {
		p.dropMessage(m)
	}
	return p.dropResults(results)
}

// textResult keeps the payload of a result as text.
func (p *Plan) textResult(r int32) bool {
	res := &p.Conv.Results[r]
	if p.foreign(res.Message) {
		return false
	}
	raw := `""`
	if !res.Payload.IsZero() {
		raw = string(p.text(res.Payload))
	}
	if !strings.HasPrefix(raw, `"`) {
		raw = transcript.Quote(raw)
	}
	blk := p.Conv.Blocks[res.Block]
	if !p.blockwise() && !p.alone(res.Message) {
		return false
	}
	fields := p.driver.WriteText(p.at(blk.Span), raw)
	if fields == nil {
		return false
	}
	text, err := build(fields)
	if err != nil {
		p.err = err
		return false
	}
	p.set(blk.Span, string(render(text, styleOf(p.at(blk.Span)), 0)))
	if p.texts[res.Message]++; p.Log != nil && p.texts[res.Message] == p.results(res.Message) {
		p.Log.texted = append(p.Log.texted, p.standing(res.Message))
	}
	return true
}

// cutMembers cuts the members with these keys out of an object.
func cutMembers(v transcript.Value, keys ...string) (edits []edit.Edit) {
	end := int64(-1) // of the member before, if one stays before
	open := int64(-1)
	for k, member := range v.Members() {
		if open >= 0 { // the first members go, up to this one
			edits = append(edits, edit.Edit{Span: transcript.Span{Start: open, End: k.Span().Start}})
			open = -1
		}
		switch {
		case !slices.ContainsFunc(keys, func(key string) bool { return key != "" && k.Is(key) }):
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

// removeMember cuts the member whose value stands at a span, and one comma.
func (p *Plan) removeMember(v transcript.Value, val transcript.Span) {
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
		p.sets = append(p.sets, edit.Edit{Span: cut})
	}
}
