// Compare measures toolguard beside wc, cp, jq and node on transcripts that it makes from a
// seed, and prints the ratios as Markdown:
//
//	go run ./internal/bench/compare -write docs/performance.md
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == starter {
		if err := start(os.Args[2:], os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "compare:", err)
			os.Exit(1)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := compare(ctx, os.Args[1:], built, os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

// compare measures the selected workloads of the programs that it makes, and writes the page
// to out. It writes a line for each workload to progress.
func compare(ctx context.Context, args []string, programs makePrograms, out, progress io.Writer) (err error) {
	var names []string
	for _, w := range workloads() {
		names = append(names, w.name)
	}
	flags := flag.NewFlagSet("compare", flag.ContinueOnError)
	flags.SetOutput(progress)
	size := flags.Int("size", fullSize, "`MB` of the session log; all other inputs grow and shrink with it")
	rounds := flags.Int("rounds", 5, "how often each command is measured")
	quick := flags.Bool("quick", false, "one round with small inputs, to see that everything runs")
	only := flags.String("only", "", "measure only these, separated by commas: "+strings.Join(names, ", "))
	data := flags.String("data", "", "a `directory` with JSONL files, repeated until they are as long as the other rows")
	small := flags.String("small", filepath.Join("testdata", "transcripts"), "a `directory` with transcripts of many formats, of which the small ones are repeated")
	keep := flags.String("keep", "", "make inputs and programs in this new `directory`, leave them there, and print each command that is measured")
	page := flags.String("write", "", "write the page to this `file`, and its chart beside it")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *quick {
		*size, *rounds = 1, 1
	}
	selected := names
	if *only != "" {
		selected = strings.Split(*only, ",")
	}
	for _, name := range selected {
		if !slices.Contains(names, name) {
			return fmt.Errorf("-only: no %q; there are %s", name, strings.Join(names, ", "))
		}
	}
	if flags.NArg() > 0 || *size < 1 || *rounds < 1 {
		return errors.New("wrong arguments; -h shows the flags")
	}

	m := &meter{keep: *keep != "", size: *size, rounds: *rounds, data: *data, small: *small, progress: progress}
	if m.keep {
		m.dir, err = filepath.Abs(*keep)
		if err == nil {
			err = os.Mkdir(m.dir, 0o777)
		}
	} else {
		m.dir, err = os.MkdirTemp("", "compare-*")
	}
	if err != nil {
		return err
	}
	defer func() {
		if !m.keep {
			err = errors.Join(err, os.RemoveAll(m.dir))
		}
	}()
	if err := m.prepare(ctx, programs); err != nil {
		return err
	}
	todo := slices.DeleteFunc(workloads(), func(w workload) bool { return !slices.Contains(selected, w.name) })
	for i, w := range todo {
		fmt.Fprintf(progress, "%s (%d of %d)\n", w.name, i+1, len(todo))
		if err := w.run(ctx, m); err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
	}
	text := m.page.markdown()
	if *page != "" {
		if err := os.WriteFile(*page, []byte(text), 0o644); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(filepath.Dir(*page), chartName), []byte(m.page.chart()), 0o644); err != nil {
			return err
		}
	}
	_, err = io.WriteString(out, text)
	return err
}
