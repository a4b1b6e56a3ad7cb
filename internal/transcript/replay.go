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
	return p
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
	c.Messages = append(room(b, c.Messages), m)
	at := int32(len(c.Messages) - 1)
	for _, blk := range blocks {
		switch blk.Kind {
		case BlockCall, BlockServerCall:
			call := p.of.Calls[blk.Ref]
			source.Move(by, &call.ID.Span, &call.Name.Span, &call.Args)
			call.Message, call.Block, blk.Ref = at, int32(len(c.Blocks)), int32(len(c.Calls))
			c.Calls = append(room(b, c.Calls), call)
		case BlockResult, BlockServerResult:
			res := p.of.Results[blk.Ref]
			source.Move(by, &res.ID.Span, &res.Name.Span, &res.Payload, &res.Beside)
			res.Message, res.Block, blk.Ref = at, int32(len(c.Blocks)), int32(len(c.Results))
			c.Results = append(room(b, c.Results), res)
		}
		source.Move(by, &blk.Span)
		blk.Message = at
		c.Blocks = append(room(b, c.Blocks), blk)
	}
	return &c.Messages[at]
}
