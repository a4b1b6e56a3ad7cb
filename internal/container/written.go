package container

import (
	"bytes"

	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A written remembers the records that a log has at most once, by the hashes of their texts.
type written struct {
	texts source.Index
	at    []placed
}

// again reports whether a record has the same text as an earlier one, and adds a fault if so. The
// caller does not read such a record.
func (w *written) again(l *log, e element) (bool, error) {
	once := l.d.Log.Hooks.Once
	if once == nil || e.where != nil {
		return false, nil
	}
	id := once(e.val)
	if id.Kind() != source.String {
		return false, nil
	}
	key := l.hash(e.val.Raw())
	at, known := w.texts.Find(key)
	if !known {
		w.texts.Add(key)
		w.at = append(w.at, e.placed())
		return false, nil
	}
	first, err := l.value(w.at[at].span())
	if err != nil || !bytes.Equal(first.Raw(), e.val.Raw()) {
		return false, err
	}
	l.file.Links = append(l.file.Links, transcript.LinkFault{
		Duplicate: true, Identical: true, Sent: true, Record: e.record, ID: id.Str(),
		Span: id.Span(), FirstRecord: w.at[at].record, First: once(first).Span(), Whole: e.val.Span(),
	})
	return true, nil
}
