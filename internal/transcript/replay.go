package transcript

import (
	"slices"

	"github.com/toolguard/toolguard/internal/source"
)

// A Replay adds messages of an earlier conversation to that of a builder, without reading them again.
type Replay struct {
	of *Conversation
	to *Builder
	// names are the numbers of the names of the turns of the earlier conversation, -1 for none.
	names []int32
}

// Replay prepares an empty builder for messages of another one, which cannot be used any more. No message of
// that one may have joined the turn before it.
func (b *Builder) Replay(of *Builder) *Replay {
	p := &Replay{of: of.Conv, to: b, names: slices.Repeat([]int32{-1}, of.Conv.Turns)}
	for n, turn := range of.named {
		if turn >= 0 {
			p.names[turn] = int32(n)
		}
	}
	b.seed, b.names, b.named = of.seed, of.names, of.named
	for n := range b.named {
		b.named[n] = -1 // not in this conversation so far
	}
	c := b.Conv
	c.Messages, c.Blocks, c.Calls, c.Results = like(of.Conv.Messages), like(of.Conv.Blocks), like(of.Conv.Calls), like(of.Conv.Results)
	return p
}

// like returns an empty list with room for as many elements as another one has, and some more.
func like[T any](list []T) []T { return make([]T, 0, len(list)+len(list)/64) }

// moved returns a span that is so many bytes behind its place, if there is one.
func moved(s source.Span, by int64) source.Span {
	if s.IsZero() {
		return s
	}
	return source.Span{Start: s.Start + by, End: s.End + by}
}

// Message returns a message of the earlier conversation.
func (p *Replay) Message(i int32) *Message { return &p.of.Messages[i] }

// Add adds a message of the earlier conversation, which is so many bytes and records behind its place there.
// flags are those that it had when it was read.
func (p *Replay) Add(i int32, by int64, records int32, flags MessageFlags) *Message {
	b, c := p.to, p.to.Conv
	m := p.of.Messages[i]
	blocks := p.of.Blocks[m.BlockLo:m.BlockHi]
	name := p.names[m.Turn]
	switch {
	case name >= 0 && b.named[name] >= 0:
		m.Turn = b.named[name]
	default:
		m.Turn = int32(c.Turns)
		if c.Turns++; name >= 0 {
			b.named[name] = m.Turn
		}
	}
	m.start, m.Record, m.Flags, m.Segment = m.start+by, m.Record+records, flags, 0
	m.BlockLo, m.BlockHi = int32(len(c.Blocks)), int32(len(c.Blocks)+len(blocks))
	c.Messages = append(c.Messages, m)
	at := int32(len(c.Messages) - 1)
	for i := range blocks {
		blk := blocks[i]
		switch blk.Kind {
		case BlockCall, BlockServerCall:
			c.Calls = append(c.Calls, p.of.Calls[blk.Ref])
			blk.Ref = int32(len(c.Calls) - 1)
			call := &c.Calls[blk.Ref]
			call.ID.Span, call.Name.Span = moved(call.ID.Span, by), moved(call.Name.Span, by)
			call.Args, call.BadAt = moved(call.Args, by), moved(call.BadAt, by)
			call.Message, call.Block = at, int32(len(c.Blocks))
		case BlockResult, BlockServerResult:
			c.Results = append(c.Results, p.of.Results[blk.Ref])
			blk.Ref = int32(len(c.Results) - 1)
			res := &c.Results[blk.Ref]
			res.ID.Span, res.Name.Span = moved(res.ID.Span, by), moved(res.Name.Span, by)
			res.Payload, res.Beside = moved(res.Payload, by), moved(res.Beside, by)
			res.Message, res.Block = at, int32(len(c.Blocks))
		}
		blk.Span = moved(blk.Span, by)
		blk.Message = at
		c.Blocks = append(c.Blocks, blk)
	}
	return &c.Messages[at]
}
