package rules

import (
	"cmp"
	"slices"
	"sort"
	"strconv"

	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// messageAt returns how a provider names a message, as a path with an index from 0: messages.2.
func (c *Context) messageAt(m int32) string { return c.elementAt(c.position(m)) }

// elementAt is messageAt for an element of the list.
func (c *Context) elementAt(position int) string {
	return c.Profile.Wire.List() + "." + strconv.Itoa(position)
}

// position returns the index of a message in its list. Elements that no dialect reads count, because
// a provider counts them too.
func (c *Context) position(m int32) int {
	if c.unread == nil && len(c.Unread) > 0 {
		c.unread = make([]int32, 0, len(c.Unread))
		for i := range c.Unread {
			if u := &c.Unread[i]; u.Listed {
				c.unread = append(c.unread, u.Before)
			}
		}
		slices.Sort(c.unread)
	}
	return int(m) + sort.Search(len(c.unread), func(i int) bool { return c.unread[i] > m })
}

// A placing is the place of a block in its message.
type placing struct {
	message, block int32
	before         int   // the blocks of its list before it
	at             int64 // what was looked for begins here
}

// Place returns the index of the message that contains a span, counted from 0, and how the
// provider names the message or the block in it: messages.2.content.1. The index is -1 if no
// message contains the span.
func (c *Context) Place(at source.Span) (index int, path string) {
	m := c.messageOf(at)
	if m < 0 {
		return -1, ""
	}
	path = c.messageAt(m)
	list := c.Profile.Wire.Blocks()
	calls := c.Profile.Wire == profile.Chat
	// The blocks before the last place are not looked at again, because a message can have very many.
	next := placing{message: m, block: c.Messages[m].BlockLo}
	if last := &c.placing; last.message == m && last.at <= at.Start && last.block > next.block {
		next = *last
	}
	sorted := true
	for next.at = at.Start; next.block < c.Messages[m].BlockHi; next.block++ {
		b := &c.Blocks[next.block]
		sorted = sorted && (next.block == c.Messages[m].BlockLo || c.Blocks[next.block-1].Span.Start <= b.Span.Start)
		if calls && b.Kind != transcript.BlockCall {
			continue
		}
		if list != "" && b.Span.Contains(at) && b.Span != c.Messages[m].Span() {
			if sorted {
				c.placing = next
			}
			return c.position(m), path + "." + list + "." + strconv.Itoa(next.before)
		}
		next.before++
	}
	return c.position(m), path
}

// messageOf returns the message that contains a span, -1 if there is none.
func (c *Context) messageOf(at source.Span) int32 {
	if c.byStart == nil && len(c.Messages) > 0 {
		c.byStart = make([]int32, len(c.Messages))
		for i := range c.byStart {
			c.byStart[i] = int32(i)
		}
		// A log can have them in another order than the conversation.
		slices.SortStableFunc(c.byStart, func(a, b int32) int {
			return cmp.Compare(c.Messages[a].Span().Start, c.Messages[b].Span().Start)
		})
	}
	n := sort.Search(len(c.byStart), func(i int) bool { return c.Messages[c.byStart[i]].Span().Start > at.Start })
	for n--; n >= 0; n-- {
		m := c.byStart[n]
		if whole := c.Messages[m].Span(); whole.Contains(at) {
			for n > 0 && c.Messages[c.byStart[n-1]].Span() == whole { // of one record
				n--
				m = c.byStart[n]
			}
			return m
		} else if whole.End <= at.Start {
			break
		}
	}
	return -1
}
