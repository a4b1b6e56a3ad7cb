package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/sample"
)

// standIn is the environment variable with which this binary stands in for the programs that
// are measured, and does nothing.
const standIn = "COMPARE_STAND_IN"

// stoodIn makes this binary the programs to measure. Building them takes longer than all tests
// of some packages.
func stoodIn(_ context.Context, m *meter) error {
	self, err := os.Executable()
	for _, path := range []string{m.toolguard, m.portable, m.empty} {
		if err == nil {
			err = os.Symlink(self, path)
		}
	}
	return err
}

// programs returns how a test gets the programs to measure: built in a long run, and otherwise
// by a stand-in.
func programs(t *testing.T) makePrograms {
	t.Helper()
	if sample.Long() {
		return built
	}
	t.Setenv(standIn, "1")
	return stoodIn
}

// TestMain lets this binary start commands, as the program does, and stand in for what is
// measured.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == starter {
		if err := start(os.Args[2:], os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if os.Getenv(standIn) != "" {
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// read reads a page back. Every figure on it must be a number.
func read(t *testing.T, text string) *page {
	t.Helper()
	number := func(s string) float64 {
		t.Helper()
		x, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Errorf("%q is no number", s)
		}
		return x
	}
	peak := func(s string) int {
		t.Helper()
		if s == "" {
			return 0
		}
		return int(number(strings.TrimSuffix(s, " MB")))
	}
	p := &page{}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if cells := strings.Split(strings.TrimSuffix(strings.TrimPrefix(line, "| "), " |"), " | "); strings.HasPrefix(line, "| ") && cells[0] != "input" {
			switch len(cells) {
			case 6:
				p.goals = append(p.goals, goal{cells[0], cells[1], number(cells[2]), number(strings.TrimPrefix(cells[3], "≤ ")), peak(strings.TrimSpace(cells[5]))})
			case 4:
				p.shares = append(p.shares, share{cells[0], cells[1], number(cells[2]), peak(strings.TrimSpace(cells[3]))})
			default:
				t.Errorf("a row of %d cells: %s", len(cells), line)
			}
			continue
		}
		for prefix, to := range map[string]func(string){
			"- Machine: ":                         func(s string) { p.machine = s },
			"- Software: ":                        func(s string) { p.software = s },
			"- Date: ":                            func(s string) { p.date = s },
			"- Load average at the beginning: ":   func(s string) { number(s); p.load = s },
			"- Rounds: ":                          func(s string) { p.rounds = int(number(s)) },
			"- Smallest peak that can be shown: ": func(s string) { p.floor = peak(s) },
			"- Not installed, and left out: ":     func(s string) { p.missing = strings.Split(s, ", ") },
		} {
			if rest, ok := strings.CutPrefix(line, prefix); ok {
				to(rest)
			}
		}
	}
	return p
}

// held compares a page and its chart with what their own figures give.
func held(t *testing.T, path string) *page {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	chart, err := os.ReadFile(filepath.Join(filepath.Dir(path), chartName))
	if err != nil {
		t.Fatal(err)
	}
	p := read(t, string(text))
	if diff := cmp.Diff(p.markdown(), string(text)); diff != "" {
		t.Errorf("%s is not in the form that make bench-compare writes:\n%s", path, diff)
	}
	if diff := cmp.Diff(p.chart(), string(chart)); diff != "" {
		t.Errorf("%s is not the chart of the page:\n%s", chartName, diff)
	}
	if _, err := time.Parse(time.DateOnly, p.date); err != nil || p.machine == "" || p.software == "" {
		t.Errorf("machine %q, software %q, date %q", p.machine, p.software, p.date)
	}
	return p
}

// rowsOf are the first cells of all rows, without lengths and numbers.
func rowsOf(p *page) (goals, shares []string) {
	plain := regexp.MustCompile(`,? \d[\d.]*( MB)?`)
	bare := func(s string) string { return plain.ReplaceAllString(" "+s, "")[1:] }
	for _, g := range p.goals {
		goals = append(goals, fmt.Sprintf("%s: %s ≤ %g", bare(g.input), bare(g.measured), g.most))
	}
	for _, s := range p.shares {
		shares = append(shares, bare(s.input)+": "+s.tool)
	}
	return goals, shares
}

// wantRows are the rows of a run without -data, on a machine with so many
// processors that has jq, and node.
func wantRows(processors int, jq, node bool) (goals, shares []string) {
	goal := func(when bool, s string) {
		if when {
			goals = append(goals, s)
		}
	}
	goal(true, "session log: `check -j1` ÷ `wc -l`, CPU ≤ 6.5")
	goal(processors > 1, "session log: `check -j2` ÷ `check -j1`, wall ≤ 0.62")
	goal(jq, "OpenAI rows: `check -j1` ÷ `jq empty`, CPU ≤ 0.75")
	goal(processors > 1, "OpenAI rows: `check -j2` ÷ `check -j1`, wall ≤ 0.62")
	goal(jq, "ShareGPT rows: `check -j1` ÷ `jq empty`, CPU ≤ 0.75")
	goal(processors > 1, "ShareGPT rows: `check -j2` ÷ `check -j1`, wall ≤ 0.62")
	goal(jq, "chat document of messages: `check -j1` ÷ `jq empty`, CPU ≤ 0.5")
	goal(true, "chat document of messages: `check -j1`, peak memory in MB ≤ 64")
	goal(jq, "messages document: `check -j1` ÷ `jq empty`, CPU ≤ 0.5")
	goal(true, "messages document: `check -j1`, peak memory in MB ≤ 64")
	goal(processors > 1, "messages document: `check -j2` ÷ `check -j1`, wall ≤ 0.62")
	goal(true, "session logs of to KB: `check -j1` ÷ `find \\| xargs wc -l`, CPU ≤ 9")
	goal(true, "files of many formats under KB: `check -j1` ÷ `find \\| xargs wc -l`, CPU ≤ 10")
	goal(true, "start-up: `version` ÷ empty program, CPU ≤ 1.5")
	goal(true, "session log with repairs: (`fix --write` − `check`) ÷ `cp`, CPU ≤ 1.5")
	goal(true, "session log with repairs: each of more repairs, CPU in µs ≤ 25")
	goal(true, "session log with repairs: each of more repairs, CPU in µs ≤ 25")
	goal(true, "binary: size in MB ≤ 11.5")
	for _, input := range []string{"session log", "OpenAI rows", "ShareGPT rows", "chat document of messages", "messages document"} {
		for _, tool := range []string{ours, lines, copying, jqEmpty, nodeJSON} {
			if (tool != jqEmpty || jq) && (tool != nodeJSON || node) {
				shares = append(shares, input+": "+tool)
			}
		}
		if input == "session log" {
			shares = append(shares, input+": "+portable)
		}
	}
	const logs, formats = "session logs of to KB: ", "files of many formats under KB: "
	shares = append(shares, logs+ours, logs+findWC)
	if jq {
		shares = append(shares, logs+findJQ)
	}
	shares = append(shares, formats+ours, formats+findWC)
	return goals, shares
}

// TestCompare runs everything with small inputs. It does not check times, because the machine
// does other things too.
func TestCompare(t *testing.T) {
	if testing.Short() || runtime.GOOS == "windows" {
		t.Skip("it builds programs, and runs those of Unix")
	}
	file := filepath.Join(t.TempDir(), "performance.md")
	t.Setenv("TMPDIR", t.TempDir())
	var out bytes.Buffer
	if err := compare(t.Context(), []string{"-quick", "-small", "../../../testdata/transcripts", "-write", file}, programs(t), &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	p := held(t, file)
	if text, err := os.ReadFile(file); err != nil || string(text) != out.String() {
		t.Errorf("the page is not what was printed, or %v:\n%s", err, out.String())
	}
	there := func(tool string) bool { _, err := exec.LookPath(tool); return err == nil }
	goals, shares := rowsOf(p)
	wantGoals, wantShares := wantRows(runtime.NumCPU(), there("jq"), there("node"))
	if diff := cmp.Diff(wantGoals, goals); diff != "" {
		t.Errorf("goals (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(wantShares, shares); diff != "" {
		t.Errorf("other tools (-want +got):\n%s", diff)
	}
	for _, g := range p.goals {
		// Nothing is done by a stand-in, so the difference between two of them can be nothing.
		if g.value == 0 && sample.Long() || g.peak == 0 && g.input != "binary" {
			t.Errorf("%s: %s: %g, peak %d", g.input, g.measured, g.value, g.peak)
		}
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("it leaves %v, error %v", left, err)
	}
}

// TestPage: the page in docs has the form that the command writes, and all rows.
func TestPage(t *testing.T) {
	p := held(t, filepath.Join("..", "..", "..", "docs", "performance.md"))
	goals, shares := rowsOf(p)
	given := func(s string) bool { return strings.HasPrefix(s, "given rows: ") }
	goals, shares = slices.DeleteFunc(goals, given), slices.DeleteFunc(shares, given)
	wantGoals, wantShares := wantRows(2, true, true)
	if diff := cmp.Diff(wantGoals, goals); diff != "" {
		t.Errorf("goals (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(wantShares, shares); diff != "" {
		t.Errorf("other tools (-want +got):\n%s", diff)
	}
	if len(p.missing) > 0 {
		t.Errorf("%v were missing", p.missing)
	}
}

// TestMissing: tools that are not installed are named on the page.
func TestMissing(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no links")
	}
	bin := t.TempDir()
	for _, tool := range []string{"sh", "wc", "cp", "find", "xargs", "go"} {
		path, err := exec.LookPath(tool)
		if err != nil {
			t.Skip(err)
		}
		if err := os.Symlink(path, filepath.Join(bin, tool)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin)
	m := &meter{progress: io.Discard}
	if err := m.look(t.Context()); err != nil {
		t.Fatal(err)
	}
	const want = "\n- Not installed, and left out: jq, node\n"
	if text := m.page.markdown(); m.jq || m.node || !strings.HasSuffix(text, want) {
		t.Errorf("jq %t, node %t, page\n%s", m.jq, m.node, text)
	}
	for _, c := range m.compared("x", "lines.js") {
		if c.name == jqEmpty || c.name == nodeJSON {
			t.Errorf("%s is run", c.name)
		}
	}
	if err := os.Remove(filepath.Join(bin, "xargs")); err != nil {
		t.Fatal(err)
	}
	if err := m.look(t.Context()); err == nil || !strings.Contains(err.Error(), `"xargs"`) {
		t.Errorf("without xargs: %v", err)
	}
}

// TestOnce: a command with an unexpected exit code ends the run, because it has not done the
// work to measure.
func TestOnce(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no sh")
	}
	m := &meter{dir: t.TempDir(), progress: io.Discard}
	count := m.path("count")
	script := "printf x >>" + count + "; echo wrong >&2; exit 3"
	c := command{name: "sh", args: []string{"sh", "-c", script}, times: 4}
	if _, err := m.once(t.Context(), c); err == nil || err.Error() != "sh: exit code 3\nwrong\n" {
		t.Errorf("%v", err)
	}
	c.exits = []int{1, 3}
	took, err := m.once(t.Context(), c)
	if err != nil || took.Wall <= 0 || took.Wall > time.Minute || took.CPU <= 0 || took.Peak < mb/4 || took.Peak > 64*mb {
		t.Errorf("%+v, %v", took, err)
	}
	if ran, err := os.ReadFile(count); err != nil || string(ran) != "xxxxxxxx" {
		t.Errorf("it ran %d times, %v", len(ran), err)
	}
}

// TestRun: commands run in turn, the first round does not count, and the result is the median
// of the others.
func TestRun(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no sh")
	}
	m := &meter{dir: t.TempDir(), rounds: 2, progress: io.Discard}
	var order []string
	note := func(name string) func() error {
		return func() error { order = append(order, name); return nil }
	}
	costs, err := m.run(t.Context(),
		command{name: "a", args: []string{"sh", "-c", ":"}, before: note("a")},
		command{name: "b", args: []string{"sh", "-c", ":"}, before: note("b")})
	if err != nil || len(costs) != 2 {
		t.Errorf("%v, %v", costs, err)
	}
	if diff := cmp.Diff([]string{"a", "b", "a", "b", "a", "b"}, order); diff != "" {
		t.Error(diff)
	}
	first := cost{Wall: 1000, CPU: 1000, Peak: 1000}
	for want, all := range map[cost][]cost{
		{Wall: 4, CPU: 7, Peak: 5}: {first, {Wall: 9, CPU: 8, Peak: 5}, {Wall: 1, CPU: 7, Peak: 2}, {Wall: 4, CPU: 1, Peak: 3}},
		{Wall: 5, CPU: 6, Peak: 5}: {first, {Wall: 9, CPU: 8, Peak: 5}, {Wall: 1, CPU: 4, Peak: 2}},
	} {
		if got := summary(all); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}

// TestRepeat: files are joined at lines, however they end.
func TestRepeat(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.jsonl": "{}\n[]", "b/c.jsonl": "1\n\n", "d.jsonl": "", "e.txt": "no"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	if err := repeat(&b, dir, 10); err != nil || b.String() != "{}\n[]\n1\n{}\n[]\n1\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
	empty := t.TempDir()
	if err := repeat(&b, empty, 10); err == nil || err.Error() != empty+": no JSONL files" {
		t.Errorf("nothing to repeat: %v", err)
	}
}

// TestArguments: invalid arguments are reported before anything is built.
func TestArguments(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"-only log,fox", `-only: no "fox"; there are log, rows, document, files, formats, start, fix, binary`},
		{"-rounds 0", "wrong arguments; -h shows the flags"},
		{"-size 0", "wrong arguments; -h shows the flags"},
		{"more", "wrong arguments; -h shows the flags"},
	} {
		if err := compare(t.Context(), strings.Fields(c.args), built, io.Discard, io.Discard); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.args, err, c.want)
		}
	}
}

// TestKeep: what was measured stays, with the commands, and nothing else is written over.
func TestKeep(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a Unix shell")
	}
	dir := filepath.Join(t.TempDir(), "it's kept")
	args, made := []string{"-quick", "-only", "files", "-keep", dir}, programs(t)
	var progress bytes.Buffer
	if err := compare(t.Context(), args, made, io.Discard, &progress); err != nil {
		t.Fatal(err)
	}
	quoted := "'" + strings.ReplaceAll(dir, "'", `'\''`)
	want := "files (1 of 1)\n  " + quoted + "/toolguard' check --isolated --quiet -j1 " + quoted + "/sessions'\n"
	if !strings.HasPrefix(progress.String(), want) {
		t.Errorf("progress is\n%s\nwant\n%s", progress.String(), want)
	}
	line, _, _ := strings.Cut(progress.String()[strings.Index(progress.String(), "\n")+1:], "\n")
	if out, err := exec.Command("sh", "-c", line).CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", line, err, out)
	}
	if err := compare(t.Context(), args, made, io.Discard, io.Discard); !errors.Is(err, fs.ErrExist) {
		t.Errorf("into a directory that is there: %v", err)
	}
}
