package repair

import (
	"slices"

	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// merge joins a message with the one before it. The content of a message that has only a role
// and content moves into the other one. It names no other speaker, so nothing is lost.
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
	// A message with a name is by somebody else than the role says, so nothing is merged into
	// it.
	named := d.keys(into).Body.Get("name").Kind() > source.Null
	if named || !d.bare(from) || d.wrapped(into) || !d.join(into, from) {
		return false
	}
	d.beside(m) // nothing else comes between the two
	return d.dropMessage(from)
}

// beside notes that a fix depends on a message and the one before it.
func (d *draft) beside(m int32) {
	a, b := d.Conv.Messages[m-1].Span(), d.Conv.Messages[m].Span()
	d.over = append(d.over, source.Span{Start: min(a.Start, b.Start), End: max(a.End, b.End)})
}

// bare reports whether a message has only a role and content.
func (p *Plan) bare(m int32) bool {
	keys := p.keys(m)
	role := p.Conv.Messages[m].RoleSpan()
	for k, v := range keys.Body.Members() {
		if v.Span() != role && !k.Is(keys.Content) && v.Kind() != source.Null {
			return false
		}
	}
	return !p.wrapped(m) && p.content(m).Exists()
}

// wrapped reports whether a message is wrapped in an object, which may have other fields.
func (p *Plan) wrapped(m int32) bool { return p.keys(m).Body.Span() != p.value(m).Span() }

// join adds the content of a message before or after the content of its neighbor.
func (d *draft) join(into, from int32) bool {
	before := from < into
	there, comes := d.content(into), d.content(from)
	switch a, b := contentKind(there), contentKind(comes); {
	case b == source.None:
		return true
	case b == source.String && (a != source.Array || d.blockwise()):
		return d.say(into, string(comes.Raw()), before)
	case a == source.Array && b == source.Array:
		at := edge(there, before)
		for _, e := range comes.Elements() {
			d.contents(into).after(at, e.Raw())
		}
		return true
	case b == source.Array && d.blockwise():
		var blocks content
		for _, e := range comes.Elements() {
			blocks.add(e.Raw(), true)
		}
		return d.listContent(into, blocks, before)
	}
	return false // a list and a text cannot be joined
}

// say adds a text, given as a JSON string, before or after the content of a message.
func (d *draft) say(m int32, text string, before bool) bool {
	there := d.content(m)
	switch contentKind(there) {
	case source.Array:
		block := d.textBlock(m, text)
		if block == nil {
			return false
		}
		d.contents(m).after(edge(there, before), render(block, d.blockStyle(m), 0))
		return true
	case source.String:
		if before {
			text = joined(text, string(there.Raw()))
		} else {
			text = joined(string(there.Raw()), text)
		}
	}
	d.setContent(m, text)
	return true
}

// textBlock returns a block with a text, given as a JSON string; nil if the message cannot
// have one.
func (d *draft) textBlock(m int32, text string) []byte {
	keys := d.keys(m)
	return d.build(keys.TextFields(text))
}

// joined returns two JSON strings as one, with a blank line between them.
func joined(a, b string) string {
	if len(a) <= 2 {
		return b
	}
	return a[:len(a)-1] + `\n\n` + b[1:]
}

// contentKind returns String for a text, Array for a list that is not empty, and None for
// empty content. It returns other kinds unchanged.
func contentKind(v source.Value) source.Kind {
	if kind := v.Kind(); kind == source.Null || kind == source.Array && !v.First().Exists() || string(v.Raw()) == `""` {
		return source.None
	}
	return v.Kind()
}

// edge returns the element of a list after which new elements go: none for the front, else
// the last.
func edge(list source.Value, front bool) (at source.Span) {
	if front {
		return at
	}
	for _, e := range list.Elements() {
		at = e.Span()
	}
	return at
}

// holds reports whether a message has a block of a kind.
func (p *Plan) holds(m int32, kind transcript.BlockKind) bool {
	return slices.ContainsFunc(p.blocksOf(m), func(b transcript.Block) bool { return b.Kind == kind })
}
