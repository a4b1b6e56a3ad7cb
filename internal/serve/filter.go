package serve

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/filter"
	"github.com/toolguard/toolguard/internal/names"
	"github.com/toolguard/toolguard/internal/report"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
)

// A dataset is the rows of a request, and what became of each.
type dataset struct {
	*request
	opts    filter.Options
	rowsIn  [][]byte // each row
	verdict [][]byte // as JSON, nil for a row that nothing was said about
	dialect string   // of the rows
	across  bool     // a value was read from several rows
}

// filterRows says for each row whether it is kept.
func filterRows(ctx context.Context, s *Server, r *request, out *object) error {
	opts, err := s.options(r)
	if err != nil {
		return err
	}
	like, err := s.dialect("like", r.like)
	if err != nil {
		return err
	}
	d := &dataset{request: r}
	if err := d.take(); err != nil {
		return err
	}
	if err := d.ask(opts); err != nil {
		return err
	}
	d.verdict = make([][]byte, len(d.rowsIn))
	err = d.judge(ctx, 0, len(d.rowsIn), like)
	if err == nil && d.across {
		// Rows may not depend on each other, so each is read alone.
		clear(d.verdict)
		known := cmp.Or(like, d.opts.Check.Dialects.ByName(d.dialect))
		for i := range d.rowsIn {
			if err = d.judge(ctx, i, i+1, known); err != nil {
				break
			}
		}
	}
	if err != nil {
		return err
	}
	var dialectName *string
	if d.dialect != "" {
		dialectName = &d.dialect
	}
	out.add("dialect", dialectName)
	list := []byte{'['}
	for i, v := range d.verdict {
		if i > 0 {
			list = append(list, ',')
		}
		if v == nil {
			v = notJudged
		}
		list = append(list, v...)
	}
	out.raw("verdicts", append(list, ']'))
	return nil
}

// notJudged is the verdict about a row without a conversation.
var notJudged = []byte(`{"keep":true,"judged":false}`)

// take reads the rows.
func (d *dataset) take() error {
	field, list := "rows", d.rows
	if d.lines.Exists() {
		field, list = "lines", d.lines
	}
	switch {
	case d.rows.Exists() == d.lines.Exists():
		return failure{codeBad, "expected either rows or lines"}
	case list.Kind() != source.Array:
		return bad(field, "expected a list")
	}
	for i, v := range list.Elements() {
		row := v.Raw()
		if field == "lines" {
			if v.Kind() != source.String {
				return bad(fmt.Sprintf("lines.%d", i), "expected a string")
			}
			row = bytes.TrimRight(v.Text(), "\r\n")
			if bytes.IndexByte(row, '\n') >= 0 {
				return bad(fmt.Sprintf("lines.%d", i), "expected one line")
			}
		}
		d.rowsIn = append(d.rowsIn, row)
	}
	return nil
}

// ask makes the options of the filter, which are those of the command.
func (d *dataset) ask(o engine.Options) error {
	failOn := rules.Error
	if d.failOn != "" {
		var err error
		if failOn, err = names.FailOn(d.failOn); err != nil {
			return bad("fail_on", err.Error())
		}
	}
	d.opts = filter.Options{
		FailOn: failOn, Row: true, Untold: true,
		Out: func() (io.Writer, error) { return io.Discard, nil },
	}
	placeholder := o.Placeholder
	o.Placeholder = ""
	if d.fix {
		named := map[string]bool{}
		for rule := range d.strategy {
			named[rule] = true
		}
		d.opts.Fix = &engine.FixOptions{Options: o, SafeOnly: true, AnyClass: named}
		d.opts.Fix.Placeholder = placeholder
	} else {
		if len(d.strategy) > 0 || d.stripReasoning || placeholder != "" {
			return failure{codeBad, "strategy, strip_reasoning and placeholder need fix"}
		}
		o.Shown = func(_ *rules.Rule, at rules.Severity) bool { return at >= min(failOn, rules.Warning) }
	}
	d.opts.Check = o
	return nil
}

// judge judges the rows from lo up to hi, as filter judges a file of them. If they do not show their
// format, they are read as like.
func (d *dataset) judge(ctx context.Context, lo, hi int, like *dialect.Dialect) error {
	text := bytes.Join(d.rowsIn[lo:hi], []byte("\n"))
	if len(bytes.TrimSpace(text)) == 0 {
		return nil
	}
	starts := make([]int64, 0, hi-lo)
	at := int64(0)
	for _, row := range d.rowsIn[lo:hi] {
		starts = append(starts, at)
		at += int64(len(row)) + 1
	}
	// A torn last row would be said to be where the input ends, but more rows may follow in other
	// requests.
	text = append(text, "\n{}\n"...)
	row := func(at int64) int { return sort.Search(len(starts), func(i int) bool { return starts[i] > at }) - 1 }
	say := func(at source.Span, verdict []byte) {
		i := row(at.Start)
		if at.Start == int64(len(text)-len("{}\n")) {
			return
		}
		if at.End > starts[i]+int64(len(d.rowsIn[lo+i]))+1 {
			d.across = true
		}
		d.verdict[lo+i] = verdict
	}
	opts := d.opts
	opts.Passed = func(p *filter.Passed) error {
		v, err := d.passed(p)
		say(p.Span, v)
		return err
	}
	opts.Reason = func(r *filter.Reason) error {
		i := row(r.Span.Start)
		v, err := report.JSON(report.Rejection(r, starts[i], i+1, d.most()))
		say(r.Span, v)
		return err
	}
	run := func(known *dialect.Dialect) (*filter.Result, error) {
		src := source.FromBytes(inputName, text)
		src.AsLines()
		opts.Check.Dialect = known
		if opts.Fix != nil {
			fix := *opts.Fix
			fix.Dialect = known
			opts.Fix = &fix
		}
		return filter.Run(ctx, src, opts)
	}
	got, err := run(d.opts.Check.Dialect)
	unsure := func() bool {
		return err == nil && (got.Report.Skipped != "" || !got.Report.File.Sure && opts.Check.Dialect == nil)
	}
	if unsure() && like != nil && opts.Check.Dialect == nil {
		got, err = run(like)
	}
	switch {
	case errors.As(err, new(*filter.Error)):
		return failure{codeRefused, err.Error()}
	case err != nil:
		return err
	case unsure() && got.Report.Skipped != "" && opts.Check.Dialect == nil:
		return failure{codeNotTranscript, "not a transcript: " + got.Report.Skipped}
	case unsure() && opts.Check.Dialect == nil:
		return failure{codeNotTranscript, "not clearly a transcript: name the format in from"}
	}
	if got.Report.Skipped != "" {
		d.unread(lo, hi)
	} else if d.dialect == "" {
		d.dialect = got.Report.File.Dialect
	}
	return nil
}

// unread rejects rows that are not valid JSON, where no row has a conversation, so that the filter
// has not looked at them.
func (d *dataset) unread(lo, hi int) {
	scan := source.NewScanner()
	for i := lo; i < hi; i++ {
		row := bytes.TrimSpace(d.rowsIn[i])
		if s := scan.Scan(row, 0, source.Strict); len(row) > 0 && (s.Kind != source.FaultNone || source.SkipBlank(row, s.End) < len(row)) {
			d.verdict[i] = unreadable
		}
	}
}

// unreadable is the verdict about a row that no rule looks at and that is not valid JSON.
var unreadable = []byte(`{"keep":false,"rules":["invalid-json"]}`)

// passed returns the verdict about a row that passes.
func (d *dataset) passed(p *filter.Passed) ([]byte, error) {
	switch {
	case !p.Judged:
		return notJudged, nil
	case p.Text == nil && len(p.Warned) == 0:
		return keep, nil
	}
	o := &object{}
	o.raw("keep", []byte("true"))
	if len(p.Warned) > 0 {
		o.add("warned", p.Warned)
	}
	switch {
	case p.Text == nil:
	case d.lines.Exists():
		o.add("line", string(flat(p.Text)))
	default:
		o.raw("row", slices.Clone(flat(p.Text)))
	}
	line, err := o.line()
	return bytes.TrimSpace(line), err
}

// keep is the verdict about a row that passes as it is.
var keep = []byte(`{"keep":true}`)
