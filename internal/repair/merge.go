package repair

import (
	"github.com/toolguard/toolguard/internal/transcript"
)

// merge joins a message with the one before it: the content of the one that says
// nothing besides goes into the other. The other names no speaker of its own, and
// loses nothing.
func (d *draft) merge(m int32) bool {
	if m == 0 || d.holder(m) == nil || d.holder(m) != d.holder(m-1) {
		return false
	}
	if d.holds(m-1, transcript.BlockCall) && d.holds(m, transcript.BlockResult) {
		return false // a result beside its call answers nothing
	}
	into, from := m-1, m
	if !d.bare(from) {
		into, from = from, into
	}
	if !d.bare(from) || d.namesSpeaker(into) {
		return false
	}
	keys := d.keys(into)
	if keys.Body.Span() != d.value(into).Span() {
		return false // what wraps it may say more
	}
	there, comes := keys.Body.Get(keys.Content), d.value(from).Get(d.keys(from).Content)
	if !d.join(into, from, there, comes) {
		return false
	}
	d.beside(m) // nothing else comes between the two
	return d.dropMessage(from)
}

// beside notes that a fix is made for what a message and the one before it are to
// each other.
func (d *draft) beside(m int32) {
	a, b := d.Conv.Messages[m-1].Span(), d.Conv.Messages[m].Span()
	d.over = append(d.over, transcript.Span{Start: min(a.Start, b.Start), End: max(a.End, b.End)})
}

// bare reports whether a message has a role and a content, and says nothing else.
func (p *Plan) bare(m int32) bool {
	keys := p.keys(m)
	role := p.Conv.Messages[m].RoleSpan()
	if keys.Body.Span() != p.value(m).Span() {
		return false // what wraps it may say more
	}
	for k, v := range keys.Body.Members() {
		if v.Span() != role && !k.Is(keys.Content) && v.Kind() != transcript.Null {
			return false
		}
	}
	return keys.Body.Get(keys.Content).Exists()
}

// namesSpeaker reports whether a message names its speaker beside the role: what somebody
// else said is not to be put in their mouth.
func (p *Plan) namesSpeaker(m int32) bool {
	name := p.keys(m).Body.Get("name")
	return name.Exists() && name.Kind() != transcript.Null
}

// join puts the content of a message before or behind that of its neighbour.
func (d *draft) join(into, from int32, there, comes transcript.Value) bool {
	before := from < into
	switch a, b := contentKind(there), contentKind(comes); {
	case b == transcript.None:
	case a != transcript.Array && b == transcript.String:
		d.joinTexts(into, there, comes, before)
	case a == transcript.Array && b == transcript.Array:
		d.joinBlocks(into, comes, before)
	case !d.blockwise():
		return false // a list and a text side by side
	case a == transcript.Array && b == transcript.String:
		block := d.build(d.textBlock(from, comes))
		if block == nil {
			return false
		}
		l := d.contents(into)
		l.after(edge(there, before), render(block, d.blockStyle(into), 0))
	case b == transcript.Array:
		return d.intoBlocks(into, there, comes, before)
	default:
		return false
	}
	return true
}

// contentKind returns String for a text and Array for a list that holds something,
// and None for what holds nothing. Anything else is neither.
func contentKind(v transcript.Value) transcript.Kind {
	switch v.Kind() {
	case transcript.String:
		if len(v.Raw()) == 2 {
			return transcript.None
		}
	case transcript.Array:
		if !v.First().Exists() {
			return transcript.None
		}
	case transcript.Null:
		return transcript.None
	}
	return v.Kind()
}

// edge returns the element of a list behind which something goes: none for the
// front, else the last.
func edge(list transcript.Value, front bool) (at transcript.Span) {
	if front {
		return at
	}
	for _, e := range list.Elements() {
		at = e.Span()
	}
	return at
}

func (d *draft) joinTexts(into int32, there, comes transcript.Value, before bool) {
	text := string(comes.Raw())
	if contentKind(there) == transcript.String {
		a, b := there.Raw(), comes.Raw()
		if before {
			a, b = b, a
		}
		text = joined(string(a), string(b))
	}
	if there.Exists() {
		d.set(there.Span(), text)
	} else {
		d.setMember(transcript.Token{Span: d.value(into).Span()}, d.keys(into).Content, text, false)
	}
}

func (d *draft) joinBlocks(into int32, comes transcript.Value, before bool) {
	l := d.contents(into)
	at := edge(d.at(l.array), before)
	for _, e := range comes.Elements() {
		l.after(at, e.Raw())
	}
}

// intoBlocks makes a list of a message's text, or of nothing, with the blocks of its
// neighbour in it.
func (d *draft) intoBlocks(into int32, there, comes transcript.Value, before bool) bool {
	var blocks content
	own := func() bool {
		if contentKind(there) != transcript.String {
			return true
		}
		block := d.build(d.textBlock(into, there))
		if block != nil {
			blocks.add(block, false)
		}
		return block != nil
	}
	if !before && !own() {
		return false
	}
	for _, e := range comes.Elements() {
		blocks.add(e.Raw(), true)
	}
	if before && !own() {
		return false
	}
	st := d.styleNear(into)
	st.nested = true
	text := string(render([]byte(blocks.json()), st, 1, blocks.kept...))
	if there.Exists() {
		d.set(there.Span(), text)
	} else {
		d.setMember(transcript.Token{Span: d.value(into).Span()}, d.keys(into).Content, text, false)
	}
	return true
}

// holds reports whether a message has a block of a kind.
func (p *Plan) holds(m int32, kind transcript.BlockKind) bool {
	msg := &p.Conv.Messages[m]
	for b := msg.BlockLo; b < msg.BlockHi; b++ {
		if p.Conv.Blocks[b].Kind == kind {
			return true
		}
	}
	return false
}
