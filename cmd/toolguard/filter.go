package main

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
	"github.com/toolguard/toolguard/internal/write"
)

// filterFlags are the flags of filter.
type filterFlags struct {
	checkFlags
	out, rejects, reasons string
	overwrite             bool
	fix, stripReasoning   bool
	strategies            []string
	placeholder           string
	maxRejects            string
	json, dryRun          bool
}

func newFilterCmd(a *app) *cobra.Command {
	f := &filterFlags{}
	cmd := &cobra.Command{
		Use:   "filter [flags] [path...|-]",
		Short: "Keep the conversations of a dataset that have no errors",
		Long: `filter reads a dataset and writes the rows in which check finds no errors. It
copies them byte for byte. The other rows go to --rejects, or are only counted.
--fail-on warning also rejects rows with warnings. A row with several
conversations is kept or rejected as a whole. A row that is not valid JSON is
rejected. A row without a conversation is kept, and so are blank lines.

The input is JSON Lines, or a JSON document with a list of conversations. - is
standard input, which may have any length. For a directory or several files,
--out and --rejects are directories, and filter writes a file of the same name
for each input; a file of one conversation is kept or rejected as a whole.
Compressed input is written without compression.

--fix repairs rows before it judges them. It makes safe repairs only; --strategy
allows the other repairs of a rule, and --strip-reasoning removes reasoning. A
row whose repair cannot be proved is rejected.

filter creates files; it replaces them only with --overwrite, and never an
input. The report goes to standard error. --reasons says for each rejected row
where it was and why it was rejected.

Exit codes: 0 if the input was filtered, 1 if more than --max-rejects were
rejected, 2 if a file could not be filtered or the command line is wrong.`,
		Example: `  toolguard filter --out clean.jsonl --rejects bad.jsonl train.jsonl
  zstd -dc train.jsonl.zst | toolguard filter --provider openai - > clean.jsonl
  toolguard filter --max-rejects 1% --out clean/ data/`,
		RunE: func(cmd *cobra.Command, args []string) error {
			x, err := newFiltering(a, f, cmd.Flags().Changed)
			if err != nil {
				return err
			}
			return x.run(cmd.Context(), args)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.out, "out", "-", "write the conversations that pass to this `file`, or to files in this directory")
	flags.StringVar(&f.rejects, "rejects", "", "write the other conversations to this `file`, or to files in this directory")
	flags.StringVar(&f.reasons, "reasons", "", "write a line of JSON for each rejected conversation to this `file`")
	flags.BoolVar(&f.dryRun, "dry-run", false, "write no file, and only report; --reasons - prints the reasons")
	flags.BoolVar(&f.overwrite, "overwrite", false, "replace existing files, or remove them if nothing is left to write")
	flags.StringVar(&f.maxRejects, "max-rejects", "", "exit with 1 if more than this `number` of conversations are rejected, or more than this share, such as 1%")
	flags.BoolVar(&f.fix, "fix", false, "make safe repairs first")
	flags.BoolVar(&f.stripReasoning, "strip-reasoning", false, "with --fix, "+stripReasoningUsage)
	flags.StringSliceVar(&f.strategies, "strategy", nil, "with --fix, repair findings of a rule in this way even if that is not safe: `rule=name`; repeatable, or separated by commas")
	flags.StringVar(&f.placeholder, "placeholder", "", "use this `text` for inserted results; {tool} and {id} are replaced")
	flags.BoolVar(&f.json, "json", false, "report as JSON: on standard output if nothing else goes there, else on standard error")
	f.ruleFlags.define(cmd)
	flags.Lookup("fail-on").Usage = "reject conversations with findings of this `severity` or higher: error, warning or info (default: error)"
	flags.BoolVar(&f.noExcerpt, "no-excerpt", false, "show only ids, names, types and roles in --reasons, and no other text of a transcript")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print only errors")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "say what each file is, and why")
	flags.BoolVar(&f.skipUnrecognized, "skip-unrecognized", false, "skip named files that are not clearly transcripts")
	f.fileFlags.define(cmd)
	defineJobs(flags, &f.jobs, "filter")
	exclusive(cmd, "quiet", "verbose")

	complete(cmd, "strategy", completeFrom(allStrategies))
	return cmd
}

// A filtering is one run of the command.
type filtering struct {
	*check
	flags   *filterFlags
	most    *limit
	several bool // the outputs are directories
	product *bufio.Writer
	reasons *write.Output // nil for none or standard output
	reason  io.Writer     // nil for none
	counts  filter.Counts
}

// newFiltering validates the flags and returns the run that they ask for.
func newFiltering(a *app, f *filterFlags, changed func(string) bool) (*filtering, error) {
	f.formats, f.color, f.noBaseline = []string{"text"}, "never", true
	c, err := newCheck(a, &f.checkFlags)
	if err != nil {
		return nil, err
	}
	c.outputs = nil
	c.baselines.off = true // a known error is no reason to train on it
	x := &filtering{check: c, flags: f}
	if c.strategy, err = strategies(f.strategies); err != nil {
		return nil, err
	}
	if err := stripsAnyway(f.stripReasoning, f.ignored); err != nil {
		return nil, err
	}
	for _, flag := range []string{"strip-reasoning", "strategy", "placeholder"} {
		if changed(flag) && !f.fix {
			return nil, fmt.Errorf("--%s needs --fix", flag)
		}
	}
	if changed("placeholder") && strings.TrimSpace(f.placeholder) == "" {
		return nil, errors.New("--placeholder: expected a text")
	}
	if x.most, err = parseLimit(f.maxRejects); err != nil {
		return nil, err
	}
	if f.dryRun && !changed("out") {
		f.out = ""
	}
	f.out, f.rejects, f.reasons = a.streamed(f.out), a.streamed(f.rejects), a.streamed(f.reasons)
	onStdout := ""
	for _, o := range f.outputs() {
		switch {
		case o.name == "" && changed(o.flag):
			return nil, fmt.Errorf("--%s: expected a path, got %q", o.flag, o.name)
		case packedName(o.name):
			return nil, fmt.Errorf("--%s: %s: toolguard writes no compressed files", o.flag, o.name)
		case o.name == "-" && onStdout != "":
			return nil, fmt.Errorf("--%s and --%s both write to standard output", onStdout, o.flag)
		case o.name == "-":
			onStdout = o.flag
		}
	}
	return x, nil
}

// streamed returns "-" if a path is another name of standard output, and otherwise the path.
func (a *app) streamed(path string) string {
	if path != "" && a.destinationOf(path) == toStdout {
		return "-"
	}
	return path
}

// An outputFlag is a flag that names what is written, and its value.
type outputFlag struct{ flag, name string }

// outputs returns the flags that name what is written.
func (f *filterFlags) outputs() []outputFlag {
	return []outputFlag{{"out", f.out}, {"rejects", f.rejects}, {"reasons", f.reasons}}
}

// packedName reports whether a name is that of a compressed file.
func packedName(name string) bool { return unpackedName(name) != name }

// unpackedName returns the name of a file without the extension of its compression.
func unpackedName(name string) string {
	for _, packed := range []string{".gz", ".zst"} {
		if n := len(name) - len(packed); n > 0 && strings.EqualFold(name[n:], packed) {
			return name[:n]
		}
	}
	return name
}

// A limit is the largest number or share of rejected conversations.
type limit struct {
	number  *big.Rat
	percent bool
}

// parseLimit parses the value of --max-rejects: N or P%. The limit is nil for "".
func parseLimit(text string) (*limit, error) {
	if text == "" {
		return nil, nil
	}
	digits, percent := strings.CutSuffix(text, "%")
	n, ok := new(big.Rat), strings.Trim(digits, "0123456789.") == "" && digits != ""
	if ok {
		_, ok = n.SetString(digits)
	}
	if !ok || !percent && !n.IsInt() || percent && n.Cmp(big.NewRat(100, 1)) > 0 {
		return nil, fmt.Errorf("--max-rejects: expected a number or a share, such as 100 or 0.5%%, got %q", text)
	}
	return &limit{n, percent}, nil
}

// exceeded reports whether more were rejected.
func (l *limit) exceeded(c *filter.Counts) bool {
	if l == nil {
		return false
	}
	most := new(big.Rat).Set(l.number)
	if l.percent {
		most.Mul(most, big.NewRat(int64(c.Conversations), 100))
	}
	return big.NewRat(int64(c.Rejected), 1).Cmp(most) > 0
}

// An outlet is where the parts of one input go: paths, "-" for standard output, or "".
type outlet struct{ out, rejects string }

// run filters the files that paths name.
func (x *filtering) run(ctx context.Context, paths []string) error {
	if len(paths) > 1 && slices.Contains(paths, "-") {
		return errors.New("- reads standard input; it cannot be combined with other paths")
	}
	ts, err := x.targets(paths)
	if err != nil {
		return err
	}
	outlets, err := x.plan(ts, paths)
	if err != nil {
		return err
	}
	if err := x.admitsOutlets(ts, outlets); err != nil {
		return err
	}
	if err := x.openReasons(); err != nil {
		return err
	}
	defer func() {
		if x.reasons != nil {
			x.reasons.Discard()
		}
	}()
	x.product = bufio.NewWriter(x.stdout)
	if slices.ContainsFunc(x.flags.outputs(), func(o outputFlag) bool { return o.name != "" && o.name != "-" }) {
		x.product.Reset(&sidePipe{Writer: x.stdout}) // the files are written all the same
	}
	jobs := x.flags.jobs
	if x.reason != nil {
		jobs = 1 // the reasons are in the order of the files
	}
	if x.stderrTerminal && !x.flags.quiet && x.env("TERM") != "dumb" {
		x.bar = newProgress(x.rawStderr, ts.files, progressAfter)
		defer x.bar.end()
	}
	work := func(ctx context.Context, t *target) (*filter.Result, error) { return x.filter(ctx, t, outlets[t]) }
	err = inOrder(ctx, ts.files, jobs, func(t *target) int64 { return t.size }, work, func(t *target, got *filter.Result, err error) error {
		defer x.bar.step(t)
		return x.take(t, got, err)
	})
	x.bar.end()
	if err = cmp.Or(err, x.product.Flush()); err != nil {
		return err
	}
	return x.end(ts)
}

// plan decides where the parts of each file go.
func (x *filtering) plan(ts *targets, paths []string) (map[*target]outlet, error) {
	f := x.flags
	isDir := func(name string) bool {
		info, err := os.Stat(name)
		return os.IsPathSeparator(name[len(name)-1]) || err == nil && info.IsDir()
	}
	x.several = len(paths) != 1 || len(ts.roots) > 0 || f.out != "" && f.out != "-" && isDir(f.out) || f.rejects != "" && f.rejects != "-" && isDir(f.rejects)
	outlets := map[*target]outlet{}
	if !x.several {
		for _, t := range ts.files {
			outlets[t] = outlet{f.out, f.rejects}
		}
		return outlets, nil
	}
	for _, o := range f.outputs()[:2] {
		info, err := os.Stat(o.name)
		switch {
		case o.name == "-" && len(paths) == 0:
			return nil, fmt.Errorf("--%s: expected a directory, because there may be several files in the current one; - reads standard input", o.flag)
		case o.name == "-":
			return nil, fmt.Errorf("--%s: expected a directory, because there may be several files", o.flag)
		case o.name != "" && err == nil && !info.IsDir():
			return nil, fmt.Errorf("--%s: %s: is not a directory", o.flag, o.name)
		}
	}
	taken := map[string]string{}
	for _, t := range ts.files {
		if t.stdin {
			return nil, errors.New("--out: expected a file, because the input is standard input")
		}
		name := filepath.Base(t.path)
		if len(t.roots) > 0 {
			if rel, err := filepath.Rel(ts.roots[t.roots[0]], t.path); err == nil && filepath.IsLocal(rel) {
				name = rel
			}
		}
		name = unpackedName(name)
		if before := taken[name]; before != "" {
			return nil, fmt.Errorf("%s and %s would both be written to %s", before, t.path, filepath.Join(f.out, name))
		}
		taken[name] = t.path
		o := outlet{}
		if f.out != "" {
			o.out = filepath.Join(f.out, name)
		}
		if f.rejects != "" {
			o.rejects = filepath.Join(f.rejects, name)
		}
		outlets[t] = o
	}
	return outlets, nil
}

// admitsOutlets returns an error if the run would write a file twice, or one that it reads, or
// one that exists.
func (x *filtering) admitsOutlets(ts *targets, outlets map[*target]outlet) error {
	if err := x.prints(ts.files); err != nil {
		return err
	}
	f := x.flags
	var named []string
	for _, o := range f.outputs() {
		if o.name == "" || o.name == "-" {
			continue
		}
		if write.Reserve(named)(o.name) {
			return fmt.Errorf("%s: not written: this run also writes it for another purpose", o.name)
		}
		named = append(named, o.name)
	}
	var written []string
	add := func(name string) {
		if name != "" && name != "-" {
			written = append(written, name)
		}
	}
	for _, t := range ts.files {
		add(outlets[t].out)
	}
	if x.several { // one directory can be inside the other
		kept := write.Reserve(written)
		for _, t := range ts.files {
			if name := outlets[t].rejects; name != "" && kept(name) {
				return fmt.Errorf("%s: not written: this run also writes it for another purpose", name)
			}
		}
	}
	for _, t := range ts.files {
		add(outlets[t].rejects)
	}
	if f.reasons != "" && f.reasons != "-" && x.several && write.Reserve(written)(f.reasons) {
		return fmt.Errorf("%s: not written: this run also writes it for another purpose", f.reasons)
	}
	add(f.reasons)
	if err := x.distinct(written); err != nil {
		return err
	}
	if err := x.reads(ts.files, written); err != nil {
		return err
	}
	if f.overwrite {
		return nil
	}
	for name := range write.Existing(slices.Values(written)) {
		return fmt.Errorf("%s: already exists; --overwrite replaces it", name)
	}
	return nil
}

// distinct returns an error if two of the written files are the same, or one is where a
// standard stream goes. The directory of one output may be inside that of another.
func (x *filtering) distinct(written []string) error {
	if name, twice := write.Repeated(written); twice {
		return fmt.Errorf("%s: not written: this run also writes it for another purpose", name)
	}
	for name, info := range write.Existing(slices.Values(written)) {
		switch {
		case isOpen(info, x.rawStdout):
			return fmt.Errorf("%s: not written: standard output goes to this file", name)
		case isOpen(info, x.rawStderr):
			return fmt.Errorf("%s: not written: standard error goes to this file", name)
		}
	}
	return nil
}

// openReasons opens the file of the reasons.
func (x *filtering) openReasons() (err error) {
	switch {
	case x.flags.reasons == "":
	case x.flags.reasons == "-":
		x.reason = x.stdout
	case !x.flags.dryRun:
		if x.reasons, err = write.Create(x.flags.reasons); err == nil {
			x.reason = x.reasons
		}
	}
	return err
}

// filter filters one file and writes its parts.
func (x *filtering) filter(ctx context.Context, t *target, o outlet) (*filter.Result, error) {
	src, err := x.open(ctx, t, x.flags.jobs)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	opts := x.options(t)
	var files []*write.Output
	defer func() { // those that are not finished
		for _, f := range files {
			f.Discard()
		}
	}()
	if x.flags.dryRun {
		opts.Out = func() (io.Writer, error) { return io.Discard, nil }
		r, err := filter.Run(ctx, src, opts)
		return r, aboutFile(t.path, err)
	}
	unused := []string{o.out, o.rejects} // what stays without a file
	opts.Out = func() (io.Writer, error) {
		unused[0] = ""
		return x.create(o.out, &files)
	}
	if o.rejects != "" {
		opts.Rejects = func() (io.Writer, error) {
			unused[1] = ""
			return x.create(o.rejects, &files)
		}
	}
	r, err := filter.Run(ctx, src, opts)
	if err != nil {
		return nil, aboutFile(t.path, err)
	}
	for len(files) > 0 {
		f := files[0]
		files = files[1:]
		if err := f.Commit(); err != nil {
			return nil, err
		}
	}
	if r.Conversations > 0 {
		for _, name := range unused {
			if err := removeEarlier(name); err != nil {
				return nil, err
			}
		}
	}
	return r, nil
}

// removeEarlier removes the file of an earlier run at a path that gets no file in this one, so
// that no rejected conversation stays among those that pass. Without --overwrite there is none.
func removeEarlier(name string) error {
	if name == "" || name == "-" {
		return nil
	}
	info, err := os.Lstat(name)
	if err != nil || info.IsDir() {
		return nil
	}
	if err := os.Remove(name); err != nil {
		return pathError(name, err)
	}
	return nil
}

// aboutFile puts the path first in an error of the filter. Other errors have it already.
func aboutFile(path string, err error) error {
	if errors.As(err, new(*filter.Error)) {
		return fmt.Errorf("%s: %w", path, err)
	}
	return err
}

// create opens a file for a part of an input.
func (x *filtering) create(name string, files *[]*write.Output) (io.Writer, error) {
	if name == "-" {
		return x.product, nil
	}
	if x.several {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return nil, pathError(filepath.Dir(name), err)
		}
	}
	f, err := write.Create(name)
	if err != nil {
		return nil, err
	}
	*files = append(*files, f)
	return f, nil
}

// options returns the options of the filter for a file.
func (x *filtering) options(t *target) filter.Options {
	s := x.settings(t.config)
	o := s.options(t)
	o.Identity = t.identity()
	o.StripReasoning = x.flags.stripReasoning
	o.Edits = x.reason != nil && !x.flags.noExcerpt
	out := filter.Options{FailOn: s.failOn, Whole: x.several, Row: t.stdin || linesName(t.path), Untold: x.flags.quiet && !x.flags.json}
	if x.reason != nil {
		out.Reason = func(r *filter.Reason) error { return report.Reason(x.reason, r, x.flags.noExcerpt) }
	}
	if x.flags.fix {
		named := map[string]bool{}
		for rule := range x.strategy {
			named[rule] = true
		}
		out.Fix = &engine.FixOptions{Options: o, SafeOnly: true, AnyClass: named}
		out.Fix.Edits = false
		out.Fix.Placeholder = cmp.Or(x.flags.placeholder, s.placeholder)
	} else {
		o.Shown = func(_ *rules.Rule, at rules.Severity) bool { return at >= min(s.failOn, rules.Warning) }
	}
	out.Check = o
	return out
}

// linesName reports whether a file is named like JSON Lines.
func linesName(path string) bool {
	switch strings.ToLower(filepath.Ext(unpackedName(path))) {
	case ".jsonl", ".ndjson":
		return true
	}
	return false
}

// take counts what became of a file, or says which error prevented it.
func (x *filtering) take(t *target, got *filter.Result, err error) error {
	x.now = x.settings(t.config)
	switch {
	case err != nil:
		if isBrokenPipe(err) {
			return err
		}
		x.fail(t.path, err)
		return nil
	case !x.admits(t, got.Report):
		return nil
	case !got.Report.File.Sure && x.now.dialect == nil:
		x.fail(t.path, errors.New(t.path+": not clearly a transcript: name its format with --from"))
		return nil
	}
	if got.Caught != nil {
		x.complain(x.internal(t.path+": rejected "+count(got.Rules[filter.InternalError], "conversation"), got.Caught).Error(), t.path)
	}
	x.summary.Files++
	x.counts.Add(&got.Counts)
	return nil
}

// end closes the reasons, reports, and returns the outcome of the run.
func (x *filtering) end(ts *targets) error {
	failed := len(x.summary.Failed) > 0
	if x.reasons != nil && (x.several || !failed) {
		if err := x.reasons.Commit(); err != nil {
			return err
		}
		x.reasons = nil
	}
	if err := x.tell(ts); err != nil {
		return err
	}
	switch {
	case failed:
		return errReported
	case x.most.exceeded(&x.counts):
		return errFindings
	}
	return nil
}

// tell reports what was kept and rejected.
func (x *filtering) tell(ts *targets) error {
	if x.flags.json {
		w := x.stderrReport
		if !slices.ContainsFunc(x.flags.outputs(), func(o outputFlag) bool { return o.name == "-" }) {
			w = x.stdout
		}
		return report.FilteredJSON(w, &x.counts, x.summary)
	}
	x.warn(ts)
	if x.flags.quiet {
		return nil
	}
	if err := report.FilteredTable(x.stderr, &x.counts); err != nil {
		return err
	}
	said := report.Filtered(&x.counts, x.summary, x.several)
	if x.most.exceeded(&x.counts) {
		said += " More than --max-rejects " + x.flags.maxRejects + "."
	}
	if hint := report.Repairable(&x.counts); hint != "" {
		said += " " + hint
	}
	x.say(said, x.summary.Names()...)
	return nil
}
