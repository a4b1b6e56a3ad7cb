package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/toolguard/toolguard/internal/contain"
	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/redact"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/trim"
	"github.com/toolguard/toolguard/internal/write"
)

// redactFlags are the flags of redact.
type redactFlags struct {
	checkFlags
	out       string
	overwrite bool
	json      bool
}

func newRedactCmd(a *app) *cobra.Command {
	f := &redactFlags{}
	cmd := &cobra.Command{
		Use:   "redact [flags] path|-",
		Short: "Replace the contents of a transcript, so that you can share it",
		Long: `redact writes a transcript with filler instead of its contents, for a bug report.
check finds the same in it, at the same bytes.

These parts stay: the keys and values that toolguard itself looks for, such as
types, roles and states, the names of known models, times, counts in known fields,
and true, false and null. Everything else becomes filler of the same length:
texts, arguments with their keys and numbers, results, names of tools, ids,
paths, unknown fields, and what is not JSON. Ids keep the prefixes that providers
document, such as toolu_. Filler depends on the length of a text, and on whether
two texts are equal, and on nothing else of it. It comes from a random key, which
toolguard does not keep.

Before it writes, redact checks the redacted text. A finding that depends on a
text, for example on a limit in a schema, may be missing: the report lists it as
not kept. If the check would find anything new, redact writes nothing and says
why.

redact creates a file; it replaces one only with --overwrite, and never the
input. - is standard input. Compressed input is written without compression. The
report goes to standard error and has no text of the transcript.

Exit codes: 0 if the transcript was redacted, 1 if it was redacted but has errors
and none of them is kept, 2 if it could not be redacted or the command line is
wrong.`,
		Example: `  toolguard redact session.jsonl > shared.jsonl
  toolguard redact --out shared.json --provider anthropic request.json`,
		Args: needs("a file, or - for standard input"),
		RunE: func(cmd *cobra.Command, args []string) error {
			x, err := newRedaction(a, f)
			if err != nil {
				return err
			}
			return x.run(cmd.Context(), args)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.out, "out", "-", "write the redacted transcript to this `file`")
	flags.BoolVar(&f.overwrite, "overwrite", false, "replace an existing file")
	flags.BoolVar(&f.json, "json", false, "report as JSON: on standard output if the transcript does not go there, else on standard error")
	f.defineRules(cmd) // without --fail-on: redact does not fail because of findings
	f.defineReading(cmd)
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print only errors")
	f.fileFlags.define(cmd)
	return cmd
}

// A redaction is one run of the command.
type redaction struct {
	*check
	flags *redactFlags
}

// newRedaction validates the flags and returns the run that they ask for.
func newRedaction(a *app, f *redactFlags) (*redaction, error) {
	f.formats, f.color, f.noBaseline = []string{"text"}, "never", true
	c, err := newCheck(a, &f.checkFlags)
	if err != nil {
		return nil, err
	}
	c.outputs = nil
	c.baselines.off = true
	switch {
	case f.out == "":
		return nil, fmt.Errorf("--out: expected a path, got %q", f.out)
	case f.overwrite && f.out == "-":
		return nil, errors.New("--overwrite needs --out")
	case packedName(f.out):
		return nil, fmt.Errorf("--out: %s: toolguard writes no compressed files", f.out)
	}
	return &redaction{check: c, flags: f}, nil
}

// run redacts the file that paths name.
func (x *redaction) run(ctx context.Context, paths []string) error {
	t, err := x.target(paths[0], "")
	if err != nil {
		return err
	}
	if err := x.admitsOut(t, x.flags.out, x.flags.overwrite); err != nil {
		return err
	}
	return x.described(t.path, contain.Do(func() error { return x.redact(ctx, t) }))
}

// redact redacts a file, writes the result and reports.
func (x *redaction) redact(ctx context.Context, t *target) error {
	src, err := x.open(ctx, t, runtime.GOMAXPROCS(0))
	if err != nil {
		return err
	}
	defer src.Close()
	opts := x.settings(t.config).options(t)
	opts.Identity = t.identity()
	got, err := redact.Redact(ctx, src, opts)
	var proof *redact.ProofError
	switch {
	case errors.As(err, &proof):
		return fmt.Errorf("%s: %w", t.path, err)
	case err != nil:
		return err
	case got.Source == nil:
		return fmt.Errorf("%s: %s", t.path, notTranscript(got.Report, got.Report.SkippedDiscreet))
	}
	defer got.Source.Close()
	if err := x.write(got.Source.Stream()); err != nil {
		return err
	}
	if err := x.tells(t, got); err != nil || !got.NoError {
		return err
	}
	return errFindings
}

// write writes the redacted text.
func (x *redaction) write(text io.Reader) error {
	if x.flags.out == "-" {
		_, err := io.Copy(x.stdout, text)
		return err
	}
	out, err := write.Create(x.flags.out)
	if err != nil {
		return err
	}
	defer out.Discard() // unless it is finished
	if _, err := io.Copy(out, text); err != nil {
		return err
	}
	return out.Commit()
}

// A redactReport is the report of redact as JSON.
type redactReport struct {
	Version       int     `json:"version"`
	Dialect       *string `json:"dialect"`
	Container     string  `json:"container"`
	Bytes         int64   `json:"bytes"`
	Conversations int     `json:"conversations"`
	Calls         int     `json:"calls"`
	Results       int     `json:"results"`
	Errors        int     `json:"errors"`
	Warnings      int     `json:"warnings"`
	Infos         int     `json:"infos"`
	// NotKept are the findings of the original that the redacted text does not have as they are.
	NotKept []notKept `json:"not_kept"`
}

// A notKept is a finding that is not kept.
type notKept struct {
	Rule     string `json:"rule"`
	Severity string `json:"severity"`
	Line     int    `json:"line"`
	Offset   int64  `json:"offset"`
	// Differs says what the finding has otherwise in the redacted text.
	Differs *string `json:"differs"`
}

// tells reports what was redacted.
func (x *redaction) tells(t *target, got *redact.Redacted) error {
	r := got.Report
	about := redactReport{
		Version: 1, Container: r.File.Container, Bytes: got.Source.Size(),
		Conversations: r.File.Conversations, Calls: r.Calls, Results: r.Results, NotKept: []notKept{},
	}
	for _, n := range got.NotKept {
		lost := notKept{n.Rule, n.Severity.String(), n.At.Line, n.At.Offset, nil}
		if n.Differs != "" {
			lost.Differs = &n.Differs
		}
		about.NotKept = append(about.NotKept, lost)
	}
	if r.File.Dialect != "" {
		about.Dialect = &r.File.Dialect
	}
	countFindings(r, &about)
	if x.flags.json {
		to := x.out
		if x.flags.out == "-" {
			to = x.errOut
		}
		enc := json.NewEncoder(to)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(about); err != nil {
			return err
		}
		return x.flush()
	}
	if x.flags.quiet {
		return nil
	}
	same := "check finds the same"
	if n := len(got.NotKept); n > 0 {
		same = "check finds the same except " + count(n, "finding")
	}
	x.say(fmt.Sprintf("Redacted %s of %s. %s: %s, %s, %s.", trim.Plural(int(about.Bytes), "byte"), t.path, same,
		count(about.Errors, "error"), count(about.Warnings, "warning"), count(about.Infos, "info")))
	for _, n := range got.NotKept {
		how := "Not kept"
		if n.Differs != "" {
			how = "Kept with another " + n.Differs
		}
		x.say(how + ": " + n.String() + ".")
	}
	return nil
}

// countFindings counts findings by their severity.
func countFindings(r *engine.Report, to *redactReport) {
	for f, n := range r.Kinds() {
		switch f.Severity {
		case rules.Error:
			to.Errors += n
		case rules.Warning:
			to.Warnings += n
		default:
			to.Infos += n
		}
	}
}
