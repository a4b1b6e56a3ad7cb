package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/filter"
	"github.com/toolguard/toolguard/internal/report"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/usage"
	"github.com/toolguard/toolguard/internal/write"
	"github.com/toolguard/toolguard/parquet/internal/lines"
)

// filterFlags are the flags of filter.
type filterFlags struct {
	fileFlags
	ruleFlags
	out, rejects, reasons string
	overwrite, dryRun     bool
	fix, stripReasoning   bool
	strategies            []string
	placeholder           string
	maxRejects            string
	json                  bool
}

// filterCmd returns the command filter.
func (a *app) filterCmd() *cobra.Command {
	f := &filterFlags{}
	cmd := &cobra.Command{
		Use:         "filter [flags] path...",
		Short:       "Keep the rows of Parquet and Arrow files in which there are no errors",
		Annotations: usage.Short("column out rejects reasons overwrite dry-run fix max-rejects provider from select fail-on json"),
		Long: `filter keeps the rows that toolguard filter keeps of the same rows as JSON Lines.
If --out or --rejects is named like a file of the format that is read, such as
*.parquet or *.arrow, filter writes this format there: with the same types,
values, codecs, metadata and order, row group by row group or batch by batch.
Otherwise it writes JSON Lines. For a directory or several files, --out and
--rejects are directories, in which filter writes files of the same names.

--fix repairs rows before it judges them. A repaired row is written to its
columns if it fits them, and rejected with the reason if not.

Exit codes: 0 if the input was filtered, 1 if more than --max-rejects were
rejected, 2 if a file could not be filtered or the command line is wrong.`,
		Example: `  toolguard parquet filter --out clean.parquet --rejects bad.parquet train.parquet
  toolguard parquet filter --column messages --max-rejects 1% --out clean/ data/`,
		RunE: func(cmd *cobra.Command, args []string) error {
			x := &filtering{app: a, filterFlags: f, summary: &report.Summary{}}
			if err := x.parse(cmd.Flags().Changed); err != nil {
				return err
			}
			return x.run(cmd.Context(), args)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	f.fileFlags.define(flags)
	f.ruleFlags.define(flags)
	flags.StringVar(&f.out, "out", "-", "write the rows that pass to this `file`, or to files in this directory")
	flags.StringVar(&f.rejects, "rejects", "", "write the other rows to this `file`, or to files in this directory")
	flags.StringVar(&f.reasons, "reasons", "", "write a line of JSON for each rejected row to this `file`")
	flags.BoolVar(&f.dryRun, "dry-run", false, "write no file, and only report; --reasons - prints the reasons")
	flags.BoolVar(&f.overwrite, "overwrite", false, "replace existing files")
	flags.StringVar(&f.maxRejects, "max-rejects", "", "exit with 1 if more than this `number` of rows are rejected, or more than this share, such as 1%")
	flags.BoolVar(&f.fix, "fix", false, "make safe repairs first")
	flags.BoolVar(&f.stripReasoning, "strip-reasoning", false, "with --fix, remove reasoning")
	flags.StringSliceVar(&f.strategies, "strategy", nil, "with --fix, repair findings of a rule in this way even if that is not safe: `rule=name`; repeatable, or separated by commas")
	flags.StringVar(&f.placeholder, "placeholder", "", "use this `text` for inserted results; {tool} and {id} are replaced")
	flags.BoolVar(&f.json, "json", false, "report as JSON: on standard output if nothing else goes there, else on standard error")
	flags.StringVar(&f.failOn, "fail-on", "", "reject rows with findings of this `severity` or higher: error, warning or info (default: error)")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print only errors")
	return cmd
}

// A filtering is one run of filter.
type filtering struct {
	*app
	*filterFlags
	several bool
	product *bufio.Writer
	reason  io.Writer
	most    *big.Rat
	percent bool
	counts  filter.Counts
	summary *report.Summary
}

// parse checks the values of the flags.
func (x *filtering) parse(changed func(string) bool) error {
	if err := cmp.Or(x.ruleFlags.parse(), x.parseStrategies(x.strategies)); err != nil {
		return err
	}
	for _, flag := range []string{"strip-reasoning", "strategy", "placeholder"} {
		if changed(flag) && !x.fix {
			return fmt.Errorf("--%s needs --fix", flag)
		}
	}
	if r := rules.ByName(rules.ReplayedReasoning); x.stripReasoning {
		for _, name := range x.ignored {
			if name == r.Name || name == string(r.Category) {
				return fmt.Errorf("--strip-reasoning and --ignore %s exclude each other: give only one", name)
			}
		}
	}
	if changed("placeholder") && strings.TrimSpace(x.placeholder) == "" {
		return errors.New("--placeholder: expected a text")
	}
	if x.dryRun && !changed("out") {
		x.out = ""
	}
	onStdout := ""
	for _, o := range x.outputs() {
		switch {
		case o.name == "" && changed(o.flag):
			return fmt.Errorf("--%s: expected a path, got %q", o.flag, o.name)
		case o.name == "-" && onStdout != "":
			return fmt.Errorf("--%s and --%s both write to standard output", onStdout, o.flag)
		case o.name == "-":
			onStdout = o.flag
		}
	}
	if kindNamed(x.reasons) != nil {
		return fmt.Errorf("--reasons: %s: expected a name for JSON Lines", x.reasons)
	}
	return x.parseLimit()
}

// parseLimit parses the value of --max-rejects.
func (x *filtering) parseLimit() error {
	if x.maxRejects == "" {
		return nil
	}
	digits, percent := strings.CutSuffix(x.maxRejects, "%")
	n, ok := new(big.Rat), strings.Trim(digits, "0123456789.") == "" && digits != ""
	if ok {
		_, ok = n.SetString(digits)
	}
	if !ok || !percent && !n.IsInt() || percent && n.Cmp(big.NewRat(100, 1)) > 0 {
		return fmt.Errorf("--max-rejects: expected a number or a share, such as 100 or 0.5%%, got %q", x.maxRejects)
	}
	if x.most, x.percent = n, percent; percent {
		n.Quo(n, big.NewRat(100, 1))
	}
	return nil
}

// exceeded reports whether more were rejected than --max-rejects.
func (x *filtering) exceeded() bool {
	if x.most == nil {
		return false
	}
	most := new(big.Rat).Set(x.most)
	if x.percent {
		most.Mul(most, big.NewRat(int64(x.counts.Conversations), 1))
	}
	return big.NewRat(int64(x.counts.Rejected), 1).Cmp(most) > 0
}

// An output is a flag that names what is written, and its value.
type output struct{ flag, name string }

func (x *filtering) outputs() []output {
	return []output{{"out", x.out}, {"rejects", x.rejects}, {"reasons", x.reasons}}
}

// run filters the files that paths name.
func (x *filtering) run(ctx context.Context, paths []string) error {
	list, several, err := x.targets(paths)
	if err != nil {
		return err
	}
	x.several = several
	if err := x.plan(list); err != nil {
		return err
	}
	x.product = bufio.NewWriter(x.stdout)
	var reasons *write.Output
	switch {
	case x.reasons == "-":
		x.reason = x.product
	case x.reasons != "" && !x.dryRun:
		if reasons, err = write.Create(x.reasons); err != nil {
			return err
		}
		defer func() {
			if reasons != nil {
				reasons.Discard()
			}
		}()
		x.reason = reasons
	}
	for _, t := range list {
		r, err := x.file(ctx, t)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			x.fail(t, err, x.summary)
			continue
		}
		if r.Caught != nil {
			x.complain(x.described(fmt.Sprintf("%s: rejected %d rows", t.path, r.Rules[filter.InternalError]), r.Caught))
		}
		x.summary.Files++
		x.counts.Add(&r.Counts)
	}
	failed := len(x.summary.Failed) > 0
	if reasons != nil && (several || !failed) {
		err = reasons.Commit()
		reasons = nil
	}
	if err = cmp.Or(err, x.product.Flush(), x.tell()); err != nil {
		return err
	}
	switch {
	case failed:
		return errReported
	case x.exceeded():
		return errFindings
	}
	return nil
}

// place returns where a part of a file goes.
func (x *filtering) place(name string, t *target) string {
	if name == "" || !x.several {
		return name
	}
	return filepath.Join(name, t.in)
}

// kind returns the kind of an output, nil for JSON Lines. In a directory, all are of the kind of the input.
func (x *filtering) kind(name string, in *input) *kind {
	if x.several && name != "" && name != "-" {
		return in.kind
	}
	return kindNamed(name)
}

// plan returns an error if the run would write a file twice, or one that it reads, or one that exists.
func (x *filtering) plan(list []*target) error {
	isDir := func(name string) bool {
		info, err := os.Stat(name)
		return err == nil && info.IsDir() || name != "" && os.IsPathSeparator(name[len(name)-1])
	}
	var written []string
	for _, o := range x.outputs()[:2] {
		if o.name == "" || o.name == "-" && !x.several {
			continue
		}
		switch info, err := os.Stat(o.name); {
		case o.name == "-", x.several && err == nil && !info.IsDir():
			return fmt.Errorf("--%s: expected a directory, because there are several files", o.flag)
		case !x.several && isDir(o.name):
			x.several = true
			return x.plan(list)
		}
		for _, t := range list {
			written = append(written, x.place(o.name, t))
		}
	}
	if x.reasons != "" && x.reasons != "-" {
		written = append(written, x.reasons)
	}
	if name, twice := write.Repeated(written); twice {
		return fmt.Errorf("%s: not written: this run also writes it for another purpose", name)
	}
	var read []string
	for _, t := range list {
		read = append(read, t.path)
	}
	if out, in, found := write.Overlap(write.Existing(slices.Values(written)), write.Existing(slices.Values(read))); found {
		if out == in {
			return fmt.Errorf("%s: not written: this run reads it", out)
		}
		return fmt.Errorf("%s: not written: this run reads it as %s", out, in)
	}
	if x.overwrite || x.dryRun {
		return nil
	}
	for name := range write.Existing(slices.Values(written)) {
		return fmt.Errorf("%s: already exists; --overwrite replaces it", name)
	}
	return nil
}

// A sink is where a part of a file goes.
type sink struct {
	file *write.Output // nil for standard output
	rows lines.Writer  // nil for JSON Lines
	text io.Writer
}

// sink opens an output. few says that it gets only the rows that are named.
func (x *filtering) sink(name string, in *input, few bool) (*sink, error) {
	s := &sink{text: io.Discard}
	k := x.kind(name, in)
	switch {
	case k != nil && k.title != in.kind.title:
		return nil, fmt.Errorf("%s: not written: %s is %s: expected a name such as *%s, or one of JSON Lines", name, in.Path(), in.kind.title, in.kind.endings[0])
	case name == "" || x.dryRun:
		return s, nil
	case name == "-":
		s.text = x.product
		return s, nil
	}
	if x.several {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return nil, err
		}
	}
	var err error
	if s.file, err = write.Create(name); err != nil {
		return nil, err
	}
	if k == nil {
		s.text = s.file
		return s, nil
	}
	creator := "toolguard-parquet version " + x.version
	if few {
		s.rows = in.Few(s.file, creator)
	} else {
		s.rows = in.Rest(s.file, creator)
	}
	return s, nil
}

// commit completes an output.
func (s *sink) commit() error {
	if s.rows != nil {
		if err := s.rows.Close(); err != nil {
			return err
		}
	}
	if s.file == nil {
		return nil
	}
	file := s.file
	s.file = nil
	return file.Commit()
}

// discard leaves an output as it was.
func (s *sink) discard() {
	if s != nil && s.file != nil {
		s.file.Discard()
	}
}

// file filters one file.
func (x *filtering) file(ctx context.Context, t *target) (*filter.Result, error) {
	s, err := x.settings(t)
	if err != nil {
		return nil, err
	}
	in, err := x.open(ctx, t)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	out, err := x.sink(x.place(x.out, t), in, false)
	if err != nil {
		return nil, err
	}
	defer func() { out.discard() }()
	rejects, err := x.sink(x.place(x.rejects, t), in, true)
	if err != nil {
		return nil, err
	}
	defer func() { rejects.discard() }()

	opts := x.options(s)
	opts.Out = func() (io.Writer, error) { return out.text, nil }
	if rejects.text != io.Discard {
		opts.Rejects = func() (io.Writer, error) { return rejects.text, nil }
	}
	opts.Reason = func(r *filter.Reason) error {
		for _, w := range []lines.Writer{out.rows, rejects.rows} {
			if w != nil {
				if err := w.Except(int64(r.Record) - 1); err != nil {
					return err
				}
			}
		}
		if x.reason == nil {
			return nil
		}
		return report.Reason(x.reason, r, x.noExcerpt)
	}
	if out.rows != nil || x.dryRun && x.kind(x.place(x.out, t), in) != nil {
		var row lines.Row
		opts.Fit = func(before, after []byte) (stored []byte, err error) {
			row, stored, err = in.Fit(before, after)
			return stored, err
		}
		opts.Passed = func(p *filter.Passed) error {
			if out.rows == nil || p.Text == nil {
				return nil
			}
			return out.rows.Replace(int64(p.Record)-1, row)
		}
	}
	r := &filter.Result{}
	if in.src.Size() > 0 { // else there is no row to judge
		if r, err = filter.Run(ctx, in.src, opts); err != nil {
			return nil, about(t.path, err)
		}
		if err := cmp.Or(admits(t, r.Report, s.Dialect != nil, x.noExcerpt), in.Unchanged()); err != nil {
			return nil, err
		}
	}
	return r, cmp.Or(out.commit(), rejects.commit())
}

// about puts the path first in an error of the filter. Other errors have it already.
func about(path string, err error) error {
	if errors.As(err, new(*filter.Error)) {
		return fmt.Errorf("%s: %w", path, err)
	}
	return err
}

// options returns the options of the filter for a file.
func (x *filtering) options(s *settings) filter.Options {
	o := s.Options
	o.StripReasoning = x.stripReasoning
	o.Edits = x.reason != nil && !x.noExcerpt
	out := filter.Options{FailOn: s.failOn, Row: true, Untold: x.quiet && !x.json}
	if x.fix {
		named := map[string]bool{}
		for rule := range x.strategy {
			named[rule] = true
		}
		out.Fix = &engine.FixOptions{Options: o, SafeOnly: true, AnyClass: named}
		out.Fix.Edits = false
		out.Fix.Placeholder = cmp.Or(x.placeholder, s.placeholder)
	} else {
		o.Shown = func(_ *rules.Rule, at rules.Severity) bool { return at >= min(s.failOn, rules.Warning) }
	}
	out.Check = o
	return out
}

// tell reports what was kept and rejected.
func (x *filtering) tell() error {
	if x.json {
		w := x.errOut
		if !slices.ContainsFunc(x.outputs(), func(o output) bool { return o.name == "-" }) {
			w = x.stdout
		}
		return report.FilteredJSON(w, &x.counts, x.summary)
	}
	if x.quiet {
		return nil
	}
	if err := report.FilteredTable(x.stderr, &x.counts); err != nil {
		return err
	}
	said := report.Filtered(&x.counts, x.summary, x.several)
	if x.exceeded() {
		said += " More than --max-rejects " + x.maxRejects + "."
	}
	if hint := report.Repairable(&x.counts); hint != "" {
		said += " " + hint
	}
	fmt.Fprint(x.stderr, report.FoldSentences(said, report.DefaultWidth, x.summary.Names()...))
	return nil
}
