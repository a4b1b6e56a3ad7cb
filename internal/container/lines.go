package container

import (
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// lineSink reads a message a line into one conversation.
type lineSink struct {
	r      *reader
	seq    *sequence
	unsent int // how many messages are not sent any more
}

func (s *lineSink) record(index int32, v source.Value) {
	if s.r.shape.Framing == source.FramingDocument && (v.Get("stop_reason").Exists() || s.r.shape.Into != nil) {
		s.seq.b.Conv.Use = transcript.UseTrace // one recorded answer, or one of the files that make up a history
		s.seq.b.Conv.Slice = s.r.shape.Into != nil
	}
	if !s.seq.add(index, v) {
		s.r.file.Skipped++
		if d := s.seq.primary; d != nil && d.Unsent != nil {
			if n, says := d.Unsent(v); says {
				s.unsent = n
			}
		}
	}
}

func (s *lineSink) torn(int32) { s.seq.b.Conv.Incomplete = true }

func (s *lineSink) end() {
	s.seq.b.Conv.Lines = s.r.shape.Framing != source.FramingDocument && s.r.shape.Into == nil
	s.r.finish(s.seq)
	for i := range min(max(0, s.unsent), len(s.seq.b.Conv.Messages)) {
		s.seq.b.Conv.Messages[i].Flags |= transcript.MessageSuperseded
	}
	s.r.hand(s.seq.b.Conv)
}
