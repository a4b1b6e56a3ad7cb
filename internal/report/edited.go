package report

import (
	"bytes"
	"hash/maphash"
	"unicode/utf8"

	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/source"
)

const (
	// previewRead is how many bytes of a line are read on each side of a change, and of the
	// change itself.
	previewRead = 400
	// mostLines is how many lines of a removed text are compared with the new ones.
	mostLines = 10_000
)

// An editedLines is an edit as lines that are removed and added, without the lines at its start
// and its end that are the same before and after.
type editedLines struct {
	before, behind       []byte // the text of the first line before the edit, and of the last line behind it
	cutBefore, cutBehind bool   // there is more of it

	old, new []changedLine
	unread   int  // removed lines that were not read
	inserts  bool // nothing is removed, so the old line says nothing
	skipped  int  // the lines at the start that are the same
	grown    int  // how many more lines there are than before
}

// A changedLine is the part of an edit on one line.
type changedLine struct {
	text        []byte // the first bytes of it
	at          int    // where it begins in the new text
	cut         bool   // it is longer than text
	sum         uint64 // identifies the whole
	first, last bool   // it continues the text before the edit; it is continued by the text behind it
	result      int    // where a result begins in it, 0 if there is none or it is at the start
}

// newEditedLines reads the surroundings of an edit that begins at a position.
func newEditedLines(src *source.Source, at source.Position, e edit.Edit) (*editedLines, error) {
	ed := &editedLines{inserts: e.Span.Len() == 0}
	lineStart := at.Offset - int64(at.Column-1)
	from := max(lineStart, at.Offset-previewRead)
	before, err := src.Bytes(source.Span{Start: from, End: at.Offset})
	if err != nil {
		return nil, err
	}
	ed.before, ed.cutBefore = bytes.Clone(before), from > lineStart
	for ed.cutBefore && len(ed.before) > 0 && !utf8.RuneStart(ed.before[0]) {
		ed.before = ed.before[1:]
	}
	to := min(src.Size(), e.Span.End+previewRead)
	behind, err := src.Bytes(source.Span{Start: e.Span.End, End: to})
	if err != nil {
		return nil, err
	}
	ed.behind, ed.cutBehind = bytes.Clone(behind), to < src.Size()
	if i := bytes.IndexByte(ed.behind, '\n'); i >= 0 {
		ed.behind, ed.cutBehind = ed.behind[:i], false
	}
	if ed.cutBehind {
		ed.behind = source.WholeCharacters(ed.behind)
	} else {
		ed.behind = bytes.TrimSuffix(ed.behind, []byte("\r"))
	}

	if err := ed.read(src, e); err != nil {
		return nil, err
	}
	ed.grown = len(ed.new) - len(ed.old) - ed.unread
	ed.trim()
	return ed, nil
}

// trim leaves out the lines that are the same before and after.
func (ed *editedLines) trim() {
	for len(ed.old) > 0 && len(ed.new) > 0 && ed.same(&ed.old[0], &ed.new[0]) {
		ed.old, ed.new = ed.old[1:], ed.new[1:]
		ed.skipped++
	}
	for len(ed.old) > 0 && len(ed.new) > 0 && ed.same(&ed.old[len(ed.old)-1], &ed.new[len(ed.new)-1]) {
		ed.old, ed.new = ed.old[:len(ed.old)-1], ed.new[:len(ed.new)-1]
		if ed.unread > 0 {
			break // the line before it was not read
		}
	}
}

// same reports whether two lines are certainly the same.
func (ed *editedLines) same(a, b *changedLine) bool {
	if a.first == b.first && a.last == b.last {
		return a.sum == b.sum
	}
	x, known := ed.whole(a)
	y, also := ed.whole(b)
	return known && also && bytes.Equal(x, y)
}

// whole returns a line with the text before and behind the edit, if all of it was read.
func (ed *editedLines) whole(l *changedLine) (text []byte, known bool) {
	if l.cut || l.first && ed.cutBefore || l.last && ed.cutBehind {
		return nil, false
	}
	if l.first {
		text = append(text, ed.before...)
	}
	text = append(text, l.text...)
	if l.last {
		text = append(text, ed.behind...)
	}
	return text, true
}

// read reads the lines of an edit.
func (ed *editedLines) read(src *source.Source, e edit.Edit) error {
	old := splitter{seed: maphash.MakeSeed()}
	old.begin()
	for off := e.Span.Start; off < e.Span.End; {
		text, err := src.Bytes(source.Span{Start: off, End: min(off+diffBlock, e.Span.End)})
		if err != nil {
			return err
		}
		old.write(text)
		off += int64(len(text))
	}
	old.finish()
	ed.old, ed.unread = old.lines, old.unread
	at := 0
	for line := range bytes.SplitSeq(e.Text, []byte("\n")) {
		ed.new = append(ed.new, changedLine{text: line, at: at, sum: maphash.Bytes(old.seed, line)})
		at += len(line) + 1
	}
	for _, side := range [][]changedLine{ed.old, ed.new} {
		side[0].first = len(ed.before) > 0
		side[len(side)-1].last = len(ed.behind) > 0
	}
	return nil
}

// A splitter splits a text into lines and keeps the beginning of each line.
type splitter struct {
	lines  []changedLine
	unread int // lines that were left out, before the last one
	seed   maphash.Seed
	hash   maphash.Hash
}

// begin begins a line.
func (s *splitter) begin() {
	if len(s.lines) == mostLines {
		s.lines = s.lines[:mostLines-1]
		s.unread++
	}
	s.lines = append(s.lines, changedLine{})
	s.hash.SetSeed(s.seed)
}

// finish finishes the last line.
func (s *splitter) finish() { s.lines[len(s.lines)-1].sum = s.hash.Sum64() }

// write adds a part of the text.
func (s *splitter) write(text []byte) {
	for {
		line, rest, more := bytes.Cut(text, []byte("\n"))
		l := &s.lines[len(s.lines)-1]
		_, _ = s.hash.Write(line)
		n := min(len(line), previewRead-len(l.text))
		l.text, l.cut = append(l.text, line[:n]...), l.cut || n < len(line)
		if !more {
			return
		}
		s.finish()
		s.begin()
		text = rest
	}
}
