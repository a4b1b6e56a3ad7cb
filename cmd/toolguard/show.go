package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolguard/toolguard/internal/contain"
	"github.com/toolguard/toolguard/internal/detect"
	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/report"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/session"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/store"
	"github.com/toolguard/toolguard/internal/suggest"
)

// showFlags are the flags of show.
type showFlags struct {
	checkFlags
	problems  bool
	context   int
	turn      string
	call      string
	all       bool
	scope     string
	jsonl     bool
	noPager   bool
	html      string
	redact    bool
	overwrite bool
	fix       bool
	safeOnly  bool
	unsafe    bool
	strategy  []string
}

func newShowCmd(a *app) *cobra.Command {
	f := &showFlags{}
	cmd := &cobra.Command{
		Use:   "show [flags] path|-…",
		Short: "Show a transcript as a map of its turns, calls and results",
		Long: `show writes a transcript as a map: a row for each turn, and below it the calls of
the turn with what became of them: where the result is, how long it took and how
large it is, or that there is none. The findings of check are at their turn or call:
the names in brackets are rules, which toolguard explain describes. Turns in which
nothing was found are folded if there are more than six in a row; rows of a
dataset in which nothing was found are counted.

Turns are counted from 0, lines from 1. Times and durations are shown where they are
recorded, in the time zone of this machine. Sub-agents are below the call that
began them, if the transcript says which one it was.

On a terminal, the map goes through $PAGER, or through less.

--html writes a page for a browser instead, in one file that loads nothing: the
problems first, then the turns with arcs from calls to results, and the repaired
session beside it. For several sessions, or a directory of them, it writes a directory with an index
and a page for each session with problems. A page holds the session, secrets too;
with --redact it holds filler instead.

Exit codes: 0 whatever is wrong in the transcript, 1 if there is no turn or call as
asked for, 2 if the transcript cannot be read or the command line is wrong.`,
		Example: `  toolguard show session.jsonl
  toolguard show --problems session.jsonl
  toolguard show --html report/ ~/.claude/projects`,
		Args: someFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			x, err := newShowing(a, f, cmd.Flags())
			if err != nil {
				return err
			}
			return x.run(cmd.Context(), args)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVar(&f.problems, "problems", false, "show only what is around findings")
	flags.IntVar(&f.context, "context", 2, "with --problems, show `n` turns before and after each")
	flags.StringVar(&f.turn, "turn", "", "show only this turn, or these, with all texts: `n`, n..m or n..")
	flags.StringVar(&f.call, "call", "", "show only the call with this `id`, with its arguments and its result")
	flags.BoolVar(&f.all, "all", false, "fold nothing")
	flags.StringVar(&f.scope, "scope", "all", "show only the main conversation, or only this sub-agent or other conversation: main, all or its `name`")
	flags.BoolVar(&f.fix, "fix", false, "show the turns that fix would change, before and after; nothing is written")
	flags.BoolVar(&f.safeOnly, "safe-only", false, "with --fix and --html, make only safe repairs")
	flags.BoolVar(&f.unsafe, "unsafe", false, "with --fix and --html, also make repairs that remove recorded content")
	flags.StringSliceVar(&f.strategy, "strategy", nil, "with --fix and --html, choose how findings of a rule are repaired: `rule=name`; repeatable, or separated by commas")
	flags.StringVar(&f.html, "html", "", "write a page for a browser to this `file`, or pages of several sessions to this directory: dir/")
	flags.BoolVar(&f.redact, "redact", false, "with --html, show filler instead of the contents")
	flags.BoolVar(&f.overwrite, "overwrite", false, "with --html, replace existing files")
	flags.BoolVar(&f.jsonl, "jsonl", false, "write JSON Lines: the session, its turns, calls and findings")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "show infos too")
	flags.BoolVar(&f.noPager, "no-pager", false, "never start a pager")
	defineColor(cmd, &f.color)
	flags.BoolVar(&f.noExcerpt, "no-excerpt", false, "show only ids, names, types and roles, and no other text of a transcript")
	f.defineRules(cmd)
	f.defineReading(cmd)
	f.fileFlags.define(cmd)
	exclusive(cmd, "problems", "all")
	for _, other := range []string{"problems", "turn", "call", "all", "jsonl"} {
		exclusive(cmd, "fix", other)
	}
	exclusive(cmd, "safe-only", "unsafe")
	for _, other := range []string{"problems", "turn", "call", "all", "jsonl", "fix"} {
		exclusive(cmd, "html", other)
	}
	exclusive(cmd, "turn", "call")
	exclusive(cmd, "turn", "problems")
	exclusive(cmd, "call", "problems")
	complete(cmd, "strategy", completeFrom(allStrategies))
	complete(cmd, "scope", cobra.FixedCompletions([]string{"main", "all"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// someFiles expects at least one file.
func someFiles(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return needs("a file, or - for standard input")(cmd, args)
	}
	return nil
}

// A showing is one run of the command.
type showing struct {
	*check
	flags  *showFlags
	given  *pflag.FlagSet
	lo, hi int // the turns that are asked for; -1 for all
}

// newShowing validates the flags and returns the run that they ask for.
func newShowing(a *app, f *showFlags, given *pflag.FlagSet) (*showing, error) {
	changed := given.Changed
	f.formats, f.noBaseline, f.jobs = []string{"text"}, true, 1
	c, err := newCheck(a, &f.checkFlags)
	if err != nil {
		return nil, err
	}
	c.outputs = nil
	c.baselines.off = true
	x := &showing{check: c, flags: f, given: given, lo: -1, hi: -1}
	if c.strategy, err = strategies(f.strategy); err != nil {
		return nil, err
	}
	switch {
	case f.context < 0:
		return nil, fmt.Errorf("--context: expected a number from 0, got %d", f.context)
	case changed("context") && !f.problems:
		return nil, errors.New("--context needs --problems")
	case (f.safeOnly || f.unsafe) && !f.fix && f.html == "":
		return nil, errors.New("--safe-only and --unsafe need --fix or --html")
	case len(f.strategy) > 0 && !f.fix && f.html == "":
		return nil, errors.New("--strategy needs --fix or --html")
	case (f.redact || f.overwrite) && f.html == "":
		return nil, errors.New("--redact and --overwrite need --html")
	case changed("html") && f.html == "":
		return nil, errors.New(`--html: expected a path, got ""`)
	case changed("call") && f.call == "":
		return nil, errors.New(`--call: expected an id, got ""`)
	}
	if changed("turn") {
		from, to, is := strings.Cut(f.turn, "..")
		switch {
		case !is:
			to = from
		case to == "": // to the end
			to = strconv.Itoa(math.MaxInt32)
		}
		var errs [2]error
		x.lo, errs[0] = strconv.Atoi(from)
		x.hi, errs[1] = strconv.Atoi(to)
		if errors.Join(errs[:]...) != nil || x.lo < 0 || x.hi < x.lo {
			return nil, fmt.Errorf("--turn: expected n, n..m or n.., counted from 0, got %q", f.turn)
		}
	}
	return x, nil
}

// run shows the file that a path names.
func (x *showing) run(ctx context.Context, paths []string) error {
	if x.flags.html != "" {
		return x.pages(ctx, paths)
	}
	if len(paths) > 1 {
		return errors.New("several files need --html and a directory: --html report/")
	}
	t, err := x.target(paths[0], ", or --html report/ for pages of its sessions")
	if err != nil {
		return err
	}
	return x.described(t.path, contain.Do(func() error { return x.show(ctx, t) }))
}

// show reads a file and writes its map.
func (x *showing) show(ctx context.Context, t *target) error {
	src, err := x.open(ctx, t, runtime.GOMAXPROCS(0))
	if err != nil {
		return err
	}
	defer src.Close()
	opts := session.Options{Check: x.checkOptions(t), Texts: !x.flags.noExcerpt, Rows: x.flags.all || x.flags.fix || x.chooses()}
	if x.chooses() {
		opts.Whole = func(_ string, turn int, id string) bool { return x.only(turn, id) }
	}
	s, err := session.Read(ctx, src, opts)
	if err != nil {
		return err
	}
	switch r := s.Report; {
	case r.Skipped != "":
		return fmt.Errorf("%s: not a transcript: %s", t.path, r.Skipped)
	case r.File.Container == detect.ContainerEmpty:
		return fmt.Errorf("%s: is empty", t.path)
	}
	if err := x.admits(t.path, s); err != nil {
		return err
	}
	about := store.Description{}
	if st := store.ByDialect(s.Report.File.Dialect); st != nil {
		about = st.About.Describe(src, src.Size())
	}
	o := report.MapOptions{
		Options: report.Options{NoExcerpt: x.flags.noExcerpt, Width: x.width()},
		ASCII:   !unicodeLocale(x.env), Version: about.Version, Problems: x.flags.problems, Context: x.flags.context, All: x.flags.all, Thread: x.shows,
		SafeOnly: x.flags.safeOnly, Unsafe: x.flags.unsafe,
	}
	if o.Color, err = useColor(x.flags.color, x.env, x.terminal); err != nil {
		return err
	}
	if x.chooses() {
		o.Only = func(t *session.Thread, turn int, id string) bool {
			return x.shows(t) && x.only(turn, id) && (x.flags.call == "" || id == x.flags.call)
		}
	}
	if x.flags.jsonl {
		return x.write(ctx, func(w io.Writer) error { return report.MapJSON(w, src, s, o) })
	}
	if x.flags.fix {
		o.Command = x.fixCommand(t)
		return x.showFixed(ctx, t, src, s, opts, o)
	}
	return x.write(ctx, func(w io.Writer) error { return report.Map(w, src, s, o) })
}

// checkOptions returns the engine's options for a file.
func (x *showing) checkOptions(t *target) engine.Options {
	now := x.settings(t.config)
	opts := now.options(t)
	opts.Identity = t.identity()
	if !x.flags.verbose {
		opts.Shown = func(r *rules.Rule, at rules.Severity) bool { return at > rules.Info || now.shows(r) }
	}
	return opts
}

// fixOptions returns the engine's options for the repair of a file.
func (x *showing) fixOptions(t *target, opts engine.Options) engine.FixOptions {
	opts.Placeholder = x.settings(t.config).placeholder
	return engine.FixOptions{Options: opts, SafeOnly: x.flags.safeOnly, Unsafe: x.flags.unsafe}
}

// showFixed writes what a repair would change.
func (x *showing) showFixed(ctx context.Context, t *target, src *source.Source, before *session.Session, opts session.Options, o report.MapOptions) error {
	got, err := engine.Settle(ctx, src, x.fixOptions(t, opts.Check))
	if errors.As(err, new(*engine.ProofError)) || errors.As(err, new(*engine.CheckOnlyError)) {
		return fmt.Errorf("%s: %w", t.path, err)
	}
	if err != nil {
		return err
	}
	after := before
	if got.Changed() {
		if after, err = session.Read(ctx, got.Pieces.Source(), opts); err != nil {
			return err
		}
	}
	return x.write(ctx, func(w io.Writer) error { return report.MapFixed(w, src, got, before, after, o) })
}

// fixCommand returns what to type to make the repairs that are shown, "" for standard input.
func (x *showing) fixCommand(t *target) string {
	if t.stdin {
		return ""
	}
	return x.toFix(nil) + " " + x.shell(t.path)
}

// classFlags say which classes of repairs are made, and repairFlags what else decides how a file is
// repaired. fix has all of them, too.
var (
	classFlags  = []string{"safe-only", "unsafe"}
	repairFlags = []string{"strategy", "select", "ignore", "severity", "provider", "tools", "from", "send", "config", "isolated", "max-size"}
)

// toFix returns a command that repairs as was asked for: with the flags that were given. class, unless it
// is nil, replaces those for the classes of repairs, and the strategy of a rule that it names.
func (x *showing) toFix(class []string) string {
	words := append([]string{"toolguard fix --write"}, class...)
	names := repairFlags
	if class == nil {
		names = slices.Concat(classFlags, repairFlags)
	}
	for _, name := range names {
		flag := x.given.Lookup(name)
		if !flag.Changed {
			continue
		}
		values := []string{flag.Value.String()}
		if list, is := flag.Value.(pflag.SliceValue); is {
			values = list.GetSlice()
		}
		for _, value := range values {
			rule, _, _ := strings.Cut(value, "=")
			switch {
			case name == "strategy" && slices.ContainsFunc(class, func(c string) bool { return strings.HasPrefix(c, "--strategy "+rule+"=") }):
			case flag.NoOptDefVal != "" && value == flag.NoOptDefVal:
				words = append(words, "--"+name)
			case flag.NoOptDefVal != "":
				words = append(words, "--"+name+"="+value)
			case x.flags.redact && (name == "tools" || name == "config"): // its path may tell something
				words = append(words, "--"+name+" FILE")
			case strings.HasPrefix(value, "-"):
				words = append(words, "--"+name+"="+strings.TrimPrefix(x.shell(value), "./"))
			default:
				words = append(words, "--"+name+" "+x.shell(value))
			}
		}
	}
	return strings.Join(words, " ")
}

// shell returns a path or a value as a shell reads it, in the characters that the terminal shows.
func (x *showing) shell(text string) string {
	if strings.IndexFunc(text, func(r rune) bool { return r > unicode.MaxASCII }) >= 0 && !unicodeLocale(x.env) && runtime.GOOS != "windows" {
		return shellBytes(text)
	}
	return shellPath(text, "")
}

// manyRepairs is how many repairs of a file are easier to look at turn by turn.
const manyRepairs = 10

// mentionsShow says how to look at the repairs of a file turn by turn if there are many, and reports
// whether it did. shell is the path as a shell reads it.
func (a *app) mentionsShow(path string, f *engine.Fixed, shell string) bool {
	if len(f.Repairs) <= manyRepairs {
		return false
	}
	a.note("toolguard show --fix "+shell+" shows these repairs turn by turn.", path, shell)
	return true
}

// chooses reports whether a part of the session is asked for.
func (x *showing) chooses() bool { return x.lo >= 0 || x.flags.call != "" }

// only reports whether a turn or a call is asked for.
func (x *showing) only(turn int, id string) bool {
	if x.flags.call != "" { // it may be only the beginning: see finds
		return strings.HasPrefix(id, beginning(x.flags.call))
	}
	return turn >= x.lo && turn <= x.hi
}

// shows reports whether a thread is in the scope that is asked for.
func (x *showing) shows(t *session.Thread) bool {
	switch scope := x.flags.scope; scope {
	case "all":
		return true
	case "main":
		return t.Name == "" || t.Conversation == 0
	default:
		return t.Name == scope || t.Name == "agent "+scope
	}
}

// admits returns an error if nothing of a session is asked for.
func (x *showing) admits(path string, s *session.Session) error {
	var names, ids []string
	turns, found := 0, x.flags.scope == "all"
	for i := range s.Threads {
		t := &s.Threads[i]
		if t.Name != "" {
			names = append(names, strings.TrimPrefix(t.Name, "agent "))
		}
		if !x.shows(t) {
			continue
		}
		found, turns = true, max(turns, t.Turns)
		if x.flags.call == "" {
			continue
		}
		for k := t.TurnLo; k < t.TurnHi; k++ {
			for c := s.Turns[k].CallLo; c < s.Turns[k].CallHi; c++ {
				ids = append(ids, s.Calls[c].ID)
			}
			for l := s.Turns[k].LooseLo; l < s.Turns[k].LooseHi; l++ {
				ids = append(ids, s.Loose[l].ID)
			}
		}
	}
	what := ""
	switch {
	case !found:
		what = suggest.Unknown("scope", x.flags.scope, names, "expected main, all or the name of a conversation").Error()
	case x.lo >= turns:
		what = fmt.Sprintf("--turn: no turn %d: there are %s, counted from 0", x.lo, count(turns, "turn"))
	case x.flags.call != "" && !x.finds(ids):
		what = fmt.Sprintf("--call: no call %q", x.flags.call)
		if begin := x.beginning(ids); len(begin) > 1 {
			what += fmt.Sprintf("; %d ids begin like that: %s", len(begin), quoted(begin))
		} else if near := suggest.Nearest(x.flags.call, ids); near != "" {
			what += fmt.Sprintf("; did you mean %q?", near)
		}
	default:
		return nil
	}
	x.complain(path+": "+what, path)
	return errFindings
}

// finds reports whether there is a call as asked for: with the id, or with the only id that begins
// like that, since a map shows only the beginning of a long id.
func (x *showing) finds(ids []string) bool {
	if slices.Contains(ids, x.flags.call) {
		return true
	}
	var whole string
	for _, id := range ids {
		if strings.HasPrefix(id, beginning(x.flags.call)) && id != whole {
			if whole != "" {
				return false
			}
			whole = id
		}
	}
	if whole != "" {
		x.flags.call = whole
	}
	return whole != ""
}

// beginning returns the ids that begin as asked for, each once.
func (x *showing) beginning(ids []string) (out []string) {
	for _, id := range ids {
		if strings.HasPrefix(id, beginning(x.flags.call)) && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// mostIDs is how many ids an error names.
const mostIDs = 4

// quoted lists ids, the first ones if there are many.
func quoted(ids []string) string {
	var out []string
	for _, id := range ids[:min(len(ids), mostIDs)] {
		out = append(out, strconv.Quote(id))
	}
	if len(ids) > mostIDs {
		out = append(out, "…")
	}
	return strings.Join(out, ", ")
}

// beginning returns an id as a map shows it, without the sign that it is cut.
func beginning(id string) string { return strings.TrimRight(id, "…~") }

// width returns how many columns a row may take. COLUMNS counts in a pipe too.
func (x *showing) width() int {
	if n, err := strconv.Atoi(x.env("COLUMNS")); err == nil && n > 0 {
		return max(n, narrowest)
	}
	return x.reportWidth(x.rawStdout)
}

// write passes what text writes to standard output, through a pager if that is a terminal.
func (x *showing) write(ctx context.Context, text func(io.Writer) error) error {
	if x.terminal && !x.flags.noPager && !x.flags.jsonl && x.env("TERM") != "dumb" {
		if p := x.startPager(ctx); p != nil {
			err := text(p)
			p.end()
			return ignoreClosed(err)
		}
	}
	out := bufio.NewWriter(x.stdout)
	return cmp.Or(text(out), out.Flush())
}

// A pager is a program that shows a text page by page.
type pager struct {
	io.WriteCloser
	cmd *exec.Cmd
}

// startPager starts the program that PAGER names, or less. It returns nil if there is none.
func (x *showing) startPager(ctx context.Context) *pager {
	words := strings.Fields(x.env("PAGER"))
	if len(words) == 0 {
		words = []string{"less"}
	}
	if words[0] == "cat" {
		return nil
	}
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Stdout, cmd.Stderr = x.rawStdout, x.rawStderr
	// less then ends by itself if the text fits on a screen, and runs no other programs.
	cmd.Env = append(os.Environ(), "LESSSECURE=1")
	if x.env("LESS") == "" {
		cmd.Env = append(cmd.Env, "LESS=FRX")
	}
	in, err := cmd.StdinPipe()
	if err != nil || cmd.Start() != nil {
		return nil
	}
	return &pager{in, cmd}
}

// end waits until the reader has seen enough.
func (p *pager) end() {
	_ = p.Close()
	_ = p.cmd.Wait() // the reader may leave at any time
}

// ignoreClosed returns nil for the error of a pager whose reader has left.
func ignoreClosed(err error) error {
	if isBrokenPipe(err) {
		return nil
	}
	return err
}

// unicodeLocale reports whether the terminal shows more than ASCII: unless the locale says another
// character set.
func unicodeLocale(env func(string) string) bool {
	locale := cmp.Or(env("LC_ALL"), env("LC_CTYPE"), env("LANG"))
	name := strings.ToLower(strings.ReplaceAll(locale, "-", ""))
	return locale == "" || strings.Contains(name, "utf8")
}
