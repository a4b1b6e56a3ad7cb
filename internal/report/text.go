package report

import (
	"bytes"
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
	var b bytes.Buffer
	for i := range r.Findings {
		if f := &r.Findings[i]; t.opts.shows(f) {
			headline(&b, t.style, f)
			t.excerpt(&b, f)
			t.related(&b, f)
			t.fix(&b, f)
		}
	}
	_, err := t.w.Write(b.Bytes())
	return err
}

// Close implements Reporter.
func (t *text) Close(*Summary) error { return nil }

// headline writes where a finding is and what it says, as compilers do.
func headline(b *bytes.Buffer, s *style, f *engine.Finding) {
	fmt.Fprintf(b, "%s:%d:%d: %s: %s %s\n",
		s.path.Sprint(Printable(f.Path)), f.Start.Line, f.Start.Column,
		s.severity(f.Severity).Sprint(f.Severity), Printable(f.Message), s.gutter.Sprint("["+f.Rule.Name+"]"))
}

// indent is where the lines below an excerpt stand.
const indent = "        "

// excerpt writes the part of the line around a finding and underlines it.
func (t *text) excerpt(b *bytes.Buffer, f *engine.Finding) {
	e := f.Excerpt
	if t.opts.NoExcerpt {
		var ok bool
		if e, ok = redacted(f); !ok {
			return
		}
	}
	underline(b, t.style, f.Severity, f.Start.Line, e)
}

// underline writes a part of a line, and below it what is meant.
func underline(b *bytes.Buffer, s *style, severity rules.Severity, line int, e engine.Excerpt) {
	shown, at, width := layout(e)
	if shown == "" {
		return
	}
	number := fmt.Sprintf("%5s", strconv.Itoa(line))
	fmt.Fprintf(b, "%s %s\n", s.gutter.Sprint(number+" |"), shown)
	marker := "^" + strings.Repeat("~", max(width, 1)-1)
	fmt.Fprintf(b, "%s %s%s\n", s.gutter.Sprint(strings.Repeat(" ", len(number))+" |"),
		strings.Repeat(" ", at), s.severity(severity).Sprint(marker))
}

// Underlined returns a line of a file with what is meant underlined, as the
// text report shows it: width bytes from the one at start.
func Underlined(line int, text string, start, width int) string {
	var b bytes.Buffer
	e := engine.Excerpt{Text: []byte(text), Mark: [2]int{start, start + width}}
	underline(&b, newStyle(false), rules.Error, line, e)
	return b.String()
}

// related writes the other places that a finding speaks of.
func (t *text) related(b *bytes.Buffer, f *engine.Finding) {
	for i, r := range f.Related {
		p := f.RelatedAt[2*i]
		fmt.Fprintf(b, "%s%s %s: %d:%d\n", indent, t.style.related.Sprint("related:"), Printable(r.Message), p.Line, p.Column)
	}
}

// fix writes what would repair a finding, and at what cost.
func (t *text) fix(b *bytes.Buffer, f *engine.Finding) {
	switch {
	case f.Fix != nil:
		fmt.Fprintf(b, "%s%s %s (%s)\n", indent, t.style.fix.Sprint("fix:"), Printable(f.Fix.Title), cost(f))
	case f.Unfixed != "":
		fmt.Fprintf(b, "%s%s %s\n", indent, t.style.fix.Sprint("no fix:"), Printable(f.Unfixed))
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
