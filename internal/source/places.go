package source

import (
	"bytes"
	"fmt"
	"sort"
)

// Lines finds the lines and columns of offsets. If the offsets are requested in ascending
// order, the source is read once. Any other offset is counted from the nearest known
// place before it.
type Lines struct {
	src *Source
	// marks are places at regular steps through the part of the source that was read.
	marks []place
	step  int64
	// recent are the places of the last requests. The next request is often near one.
	recent [8]place
	asked  int
	buf    []byte
	text   []byte // part of the source, in buf
	base   int64  // the offset of text
}

// A place is an offset with its line number.
type place struct {
	at      int64
	newline int64 // the offset of the start of its line
	lines   int
	chars   int // the characters in its line before it
}

const (
	// leastStep and mostMarks determine the number of marks in a source.
	leastStep = 16 << 10
	mostMarks = 32 << 10
	// leastRead is the least number of bytes that are read to find a place.
	leastRead = 4 << 10
)

// NewLines returns a Lines for the source.
func NewLines(src *Source) *Lines {
	return &Lines{src: src, marks: []place{{lines: 1}}, step: max(leastStep, src.size/mostMarks)}
}

// Position returns the position of an offset.
func (l *Lines) Position(offset int64) (Position, error) {
	if offset < 0 || offset > l.src.size {
		return Position{}, fmt.Errorf("%s: offset %d is outside the source", l.src.name, offset)
	}
	at := l.marks[sort.Search(len(l.marks), func(i int) bool { return l.marks[i].at > offset })-1]
	for _, r := range l.recent {
		if r.at > at.at && r.at <= offset {
			at = r
		}
	}
	if s := l.src.lines.before(offset); s.at > at.at { // counted by a Reader
		at = place{at: s.at, newline: s.at, lines: s.line}
	}
	for at.at < offset {
		if err := l.forward(&at, offset); err != nil {
			return Position{}, err
		}
	}
	l.recent[l.asked%len(l.recent)] = at
	l.asked++
	return Position{Offset: offset, Line: at.lines, Column: int(offset-at.newline) + 1, Char: at.chars + 1}, nil
}

// forward advances a place toward an offset, at most to the end of the text in memory and
// to the next mark.
func (l *Lines) forward(m *place, offset int64) error {
	if l.text == nil {
		l.base, l.text = 0, l.src.text
	}
	if m.at < l.base || m.at >= l.base+int64(len(l.text)) {
		if l.buf == nil {
			l.buf = make([]byte, min(chunkSize, l.src.size))
		}
		n := min(max(offset-m.at, leastRead), int64(len(l.buf)), l.src.size-m.at)
		l.base, l.text = m.at, l.buf[:n]
		if err := l.src.readFull(l.text, l.base); err != nil {
			l.text = nil
			return err
		}
	}
	next := l.marks[len(l.marks)-1].at + l.step
	end := min(offset, l.base+int64(len(l.text)))
	if m.at < next {
		end = min(end, next)
	}
	part := l.text[m.at-l.base : end-l.base]
	if len(part) >= leastRead { // a source in memory is not read
		if err := l.src.Err(); err != nil {
			return err
		}
	}
	if last := bytes.LastIndexByte(part, '\n'); last >= 0 {
		m.lines += bytes.Count(part, []byte{'\n'})
		m.newline = m.at + int64(last) + 1
		part, m.chars = part[last+1:], 0
	}
	m.chars += characters(part)
	if m.at = end; end == next {
		l.marks = append(l.marks, *m)
	}
	return nil
}
