package container

import (
	"bytes"
	"strconv"

	"github.com/toolguard/toolguard/internal/detect"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
	"github.com/toolguard/toolguard/internal/unfold"
)

// A table is the conversations whose messages are JSON text in a column, one message per
// row. Rows of several sessions may be mixed.
type table struct {
	*records
	sessions []*sequence
	of       map[string]*sequence
}

func (t *table) conversations(yield func(*transcript.Conversation, error) bool) {
	if err := t.read(); err != nil {
		yield(nil, err)
		return
	}
	for i, q := range t.sessions {
		if len(t.sessions) > 1 {
			q.b.Conv.Name = "session " + strconv.Itoa(i+1)
		}
		t.tell(q.b.Conv)
		q.finish()
		if !yield(q.b.Conv, nil) {
			return
		}
	}
	if t.file.CheckOnly == "" {
		t.file.CheckOnly = detect.RowsCheckOnly
	}
}

// read reads all rows.
func (t *table) read() error {
	t.of = map[string]*sequence{}
	return each(t.elements, func(e element) error {
		c := detect.ColumnOf(e.val, &unfold.Unfolded{})
		if c == nil {
			t.file.Skipped++
			return nil
		}
		q := t.session(e.val.Get(c.Session), c)
		text := e.val.Get(c.Text)
		// The next record overwrites the text of this one.
		text = source.NewValue(bytes.Clone(text.Raw()), text.Span().Start)
		u := q.b.Conv.Unfolded
		before := u.Len()
		u.Decode(text, nil)
		read, err := q.read(element{record: e.record, val: u.Since(before)})
		if err == nil && !read {
			t.file.Skipped++
		}
		return err
	})
}

// session returns the sequence of a session.
func (t *table) session(id source.Value, c *detect.Column) *sequence {
	name := string(id.Raw())
	if t.of[name] == nil {
		q := t.newSequence("", t.src.Size())
		q.unfolded(&unfold.Unfolded{})
		if q.primary == nil {
			q.primary = c.Dialect
		}
		t.of[name] = q
		t.sessions = append(t.sessions, q)
	}
	return t.of[name]
}
