package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolguard/toolguard/internal/contain"
	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/quantity"
	"github.com/toolguard/toolguard/internal/report"
	"github.com/toolguard/toolguard/internal/suggest"
	"github.com/toolguard/toolguard/internal/trim"
	"github.com/toolguard/toolguard/internal/write"
)

// trimFlags are the flags of trim.
type trimFlags struct {
	checkFlags
	trim.Request
	target                    int // of the cut
	counter, boundary, prefer string
	out                       string
	overwrite, write, dryRun  bool
	force, json               bool
}

func newTrimCmd(a *app) *cobra.Command {
	f := &trimFlags{}
	cmd := &cobra.Command{
		Use:   "trim [flags] file|-",
		Short: "Shorten a history without parting calls from their results",
		Long: `trim drops old messages of a history and shortens long results. It cuts only at
boundaries: no call is parted from its result, and the parallel calls of a turn
stay together. The system prompt and the declared tools always stay. What is
kept is copied byte for byte.

The boundary user is before a message that a human typed. loop is also before an
assistant message after a finished tool loop. pair is also between the exchanges
of a loop, unless signed reasoning runs through it. A history is not cut where
the provider would refuse the role of the first message; see --provider.

With limits, trim keeps as much as fits. If nothing fits, it says which flags
would help. Tokens are estimated from the text with a margin of 15 %. --counter
cmd:PROGRAM asks a program instead: it gets a JSON string on each line and
answers each with an integer on a line, before it reads the next.

If one result is too large, --results-max-bytes shortens it. The last three
results stay as they are; --keep-results 0 shortens these too.

trim reads the result again before it writes. It writes nothing if a rule would
report more problems than before. It takes one list of messages, or a session log of
Claude Code, Codex, Copilot CLI, Factory droid, Gemini CLI, pi or Qwen Code, of which
it cuts what the agent sends: other branches and sub-agents go, and so do records that
name what is dropped. Other session logs and datasets are refused. The result goes to standard output, the report to standard
error. - is standard input.

Exit codes: 0 if the result is as asked for, 1 if there is no safe cut, 2 if the
file could not be trimmed or the command line is wrong.`,
		Example: `  toolguard trim --max-tokens 60k --results-max-bytes 4KB --out short.json history.json
  toolguard trim --keep-last 40 --boundary loop --write history.json
  my-agent --dump-history | toolguard trim --provider anthropic --keep-last-user 5 - | my-client`,
		Args: needs("a file, or - for standard input"),
		RunE: func(cmd *cobra.Command, args []string) error {
			x, err := newTrimming(a, f, cmd.Flags().Changed)
			if err != nil {
				return err
			}
			return x.run(cmd.Context(), args)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.IntVar(&f.KeepLast, "keep-last", 0, "keep at least the last `n` messages")
	flags.IntVar(&f.KeepLastUser, "keep-last-user", 0, "keep at least the last `n` messages that a human typed, and all that follows them")
	flags.IntVar(&f.target, "target-index", 0, "begin with the message with this `index`, counted from 0")
	flags.IntVar(&f.KeepFirst, "keep-first", 0, "keep at most the first `n` messages, and what other flags keep at the end")
	flags.Var((*quantity.Tokens)(&f.MaxTokens), "max-tokens", "keep at most `n` tokens, such as 60000 or 60k")
	flags.Var((*quantity.Bytes)(&f.MaxBytes), "max-bytes", "keep at most this `size` in bytes, such as 200000 or 200KB")
	flags.StringVar(&f.counter, "counter", "estimate", "`how` to count tokens: estimate, or cmd:PROGRAM")
	flags.StringVar(&f.boundary, "boundary", "user", "cut at this `boundary`: user, loop or pair")
	flags.StringVar(&f.prefer, "prefer", "", "the `side` on which to look for a boundary: older, which keeps more than asked for, or newer, which keeps less (default: older)")
	flags.IntVar(&f.Pin, "pin", 0, "always keep the first `n` messages, with their exchanges")
	flags.Var((*quantity.Bytes)(&f.ResultsMax), "results-max-bytes", "shorten results to this `size` in bytes, such as 4000 or 4KB; at least 200")
	flags.IntVar(&f.KeepResults, "keep-results", 3, "do not shorten the last `n` results")
	flags.StringVar(&f.out, "out", "-", "write the result to this `file`")
	flags.BoolVar(&f.overwrite, "overwrite", false, "replace an existing file")
	flags.BoolVarP(&f.write, "write", "w", false, "trim the file in place, and keep the original with the suffix "+backupSuffix)
	flags.BoolVar(&f.force, "force", false, "write the file even if it seems to be in use or has hard links")
	flags.BoolVar(&f.dryRun, "dry-run", false, "only report")
	flags.BoolVar(&f.json, "json", false, "report as JSON: on standard output if nothing else goes there, else on standard error")
	flags.StringVar(&f.checkFlags.target, "provider", "", "cut as this `provider` allows; toolguard profiles lists them (default: the one that a request names, or that of the format)")
	flags.BoolVar(&f.send, "send", false, "is this about to be sent? Then a call that still waits for its result is an error")
	flags.StringVar(&f.dialect, "from", "", "read the file in this `format`, without detection; toolguard formats lists them")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print only errors")
	flags.StringVar(&f.stdinName, "stdin-filename", stdinName, "use this `name` for standard input in reports")
	f.configFlags.define(cmd)
	exclusive(cmd, "write", "out")
	exclusive(cmd, "write", "dry-run")
	exclusive(cmd, "out", "dry-run")
	exclusive(cmd, "quiet", "json")

	complete(cmd, "boundary", cobra.FixedCompletions(trim.Boundaries(), cobra.ShellCompDirectiveNoFileComp))
	complete(cmd, "prefer", cobra.FixedCompletions([]string{"older", "newer"}, cobra.ShellCompDirectiveNoFileComp))
	complete(cmd, "counter", cobra.FixedCompletions([]string{"estimate", "cmd:"}, cobra.ShellCompDirectiveNoFileComp))
	complete(cmd, "provider", completeFrom(profile.Names))
	complete(cmd, "from", completeDialects)
	return cmd
}

// alternatives joins names: user, loop or pair.
func alternatives(names []string) string {
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// A trimming is one run of the command.
type trimming struct {
	*check
	flags *trimFlags
	req   trim.Request
}

// newTrimming validates the flags and returns the run that they ask for.
func newTrimming(a *app, f *trimFlags, changed func(string) bool) (*trimming, error) {
	f.formats, f.color, f.noBaseline, f.jobs = []string{"text"}, "never", true, 1
	c, err := newCheck(a, &f.checkFlags)
	if err != nil {
		return nil, err
	}
	c.outputs = nil
	c.baselines.off = true
	x := &trimming{check: c, flags: f, req: f.Request}
	if changed("target-index") {
		x.req.Target = &f.target
	}
	one := func(flag, value string, names ...string) (int, error) {
		i := slices.Index(names, value)
		if i < 0 {
			return 0, fmt.Errorf("--%s: %w", flag, suggest.Unknown("value", value, names, "expected "+alternatives(names)))
		}
		return i, nil
	}
	b, err := one("boundary", f.boundary, trim.Boundaries()...)
	if err != nil {
		return nil, err
	}
	x.req.Boundary = trim.Boundary(b)
	if changed("prefer") {
		side, err := one("prefer", f.prefer, "older", "newer")
		if err != nil {
			return nil, err
		}
		x.req.Newer = side == 1
	}
	for flag, value := range map[string]int{"keep-last": f.KeepLast, "keep-last-user": f.KeepLastUser, "keep-first": f.KeepFirst} {
		if changed(flag) && value <= 0 {
			return nil, fmt.Errorf("--%s: expected a number from 1, got %d", flag, value)
		}
	}
	if f.counter != "estimate" && !strings.HasPrefix(f.counter, "cmd:") {
		return nil, fmt.Errorf("--counter: expected estimate or cmd:PROGRAM, got %q", f.counter)
	}
	switch {
	case changed("counter") && f.MaxTokens == 0:
		return nil, errors.New("--counter needs --max-tokens")
	case changed("keep-results") && f.ResultsMax == 0:
		return nil, errors.New("--keep-results needs --results-max-bytes")
	case changed("out") && f.out == "":
		return nil, errors.New(`--out: expected a path, got ""`)
	case f.overwrite && f.out == "-":
		return nil, errors.New("--overwrite needs --out")
	case f.force && !f.write:
		return nil, errors.New("--force needs --write; --overwrite replaces the file that --out names")
	case packedName(f.out):
		return nil, fmt.Errorf("--out: %s: toolguard writes no compressed files", f.out)
	}
	return x, x.req.Validate(trim.Flag)
}

// run trims the file that a path names.
func (x *trimming) run(ctx context.Context, paths []string) error {
	if paths[0] == "-" && x.flags.write {
		return errors.New("--write: standard input cannot be written")
	}
	t, err := x.target(paths[0], "")
	if err != nil {
		return err
	}
	if err := x.admitsOut(t, x.flags.out, x.flags.overwrite); err != nil {
		return err
	}
	x.now = x.settings(t.config)
	err = x.described(t.path, contain.Do(func() error { return x.trim(ctx, t) }))
	var none *trim.NoCutError
	if errors.As(err, &none) {
		if !x.flags.json {
			x.note(err.Error())
		} else if err := report.NoCutJSON(x.reportTo(), none); err != nil {
			return err
		}
		return errFindings
	}
	return err
}

// trim trims a file, writes the result and reports.
func (x *trimming) trim(ctx context.Context, t *target) error {
	var info fs.FileInfo
	if !t.stdin {
		var err error
		if info, err = os.Stat(t.path); err != nil {
			return pathError(t.path, err)
		}
	}
	src, err := x.open(ctx, t, 1)
	if err != nil {
		return err
	}
	defer src.Close()
	req := x.req
	ends := func() error { return nil }
	if line, program := strings.CutPrefix(x.flags.counter, "cmd:"); program {
		c, err := startCounter(ctx, line, x.stderr)
		if err != nil {
			return err
		}
		defer c.close()
		req.Count, ends = c.tokens, c.ends
	}
	opts := x.options(t)
	opts.Most = 1
	got, err := engine.Trim(ctx, src, opts, &req)
	if err == nil {
		err = ends()
	}
	if err = cmp.Or(ctx.Err(), err); err != nil {
		return aboutTrim(t.path, got, err)
	}
	if got.Before.Skipped != "" {
		return fmt.Errorf("%s: %s", t.path, notTranscript(got.Before, got.Before.Skipped))
	}
	f := x.flags
	var out write.Text = src
	if got.Changed() {
		out = got.Pieces
	}
	backup := ""
	switch {
	case f.dryRun:
	case f.write && !got.Changed():
	case f.write:
		backups := newBackups(x.env, "", false)
		o := write.Options{Backup: backupSuffix, Force: f.force}
		if backups.stored(t, x.env) {
			o = write.Options{Keeper: keeper{backups.run, []string{"trim"}}, Session: true, Force: f.force, Copies: copies(x.env)}
		}
		d, err := write.Replace(ctx, write.File{Path: t.path, Info: info, Original: src, Packed: src.Packed(), Text: got.Pieces}, o)
		if d.Note != "" {
			x.complain("warning: " + t.path + ": " + d.Note)
		}
		if err = cmp.Or(err, backups.run.Close()); err != nil {
			return err
		}
		backup = d.Backup
	case f.out != "-":
		o, err := write.Create(f.out)
		if err != nil {
			return err
		}
		defer o.Discard() // unless it is finished
		if err := write.Copy(ctx, o, io.NewSectionReader(out, 0, out.Size())); err != nil {
			return err
		}
		if err := o.Commit(); err != nil {
			return err
		}
	default:
		if err := write.Copy(ctx, x.stdout, io.NewSectionReader(out, 0, out.Size())); err != nil {
			return err
		}
	}
	return x.tellTrimmed(got, &req, backup)
}

// aboutTrim puts the path first in an error of trim. Errors of reading have it already.
func aboutTrim(path string, got *engine.Trimmed, err error) error {
	if errors.As(err, new(*engine.ProofError)) && strings.HasSuffix(got.Before.File.Container, "-log") {
		return fmt.Errorf("%s: %w; toolguard extract writes what was said, for a new session", path, err)
	}
	if errors.As(err, new(*trim.NoCutError)) || errors.As(err, new(*trim.RefusedError)) || errors.As(err, new(*trim.RequestError)) || errors.As(err, new(*engine.ProofError)) {
		return fmt.Errorf("%s: %w", path, err)
	}
	return err
}

// tellTrimmed reports what was trimmed. backup is the name of the original, "" if it was not kept.
func (x *trimming) tellTrimmed(got *engine.Trimmed, req *trim.Request, backup string) error {
	if x.flags.json {
		return report.TrimmedJSON(x.reportTo(), got, backup)
	}
	if x.flags.quiet {
		return nil
	}
	for _, line := range report.Trimmed(got, req) {
		x.note(line)
	}
	if backup != "" {
		x.note("The original is saved as " + backup + ".")
	}
	return nil
}

// reportTo returns where the report as JSON goes.
func (x *trimming) reportTo() io.Writer {
	if f := x.flags; f.write || f.dryRun || f.out != "-" {
		return x.stdout
	}
	return x.stderrReport
}
