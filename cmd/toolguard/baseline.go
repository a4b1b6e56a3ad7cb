package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolguard/toolguard/internal/baseline"
	"github.com/toolguard/toolguard/internal/config"
	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/report"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/small"
	"github.com/toolguard/toolguard/internal/write"
)

// defaultBaseline says in help texts where the baseline of a transcript is.
const defaultBaseline = "the one that its config file names, or " + config.DefaultBaseline + " beside that file, or in the current directory without a config file or with --config"

// baselines holds the baselines of a run by path.
type baselines struct {
	given string // by --baseline, for all files
	off   bool   // no baseline is read
	files map[string]baseline.Baseline
}

// path returns the path of the baseline for files with these settings, whether it
// exists or not, "" if there is none. check reads this file, and baseline writes it.
func (b *baselines) path(s *settings) string {
	switch {
	case b.off:
		return ""
	case b.given != "":
		return b.given
	}
	return s.baseline
}

// optional reports whether the baseline for files with these settings need not exist.
func (b *baselines) optional(s *settings) bool { return b.given == "" && !s.named }

// outside returns an error if the baseline for files with these settings is a link that
// leads out of the repository, unless the user named it. The place of a baseline that a
// config file names was verified with that file.
func (b *baselines) outside(s *settings) error {
	path := b.path(s)
	if path == "" || !b.optional(s) {
		return nil
	}
	if err := config.Leads(path); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// read reads the baselines that apply to files.
func (b *baselines) read(c *check, files []*target) error {
	b.files = map[string]baseline.Baseline{}
	for _, t := range files {
		s := c.settings(t.config)
		path := b.path(s)
		if _, known := b.files[path]; known || path == "" || b.optional(s) && !mayExist(path) {
			continue
		}
		if err := b.outside(s); err != nil {
			return err
		}
		var err error
		if b.files[path], err = readBaseline(path); err != nil {
			if by := ""; !mayExist(path) {
				if b.given == "" {
					by = t.config.Path + " names it, and "
				}
				err = fmt.Errorf("%w; %stoolguard baseline creates it", err, by)
			}
			return err
		}
	}
	return nil
}

// mayExist reports whether there is a file or a link at path, or anything that may be
// one.
func mayExist(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

func readBaseline(path string) (baseline.Baseline, error) {
	text, err := small.File(path, small.Baseline)
	if err != nil {
		return nil, pathError(path, err)
	}
	known, err := baseline.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return known, nil
}

// leaveOut removes the findings that are in the baseline of a file from its
// report and counts them.
func (b *baselines) leaveOut(s *settings, t *target, r *engine.Report, sum *report.Summary) {
	path := b.path(s)
	read, ok := b.files[path]
	if !ok || r.Findings.Len() == 0 {
		return
	}
	keys := make([]baseline.Key, 0, r.Findings.Len())
	file := baselinePath(path, t)
	for f := range r.Findings.All() {
		keys = append(keys, baselineKey(file, f))
	}
	known := read.Known(keys)
	var unknown engine.Findings
	i := 0
	for f := range r.Findings.All() {
		if !known[i] {
			unknown.Add(f)
		}
		i++
	}
	sum.LeaveOut(path, r.Findings.Len()-unknown.Len())
	r.Findings = unknown
}

// baselineKey returns the key of a finding. file is the path as baselinePath
// returns it.
func baselineKey(file string, f *engine.Finding) baseline.Key {
	k := baseline.Key{Path: file, Rule: f.Rule.Name, CallID: strings.ToValidUTF8(f.CallID, "\ufffd")}
	if k.CallID == "" {
		k.Record = f.RecordHash
	}
	return k
}

// baselinePath returns the path of a file relative to the directory of the
// baseline at base. It does not depend on how either path is spelled.
func baselinePath(base string, t *target) string {
	if t.stdin {
		return t.path
	}
	path := t.real
	if rel, err := filepath.Rel(filepath.Dir(realPath(base)), path); err == nil {
		path = rel
	}
	return strings.ToValidUTF8(filepath.ToSlash(path), "\ufffd")
}

// A recording is one run of the baseline command.
type recording struct {
	*check
	prune   bool
	updates map[string]*update // by the real paths of the baselines
}

// An update is a baseline file to be written.
type update struct {
	path     string
	had      bool              // it exists
	old      baseline.Baseline // what it holds
	recorded baseline.Baseline // the current findings
	files    map[string]bool   // the files that were checked, by baselinePath
}

func newBaselineCmd(a *app) *cobra.Command {
	f := &checkFlags{}
	prune := false
	cmd := &cobra.Command{
		Use:   "baseline [flags] [path...]",
		Short: "Record current findings, so that check reports only new ones",
		Long: `baseline records the findings that check reports now. From then on check does
not report recorded findings, so that CI fails only on new ones. fix repairs
recorded findings too.

A finding is recorded in the baseline that check reads for its file:
.toolguard-baseline beside the config file of the transcript, or in the current
directory if no config file applies to it or --config names one. Transcripts
with different config files have different baselines. To use another file, set
baseline = "FILE" in toolguard.toml, or give --baseline FILE to both commands.
With --isolated there is no default, so --baseline FILE is necessary. check
--no-baseline reports everything.

A baseline identifies a finding by its rule, its file and the id of its call, or
by a hash of the record if it is not about a call. Line numbers do not matter.
The file has one finding per line and is sorted, so that branches merge cleanly.

baseline updates the entries of the files that it checks and keeps the entries
of other files. With --prune it adds nothing: it removes findings that no longer
occur, and findings in files that no longer exist. It creates no file.`,
		Example: `  toolguard baseline testdata/
  toolguard check testdata/
  toolguard baseline --prune testdata/`,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.formats = []string{"text"}
			f.color = "never"
			c, err := newCheck(a, f)
			if err != nil {
				return err
			}
			c.records = true // every finding
			r := &recording{check: c, prune: prune, updates: map[string]*update{}}
			return r.run(cmd.Context(), args)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVar(&prune, "prune", false, "only remove findings that no longer occur")
	flags.StringVar(&f.baseline, "baseline", "", "write to this `file` (default: for each transcript "+defaultBaseline+")")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print only errors")
	flags.BoolVar(&f.skipUnrecognized, "skip-unrecognized", false, "skip named files that are not clearly transcripts")
	f.ruleFlags.define(cmd)
	f.fileFlags.define(cmd)
	defineJobs(flags, &f.jobs, "check")
	return cmd
}

// run records the findings in the files that paths name.
func (r *recording) run(ctx context.Context, paths []string) error {
	if r.baselines.off {
		return errors.New("--isolated: there is no default baseline; add --baseline FILE")
	}
	ts, err := r.targets(paths)
	if err != nil {
		return err
	}
	written, err := r.plan(ts)
	if err != nil {
		return err
	}
	if err := r.overwrites(ts.files, written...); err != nil {
		return err
	}
	for _, b := range r.updates {
		if err := b.read(); err != nil {
			return err
		}
	}
	weight := func(t *target) int64 { return t.size }
	if err := inOrder(ctx, ts.files, r.flags.jobs, weight, r.check.check, r.take); err != nil {
		return err
	}
	if len(r.summary.Failed) > 0 {
		r.complain("no baseline was written, because some files could not be checked")
		return errReported
	}
	r.warn(ts)
	return r.write()
}

// plan finds the baselines that apply to the files and the directories of the run,
// and returns their paths.
func (r *recording) plan(ts *targets) ([]string, error) {
	configs := slices.Clone(ts.walked)
	for _, t := range ts.files {
		configs = append(configs, t.config)
	}
	var paths []string
	for _, file := range configs {
		path := r.baselines.path(r.settings(file))
		if err := r.baselines.outside(r.settings(file)); err != nil {
			return nil, err
		}
		if actual := realPath(path); r.updates[actual] == nil {
			r.updates[actual] = &update{path: path, recorded: baseline.Baseline{}, files: map[string]bool{}}
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths, nil
}

// read reads what the baseline holds, if it exists.
func (b *update) read() (err error) {
	if b.had = mayExist(b.path); b.had {
		b.old, err = readBaseline(b.path)
	}
	return err
}

// take records the findings of a file.
func (r *recording) take(t *target, got *engine.Report, err error) error {
	r.now = r.settings(t.config)
	if err != nil {
		r.fail(t.path, err)
		return nil
	}
	if !r.admits(t, got) {
		return nil
	}
	r.summary.Files++
	b := r.updates[realPath(r.baselines.path(r.now))]
	file := baselinePath(b.path, t)
	b.files[file] = true
	for f := range got.Findings.All() {
		if f.Severity > rules.Info || r.now.shows(f.Rule) {
			b.recorded[baselineKey(file, f)]++
		}
	}
	return nil
}

// write writes the baselines that exist or have a file that was checked.
func (r *recording) write() error {
	updates := slices.SortedFunc(maps.Values(r.updates), func(a, b *update) int { return cmp.Compare(a.path, b.path) })
	for _, b := range updates {
		if !b.had && (r.prune || len(b.files) == 0) {
			continue
		}
		merged := b.merge(r.prune)
		text, err := merged.Format()
		if err != nil {
			return err
		}
		if before, err := small.File(b.path, small.Baseline); err != nil || !bytes.Equal(before, text) {
			if err := writeFile(b.path, text); err != nil {
				return err
			}
		}
		if r.flags.quiet {
			continue
		}
		was, is := total(b.old), total(merged)
		change := ""
		if len(b.old) > 0 {
			change = fmt.Sprintf(" (%+d)", is-was)
		}
		r.note(fmt.Sprintf("%s: %s%s.", b.path, count(is, "known finding"), change), b.path)
	}
	return nil
}

// merge returns the new contents of a baseline. If prune is set, it adds nothing.
func (b *update) merge(prune bool) baseline.Baseline {
	merged := baseline.Baseline{}
	for key, n := range b.old {
		switch {
		case b.files[key.Path]:
			n = min(n, b.recorded[key])
		case prune:
			path := filepath.Join(filepath.Dir(realPath(b.path)), filepath.FromSlash(key.Path))
			if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
				n = 0
			}
		}
		if n > 0 {
			merged[key] = n
		}
	}
	if !prune {
		maps.Copy(merged, b.recorded)
	}
	return merged
}

// total returns the number of findings in a baseline.
func total(b baseline.Baseline) int {
	n := 0
	for _, k := range b {
		n += k
	}
	return n
}

// writeFile writes a file completely or not at all.
func writeFile(path string, text []byte) error {
	f, err := write.Create(path)
	if err != nil {
		return err
	}
	if _, err := f.Write(text); err != nil {
		f.Discard()
		return err
	}
	return f.Commit()
}
