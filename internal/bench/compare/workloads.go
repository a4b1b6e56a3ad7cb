package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/toolguard/toolguard/internal/bench"
)

// A workload makes inputs, measures commands on them, and adds the figures to the page.
type workload struct {
	name string
	run  func(ctx context.Context, m *meter) error
}

func workloads() []workload {
	return []workload{
		{"log", sessionLog},
		{"rows", rows},
		{"document", documents},
		{"files", files},
		{"formats", formats},
		{"start", startUp},
		{"fix", fix},
		{"binary", binary},
	}
}

// The names of commands in the tables.
const (
	ours     = "`toolguard check -j1`"
	ours2    = "`toolguard check -j2`"
	portable = "`toolguard check -j1`, portable"
	lines    = "`wc -l`"
	copying  = "`cp`"
	jqEmpty  = "`jq empty`"
	nodeJSON = "`node`"
	findWC   = "`find \\| xargs wc -l`"
	findJQ   = "`find \\| xargs jq empty`"
)

// Programs for node. They parse the input and discard the result.
const (
	parseLines = `const fs = require("fs")
const file = fs.openSync(process.argv[2]), chunk = Buffer.allocUnsafe(1 << 20)
let rest = Buffer.alloc(0)
for (let n; (n = fs.readSync(file, chunk)) > 0; ) {
  const text = Buffer.concat([rest, chunk.subarray(0, n)])
  let from = 0
  for (let end; (end = text.indexOf(10, from)) >= 0; from = end + 1) JSON.parse(text.toString("utf8", from, end))
  rest = text.subarray(from)
}
`
	parseDocument = `JSON.parse(require("fs").readFileSync(process.argv[2], "utf8"))
`
)

// scaled scales n to the size of this run; the result is at least one.
func (m *meter) scaled(n int) int { return max(1, n*m.size/fullSize) }

// label names an input and its size.
func label(what string, bytes int64) string {
	if bytes < 10*mb {
		return fmt.Sprintf("%s, %.1f MB", what, float64(bytes)/mb)
	}
	return fmt.Sprintf("%s, %d MB", what, megabytes(bytes))
}

// create makes an input and returns its path and length.
func (m *meter) create(name string, write func(w io.Writer) error) (path string, size int64, err error) {
	path = m.path(name)
	f, err := os.Create(path)
	if err != nil {
		return "", 0, err
	}
	err = write(f)
	info, serr := f.Stat()
	if err = errors.Join(err, serr, f.Close()); err != nil {
		return "", 0, err
	}
	return path, info.Size(), nil
}

func check(jobs, path string) []string {
	return []string{"check", "--isolated", "--quiet", jobs, path}
}

// compared returns the commands that run on every input: toolguard, and the other tools that
// are installed.
func (m *meter) compared(path, script string) []command {
	commands := []command{
		{name: ours, args: append([]string{m.toolguard}, check("-j1", path)...)},
		{name: lines, args: []string{"wc", "-l", path}},
		{name: copying, args: []string{"cp", path, m.path("copy")}},
	}
	if m.jq {
		commands = append(commands, command{name: jqEmpty, args: []string{"jq", "empty", path}})
	}
	if m.node {
		commands = append(commands, command{name: nodeJSON, args: []string{"node", m.path(script), path}})
	}
	return commands
}

func (m *meter) twoJobs(path string) []command {
	if runtime.NumCPU() < 2 {
		return nil
	}
	return []command{{name: ours2, args: append([]string{m.toolguard}, check("-j2", path)...)}}
}

// goal adds the ratio of toolguard's CPU time and another one to the page, if both were measured.
func (m *meter) goal(costs map[string]cost, input, of string, most float64) {
	a, measured := costs[ours]
	b, compared := costs[of]
	if measured && compared {
		m.page.goals = append(m.page.goals, goal{input, short(ours) + " ÷ " + short(of) + ", CPU", ratio(a.CPU, b.CPU), most, megabytes(a.Peak)})
	}
}

// jobs adds the ratio of the wall times with two processors and with one.
func (m *meter) jobs(costs map[string]cost, input string) {
	if two, measured := costs[ours2]; measured {
		m.page.goals = append(m.page.goals, goal{input, short(ours2) + " ÷ " + short(ours) + ", wall", ratio(two.Wall, costs[ours].Wall), 0.62, megabytes(two.Peak)})
	}
}

func short(name string) string { return strings.Replace(name, "toolguard ", "", 1) }

// shares adds the costs of all tools for an input.
func (m *meter) shares(costs map[string]cost, input string, commands []command) {
	for _, c := range commands {
		took := costs[c.name]
		m.page.shares = append(m.page.shares, share{input, c.name, ratio(took.CPU, costs[ours].CPU), megabytes(took.Peak)})
	}
}

func sessionLog(ctx context.Context, m *meter) error {
	path, size, err := m.create("log.jsonl", func(w io.Writer) error { return bench.Log(w, 1, int64(m.scaled(fullSize))*mb) })
	if err != nil {
		return err
	}
	defer m.discard(path)
	compared := m.compared(path, "lines.js")
	other := command{name: portable, args: append([]string{m.portable}, check("-j1", path)...)}
	costs, err := m.run(ctx, slices.Concat(compared, []command{other}, m.twoJobs(path))...)
	if err != nil {
		return err
	}
	input := label("session log", size)
	m.goal(costs, input, lines, 6.5)
	m.jobs(costs, input)
	m.shares(costs, input, append(compared, other))
	return nil
}

func rows(ctx context.Context, m *meter) error {
	size := int64(m.scaled(64)) * mb
	measure := func(what string, exits []int, write func(w io.Writer) error) error {
		path, n, err := m.create("rows.jsonl", write)
		if err != nil {
			return err
		}
		defer m.discard(path)
		commands, two := m.compared(path, "lines.js"), m.twoJobs(path)
		commands[0].exits = exits
		for i := range two {
			two[i].exits = exits
		}
		costs, err := m.run(ctx, slices.Concat(commands, two)...)
		if err != nil {
			return err
		}
		input := label(what, n)
		m.goal(costs, input, jqEmpty, 0.75)
		m.jobs(costs, input)
		m.shares(costs, input, commands)
		return nil
	}
	err := measure("OpenAI rows", nil, func(w io.Writer) error { return bench.ChatRows(w, 2, size) })
	if err == nil {
		err = measure("ShareGPT rows", nil, func(w io.Writer) error { return bench.ShareGPTRows(w, 3, size) })
	}
	if err == nil && m.data != "" {
		// Such rows may have errors.
		err = measure("given rows", []int{1}, func(w io.Writer) error { return repeat(w, m.data, size) })
	}
	return err
}

// repeat writes all JSONL files of a directory, repeatedly, until it has written size bytes.
func repeat(w io.Writer, dir string, size int64) error {
	var all []byte
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) != ".jsonl" {
			return err
		}
		text, err := os.ReadFile(path)
		if text = bytes.TrimSpace(text); len(text) > 0 {
			all = append(append(all, text...), '\n')
		}
		return err
	})
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("%s: no JSONL files", dir)
	}
	for n := int64(0); err == nil && n < size; n += int64(len(all)) {
		_, err = w.Write(all)
	}
	return err
}

func documents(ctx context.Context, m *meter) error {
	for _, d := range []struct {
		what  string
		write func(w io.Writer) error
		jobs  bool // also measured with two processors
	}{
		{
			fmt.Sprintf("chat document of %d messages", m.scaled(100_000)),
			func(w io.Writer) error { return bench.ChatDocument(w, 4, m.scaled(100_000)) },
			false,
		},
		{
			"messages document",
			func(w io.Writer) error { return bench.MessagesDocument(w, 5, int64(m.scaled(128))*mb) },
			true,
		},
	} {
		path, size, err := m.create("document.json", d.write)
		if err != nil {
			return err
		}
		compared := m.compared(path, "document.js")
		commands := compared
		if d.jobs {
			commands = append(commands, m.twoJobs(path)...)
		}
		costs, err := m.run(ctx, commands...)
		m.discard(path)
		if err != nil {
			return err
		}
		input := label(d.what, size)
		m.goal(costs, input, jqEmpty, 0.5)
		if used := costs[ours].Peak; used > 0 {
			m.page.goals = append(m.page.goals, goal{input, short(ours) + ", peak memory in MB", float64(megabytes(used)), 64, megabytes(used)})
		}
		m.jobs(costs, input)
		m.shares(costs, input, compared)
	}
	return nil
}

func files(ctx context.Context, m *meter) error {
	dir := m.path("sessions")
	n := m.scaled(2000)
	if err := bench.Sessions(dir, 6, n); err != nil {
		return err
	}
	return m.many(ctx, dir, nil, fmt.Sprintf("%d session logs of 16 to 100 KB", n), 9)
}

// formats measures small files of many formats: those of a directory, repeated.
func formats(ctx context.Context, m *meter) error {
	dir := m.path("formats")
	n := m.scaled(2000)
	if err := smallFiles(dir, m.small, n); err != nil {
		return err
	}
	return m.many(ctx, dir, []int{0, 1, 2}, fmt.Sprintf("%d files of many formats under 20 KB", n), 10)
}

// mostSmall is the largest size of a small file, in bytes.
const mostSmall = 20 << 10

// smallFiles copies the small transcripts in a directory to dir, repeatedly, until there are n.
func smallFiles(dir, from string, n int) error {
	var all []string
	err := filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if ext := filepath.Ext(path); err != nil || e.IsDir() || ext != ".json" && ext != ".jsonl" {
			return err
		}
		info, err := e.Info()
		if err == nil && info.Size() < mostSmall {
			all = append(all, path)
		}
		return err
	})
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("%s: no transcripts under %d KB", from, mostSmall>>10)
	}
	for i := 0; err == nil && i < n; i++ {
		path := all[i%len(all)]
		text, rerr := os.ReadFile(path)
		in := filepath.Join(dir, fmt.Sprintf("d%d", i/200))
		err = errors.Join(rerr, os.MkdirAll(in, 0o755), os.WriteFile(filepath.Join(in, fmt.Sprintf("%d-%s", i, filepath.Base(path))), text, 0o644))
	}
	return err
}

// many measures the files in a directory, which it deletes.
func (m *meter) many(ctx context.Context, dir string, exits []int, input string, most float64) error {
	defer m.discard(dir)
	find := func(command string) []string {
		return []string{"sh", "-c", "find \"$1\" -type f -print0 | xargs -0 " + command, "sh", dir}
	}
	commands := []command{
		{name: ours, args: append([]string{m.toolguard}, check("-j1", dir)...), exits: exits},
		{name: findWC, args: find("wc -l")},
	}
	if m.jq && exits == nil { // jq ends at the first file that is not JSON
		commands = append(commands, command{name: findJQ, args: find("jq empty")})
	}
	costs, err := m.run(ctx, commands...)
	if err != nil {
		return err
	}
	m.goal(costs, input, findWC, most)
	m.shares(costs, input, commands)
	return nil
}

func startUp(ctx context.Context, m *meter) error {
	times := m.scaled(20)
	costs, err := m.run(ctx,
		command{name: "version", args: []string{m.toolguard, "version"}, times: times},
		command{name: "empty", args: []string{m.empty}, times: times})
	if err != nil {
		return err
	}
	m.page.goals = append(m.page.goals, goal{"start-up", "`version` ÷ empty program, CPU", ratio(costs["version"].CPU, costs["empty"].CPU), 1.5, megabytes(costs["version"].Peak)})
	return nil
}

func fix(ctx context.Context, m *meter) error {
	calls := m.scaled(60_000)
	repairs := [3]int{max(1, calls/1000), max(2, calls/10), calls}
	work := m.path("work.jsonl")
	var sizes [3]int64
	var paths [3]string
	for i, unanswered := range repairs {
		path, size, err := m.create(fmt.Sprintf("calls-%d.jsonl", i), func(w io.Writer) error {
			return bench.CallLog(w, 7, int64(m.scaled(fullSize))*mb, calls, unanswered)
		})
		if err != nil {
			return err
		}
		defer m.discard(path)
		paths[i], sizes[i] = path, size
	}
	// fix refuses to write a session log that changed a moment ago.
	old := func(path string) error {
		before := time.Now().Add(-time.Hour)
		return os.Chtimes(path, before, before)
	}
	fresh := func(path string) func() error {
		return func() error {
			for _, name := range []string{"spare.jsonl", "work.jsonl"} {
				from, err := os.Open(path)
				if err != nil {
					return err
				}
				defer from.Close()
				if _, _, err := m.create(name, func(w io.Writer) error { _, err := io.Copy(w, from); return err }); err != nil {
					return err
				}
			}
			// fix writes a new file, and cp writes over an old one, whose memory is in use. A virtual machine
			// may have to ask its host for more, which takes much longer than to copy.
			if err := os.Remove(m.path("spare.jsonl")); err != nil {
				return err
			}
			return old(work)
		}
	}
	write := []string{m.toolguard, "fix", "--isolated", "--quiet", "--write", "--backup=none", "-j1", work}
	costs, err := m.run(ctx,
		command{name: "cp", args: []string{"cp", paths[0], m.path("copy")}},
		command{name: "check", args: append([]string{m.toolguard}, check("-j1", paths[0])...), exits: []int{1}},
		command{name: "few", args: write, before: fresh(paths[0])},
		command{name: "more", args: write, before: fresh(paths[1])},
		command{name: "many", args: write, before: fresh(paths[2])})
	if err != nil {
		return err
	}
	input := func(i int) string { return label(fmt.Sprintf("session log with %d repairs", repairs[i]), sizes[i]) }
	few := costs["few"]
	m.page.goals = append(m.page.goals, goal{input(0), "(`fix --write` − `check`) ÷ `cp`, CPU", ratio(few.CPU-costs["check"].CPU, costs["cp"].CPU), 1.5, megabytes(few.Peak)})
	for i, name := range []string{"more", "many"} {
		more := repairs[i+1] - repairs[0]
		each := float64((costs[name].CPU - few.CPU).Microseconds()) / float64(more)
		m.page.goals = append(m.page.goals, goal{input(i + 1), fmt.Sprintf("each of %d more repairs, CPU in µs", more), hundredths(each), 25, megabytes(costs[name].Peak)})
	}
	return nil
}

func binary(_ context.Context, m *meter) error {
	info, err := os.Stat(m.toolguard)
	if err != nil {
		return err
	}
	m.page.goals = append(m.page.goals, goal{"binary", "size in MB", hundredths(float64(info.Size()) / mb), 11.5, 0})
	return nil
}
