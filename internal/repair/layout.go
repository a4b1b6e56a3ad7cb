package repair

import (
	"cmp"
	"slices"
	"strings"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A layout is what is to become of the results of one turn: all operations on
// it are laid out together, results in call order.
type layout struct {
	*draft
	turn    int32
	insert  []int32        // calls that get a placeholder
	move    []int32        // results that come here
	comes   map[int32]bool // the same
	first   bool           // results go before all else in their message
	inOrder bool           // results that are here already are put in call order too
	whole   bool           // messages of nothing but results come as they are
}

// An entry is one result of the turn, there already or new.
type entry struct {
	call int32 // of the turn that it answers, -1 for none
	span transcript.Span
	text []byte // of one that is written anew
	msg  int32  // that it comes from, -1 for a placeholder
	res  int32  // that comes
}

// take adds an operation to the layout, or reports that it cannot be carried out.
func (l *layout) take(op *operation.Operation) bool {
	switch do := op.Do.(type) {
	case *operation.InsertResults:
		for _, c := range do.Calls {
			if !l.foreign(l.Conv.Calls[c].Message) {
				l.insert = append(l.insert, c)
				l.reading(l.Conv.Calls[c].Block)
			}
		}
		return len(l.insert) > 0
	case *operation.MoveResults:
		return l.bring(do.Results)
	case *operation.MergeResults:
		return l.bring(do.Results)
	case *operation.MoveBlock:
		r := l.Conv.Blocks[do.Block].Ref
		return l.bring([]int32{r})
	case *operation.ReorderResults:
		l.first, l.inOrder = true, l.inOrder || do.InOrder
		return l.Log == nil
	}
	return false
}

// bring has results come to the turn, all or none.
func (l *layout) bring(results []int32) bool {
	for _, r := range results {
		if !l.movable(r) {
			return false
		}
		if !l.comes[r] {
			l.come(r)
			l.reading(l.Conv.Calls[l.Pairing.Results[r].Call].Block)
		}
	}
	return len(results) > 0
}

func (l *layout) come(r int32) {
	if l.comes == nil {
		l.comes = map[int32]bool{}
	}
	l.comes[r] = true
	l.move = append(l.move, r)
}

func (l *layout) lay() bool {
	switch {
	case l.Log != nil:
		return l.layRecords()
	case l.blockwise():
		return l.layBlocks()
	}
	return l.layElements()
}

// bounds returns the last message of the turn, and the messages right behind
// it that carry results.
func (l *layout) bounds() (last int32, run []int32) {
	c := l.Conv
	last = l.end()
	for m := last + 1; int(m) < len(c.Messages) && l.carries(&c.Messages[m]); m++ {
		run = append(run, m)
	}
	return last, run
}

// end returns the message that results of the turn are to stand behind: its last
// one. Where all of its results stand before it, that is the last one that calls:
// what the model says behind its calls it says of them.
func (l *layout) end() int32 {
	last, calling := l.ends[l.turn], int32(-1)
	for m := last; m >= 0 && l.Conv.Messages[m].Turn == l.turn; m-- {
		msg := &l.Conv.Messages[m]
		for b := msg.BlockLo; b < msg.BlockHi; b++ {
			blk := &l.Conv.Blocks[b]
			if blk.Kind != transcript.BlockCall {
				continue
			}
			r := l.Pairing.Calls[blk.Ref].Result
			if r < 0 || !l.comes[r] || l.Conv.Results[r].Block > b {
				return last
			}
			calling = max(calling, m)
		}
	}
	if calling < 0 {
		return last
	}
	return calling
}

// carries reports whether a message is of the kind that carries results.
func (p *Plan) carries(m *transcript.Message) bool {
	return m.Role == transcript.RoleTool && (!p.blockwise() || !m.Has(transcript.MessageForeign)) ||
		m.Role == transcript.RoleUser && p.blockwise() && p.Conv.Window != transcript.WindowTool
}

// ours returns the call of the turn that a result answers, or repeats the answer
// to; -1 for another's.
func (l *layout) ours(res int32) int32 {
	x := l.Pairing.Results[res]
	if x.Fate != pairing.Answers && x.Fate != pairing.Duplicate || l.Plan.turn(x.Call) != l.turn {
		return -1
	}
	return x.Call
}

// byCall puts entries in call order, those of one call as they stand. One that
// answers no call of the turn keeps to the one before it.
func byCall(entries []entry) []entry {
	type keyed struct {
		entry
		key int32
	}
	all := make([]keyed, len(entries))
	key := int32(-1)
	for i, e := range entries {
		if e.call >= 0 {
			key = e.call
		}
		all[i] = keyed{e, key}
	}
	slices.SortStableFunc(all, func(a, b keyed) int { return cmp.Compare(a.key, b.key) })
	for i := range all {
		entries[i] = all[i].entry
	}
	return entries
}

// ordered reports whether entries are in call order.
func ordered(entries []entry) bool {
	last := int32(-1)
	for _, e := range entries {
		if e.call >= 0 && e.call < last {
			return false
		}
		last = max(last, e.call)
	}
	return true
}

// place puts new entries, which are in call order, each behind those of its own
// call or else of the nearest one before it.
func place(entries, fresh []entry) []entry {
	var at []int // the entries of calls, in the order of these
	for i := range entries {
		if entries[i].call >= 0 {
			at = append(at, i)
		}
	}
	slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(entries[a].call, entries[b].call) })
	behind := make([][]entry, len(entries)+1) // by how many entries stand before
	next := 0
	for _, e := range fresh {
		for next < len(at) && entries[at[next]].call <= e.call {
			next++
		}
		n := 0
		if next > 0 {
			n = at[next-1] + 1
		}
		behind[n] = append(behind[n], e)
	}
	out := slices.Clone(behind[0])
	for i, e := range entries {
		out = append(append(out, e), behind[i+1]...)
	}
	return out
}

// news returns the entries that come to the turn, in call order.
func (l *layout) news() []entry {
	var out []entry
	slices.Sort(l.move)
	for _, r := range l.move {
		res := &l.Conv.Results[r]
		span := l.Conv.Blocks[res.Block].Span
		if !l.blockwise() {
			span = l.Conv.Messages[res.Message].Span()
		}
		out = append(out, entry{l.Pairing.Results[r].Call, span, l.text(span), res.Message, r})
	}
	for _, c := range l.insert {
		if text := l.placeholder(c); text != nil {
			out = append(out, entry{call: c, text: text, msg: -1})
		}
	}
	return byCall(out)
}

// filledIn returns a text with what it says of a call filled in.
func filledIn(text string, name, id transcript.Token) string {
	if strings.IndexByte(text, '{') < 0 {
		return text
	}
	return strings.NewReplacer("{tool}", name.Text(), "{id}", id.Text()).Replace(text)
}

// placeholderText returns the text of a placeholder for a call.
func (p *Plan) placeholderText(call *transcript.Call) string {
	text := p.Placeholder
	if text == "" {
		text = Placeholder
	}
	return filledIn(text, call.Name, call.ID)
}

// Own returns what a placeholder in the place of a result would say, as JSON writes
// it; "" where that is the usual text.
func (p *Plan) Own(result int32) string {
	call := p.Pairing.Results[result].Call
	if p.Placeholder == "" || call < 0 {
		return ""
	}
	text := transcript.Quote(p.placeholderText(&p.Conv.Calls[call]))
	return text[1 : len(text)-1]
}

// placeholder returns a result for a call, compact; nil where none can be made up.
func (l *layout) placeholder(c int32) []byte {
	call := &l.Conv.Calls[c]
	r := dialect.NewResult{
		Kind: call.Kind, Text: transcript.Quote(l.placeholderText(call)),
		Element: l.at(l.Conv.Blocks[call.Block].Span), Message: l.value(call.Message),
		Fresh: derivedID(l.Conv.Name, call.ID.Raw, int(c), false),
	}
	if l.named >= 0 {
		r.Named = l.value(l.Conv.Results[l.named].Message)
	}
	if pairing.Key(call.ID) != "" {
		r.ID = call.ID.Raw
	}
	if call.Name.IsString() {
		r.Name = call.Name.Raw
	}
	return l.build(l.driver.WriteResult(r))
}

// layElements lays out a turn whose results are messages of their own.
func (l *layout) layElements() bool {
	last, run := l.bounds()
	h := l.holder(last)
	if h == nil {
		return false
	}
	var entries []entry
	for _, m := range run {
		msg := &l.Conv.Messages[m]
		e := entry{call: -1, span: msg.Span(), msg: m}
		comes := false
		for b := msg.BlockLo; b < msg.BlockHi; b++ {
			if l.Conv.Blocks[b].Kind == transcript.BlockResult {
				e.call = max(e.call, l.ours(l.Conv.Blocks[b].Ref))
				comes = comes || l.comes[l.Conv.Blocks[b].Ref]
			}
		}
		if !comes { // it may stand in the run already, behind the results of others
			entries = append(entries, e)
		}
	}
	if l.inOrder {
		l.gather(run)
	}
	fresh := l.news()
	near := last
	if len(run) > 0 {
		near = run[0]
	}
	for i := range fresh {
		e := &fresh[i]
		if e.msg < 0 {
			e.text = render(e.text, l.styleNear(near), 0)
			continue
		}
		src := l.holder(e.msg)
		if src == nil {
			return false
		}
		src.remove(e.span)
		e.span = transcript.Span{}
	}
	l.sort(h, entries)
	l.put(h, l.Conv.Messages[last].Span(), place(entries, fresh), nil)
	return true
}

// sort puts the entries of a list in call order, where that is asked for.
func (l *layout) sort(list *list, entries []entry) {
	if !l.inOrder || ordered(entries) {
		return
	}
	for i := range entries {
		if e := &entries[i]; !e.span.IsZero() {
			e.text = l.text(e.span)
			list.remove(e.span)
			e.span = transcript.Span{}
		}
	}
	byCall(entries)
}

// put writes the entries that are written anew into a list, each behind what comes
// before it, the first behind an anchor.
func (l *layout) put(h *list, anchor transcript.Span, entries []entry, st *style) {
	for _, e := range entries {
		if !e.span.IsZero() {
			anchor = e.span
			continue
		}
		if e.msg < 0 && st != nil {
			e.text = render(e.text, *st, 0)
		}
		h.after(anchor, e.text)
	}
}

// gather has the results of the turn that do not stand in a run of messages come
// there too.
func (l *layout) gather(run []int32) {
	for m := l.ends[l.turn]; m >= 0 && l.Conv.Messages[m].Turn == l.turn; m-- {
		msg := &l.Conv.Messages[m]
		for b := msg.BlockLo; b < msg.BlockHi; b++ {
			blk := &l.Conv.Blocks[b]
			if blk.Kind != transcript.BlockCall {
				continue
			}
			if r := l.Pairing.Calls[blk.Ref].Result; r >= 0 && !slices.Contains(run, l.Conv.Results[r].Message) && !l.comes[r] && l.movable(r) {
				l.come(r)
			}
		}
	}
}

// layBlocks lays out a turn whose results are blocks of the message behind it.
func (l *layout) layBlocks() bool {
	last, run := l.bounds()
	if l.first && len(run) > 0 {
		l.along(run[1:])
	}
	if len(run) == 0 || l.whole {
		return l.layMessage(last)
	}
	target := run[0]
	msg := &l.Conv.Messages[target]
	list := l.contents(target)
	if keys := l.keys(target); !keys.Body.Get(keys.Content).First().Exists() {
		list = nil // an empty list tells no layout
	}
	var entries []entry
	other := false // a block that is no result has been passed
	for b := msg.BlockLo; b < msg.BlockHi; b++ {
		blk := &l.Conv.Blocks[b]
		switch {
		case blk.Kind != transcript.BlockResult || list == nil:
			other = true
		default:
			e := entry{call: l.ours(blk.Ref), span: blk.Span, msg: target}
			if l.first && other {
				e.text, e.span = l.text(blk.Span), transcript.Span{}
				list.remove(blk.Span)
			}
			entries = append(entries, e)
		}
	}
	// What is in the right message already does not come.
	l.move = slices.DeleteFunc(l.move, func(r int32) bool { return l.Conv.Results[r].Message == target })
	fresh, ok := l.arrivals()
	if !ok {
		return false
	}
	l.sort(list, entries)
	entries = place(entries, fresh)
	if list == nil {
		// The content is a text, or nothing: it becomes a list.
		return l.listContent(target, entries)
	}
	st := l.blockStyle(target)
	l.put(list, transcript.Span{}, entries, &st)
	list.sep = list.usual() // while all of the blocks are at hand
	return true
}

// along has the results of the turn in later messages of its window come to the
// first one.
func (l *layout) along(run []int32) {
	for _, m := range run {
		msg := &l.Conv.Messages[m]
		for b := msg.BlockLo; b < msg.BlockHi; b++ {
			blk := &l.Conv.Blocks[b]
			if blk.Kind == transcript.BlockResult && l.ours(blk.Ref) >= 0 && l.Pairing.Results[blk.Ref].Fate == pairing.Answers && !l.comes[blk.Ref] {
				l.come(blk.Ref)
			}
		}
	}
}

// arrivals returns the entries that come to the turn, taken out of where they stand.
func (l *layout) arrivals() ([]entry, bool) {
	fresh := l.news()
	for i := range fresh {
		e := &fresh[i]
		if e.msg >= 0 && !l.takeBlock(l.Conv.Results[e.res].Block) {
			return nil, false
		}
		e.span = transcript.Span{}
	}
	return fresh, true
}

// layMessage makes the message behind a turn that carries its results. A message
// of nothing but results that come is moved as it is, with all that it says of
// itself.
func (l *layout) layMessage(last int32) bool {
	h := l.holder(last)
	if h == nil {
		return false
	}
	if m := l.message(); m >= 0 && l.holder(m) != nil {
		span := l.Conv.Messages[m].Span()
		l.holder(m).remove(span)
		h.after(l.Conv.Messages[last].Span(), l.text(span))
		return true
	}
	if l.whole {
		return false
	}
	fresh, ok := l.arrivals()
	var blocks content
	for _, e := range fresh {
		blocks.add(e.text, e.msg >= 0)
	}
	return ok && !blocks.empty() && l.newMessage(h, last, &blocks)
}

// message returns the message of which every block comes to the turn, in call order,
// and nothing else does; -1 for none.
func (l *layout) message() int32 {
	if len(l.insert) > 0 || len(l.move) == 0 {
		return -1
	}
	m := l.Conv.Results[l.move[0]].Message
	msg := &l.Conv.Messages[m]
	call := int32(-1)
	for b := msg.BlockLo; b < msg.BlockHi; b++ {
		blk := &l.Conv.Blocks[b]
		if blk.Kind != transcript.BlockResult || !l.comes[blk.Ref] || l.Pairing.Results[blk.Ref].Call < call {
			return -1
		}
		call = l.Pairing.Results[blk.Ref].Call
	}
	if int(msg.BlockHi-msg.BlockLo) != len(l.move) || !l.carries(msg) {
		return -1
	}
	return m
}

// blockStyle returns the layout of the blocks of a message.
func (p *Plan) blockStyle(m int32) style {
	v := p.value(m)
	keys := p.keys(m)
	if first := keys.Body.Get(keys.Content).First(); first.Kind() == transcript.Object {
		return styleOf(first)
	}
	st := styleOf(v)
	return style{nl: st.nl, colon: st.colon, comma: st.comma}
}

// listContent makes a list of a message's content that is a text or nothing,
// with results before the text.
func (l *layout) listContent(m int32, entries []entry) bool {
	keys := l.keys(m)
	v := keys.Body
	var blocks content
	for _, e := range entries {
		if e.text != nil {
			blocks.add(e.text, e.msg >= 0)
		}
	}
	if blocks.empty() {
		return false
	}
	content := v.Get(keys.Content)
	if content.Kind() == transcript.String && len(content.Raw()) > 2 {
		text := l.build(keys.TextFields(string(content.Raw())))
		if text == nil {
			return false
		}
		blocks.add(text, false)
	}
	st := l.styleNear(m)
	st.nested = true
	text := string(render([]byte(blocks.json()), st, 1, blocks.kept...))
	if content.Exists() {
		l.set(content.Span(), text)
	} else {
		l.setMember(transcript.Token{Span: v.Span()}, keys.Content, text, false)
	}
	return true
}
