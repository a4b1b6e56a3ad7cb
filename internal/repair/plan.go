package repair

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"sort"
	"strings"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

// Placeholder is the text of a result that is inserted for a call without one.
const Placeholder = "[toolguard] No result was recorded for this tool call; it may or may not have run."

// A Plan compiles the operations on one conversation to edits. It reads the
// source it was made for, and changes nothing.
type Plan struct {
	Source      *transcript.Source
	Conv        *transcript.Conversation
	Pairing     pairing.Pairing
	Profile     *profile.Profile
	Placeholder string // may hold {tool} and {id}
	// Log takes what concerns the records of a session log; nil elsewhere.
	Log *Log

	driver dialect.Writer
	src    *window
	lists  map[int64]*list
	sets   []transcript.Edit
	taken  map[string]int // how many calls and results have an id
	ends   []int32        // by turn: its last message
	names  bool           // results repeat the tool's name
	// answers are the results by the call that they answer.
	answers map[int32][]int32
	gone    map[int32]bool // messages that are removed
	values  map[int32]transcript.Value
	blocks  map[int32]map[int32]bool // blocks that are taken out, by message
	strip   bool                     // reasoning goes with the call that it led to
	hulls   map[int32]bool           // messages whose reasoning goes when nothing else is left
	err     error
}

// Phases are carried out one after another, each on what the one before left:
// an edit of the one must not pull the ground from under the next.
const (
	phaseCopies = iota
	phaseIDs
	phaseLayout
	phasePayload
	phaseRest
	phases
)

func phaseOf(op *operation.Operation) int {
	switch op.Kind {
	case operation.RenameID, operation.MintID, operation.RelinkResult:
		return phaseIDs
	case operation.DropCall, operation.DropResult, operation.Retag:
		if op.Class == operation.Safe {
			return phaseCopies
		}
		return phaseLayout
	case operation.InsertResult, operation.MoveResult, operation.MergeResults, operation.ReorderBlocks, operation.SplitMessage, operation.MoveBlock, operation.DropTurn, operation.TextResult:
		return phaseLayout
	case operation.SetValue, operation.RemoveMember:
		return phasePayload
	}
	return phaseRest
}

// Compile returns the edits for the first phase that the operations have
// anything for, and the operations that they carry out. An operation that
// cannot be carried out as things stand is left.
func (p *Plan) Compile(ops []*operation.Operation) (edits []transcript.Edit, done []*operation.Operation, err error) {
	d := dialect.ByName(p.Conv.Dialect)
	w, ok := d.Driver.(dialect.Writer)
	if !ok {
		return nil, nil, nil
	}
	p.driver = w
	if p.ends == nil {
		p.index()
	}
	for phase := range phases {
		p.reset()
		done = done[:0]
		var batch []*operation.Operation
		for _, op := range ops {
			if phaseOf(op) == phase {
				batch = append(batch, op)
			}
		}
		if len(batch) == 0 {
			continue
		}
		done = p.batch(batch)
		edits = p.edits()
		if p.err == nil {
			p.err = p.src.err
		}
		if p.err != nil {
			return nil, nil, p.err
		}
		if len(edits) > 0 || p.Log != nil && !p.Log.Empty() {
			return edits, done, nil
		}
	}
	return nil, nil, nil
}

func (p *Plan) reset() {
	p.src = &window{src: p.Source}
	p.lists = map[int64]*list{}
	p.sets = nil

	p.gone = map[int32]bool{}
	p.blocks = map[int32]map[int32]bool{}
	p.hulls = map[int32]bool{}
	p.values = map[int32]transcript.Value{}
}

// batch carries out the operations of one phase, those on one turn together.
func (p *Plan) batch(ops []*operation.Operation) (done []*operation.Operation) {
	turns := map[int32]*layout{}
	var order []int32
	at := func(turn int32) *layout {
		if turns[turn] == nil {
			turns[turn] = &layout{plan: p, turn: turn}
			order = append(order, turn)
		}
		return turns[turn]
	}
	for _, op := range ops {
		ok := true
		switch op.Kind {
		case operation.InsertResult:
			var calls []int32
			for _, c := range op.Calls {
				if !p.foreign(p.Conv.Calls[c].Message) {
					calls = append(calls, c)
				}
			}
			if ok = len(calls) > 0; ok {
				l := at(op.Turn)
				l.insert = append(l.insert, calls...)
			}
		case operation.MoveResult, operation.MergeResults:
			var results []int32
			for _, r := range op.Results {
				if p.movable(r) {
					results = append(results, r)
				}
			}
			if ok = len(results) > 0; ok {
				l := at(op.Turn)
				l.move = append(l.move, results...)
			}
		case operation.MoveBlock:
			ok = p.moveBlock(op, at)
		case operation.ReorderBlocks:
			switch {
			case len(op.Messages) > 0:
				for _, m := range op.Messages {
					p.callsLast(m)
				}
			default:
				at(op.Turn).first = true
				at(op.Turn).inOrder = at(op.Turn).inOrder || op.ByStrategy || len(op.Results) == 0
			}
		case operation.SplitMessage:
			ok = p.splitMessage(op)
		case operation.DropResult:
			for _, r := range op.Results {
				ok = p.dropBlock(p.Conv.Results[r].Block) && ok
			}
		case operation.TextResult:
			for _, r := range op.Results {
				ok = p.textResult(r) && ok
			}
		case operation.DropCall:
			p.strip = op.Class == operation.Unsafe
			for _, c := range op.Calls {
				ok = p.dropCall(c) && ok
			}
			p.strip = false
			for _, r := range p.Answers(op) {
				ok = p.dropBlock(p.Conv.Results[r].Block) && ok
			}
		case operation.DropTurn:
			ok = p.dropTurn(op.Turn)
		case operation.DropBlock:
			for _, b := range op.Blocks {
				ok = p.dropBlock(b) && ok
			}
		case operation.Merge:
			for _, m := range op.Messages {
				ok = p.merge(m) && ok
			}
		case operation.DropMessage:
			for _, m := range op.Messages {
				ok = (op.Class != operation.Safe || !p.says(m)) && p.dropMessage(m) && ok
			}
		case operation.RenameID:
			ok = p.rename(op)
		case operation.MintID:
			ok = p.mint(op)
		case operation.RelinkResult:
			for i, r := range op.Results {
				p.set(p.Conv.Results[r].ID.Span, p.Conv.Calls[op.Calls[i]].ID.Raw)
			}
		case operation.SetValue:
			if ok = op.Text != "" && whole([]byte(op.Text)) == nil; ok {
				p.set(op.Span, op.Text)
			}
		case operation.RemoveMember:
			for _, m := range op.Messages {
				p.removeMember(p.value(m), op.Span)
			}
		case operation.Retag:
			ok = p.retag(op)
		default:
			ok = false
		}
		if ok {
			done = append(done, op)
		}
	}
	slices.Sort(order)
	for _, t := range order {
		turns[t].lay()
	}
	p.prune()
	return done
}

// edits compiles the changes of all lists, and drops edits inside of what is
// removed or moved as a whole.
func (p *Plan) edits() []transcript.Edit {
	var out []transcript.Edit
	keys := make([]int64, 0, len(p.lists))
	for k := range p.lists {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		out = append(out, p.lists[k].compile()...)
	}
	out = append(out, p.sets...)
	out = disjoint(out)
	// What is put back where it stood is no edit.
	return slices.DeleteFunc(out, func(e transcript.Edit) bool {
		return e.Span.Len() == int64(len(e.Text)) && p.src.text(e.Span.Start, e.Span.End) == string(e.Text)
	})
}

// disjoint puts edits in order and leaves out those that lie inside another.
func disjoint(edits []transcript.Edit) []transcript.Edit {
	sort.SliceStable(edits, func(i, j int) bool {
		a, b := edits[i].Span, edits[j].Span
		if a.Start != b.Start {
			return a.Start < b.Start
		}
		return a.Len() == 0 && b.Len() > 0 || a.Len() > b.Len() && b.Len() > 0
	})
	out := edits[:0]
	end := int64(-1)
	for _, e := range edits {
		if e.Span.Start < end {
			continue
		}
		out = append(out, e)
		end = e.Span.End
	}
	return out
}

func (p *Plan) set(s transcript.Span, text string) {
	p.sets = append(p.sets, transcript.Edit{Span: s, Text: []byte(text)})
}

// value returns the element that a message is.
func (p *Plan) value(m int32) transcript.Value {
	if v, ok := p.values[m]; ok {
		return v
	}
	v := p.at(p.Conv.Messages[m].Span)
	p.values[m] = v
	return v
}

// at returns the value at a span.
func (p *Plan) at(s transcript.Span) transcript.Value {
	b, err := p.Source.Bytes(s)
	if err != nil && p.err == nil {
		p.err = err
	}
	return transcript.NewValue(b, s.Start)
}

func (p *Plan) text(s transcript.Span) []byte { return p.at(s).Raw() }

// holder returns the list that a message stands in, nil for none.
func (p *Plan) holder(m int32) *list {
	if p.Log != nil {
		return nil
	}
	if p.Conv.Lines {
		return p.list(-1, transcript.Span{})
	}
	for _, s := range p.Conv.Lists {
		if s.Contains(p.Conv.Messages[m].Span) {
			return p.list(s.Start, s)
		}
	}
	return nil
}

func (p *Plan) list(key int64, array transcript.Span) *list {
	l := p.lists[key]
	if l == nil {
		l = &list{src: p.src, array: array, lines: key < 0}
		p.lists[key] = l
	}
	return l
}

// contents returns the list of blocks of a message, nil where its content is
// no list.
func (p *Plan) contents(m int32) *list {
	v := p.value(m).Get(p.driver.Keys().Content)
	if v.Kind() != transcript.Array {
		return nil
	}
	return p.list(v.Span().Start, v.Span())
}

// foreign reports whether a message is written in another dialect than the
// conversation: nothing is put into it or made of it.
func (p *Plan) foreign(m int32) bool { return p.Conv.Messages[m].Has(transcript.MessageForeign) }

// movable reports whether a result can be moved to its call.
func (p *Plan) movable(r int32) bool {
	res, call := &p.Conv.Results[r], p.Pairing.Results[r].Call
	if call < 0 || p.Log != nil || p.foreign(res.Message) || p.foreign(p.Conv.Calls[call].Message) {
		return false
	}
	return p.blockwise() || p.alone(res.Message)
}

// blockwise reports whether results are blocks of a message.
func (p *Plan) blockwise() bool { return p.driver.WriteMessage("[]") != nil }

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
		p.Log.removed[p.Conv.Messages[m].Record] = true
		return true
	}
	h := p.holder(m)
	if h == nil {
		return false
	}
	if !p.gone[m] {
		p.gone[m] = true
		h.remove(p.Conv.Messages[m].Span)
	}
	return true
}

// says reports whether a message holds anything besides its content and calls
// that could be worth keeping: a text, a list or an object under a name that is
// not mere book-keeping.
func (p *Plan) says(m int32) bool {
	keys := p.driver.Keys()
	for k, v := range p.value(m).Members() {
		switch k.Str() {
		case "role", keys.Content, "tool_calls", "id", "type", "name", "model", "status", "usage", "finish_reason", "stop_reason", "stop_sequence",
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
	if blk.Span == p.Conv.Messages[blk.Message].Span {
		return p.alone(blk.Message) && p.dropMessage(blk.Message)
	}
	return p.takeBlock(b)
}

// alone reports whether a message holds one result at most: where it answers
// several calls at once it is not taken apart.
func (p *Plan) alone(m int32) bool {
	n := 0
	msg := &p.Conv.Messages[m]
	for b := msg.BlockLo; b < msg.BlockHi; b++ {
		if p.Conv.Blocks[b].Kind == transcript.BlockResult {
			n++
		}
	}
	return n <= 1
}

// dropCall removes a call from its message, the list that becomes empty with
// it, and the message of which nothing is left.
func (p *Plan) dropCall(c int32) bool {
	call := &p.Conv.Calls[c]
	if p.foreign(call.Message) {
		return false
	}
	keys := p.driver.Keys()
	blk := p.Conv.Blocks[call.Block]
	msg := &p.Conv.Messages[call.Message]
	switch {
	case blk.Span == msg.Span: // an item
		ok := p.dropMessage(call.Message)
		// Reasoning that led to nothing else goes with it.
		for k := call.Message - 1; ok && p.strip && k >= 0; k-- {
			m := &p.Conv.Messages[k]
			if m.BlockLo == m.BlockHi || p.Conv.Blocks[m.BlockLo].Kind != transcript.BlockReasoning || p.followed(call.Message) {
				break
			}
			p.dropMessage(k)
		}
		return ok
	case keys.Calls == "":
		return p.takeBlock(call.Block)
	}
	v := p.value(call.Message)
	calls := v.Get(keys.Calls)
	if calls.Kind() == transcript.Object && calls.Span().Contains(blk.Span) {
		return false // a map of calls is left alone
	}
	if calls.Kind() != transcript.Array || !calls.Span().Contains(blk.Span) {
		// A single call outside of a list: the member goes.
		if p.hollow(call.Message, map[int32]bool{call.Block: true}) {
			return p.dropMessage(call.Message)
		}
		p.removeMember(v, blk.Span)
		return true
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
	if left > 0 {
		p.list(calls.Span().Start, calls.Span()).remove(blk.Span)
		return true
	}
	delete(p.lists, calls.Span().Start)
	if p.hollow(call.Message, taken) {
		return p.dropMessage(call.Message)
	}
	p.removeMember(v, calls.Span())
	return true
}

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
	ok := true
	for m := range p.Conv.Messages {
		if p.Conv.Messages[m].Turn == turn {
			ok = p.dropMessage(int32(m)) && ok
		}
	}
	for i, x := range p.Pairing.Calls {
		if p.Conv.Messages[p.Conv.Calls[i].Message].Turn == turn && x.Result >= 0 {
			ok = p.dropBlock(p.Conv.Results[x.Result].Block) && ok
		}
	}
	return ok
}

// textResult keeps the payload of a result as text.
func (p *Plan) textResult(r int32) bool {
	res := &p.Conv.Results[r]
	if p.foreign(res.Message) {
		return false
	}
	keys := p.driver.Keys()
	raw := `""`
	if !res.Payload.IsZero() {
		raw = string(p.text(res.Payload))
	}
	if !strings.HasPrefix(raw, `"`) {
		raw = quote(raw)
	}
	blk := p.Conv.Blocks[res.Block]
	fields := []dialect.Field{{Key: "role", Raw: `"user"`}, {Key: keys.Content, Raw: raw}}
	if p.blockwise() {
		fields = []dialect.Field{{Key: keys.Type, Raw: `"text"`}, {Key: keys.Text, Raw: raw}}
	} else if !p.alone(res.Message) {
		return false
	}
	text, err := build(fields)
	if err != nil {
		p.err = err
		return false
	}
	p.set(blk.Span, string(render(text, styleOf(p.at(blk.Span)), 0)))
	return true
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
		p.sets = append(p.sets, transcript.Edit{Span: cut})
	}
}

// callsLast puts the calls of a message behind its other blocks.
func (p *Plan) callsLast(m int32) {
	msg := &p.Conv.Messages[m]
	l := p.contents(m)
	last := int32(-1) // the last block that is no call
	for b := msg.BlockLo; b < msg.BlockHi; b++ {
		if p.Conv.Blocks[b].Kind != transcript.BlockCall {
			last = b
		}
	}
	if l == nil || last < 0 {
		return
	}
	for b := msg.BlockLo; b < last; b++ {
		if blk := &p.Conv.Blocks[b]; blk.Kind == transcript.BlockCall {
			l.remove(blk.Span)
			l.after(p.Conv.Blocks[last].Span, p.text(blk.Span))
		}
	}
}

// splitMessage puts what is no result into a message of its own.
func (p *Plan) splitMessage(op *operation.Operation) bool {
	if len(op.Messages) == 0 {
		return false
	}
	m := op.Messages[0]
	msg := &p.Conv.Messages[m]
	h := p.holder(m)
	if h == nil || p.contents(m) == nil {
		return false
	}
	var rest content
	for b := msg.BlockLo; b < msg.BlockHi; b++ {
		if blk := &p.Conv.Blocks[b]; blk.Kind != transcript.BlockResult {
			rest.add(p.text(blk.Span), true)
			p.takeBlock(b)
		}
	}
	if rest.empty() {
		return false
	}
	p.newMessage(h, m, &rest)
	return true
}

// newMessage inserts a message with a list of blocks behind another.
func (p *Plan) newMessage(h *list, behind int32, blocks *content) {
	text, err := build(p.driver.WriteMessage(blocks.json()))
	if err != nil {
		p.err = err
		return
	}
	at := transcript.NewValue(text, 0).Get(p.driver.Keys().Content).Span().Start
	h.after(p.Conv.Messages[behind].Span, render(text, p.styleNear(behind), 0, blocks.within(at)...))
}

// styleNear returns the layout of the messages around one.
func (p *Plan) styleNear(m int32) style { return styleOf(p.value(m)) }

// moveBlock moves a result to where results of its call belong, or gives a
// message of nothing but calls the role that makes calls.
func (p *Plan) moveBlock(op *operation.Operation, at func(int32) *layout) bool {
	for _, b := range op.Blocks {
		blk := &p.Conv.Blocks[b]
		msg := &p.Conv.Messages[blk.Message]
		switch blk.Kind {
		case transcript.BlockResult:
			call := p.Pairing.Results[blk.Ref].Call
			if p.Pairing.Results[blk.Ref].Fate != pairing.Answers || !p.movable(blk.Ref) {
				return false
			}
			at(p.Conv.Messages[p.Conv.Calls[call].Message].Turn).move = append(at(p.Conv.Messages[p.Conv.Calls[call].Message].Turn).move, blk.Ref)
		case transcript.BlockCall:
			for k := msg.BlockLo; k < msg.BlockHi; k++ {
				if p.Conv.Blocks[k].Kind != transcript.BlockCall {
					return false
				}
			}
			if msg.RoleLen == 0 {
				return false
			}
			p.set(msg.RoleSpan(), `"assistant"`)
		default:
			return false
		}
	}
	return true
}

// retag gives a result the type that fits its call.
func (p *Plan) retag(op *operation.Operation) bool {
	for i, r := range op.Results {
		call, res := &p.Conv.Calls[op.Calls[i]], &p.Conv.Results[r]
		keys, element := p.driver.Keys(), p.Conv.Blocks[res.Block].Span
		typ := p.driver.Retagged(call.Kind)
		v := p.at(element).Get(keys.Type)
		if typ == "" || !v.Exists() || v.Is(typ) || p.foreign(res.Message) || p.foreign(call.Message) {
			return false
		}
		p.set(v.Span(), quote(typ))
		if !res.ID.Present() && pairing.Key(call.ID) != "" {
			p.setToken(res.ID, element, keys.ResultID, call.ID.Raw)
		}
	}
	return true
}

// rename gives calls and results another id.
func (p *Plan) rename(op *operation.Operation) bool {
	if len(op.Calls) == 0 && len(op.Results) == 0 {
		return false
	}
	if op.All && p.halved(op) {
		return false // the side without an id gets one first
	}
	var old transcript.Token
	if len(op.Calls) > 0 {
		old = p.Conv.Calls[op.Calls[0]].ID
	} else {
		old = p.Conv.Results[op.Results[0]].ID
	}
	if !op.All {
		done := false
		for _, c := range op.Calls {
			if !p.behind(c) {
				continue
			}
			done = true
			id := quote(p.fresh(p.Conv.Calls[c].ID.Text(), -1))
			p.set(p.Conv.Calls[c].ID.Span, id)
			for _, r := range p.answersOf(c) {
				p.set(p.Conv.Results[r].ID.Span, id)
			}
		}
		return done
	}
	// Every use of the id, as written, becomes one new id. A partner whose id
	// is what this one becomes is no obstacle.
	partner := int32(-1)
	if len(op.Calls) > 0 {
		partner = p.Pairing.Calls[op.Calls[0]].Result
	}
	id := p.fresh(p.proper(old), partner)
	if pairing.Key(old) != "" && p.proper(old) == old.Text() && old.IsString() {
		return false
	}
	if p.Log != nil {
		p.Log.rename[old.Raw] = quote(id)
	}
	for i := range p.Conv.Calls {
		if c := &p.Conv.Calls[i]; !c.Server && c.ID.Raw == old.Raw {
			p.set(c.ID.Span, quote(id))
			if r := p.Pairing.Calls[i].Result; r >= 0 && p.Conv.Results[r].ID.Raw != old.Raw && pairing.Key(p.Conv.Results[r].ID) != id {
				p.set(p.Conv.Results[r].ID.Span, quote(id))
			}
		}
	}
	for i := range p.Conv.Results {
		if r := &p.Conv.Results[i]; !r.Server && r.ID.Raw == old.Raw {
			p.set(r.ID.Span, quote(id))
		}
	}
	return true
}

// halved reports whether a call or a result that is to be renamed has no id.
func (p *Plan) halved(op *operation.Operation) bool {
	for _, c := range op.Calls {
		if pairing.Key(p.Conv.Calls[c].ID) == "" {
			return true
		}
	}
	for _, r := range op.Results {
		if pairing.Key(p.Conv.Results[r].ID) == "" {
			return true
		}
	}
	return false
}

// proper returns the id as the profile takes it.
func (p *Plan) proper(t transcript.Token) string {
	id := strings.TrimSpace(t.Text())
	id = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || !p.Profile.IDChars.Allows(string(r)) {
			return '_'
		}
		return r
	}, id)
	if limit := p.Profile.IDMax; limit > 0 && len([]rune(id)) > limit {
		id = string([]rune(id)[:limit-9]) + "_" + hash8(t.Raw)
	}
	return id
}

func hash8(s string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(s))
	return fmt.Sprintf("%08x", h.Sum32())
}

// fresh returns an id that no call or result of the conversation has, but for
// one result.
func (p *Plan) fresh(id string, partner int32) string {
	own := ""
	if partner >= 0 {
		own = pairing.Key(p.Conv.Results[partner].ID)
	}
	used := func(id string) bool {
		n := p.taken[id]
		if id == own {
			n--
		}
		return n > 0
	}
	out := id
	for n := 2; used(out); n++ {
		out = fmt.Sprintf("%s-%d", id, n)
		if !p.Profile.IDChars.Allows("-") {
			out = fmt.Sprintf("%s%d", id, n)
		}
		if limit := p.Profile.IDMax; limit > 0 && len(out) > limit {
			out = id[:limit-9] + "_" + hash8(out)
		}
	}
	p.taken[out]++
	return out
}

// mint gives calls and their results an id where there is none.
func (p *Plan) mint(op *operation.Operation) bool {
	done := map[int32]bool{}
	keys := p.driver.Keys()
	for _, c := range op.Calls {
		if done[c] || !p.behind(c) {
			continue
		}
		done[c] = true
		call := &p.Conv.Calls[c]
		res := p.Pairing.Calls[c].Result
		// One side may have an id already: the other gets it as it is written.
		raw := ""
		switch {
		case pairing.Key(call.ID) != "":
			raw = call.ID.Raw
		case res >= 0 && pairing.Key(p.Conv.Results[res].ID) != "":
			raw = p.Conv.Results[res].ID.Raw
		default:
			h := fnv.New64a()
			fmt.Fprintf(h, "%d/%d/%s", p.Conv.Index, c, call.Name.Text())
			raw = quote(p.fresh(fmt.Sprintf("call_%012x", h.Sum64()&(1<<48-1)), -1))
		}
		if pairing.Key(call.ID) == "" {
			p.setToken(call.ID, p.Conv.Blocks[call.Block].Span, keys.ID, raw)
		}
		if res >= 0 && pairing.Key(p.Conv.Results[res].ID) == "" {
			r := &p.Conv.Results[res]
			p.setToken(r.ID, p.Conv.Blocks[r.Block].Span, keys.ResultID, raw)
		}
	}
	return len(done) > 0
}

// setToken writes a member of an element: in its place, or as the first one.
func (p *Plan) setToken(t transcript.Token, element transcript.Span, key, raw string) {
	if t.Present() {
		p.set(t.Span, raw)
		return
	}
	v := p.at(element)
	st := styleOf(v)
	var first, second, end int64
	n := 0
	for k, val := range v.Members() {
		if n == 0 {
			first, end = k.Span().Start, val.Span().End
		} else if n == 1 {
			second = k.Span().Start
			break
		}
		n++
	}
	if n == 0 && first == 0 {
		return
	}
	sep := st.comma
	if second > 0 {
		sep = p.src.text(end, second)
	}
	p.sets = append(p.sets, transcript.Edit{
		Span: transcript.Span{Start: first, End: first}, Text: []byte(quote(key) + st.colon + raw + sep),
	})
}

// index looks once at what operations ask for again and again.
func (p *Plan) index() {
	c := p.Conv
	p.taken = map[string]int{}
	for i := range c.Calls {
		p.taken[pairing.Key(c.Calls[i].ID)]++
	}
	for i := range c.Results {
		p.taken[pairing.Key(c.Results[i].ID)]++
		p.names = p.names || c.Results[i].Name.Present()
	}
	p.ends = make([]int32, c.Turns)
	for m := range c.Messages {
		msg := &c.Messages[m]
		// An item of reasoning belongs to what follows it.
		reasons := msg.Has(transcript.MessageItem) && msg.BlockLo < msg.BlockHi && c.Blocks[msg.BlockLo].Kind == transcript.BlockReasoning
		if !reasons && !msg.Has(transcript.MessageReplay) {
			p.ends[msg.Turn] = int32(m)
		}
	}
}

func quote(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}
