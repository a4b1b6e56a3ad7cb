package report

import "io"

// An array writes a JSON document with one list, one element a line, and each element as soon
// as it is added.
type array struct {
	w      io.Writer
	open   string // the text before the elements
	close  string
	nested bool // indent the elements once more
	n      int
	enc    encoder
}

func (a *array) add(v any) error {
	b, err := a.enc.encode(v)
	if err != nil {
		return err
	}
	return a.write(b)
}

// write adds an encoded element.
func (a *array) write(b []byte) error {
	before := ",\n "
	if a.n == 0 {
		before = a.open + "\n "
	}
	if a.nested {
		before += " "
	}
	a.n++
	_, err := io.WriteString(a.w, before)
	if err == nil {
		_, err = a.w.Write(b)
	}
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
