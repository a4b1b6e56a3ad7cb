package table

import (
	"errors"
	"fmt"
	"io"
	"unsafe"

	"github.com/parquet-go/parquet-go"

	"github.com/toolguard/toolguard/parquet/internal/lines"
)

// A column reads the values of a chunk row by row.
type column struct {
	*node
	pages  *parquet.FilePages
	values parquet.ValueReader
	buf    []parquet.Value
	ahead  []parquet.Value // read, and not yet in a row
	row    []parquet.Value // the values of the current row
	at     int             // the next of them
	held   int             // the room that row takes
	rows   *rows
	ended  bool
}

// readValues is how many values are read at a time.
const readValues = 256

var errColumns = errors.New("its values do not go with those of the other columns")

// column returns a reader of a chunk.
func (f *File) column(r *rows, g *group, l *node) (*column, error) {
	chunk := f.model.RowGroups()[0].ColumnChunks()[l.leaf].(*parquet.FileColumnChunk)
	p, err := f.pipe(r, l, &g.meta.Columns[l.leaf])
	if err != nil {
		return nil, err
	}
	return &column{node: l, rows: r, pages: chunk.PagesFrom(p), buf: make([]parquet.Value, readValues)}, nil
}

// close ends reading.
func (c *column) close() { _ = c.pages.Close() } // it only frees buffers

// more reads more values. It returns io.EOF at the end of the chunk.
func (c *column) more() error {
	for {
		if c.values == nil {
			// Values of bytes point into the page, so it is left to the garbage collector.
			p, err := c.pages.ReadPage()
			if err != nil {
				c.ended = true
				return err
			}
			c.values = p.Values()
		}
		n, err := c.values.ReadValues(c.buf)
		if n > 0 {
			c.ahead = c.buf[:n]
			return nil
		}
		if err == nil {
			err = io.ErrNoProgress
		}
		if !errors.Is(err, io.EOF) {
			return err
		}
		c.values = nil
	}
}

// next reads the values of the next row.
func (c *column) next() error {
	c.row, c.at = c.row[:0], 0
	for {
		if len(c.ahead) == 0 {
			switch err := c.more(); {
			case errors.Is(err, io.EOF) && len(c.row) > 0:
				return nil
			case errors.Is(err, io.EOF):
				return c.wrong(errors.New("has fewer rows than its group"))
			case err != nil:
				return c.wrong(err)
			}
		}
		if c.rep == 0 {
			c.row, c.ahead = append(c.row, c.ahead[0]), c.ahead[1:]
			return nil
		}
		n := 0
		if len(c.row) == 0 {
			if c.ahead[0].RepetitionLevel() != 0 {
				return c.wrong(errors.New("begins in the middle of a row"))
			}
			n = 1
		}
		for n < len(c.ahead) && c.ahead[n].RepetitionLevel() != 0 {
			n++
		}
		c.row = append(c.row, c.ahead[:n]...)
		if most := cap(c.row) * valueSize; most > c.held {
			if err := c.rows.take(int64(most - c.held)); err != nil {
				return c.wrong(err)
			}
			c.held = most
		}
		if c.ahead = c.ahead[n:]; len(c.ahead) > 0 {
			return nil
		}
	}
}

// wrong says in which column something is wrong.
func (c *column) wrong(err error) error { return fmt.Errorf("column %s: %w", c.path, err) }

// A rows reads the rows of a group.
type rows struct {
	f       *File
	columns []*column // by leaf; nil for those that are not read
	read    []*column
	rest    int64
	room    int64 // the bytes that are left for the values of a row, and for what pages become
}

const (
	// rowRoom is the room of a reader, as a part of the memory. A row or a page of some bytes may have millions
	// of values, or values with a long beginning in common.
	rowRoom = 6
	// valueSize is how many bytes a value takes.
	valueSize = int(unsafe.Sizeof(parquet.Value{}))
)

// take takes some of the room. A negative number gives it back.
func (r *rows) take(n int64) error {
	if r.room -= n; r.room < 0 {
		return errors.New("a row or a page has values that do not fit in the memory of the run: write smaller ones, or allow more with --max-memory")
	}
	return nil
}

// rows returns a reader of the leaves of some columns.
func (f *File) rows(g *group, of []*node) (_ *rows, err error) {
	r := &rows{f: f, columns: make([]*column, len(f.leaves)), rest: g.rows, room: f.memory / rowRoom}
	defer func() {
		if err != nil {
			r.Close()
		}
	}()
	for _, n := range of {
		for _, l := range f.leaves[n.leaf : n.leaf+n.leaves] {
			c, err := f.column(r, g, l)
			if err != nil {
				return nil, err
			}
			r.columns[l.leaf], r.read = c, append(r.read, c)
		}
	}
	return r, nil
}

// Close implements lines.Rows.
func (r *rows) Close() {
	for _, c := range r.read {
		c.close()
	}
}

// Left implements lines.Rows.
func (r *rows) Left() int64 { return r.rest }

// Line implements lines.Rows.
func (r *rows) Line(dst []byte) ([]byte, error) {
	if err := r.Skip(); err != nil {
		return nil, err
	}
	return r.f.json(dst, r)
}

// End implements lines.Rows.
func (r *rows) End() error {
	for _, c := range r.read {
		if len(c.ahead) > 0 || !c.ended && !errors.Is(c.more(), io.EOF) {
			return c.wrong(errors.New("has more rows than its group"))
		}
	}
	return nil
}

// Skip implements lines.Rows.
func (r *rows) Skip() error {
	for _, c := range r.read {
		if err := c.next(); err != nil {
			return err
		}
	}
	r.rest--
	return nil
}

// mostRow is how long a row may be as JSON, as a part of the memory.
const mostRow = 6

// json appends the current row as a line of JSON.
func (f *File) json(dst []byte, r *rows) ([]byte, error) {
	a := assembly{rows: r, text: dst, most: len(dst) + int(f.memory/mostRow)}
	a.text = append(a.text, '{')
	for i, n := range f.columns {
		if i > 0 {
			a.text = append(a.text, ',')
		}
		a.text = append(a.text, n.key...)
		a.node(n)
	}
	a.text = append(a.text, '}', '\n')
	for _, c := range r.read {
		if a.err == nil && c.at != len(c.row) {
			a.err = c.wrong(errColumns)
		}
	}
	return a.text, a.err
}

// An assembly puts the values of the columns of a row together.
type assembly struct {
	*rows
	text []byte
	most int
	err  error
}

// peek returns the next value of a column.
func (a *assembly) peek(leaf int) parquet.Value {
	c := a.columns[leaf]
	if c.at >= len(c.row) {
		a.fail(c.wrong(errColumns))
		return parquet.Value{}
	}
	return c.row[c.at]
}

func (a *assembly) fail(err error) {
	if a.err == nil {
		a.err = err
	}
}

// drop takes one value of each column of a node, which stand for its absence.
func (a *assembly) drop(n *node) {
	for leaf := n.leaf; leaf < n.leaf+n.leaves; leaf++ {
		if v := a.peek(leaf); a.err == nil && v.DefinitionLevel() >= n.def {
			a.fail(a.columns[leaf].wrong(errColumns))
		}
		a.columns[leaf].at++
	}
}

// node writes a node.
func (a *assembly) node(n *node) {
	if len(a.text) > a.most {
		a.fail(fmt.Errorf("a row of more than %s as JSON, which does not fit in the memory of the run", lines.Mega(int64(a.most))))
	}
	switch {
	case a.err != nil:
	case n.repeated:
		a.list(n, n.value)
	case n.optional && a.peek(n.leaf).DefinitionLevel() < n.def:
		a.drop(n)
		a.text = append(a.text, "null"...)
	default:
		n.value(a)
	}
}

// value writes a node that is there.
func (n *node) value(a *assembly) {
	switch n.shape {
	case shapeLeaf:
		v := a.peek(n.leaf)
		if v.IsNull() {
			a.fail(a.columns[n.leaf].wrong(errColumns))
			return
		}
		a.columns[n.leaf].at++
		a.text = n.append(a.text, v)
	case shapeList:
		c := n.children[0]
		a.list(c, c.value)
	case shapeMap:
		c := n.children[0]
		a.text = append(a.text, '{')
		a.each(c, func(a *assembly) {
			from := len(a.text)
			if a.node(c.children[0]); a.err == nil && a.text[from] != '"' {
				a.text = append(a.text, 0)
				copy(a.text[from+1:], a.text[from:])
				a.text[from] = '"'
				a.text = append(a.text, '"')
			}
			a.text = append(a.text, ':')
			a.node(c.children[1])
		})
		a.text = append(a.text, '}')
	case shapeObject:
		if n.bare {
			a.node(n.children[0])
			return
		}
		a.text = append(a.text, '{')
		for i, c := range n.children {
			if i > 0 {
				a.text = append(a.text, ',')
			}
			a.text = append(a.text, c.key...)
			a.node(c)
		}
		a.text = append(a.text, '}')
	}
}

// list writes a repeated node.
func (a *assembly) list(n *node, value func(*assembly)) {
	a.text = append(a.text, '[')
	a.each(n, value)
	a.text = append(a.text, ']')
}

// each writes the repetitions of a node.
func (a *assembly) each(n *node, value func(*assembly)) {
	if a.peek(n.leaf).DefinitionLevel() < n.def {
		a.drop(n)
		return
	}
	c := a.columns[n.leaf]
	for first := true; a.err == nil; first = false {
		if !first {
			a.text = append(a.text, ',')
		}
		from := c.at
		value(a)
		if c.at == from {
			a.fail(c.wrong(errColumns))
		}
		if c.at >= len(c.row) || c.row[c.at].RepetitionLevel() != n.rep {
			return
		}
	}
}
