package container

import (
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A lines is one conversation in which each record is a message.
type lines struct {
	*reading
	from *records
}

func (l *lines) conversations(yield func(*transcript.Conversation, error) bool) {
	q := l.newSequence("", l.src.Size())
	q.lines = true
	unsent, err := l.read(q)
	if err != nil {
		yield(nil, err)
		return
	}
	c := q.b.Conv
	l.from.tell(c)
	c.Lines = l.shape.Framing != source.FramingDocument && l.shape.Into == nil
	q.finish()
	for i := range min(max(0, unsent), len(c.Messages)) {
		c.Messages[i].Flags |= transcript.MessageSuperseded
	}
	yield(c, nil)
}

// read reads all messages. It returns how many of them are no longer sent.
func (l *lines) read(q *sequence) (unsent int, err error) {
	for e, err := range l.from.elements {
		if err != nil {
			return 0, err
		}
		if l.shape.Framing == source.FramingDocument && (e.val.Get("stop_reason").Kind() == source.String || l.shape.Into != nil) {
			q.b.Conv.Use = transcript.UseTrace // a recorded answer, or one of several files of a history
			q.b.Conv.Slice = l.shape.Into != nil
		}
		switch read, err := q.read(e); {
		case err != nil:
			return 0, err
		case read:
			continue
		}
		l.file.Skipped++
		if d := q.primary; d != nil && d.Unsent != nil {
			if n, says := d.Unsent(e.val); says {
				unsent = n
			}
		}
	}
	return unsent, nil
}
