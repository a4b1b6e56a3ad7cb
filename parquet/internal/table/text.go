package table

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sort"
	"sync"

	"github.com/toolguard/toolguard/internal/contain"
)

// A part is a stretch of the text of a file: some rows of a group.
type part struct {
	at    int64 // in the text
	size  int
	group int
	row   int64 // the first one in the group
	rows  int64
}

const (
	// partSize is how many bytes a part has at least.
	partSize = 256 << 10
	// heldText is how much of the text is held: more than whoever reads it on looks back.
	heldText = 16 << 20
)

// A Text is the rows of a file as lines of JSON, made when they are read. It implements io.ReaderAt.
// Whoever reads on from the start reads each page once.
type Text struct {
	mu    sync.Mutex
	f     *File
	ctx   context.Context
	parts []part
	size  int64
	held  map[int][]byte
	order []int // of held, the oldest first
	sum   int64

	rows *rows // the reader that made the last part
	last int
}

// Text reads the file once, to learn how long its rows are and that all of them can be read.
func (f *File) Text(ctx context.Context) (*Text, error) {
	t := &Text{f: f, ctx: ctx, held: map[int][]byte{}, last: -1}
	for g := range f.groups {
		if f.groups[g].rows == 0 {
			continue // its pages may be nowhere
		}
		if err := t.measure(g); err != nil {
			t.Close()
			return nil, err
		}
	}
	t.close()
	return t, nil
}

// Size returns the length of the text.
func (t *Text) Size() int64 { return t.size }

// Close frees what is held.
func (t *Text) Close() {
	t.close()
	t.held, t.order, t.sum = nil, nil, 0
}

func (t *Text) close() {
	if t.rows != nil {
		t.rows.close()
	}
	t.rows, t.last = nil, -1
}

// measure finds the parts of a group. It holds them while the whole text is short.
func (t *Text) measure(g int) error {
	var buf []byte
	return t.contained(g, func() (err error) {
		t.close()
		if t.rows, err = t.f.rows(&t.f.groups[g], t.f.columns); err != nil {
			return err
		}
		for row := int64(0); t.rows.rest > 0; {
			p := part{at: t.size, group: g, row: row}
			buf = buf[:0]
			for len(buf) < partSize && t.rows.rest > 0 {
				if buf, err = t.line(buf); err != nil {
					return err
				}
				p.rows++
			}
			p.size, row = len(buf), row+p.rows
			t.parts = append(t.parts, p)
			if t.size += int64(p.size); t.size <= heldText {
				t.hold(len(t.parts)-1, append([]byte(nil), buf...))
			}
			if err := t.ctx.Err(); err != nil {
				return err
			}
		}
		for _, c := range t.rows.read {
			if len(c.ahead) > 0 || !c.ended && !errors.Is(c.more(), io.EOF) {
				return c.wrong(errors.New("has more rows than its group"))
			}
		}
		return nil
	})
}

// line appends the next row.
func (t *Text) line(buf []byte) ([]byte, error) {
	if err := t.rows.next(); err != nil {
		return nil, err
	}
	return t.f.json(buf, t.rows)
}

// contained calls f, which reads a group, and says in its error where it was. Whatever panics there is a
// fault of the file that nobody foresaw.
func (t *Text) contained(g int, f func() error) error {
	err := contain.Do(f)
	switch {
	case err == nil, t.ctx.Err() != nil:
		return err
	case contain.From(err) != nil:
		err = errors.New("not readable: its parts contradict each other")
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		err = errors.New("ends early: the file is torn")
	}
	return fmt.Errorf("%s: row group %d: %w", t.f.path, g+1, err)
}

// hold keeps a part, and forgets the oldest ones.
func (t *Text) hold(i int, text []byte) {
	if t.sum > 0 && t.sum+int64(len(text)) > heldText {
		for len(t.order) > 0 && t.sum+int64(len(text)) > heldText {
			t.sum -= int64(len(t.held[t.order[0]]))
			delete(t.held, t.order[0])
			t.order = t.order[1:]
		}
	}
	t.held[i], t.order, t.sum = text, append(t.order, i), t.sum+int64(len(text))
}

// ReadAt implements io.ReaderAt.
func (t *Text) ReadAt(b []byte, off int64) (n int, err error) {
	if off < 0 || off >= t.size {
		return 0, io.EOF
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := sort.Search(len(t.parts), func(i int) bool { return t.parts[i].at > off }) - 1; n < len(b); i++ {
		if i == len(t.parts) {
			return n, io.EOF
		}
		text, err := t.part(i)
		if err != nil {
			return n, err
		}
		n += copy(b[n:], text[off+int64(n)-t.parts[i].at:])
	}
	return n, nil
}

// part returns the text of a part.
func (t *Text) part(i int) ([]byte, error) {
	if text := t.held[i]; text != nil {
		return text, nil
	}
	p := &t.parts[i]
	text := make([]byte, 0, p.size)
	err := t.contained(p.group, func() (err error) {
		if t.rows == nil || t.last != i-1 || t.parts[t.last].group != p.group {
			t.close()
			if t.rows, err = t.f.rows(&t.f.groups[p.group], t.f.columns); err != nil {
				return err
			}
			for range p.row {
				if err := t.rows.next(); err != nil {
					return err
				}
			}
		}
		t.last = i
		for range p.rows {
			if text, err = t.line(text); err != nil {
				return err
			}
		}
		if len(text) != p.size {
			return errors.New("changed while it was read")
		}
		return nil
	})
	if err != nil {
		t.close()
		return nil, err
	}
	t.hold(i, text)
	return text, nil
}
