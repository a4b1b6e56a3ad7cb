package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fatih/color"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/source"
)

// A mark is a place that a finding speaks of: a part of a line.
type mark struct {
	at      source.Position
	excerpt engine.Excerpt
	signs   string // the first is written once, the second as often as it takes
	color   *color.Color
	label   string // "" for the place of the finding itself
}

// places shows where a finding is and the other places that it speaks of, in the order of the
// file. Places without an excerpt are only named.
func (t *text) places(l *lines, f *engine.Finding) {
	var marks []mark
	if len(f.Excerpt.Text) > 0 {
		marks = append(marks, mark{at: f.Start, excerpt: f.Excerpt, signs: "^~", color: t.style.severity(f.Severity)})
	}
	var named []string
	for i, r := range f.Related {
		p := f.RelatedAt[2*i]
		label := fmt.Sprintf("%s: %d:%d", r.Message, p.Line, p.Column)
		if i < len(f.RelatedExcerpts) && len(f.RelatedExcerpts[i].Text) > 0 {
			marks = append(marks, mark{at: p, excerpt: f.RelatedExcerpts[i], signs: "--", color: t.style.related, label: label})
		} else {
			named = append(named, label)
		}
	}
	slices.SortStableFunc(marks, func(a, b mark) int {
		return cmp.Or(cmp.Compare(a.at.Line, b.at.Line), cmp.Compare(a.at.Offset, b.at.Offset))
	})
	for from, to := 0, 0; from < len(marks); from = to {
		for to = from + 1; to < len(marks) && marks[to].at.Line == marks[from].at.Line; to++ {
		}
		if from > 0 && marks[from].at.Line > marks[from-1].at.Line+1 {
			l.line(colored(t.style.gutter, "  ..."))
		}
		line := marks[from:to]
		if together(line, t.opts.width()) {
			writeMarks(l, t.style, line, t.opts.width())
			continue
		}
		for i := range line {
			if line[i].label != "" {
				line[i].label += ", on the same line"
			}
			writeMarks(l, t.style, line[i:i+1], t.opts.width())
		}
	}
	for _, label := range named {
		l.fold(t.opts.width(), hang, bare(indent), colored(t.style.related, "related:"), bare(" "), bare(label))
	}
}

// gutterOf returns what stands before a line of the file. The blank sets the line apart from one
// that begins with a path, for problem matchers.
func gutterOf(line int) string { return fmt.Sprintf(" %4d |", line) }

// together reports whether all marks of a line fit into one excerpt of it: the text around the
// first one, if that is wide enough.
func together(marks []mark, width int) bool {
	first, last := marks[0], marks[len(marks)-1]
	if len(marks) == 1 {
		return true
	}
	from := first.excerpt.Mark[0]
	to := int(last.at.Offset-first.at.Offset) + from + last.excerpt.Mark[1] - last.excerpt.Mark[0]
	room := width - len(gutterOf(first.at.Line)) - 1
	return to <= len(first.excerpt.Text) && columns(cells(first.excerpt.Text[from:to])) <= mostMarked(room, len(marks))
}

// writeMarks writes a line of the file, and below it the marks in it, with their labels.
func writeMarks(l *lines, s *style, marks []mark, width int) {
	first := marks[0]
	gutter := gutterOf(first.at.Line)
	room := width - len(gutter) - 1
	whole := first.excerpt
	starts := make([]int, len(marks)) // in the text of whole
	for i, m := range marks {
		starts[i] = first.excerpt.Mark[0] + int(m.at.Offset-first.at.Offset)
		whole.Mark[1] = max(whole.Mark[1], starts[i]+m.excerpt.Mark[1]-m.excerpt.Mark[0])
	}
	shown, at, marked := layout(whole, room, mostMarked(room, len(marks)))
	if shown == "" {
		return
	}
	l.line(colored(s.gutter, gutter), bare(" "), bare(shown))
	blank := strings.Repeat(" ", len(gutter)-1) + "|"
	parts := []part{colored(s.gutter, blank), bare(" ")}
	ends := make([]int, len(marks)) // columns behind the marks
	column := 0
	begins := make([]int, len(marks))
	for i, m := range marks {
		n := marked
		begins[i] = at
		if len(marks) > 1 {
			n = columns(cells(whole.Text[starts[i] : starts[i]+m.excerpt.Mark[1]-m.excerpt.Mark[0]]))
			begins[i] += columns(cells(whole.Text[whole.Mark[0]:starts[i]]))
		}
		n = max(n, 1)
		if begins[i] < column { // marks of the same place
			n -= min(n, column-begins[i])
			begins[i] = min(begins[i], column)
		}
		ends[i] = max(begins[i], column) + n
		if n > 0 {
			sign := m.signs[:1] + strings.Repeat(m.signs[1:], n-1)
			parts = append(parts, bare(strings.Repeat(" ", begins[i]-column)), colored(m.color, sign))
			column = ends[i]
		}
	}
	// The label of the last mark goes beside it if there is room, and the others below theirs.
	last := len(marks) - 1
	beside := marks[last].label != "" && ends[last]+1+measure(colored(nil, marks[last].label)) <= room
	if beside {
		parts = append(parts, bare(" "), colored(marks[last].color, marks[last].label))
	}
	l.line(parts...)
	for i, m := range slices.Backward(marks) {
		if m.label == "" || i == last && beside {
			continue
		}
		by := strings.Repeat(" ", max(0, min(begins[i], room-measure(colored(nil, m.label)))))
		l.fold(width, blank+" ", unbroken(s.gutter, blank), unbroken(nil, " "+by), colored(m.color, m.label))
	}
}
