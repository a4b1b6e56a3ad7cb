package repair

import (
	"cmp"
	"slices"
	"sort"

	"github.com/toolguard/toolguard/internal/edit"

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
	Dialect     *dialect.Dialect // of the conversation
	Pairing     pairing.Pairing
	Profile     *profile.Profile
	Placeholder string // may hold {tool} and {id}
	// Log takes what concerns the records of a session log; nil elsewhere.
	Log *Log

	driver dialect.Writer
	src    *window
	lists  map[int64]*list
	sets   []edit.Edit
	tail   []byte         // what is appended to the file
	taken  map[string]int // how many calls and results have an id
	uses   map[string]uses
	free   map[string]int // by id that is wanted: the first number that makes another of it
	// Of the operations at hand: the ids that they make up, and by id that is
	// wanted the number of the last one.
	fresher map[string]bool
	next    map[string]int
	ends    []int32 // by turn: its last message
	named   int32   // a result that repeats the tool's name, -1 for none
	// answers are the results by the call that they answer.
	answers map[int32][]int32
	gone    map[int32]bool // messages that are removed
	minted  map[int32]bool // calls that get an id
	texts   map[int32]int  // by message: how many results become text
	values  map[int32]transcript.Value
	read    int64                    // bytes of them
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
	case operation.InsertResult, operation.SetState, operation.MoveResult, operation.MergeResults, operation.ReorderBlocks, operation.SplitMessage, operation.MoveBlock, operation.DropTurn, operation.TextResult:
		return phaseLayout
	case operation.SetValue, operation.RemoveMember, operation.AddMember, operation.TrimText:
		return phasePayload
	}
	return phaseRest
}

// rankOf puts the operations of one phase in order: what is removed is neither
// answered nor moved, and an id that is made up is not changed at once.
func rankOf(op *operation.Operation) int {
	switch op.Kind {
	case operation.DropCall, operation.DropResult, operation.DropTurn, operation.DropBlock, operation.DropMessage:
		return 0
	case operation.MintID:
		return 1
	}
	return 2
}

// A Done is an operation that was carried out.
type Done struct {
	*operation.Operation
	N int // how many calls or results it concerned
}

// Compile returns the edits for the first phase that the operations have
// anything for, and the operations that they carry out. An operation that
// cannot be carried out as things stand is left.
func (p *Plan) Compile(ops []*operation.Operation) (edits []edit.Edit, done []Done, err error) {
	w, ok := p.Dialect.Driver.(dialect.Writer)
	if !ok {
		return nil, nil, nil
	}
	p.driver = w
	if p.src == nil {
		p.src = &window{src: p.Source}
		p.index()
	}
	for phase := range phases {
		var batch []*operation.Operation
		for _, op := range ops {
			if phaseOf(op) == phase {
				batch = append(batch, op)
			}
		}
		if len(batch) == 0 {
			continue
		}
		p.reset()
		changes := p.Log.changes()
		asked := map[*operation.Operation]int{}
		for i, op := range batch {
			asked[op] = i
		}
		slices.SortStableFunc(batch, func(a, b *operation.Operation) int { return cmp.Compare(rankOf(a), rankOf(b)) })
		done = p.batch(batch)
		slices.SortFunc(done, func(a, b Done) int { return cmp.Compare(asked[a.Operation], asked[b.Operation]) })
		edits = p.edits()
		if p.src.err != nil {
			return nil, nil, p.src.err
		}
		if p.err != nil { // what would have to be written is no JSON
			p.err = nil
			return nil, nil, nil
		}
		if len(edits) > 0 || p.Log.changes() > changes {
			return edits, done, nil
		}
	}
	return nil, nil, nil
}

func (p *Plan) reset() {
	p.lists = map[int64]*list{}
	p.sets, p.tail = nil, nil
	p.fresher, p.next = nil, nil

	p.gone = map[int32]bool{}
	p.blocks = map[int32]map[int32]bool{}
	p.hulls = map[int32]bool{}
	p.minted = map[int32]bool{}
	p.texts = map[int32]int{}
}

// maxRead is how many bytes of messages are kept at hand, and few are read
// twice for it: operations come in the order of messages.
const maxRead = 4 << 20

// batch carries out the operations of one phase, those on one turn together.
func (p *Plan) batch(ops []*operation.Operation) (done []Done) {
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
		ok, n := true, max(len(op.Results), 1)
		switch op.Kind {
		case operation.InsertResult:
			var calls []int32
			for _, c := range op.Calls {
				if p.answerable(c) {
					calls = append(calls, c)
				}
			}
			n = len(calls)
			if ok = n > 0; ok {
				l := at(op.Turn)
				l.insert = append(l.insert, calls...)
			}
		case operation.SetState:
			n = len(op.Calls)
			ok = p.setState(op)
		case operation.MoveResult, operation.MergeResults:
			var results []int32
			for _, r := range op.Results {
				if p.movable(r) {
					results = append(results, r)
				}
			}
			n = len(results)
			if ok = n > 0; ok {
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
			ok = p.dropResults(op.Results)
		case operation.TextResult:
			for _, r := range op.Results {
				ok = p.textResult(r) && ok
			}
		case operation.DropCall:
			ok = p.dropCalls(op)
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
				res, call := &p.Conv.Results[r], &p.Conv.Calls[op.Calls[i]]
				if ok = ok && pairing.Key(call.ID) != ""; ok { // without an id it gets one first
					p.setToken(res.ID, p.keys(res.Message).ResultID, call.ID.Raw)
				}
			}
		case operation.SetValue:
			if ok = op.Text != "" && whole([]byte(op.Text)) == nil; ok {
				p.set(op.Span, op.Text)
				p.setCopies(op)
			}
		case operation.RemoveMember:
			for _, m := range op.Messages {
				p.removeMember(holding(p.value(m), op.Span), op.Span)
			}
		case operation.AddMember:
			ok = p.addMember(op)
		case operation.TrimText:
			for _, m := range op.Messages {
				ok = p.trimText(m) && ok
			}
		case operation.Retag:
			ok = p.retag(op)
		default:
			ok = false
		}
		if ok {
			done = append(done, Done{op, n})
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
func (p *Plan) edits() []edit.Edit {
	var out []edit.Edit
	keys := make([]int64, 0, len(p.lists))
	for k := range p.lists {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		out = append(out, p.lists[k].compile()...)
	}
	out = append(out, p.sets...)
	if len(p.tail) > 0 {
		end := p.Source.Size()
		out = append(out, edit.Edit{Span: transcript.Span{Start: end, End: end}, Text: p.tail})
	}
	out = disjoint(out)
	// What is put back where it stood is no edit.
	return slices.DeleteFunc(out, func(e edit.Edit) bool {
		return e.Span.Len() == int64(len(e.Text)) && p.src.text(e.Span.Start, e.Span.End) == string(e.Text)
	})
}

// disjoint puts edits in order and leaves out those that lie inside another.
func disjoint(edits []edit.Edit) []edit.Edit {
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
	p.sets = append(p.sets, edit.Edit{Span: s, Text: []byte(text)})
}

// value returns the element that a message is.
func (p *Plan) value(m int32) transcript.Value {
	if v, ok := p.values[m]; ok {
		return v
	}
	if p.values == nil || p.read > maxRead {
		p.values, p.read = map[int32]transcript.Value{}, 0
	}
	v := p.at(p.Conv.Messages[m].Span()).Indexed()
	p.values[m] = v
	p.read += v.Span().Len()
	return v
}

// keys returns what is needed to change a message.
func (p *Plan) keys(m int32) dialect.WriterKeys { return p.driver.Keys(p.value(m)) }

// at returns the value at a span.
func (p *Plan) at(s transcript.Span) transcript.Value {
	b, err := p.Source.Bytes(s)
	if err != nil && p.src.err == nil {
		p.src.err = err
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
		if s.Contains(p.Conv.Messages[m].Span()) {
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
	keys := p.keys(m)
	v := keys.Body.Get(keys.Content)
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
	if call < 0 || p.Log != nil || p.foreign(res.Message) || p.foreign(p.Conv.Calls[call].Message) || p.leaves(res.Block) || p.leaves(p.Conv.Calls[call].Block) {
		return false
	}
	return p.blockwise() || p.alone(res.Message)
}

// answerable reports whether a placeholder can be put in for a call.
func (p *Plan) answerable(c int32) bool {
	call := &p.Conv.Calls[c]
	return !p.foreign(call.Message) && !p.leaves(call.Block)
}

// leaves reports whether a block is removed by another operation.
func (p *Plan) leaves(b int32) bool {
	m := p.Conv.Blocks[b].Message
	return p.gone[m] || p.blocks[m][b]
}

// blockwise reports whether results are blocks of a message.
func (p *Plan) blockwise() bool { return p.driver.WriteMessage("[]", transcript.Value{}) != nil }

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
	text, err := build(p.driver.WriteMessage(blocks.json(), p.value(behind)))
	if err != nil {
		p.err = err
		return
	}
	at := transcript.NewValue(text, 0).Get(p.keys(behind).Content).Span().Start
	h.after(p.Conv.Messages[behind].Span(), render(text, p.styleNear(behind), 0, blocks.within(at)...))
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
			p.set(msg.RoleSpan(), transcript.Quote(p.keys(blk.Message).Assistant))
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
		keys, element := p.keys(res.Message), p.Conv.Blocks[res.Block].Span
		typ := p.driver.Retagged(res.Kind, call.Kind)
		v := p.at(element).Get(keys.Type)
		if typ == "" || !v.Exists() || v.Is(typ) || p.foreign(res.Message) || p.foreign(call.Message) {
			return false
		}
		p.set(v.Span(), transcript.Quote(typ))
		if !res.ID.Present() && pairing.Key(call.ID) != "" {
			p.setToken(res.ID, keys.ResultID, call.ID.Raw)
		}
	}
	return true
}

// index looks once at what operations ask for again and again.
func (p *Plan) index() {
	c := p.Conv
	p.named = -1
	p.taken = map[string]int{}
	for i := range c.Calls {
		p.taken[pairing.Key(c.Calls[i].ID)]++
	}
	for i := range c.Results {
		p.taken[pairing.Key(c.Results[i].ID)]++
		if p.named < 0 && c.Results[i].Name.Present() {
			p.named = int32(i)
		}
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
