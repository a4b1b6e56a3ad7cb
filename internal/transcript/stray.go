package transcript

import (
	"slices"

	"github.com/toolguard/toolguard/internal/source"
)

// A Stray is a member of a message that speaks of calls or results and that
// nobody read.
type Stray struct {
	Name    string
	Span    source.Span // of the value, where the name was met first
	Message int32
	N       int // how many messages have one of that name
}

// mostStrays is how many names of strays a conversation keeps. Names can be made
// up without end.
const mostStrays = 8

// A candidate is a member that is a stray unless something was read from it.
type candidate struct {
	holder, val source.Span
	key         source.Value
}

// Strays notes the strays of v, an element that was read since a mark, but for
// those that its dialect knows by name. They are members of v, or of a member that
// holds the message: what else stands in it is a block, which as a whole is known
// or is not.
func (b *Builder) Strays(since Mark, v source.Value, known []string) {
	conv := b.Conv
	for _, c := range b.candidates {
		// Almost all of them have been read, and to find that out costs least.
		if len(conv.Messages) > since.messages && !b.readFrom(since, c.val) && !slices.ContainsFunc(known, c.key.Is) && holds(v, c.holder) {
			conv.stray(c.key.Str(), c.val)
		}
	}
	b.candidates = b.candidates[:0]
}

// holds reports whether an object is v or a member of it.
func holds(v source.Value, object source.Span) bool {
	if v.Span() == object {
		return true
	}
	for _, val := range v.Members() {
		if val.Span() == object {
			return true
		}
	}
	return false
}

// stray notes a stray of the last message.
func (c *Conversation) stray(name string, at source.Span) {
	message := int32(len(c.Messages) - 1)
	c.Messages[message].Flags |= MessageStray
	for i := range c.Strays {
		if c.Strays[i].Name == name {
			c.Strays[i].N++
			return
		}
	}
	if len(c.Strays) < mostStrays {
		c.Strays = append(c.Strays, Stray{Name: name, Span: at, Message: message, N: 1})
	}
}

// readFrom reports whether something that was read since a mark stands in a value,
// or the value in it.
func (b *Builder) readFrom(since Mark, val source.Span) bool {
	in := func(s source.Span) bool { return val.Contains(s) && !s.IsZero() }
	around := func(s source.Span) bool { return in(s) || s.Contains(val) }
	for i := range b.texts {
		if in(b.texts[i].Span) {
			return true
		}
	}
	c := b.Conv
	for i := since.calls; i < len(c.Calls); i++ {
		if x := &c.Calls[i]; in(x.ID.Span) || in(x.Name.Span) || around(x.Args) {
			return true
		}
	}
	for i := since.results; i < len(c.Results); i++ {
		if x := &c.Results[i]; in(x.ID.Span) || in(x.Name.Span) || around(x.Payload) {
			return true
		}
	}
	for i := since.blocks; i < len(c.Blocks); i++ {
		if in(c.Blocks[i].Span) {
			return true
		}
	}
	for i := since.copies; i < len(c.Copies); i++ {
		if x := &c.Copies[i]; in(x.List) || in(x.Block) || in(x.ID.Span) || in(x.Name.Span) {
			return true
		}
	}
	for i := since.aliases; i < len(c.Aliases); i++ {
		if in(c.Aliases[i].ID.Span) {
			return true
		}
	}
	return false
}
