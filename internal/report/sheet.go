package report

import (
	"io"

	"github.com/fatih/color"

	"github.com/toolguard/toolguard/internal/rules"
)

// A Sheet collects lines for people that belong to no report, in the colours of reports. Like a
// report, it escapes what a terminal or a CI would obey.
type Sheet struct {
	lines lines
	style *style
}

// An Ink says what a piece of a line is, and so its colour.
type Ink uint8

// The inks.
const (
	Plain   Ink = iota
	Name        // what a line is about
	Fault       // what is wrong
	Repair      // what repairs it
	Command     // what to type
	Aside       // what matters least
)

// A Piece is a part of a line in one ink.
type Piece struct {
	Ink  Ink
	Text string
}

// NewSheet returns an empty sheet, with colours or without.
func NewSheet(colors bool) *Sheet { return &Sheet{style: newStyle(colors)} }

// Line adds a line, however wide it is.
func (s *Sheet) Line(pieces ...Piece) { s.lines.line(s.parts(pieces)...) }

// Fold adds a line, and breaks it between words if it is wider than width. Lines behind the first
// one begin with hang.
func (s *Sheet) Fold(width int, hang string, pieces ...Piece) {
	s.lines.fold(width, hang, s.parts(pieces)...)
}

// Flush writes the lines, and clears the sheet.
func (s *Sheet) Flush(w io.Writer) error { return s.lines.flush(w) }

func (s *Sheet) parts(pieces []Piece) []part {
	inks := [...]*color.Color{
		Name: s.style.path, Fault: s.style.severity(rules.Error), Repair: s.style.fix, Command: s.style.code, Aside: s.style.gutter,
	}
	out := make([]part, len(pieces))
	for i, p := range pieces {
		out[i] = colored(inks[p.Ink], p.Text)
	}
	return out
}
