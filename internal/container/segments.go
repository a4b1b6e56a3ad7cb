package container

import (
	"sort"

	"github.com/toolguard/toolguard/internal/transcript"
)

// A segments assigns the messages of a thread to segments. Each compaction begins a
// segment, to which it can move the last messages.
type segments struct {
	now int32 // the number of compactions so far
	// runs are the starts of segments, in order. A compaction does not touch each message
	// that it moves, because that would take quadratic time in a long thread.
	runs  []run
	notes []note
}

// A run is the messages of one segment, up to the next run.
type run struct{ from, segment, record int32 }

// A note is a text between the messages, with the segment in which it was read and its link, -1 for none.
type note struct {
	transcript.Note
	segment, link int32
}

// begin begins a segment with the messages of records from record on.
func (s *segments) begin(messages []transcript.Message, record int32) {
	s.now++
	from := int32(sort.Search(len(messages), func(i int) bool { return messages[i].Record >= record }))
	for n := len(s.runs); n > 0 && s.runs[n-1].from >= from; n-- {
		s.runs = s.runs[:n-1]
	}
	s.runs = append(s.runs, run{from, s.now, record})
}

// start returns the index of the first message that the last compaction kept.
func (s *segments) start() int32 {
	if len(s.runs) == 0 {
		return 0
	}
	return s.runs[len(s.runs)-1].from
}

// settle sets the segments of the messages. A message that a later compaction kept
// individually is already in that segment. settle marks the messages that the last
// compaction did not keep.
func (s *segments) settle(messages []transcript.Message) {
	segment, next := int32(0), 0
	for i := range messages {
		for next < len(s.runs) && s.runs[next].from <= int32(i) {
			segment = s.runs[next].segment
			next++
		}
		m := &messages[i]
		if m.Segment = max(m.Segment, segment); m.Segment < s.now {
			m.Flags |= transcript.MessageSuperseded
		}
	}
}

// settled returns the notes. Those that the last compaction did not keep are marked.
func (s *segments) settled() []transcript.Note {
	var out []transcript.Note
	segment, next := int32(0), 0
	for _, n := range s.notes {
		for next < len(s.runs) && s.runs[next].record <= n.Record {
			segment = s.runs[next].segment
			next++
		}
		n.Unsent = n.Unsent || max(n.segment, segment) < s.now
		out = append(out, n.Note)
	}
	return out
}

// A rollbacks records which messages of a thread were rolled back.
type rollbacks struct {
	typed []int32   // the messages by a human
	gone  []stretch // the messages that were rolled back, in order
}

// A stretch is the messages [lo, hi).
type stretch struct{ lo, hi int32 }

// rollBack rolls back the last turns. Each turn starts with a message typed by a human.
func (r *rollbacks) rollBack(messages []transcript.Message, turns int) {
	from := int32(0)
	switch keep := len(r.typed) - turns; {
	case turns <= 0:
		return
	case keep >= 0:
		from = r.typed[keep]
		r.typed = r.typed[:keep]
	default:
		r.typed = nil
	}
	mark := func(from, to int32) {
		for i := from; i < to; i++ {
			messages[i].Flags |= transcript.MessageSuperseded
		}
	}
	// Skip messages that were rolled back before, because many rollbacks of a long thread
	// would otherwise take quadratic time.
	end := int32(len(messages))
	back := stretch{from, end}
	for n := len(r.gone) - 1; n >= 0 && r.gone[n].hi >= from; n-- {
		mark(r.gone[n].hi, end)
		end, back.lo = r.gone[n].lo, min(back.lo, r.gone[n].lo)
		r.gone = r.gone[:n]
	}
	mark(from, end)
	r.gone = append(r.gone, back)
}
