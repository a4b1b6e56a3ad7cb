package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolguard/toolguard/internal/contain"
	"github.com/toolguard/toolguard/internal/extract"
	"github.com/toolguard/toolguard/internal/quantity"
	"github.com/toolguard/toolguard/internal/report"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/suggest"
	"github.com/toolguard/toolguard/internal/trim"
	"github.com/toolguard/toolguard/internal/write"
)

// extractFlags are the flags of extract.
type extractFlags struct {
	checkFlags
	maxTokens  int64
	only       []string
	scope      string
	all        bool
	resultsMax int64
	out        string
	overwrite  bool
	json       bool
}

func newExtractCmd(a *app) *cobra.Command {
	f := &extractFlags{}
	cmd := &cobra.Command{
		Use:   "extract [flags] file|-",
		Short: "Write what was said in a transcript as text, for a new session",
		Long: `extract writes what was said in a transcript as Markdown: the texts of each turn,
its calls with their arguments, and the beginning and the end of each result. Give
it to a new session if no repair helps, or if the history is too long.

The default is the main conversation, as the client sends it: without what is
before a compaction, on branches that the user left, and without sub-agents.
Reasoning and images are left out. extract reads whatever check reads. It says at
the end of the text, and on standard error, what is left out and which lines
cannot be read.

With --max-tokens, the newest turns that fit are written. Tokens are estimated as
toolguard trim does.

The text holds what was said word for word, secrets too: see toolguard redact for a
transcript that can be shared. All that was said is in fences that it cannot end.
Control characters and the like are written as bytes, such as <1b>.

The transcript does not change. - is standard input.

Exit codes: 0 if the text was written, 1 if nothing was said or --max-tokens has no
room for the last turn, 2 if the transcript cannot be read or the command line is
wrong.`,
		Example: `  toolguard extract session.jsonl > said.md
  toolguard extract --max-tokens 50k --only user,assistant --out said.md session.jsonl
  toolguard extract --json session.jsonl`,
		Args: needs("a file, or - for standard input"),
		RunE: func(cmd *cobra.Command, args []string) error {
			x, err := newExtraction(a, f, cmd.Flags().Changed)
			if err != nil {
				return err
			}
			return x.run(cmd.Context(), args)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.Var((*quantity.Tokens)(&f.maxTokens), "max-tokens", "write the newest turns, at most `n` tokens, such as 60000 or 60k")
	flags.StringSliceVar(&f.only, "only", nil, "write only what these said: `who`, of "+strings.Join(extract.Speakers(), ", ")+"; repeatable, or separated by commas")
	flags.StringVar(&f.scope, "scope", "main", "write the main conversation, all, or the sub-agent or other conversation with this `name`: main, all or name")
	flags.BoolVar(&f.all, "all", false, "also write what the client no longer sends")
	f.resultsMax = 2000
	flags.Var((*quantity.Bytes)(&f.resultsMax), "results-max-bytes", "shorten results to this `size` in bytes, such as 4000 or 4KB; at least 200")
	flags.StringVar(&f.out, "out", "-", "write the text to this `file`")
	flags.BoolVar(&f.overwrite, "overwrite", false, "replace an existing file")
	flags.BoolVar(&f.json, "json", false, "write a JSON document")
	flags.StringVar(&f.dialect, "from", "", "read the file in this `format`, without detection; toolguard formats lists them")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print only errors")
	f.fileFlags.define(cmd)
	complete(cmd, "from", completeDialects)
	complete(cmd, "only", cobra.FixedCompletions(extract.Speakers(), cobra.ShellCompDirectiveNoFileComp))
	complete(cmd, "scope", cobra.FixedCompletions([]string{"main", "all"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// An extraction is one run of the command.
type extraction struct {
	*check
	flags *extractFlags
	as    report.Extractor
	bw    *bufio.Writer
	lines *source.Lines
	about report.Extraction

	newest []said  // that are not written yet
	needs  int64   // the tokens of the last turn that did not fit alone
	tokens float64 // of these
	begun  bool
	last   int // the conversation of the last turn
	calls  int
}

// A said is a turn as it is written.
type said struct {
	text   []byte
	tokens float64
	calls  int
}

// newExtraction validates the flags and returns the run that they ask for.
func newExtraction(a *app, f *extractFlags, changed func(string) bool) (*extraction, error) {
	f.formats, f.color, f.noBaseline = []string{"text"}, "never", true
	c, err := newCheck(a, &f.checkFlags)
	if err != nil {
		return nil, err
	}
	c.outputs = nil
	c.baselines.off = true
	for _, who := range f.only {
		if !slices.Contains(extract.Speakers(), who) {
			return nil, fmt.Errorf("--only: %w", suggest.Unknown("value", who, extract.Speakers(), "expected "+alternatives(extract.Speakers())))
		}
	}
	switch {
	case changed("only") && len(f.only) == 0:
		return nil, errors.New("--only: expected " + alternatives(extract.Speakers()))
	case f.resultsMax < trim.SmallestResult || f.resultsMax > math.MaxInt32:
		return nil, fmt.Errorf("--results-max-bytes: expected %d to %d bytes, got %d", trim.SmallestResult, math.MaxInt32, f.resultsMax)
	case f.out == "":
		return nil, fmt.Errorf("--out: expected a path, got %q", f.out)
	case f.overwrite && f.out == "-":
		return nil, errors.New("--overwrite needs --out")
	case packedName(f.out):
		return nil, fmt.Errorf("--out: %s: toolguard writes no compressed files", f.out)
	}
	x := &extraction{check: c, flags: f, as: report.Markdown{}, last: -1}
	if f.json {
		x.as = report.ExtractJSON{}
	}
	return x, nil
}

// run extracts from the file that a path names.
func (x *extraction) run(ctx context.Context, paths []string) error {
	t, err := x.target(paths[0], "")
	if err != nil {
		return err
	}
	if err := x.admitsOut(t, x.flags.out, x.flags.overwrite); err != nil {
		return err
	}
	return x.described(t.path, contain.Do(func() error { return x.to(func(w io.Writer) error { return x.extract(ctx, t, w) }) }))
}

// to passes what text writes to where it goes. A file is only made if there is no error.
func (x *extraction) to(text func(io.Writer) error) error {
	if x.flags.out == "-" {
		return text(x.stdout)
	}
	out, err := write.Create(x.flags.out)
	if err != nil {
		return err
	}
	defer out.Discard() // unless it is finished
	if err := text(out); err != nil {
		return err
	}
	return out.Commit()
}

// extract reads a file and writes what was said.
func (x *extraction) extract(ctx context.Context, t *target, w io.Writer) error {
	src, err := x.open(ctx, t, runtime.GOMAXPROCS(0))
	if err != nil {
		return err
	}
	defer src.Close()
	x.bw, x.lines, x.about.Path = bufio.NewWriter(w), source.NewLines(src), t.path
	opts := x.settings(t.config).options(t)
	opts.Identity = t.identity()
	f := x.flags
	got, err := extract.Read(ctx, src, extract.Options{
		Check: opts, Scope: x.scope(), Unsent: f.all, Only: f.only, ResultsMax: int(f.resultsMax),
	}, x.take)
	if err != nil {
		return err
	}
	if got.Report.Skipped != "" {
		return fmt.Errorf("%s: %s", t.path, notTranscript(got.Report, got.Report.Skipped))
	}
	x.about.Extract, x.about.Chosen = got, len(f.only) > 0
	for _, torn := range got.Torn {
		at, err := source.NewLines(src).Position(torn.At.Start)
		if err != nil {
			return err
		}
		x.about.Torn = append(x.about.Torn, report.TornRecord{Line: at.Line, Start: torn.At.Start, End: torn.At.End})
	}
	if err := x.finds(t, got); err != nil {
		return err
	}
	if err := x.end(t); err != nil {
		return err
	}
	return x.tells(t)
}

// scope returns which conversations are wanted.
func (x *extraction) scope() func(string, int) bool {
	scope := x.flags.scope
	switch scope {
	case "all":
		return nil
	case "main":
		return func(name string, conversation int) bool { return name == "" || conversation == 0 }
	}
	return func(name string, _ int) bool { return name == scope || name == "agent "+scope }
}

// finds returns an error if there is nothing to write.
func (x *extraction) finds(t *target, got *extract.Extract) error {
	why := ""
	switch {
	case x.about.Turns > 0 || len(x.newest) > 0:
		return nil
	case got.Found == 0 && len(got.Names) > 0:
		var names []string
		for _, name := range got.Names {
			names = append(names, strings.TrimPrefix(name, "agent "))
		}
		why = suggest.Unknown("scope", x.flags.scope, names, "expected main, all or the name of a conversation").Error()
	case x.about.Older > 0:
		why = fmt.Sprintf("--max-tokens %d has no room for the last turn, which needs about %d; --results-max-bytes shortens its results, and --only user,assistant leaves calls and results out", x.flags.maxTokens, x.needs)
	case len(x.about.Torn) > 0:
		return fmt.Errorf("%s: nothing can be read: %s", t.path, x.about.Gaps()[len(x.about.Gaps())-1])
	default:
		why = "nothing was said"
		if gaps := x.about.Gaps(); len(gaps) > 0 {
			why += "; left out: " + strings.Join(gaps, "; ")
		}
	}
	x.complain(t.path+": "+why, t.path)
	return errFindings
}

// take writes a turn, or keeps it while it is one of the newest that fit.
func (x *extraction) take(e *extract.Entry) error {
	at, err := x.lines.Position(e.At)
	if err != nil {
		return err
	}
	x.about.Dialect = e.Dialect
	text, err := x.as.Entry(e, at.Line, e.Conversation != x.last)
	if err != nil {
		return err
	}
	x.last = e.Conversation
	s := said{text: text, calls: len(e.Calls)}
	if x.flags.maxTokens == 0 {
		return x.write(s)
	}
	s.tokens = trim.Estimate(text) + 1 // for what separates it from the next one
	x.newest, x.tokens = append(x.newest, s), x.tokens+s.tokens
	x.fit(0)
	return nil
}

// headRoom is about how many tokens the head has.
const headRoom = 200

// fit drops the oldest turns until the others fit beside a frame with some tokens.
func (x *extraction) fit(frame float64) {
	for len(x.newest) > 0 && (x.tokens+frame)*trim.EstimateMargin > float64(x.flags.maxTokens) {
		if len(x.newest) == 1 {
			x.needs = int64(math.Ceil((x.tokens + max(frame, headRoom)) * trim.EstimateMargin))
		}
		x.tokens -= x.newest[0].tokens
		x.newest[0] = said{} // its text can go
		x.newest = x.newest[1:]
		x.about.Older++
	}
}

// write writes a turn, and the head before the first one.
func (x *extraction) write(s said) error {
	text := x.as.Between()
	if !x.begun {
		head, err := x.as.Head(&x.about)
		if err != nil {
			return err
		}
		x.begun, text = true, string(head)
	}
	x.about.Turns++
	x.calls += s.calls
	if _, err := x.bw.WriteString(text); err != nil {
		return err
	}
	_, err := x.bw.Write(s.text)
	return err
}

// end writes the turns that are left, and the tail.
func (x *extraction) end(t *target) error {
	for fits := x.flags.maxTokens == 0; !fits; {
		head, err := x.as.Head(&x.about)
		if err != nil {
			return err
		}
		tail, err := x.as.Tail(&x.about)
		if err != nil {
			return err
		}
		frame, before := trim.Estimate(head)+trim.Estimate(tail)+1, len(x.newest)
		x.fit(frame)
		if fits = before == len(x.newest); fits {
			x.tokens += frame
		}
	}
	if err := x.finds(t, x.about.Extract); err != nil {
		return err
	}
	for _, s := range x.newest {
		if err := x.write(s); err != nil {
			return err
		}
	}
	tail, err := x.as.Tail(&x.about)
	if err != nil {
		return err
	}
	if _, err := x.bw.Write(tail); err != nil {
		return err
	}
	return x.bw.Flush()
}

// tells reports what was written.
func (x *extraction) tells(t *target) error {
	if x.flags.quiet {
		return nil
	}
	room := ""
	if n := x.flags.maxTokens; n > 0 {
		room = fmt.Sprintf(" At most %s of %s tokens (estimate).", trim.Grouped(int64(math.Ceil(x.tokens*trim.EstimateMargin))), trim.Grouped(n))
	}
	x.say(fmt.Sprintf("Extracted %s with %s from %s.%s The text %s.", count(x.about.Turns, "turn"), count(x.calls, "call"), t.path, room, report.HoldsSecrets), t.path)
	for _, gap := range x.about.Gaps() {
		x.note("Not in it: " + gap + ".")
	}
	return nil
}
