package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/toolguard/toolguard/internal/engine"
)

// statistics counts findings by rule, and writes a table of them at the end.
type statistics struct {
	w      io.Writer
	opts   Options
	counts map[string]*ruleCount
}

// A ruleCount is a line of the table.
type ruleCount struct {
	rule                  string
	all, fixable, unsafes int
}

// NewStatistics returns a reporter that writes a table instead of findings: how
// often each rule reported, and how much of that can be repaired.
func NewStatistics(w io.Writer, opts Options) Reporter {
	return &statistics{w: w, opts: opts, counts: map[string]*ruleCount{}}
}

// File implements Reporter.
func (s *statistics) File(r *engine.Report) error {
	for f, n := range r.Kinds() {
		if !s.opts.shows(f) {
			continue
		}
		c := s.counts[f.Rule.Name]
		if c == nil {
			c = &ruleCount{rule: f.Rule.Name}
			s.counts[f.Rule.Name] = c
		}
		c.all += n
		switch repairable(f) {
		case byFix:
			c.fixable += n
		case byUnsafeFix:
			c.unsafes += n
		}
	}
	return nil
}

// Close implements Reporter.
func (s *statistics) Close(sum *Summary) error {
	if err := s.table(); err != nil {
		return err
	}
	var l lines
	for _, line := range missed(newStyle(false), &s.opts, sum) {
		l.fold(s.opts.headWidth(), indent, line...)
	}
	return l.flush(s.w)
}

// table writes a line for each rule that found something. If the lines of a terminal are too
// short, the names of all rules are below their numbers.
func (s *statistics) table() error {
	if len(s.counts) == 0 {
		return nil
	}
	rows := slices.SortedFunc(maps.Values(s.counts), func(a, b *ruleCount) int {
		return cmp.Or(cmp.Compare(b.all, a.all), cmp.Compare(a.rule, b.rule))
	})
	var wide strings.Builder
	tw := tabwriter.NewWriter(&wide, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "findings\tfixable\tunsafe\t  rule")
	for _, c := range rows {
		fmt.Fprintf(tw, "%d\t%d\t%d\t  %s\n", c.all, c.fixable, c.unsafes, c.rule)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	fits := true
	for line := range strings.Lines(wide.String()) {
		fits = fits && textWidth(strings.TrimSuffix(line, "\n")) <= s.opts.headWidth()
	}
	var l lines
	for line := range strings.Lines(wide.String()) {
		line = strings.TrimSuffix(line, "\n")
		if fits {
			l.line(bare(line))
			continue
		}
		at := strings.LastIndex(line, "  ")
		l.line(bare(strings.TrimRight(line[:at], " ")))
		l.line(bare(indent + line[at+2:]))
	}
	return l.flush(s.w)
}
