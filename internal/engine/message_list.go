package engine

import (
	"bytes"
	"slices"
	"sort"

	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A messageList knows where the messages of a conversation can be parted: they are the elements
// of one array, or the records of the file. Elements that are no messages belong to the message
// before them.
type messageList struct {
	conv *transcript.Conversation
	// after holds the end of the last opaque element after a message, by message. A message
	// without one is not in it.
	after map[int32]int64
}

// newMessageList returns the list of a conversation's messages. It returns false if there is
// none: something other than a separator is between two of them.
func newMessageList(c *checker, conv *transcript.Conversation) (*messageList, bool) {
	l := &messageList{conv: conv, after: map[int32]int64{}}
	opaque := slices.Clone(conv.Unread)
	sort.Slice(opaque, func(i, j int) bool { return bySpan(opaque[i].Span, opaque[j].Span) < 0 })
	in := source.Span{End: c.src.Size()}
	if !conv.Lines {
		if len(conv.Lists) != 1 {
			return l, len(conv.Messages) <= 1 // such as one line of JSON Lines, of which nothing is dropped
		}
		in = conv.Lists[0]
	}
	for i := range conv.Messages {
		at := conv.Messages[i].Span()
		if !in.Contains(at) {
			return nil, false
		}
		end, next := at.End, in.End
		if i+1 < len(conv.Messages) {
			next = conv.Messages[i+1].Span().Start
		} else if !conv.Lines {
			next--
		}
		if next < end {
			if next < at.Start {
				return nil, false // they are not in order
			}
			continue // both are in one element
		}
		for len(opaque) > 0 && opaque[0].Span.Start < next {
			o := opaque[0].Span
			opaque = opaque[1:]
			if o.End <= end || o.Start < at.Start { // before the first message, or a part of this one
				continue
			}
			if o.Start < end || !separates(c.bytes(source.Span{Start: end, End: o.Start}), conv.Lines, true) {
				return nil, false
			}
			end = o.End
			l.after[int32(i)] = end
		}
		if !separates(c.bytes(source.Span{Start: end, End: next}), conv.Lines, i+1 < len(conv.Messages)) {
			return nil, false
		}
	}
	return l, c.err == nil
}

// separates reports whether a text is what separates two elements, or what follows the last one.
func separates(text []byte, lines, between bool) bool {
	text = bytes.Trim(text, " \t\r\n")
	if lines || !between {
		return len(text) == 0
	}
	return string(text) == ","
}

// end returns the end of a message with the opaque elements after it.
func (l *messageList) end(i int) int64 {
	if end, is := l.after[int32(i)]; is {
		return end
	}
	return l.conv.Messages[i].Span().End
}

// extent returns the part of the text that is removed with a message if a message after it
// stays. The extents of all messages do not overlap.
func (l *messageList) extent(i int) source.Span {
	out := source.Span{Start: l.conv.Messages[i].Span().Start, End: l.end(i)}
	if i+1 < len(l.conv.Messages) {
		out.End = l.conv.Messages[i+1].Span().Start
	}
	return out
}

// run returns what to remove of a text of size bytes if the messages from first to last go.
func (l *messageList) run(first, last int, size int64) source.Span {
	out := source.Span{Start: l.conv.Messages[first].Span().Start, End: l.extent(last).End}
	switch {
	case last+1 < len(l.conv.Messages):
	case l.conv.Lines:
		out.End = size
	case first > 0:
		out.Start = l.end(first - 1)
	}
	return out
}

// tail returns how many bytes of a text of size bytes go besides the extents of the messages if
// all from first on go.
func (l *messageList) tail(first int, size int64) int64 {
	last := len(l.conv.Messages) - 1
	return l.run(first, last, size).Len() - (l.extent(last).End - l.extent(first).Start)
}

// rest returns what is no message.
func (l *messageList) rest(size int64) []source.Span {
	var out []source.Span
	at := int64(0)
	for i := range l.conv.Messages {
		m := l.conv.Messages[i].Span()
		if m.Start > at && (i == 0 || l.after[int32(i-1)] > 0) {
			out = append(out, source.Span{Start: at, End: m.Start})
		}
		at = max(at, m.End)
	}
	return append(out, source.Span{Start: at, End: size})
}
