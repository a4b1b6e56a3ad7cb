package repair

import (
	"bytes"
	"cmp"
	"slices"
	"sort"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// Placeholder is the default text of a result that is inserted for a call without one.
const Placeholder = "[toolguard] No result was recorded for this tool call; it may or may not have run."

// A Memory is what successive plans share: the part of the source that was read last, the layout of the
// objects that were made last, and room for accounts. A file can have a conversation, and so a plan, in
// every line. Only one plan at a time may use a Memory.
type Memory struct {
	window   window
	objects  builder
	accounts accounts // of the current fix
	members  []string // the keys of the members of dialect
	dialect  *dialect.Dialect
	last     source.Value // that was read last
	// fields are those of the last record that was made, and outer with its envelope.
	fields, outer []dialect.Field
	envelope      envelope // the last result of envelopeOf
	stamp         stamp    // the last result of stampOf
}

// read returns the window of a source.
func (m *Memory) read(src *source.Source) *window {
	w := &m.window
	if w.src != src {
		w.base, w.buf, w.ending = 0, w.buf[:0], ""
	}
	w.src, w.err = src, nil
	m.last = source.Value{}
	return w
}

// keysOfMembers returns the keys of the members that a dialect knows.
func (m *Memory) keysOfMembers(d *dialect.Dialect) []string {
	if m.dialect != d {
		m.dialect, m.members = d, nil
		for _, path := range d.Members {
			for alt := range path.Alternatives() {
				m.members = append(m.members, alt.Key())
			}
		}
	}
	return m.members
}

// A Plan turns operations on one conversation into fixes. A fix depends only on the source of
// the Plan and the operation.
type Plan struct {
	Source      *source.Source // the file, or the unfolded text of the conversation
	Conv        *transcript.Conversation
	Dialect     *dialect.Dialect // of the conversation
	Pairing     pairing.Pairing
	Profile     *profile.Profile
	Placeholder string // may contain {tool} and {id}
	// Known reports whether the content of a result is a placeholder.
	Known func(result int32) bool
	// Log is the session log whose records hold the messages; nil if there is none, or if the
	// messages are kept in a form that is not repaired.
	Log *Log
	// Memory may be that of earlier plans; nil is one of its own.
	*Memory

	driver  dialect.Writer // nil if nothing is written
	src     *window
	ends    []int32           // by turn: its last message
	places  []int32           // the messages sorted by place; nil if they are already in that order
	named   int32             // a result that repeats the name of its tool, -1 for none
	answers map[int32][]int32 // results by the call that they answer
	// The values of boilerplate keys are not recorded content: they give the role, the type
	// or the id of an element. The values of known keys are not recorded content if they are
	// empty. Both are nil until they are needed.
	boilerplate, known []string
	elements           []source.Value // of the message elementsOf; nil until they are needed
	elementsOf         int32
	names              *names    // new ids; nil until they are needed
	byTurn             [][]int32 // the result of messagesOf; nil until it is needed
	streak             streak    // the last result of streakOf
	values             map[int32]source.Value
	held               int64 // total size of values
}

// prepare indexes the conversation for the operations, once.
func (p *Plan) prepare() bool {
	if p.src != nil {
		return p.driver != nil
	}
	if p.Memory == nil {
		p.Memory = &Memory{}
	}
	p.src = p.read(p.Source)
	c := p.Conv
	if !c.Enveloped || p.Log != nil {
		p.driver, _ = p.Dialect.Driver.(dialect.Writer)
	}
	p.named = int32(slices.IndexFunc(c.Results, func(r transcript.Result) bool { return r.Name.Present() }))
	p.answers = map[int32][]int32{}
	for r, x := range p.Pairing.Results {
		if x.Call >= 0 {
			p.answers[x.Call] = append(p.answers[x.Call], int32(r))
		}
	}
	byPlace := func(a, b transcript.Message) int { return cmp.Compare(a.Span().Start, b.Span().Start) }
	if !slices.IsSortedFunc(c.Messages, byPlace) {
		for m := range c.Messages {
			p.places = append(p.places, int32(m))
		}
		slices.SortFunc(p.places, func(a, b int32) int { return byPlace(c.Messages[a], c.Messages[b]) })
	}
	p.ends = make([]int32, c.Turns)
	for m := range c.Messages {
		msg := &c.Messages[m]
		// An item of reasoning belongs to the item after it.
		if reasons := msg.Has(transcript.MessageItem) && p.reasons(int32(m)); !reasons && !msg.Has(transcript.MessageReplay) {
			p.ends[msg.Turn] = int32(m)
		}
	}
	return p.driver != nil
}

// Extent returns the number of bytes that must be read to carry an operation out.
func (p *Plan) Extent(op *operation.Operation) int64 {
	n := int64(1)
	calls, results := subjects(op)
	if len(calls) > 0 && calls[0] >= 0 {
		n += p.Conv.Messages[p.Conv.Calls[calls[0]].Message].Span().Len()
	}
	if len(results) > 0 && results[0] >= 0 {
		n += p.Conv.Messages[p.Conv.Results[results[0]].Message].Span().Len()
	}
	return n
}

func (p *Plan) turn(call int32) int32 { return p.Conv.Messages[p.Conv.Calls[call].Message].Turn }

// Compile returns the fix for an operation, and false if the operation cannot be carried out.
func (p *Plan) Compile(op *operation.Operation) (edit.Fix, bool, error) {
	if turn := p.LaidOut(op); turn >= 0 {
		return p.Lay(turn, []*operation.Operation{op})
	}
	if !p.prepare() || p.unsure(op) {
		return edit.Fix{}, false, nil
	}
	d, do := p.draft(), rowOf(op).do
	d.op = op
	return d.fix(do != nil && do(d, op.Do))
}

// Lay returns the fix for all operations on the results of one turn, and false if one of them
// cannot be carried out.
func (p *Plan) Lay(turn int32, ops []*operation.Operation) (edit.Fix, bool, error) {
	if !p.prepare() {
		return edit.Fix{}, false, nil
	}
	fix, ok, err := p.lay(turn, ops, false)
	merges := func(op *operation.Operation) bool { _, is := op.Do.(*operation.MergeResults); return is }
	if err != nil || ok && ClassOf(&fix) < operation.Unsafe || p.Log != nil || !p.blockwise() || slices.ContainsFunc(ops, merges) {
		return fix, ok, err
	}
	// A result that leaves other fields of its message behind would lose them, so the whole
	// message is moved.
	if whole, also, err := p.lay(turn, ops, true); err != nil || also && ClassOf(&whole) < operation.Unsafe {
		return whole, also, err
	}
	return fix, ok, nil
}

func (p *Plan) lay(turn int32, ops []*operation.Operation, whole bool) (edit.Fix, bool, error) {
	l := &layout{draft: p.draft(), turn: turn, whole: whole}
	for _, op := range ops {
		if p.unsure(op) || !rowOf(op).lay(l, op.Do) {
			return edit.Fix{}, false, nil
		}
	}
	return l.fix(l.lay())
}

// A draft is one fix in the making.
type draft struct {
	*Plan
	op       *operation.Operation // the operation that is carried out; nil in a layout
	lists    map[int64]*list
	sets     []set
	tail     []byte                   // text appended to the file: records that replace others
	replaced []set                    // the changes in the replaced records
	gone     map[int32]bool           // removed messages
	blocks   map[int32]map[int32]bool // removed blocks, by message
	kept     map[int32]bool           // messages that get a text in place of the removed blocks
	strip    bool                     // reasoning is removed with the call that it led to
	taken    []source.Span            // removed elements
	around   []source.Span            // values outside of messages in which edits are
	stays    []source.Span            // texts that stay, of which removed texts are exact copies
	reads    []source.Span
	over     []source.Span // records that are replaced by others
	changes  *chain        // changes to the records of the log; nil if there are none
	failed   bool          // the fix cannot be written as JSON
}

// A set is an edit inside an element.
type set struct {
	edit.Edit
	// plain says that it changes no recorded content: an id, a role, an ordinal, or a copy of
	// another value.
	plain bool
	// state says that the old value is the state of a call that is answered now.
	state bool
}

func (p *Plan) draft() *draft { return &draft{Plan: p} }

// put puts a value in a map, and makes the map for the first one. Most maps of a fix stay empty.
func put[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = value
}

// dropResults drops results, which may be copies of one that stays.
func (d *draft) dropResults(do *operation.DropResults) bool {
	if do.CopyOf >= 0 {
		d.copyOf(d.Conv.Results[do.CopyOf].Block, d.Conv.Results[do.Results[0]].Block)
	}
	return d.each(do.Results, d.dropResult)
}

// dropAllCalls drops calls, which may be copies of one that stays.
func (d *draft) dropAllCalls(do *operation.DropCalls) bool {
	if do.CopyOf >= 0 {
		d.copyOf(d.Conv.Calls[do.CopyOf].Block, d.Conv.Calls[do.Calls[0]].Block)
		for _, cp := range d.copiesOf(do.CopyOf) {
			d.stays = append(d.stays, cp.Block)
		}
	}
	return d.dropCalls(do.Calls, do.CopyOf < 0, d.op.Class == operation.Unsafe)
}

// dropMessages drops messages, which may be copies of one that stays.
func (d *draft) dropMessages(do *operation.DropMessages) bool {
	if do.CopyOf >= 0 {
		d.stays = append(d.stays, d.Conv.Messages[do.CopyOf].Span())
	} else if m := do.Messages[0]; m > 0 && d.Log == nil {
		d.beside(m)
	}
	return d.each(do.Messages, d.dropMessage)
}

// imageTexts replaces images by texts.
func (d *draft) imageTexts(do *operation.ImageTexts) bool {
	for i, at := range do.At {
		if !d.imageText(at, do.Texts[i]) {
			return false
		}
	}
	return len(do.At) > 0
}

// removeValue removes a field of a message. Unknown fields of a rejected value are recorded
// content all the same.
func (d *draft) removeValue(do *operation.RemoveMember) bool {
	known := true
	for k := range d.at(do.At).Members() {
		known = known && (k.Is("type") || k.Is("ttl"))
	}
	d.removeMember(d.ownerOf(do.Message, do.At), do.At, known)
	return true
}

// each applies do to all elements of a list, and reports whether it succeeded for all of
// them.
func (d *draft) each(list []int32, do func(int32) bool) bool {
	return len(list) > 0 && !slices.ContainsFunc(list, func(i int32) bool { return !do(i) })
}

// fix returns the fix of the draft, if the operation succeeded.
func (d *draft) fix(did bool) (edit.Fix, bool, error) {
	if did {
		d.prune()
		d.supersede()
	}
	var f edit.Fix
	if did && !d.failed {
		f.Edits, did = d.edits()
		f.Reads, f.Over = distinct(slices.Concat(d.reads, d.stays)), distinct(d.over)
	}
	if d.src.err != nil || !did || d.failed || slices.ContainsFunc(f.Edits, d.unsureAt) {
		return edit.Fix{}, false, d.src.err
	}
	f.Within = d.within(f.Edits)
	d.account(&f)
	if d.Conv.Unfolded != nil && !d.fold(&f) {
		return edit.Fix{}, false, nil
	}
	// In a trial, the changes to a log may not be known.
	return f, d.src.err == nil && (len(f.Edits) > 0 || d.changes != nil && d.changes.untold()), d.src.err
}

// edits returns the changes of all lists and elements in order, and false if two of them
// overlap.
func (d *draft) edits() ([]edit.Edit, bool) {
	var out []edit.Edit
	for _, l := range d.lists {
		if !d.inGone(l.array) {
			out = append(out, l.compile()...)
		}
	}
	for _, s := range d.sets {
		if !d.inGone(s.Span) {
			out = append(out, s.Edit)
		}
	}
	if d.changes != nil {
		out = append(out, d.changes.compile()...)
	}
	if len(d.tail) > 0 {
		end := d.end()
		out = append(out, edit.Edit{Span: source.Span{Start: end, End: end}, Text: d.tail})
	}
	out = slices.DeleteFunc(out, func(e edit.Edit) bool { // put back in the same place
		return e.Span.Len() == int64(len(e.Text)) && bytes.Equal(d.src.view(e.Span.Start, e.Span.End), e.Text)
	})
	return inOrder(out)
}

// inOrder sorts edits and removes duplicates, because a call and its result may share an id.
// It returns false if two edits overlap.
func inOrder(edits []edit.Edit) ([]edit.Edit, bool) {
	slices.SortStableFunc(edits, func(a, b edit.Edit) int { // insertions come before replacements
		return cmp.Or(cmp.Compare(a.Span.Start, b.Span.Start), cmp.Compare(min(1, a.Span.Len()), min(1, b.Span.Len())))
	})
	edits = slices.CompactFunc(edits, func(a, b edit.Edit) bool {
		return a.Span == b.Span && a.Span.Len() > 0 && bytes.Equal(a.Text, b.Text)
	})
	for i := 1; i < len(edits); i++ {
		if edits[i].Span.Start < edits[i-1].Span.End {
			return nil, false
		}
	}
	return edits, true
}

// inGone reports whether a span is in a removed message, so that edits in it are not needed.
func (d *draft) inGone(s source.Span) bool {
	if len(d.gone) == 0 || s.IsZero() {
		return false
	}
	m := d.messageAt(s.Start)
	return m >= 0 && d.gone[m] && d.Conv.Messages[m].Span().Contains(s)
}

// messageAt returns the message that contains an offset, -1 if there is none.
func (p *Plan) messageAt(off int64) int32 {
	byPlace := func(i int) int32 {
		if p.places == nil {
			return int32(i)
		}
		return p.places[i]
	}
	n := len(p.Conv.Messages)
	i := sort.Search(n, func(i int) bool { return p.Conv.Messages[byPlace(i)].Span().Start > off }) - 1
	if i < 0 || off >= p.Conv.Messages[byPlace(i)].Span().End {
		return -1
	}
	return byPlace(i)
}

// blockAt returns the block of message m that contains an offset, -1 if there is none or m is
// -1.
func (p *Plan) blockAt(m int32, off int64) int32 {
	if m < 0 {
		return -1
	}
	blocks := p.blocksOf(m)
	i := sort.Search(len(blocks), func(i int) bool { return blocks[i].Span.Start > off }) - 1
	if i >= 0 && off < blocks[i].Span.End {
		return p.Conv.Messages[m].BlockLo + int32(i)
	}
	return -1
}

// mostProved is the length of the longest message that is read as a whole to prove an edit
// outside its blocks. There may be very many such edits.
const mostProved = 64 << 10

// within returns the values in or between which the edits are: blocks, messages, or the
// records of a log.
func (d *draft) within(edits []edit.Edit) []source.Span {
	var out []source.Span
	for _, e := range edits {
		for _, off := range []int64{e.Span.Start, max(e.Span.Start, e.Span.End-1)} {
			m := d.messageAt(off)
			if b := d.blockAt(m, off); b >= 0 {
				out = append(out, d.Conv.Blocks[b].Span)
			} else if m >= 0 && d.Conv.Messages[m].Span().Len() <= mostProved {
				out = append(out, d.Conv.Messages[m].Span())
			}
		}
	}
	if d.changes != nil {
		out = append(out, d.changes.within...)
	}
	return append(out, d.around...)
}

// set replaces the text at a span. plain says that the text is not recorded content.
func (d *draft) set(s source.Span, text string, plain bool) {
	d.sets = append(d.sets, set{Edit: edit.Edit{Span: s, Text: []byte(text)}, plain: plain})
}

// build returns a compact object with the given fields, nil if fields is nil.
func (d *draft) build(fields []dialect.Field) []byte {
	if fields == nil {
		return nil
	}
	out, err := d.objects.build(fields)
	if err != nil {
		d.failed = true
		return nil
	}
	return out
}

// maxRead is the number of bytes of messages that are kept in memory. Operations come in
// message order, so few messages are read twice.
const maxRead = 4 << 20

// shortMessage is the length up to which searching a message is faster than building an
// index.
const shortMessage = 4 << 10

// indexCost is the approximate cost in bytes of keeping a short message, beside its text.
const indexCost = 512

// value returns the element of a message.
func (p *Plan) value(m int32) source.Value {
	if v, ok := p.values[m]; ok {
		return v
	}
	v := p.at(p.Conv.Messages[m].Span())
	switch short := v.Span().Len() <= shortMessage; {
	case short && p.Log != nil:
		return v // a part of the last record
	case !short:
		v = v.Indexed()
	}
	if p.values == nil || p.held > maxRead {
		p.values, p.held = map[int32]source.Value{}, 0
	}
	p.values[m] = v
	p.held += v.Span().Len() + indexCost
	return v
}

// keys returns the keys that are needed to change a message.
func (p *Plan) keys(m int32) dialect.WriterKeys { return p.driver.Keys(p.value(m)) }

// content returns the content field of a message.
func (p *Plan) content(m int32) source.Value {
	keys := p.keys(m)
	return keys.Body.Get(keys.Content)
}

// blocksOf returns the blocks of a message.
func (p *Plan) blocksOf(m int32) []transcript.Block {
	msg := &p.Conv.Messages[m]
	return p.Conv.Blocks[msg.BlockLo:msg.BlockHi]
}

// at returns the value at a span, none if the span is empty. The parts of a fix mostly ask for the same
// one, or for values in one record of a log.
func (p *Plan) at(s source.Span) source.Value {
	if s.Len() == 0 {
		return source.Value{}
	}
	if p.last.Exists() && p.last.Span().Contains(s) {
		return p.last.Part(s)
	}
	if p.Log != nil && p.Log.indexed {
		if n := int(p.Log.at(s.Start)); n < len(p.Log.nodes) && !p.Log.nodes[n].torn && p.Log.nodes[n].length <= mostProved {
			if whole := p.Log.nodes[n].span(); whole.Contains(s) {
				if p.last = source.ValueOf(p.src.bytes(whole.Start, whole.End), whole.Start); !p.last.Exists() {
					return p.last // it cannot be read
				}
				return p.last.Part(s)
			}
		}
	}
	v := source.NewValue(p.src.bytes(s.Start, s.End), s.Start)
	if s.Len() <= mostProved {
		p.last = v
	}
	return v
}

func (p *Plan) text(s source.Span) []byte { return p.at(s).Raw() }

// holder returns the list that contains a message, nil if there is none or if it cannot be
// changed.
func (d *draft) holder(m int32) *list { return d.listAround(d.Conv.Messages[m].Span()) }

// listAround is holder for an element at a span.
func (d *draft) listAround(at source.Span) *list {
	if d.Log != nil || d.Conv.Folded {
		return nil // such a log does not allow records to be removed or inserted
	}
	if d.Conv.Lines {
		return d.list(-1, source.Span{})
	}
	for _, s := range d.Conv.Lists {
		if s.Contains(at) {
			return d.list(s.Start, s)
		}
	}
	return nil
}

func (d *draft) list(key int64, array source.Span) *list {
	l := d.lists[key]
	if l == nil {
		l = &list{src: d.src, array: array, lines: key < 0}
		put(&d.lists, key, l)
	}
	return l
}

// contents returns the list of blocks of a message, nil if its content is not a list.
func (d *draft) contents(m int32) *list {
	v := d.content(m)
	if v.Kind() != source.Array {
		return nil
	}
	return d.list(v.Span().Start, v.Span())
}

// foreign reports whether a message is in another dialect than the conversation. Such a
// message is not changed.
func (p *Plan) foreign(m int32) bool { return p.Conv.Messages[m].Has(transcript.MessageForeign) }

// movable reports whether a result can be moved to its call.
func (p *Plan) movable(r int32) bool {
	res, call := &p.Conv.Results[r], p.Pairing.Results[r].Call
	if call < 0 || p.foreign(res.Message) || p.foreign(p.Conv.Calls[call].Message) {
		return false
	}
	if p.Log != nil {
		return p.movableRecord(r)
	}
	return p.blockwise() || p.alone(res.Message)
}

// blockwise reports whether results are blocks of a message.
func (p *Plan) blockwise() bool { return dialect.WriteMessage(p.driver, "[]", source.Value{}) != nil }

// reading notes that a fix depends on the text of some calls or results.
func (d *draft) reading(blocks ...int32) {
	for _, b := range blocks {
		d.reads = append(d.reads, d.Conv.Blocks[b].Span)
	}
}

// distinct sorts spans, and removes duplicates and spans inside others.
func distinct(spans []source.Span) []source.Span {
	slices.SortFunc(spans, func(a, b source.Span) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
	})
	out := spans[:0]
	for _, s := range spans {
		if n := len(out); n == 0 || s.Start >= out[n-1].End {
			out = append(out, s)
		}
	}
	return out
}

// callsLast moves the calls of a message after its other blocks.
func (d *draft) callsLast(m int32) bool {
	l, blocks := d.contents(m), d.blocksOf(m)
	n := len(blocks)
	for n > 0 && blocks[n-1].Kind == transcript.BlockCall {
		n--
	}
	if l == nil || n == 0 {
		return false
	}
	for _, b := range blocks[:n] {
		if b.Kind == transcript.BlockCall {
			l.remove(b.Span)
			l.after(blocks[n-1].Span, d.text(b.Span))
		}
	}
	return true
}

// splitMessage moves the results of a message into a new message before it. The other blocks
// stay.
func (d *draft) splitMessage(m int32) bool {
	h := d.holder(m)
	if h == nil || m == 0 || d.holder(m-1) != h || d.contents(m) == nil {
		return false
	}
	var results content
	for i, b := range d.blocksOf(m) {
		if b.Kind == transcript.BlockResult {
			results.add(d.text(b.Span), true)
			d.takeBlock(d.Conv.Messages[m].BlockLo + int32(i))
		}
	}
	return len(results) < len(d.blocksOf(m)) && d.newMessage(h, m-1, m, results)
}

// newMessage inserts a message with a list of blocks after another, modeled on the message
// near.
func (d *draft) newMessage(h *list, behind, near int32, blocks content) bool {
	list, kept := blocks.json()
	text := d.build(dialect.WriteMessage(d.driver, list, d.value(near)))
	if text == nil {
		return false
	}
	at := source.NewValue(text, 0).Get(d.keys(near).Content).Span().Start
	for i := range kept {
		kept[i].Start += at
		kept[i].End += at
	}
	h.after(d.Conv.Messages[behind].Span(), render(text, styleOf(d.value(near)), 0, kept...))
	return true
}

// callersRole gives a message that contains only calls the role that makes calls.
func (d *draft) callersRole(block int32) bool {
	m := d.Conv.Blocks[block].Message
	msg := &d.Conv.Messages[m]
	if msg.RoleLen == 0 || slices.ContainsFunc(d.blocksOf(m), func(b transcript.Block) bool { return b.Kind != transcript.BlockCall }) {
		return false
	}
	d.set(msg.RoleSpan(), source.Quote(d.keys(m).Assistant), true)
	return true
}

// retag gives a result the type that matches its call.
func (d *draft) retag(r, c int32) bool {
	call, res := &d.Conv.Calls[c], &d.Conv.Results[r]
	w, tagged := d.driver.(dialect.Retagger)
	if !tagged {
		return false
	}
	d.reading(call.Block)
	keys, element := d.keys(res.Message), d.Conv.Blocks[res.Block].Span
	typ := w.Retagged(res.Kind, call.Kind)
	v := d.at(element).Get(keys.Type)
	if typ == "" || !v.Exists() || v.Is(typ) || d.foreign(res.Message) || d.foreign(call.Message) {
		return false
	}
	d.set(v.Span(), source.Quote(typ), true)
	if !res.ID.Present() && pairing.Key(call.ID) != "" {
		d.setToken(res.ID, keys.ResultID, call.ID.Raw)
	}
	return true
}
