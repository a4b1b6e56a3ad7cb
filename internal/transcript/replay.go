package transcript

import (
	"slices"

	"github.com/toolguard/toolguard/internal/source"
)

// A Replay adds messages of an earlier conversation to that of a builder, without reading them again. They stay
// in the memory that they have.
type Replay struct {
	to *Builder
	// names are the numbers of the names of the turns of the earlier conversation, -1 for none.
	names    []int32
	messages moving[Message]
	blocks   moving[Block]
	calls    moving[Call]
	results  moving[Result]
}

// Replay prepares an empty builder for messages of another one, which cannot be used any more. No message of
// that one may have joined the turn before it.
func (b *Builder) Replay(of *Builder) *Replay {
	p := &Replay{to: b, names: slices.Repeat([]int32{-1}, of.Conv.Turns)}
	for n, turn := range of.named {
		if turn >= 0 {
			p.names[turn] = int32(n)
		}
	}
	b.seed, b.names, b.named = of.seed, of.names, of.named
	for n := range b.named {
		b.named[n] = -1 // not in this conversation so far
	}
	c, was := b.Conv, of.Conv
	c.Messages, c.Blocks = p.messages.begin(was.Messages), p.blocks.begin(was.Blocks)
	c.Calls, c.Results = p.calls.begin(was.Calls), p.results.begin(was.Results)
	was.Messages, was.Blocks, was.Calls, was.Results = nil, nil, nil, nil
	return p
}

// A moving is a list of the earlier conversation and the list of the new one, which begins in the same memory,
// before it. Its capacity ends where elements are that are still to be added, so whoever appends to it never
// overwrites these. Once there are more elements than that, the new list has memory of its own.
type moving[T any] struct {
	all   []T // the memory
	gap   int // how many elements of it were before those of the old list
	next  int // the first one to be added
	limit int // the capacity of the new list while it is in the memory of the old one, -1 for never
}

// begin moves the elements of a list behind a gap, and returns the list before them.
func (w *moving[T]) begin(list []T) []T {
	n := len(list)
	w.gap = n/64 + 8
	w.all, w.limit = slices.Grow(list, w.gap)[:n+w.gap], w.gap
	copy(w.all[w.gap:], w.all[:n])
	return w.all[:0:w.gap]
}

// take returns element i, which may not be before the one that was taken last, and makes its place free.
func (w *moving[T]) take(list []T, i int32) (x T, rest []T) {
	x, w.next = w.all[w.gap+int(i)], int(i)+1
	if cap(list) != w.limit { // somebody moved it
		w.limit = -1
		return x, list
	}
	w.limit = w.gap + w.next
	return x, w.all[:len(list):w.limit]
}

// moved returns a span that is so many bytes behind its place, if there is one.
func moved(s source.Span, by int64) source.Span {
	if s.IsZero() {
		return s
	}
	return source.Span{Start: s.Start + by, End: s.End + by}
}

// Messages returns the messages of the earlier conversation. Only those behind the one that was added last are
// of use.
func (p *Replay) Messages() []Message { return p.messages.all[p.messages.gap:] }

// Add adds a message of the earlier conversation that is behind the one that was added last. It is so many bytes
// and records behind its place there. flags are those that it had when it was read. It returns false if the
// message cannot be added, because its calls and results are not in the order of its blocks.
func (p *Replay) Add(i int32, by int64, records int32, flags MessageFlags) (*Message, bool) {
	b, c := p.to, p.to.Conv
	var m Message
	m, c.Messages = p.messages.take(c.Messages, i)
	lo, hi := m.BlockLo, m.BlockHi
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
	m.BlockLo, m.BlockHi = int32(len(c.Blocks)), int32(len(c.Blocks))+hi-lo
	c.Messages = append(room(b, c.Messages), m)
	at := int32(len(c.Messages) - 1)
	if lo < hi && int(lo) < p.blocks.next {
		return nil, false
	}
	for ; lo < hi; lo++ {
		var blk Block
		blk, c.Blocks = p.blocks.take(c.Blocks, lo)
		switch blk.Kind {
		case BlockCall, BlockServerCall:
			if int(blk.Ref) < p.calls.next {
				return nil, false
			}
			var call Call
			call, c.Calls = p.calls.take(c.Calls, blk.Ref)
			call.ID.Span, call.Name.Span, call.Args = moved(call.ID.Span, by), moved(call.Name.Span, by), moved(call.Args, by)
			call.Message, call.Block, blk.Ref = at, int32(len(c.Blocks)), int32(len(c.Calls))
			c.Calls = append(room(b, c.Calls), call)
		case BlockResult, BlockServerResult:
			if int(blk.Ref) < p.results.next {
				return nil, false
			}
			var res Result
			res, c.Results = p.results.take(c.Results, blk.Ref)
			res.ID.Span, res.Name.Span = moved(res.ID.Span, by), moved(res.Name.Span, by)
			res.Payload, res.Beside = moved(res.Payload, by), moved(res.Beside, by)
			res.Message, res.Block, blk.Ref = at, int32(len(c.Blocks)), int32(len(c.Results))
			c.Results = append(room(b, c.Results), res)
		}
		blk.Span = moved(blk.Span, by)
		blk.Message = at
		c.Blocks = append(room(b, c.Blocks), blk)
	}
	return &c.Messages[at], true
}
