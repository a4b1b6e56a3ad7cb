package layout

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"

	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/sqlite/internal/database"
	"github.com/toolguard/toolguard/sqlite/internal/rows"
)

// errUnmapped says that a repair cannot be made in the rows.
var errUnmapped = errors.New("the repair changes more of the text than what its rows hold")

// Changes returns what the edits of a text are as changes of the rows that it was made of: columns get
// another text, and rows are removed, also those that are torn. All bytes of a column that are outside of the edits
// stay. become are the edits of the text that the rows then have: fields of a column are before those of others.
// Rows that are added to the database get their numbers from added, which all of its texts share.
func (t *Text) Changes(db *database.DB, added Numbers, edits []edit.Edit) (changes []rows.Change, become []edit.Edit, err error) {
	if t.of.Text.Log != nil {
		changes, err = t.logged(db.Conn, added, edits)
		return changes, edits, err
	}
	for i := range t.Torn {
		b := &t.Torn[i]
		c, err := rows.Remove(db.Conn, b.rows.Table, b.rows.Key, rows.TextOf([]byte(b.Row)))
		if err != nil {
			return nil, nil, fmt.Errorf("row %s: %w", b.Row, err)
		}
		changes = append(changes, c)
	}
	edits = slices.Clone(edits)
	for i := range edits {
		if edits[i], err = t.tight(edits[i]); err != nil {
			return nil, nil, err
		}
	}
	for len(edits) > 0 {
		e := edits[0]
		// An insertion beside an object is not in it.
		i := t.holder(e.Span.Start)
		if i < len(t.holders) && t.holders[i].has(e) {
			n := 1
			for n < len(edits) && t.holders[i].has(edits[n]) {
				n++
			}
			c, now, err := t.update(db, &t.holders[i], edits[:n])
			if err != nil {
				return nil, nil, fmt.Errorf("row %s: %w", t.holders[i].id, err)
			}
			changes, become, edits = append(changes, c), append(become, now), edits[n:]
			continue
		}
		more, now, err := t.list(db, e)
		if err != nil {
			return nil, nil, err
		}
		changes, become, edits = append(changes, more...), append(become, now), edits[1:]
	}
	return changes, become, nil
}

// has reports whether an edit is within an element.
func (e *element) has(x edit.Edit) bool {
	return e.start <= x.Span.Start && x.Span.End <= e.end && (x.Span.Len() > 0 || e.start < x.Span.Start && x.Span.Start < e.end)
}

// bytes returns a part of the text.
func (t *Text) bytes(s span) ([]byte, error) {
	out := make([]byte, s.end-s.start)
	if _, err := t.ReadAt(out, s.start); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return out, nil
}

// update returns the change of the column whose fields an object has, beside those of other columns, and
// the object as the row then writes it.
func (t *Text) update(db *database.DB, h *element, edits []edit.Edit) (c rows.Change, become edit.Edit, err error) {
	id := rows.TextOf([]byte(h.id))
	was, err := rows.Read(db.Conn, h.rows.Table, h.rows.Key, id, h.column)
	if err != nil {
		return c, become, err
	}
	object, err := t.bytes(h.span)
	if err != nil {
		return c, become, err
	}
	from, to := bytes.IndexByte(was.Bytes, '{')+1, bytes.LastIndexByte(was.Bytes, '}')
	cell := object[h.cell.start-h.start : h.cell.end-h.start]
	if was.Kind != rows.Text || from < 1 || to < from || h.cell.end > h.cell.start && !bytes.Equal(was.Bytes[from:to], cell) {
		return c, become, errUnmapped
	}
	now := edit.Splice(object, h.start, edits)
	if len(now) < 2 || now[0] != '{' || now[len(now)-1] != '}' {
		return c, become, errUnmapped
	}
	tail := bytes.TrimPrefix(object[h.cell.end-h.start:len(object)-1], []byte(","))
	mine := fields(now[1 : len(now)-1])
	for _, other := range fields(tail) {
		i := len(mine) - 1
		for i >= 0 && !bytes.Equal(bytes.TrimSpace(mine[i]), other) {
			i--
		}
		if i < 0 {
			return c, become, errUnmapped
		}
		mine = slices.Delete(mine, i, i+1)
	}
	inside := bytes.Join(mine, []byte(","))
	become = edit.Edit{Span: source.Span{Start: h.start, End: h.end}, Text: slices.Concat([]byte("{"), tail, []byte("}"))}
	if len(bytes.TrimSpace(inside)) > 0 {
		become.Text = slices.Concat([]byte("{"), inside, []byte(","), tail, []byte("}"))
	}
	text := slices.Concat(was.Bytes[:from], inside, was.Bytes[to:])
	if !json.Valid(text) { // the edit writes more than one object
		return c, become, errUnmapped
	}
	return rows.Update(h.rows.Table, h.rows.Key, id, h.column, was, rows.TextOf(text)), become, nil
}

// fields splits the inside of an object at the commas between its fields.
func fields(inside []byte) (out [][]byte) {
	depth, from := 0, 0
	for i := 0; i < len(inside); i++ {
		switch inside[i] {
		case '"':
			for i++; i < len(inside) && inside[i] != '"'; i++ {
				if inside[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case ',':
			if depth == 0 {
				out, from = append(out, inside[from:i]), i+1
			}
		}
	}
	return append(out, inside[from:])
}

// tight returns an edit without what it replaces by the same bytes on both sides, if that makes it one of a
// single row.
func (t *Text) tight(e edit.Edit) (edit.Edit, error) {
	if len(e.Text) == 0 || e.Span.Len() == 0 {
		return e, nil
	}
	was, err := t.bytes(span{e.Span.Start, e.Span.End})
	if err != nil {
		return e, err
	}
	now := e
	for len(was) > 0 && len(now.Text) > 0 && was[0] == now.Text[0] {
		was, now.Text = was[1:], now.Text[1:]
		now.Span.Start++
	}
	for n := len(was) - 1; n >= 0 && len(now.Text) > 0 && was[n] == now.Text[len(now.Text)-1]; n-- {
		was, now.Text = was[:n], now.Text[:len(now.Text)-1]
		now.Span.End--
	}
	if i := t.holder(now.Span.Start); i < len(t.holders) && t.holders[i].has(now) {
		return now, nil
	}
	return e, nil
}

// holder returns the first holder that ends behind an offset.
func (t *Text) holder(at int64) int {
	return sort.Search(len(t.holders), func(i int) bool { return t.holders[i].end > at })
}

// list returns the changes that an edit of a list is: some of its rows are removed, and others become
// other objects with the same ids, in the same order.
func (t *Text) list(db *database.DB, e edit.Edit) (changes []rows.Change, become edit.Edit, err error) {
	become = edit.Edit{Span: e.Span}
	var now [][]byte
	for _, object := range fields(e.Text) {
		if object = bytes.TrimSpace(object); len(object) > 0 {
			now = append(now, object)
		}
	}
	between := [2][]byte{prefix(e.Text), suffix(e.Text)}
	for i := sort.Search(len(t.rows), func(i int) bool { return t.rows[i].start >= e.Span.Start }); i < len(t.rows) && t.rows[i].start < e.Span.End; i++ {
		r := &t.rows[i]
		if r.end > e.Span.End {
			return nil, become, errUnmapped
		}
		if h := t.holder(r.start); len(now) > 0 && h < len(t.holders) && t.holders[h].span == r.span {
			c, x, err := t.update(db, &t.holders[h], []edit.Edit{{Span: source.Span{Start: r.start, End: r.end}, Text: now[0]}})
			if err == nil {
				if len(become.Text) > 0 {
					become.Text = append(become.Text, ',')
				}
				become.Text, now = append(become.Text, x.Text...), now[1:]
				if !c.Before[0].Equal(c.After[0]) {
					changes = append(changes, c)
				}
				continue
			}
			if !errors.Is(err, errUnmapped) {
				return nil, become, err
			}
		}
		if slices.ContainsFunc(t.Bad, func(b Bad) bool { return b.Row == r.id }) {
			return nil, become, fmt.Errorf("the repair removes the row %s, which cannot be read", r.id)
		}
		c, err := rows.Remove(db.Conn, r.rows.Table, r.rows.Key, rows.TextOf([]byte(r.id)))
		if err != nil {
			return nil, become, err
		}
		changes = append(changes, c)
	}
	if len(changes) == 0 || len(now) > 0 {
		return nil, become, errUnmapped
	}
	become.Text = slices.Concat(between[0], become.Text, between[1])
	return changes, become, nil
}

// prefix returns the comma at the beginning of a text, and suffix that at its end, if there are more
// than one thing in it.
func prefix(text []byte) []byte {
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte(",")) {
		return []byte(",")
	}
	return nil
}

func suffix(text []byte) []byte {
	if text = bytes.TrimSpace(text); len(text) > 1 && text[len(text)-1] == ',' {
		return []byte(",")
	}
	return nil
}

// Same reports whether two texts are the same JSON, but for white space between its tokens.
func Same(a, b io.ByteReader) (bool, error) {
	var x, y tokens
	for {
		c, errA := x.next(a)
		d, errB := y.next(b)
		switch {
		case errors.Is(errA, io.EOF) && errors.Is(errB, io.EOF):
			return true, nil
		case errors.Is(errA, io.EOF) != errors.Is(errB, io.EOF):
			return false, nil
		case errA != nil || errB != nil:
			return false, errors.Join(errA, errB)
		case c != d:
			return false, nil
		}
	}
}

// tokens reads the bytes of JSON that are not white space between tokens.
type tokens struct{ text, escaped bool }

func (t *tokens) next(r io.ByteReader) (byte, error) {
	for {
		c, err := r.ReadByte()
		switch {
		case err != nil:
			return 0, err
		case t.escaped:
			t.escaped = false
		case t.text && c == '\\':
			t.escaped = true
		case c == '"':
			t.text = !t.text
		case !t.text && (c == ' ' || c == '\t' || c == '\r' || c == '\n'):
			continue
		}
		return c, nil
	}
}
