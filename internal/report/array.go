package report

import (
	"fmt"
	"io"
)

// An array writes a JSON document with one list, one element a line, and each element as soon
// as it is added.
type array struct {
	w      io.Writer
	open   string // the text before the elements
	close  string
	nested bool // indent the elements once more
	n      int
}

func (a *array) add(v any) error {
	b, err := encode(v)
	if err != nil {
		return err
	}
	before := ",\n "
	if a.n == 0 {
		before = a.open + "\n "
	}
	if a.nested {
		before += " "
	}
	a.n++
	_, err = fmt.Fprintf(a.w, "%s%s", before, b)
	return err
}

func (a *array) end() error {
	before := "\n"
	if a.n == 0 {
		before = a.open
	}
	_, err := io.WriteString(a.w, before+a.close+"\n")
	return err
}
