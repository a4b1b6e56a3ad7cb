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
			headline(&l, c.style, f)
		}
	}
	more(&l, c.style, &c.opts, r)
	return l.flush(c.w)
}

// Close implements Reporter.
func (c *concise) Close(s *Summary) error {
	var l lines
	missed(&l, c.style, &c.opts, s)
	return l.flush(c.w)
}
