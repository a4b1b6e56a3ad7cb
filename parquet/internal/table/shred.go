package table

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/parquet-go/parquet-go"
	"github.com/tidwall/gjson"

	"github.com/toolguard/toolguard/parquet/internal/lines"
)

// A Row is the values of some columns of a row, by leaf. The other columns stay as they are.
type Row map[int][]parquet.Value

// Fit implements lines.File.
func (f *File) Fit(before, after []byte) (lines.Row, []byte, error) {
	was, err := lines.Object(gjson.ParseBytes(before))
	if err != nil {
		return nil, nil, err
	}
	is, err := lines.Object(gjson.ParseBytes(after))
	if err != nil {
		return nil, nil, err
	}
	row, text := Row{}, []byte{'{'}
	for i, n := range f.columns {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, n.key...)
		v, there := is[n.name]
		delete(is, n.name)
		if there && v.Raw == was[n.name].Raw {
			text = append(text, v.Raw...)
			continue
		}
		for leaf := n.leaf; leaf < n.leaf+n.leaves; leaf++ {
			row[leaf] = nil
		}
		if err := row.node(n, v, 0, 0); err != nil {
			return nil, nil, err
		}
		from := len(text)
		if text, err = f.column1(text, n, row); err != nil {
			return nil, nil, err
		}
		if there && !lines.Same(v, gjson.ParseBytes(text[from:])) {
			return nil, nil, fmt.Errorf("%s: it would be read as another value", n.path)
		}
	}
	for name := range is {
		return nil, nil, fmt.Errorf("%s: no such column", strconv.Quote(name))
	}
	return row, append(text, "}\n"...), nil
}

// column1 appends the JSON of one column.
func (f *File) column1(dst []byte, n *node, row Row) ([]byte, error) {
	r := &rows{columns: make([]*column, len(f.leaves))}
	for leaf, values := range row {
		r.columns[leaf] = &column{node: f.leaves[leaf], row: values}
	}
	a := assembly{rows: r, text: dst, most: len(dst) + int(f.memory/mostRow)}
	a.node(n)
	return a.text, a.err
}

// null adds one value to each column of a node, for something that is not there.
func (r Row) null(n *node, rep, def int) {
	for leaf := n.leaf; leaf < n.leaf+n.leaves; leaf++ {
		r[leaf] = append(r[leaf], parquet.NullValue().Level(rep, def, leaf))
	}
}

// node adds the values of a node. def is the level of what it is in.
func (r Row) node(n *node, v gjson.Result, rep, def int) error {
	if n.repeated {
		return r.elements(n, v, rep, def, func(e gjson.Result, rep int) error { return r.value(n, e, rep) })
	}
	if v.Type == gjson.Null {
		if !n.optional {
			return fmt.Errorf("%s: must not be null", n.path)
		}
		r.null(n, rep, def)
		return nil
	}
	return r.value(n, v, rep)
}

// elements adds the elements of an array.
func (r Row) elements(n *node, v gjson.Result, rep, def int, add func(gjson.Result, int) error) error {
	if !v.IsArray() {
		return fmt.Errorf("%s: expected a list", n.path)
	}
	list := v.Array()
	for i, e := range list {
		at := rep
		if i > 0 {
			at = n.rep
		}
		if err := add(e, at); err != nil {
			return err
		}
	}
	if len(list) == 0 {
		r.null(n, rep, def)
	}
	return nil
}

// value adds the values of a node that is there.
func (r Row) value(n *node, v gjson.Result, rep int) error {
	switch n.shape {
	case shapeLeaf:
		p, err := n.parse(v.Raw, v.Str, v.Type == gjson.String)
		if err != nil {
			return fmt.Errorf("%s: %w", n.path, err)
		}
		r[n.leaf] = append(r[n.leaf], p.Level(rep, n.def, n.leaf))
		return nil
	case shapeList:
		c := n.children[0]
		return r.elements(c, v, rep, n.def, func(e gjson.Result, rep int) error { return r.value(c, e, rep) })
	}
	if n.bare {
		return r.node(n.children[0], v, rep, n.def)
	}
	if !v.IsObject() {
		return fmt.Errorf("%s: expected an object", n.path)
	}
	is, err := lines.Object(v)
	if err != nil {
		return fmt.Errorf("%s: %w", n.path, err)
	}
	if n.shape == shapeMap {
		return r.pairs(n.children[0], v, rep, n.def)
	}
	for _, c := range n.children {
		e := is[c.name]
		delete(is, c.name)
		if err := r.node(c, e, rep, n.def); err != nil {
			return err
		}
	}
	for name := range is {
		return fmt.Errorf("%s: has no field %s", n.path, strconv.Quote(name))
	}
	return nil
}

// pairs adds the keys and values of a map.
func (r Row) pairs(c *node, v gjson.Result, rep, def int) (err error) {
	at := rep
	v.ForEach(func(key, value gjson.Result) bool {
		k := c.children[0]
		if k.means != meansText && len(key.Str) > 0 { // it was put in quotation marks, unless it has its own
			if plain := gjson.Parse(key.Str); plain.Type == gjson.Number || plain.IsBool() {
				key = plain
			}
		}
		if err = r.value(k, key, at); err == nil {
			err = r.node(c.children[1], value, at, c.def)
		}
		at = c.rep
		return err == nil
	})
	if err == nil && bytes.Equal([]byte(v.Raw), []byte("{}")) {
		r.null(c, rep, def)
	}
	return err
}
