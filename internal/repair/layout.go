package repair

import (
	"cmp"
	"slices"
	"strings"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A layout is what is to become of the results of one turn: all operations on
// it are laid out together, results in call order.
type layout struct {
	plan    *Plan
	turn    int32
	insert  []int32 // calls that get a placeholder
	move    []int32 // results that come here
	first   bool    // results go before all else in their message
	inOrder bool    // results that are here already are put in call order too
}

// An entry is one result of the turn, there already or new.
type entry struct {
	call int32 // -1 for a result that answers none of the turn's calls
	span transcript.Span
	text []byte // of a new one
	msg  int32
}

func (l *layout) lay() {
	if l.plan.Log != nil {
		l.plan.Log.lay(l.plan, l)
		return
	}
	if l.plan.blockwise() {
		l.layBlocks()
	} else {
		l.layElements()
	}
}

// bounds returns the last message of the turn, and the messages right behind
// it that carry results.
func (l *layout) bounds() (last int32, run []int32) {
	c := l.plan.Conv
	last = l.plan.ends[l.turn]
	for m := last + 1; int(m) < len(c.Messages) && l.plan.carries(&c.Messages[m]); m++ {
		run = append(run, m)
	}
	return last, run
}

// carries reports whether a message is of the kind that carries results.
func (p *Plan) carries(m *transcript.Message) bool {
	return m.Role == transcript.RoleTool && (!p.blockwise() || !m.Has(transcript.MessageForeign)) ||
		m.Role == transcript.RoleUser && p.blockwise() && p.Conv.Window != transcript.WindowTool
}

// ours returns the call of the turn that a result answers, -1 for another's.
func (l *layout) ours(res int32) int32 {
	x := l.plan.Pairing.Results[res]
	c := l.plan.Conv
	if x.Fate != pairing.Answers || c.Messages[c.Calls[x.Call].Message].Turn != l.turn {
		return -1
	}
	return x.Call
}

// placeAll puts new entries among those that are there.
func placeAll(entries, fresh []entry) []entry {
	for i := range fresh {
		if fresh[i].call < 0 || i > 0 && fresh[i].call <= fresh[i-1].call {
			for _, e := range fresh {
				entries = place(entries, e)
			}
			return entries
		}
	}
	// In the order of their calls, each goes behind the one placed before it
	// unless a result that is there belongs between.
	there := make([]int, 0, len(entries)) // those of calls, in the order of these
	for i := range entries {
		if entries[i].call >= 0 {
			there = append(there, i)
		}
	}
	slices.SortStableFunc(there, func(a, b int) int { return cmp.Compare(entries[a].call, entries[b].call) })
	behind := make([][]entry, len(entries)+1) // by the number of entries before them
	next, before := 0, 0
	for i, e := range fresh {
		for next < len(there) && entries[there[next]].call < e.call {
			next++
		}
		at, best := 0, int32(-1)
		if next > 0 {
			at, best = there[next-1]+1, entries[there[next-1]].call
		}
		if i > 0 && (fresh[i-1].call > best || fresh[i-1].call == best && before > at) {
			at = before
		}
		before = at
		behind[at] = append(behind[at], e)
	}
	out := append(make([]entry, 0, len(entries)+len(fresh)), behind[0]...)
	for i, e := range entries {
		out = append(append(out, e), behind[i+1]...)
	}
	return out
}

// place puts a new entry behind the result of the nearest call before its own.
func place(entries []entry, e entry) []entry {
	at, best := 0, int32(-1)
	for i := range entries {
		if c := entries[i].call; c >= 0 && c < e.call && c >= best {
			at, best = i+1, c
		}
	}
	entries = append(entries, entry{})
	copy(entries[at+1:], entries[at:])
	entries[at] = e
	return entries
}

// news returns the entries that come to the turn, in call order.
func (l *layout) news() []entry {
	p := l.plan
	var out []entry
	add := func(e entry) {
		i := len(out)
		for i > 0 && out[i-1].call > e.call {
			i--
		}
		out = append(out, entry{})
		copy(out[i+1:], out[i:])
		out[i] = e
	}
	for _, r := range l.move {
		res := &p.Conv.Results[r]
		call := p.Pairing.Results[r].Call
		span := p.Conv.Blocks[res.Block].Span
		if !p.blockwise() {
			span = p.Conv.Messages[res.Message].Span()
		}
		if p.gone[res.Message] {
			continue
		}
		add(entry{call: call, text: p.text(span), msg: res.Message, span: span})
	}
	for _, c := range l.insert {
		if text := p.placeholder(c); text != nil {
			add(entry{call: c, text: text, msg: -1})
		}
	}
	return out
}

// placeholderText returns the text of a placeholder for a call.
func (p *Plan) placeholderText(call *transcript.Call) string {
	text := p.Placeholder
	if text == "" {
		text = Placeholder
	}
	if strings.IndexByte(text, '{') < 0 {
		return text
	}
	return strings.NewReplacer("{tool}", call.Name.Text(), "{id}", call.ID.Text()).Replace(text)
}

// placeholder returns a result for a call, compact.
func (p *Plan) placeholder(c int32) []byte {
	call := &p.Conv.Calls[c]
	r := dialect.NewResult{
		Kind: call.Kind, Text: transcript.Quote(p.placeholderText(call)),
		Element: p.at(p.Conv.Blocks[call.Block].Span), Message: p.value(call.Message),
		Fresh: derivedID(p.Conv.Name, call.ID.Raw, int(c), false),
	}
	if p.named >= 0 {
		r.Named = p.value(p.Conv.Results[p.named].Message)
	}
	if pairing.Key(call.ID) != "" {
		r.ID = call.ID.Raw
	}
	if call.Name.IsString() {
		r.Name = call.Name.Raw
	}
	fields := p.driver.WriteResult(r)
	if fields == nil {
		return nil
	}
	out, err := build(fields)
	if err != nil && p.err == nil {
		p.err = err
	}
	return out
}

// layElements lays out a turn whose results are messages of their own.
func (l *layout) layElements() {
	p := l.plan
	last, run := l.bounds()
	h := p.holder(last)
	if h == nil {
		return
	}
	var entries []entry
	for _, m := range run {
		msg := &p.Conv.Messages[m]
		if p.gone[m] {
			continue
		}
		e := entry{call: -1, span: msg.Span(), msg: m}
		for b := msg.BlockLo; b < msg.BlockHi; b++ {
			if p.Conv.Blocks[b].Kind == transcript.BlockResult {
				e.call = max(e.call, l.ours(p.Conv.Blocks[b].Ref))
			}
		}
		entries = append(entries, e)
	}
	if l.inOrder {
		l.gather(run)
	}
	fresh := l.news()
	if l.inOrder {
		kept := entries[:0]
		for _, e := range entries {
			if e.call < 0 {
				kept = append(kept, e)
				continue
			}
			e.text = p.text(e.span)
			fresh = append(fresh, e)
		}
		entries = kept
	}
	comes := map[int32]bool{}
	for _, e := range fresh {
		comes[e.msg] = true
	}
	// It may stand in the run already, behind the results of others.
	entries = slices.DeleteFunc(entries, func(e entry) bool { return comes[e.msg] })
	placed := fresh[:0]
	for _, e := range fresh {
		if e.msg >= 0 {
			src := p.holder(e.msg)
			if src == nil {
				continue
			}
			src.remove(e.span)
			p.gone[e.msg] = true
		} else {
			near := last
			if len(run) > 0 {
				near = run[0]
			}
			e.text = render(e.text, p.styleNear(near), 0)
		}
		e.span = transcript.Span{}
		placed = append(placed, e)
	}
	entries = placeAll(entries, placed)
	anchor := p.Conv.Messages[last].Span()
	for _, e := range entries {
		if !e.span.IsZero() {
			anchor = e.span
			continue
		}
		h.after(anchor, e.text)
	}
}

// gather has the results of the turn that do not stand in a run of messages come
// there too.
func (l *layout) gather(run []int32) {
	p := l.plan
	for m := p.ends[l.turn]; m >= 0 && p.Conv.Messages[m].Turn == l.turn; m-- {
		msg := &p.Conv.Messages[m]
		for b := msg.BlockLo; b < msg.BlockHi; b++ {
			blk := &p.Conv.Blocks[b]
			if blk.Kind != transcript.BlockCall {
				continue
			}
			if r := p.Pairing.Calls[blk.Ref].Result; r >= 0 && !slices.Contains(run, p.Conv.Results[r].Message) && !l.comes(r) && p.movable(r) {
				l.move = append(l.move, r)
			}
		}
	}
}

// layBlocks lays out a turn whose results are blocks of the message behind it.
func (l *layout) layBlocks() {
	p := l.plan
	last, run := l.bounds()
	var target int32 = -1
	if len(run) > 0 {
		target = run[0]
	}
	fresh := l.news()
	if target < 0 {
		h := p.holder(last)
		if h == nil {
			return
		}
		var blocks content
		for _, e := range fresh {
			if e.msg >= 0 && !p.takeBlock(p.Conv.Results[l.resultOf(e)].Block) {
				continue
			}
			blocks.add(e.text, e.msg >= 0)
		}
		if !blocks.empty() {
			p.newMessage(h, last, &blocks)
		}
		return
	}
	msg := &p.Conv.Messages[target]
	list := p.contents(target)
	if keys := p.keys(target); !keys.Body.Get(keys.Content).First().Exists() {
		list = nil // an empty list tells no layout
	}
	var entries []entry
	other := false // a block that is no result has been passed
	for b := msg.BlockLo; b < msg.BlockHi; b++ {
		blk := &p.Conv.Blocks[b]
		if blk.Kind != transcript.BlockResult || list == nil {
			other = true
			continue
		}
		if p.blocks[target][b] {
			continue
		}
		e := entry{call: l.ours(blk.Ref), span: blk.Span, msg: target}
		if l.first && other || l.inOrder && e.call >= 0 {
			e.text = p.text(blk.Span)
			list.remove(blk.Span)
			fresh = append(fresh, e)
			continue
		}
		entries = append(entries, e)
	}
	// Results of the turn in later messages of the window come along when the
	// results are to be first.
	if l.first {
		for _, m := range run[1:] {
			mm := &p.Conv.Messages[m]
			for b := mm.BlockLo; b < mm.BlockHi; b++ {
				blk := &p.Conv.Blocks[b]
				if blk.Kind == transcript.BlockResult && l.ours(blk.Ref) >= 0 && !l.comes(blk.Ref) && p.takeBlock(b) {
					fresh = append(fresh, entry{call: l.ours(blk.Ref), text: p.text(blk.Span), msg: target, span: transcript.Span{Start: -1}})
				}
			}
		}
	}
	placed := fresh[:0]
	for _, e := range fresh {
		if e.msg >= 0 && e.msg != target {
			if !p.takeBlock(p.Conv.Results[l.resultOf(e)].Block) {
				continue
			}
		} else if e.msg == target && e.call >= 0 && e.span.Start >= 0 && l.comes(p.Pairing.Calls[e.call].Result) && !l.first {
			// It is in the right message already.
			continue
		}
		e.span = transcript.Span{}
		placed = append(placed, e)
	}
	entries = placeAll(entries, placed)
	if list == nil {
		// The content is a text, or nothing: it becomes a list.
		l.listContent(target, entries)
		return
	}
	st := p.blockStyle(target)
	anchor := transcript.Span{}
	for _, e := range entries {
		if !e.span.IsZero() {
			anchor = e.span
			continue
		}
		text := e.text
		if e.msg < 0 {
			text = render(text, st, 0)
		}
		list.after(anchor, text)
	}
	list.sep = list.usual() // while all of the blocks are at hand
}

// comes reports whether a result is moved by an operation.
func (l *layout) comes(res int32) bool { return slices.Contains(l.move, res) }

// resultOf returns the result that an entry that is moved is.
func (l *layout) resultOf(e entry) int32 { return l.plan.Pairing.Calls[e.call].Result }

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
func (l *layout) listContent(m int32, entries []entry) {
	p := l.plan
	keys := p.keys(m)
	v := keys.Body
	var blocks content
	for _, e := range entries {
		if e.text != nil {
			blocks.add(e.text, e.msg >= 0)
		}
	}
	if blocks.empty() {
		return
	}
	content := v.Get(keys.Content)
	if content.Kind() == transcript.String && len(content.Raw()) > 2 {
		text, err := build(keys.TextFields(string(content.Raw())))
		if err != nil {
			p.err = err
			return
		}
		blocks.add(text, false)
	}
	st := p.styleNear(m)
	st.nested = true
	text := string(render([]byte(blocks.json()), st, 1, blocks.kept...))
	if content.Exists() {
		p.set(content.Span(), text)
		return
	}
	p.setToken(transcript.Token{Span: v.Span()}, keys.Content, text)
}
