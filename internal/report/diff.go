package report

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/toolguard/toolguard/internal/edit"

	"github.com/toolguard/toolguard/internal/source"
)

const (
	// contextLines is the number of lines that a diff shows around a change.
	contextLines = 3
	// diffBlock is the number of bytes that are read at a time. Blocks begin at multiples of
	// it, so that looking back reads nothing again.
	diffBlock = 64 << 10
	// trimBytes is the size up to which changed lines are compared, to omit those that are
	// the same.
	trimBytes = 1 << 20
)

// A Diff is the unified diff of a file and its repaired text. It is made from the edits
// alone: the file is read only to count its lines and to copy the lines around the edits.
// Lines may have any length.
type Diff struct {
	path     string
	old, new *blocks
	hunks    []hunk
	longest  int64
}

// A hunk is a part of a diff: changes with the lines around them.
type hunk struct {
	before, after source.Span // context, in the original
	linesBefore   int
	linesAfter    int
	changes       []change
}

// A change is a run of lines of the original, and the lines that replace them.
type change struct {
	old, new           source.Span
	line               int // of the first old line, from 1
	shift              int // how many lines the earlier changes added
	oldLines, newLines int
}

// NewDiff returns the diff of a source and its repaired text.
func NewDiff(path string, src *source.Source, pieces *edit.Pieces) (*Diff, error) {
	d := &Diff{path: path, old: newBlocks(src, src.Size()), new: newBlocks(pieces, pieces.Size())}
	changes, err := d.changes(src, pieces.Edits())
	if err != nil {
		return nil, err
	}
	return d, d.group(changes)
}

// Empty reports whether there is no difference.
func (d *Diff) Empty() bool { return len(d.hunks) == 0 }

// LongestLine returns the number of bytes of the longest line of the diff.
func (d *Diff) LongestLine() int64 { return d.longest }

// changes finds the lines that edits touch.
func (d *Diff) changes(src *source.Source, edits []edit.Edit) ([]change, error) {
	at := make([]source.Position, 0, 2*len(edits))
	lines := source.NewLines(src)
	for _, e := range edits {
		for _, offset := range []int64{e.Span.Start, e.Span.End} {
			p, err := lines.Position(offset)
			if err != nil {
				return nil, err
			}
			at = append(at, p)
		}
	}
	lineStart := func(p source.Position) int64 { return p.Offset - int64(p.Column-1) }
	var out []change
	moved := int64(0) // how many bytes the earlier edits added
	shift := 0
	for i := 0; i < len(edits); {
		c := change{line: at[2*i].Line, shift: shift}
		c.old.Start = lineStart(at[2*i])
		c.new.Start = c.old.Start + moved
		for joined := true; joined; {
			end := at[2*i+1]
			moved += int64(len(edits[i].Text)) - edits[i].Span.Len()
			i++
			// If whole lines are inserted or removed, the next line stays as it is. Otherwise
			// the rest of the line belongs to the change.
			whole := end.Column == 1
			if now := end.Offset + moved; whole && now > c.new.Start {
				b, err := d.new.from(now - 1)
				if err != nil {
					return nil, err
				}
				whole = b[0] == '\n'
			}
			c.old.End = end.Offset
			if !whole {
				if i < len(edits) && at[2*i].Line == end.Line {
					continue
				}
				var err error
				if c.old.End, err = d.old.lineEnd(end.Offset); err != nil {
					return nil, err
				}
			}
			joined = i < len(edits) && lineStart(at[2*i]) < c.old.End
		}
		c.new.End = c.old.End + moved
		same, err := d.trim(&c)
		if err != nil {
			return nil, err
		}
		if same {
			continue
		}
		if c.oldLines, err = d.count(d.old, c.old); err != nil {
			return nil, err
		}
		if c.newLines, err = d.count(d.new, c.new); err != nil {
			return nil, err
		}
		shift += c.newLines - c.oldLines
		if n := len(out) - 1; n >= 0 && out[n].old.End == c.old.Start {
			// Adjacent changes become one, because old lines come first.
			out[n].old.End, out[n].new.End = c.old.End, c.new.End
			out[n].oldLines += c.oldLines
			out[n].newLines += c.newLines
			continue
		}
		out = append(out, c)
	}
	return out, nil
}

// trim removes equal lines from both ends of a change, and reports whether all lines are
// equal.
func (d *Diff) trim(c *change) (same bool, err error) {
	if c.old.Len() == 0 || c.new.Len() == 0 || c.old.Len()+c.new.Len() > trimBytes {
		return c.old.Len() == 0 && c.new.Len() == 0, nil
	}
	was, err := d.old.bytes(c.old)
	if err != nil {
		return false, err
	}
	is, err := d.new.bytes(c.new)
	if err != nil {
		return false, err
	}
	if bytes.Equal(was, is) {
		return true, nil
	}
	n := 0
	for n < len(was) && n < len(is) && was[n] == is[n] {
		n++
	}
	n = bytes.LastIndexByte(was[:n], '\n') + 1
	c.line += bytes.Count(was[:n], []byte("\n"))
	c.old.Start += int64(n)
	c.new.Start += int64(n)
	was, is = was[n:], is[n:]
	m := 0 // equal lines at the end begin m bytes before it
	for k := 1; k <= len(was) && k <= len(is) && was[len(was)-k] == is[len(is)-k]; k++ {
		starts := func(b []byte) bool { return k == len(b) || b[len(b)-k-1] == '\n' }
		if starts(was) && starts(is) {
			m = k
		}
	}
	c.old.End -= int64(m)
	c.new.End -= int64(m)
	return false, nil
}

// count counts the lines of a span, and updates the longest one.
func (d *Diff) count(b *blocks, s source.Span) (int, error) {
	n, start := 0, s.Start
	for at := s.Start; at < s.End; {
		text, err := b.from(at)
		if err != nil {
			return 0, err
		}
		text = text[:min(int64(len(text)), s.End-at)]
		for {
			i := bytes.IndexByte(text, '\n')
			if i < 0 {
				break
			}
			n++
			text = text[i+1:]
			at += int64(i) + 1
			d.longest = max(d.longest, at-start)
			start = at
		}
		at += int64(len(text))
	}
	if start < s.End {
		n++
		d.longest = max(d.longest, s.End-start)
	}
	return n, nil
}

// group makes hunks of changes. Changes whose context lines would meet form one hunk.
func (d *Diff) group(changes []change) error {
	done := int64(0) // the end of the previous hunk
	for i := 0; i < len(changes); {
		first := changes[i]
		var h hunk
		start, err := d.old.back(first.old.Start, contextLines, done)
		if err != nil {
			return err
		}
		h.before = source.Span{Start: start, End: first.old.Start}
		if h.linesBefore, err = d.count(d.old, h.before); err != nil {
			return err
		}
		k := i + 1
		for k < len(changes) && changes[k].line-(changes[k-1].line+changes[k-1].oldLines) <= 2*contextLines {
			between := source.Span{Start: changes[k-1].old.End, End: changes[k].old.Start}
			if _, err := d.count(d.old, between); err != nil { // for the longest line
				return err
			}
			k++
		}
		h.changes = changes[i:k]
		i = k
		h.after.Start = h.changes[len(h.changes)-1].old.End
		if h.after.End, err = d.old.ahead(h.after.Start, contextLines); err != nil {
			return err
		}
		if h.linesAfter, err = d.count(d.old, h.after); err != nil {
			return err
		}
		done = h.after.End
		d.hunks = append(d.hunks, h)
	}
	return nil
}

// WriteTo writes the diff in a form that git apply accepts.
func (d *Diff) WriteTo(w io.Writer) (int64, error) {
	counter := &countingWriter{w: w}
	out := bufio.NewWriterSize(counter, diffBlock)
	err := d.write(out)
	if err == nil {
		err = out.Flush()
	}
	return counter.n, err
}

type countingWriter struct {
	w io.Writer
	n int64
}

func (c *countingWriter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

func (d *Diff) write(w *bufio.Writer) error {
	if d.Empty() {
		return nil
	}
	name := filepath.ToSlash(d.path)
	if filepath.IsAbs(d.path) {
		name = strings.TrimPrefix(name[len(filepath.VolumeName(d.path)):], "/")
	}
	fmt.Fprintf(w, "--- %s\n+++ %s\n", diffName("a/"+name), diffName("b/"+name))
	for i := range d.hunks {
		h := &d.hunks[i]
		first, last := &h.changes[0], &h.changes[len(h.changes)-1]
		oldStart := first.line - h.linesBefore
		newStart := oldStart + first.shift
		end := last.line + last.oldLines + h.linesAfter
		oldCount := end - oldStart
		newCount := oldCount + last.shift - first.shift + last.newLines - last.oldLines
		fmt.Fprintf(w, "@@ -%s +%s @@\n", lineRange(oldStart, oldCount), lineRange(newStart, newCount))
		at := h.before.Start
		for k := range h.changes {
			c := &h.changes[k]
			if err := d.old.lines(w, ' ', source.Span{Start: at, End: c.old.Start}); err != nil {
				return err
			}
			if err := d.old.lines(w, '-', c.old); err != nil {
				return err
			}
			if err := d.new.lines(w, '+', c.new); err != nil {
				return err
			}
			at = c.old.End
		}
		if err := d.old.lines(w, ' ', h.after); err != nil {
			return err
		}
	}
	return nil
}

// lineRange writes the range of n lines. An empty range gives the line before it.
func lineRange(start, n int) string {
	switch n {
	case 0:
		return fmt.Sprintf("%d,0", start-1)
	case 1:
		return strconv.Itoa(start)
	}
	return fmt.Sprintf("%d,%d", start, n)
}

// diffName writes a name as git does: quoted if a byte in it could be misread, and followed
// by a tab if it contains spaces.
func diffName(name string) string {
	quoted := false
	var b strings.Builder
	for i := range len(name) {
		switch c := name[i]; {
		case c == '"' || c == '\\':
			quoted = true
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c >= 0x7f:
			quoted = true
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	switch {
	case quoted:
		return `"` + b.String() + `"`
	case strings.Contains(name, " "):
		return name + "\t"
	}
	return name
}

// blocks reads a file block by block, and keeps the last block read.
type blocks struct {
	r    io.ReaderAt
	size int64
	at   int64
	buf  []byte
}

func newBlocks(r io.ReaderAt, size int64) *blocks {
	return &blocks{r: r, size: size}
}

// block returns the block that contains an offset, and its start.
func (b *blocks) block(off int64) ([]byte, int64, error) {
	at := off - off%diffBlock
	if len(b.buf) == 0 || b.at != at {
		n := min(diffBlock, b.size-at)
		if int64(cap(b.buf)) < n {
			b.buf = make([]byte, n)
		}
		b.buf, b.at = b.buf[:n], at
		if n, err := b.r.ReadAt(b.buf, at); n < len(b.buf) {
			b.buf = b.buf[:0]
			return nil, 0, err
		}
	}
	return b.buf, b.at, nil
}

// from returns the bytes from an offset on, at least one.
func (b *blocks) from(off int64) ([]byte, error) {
	text, at, err := b.block(off)
	if err != nil {
		return nil, err
	}
	return text[off-at:], nil
}

// bytes returns a copy of the bytes of a span.
func (b *blocks) bytes(s source.Span) ([]byte, error) {
	out := make([]byte, 0, s.Len())
	for at := s.Start; at < s.End; at = s.Start + int64(len(out)) {
		text, err := b.from(at)
		if err != nil {
			return nil, err
		}
		out = append(out, text[:min(int64(len(text)), s.End-at)]...)
	}
	return out, nil
}

// lineEnd returns the start of the line after the one at off, or the end.
func (b *blocks) lineEnd(off int64) (int64, error) { return b.ahead(off, 1) }

// ahead returns the end of the n lines from off on.
func (b *blocks) ahead(off int64, n int) (int64, error) {
	for off < b.size {
		text, err := b.from(off)
		if err != nil {
			return 0, err
		}
		i := bytes.IndexByte(text, '\n')
		if i < 0 {
			off += int64(len(text))
			continue
		}
		off += int64(i) + 1
		if n--; n == 0 {
			break
		}
	}
	return off, nil
}

// back returns the start of the n lines that end at off, but not before first. Both are
// starts of lines.
func (b *blocks) back(off int64, n int, first int64) (int64, error) {
	for n++; off > first; {
		text, at, err := b.block(off - 1)
		if err != nil {
			return 0, err
		}
		text = text[max(0, first-at) : off-at]
		i := bytes.LastIndexByte(text, '\n')
		if i < 0 {
			off -= int64(len(text))
			continue
		}
		off -= int64(len(text) - i - 1)
		if n--; n == 0 {
			return off, nil
		}
		off--
	}
	return first, nil
}

// lines writes the lines of a span, each after a mark.
func (b *blocks) lines(w *bufio.Writer, mark byte, s source.Span) error {
	if s.Len() == 0 {
		return nil
	}
	fresh := true
	for at := s.Start; at < s.End; {
		text, err := b.from(at)
		if err != nil {
			return err
		}
		text = text[:min(int64(len(text)), s.End-at)]
		at += int64(len(text))
		for len(text) > 0 {
			if fresh {
				_ = w.WriteByte(mark) // Flush returns its error
			}
			line := text
			if i := bytes.IndexByte(text, '\n'); i >= 0 {
				line = text[:i+1]
			}
			fresh = line[len(line)-1] == '\n'
			if _, err := w.Write(line); err != nil {
				return err
			}
			text = text[len(line):]
		}
	}
	if !fresh {
		_, _ = w.WriteString("\n\\ No newline at end of file\n")
	}
	return nil
}
