package repair

import (
	"strings"

	"github.com/toolguard/toolguard/internal/transcript"
)

// merge joins a message with the one before it. That is done only where both
// are text, or lists of blocks, and nothing else: what a message holds besides
// would be lost.
func (p *Plan) merge(m int32) bool {
	if m == 0 || p.Log != nil || p.gone[m] || p.gone[m-1] || p.holder(m) == nil || p.holder(m) != p.holder(m-1) {
		return false
	}
	if p.holds(m-1, transcript.BlockCall) && p.holds(m, transcript.BlockResult) {
		return false // a result beside its call answers nothing
	}
	prev, keys := p.keys(m-1), p.keys(m)
	if prev.Body.Span() != p.value(m-1).Span() || keys.Body.Span() != p.value(m).Span() {
		return false // what wraps it may say more
	}
	a, b := prev.Body.Get(prev.Content), keys.Body.Get(keys.Content)
	switch {
	case members(p.value(m)) == 2 && b.Exists():
	case members(p.value(m-1)) == 2 && a.Exists():
		return p.mergeInto(m, a, b)
	default:
		return false
	}
	text := func(v transcript.Value) bool { return v.Kind() == transcript.String }
	list := func(v transcript.Value) bool { return v.Kind() == transcript.Array && v.First().Exists() }
	switch {
	case text(a) && text(b):
		joined := string(a.Raw()[:len(a.Raw())-1]) + `\n\n` + string(b.Raw()[1:])
		p.set(a.Span(), joined)
	case list(a) && (list(b) || text(b) && p.blockwise()):
		var last transcript.Span
		for _, e := range a.Elements() {
			last = e.Span()
		}
		into := p.contents(m - 1)
		if list(b) {
			for _, e := range b.Elements() {
				into.after(last, e.Raw())
			}
			break
		}
		into.after(last, p.textBlock(m, b, p.blockStyle(m-1), 0))
	case text(a) && list(b) && p.blockwise():
		blocks := []string{string(p.textBlock(m-1, a, style{colon: ":"}, 0))}
		for _, e := range b.Elements() {
			blocks = append(blocks, string(e.Raw()))
		}
		st := p.styleNear(m - 1)
		st.nested = true
		compacted, err := compact([]byte("[" + strings.Join(blocks, ",") + "]"))
		if err != nil {
			return false
		}
		p.set(a.Span(), string(render(compacted, st, 1)))
	default:
		return false
	}
	return p.dropMessage(m)
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

// mergeInto puts the text a of the message before m in front of what m says, b,
// and leaves the rest of m as it is.
func (p *Plan) mergeInto(m int32, a, b transcript.Value) bool {
	if a.Kind() != transcript.String {
		return false
	}
	switch b.Kind() {
	case transcript.String:
		text := string(a.Raw())
		if len(b.Raw()) > 2 {
			text = string(a.Raw()[:len(a.Raw())-1]) + `\n\n` + string(b.Raw()[1:])
		}
		p.set(b.Span(), text)
	case transcript.Null:
		p.set(b.Span(), string(a.Raw()))
	case transcript.None:
		p.setToken(transcript.Token{Span: p.value(m).Span()}, p.keys(m).Content, string(a.Raw()))
	default:
		return false
	}
	return p.dropMessage(m - 1)
}

// textBlock returns a text of a message as a block.
func (p *Plan) textBlock(m int32, text transcript.Value, st style, depth int) []byte {
	keys := p.keys(m)
	out, err := build(keys.TextFields(string(text.Raw())))
	if err != nil && p.err == nil {
		p.err = err
	}
	return render(out, st, depth)
}
