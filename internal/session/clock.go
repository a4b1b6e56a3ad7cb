package session

import (
	"github.com/toolguard/toolguard/internal/container"
	"github.com/toolguard/toolguard/internal/source"
)

// A clock reads the times of records. It costs as much as reading them once more, so it is only asked
// for what is shown.
type clock struct {
	src  *source.Source
	file *container.File
	time Field
}

// record returns the time of a record, from 1, in milliseconds since 1970; 0 if it has none.
func (c *clock) record(n int32) int64 {
	if c.file.Document.Index != 0 || n < 1 || int(n) > c.file.Starts.Len() || c.time.Absent() {
		return 0
	}
	at := source.Span{Start: c.file.Starts.At(int(n) - 1), End: c.src.Size()}
	if int(n) < c.file.Starts.Len() {
		at.End = c.file.Starts.At(int(n))
	}
	value, err := c.src.Value(at)
	if err != nil {
		return 0 // what reads on will say so
	}
	return Time(c.time.In(value))
}

// ReadTimes reads the times of the turns from lo on, below hi, and how long their calls took.
func (s *Session) ReadTimes(lo, hi int32) {
	for i := lo; i < hi; i++ {
		t := &s.Turns[i]
		if t.Time == 0 {
			t.Time = s.clock.record(t.Record)
			s.spans(t.Time)
		}
		for k := t.CallLo; k < t.CallHi; k++ {
			c := &s.Calls[k]
			if r := &c.Result; !r.At.IsZero() && r.MS < 0 && r.Record != c.Record {
				if from, to := s.clock.record(c.Record), s.clock.record(r.Record); from != 0 && to >= from {
					r.MS = to - from
				}
			}
		}
	}
}

// spans notes that a time, or 0 for none, is one of the session.
func (s *Session) spans(ms int64) {
	if ms != 0 {
		if s.First == 0 || ms < s.First {
			s.First = ms
		}
		s.Last = max(s.Last, ms)
	}
}
