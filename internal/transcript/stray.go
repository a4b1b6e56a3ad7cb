package transcript

import (
	"cmp"
	"slices"
	"sort"

	"github.com/toolguard/toolguard/internal/source"
)

// A Stray is a field of a message that is about calls or results and that no dialect has
// read.
type Stray struct {
	Name    string
	Span    source.Span // the value of the first occurrence
	Message int32
	N       int // the number of messages with such a field
}

// mostStrays limits the number of names that a conversation keeps, because a file can
// have any number of names.
const mostStrays = 8

// A candidate is a field that is a stray unless something was read from it.
type candidate struct {
	holder, key, val source.Span
}

// Strays records the strays of v, an element read since a mark, except for keys in known.
// A stray is a field of v or of a field of v that holds the message. It does not search
// blocks, because a block is either known or unknown as a whole.
func (b *Builder) Strays(since Mark, v source.Value, known []string) {
	conv := b.Conv
	if len(b.candidates) > 0 && len(conv.Messages) > since.messages {
		b.reads = b.readSince(since, b.reads[:0])
		for _, c := range b.candidates {
			// Almost all candidates have been read, and this check is the cheapest.
			if readFrom(b.reads, c.val) || !holds(v, c.holder) {
				continue
			}
			if key := v.Part(c.key); !slices.ContainsFunc(known, key.Is) {
				conv.stray(key.Str(), c.val)
			}
		}
	}
	b.candidates = b.candidates[:0]
}

// holds reports whether an object is v or the value of a field of v.
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

// stray records a stray of the last message.
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

// A read is a span that something was read from.
type read struct {
	source.Span
	// reach is the end of the arguments and payloads that start here or earlier and were
	// read completely. Before the list is sorted, it covers only this span.
	reach int64
}

// readSince appends what was read since a mark to a list and sorts it by start.
func (b *Builder) readSince(since Mark, list []read) []read {
	add := func(s source.Span, reach int64) {
		if !s.IsZero() {
			list = append(list, read{s, reach})
		}
	}
	for i := range b.texts {
		add(b.texts[i].Span, 0)
	}
	c := b.Conv
	for i := since.calls; i < len(c.Calls); i++ {
		x := &c.Calls[i]
		add(x.ID.Span, 0)
		add(x.Name.Span, 0)
		add(x.Args, x.Args.End)
	}
	for i := since.results; i < len(c.Results); i++ {
		x := &c.Results[i]
		add(x.ID.Span, 0)
		add(x.Name.Span, 0)
		add(x.Payload, x.Payload.End)
	}
	for i := since.blocks; i < len(c.Blocks); i++ {
		add(c.Blocks[i].Span, 0)
	}
	for i := since.copies; i < len(c.Copies); i++ {
		x := &c.Copies[i]
		add(x.List, 0)
		add(x.Block, 0)
		add(x.ID.Span, 0)
		add(x.Name.Span, 0)
	}
	for i := since.aliases; i < len(c.Aliases); i++ {
		add(c.Aliases[i].ID.Span, 0)
	}
	slices.SortFunc(list, func(a, b read) int { return cmp.Compare(a.Start, b.Start) })
	for i := 1; i < len(list); i++ {
		list[i].reach = max(list[i].reach, list[i-1].reach)
	}
	return list
}

// readFrom reports whether something was read from inside val, or whether a read span
// contains val.
func readFrom(list []read, val source.Span) bool {
	from := sort.Search(len(list), func(i int) bool { return list[i].Start >= val.Start })
	for i := from; i < len(list) && list[i].Start <= val.End; i++ {
		if list[i].End <= val.End || list[i].Start == val.Start && list[i].reach >= val.End {
			return true
		}
	}
	return from > 0 && list[from-1].reach >= val.End
}
