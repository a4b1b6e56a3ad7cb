package container

import (
	"github.com/toolguard/toolguard/internal/detect"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// whole yields the conversation of a file whose records are messages or change earlier ones.
func (s *records) whole(yield func(*transcript.Conversation, error) bool) {
	q := s.newSequence("", s.src.Size())
	from, folds := elements(s.elements), false
	switch s.shape.Class {
	case detect.ClassFold:
		f := folding{reading: s.reading, log: q.primary.Fold, from: from, again: s.value, skipped: &s.file.Skipped}
		from, folds = f.elements, f.log.Append
	case detect.ClassPatch:
		q.b.End = 0 // the elements are not where they were written
		p := patched{reading: s.reading, patch: q.primary.Patch, from: from, root: transcript.Builder{OnKeyFault: s.onKey}}
		from = p.elements
	}
	c := q.b.Conv
	unsent, err := s.readWhole(q, from)
	if err != nil {
		yield(nil, err)
		return
	}
	s.tell(c)
	c.Folded = folds && c.Lines
	q.finish()
	for i := range min(max(0, unsent), len(c.Messages)) {
		c.Messages[i].Flags |= transcript.MessageSuperseded
	}
	yield(c, nil)
}

// readWhole reads all messages. It returns how many of them are no longer sent.
func (s *records) readWhole(q *sequence, from elements) (unsent int, err error) {
	class := s.shape.Class
	lone := class == detect.ClassMessage && s.shape.Framing == source.FramingDocument
	err = each(from, func(e element) error {
		if lone && (s.shape.Into != nil || e.val.Get("stop_reason").Kind() == source.String) {
			q.b.Conv.Use = transcript.UseTrace // a recorded answer, or one of several files of a history
			q.b.Conv.Slice = s.shape.Into != nil
		}
		read, err := q.read(e)
		if err != nil || read || class == detect.ClassPatch { // patched has counted the records
			return err
		}
		s.file.Skipped++
		if d := q.primary; d != nil && d.Unsent != nil {
			if n, says := d.Unsent(e.val); says {
				unsent = n
			}
		}
		return nil
	})
	return unsent, err
}
