package repair

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A layout is the new arrangement of the results of one turn. All operations on the turn are
// laid out together, with the results in the order of their calls.
type layout struct {
	*draft
	turn    int32
	insert  []int32        // calls that get a placeholder
	comes   map[int32]bool // results that move here
	first   bool           // results go before everything else in their message
	inOrder bool           // existing results are sorted by call too
	whole   bool           // messages that contain only results move as a whole
	copies  bool           // copies are dropped, and nothing else
}

// An entry is one result of the turn, existing or new.
type entry struct {
	call int32 // the call of the turn that it answers, -1 for none
	span source.Span
	text []byte // of an entry that is written anew
	msg  int32  // the message it comes from, -1 for a placeholder
}

// insertResults adds results for calls to the layout, or returns false if none can be inserted.
func (l *layout) insertResults(do *operation.InsertResults) bool {
	for _, c := range do.Calls {
		if !l.foreign(l.Conv.Calls[c].Message) {
			l.insert = append(l.insert, c)
			l.reading(l.Conv.Calls[c].Block)
		}
	}
	return len(l.insert) > 0
}

// reorder moves the results before other content.
func (l *layout) reorder(do *operation.ReorderResults) bool {
	l.first, l.inOrder = true, l.inOrder || do.InOrder
	return l.Log == nil
}

// bring moves results to the turn, all or none.
func (l *layout) bring(results ...int32) bool {
	for _, r := range results {
		if !l.movable(r) {
			return false
		}
		if !l.comes[r] {
			put(&l.comes, r, true)
			l.reading(l.Conv.Calls[l.Pairing.Results[r].Call].Block)
		}
	}
	return len(results) > 0
}

// dropCopies drops copies of results. Nothing moves with them.
func (l *layout) dropCopies(do *operation.DropResults) bool {
	l.copies = true
	return l.dropResults(do)
}

func (l *layout) lay() bool {
	switch {
	case l.copies:
		return len(l.insert) == 0 && len(l.comes) == 0 && !l.first
	case l.Log != nil:
		return l.layRecords()
	case l.blockwise():
		return l.layBlocks()
	}
	return l.layElements()
}

// bounds returns the message after which the results of the turn belong, and the next message
// after it that carries no results.
//
// The first is the last message of the turn. If every result is new, or moves and comes before
// its call, it is the last message with a call, because the model's text after its calls is
// about the results.
func (l *layout) bounds() (last, next int32) {
	last = l.ends[l.turn]
	calling := int32(-1)
	for c := range l.calls() {
		call, r := &l.Conv.Calls[c], l.Pairing.Calls[c].Result
		if r >= 0 && (!l.comes[r] || l.Conv.Results[r].Block > call.Block) {
			calling = last
			break
		}
		calling = max(calling, call.Message)
	}
	if calling >= 0 {
		last = calling
	}
	for next = last + 1; int(next) < len(l.Conv.Messages) && l.carries(next); next++ {
	}
	return last, next
}

// calls yields the calls of the turn, those of its last message first.
func (l *layout) calls() iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for m := l.ends[l.turn]; m >= 0 && l.Conv.Messages[m].Turn == l.turn; m-- {
			for _, b := range l.blocksOf(m) {
				if b.Kind == transcript.BlockCall && !yield(b.Ref) {
					return
				}
			}
		}
	}
}

// carries reports whether a message is of the kind that carries results.
func (p *Plan) carries(m int32) bool {
	switch p.Conv.Messages[m].Role {
	case transcript.RoleTool:
		return !p.blockwise() || !p.foreign(m)
	case transcript.RoleUser:
		return p.blockwise() && !p.foreign(m) && p.Conv.Window != transcript.WindowTool
	}
	return false
}

// ours returns the call of this turn that a result answers, or answers again; -1 if it
// belongs to another turn.
func (l *layout) ours(res int32) int32 {
	x := l.Pairing.Results[res]
	if x.Fate != pairing.Answers && x.Fate != pairing.Duplicate || l.Plan.turn(x.Call) != l.turn {
		return -1
	}
	return x.Call
}

// byCall sorts entries by call. Entries of one call keep their order. An entry that answers
// no call of the turn stays after the entry before it.
func byCall(entries []entry) []entry {
	if len(entries) < 2 {
		return entries
	}
	var groups [][]entry
	for _, e := range entries {
		if e.call >= 0 || len(groups) == 0 {
			groups = append(groups, nil)
		}
		last := len(groups) - 1
		groups[last] = append(groups[last], e)
	}
	sort.SliceStable(groups, func(i, j int) bool { return groups[i][0].call < groups[j][0].call })
	return slices.Concat(groups...)
}

// place inserts new entries, which are sorted by call, each after the entries of its own
// call, or else after those of the nearest earlier call.
func place(entries, fresh []entry) []entry {
	var at []int // the indices of entries with a call, sorted by call
	for i, e := range entries {
		if e.call >= 0 {
			at = append(at, i)
		}
	}
	slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(entries[a].call, entries[b].call) })
	behind := make([][]entry, len(entries)+1) // by the number of entries before them
	for _, e := range fresh {
		n, _ := slices.BinarySearchFunc(at, e.call+1, func(i int, call int32) int { return cmp.Compare(entries[i].call, call) })
		if n > 0 {
			n = at[n-1] + 1
		}
		behind[n] = append(behind[n], e)
	}
	out := behind[0]
	for i, e := range entries {
		out = append(append(out, e), behind[i+1]...)
	}
	return out
}

// news returns the entries that move to the turn or are new, sorted by call, and removes them
// from their old places. It returns false if one cannot be moved.
func (l *layout) news() ([]entry, bool) {
	var out []entry
	for _, r := range slices.Sorted(maps.Keys(l.comes)) {
		res := &l.Conv.Results[r]
		e := entry{call: l.Pairing.Results[r].Call, msg: res.Message}
		if l.blockwise() {
			e.text = l.text(l.Conv.Blocks[res.Block].Span)
			if !l.takeBlock(res.Block) {
				return nil, false
			}
		} else {
			h := l.holder(res.Message)
			if h == nil {
				return nil, false
			}
			e.span = l.Conv.Messages[res.Message].Span()
			l.lift(h, &e)
		}
		out = append(out, e)
	}
	for _, c := range l.insert {
		if text := l.placeholder(c); text != nil {
			out = append(out, entry{call: c, text: text, msg: -1})
		}
	}
	return byCall(out), true
}

// filledIn replaces {tool} and {id} in a text by the name and the id of a call.
func filledIn(text string, name, id transcript.Token) string {
	if !strings.Contains(text, "{") {
		return text
	}
	return strings.NewReplacer("{tool}", name.Text(), "{id}", id.Text()).Replace(text)
}

// placeholderText returns the text of a placeholder for a call.
func (p *Plan) placeholderText(call *transcript.Call) string {
	return filledIn(cmp.Or(p.Placeholder, Placeholder), call.Name, call.ID)
}

// Own returns the text of a placeholder in the place of a result, as JSON; "" if that is the
// default text.
func (p *Plan) Own(result int32) string {
	call := p.Pairing.Results[result].Call
	if p.Placeholder == "" || call < 0 {
		return ""
	}
	text := source.Quote(p.placeholderText(&p.Conv.Calls[call]))
	return text[1 : len(text)-1]
}

// placeholder returns a compact result for a call, or nil if the dialect cannot write one. The
// result is a placeholder unless another record of the log repeats the real one.
func (l *layout) placeholder(c int32) []byte {
	call := &l.Conv.Calls[c]
	r := dialect.NewResult{
		Kind: call.Kind, Text: source.Quote(l.resultText(c)),
		Element: l.at(l.Conv.Blocks[call.Block].Span), Message: l.value(call.Message),
		Fresh: func() string { return derivedID(cmp.Or(l.Conv.Seed, l.Conv.Name), call.ID.Raw, int(c), false) },
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

// layElements lays out a turn whose results are separate messages.
func (l *layout) layElements() bool {
	last, next := l.bounds()
	h := l.holder(last)
	if h == nil {
		return false
	}
	var entries []entry
	for m := last + 1; m < next; m++ {
		e := entry{call: -1, span: l.Conv.Messages[m].Span(), msg: m}
		comes := false
		for _, b := range l.blocksOf(m) {
			if b.Kind == transcript.BlockResult {
				e.call = max(e.call, l.ours(b.Ref))
				comes = comes || l.comes[b.Ref]
			}
		}
		if !comes { // it may be here already, after the results of others
			entries = append(entries, e)
		}
	}
	if l.inOrder { // results of the turn that are elsewhere are lifted too
		for c := range l.calls() {
			r := l.Pairing.Calls[c].Result
			if r >= 0 && (l.Conv.Results[r].Message <= last || l.Conv.Results[r].Message >= next) && l.movable(r) {
				put(&l.comes, r, true)
			}
		}
	}
	fresh, ok := l.news()
	if !ok {
		return false
	}
	near := min(last+1, next-1) // the first result, or else the message before them
	l.put(h, l.Conv.Messages[last].Span(), place(l.sort(h, entries), fresh), styleOf(l.value(near)))
	return true
}

// sort sorts the entries of a list by call, if that is requested.
func (l *layout) sort(list *list, entries []entry) []entry {
	sorted := byCall(entries)
	if !l.inOrder || slices.EqualFunc(entries, sorted, func(a, b entry) bool { return a.call == b.call }) {
		return entries
	}
	for i := range sorted {
		if e := &sorted[i]; !e.span.IsZero() {
			l.lift(list, e)
		}
	}
	return sorted
}

// lift removes an entry from a list, so that it is written anew.
func (l *layout) lift(list *list, e *entry) {
	e.text = l.text(e.span)
	list.remove(e.span)
	e.span = source.Span{}
}

// put inserts the entries that are written anew into a list, each after the entry before it,
// and the first one after an anchor.
func (l *layout) put(h *list, anchor source.Span, entries []entry, st style) {
	for _, e := range entries {
		if !e.span.IsZero() {
			anchor = e.span
			continue
		}
		if e.msg < 0 {
			e.text = render(e.text, st, 0)
		}
		h.after(anchor, e.text)
	}
}

// layBlocks lays out a turn whose results are blocks of the next message.
func (l *layout) layBlocks() bool {
	last, next := l.bounds()
	target := last + 1
	if l.first { // results in later messages of the window move to the first one
		for m := target + 1; m < next; m++ {
			for _, b := range l.blocksOf(m) {
				if b.Kind == transcript.BlockResult && l.Pairing.Results[b.Ref].Fate == pairing.Answers && l.ours(b.Ref) >= 0 {
					put(&l.comes, b.Ref, true)
				}
			}
		}
	}
	if target == next || l.whole {
		return l.layMessage(last)
	}
	// Results that are already in the right message do not move.
	maps.DeleteFunc(l.comes, func(r int32, _ bool) bool { return l.Conv.Results[r].Message == target })
	fresh, ok := l.news()
	if !ok {
		return false
	}
	list := l.contents(target)
	if !l.content(target).First().Exists() {
		// The content is a text, null or an empty list, so there is no layout to follow.
		return l.listContent(target, contentOf(fresh), true)
	}
	var entries []entry
	other := false // a block that is not a result has been passed
	for _, b := range l.blocksOf(target) {
		if b.Kind != transcript.BlockResult {
			other = true
			continue
		}
		e := entry{call: l.ours(b.Ref), span: b.Span, msg: target}
		if l.first && other {
			l.lift(list, &e)
		}
		entries = append(entries, e)
	}
	l.put(list, source.Span{}, place(l.sort(list, entries), fresh), l.blockStyle(target))
	list.sep = list.usual() // while all blocks are still listed
	return true
}

// layMessage makes the message after a turn that carries its results. If one message contains
// exactly the results that move, it is moved as a whole, with all its fields.
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
	fresh, ok := l.news()
	return ok && len(fresh) > 0 && l.newMessage(h, last, last, contentOf(fresh))
}

// message returns the message whose blocks all move to the turn, in call order, if nothing
// else moves; -1 if there is none.
func (l *layout) message() int32 {
	m, call := int32(-1), int32(-1)
	for r := range l.comes { // any result, because all are in one message or there is none
		m = l.Conv.Results[r].Message
		break
	}
	if m < 0 || len(l.insert) > 0 || len(l.blocksOf(m)) != len(l.comes) || !l.carries(m) {
		return -1
	}
	for _, b := range l.blocksOf(m) {
		if b.Kind != transcript.BlockResult || !l.comes[b.Ref] || l.Pairing.Results[b.Ref].Call < call {
			return -1
		}
		call = l.Pairing.Results[b.Ref].Call
	}
	return m
}

// contentOf returns entries as the blocks of a message. Recorded results keep their bytes.
func contentOf(entries []entry) (blocks content) {
	for _, e := range entries {
		blocks.add(e.text, e.msg >= 0)
	}
	return blocks
}

// blockStyle returns the layout of the blocks of a message.
func (p *Plan) blockStyle(m int32) style {
	if first := p.content(m).First(); first.Kind() == source.Object {
		return styleOf(first)
	}
	st := styleOf(p.value(m))
	return style{nl: st.nl, colon: st.colon, comma: st.comma}
}

// listContent turns the content of a message, which is a text or empty, into a list with the
// given blocks before or after it.
func (d *draft) listContent(m int32, blocks content, before bool) bool {
	if len(blocks) == 0 {
		return false
	}
	if said := d.content(m); contentKind(said) == source.String {
		text := d.textBlock(m, string(said.Raw()))
		if text == nil {
			return false
		}
		at := 0
		if before {
			at = len(blocks)
		}
		blocks = slices.Insert(blocks, at, block{text: text})
	}
	st := styleOf(d.value(m))
	st.nested = true
	list, kept := blocks.json()
	d.setContent(m, string(render([]byte(list), st, 1, kept...)))
	return true
}

// setContent writes the content of a message.
func (d *draft) setContent(m int32, raw string) {
	keys := d.keys(m)
	d.setMember(transcript.TokenOf(keys.Body.Get(keys.Content), keys.Body.Span()), keys.Content, raw, false)
}
