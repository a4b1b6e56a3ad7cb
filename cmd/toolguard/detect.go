package main

import (
	"bufio"
	"context"
	"fmt"
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolguard/toolguard/internal/config"
	"github.com/toolguard/toolguard/internal/container"
	"github.com/toolguard/toolguard/internal/detect"
	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/report"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
)

func newDetectCmd(a *app) *cobra.Command {
	d := &detection{app: a}
	cmd := &cobra.Command{
		Use:   "detect [flags] [path...|-]",
		Short: "Show the format of each file, and how it was detected",
		Long: `detect shows the format and the container of each file, and how many
conversations, calls and results it contains. It finds files like check. With
--verbose it also shows how the format was detected, and which other formats
were close.`,
		Example: `  toolguard detect session.jsonl
  toolguard detect --verbose ~/.claude/projects`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return d.run(cmd.Context(), args)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVarP(&d.verbose, "verbose", "v", false, "show how the format was detected")
	flags.StringVar(&d.dialect, "from", "", "read files in this `format`, without detection; toolguard formats lists them")
	d.files.define(cmd)
	complete(cmd, "from", completeDialects)
	return cmd
}

// A detection is one run of the command.
type detection struct {
	*app
	verbose bool
	dialect string
	files   fileFlags

	out   *bufio.Writer
	found []bool   // by root: a transcript was found in it
	odd   []string // by root: a file that may have messages in an unknown format
	bad   bool
}

func (d *detection) run(ctx context.Context, paths []string) error {
	d.out = bufio.NewWriter(d.screen)
	look, err := newSearch(&d.files)
	if err != nil {
		return err
	}
	ts, err := look.find(paths)
	if err != nil {
		return err
	}
	err = eachConfig(look, ts, func(file *config.File) error { return knowsDialect(file.Dialects(), d.dialect) })
	if err != nil {
		return err
	}
	d.found, d.odd = make([]bool, len(ts.roots)), make([]string, len(ts.roots))
	for _, u := range ts.unread {
		d.fail(u.path, u.err)
	}
	err = inOrder(ctx, ts.files, runtime.GOMAXPROCS(0), func(t *target) int64 { return t.size }, d.read, d.take)
	if err != nil {
		return err
	}
	for i := range ts.roots {
		if !d.found[i] {
			d.complain(ts.noneIn(i, d.odd[i]), ts.roots[i], d.odd[i])
		}
	}
	if n := len(ts.ignored); n > 0 {
		d.note(fmt.Sprintf("%d ignored (--no-gitignore).", n))
	}
	if d.bad {
		return errReported
	}
	return nil
}

func (d *detection) read(ctx context.Context, t *target) (*engine.Report, error) {
	set := t.config.Dialects()
	return d.look(ctx, t, engine.Options{Dialects: set, Dialect: set.ByName(d.dialect), Rules: []*rules.Rule{}}, runtime.GOMAXPROCS(0))
}

func (d *detection) fail(path string, err error) {
	d.bad = true
	d.complain(d.described(path, err).Error(), path)
}

// take prints the format of a file, or the error that prevented it.
func (d *detection) take(t *target, r *engine.Report, err error) error {
	if err != nil {
		d.fail(t.path, err)
		return nil
	}
	switch {
	case r.Skipped != "":
		note(d.odd, t, r)
		if !t.named && !d.verbose {
			return nil
		}
		d.bad = d.bad || t.named
		why := "not a transcript: " + r.Skipped
		if t.named {
			why = notTranscript(r, r.Skipped)
		}
		d.says(r.Path, why)
	case !t.named && !r.File.Sure:
		if d.verbose {
			d.says(r.Path, "not clearly a transcript: it has nothing that occurs only in transcripts")
		}
	default:
		for _, root := range t.roots {
			d.found[root] = true
		}
		d.says(r.Path, what(r))
		if d.verbose {
			d.reasons(r.File)
		}
	}
	return d.out.Flush()
}

// says prints what a file is.
func (d *detection) says(path, what string) { d.print(path+": "+what, path) }

// print prints a line, in which names are not broken.
func (d *detection) print(line string, names ...string) {
	line = report.Printable(line) + "\n"
	if width, terminal := d.columns(d.rawStdout); terminal {
		for i, name := range names {
			names[i] = report.Printable(name)
		}
		line = report.FoldTable(line, width, names...)
	}
	_, _ = d.out.WriteString(line) // take reports an error when it flushes
}

// what returns the format and the contents of a file.
func what(r *engine.Report) string {
	if name := nothingIn(r.File); name != "" {
		return name
	}
	return fmt.Sprintf("%s (%s), %s, %s, %s", r.File.Dialect, r.File.Container,
		count(r.File.Conversations, "conversation"), count(r.Calls, "call"), count(r.Results, "result"))
}

// because returns the format of a file and the evidence for it.
func because(f *container.File) string {
	if name := nothingIn(f); name != "" {
		return name
	}
	out := fmt.Sprintf("%s (%s)", f.Dialect, f.Container)
	if f.Key != "" {
		out += ", decided by " + f.Key
	}
	if f.CheckOnly != "" {
		out += ", only checked: " + f.CheckOnly
	}
	if f.InText != "" {
		out += ", but " + f.InText
	}
	switch f.Opaque {
	case 0:
	case 1:
		out += ", 1 element among the messages was not read"
	default:
		out += fmt.Sprintf(", %d elements among the messages were not read", f.Opaque)
	}
	return out
}

// nothingIn describes a file without messages. It returns "" for other files.
func nothingIn(f *container.File) string {
	switch {
	case f.Container == detect.ContainerEmpty:
		return "empty"
	case f.Dialect == "":
		return "no messages (" + f.Container + ")"
	}
	return ""
}

// reasons prints how the format of a file was detected.
func (d *detection) reasons(f *container.File) {
	line := func(name, value string) {
		if name != "" {
			name += ":"
		}
		if value != "" {
			d.print(fmt.Sprintf("    %-12s %s", name, value))
		}
	}
	line("framing", fmt.Sprintf("%s, %s", f.Framing, count(f.Records, "record")))
	line("container", f.Container)
	if f.Conversations > 0 {
		line("messages at", place(f))
	}
	line("format", f.Dialect)
	line("decided by", f.Key)
	name := "runners-up"
	for _, c := range f.RunnersUp {
		key := ""
		if c.Key != "" {
			key = ", by " + c.Key
		}
		line(name, fmt.Sprintf("%s (%d decisive, %d plain%s)", c.Dialect, c.Decisive, c.Plain, key))
		name = ""
	}
	if f.CheckOnly != "" {
		line("repairs", "none: "+f.CheckOnly)
	}
	line("calls", f.InText)
	sure := "yes"
	if !f.Sure {
		sure = "no, it has nothing that occurs only in transcripts"
	}
	line("sure", sure)
}

// place returns where the messages of a file are.
func place(f *container.File) string {
	at, wrap := f.Pointer, f.Wrap
	if at == "" && wrap != "" && f.Framing != source.FramingDocument {
		at, wrap = "/"+strings.ReplaceAll(wrap, ".", "/"), ""
	}
	switch {
	case at == "" && f.Framing == source.FramingDocument:
		at = "the root"
	case at == "":
		at = "each record"
	case f.Framing != source.FramingDocument:
		at += " of each record"
	}
	if wrap != "" {
		at += ", in the " + wrap + " of each element"
	}
	if f.Container == detect.ContainerDocuments && f.Conversations > 1 {
		at += fmt.Sprintf(", and %d more", f.Conversations-1)
	}
	return at
}

// count returns a number with its noun: 1 file, 2 files.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
