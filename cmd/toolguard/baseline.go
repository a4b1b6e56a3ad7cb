package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolguard/toolguard/internal/baseline"
	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/report"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/small"
	"github.com/toolguard/toolguard/internal/write"
)

// baselineName is the file that a baseline is written to and read from unless a
// flag or the config file names another one. It is beside the config file, or in the
// current directory if there is none.
const baselineName = ".toolguard-baseline"

// baselines holds the baselines of a run by path.
type baselines struct {
	given string // by --baseline, for all files
	off   bool   // no baseline is read
	files map[string]baseline.Baseline
}

// path returns the path of the baseline for a file, "" if there is none.
func (b *baselines) path(s *settings) string {
	switch {
	case b.off:
		return ""
	case b.given != "":
		return b.given
	}
	return s.baseline
}

// read reads the baselines that apply to files.
func (b *baselines) read(c *check, files []*target) error {
	b.files = map[string]baseline.Baseline{}
	for _, t := range files {
		path := b.path(c.settings(t.config))
		if _, known := b.files[path]; known || path == "" {
			continue
		}
		var err error
		if b.files[path], err = readBaseline(path); err != nil {
			return err
		}
	}
	return nil
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
	if path == "" || r.Findings.Len() == 0 {
		return
	}
	keys := make([]baseline.Key, 0, r.Findings.Len())
	file := baselinePath(path, t)
	for f := range r.Findings.All() {
		keys = append(keys, baselineKey(file, f))
	}
	known := b.files[path].Known(keys)
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
	if rel, err := filepath.Rel(realPath(filepath.Dir(base)), path); err == nil {
		path = rel
	}
	return strings.ToValidUTF8(filepath.ToSlash(path), "\ufffd")
}

// A recording is one run of the baseline command.
type recording struct {
	*check
	path     string
	prune    bool
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

The file is .toolguard-baseline beside the config file, or in the current
directory if there is no config file. check reads the same file. To use another
file, set baseline = "FILE" in toolguard.toml, or give --baseline FILE to both
commands. check --no-baseline reports everything.

A baseline identifies a finding by its rule, its file and the id of its call, or
by a hash of the record if it is not about a call. Line numbers do not matter.
The file has one finding per line and is sorted, so that branches merge cleanly.

baseline updates the entries of the files that it checks and keeps the entries
of other files. With --prune it adds nothing: it removes findings that no longer
occur, and findings in files that no longer exist.`,
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
			r := &recording{check: c, path: f.baseline, prune: prune, recorded: baseline.Baseline{}, files: map[string]bool{}}
			return r.run(cmd.Context(), args)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVar(&prune, "prune", false, "only remove findings that no longer occur")
	flags.StringVar(&f.baseline, "baseline", "", "write to this `file` (default: the baseline in the config file, or "+baselineName+" beside it, or in the current directory)")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print only errors")
	flags.BoolVar(&f.skipUnrecognized, "skip-unrecognized", false, "skip named files that are not clearly transcripts")
	f.ruleFlags.define(cmd)
	f.fileFlags.define(cmd)
	flags.IntVarP(&f.jobs, "jobs", "j", 0, "check `n` files at a time (default: one per processor; maximum: 16, or 4 per processor if that is more)")
	return cmd
}

// run records the findings in the files that paths name.
func (r *recording) run(ctx context.Context, paths []string) error {
	if r.path == "" {
		file, err := r.search.configOf(".")
		if err != nil {
			return err
		}
		r.path = r.settings(file).newBaseline
	}
	ts, err := r.targets(paths)
	if err != nil {
		return err
	}
	if err := r.overwrites(ts.files, r.path); err != nil {
		return err
	}
	weight := func(t *target) int64 { return t.size }
	if err := inOrder(ctx, ts.files, r.flags.jobs, weight, r.check.check, r.take); err != nil {
		return err
	}
	if len(r.summary.Failed) > 0 {
		r.complain(r.path + ": not written, because some files could not be checked")
		return errReported
	}
	return r.write()
}

// take records the findings of a file.
func (r *recording) take(t *target, got checked) error {
	r.now = r.settings(t.config)
	if got.err != nil {
		r.fail(t.path, got.err)
		return nil
	}
	if !r.admits(t, got.report) {
		return nil
	}
	r.summary.Files++
	file := baselinePath(r.path, t)
	r.files[file] = true
	for f := range got.report.Findings.All() {
		if f.Severity > rules.Info || r.now.shows(f.Rule) {
			r.recorded[baselineKey(file, f)]++
		}
	}
	return nil
}

// write merges the current findings into the baseline.
func (r *recording) write() error {
	old, err := readBaseline(r.path)
	if _, statErr := os.Stat(r.path); errors.Is(statErr, fs.ErrNotExist) {
		old, err = baseline.Baseline{}, nil
	}
	if err != nil {
		return err
	}
	merged := baseline.Baseline{}
	for key, n := range old {
		switch {
		case r.files[key.Path]:
			n = min(n, r.recorded[key])
		default:
			path := filepath.Join(realPath(filepath.Dir(r.path)), filepath.FromSlash(key.Path))
			if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && r.prune {
				n = 0
			}
		}
		if n > 0 {
			merged[key] = n
		}
	}
	if !r.prune {
		maps.Copy(merged, r.recorded)
	}
	text, err := merged.Format()
	if err != nil {
		return err
	}
	if before, err := small.File(r.path, small.Baseline); err != nil || !bytes.Equal(before, text) {
		if err := writeFile(r.path, text); err != nil {
			return err
		}
	}
	if !r.flags.quiet {
		was, is := total(old), total(merged)
		change := ""
		if len(old) > 0 {
			change = fmt.Sprintf(" (%+d)", is-was)
		}
		r.note(fmt.Sprintf("%s: %s%s.", r.path, count(is, "known finding"), change))
	}
	return err
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
