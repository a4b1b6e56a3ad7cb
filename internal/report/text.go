package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/rules"
)

// text writes each finding with its place in the file, for people.
type text struct {
	w     io.Writer
	opts  Options
	style *style
}

func newText(w io.Writer, opts Options) Reporter {
	return &text{w: w, opts: opts, style: newStyle(opts.Color)}
}

// File implements Reporter.
func (t *text) File(r *engine.Report) error {
	var l lines
	for f := range r.Findings.All() {
		if t.opts.shows(f) {
			headline(&l, t.style, f)
			underline(&l, t.style, f.Severity, f.Start.Line, f.Excerpt)
			t.related(&l, f)
			t.fix(&l, f)
		}
	}
	more(&l, t.style, &t.opts, r)
	return l.flush(t.w)
}

// Close implements Reporter.
func (t *text) Close(s *Summary) error {
	var l lines
	missed(&l, t.style, &t.opts, s)
	return l.flush(t.w)
}

// headline writes where a finding is and what it says, as compilers do.
func headline(l *lines, s *style, f *engine.Finding) {
	l.line(
		part{s.path, f.Path}, bare(fmt.Sprintf(":%d:%d: ", f.Start.Line, f.Start.Column)),
		part{s.severity(f.Severity), f.Severity.String()}, bare(": "), bare(f.Message), bare(" "),
		part{s.gutter, "[" + f.Rule.Name + "]"},
	)
}

// more writes how many findings there are that are not shown.
func more(l *lines, s *style, opts *Options, r *engine.Report) {
	for i := range r.Rest {
		if f := &r.Rest[i]; opts.shows(&f.Finding) {
			rest(l, s, f)
		}
	}
}

// rest writes how many findings of a kind there are that are not shown.
func rest(l *lines, s *style, f *engine.Rest) {
	l.line(
		part{s.path, f.Path}, bare(": "), part{s.severity(f.Severity), f.Severity.String()},
		bare(": "+left(f)+" "), part{s.gutter, "[" + f.Rule.Name + "]"},
	)
}

// left says how many findings of a kind there are that are not shown.
func left(f *engine.Rest) string {
	return fmt.Sprintf("%d more of this kind; -o json lists all of them", f.N)
}

// MostShown is how many findings of one kind in a file are shown in formats that
// show few.
const MostShown = 1000

// indent is where the lines below an excerpt stand.
const indent = "        "

// underline writes a part of a line, and below it what is meant.
func underline(l *lines, s *style, severity rules.Severity, line int, e engine.Excerpt) {
	shown, at, width := layout(e)
	if shown == "" {
		return
	}
	number := fmt.Sprintf("%5s", strconv.Itoa(line))
	l.line(part{s.gutter, number + " |"}, bare(" "), bare(shown))
	l.line(
		part{s.gutter, strings.Repeat(" ", len(number)) + " |"}, bare(" "+strings.Repeat(" ", at)),
		part{s.severity(severity), "^" + strings.Repeat("~", max(width, 1)-1)},
	)
}

// Underlined returns a line of a file with what is meant underlined, as the
// text report shows it: width bytes from the one at start.
func Underlined(line int, text string, start, width int) string {
	var l lines
	e := engine.Excerpt{Text: []byte(text), Mark: [2]int{start, start + width}}
	underline(&l, newStyle(false), rules.Error, line, e)
	return l.String()
}

// related writes the other places that a finding speaks of.
func (t *text) related(l *lines, f *engine.Finding) {
	for i, r := range f.Related {
		p := f.RelatedAt[2*i]
		l.line(bare(indent), part{t.style.related, "related:"}, bare(" "), bare(r.Message), bare(fmt.Sprintf(": %d:%d", p.Line, p.Column)))
	}
}

// fix writes what would repair a finding, and at what cost.
func (t *text) fix(l *lines, f *engine.Finding) {
	switch {
	case f.Fix != nil:
		l.line(bare(indent), part{t.style.fix, "fix:"}, bare(" "), bare(f.Fix.Title), bare(" ("+cost(f)+")"))
	case f.Unfixed != "":
		l.line(bare(indent), part{t.style.fix, "no fix:"}, bare(" "), bare(f.Unfixed))
	}
}

// cost says what a repair costs, and what it takes to have it made.
func cost(f *engine.Finding) string {
	switch class := f.Fix.Class.String(); {
	case !f.Fix.ByStrategy:
		return class
	case len(f.Rule.Strategies) > 0:
		return class + ", only with --strategy"
	default:
		return class + ", only with --select " + f.Rule.Name
	}
}
