package transcript

import (
	"bytes"
	"hash/maphash"

	"github.com/toolguard/toolguard/internal/source"
)

// A Builder builds a Conversation from elements that are read one after another. A
// dialect interprets each element, and the builder keeps the indexes, turns and counts.
type Builder struct {
	Conv *Conversation
	// Record is the index of the current record, counted from 1.
	Record int32
	// End is the offset at which the elements end, or 0 if unknown. The builder uses it
	// to estimate the final length of its lists.
	End int64
	// OnKeyFault is called for keys that occur twice in a structural object.
	OnKeyFault func(KeyFault)

	// OfTools reports whether a key of a structural object that its dialect does not read
	// is about calls or results. It may be nil.
	OfTools func(key source.Value) bool
	// MarksCache reports whether a key of a structural object marks the prompt cache. It
	// may be nil.
	MarksCache func(key source.Value) bool
	// Marked is set when such a key is found.
	Marked bool
	// Shared is the state that the builders of one source share if they have the same
	// OfTools and MarksCache. A builder without it creates its own.
	Shared *Shared

	// candidates are fields of the current element for which OfTools returned true.
	candidates []candidate
	// reads are the spans that the dialect has read from.
	reads []read
	// names numbers the names of turns, and named maps such a number to the turn, or -1 if the turn has
	// not begun.
	names source.Index
	named []int32
	seed  maphash.Seed

	// texts are the blocks of a message that so far has only text.
	texts []Block
}

// NewBuilder returns a builder of c.
func NewBuilder(c *Conversation) *Builder { return &Builder{Conv: c} }

// Again prepares the builder for another conversation, which reuses the memory of the
// previous one.
func (b *Builder) Again() {
	c := b.Conv
	clear(c.Unread)
	clear(c.Strays)
	clear(c.Calls)
	clear(c.Results)
	clear(c.Copies)
	clear(c.Aliases)
	clear(c.Mentions)
	*c = Conversation{
		Unread: c.Unread[:0], Strays: c.Strays[:0], Lists: c.Lists[:0], Messages: c.Messages[:0], Blocks: c.Blocks[:0],
		Calls: c.Calls[:0], Results: c.Results[:0], Copies: c.Copies[:0], Aliases: c.Aliases[:0],
		Mentions: c.Mentions[:0],
	}
	*b = Builder{
		Conv: c, End: b.End, OnKeyFault: b.OnKeyFault, OfTools: b.OfTools, MarksCache: b.MarksCache, Shared: b.Shared,
		candidates: b.candidates[:0], reads: b.reads[:0], named: b.named[:0], texts: b.texts[:0],
	}
}

// Done forgets what only further messages would need.
func (b *Builder) Done() { b.names, b.named, b.candidates, b.reads = source.Index{}, nil, nil, nil }

// Begin starts a message. turn is what the elements of one turn share, such as a message
// id. If it is empty, the message starts a new turn.
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

// turn returns the turn with the given name, and whether it already exists.
func (b *Builder) turn(name string) (int32, bool) {
	if name == "" {
		return 0, false
	}
	if len(b.named) == 0 {
		b.seed = maphash.MakeSeed()
	}
	n, seen := b.names.Number(maphash.String(b.seed, name), b.names.Len()-1)
	switch {
	case !seen:
		b.named = append(room(b, b.named), int32(b.Conv.Turns))
		b.names.Reserve(cap(b.named))
	case b.named[n] >= 0:
		return b.named[n], true
	default: // of a replay
		b.named[n] = int32(b.Conv.Turns)
	}
	return 0, false
}

// room makes space for one more element in a list of the conversation. A long list gets
// space for the estimated final number of elements.
func room[T any](b *Builder, list []T) []T {
	if len(list) < cap(list) || len(b.Conv.Messages) == 0 {
		return list
	}
	first, last := b.Conv.Messages[0], b.Message()
	return Room(list, last.Span().End-first.start, b.End-first.start)
}

const (
	// longList is the length from which a list grows to its estimated final length.
	longList = 4 << 10
	// mostGrowth limits the factor by which a list grows at once, because its first
	// elements may not be typical.
	mostGrowth = 64
)

// Room makes space for one more element in a list that was filled from the first read of
// all bytes of a source. A long list gets space for the number of elements expected at the
// same rate. It is then rarely copied and has little unused capacity at the end.
func Room[T any](list []T, read, all int64) []T {
	if len(list) < cap(list) || len(list) < longList || read <= 0 || all <= read {
		return list
	}
	n := float64(len(list))
	expected := n * float64(all) / float64(read) * 1.04
	if expected > n*mostGrowth {
		// An intermediate step, small compared with the last one.
		expected = min(2*expected/mostGrowth, n*mostGrowth)
	}
	return append(make([]T, 0, int(max(expected, n*9/8))), list...)
}

// SameTurn makes the last message part of the turn before it.
func (b *Builder) SameTurn() {
	c := b.Conv
	n := len(c.Messages)
	if n < 2 || c.Messages[n-1].Turn != int32(c.Turns)-1 || c.Messages[n-2].Turn == c.Messages[n-1].Turn {
		return
	}
	c.Turns--
	c.Messages[n-1].Turn = c.Messages[n-2].Turn
	if last := len(b.named) - 1; last >= 0 && b.named[last] == int32(c.Turns) {
		b.named[last] = c.Messages[n-2].Turn // more messages with that name may follow
	}
}

// Message returns the last message.
func (b *Builder) Message() *Message { return &b.Conv.Messages[len(b.Conv.Messages)-1] }

// Texts returns the text blocks of the last message.
func (b *Builder) Texts() []Block {
	m := b.Message()
	if m.Has(MessageText) {
		return b.texts
	}
	var out []Block
	for _, blk := range b.Conv.Blocks[m.BlockLo:m.BlockHi] {
		if blk.Kind == BlockText {
			out = append(out, blk)
		}
	}
	return out
}

// Block adds a block to the last message.
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

// settleText adds the blocks of a message that turns out to have more than text.
func (b *Builder) settleText(m *Message) {
	if !m.Has(MessageText) {
		return
	}
	m.Flags &^= MessageText
	b.Conv.Blocks = append(b.Conv.Blocks, b.texts...)
	m.BlockHi = int32(len(b.Conv.Blocks))
}

// Call adds a call and its block v.
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

// Result adds a result and its block v.
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

// Combined adds a call whose record v also holds its result, if res is not nil. A call
// that the provider answered has no result that counts.
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

// Fields sets out to the values of the given keys in a structural object. A value is None
// if its key is absent, and the first one if the key occurs twice. It reports duplicate
// keys.
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

// shared returns the shared state of the builder.
func (b *Builder) shared() *Shared {
	if b.Shared == nil {
		b.Shared = &Shared{}
	}
	return b.Shared
}

// Decoded returns the decoded inside of a JSON string. It is valid until the next call
// and must not be changed.
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

// mostDecoded limits the size of the buffer for decoded text that is kept for reuse.
const mostDecoded = 1 << 20

// Token returns v as a token, like TokenOf. The texts of tokens are stored together, because there may be very
// many.
func (b *Builder) Token(v source.Value, owner source.Span) Token {
	if !v.Exists() {
		return Token{Span: owner}
	}
	return Token{Raw: b.shared().keep(v.Raw()), Span: v.Span()}
}

// Name is Token for a text that many tokens share.
func (b *Builder) Name(v source.Value, owner source.Span) Token {
	if !v.Exists() {
		return Token{Span: owner}
	}
	raw := v.Raw()
	known := &b.shared().known[(len(raw)+int(raw[len(raw)/2])*7)%mostKnown]
	if *known != string(raw) {
		*known = b.shared().keep(raw)
	}
	return Token{Raw: *known, Span: v.Span()}
}

// Valid reports whether text is one JSON value. If not, at is the offset of the syntax
// error.
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
