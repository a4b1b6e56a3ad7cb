package transcript

import (
	"bytes"
	"hash/maphash"

	"github.com/toolguard/toolguard/internal/source"
)

// A Builder makes a Conversation out of elements read one after another. A
// dialect says what an element holds; the builder keeps the books.
type Builder struct {
	Conv *Conversation
	// Record is the index of the record that is being read, from 1.
	Record int32
	// End is where the elements end that are being read; 0 where that is not
	// known. By it the lists grow to what they will be.
	End int64
	// OnKeyFault is told of keys that stand twice in a structural object.
	OnKeyFault func(KeyFault)

	// OfTools reports whether a key of a structural object speaks of calls or
	// results, if its dialect does not read it; nil where nobody asks.
	OfTools func(key source.Value) bool
	// MarksCache reports whether a key of a structural object is that of a mark for the
	// prompt cache; nil where nobody asks.
	MarksCache func(key source.Value) bool
	// Marked is set when such a key is met.
	Marked bool
	// Shared is what the builders of one source share, if they have the same OfTools and
	// MarksCache. A builder without one makes its own.
	Shared *Shared

	// candidates are such members of the element that is being read.
	candidates []candidate
	// reads are the spans from which its dialect has read something.
	reads []read
	// names are the names of turns, and named, by the number of a name, the
	// turns.
	names source.Index
	named []int32
	seed  maphash.Seed

	// texts are the blocks of a message that is only text so far.
	texts []Block
}

// NewBuilder returns a builder of c.
func NewBuilder(c *Conversation) *Builder { return &Builder{Conv: c} }

// Again makes the builder ready for another conversation, which takes the place of the
// one before, in the same room.
func (b *Builder) Again() {
	c := b.Conv
	clear(c.Unread)
	clear(c.Strays)
	clear(c.Calls)
	clear(c.Results)
	clear(c.Copies)
	clear(c.Aliases)
	*c = Conversation{
		Unread: c.Unread[:0], Strays: c.Strays[:0], Lists: c.Lists[:0], Messages: c.Messages[:0], Blocks: c.Blocks[:0],
		Calls: c.Calls[:0], Results: c.Results[:0], Copies: c.Copies[:0], Aliases: c.Aliases[:0],
	}
	*b = Builder{
		Conv: c, End: b.End, OnKeyFault: b.OnKeyFault, OfTools: b.OfTools, MarksCache: b.MarksCache, Shared: b.Shared,
		candidates: b.candidates[:0], reads: b.reads[:0], named: b.named[:0], texts: b.texts[:0],
	}
}

// Begin starts a message. turn is what the elements of one turn share, such as
// a message id; an empty one starts a turn of its own.
func (b *Builder) Begin(v, role source.Value, r Role, turn string) *Message {
	c := b.Conv
	m := Message{
		start: v.Span().Start, length: uint32(v.Span().Len()),
		Record: b.Record, Role: r, BlockLo: int32(len(c.Blocks)), BlockHi: int32(len(c.Blocks)),
	}
	b.texts = b.texts[:0]
	if role.Exists() && role.Span().Start >= m.start && role.Span().Len() < 256 {
		m.RoleAt = uint32(role.Span().Start - m.start)
		m.RoleLen = uint8(role.Span().Len())
	}
	if role.Is(r.String()) {
		m.Flags |= MessagePlainRole
	}
	m.Turn = int32(c.Turns)
	if t, seen := b.turn(turn); seen {
		m.Turn = t
	} else {
		c.Turns++
	}
	c.Messages = append(room(b, c.Messages), m)
	return &c.Messages[len(c.Messages)-1]
}

// turn returns the turn of that name, and whether it has begun before.
func (b *Builder) turn(name string) (int32, bool) {
	if name == "" {
		return 0, false
	}
	if len(b.named) == 0 {
		b.seed = maphash.MakeSeed()
	}
	h := maphash.String(b.seed, name)
	if n, seen := b.names.Find(h); seen {
		return b.named[n], true
	}
	b.named = append(room(b, b.named), int32(b.Conv.Turns))
	b.names.Reserve(cap(b.named))
	b.names.Add(h)
	return 0, false
}

// room makes room for one more in a list of the conversation, and in a long
// list for as many as there will be.
func room[T any](b *Builder, list []T) []T {
	if len(list) < cap(list) || len(b.Conv.Messages) == 0 {
		return list
	}
	first, last := b.Conv.Messages[0], b.Message()
	return Room(list, last.Span().End-first.start, b.End-first.start)
}

const (
	// longList is from where on a list grows to what it will be.
	longList = 4 << 10
	// mostGrowth bounds how many times as long it becomes at once: its beginning
	// may be unlike the rest.
	mostGrowth = 64
)

// Room makes room for one more in a list that was filled from the first read of
// all the bytes of a source. A long list gets room for as many as all of them
// will hold, if they go on like that: so it is hardly ever copied, and has
// little room left over at the end.
func Room[T any](list []T, read, all int64) []T {
	if len(list) < cap(list) || len(list) < longList || read <= 0 || all <= read {
		return list
	}
	n := float64(len(list))
	expected := n * float64(all) / float64(read) * 1.04
	if expected > n*mostGrowth {
		// A step on the way, small beside the last.
		expected = min(2*expected/mostGrowth, n*mostGrowth)
	}
	return append(make([]T, 0, int(max(expected, n*9/8))), list...)
}

// SameTurn makes the message that was begun last part of the turn before it.
func (b *Builder) SameTurn() {
	c := b.Conv
	n := len(c.Messages)
	if n < 2 || c.Messages[n-1].Turn != int32(c.Turns)-1 || c.Messages[n-2].Turn == c.Messages[n-1].Turn {
		return
	}
	c.Turns--
	c.Messages[n-1].Turn = c.Messages[n-2].Turn
	if last := len(b.named) - 1; last >= 0 && b.named[last] == int32(c.Turns) {
		b.named[last] = c.Messages[n-2].Turn // more of that name may come
	}
}

// Message returns the message that was begun last.
func (b *Builder) Message() *Message { return &b.Conv.Messages[len(b.Conv.Messages)-1] }

// Text returns where the first block of text of the message stands that was
// begun last.
func (b *Builder) Text() (source.Span, bool) {
	m := b.Message()
	if m.Has(MessageText) {
		return b.texts[0].Span, true
	}
	for _, blk := range b.Conv.Blocks[m.BlockLo:m.BlockHi] {
		if blk.Kind == BlockText {
			return blk.Span, true
		}
	}
	return source.Span{}, false
}

// Block adds a block to the message.
func (b *Builder) Block(kind BlockKind, v source.Value, flags BlockFlags) {
	b.block(kind, v, 0, flags)
}

func (b *Builder) block(kind BlockKind, v source.Value, ref int, flags BlockFlags) {
	c, m := b.Conv, b.Message()
	blk := Block{Span: v.Span(), Message: int32(len(c.Messages) - 1), Ref: int32(ref), Kind: kind, Flags: flags}
	if kind == BlockText && flags == 0 && m.BlockLo == m.BlockHi {
		b.texts = append(b.texts, blk)
		m.Flags |= MessageText
		return
	}
	b.settleText(m)
	c.Blocks = append(room(b, c.Blocks), blk)
	m.BlockHi = int32(len(c.Blocks))
}

// settleText gives a message that turns out to be more than text the blocks
// that it went without.
func (b *Builder) settleText(m *Message) {
	if !m.Has(MessageText) {
		return
	}
	m.Flags &^= MessageText
	b.Conv.Blocks = append(b.Conv.Blocks, b.texts...)
	m.BlockHi = int32(len(b.Conv.Blocks))
}

// Call adds a call, and the block that v is.
func (b *Builder) Call(v source.Value, call Call, flags BlockFlags) {
	c := b.Conv
	kind := BlockCall
	if call.Answer.ByProvider() {
		kind = BlockServerCall
	}
	b.block(kind, v, len(c.Calls), flags)
	call.Message = int32(len(c.Messages) - 1)
	call.Block = int32(len(c.Blocks) - 1)
	c.Calls = append(room(b, c.Calls), call)
}

// Result adds a result, and the block that v is.
func (b *Builder) Result(v source.Value, res Result) {
	c := b.Conv
	kind := BlockResult
	if res.Answer.ByProvider() {
		kind = BlockServerResult
	}
	b.block(kind, v, len(c.Results), 0)
	res.Message = int32(len(c.Messages) - 1)
	res.Block = int32(len(c.Blocks) - 1)
	c.Results = append(room(b, c.Results), res)
}

// Combined adds a call whose record v holds its result too, once it has one. What
// the provider has answered has no result that counts.
func (b *Builder) Combined(v source.Value, call Call, res *Result) {
	b.Call(v, call, 0)
	if res == nil || call.Answer != AnswerOwnRecord {
		return
	}
	res.Answer = AnswerOwnRecord
	c := b.Conv
	made := &c.Calls[len(c.Calls)-1]
	res.Message, res.Block = made.Message, made.Block
	c.Results = append(room(b, c.Results), *res)
}

// Fields fills out with the values of the named members of a structural
// object, None for those it has not, the first where a key stands twice. It
// reports doubled keys.
func (b *Builder) Fields(v source.Value, keys []string, out []source.Value) {
	clear(out)
	for m := b.Members(v, nil); m.Next(); {
		for i, key := range keys {
			if !out[i].Exists() && m.Key().Is(key) {
				out[i] = *m.Value()
				break
			}
		}
	}
}

// shared returns what the builder shares.
func (b *Builder) shared() *Shared {
	if b.Shared == nil {
		b.Shared = &Shared{}
	}
	return b.Shared
}

// Decoded returns what the inside of a JSON string says. It is good until the next
// call, and must not be changed.
func (b *Builder) Decoded(inside []byte) []byte {
	if bytes.IndexByte(inside, '\\') < 0 {
		return inside
	}
	sh := b.shared()
	sh.text = source.AppendUnescaped(sh.text[:0], inside)
	if cap(sh.text) > mostDecoded {
		text := sh.text
		sh.text = nil
		return text
	}
	return sh.text
}

// mostDecoded bounds the room for decoded texts that is kept for the next.
const mostDecoded = 1 << 20

// Valid reports whether text is one JSON value, and where it stops being one.
func (b *Builder) Valid(text []byte) (at int, ok bool) {
	sh := b.shared()
	if sh.scanner == nil {
		sh.scanner = source.NewScanner()
	}
	s := sh.scanner.Scan(text, 0, source.Strict)
	if s.Kind != source.FaultNone {
		return s.At, false
	}
	end := source.SkipBlank(text, s.End)
	return end, end == len(text)
}
