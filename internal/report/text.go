package report

import (
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/fatih/color"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/rules"
)

// text writes each finding with its place in the file, for people.
type text struct {
	w     io.Writer
	opts  Options
	style *style
	begun bool // something was written
}

func newText(w io.Writer, opts Options) Reporter {
	return &text{w: w, opts: opts, style: newStyle(opts.Color)}
}

// File implements Reporter.
func (t *text) File(r *engine.Report) error {
	var l lines
	for f := range r.Findings.All() {
		if t.opts.shows(f) {
			t.gap(&l)
			l.fold(t.opts.headWidth(), indent, headline(t.style, f)...)
			underline(&l, t.style, t.style.severity(f.Severity), "^~", f.Start.Line, f.Excerpt, "", t.opts.width())
			t.related(&l, f)
			t.fix(&l, f)
		}
	}
	for f := range t.opts.more(r) {
		t.gap(&l)
		l.fold(t.opts.headWidth(), indent, rest(t.style, f)...)
	}
	return l.flush(t.w)
}

// gap writes a blank line, except before the first finding.
func (t *text) gap(l *lines) {
	if t.begun {
		l.line()
	}
	t.begun = true
}

// Close implements Reporter.
func (t *text) Close(s *Summary) error {
	var l lines
	for i, line := range missed(t.style, &t.opts, s) {
		if i == 0 {
			t.gap(&l)
		}
		l.fold(t.opts.headWidth(), indent, line...)
	}
	return l.flush(t.w)
}

// headline returns where a finding is and what it says, as compilers write it.
func headline(s *style, f *engine.Finding) []part {
	return []part{
		unbroken(s.path, f.Path),
		bare(fmt.Sprintf(":%d:%d: ", f.Start.Line, f.Start.Column)),
		colored(s.severity(f.Severity), f.Severity.String()),
		bare(": "), bare(f.Message), bare(" "),
		colored(s.gutter, "["+f.Rule.Name+"]"),
	}
}

// more yields the kinds of finding of which not all are shown.
func (o *Options) more(r *engine.Report) iter.Seq[*engine.Rest] {
	return func(yield func(*engine.Rest) bool) {
		for i := range r.Rest {
			if f := &r.Rest[i]; o.shows(&f.Finding) && !yield(f) {
				return
			}
		}
	}
}

// rest returns how many findings of a kind there are that are not shown.
func rest(s *style, f *engine.Rest) []part {
	return []part{
		unbroken(s.path, f.Path),
		bare(": "),
		colored(s.severity(f.Severity), f.Severity.String()),
		bare(": " + left(f) + " "),
		colored(s.gutter, "["+f.Rule.Name+"]"),
	}
}

// left says how many findings of a kind there are that are not shown.
func left(f *engine.Rest) string {
	return fmt.Sprintf("%d more of this kind; -o json lists all of them", f.N)
}

// MostShown is how many findings of one kind in a file are shown in formats that
// show few.
const MostShown = 1000

// indent is where the lines below an excerpt stand, and hang where they go on.
const (
	indent = "        "
	hang   = indent + "    "
)

// underline writes a part of a line, and below it what is meant, with a label if there
// is one. The first sign of marks is written once, the second one as often as it
// takes. It reports whether there was anything to write.
func underline(l *lines, s *style, c *color.Color, marks string, line int, e engine.Excerpt, label string, width int) bool {
	// The blank sets the line apart from one that begins with a path, for problem matchers.
	number := fmt.Sprintf(" %4d", line)
	room := width - len(number) - len(" | ")
	shown, at, marked := layout(e, room)
	if shown == "" {
		return false
	}
	gutter := strings.Repeat(" ", len(number)) + " |"
	l.line(colored(s.gutter, number+" |"), bare(" "), bare(shown))
	mark := colored(c, marks[:1]+strings.Repeat(marks[1:], max(marked, 1)-1))
	wide := measure(colored(c, label))
	if label != "" && at+len(mark.text)+1+wide <= room {
		l.line(colored(s.gutter, gutter), bare(" "+strings.Repeat(" ", at)), mark, bare(" "), colored(c, label))
		return true
	}
	l.line(colored(s.gutter, gutter), bare(" "+strings.Repeat(" ", at)), mark)
	if label != "" {
		// Below the mark, or as far to the left of that as it has to be.
		by := strings.Repeat(" ", max(0, min(at, room-wide)))
		l.fold(width, gutter+" ", unbroken(s.gutter, gutter), unbroken(nil, " "+by), colored(c, label))
	}
	return true
}

// Underlined returns a line of a file with what is meant underlined, as the
// text report shows it: width bytes from the one at start. No line of it takes more
// than room columns.
func Underlined(line int, text string, start, width, room int) string {
	var l lines
	e := engine.Excerpt{Text: []byte(text), Mark: [2]int{start, start + width}}
	s := newStyle(false)
	underline(&l, s, s.severity(rules.Error), "^~", line, e, "", room)
	return l.String()
}

// related shows the other places that a finding speaks of.
func (t *text) related(l *lines, f *engine.Finding) {
	for i, r := range f.Related {
		p := f.RelatedAt[2*i]
		label := fmt.Sprintf("%s: %d:%d", r.Message, p.Line, p.Column)
		if i < len(f.RelatedExcerpts) && underline(l, t.style, t.style.related, "--", p.Line, f.RelatedExcerpts[i], label, t.opts.width()) {
			continue
		}
		l.fold(t.opts.width(), hang, bare(indent), colored(t.style.related, "related:"), bare(" "), bare(label))
	}
}

// fix writes what would repair a finding, and at what cost.
func (t *text) fix(l *lines, f *engine.Finding) {
	switch {
	case f.Fix != nil:
		l.fold(t.opts.width(), hang, bare(indent), colored(t.style.fix, "fix:"), bare(" "), bare(f.Fix.Title), bare(" ("+cost(f)+")"))
	case f.Unfixed != "":
		l.fold(t.opts.width(), hang, bare(indent), colored(t.style.fix, "no fix:"), bare(" "), bare(f.Unfixed))
	}
}

// cost says what a repair costs, and what it takes to have it made.
func cost(f *engine.Finding) string {
	switch class := f.Fix.Class.String(); {
	case !f.Fix.ByStrategy:
		return class
	case chosen(f) != "":
		return class + ", only with --strategy " + chosen(f)
	default:
		return class + ", only with --select " + f.Rule.Name
	}
}
