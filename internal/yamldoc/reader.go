//go:build !noyaml

package yamldoc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/unfold"
)

// A Reader reads the documents of a file one at a time.
type Reader struct {
	dec  *yaml.Decoder
	feed feed
	base int64 // the offset in the file of the text in feed
	line int   // the number of its first line, from 1
	err  error
}

// NewReader returns a reader of the documents of a source.
func NewReader(src *source.Source) *Reader {
	r := &Reader{line: 1}
	r.feed.from = io.NewSectionReader(src, 0, src.Size())
	r.dec = yaml.NewDecoder(&r.feed)
	return r
}

// Next returns the next document. It returns io.EOF behind the last one, and an *Error if the
// file cannot be read.
func (r *Reader) Next() (*unfold.Unfolded, error) {
	if r.err != nil {
		return nil, r.err
	}
	u, err := r.next()
	r.err = err
	return u, err
}

func (r *Reader) next() (*unfold.Unfolded, error) {
	var n yaml.Node
	switch err := r.dec.Decode(&n); {
	case errors.Is(err, io.EOF):
		return nil, io.EOF
	case r.feed.err != nil:
		return nil, r.feed.err
	case err != nil:
		return nil, unreadable(err)
	}
	t := &transcriber{u: &unfold.Unfolded{}, text: r.feed.text, base: r.base, line: r.line, most: 4*len(r.feed.text) + 1<<16}
	t.lines = linesOf(t.text)
	if err := t.node(&n, 0); err != nil {
		return nil, err
	}
	// The next document begins behind the last line that was looked at, or on it.
	cut := t.lines[min(t.last, len(t.lines)-1)]
	r.base, r.line = r.base+int64(cut), r.line+t.last
	r.feed.text = append(r.feed.text[:0], r.feed.text[cut:]...)
	return t.u, nil
}

// unreadable returns an error of the library as one of this package.
func unreadable(err error) error {
	out := &Error{Reason: strings.TrimPrefix(err.Error(), "yaml: ")}
	var at *yaml.ParserError
	if errors.As(err, &at) {
		out.Line, out.Reason = at.Line, at.Message
	}
	return out
}

// A feed is the text of the current document, and what was read behind it.
type feed struct {
	from io.Reader
	text []byte
	err  error
}

// Read implements io.Reader.
func (f *feed) Read(p []byte) (int, error) {
	if len(f.text) > maxDocument {
		f.err = &Error{Reason: fmt.Sprintf("a document is larger than %d MiB", maxDocument>>20)}
		return 0, f.err
	}
	n, err := f.from.Read(p)
	f.text = append(f.text, p[:n]...)
	if err != nil && !errors.Is(err, io.EOF) {
		f.err = err
	}
	return n, err
}

// A transcriber writes one document.
type transcriber struct {
	u    *unfold.Unfolded
	text []byte // from offset base of the file, which is on line number line
	base int64
	line int
	most int // how long the JSON may become
	// unpacked is how much compressed text was unpacked.
	unpacked int

	lines []int // where each line begins
	last  int   // the last line with a node, from 0
	seen  struct{ line, column, at int }
}

// node writes a node.
func (t *transcriber) node(n *yaml.Node, depth int) error {
	if depth > source.MaxDepth {
		return t.fail(t.offset(n), fmt.Sprintf("nested deeper than %d levels", source.MaxDepth))
	}
	if t.u.Len() > t.most {
		return t.fail(t.offset(n), "its aliases stand for too much text")
	}
	switch n.Kind {
	case yaml.DocumentNode:
		if len(n.Content) == 1 {
			return t.node(n.Content[0], depth)
		}
	case yaml.AliasNode:
		return t.node(n.Alias, depth+1)
	case yaml.SequenceNode:
		at := t.at(n)
		t.u.Put("[", at)
		for i, e := range n.Content {
			if i > 0 {
				t.u.Put(",", at)
			}
			if err := t.node(e, depth+1); err != nil {
				return err
			}
		}
		t.u.Put("]", at)
		return nil
	case yaml.MappingNode:
		at := t.at(n)
		t.u.Put("{", at)
		if err := t.members(n, at, depth, map[string]bool{}); err != nil {
			return err
		}
		t.u.Put("}", at)
		return nil
	case yaml.ScalarNode:
		return t.scalar(n)
	}
	t.u.Put("null", t.at(n))
	return nil
}

// members writes the members of a mapping and of those that it merges with the key <<. named are the
// names so far, which merged ones do not replace.
func (t *transcriber) members(n *yaml.Node, at source.Span, depth int, named map[string]bool) error {
	if depth > source.MaxDepth {
		return t.fail(t.offset(n), fmt.Sprintf("nested deeper than %d levels", source.MaxDepth))
	}
	merging := len(named) > 0
	var merged []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, val := n.Content[i], n.Content[i+1]
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		if key.ShortTag() == "!!merge" {
			if val.Kind == yaml.AliasNode {
				val = val.Alias
			}
			if merged = append(merged, val); val.Kind == yaml.SequenceNode {
				merged = append(merged[:len(merged)-1], val.Content...)
			}
			continue
		}
		name := nameOf(key, 0)
		if merging && named[name] {
			continue
		}
		if len(named) > 0 {
			t.u.Put(",", at)
		}
		named[name] = true
		if key.Kind != yaml.ScalarNode {
			t.u.Put(`"`+escaped(name)+`"`, t.at(key))
		} else if err := t.str(key); err != nil {
			return err
		}
		t.u.Put(":", at)
		if err := t.node(val, depth+1); err != nil {
			return err
		}
	}
	for _, m := range merged {
		if m.Kind == yaml.AliasNode {
			m = m.Alias
		}
		if m.Kind != yaml.MappingNode {
			continue
		}
		if err := t.members(m, at, depth+1, named); err != nil {
			return err
		}
	}
	return nil
}

// mostOfName is how many characters the name of a key has that is no scalar.
const mostOfName = 1 << 10

// nameOf returns the name of a key. A list or a mapping, which is how Python writes an object with a
// class of its own, has the texts in it as its name.
func nameOf(n *yaml.Node, depth int) string {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind == yaml.ScalarNode || depth > source.MaxDepth {
		return n.Value
	}
	var out []string
	size := 0
	for _, e := range n.Content {
		text := nameOf(e, depth+1)
		if out, size = append(out, text), size+len(text); size > mostOfName {
			break
		}
	}
	return strings.Join(out, ", ")
}

// at returns the span of the first character of a node.
func (t *transcriber) at(n *yaml.Node) source.Span {
	i := t.offset(n)
	return source.Span{Start: t.base + int64(i), End: t.base + int64(min(i+1, len(t.text)))}
}

// offset returns where a node begins. The library counts columns in characters; what was found
// replaces them, because aliases lead to a node again.
func (t *transcriber) offset(n *yaml.Node) int {
	if n.Line == 0 {
		return n.Column
	}
	if k := n.Line - t.line; t.seen.line != n.Line || t.seen.column > n.Column {
		t.seen.line, t.seen.column, t.seen.at = n.Line, 1, len(t.text)
		if k < len(t.lines) {
			t.seen.at = t.lines[k]
		}
		t.last = max(t.last, k)
	}
	for ; t.seen.column < n.Column && t.seen.at < len(t.text); t.seen.column++ {
		_, size := utf8.DecodeRune(t.text[t.seen.at:])
		t.seen.at += size
	}
	n.Line, n.Column = 0, t.seen.at
	return t.seen.at
}

// linesOf returns where the lines of a text begin.
func linesOf(text []byte) []int {
	lines := []int{0}
	if bytes.HasPrefix(text, []byte("\xef\xbb\xbf")) {
		lines[0] = 3
	}
	for i := 0; i < len(text); {
		if n := lineBreak(text[i:]); n > 0 {
			i += n
			lines = append(lines, i)
			continue
		}
		i++
	}
	return lines
}

// fail returns an error about the text at an offset.
func (t *transcriber) fail(at int, reason string) error {
	k := max(0, sort.SearchInts(t.lines, at+1)-1)
	return &Error{Line: t.line + k, Column: 1 + utf8.RuneCount(t.text[min(t.lines[k], at):at]), Reason: reason}
}
