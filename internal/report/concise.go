package report

import (
	"io"

	"github.com/toolguard/toolguard/internal/engine"
)

// concise writes one line for each finding, in the form that editors parse.
type concise struct {
	w     io.Writer
	opts  Options
	style *style
}

func newConcise(w io.Writer, opts Options) Reporter {
	return &concise{w: w, opts: opts, style: newStyle(opts.Color)}
}

// File implements Reporter.
func (c *concise) File(r *engine.Report) error {
	var l lines
	for f := range r.Findings.All() {
		if c.opts.shows(f) {
			l.line(headline(c.style, f)...)
		}
	}
	for f := range c.opts.more(r) {
		l.line(rest(c.style, f)...)
	}
	return l.flush(c.w)
}

// Close implements Reporter.
func (c *concise) Close(s *Summary) error {
	var l lines
	for _, line := range missed(c.style, &c.opts, s) {
		l.line(line...)
	}
	return l.flush(c.w)
}
