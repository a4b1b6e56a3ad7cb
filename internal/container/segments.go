package container

import (
	"sort"

	"github.com/toolguard/toolguard/internal/transcript"
)

// A segments says to which segment the messages of a thread belong. Each compaction
// begins one, and takes the last messages along, or none.
type segments struct {
	now int32 // counts the compactions so far
	// runs are where other segments begin, in order. A compaction does not touch each
	// message that it takes along: many of a long thread would take forever.
	runs []run
}

// A run is messages of one segment, up to the next run.
type run struct{ from, segment int32 }

// begin begins a segment with the messages of records from one on.
func (s *segments) begin(messages []transcript.Message, record int32) {
	s.now++
	from := int32(sort.Search(len(messages), func(i int) bool { return messages[i].Record >= record }))
	for n := len(s.runs); n > 0 && s.runs[n-1].from >= from; n-- {
		s.runs = s.runs[:n-1]
	}
	s.runs = append(s.runs, run{from, s.now})
}

// settle tells the messages their segments. One that was kept by itself is in that
// of the compaction that kept it already, if that came later. It marks those that no
// compaction kept.
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

// A rollbacks knows what was taken back of a thread.
type rollbacks struct {
	typed []int32   // the messages by a human
	gone  []stretch // what was taken back, in order
}

// A stretch is the messages from lo to before hi.
type stretch struct{ lo, hi int32 }

// rollBack takes back the last turns, each from what a human typed on.
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
	// What was taken back before is not walked again, or many rollbacks of a long
	// thread would take forever.
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
