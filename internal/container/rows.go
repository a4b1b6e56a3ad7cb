package container

import (
	"bytes"
	"strconv"

	"github.com/toolguard/toolguard/internal/detect"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
	"github.com/toolguard/toolguard/internal/unfold"
)

// rowSink reads the rows of a table, one a line.
type rowSink struct {
	r        *reader
	sessions []*sequence
	of       map[string]*sequence
	torns    bool
}

func (s *rowSink) record(index int32, v source.Value) {
	// The text of a record does not stay.
	v = source.NewValue(bytes.Clone(v.Raw()), v.Span().Start)
	c := detect.ColumnOf(v, &unfold.Unfolded{})
	if c == nil {
		s.r.file.Skipped++
		return
	}
	name := string(v.Get(c.Session).Raw())
	q := s.of[name]
	if q == nil {
		q = s.r.newSequence("")
		u := &unfold.Unfolded{}
		q.b.Conv.Unfolded = u
		q.b.OnKeyFault = func(k transcript.KeyFault) {
			k.First, k.Again = u.Origin(k.First), u.Origin(k.Again)
			s.r.onKey(k)
		}
		if q.primary == nil {
			q.primary = c.Dialect
		}
		s.of[name] = q
		s.sessions = append(s.sessions, q)
	}
	u := q.b.Conv.Unfolded
	before := u.Len()
	u.Decode(v.Get(c.Text), nil)
	if !q.add(index, u.Since(before)) {
		s.r.file.Skipped++
	}
}

func (s *rowSink) torn(int32) { s.torns = true }

func (s *rowSink) end() {
	for i, q := range s.sessions {
		if len(s.sessions) > 1 {
			q.b.Conv.Name = "session " + strconv.Itoa(i+1)
		}
		q.b.Conv.Incomplete = s.torns
		s.r.finish(q)
		s.r.hand(q.b.Conv)
	}
	if s.r.file.CheckOnly == "" {
		s.r.file.CheckOnly = detect.RowsCheckOnly
	}
}
