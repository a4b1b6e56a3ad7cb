package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// fullSize is the size in MB of the session log to which the goals apply. One MB is 2^20
// bytes.
const fullSize = 256

const mb = 1 << 20

// A meter runs commands and measures them.
type meter struct {
	dir          string
	keep         bool // keep the inputs
	size, rounds int
	data, small  string
	progress     io.Writer

	toolguard, portable, empty string
	jq, node                   bool
	page                       page
}

// A command is run repeatedly.
type command struct {
	name string
	args []string
	// exits are the allowed exit codes besides 0.
	exits []int
	// before is called before each run, and is not measured.
	before func() error
	// times is the number of runs that are measured together if one run is too short; 0 means
	// 1.
	times int
}

// A cost is the cost of one run of a command.
type cost struct {
	Wall, CPU time.Duration
	Peak      int64 // bytes
	Exit      int
	Stderr    string
}

// starter is the first argument of the process that starts a command.
const starter = "start"

// start runs the command args[1:] args[0] times, and writes the cost of one run.
//
// It runs in a process of its own, because the peak memory of a process starts at the peak of
// its parent. This process has read nothing yet.
func start(args []string, out io.Writer) error {
	times, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	var all cost
	for range times {
		var stderr bytes.Buffer
		cmd := exec.Command(args[1], args[2:]...)
		cmd.Stderr = &stderr
		before := time.Now()
		err := cmd.Run()
		all.Wall += time.Since(before)
		if err != nil && !errors.As(err, new(*exec.ExitError)) {
			return err
		}
		all.CPU += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		all.Peak = max(all.Peak, peak(cmd.ProcessState))
		all.Exit, all.Stderr = cmd.ProcessState.ExitCode(), stderr.String()
	}
	all.Wall /= time.Duration(times)
	all.CPU /= time.Duration(times)
	return json.NewEncoder(out).Encode(all)
}

// once runs a command once and returns its cost.
func (m *meter) once(ctx context.Context, c command) (cost, error) {
	var took cost
	if c.before != nil {
		if err := c.before(); err != nil {
			return took, err
		}
	}
	self, err := os.Executable()
	if err != nil {
		return took, err
	}
	cmd := exec.CommandContext(ctx, self, append([]string{starter, strconv.Itoa(max(1, c.times))}, c.args...)...)
	cmd.Stderr = m.progress
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "TOOLGUARD_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	// Backups, if any, are removed with the directory.
	cmd.Env = append(cmd.Env, "XDG_STATE_HOME="+m.dir)
	out, err := cmd.Output()
	if err != nil {
		return took, fmt.Errorf("%s: %w", c.name, err)
	}
	if err := json.Unmarshal(out, &took); err != nil {
		return took, fmt.Errorf("%s: %w", c.name, err)
	}
	if took.Exit != 0 && !slices.Contains(c.exits, took.Exit) {
		return took, fmt.Errorf("%s: exit code %d\n%s", c.name, took.Exit, took.Stderr)
	}
	return took, nil
}

// run measures commands. It runs them in turn, round by round, so that anything that slows
// the machine down affects all of them. An additional first round fills the caches. It
// returns the medians and the highest peaks.
func (m *meter) run(ctx context.Context, commands ...command) (map[string]cost, error) {
	if m.keep {
		for _, c := range commands {
			fmt.Fprintln(m.progress, "  "+shellwords(c.args))
		}
	}
	taken := map[string][]cost{}
	for range m.rounds + 1 {
		for _, c := range commands {
			took, err := m.once(ctx, c)
			if err != nil {
				return nil, err
			}
			taken[c.name] = append(taken[c.name], took)
		}
	}
	costs := map[string]cost{}
	for name, all := range taken {
		costs[name] = summary(all)
	}
	return costs, nil
}

// summary returns the medians and the highest peak of all rounds except the first.
func summary(all []cost) cost {
	all = all[1:]
	c := cost{
		Wall: median(all, func(c cost) time.Duration { return c.Wall }),
		CPU:  median(all, func(c cost) time.Duration { return c.CPU }),
	}
	for _, took := range all {
		c.Peak = max(c.Peak, took.Peak)
	}
	return c
}

func median(all []cost, of func(cost) time.Duration) time.Duration {
	var values []time.Duration
	for _, c := range all {
		values = append(values, of(c))
	}
	slices.Sort(values)
	middle := len(values) / 2
	if len(values)%2 == 0 {
		return (values[middle-1] + values[middle]) / 2
	}
	return values[middle]
}

// discard removes an input to save space, unless inputs are kept. An input that cannot be
// removed is removed at the end with the directory.
func (m *meter) discard(path string) {
	if !m.keep {
		_ = os.RemoveAll(path)
	}
}

// shellwords returns a command as it is typed in a shell.
func shellwords(args []string) string {
	var out []string
	for _, arg := range args {
		if arg == "" || strings.ContainsAny(arg, " \t\n'\"\\$`|&;<>()*?[#~") {
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		out = append(out, arg)
	}
	return strings.Join(out, " ")
}

func (m *meter) path(name string) string { return filepath.Join(m.dir, name) }

// prepare finds the tools and makes the programs.
func (m *meter) prepare(ctx context.Context, programs makePrograms) error {
	// Building must not count as load.
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		m.page.load, _, _ = strings.Cut(string(load), " ")
	}
	if err := m.look(ctx); err != nil {
		return err
	}
	m.toolguard, m.portable, m.empty = m.path("toolguard"), m.path("portable"), m.path("empty")
	if err := programs(ctx, m); err != nil {
		return err
	}
	for name, script := range map[string]string{"lines.js": parseLines, "document.js": parseDocument} {
		if err := os.WriteFile(m.path(name), []byte(script), 0o666); err != nil {
			return err
		}
	}
	m.page.software = m.version(ctx, "toolguard", m.toolguard, "version") + ", " + m.page.software
	m.page.machine = machine(ctx)
	m.page.date = time.Now().UTC().Format(time.DateOnly)
	m.page.rounds = m.rounds
	least, err := m.once(ctx, command{name: "empty", args: []string{m.empty}})
	m.page.floor = megabytes(least.Peak)
	return err
}

// look finds out which tools are installed.
func (m *meter) look(ctx context.Context) error {
	for _, tool := range []string{"sh", "wc", "cp", "find", "xargs", "go"} {
		if _, err := exec.LookPath(tool); err != nil {
			return err
		}
	}
	versions := []string{runtime.Version(), m.version(ctx, "wc", "wc", "--version")}
	for _, tool := range []struct {
		name  string
		there *bool
	}{{"jq", &m.jq}, {"node", &m.node}} {
		if _, err := exec.LookPath(tool.name); err != nil {
			m.page.missing = append(m.page.missing, tool.name)
			continue
		}
		*tool.there = true
		versions = append(versions, m.version(ctx, tool.name, tool.name, "--version"))
	}
	m.page.software = strings.Join(versions, ", ")
	return nil
}

// makePrograms makes the three programs to measure at their paths.
type makePrograms func(ctx context.Context, m *meter) error

// built builds the programs.
func built(ctx context.Context, m *meter) error {
	source := m.path("empty.go")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o666); err != nil {
		return err
	}
	flags := "-s -w"
	if out, err := exec.CommandContext(ctx, "git", "describe", "--tags", "--always", "--dirty").Output(); err == nil {
		flags += " -X main.version=" + strings.TrimSpace(string(out))
	}
	const path = "github.com/toolguard/toolguard/cmd/toolguard"
	for _, args := range [][]string{
		{"-o", m.toolguard, path},
		{"-tags", "purego", "-o", m.portable, path},
		{"-o", m.empty, source},
	} {
		cmd := exec.CommandContext(ctx, "go", append([]string{"build", "-trimpath", "-ldflags", flags}, args...)...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		cmd.Stderr = m.progress
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("go build: %w", err)
		}
	}
	return nil
}

// version returns the first line that a tool prints about itself, or its name if it prints
// nothing.
func (m *meter) version(ctx context.Context, name string, args ...string) string {
	out, err := exec.CommandContext(ctx, args[0], args[1:]...).Output()
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	switch {
	case err != nil || line == "":
		return name
	case strings.HasPrefix(line, name):
		return line
	}
	return name + " " + line
}

// machine describes the processor and the system.
func machine(ctx context.Context) string {
	model := runtime.GOARCH
	info, err := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(info)) {
		if name, value, ok := strings.Cut(line, ":"); err == nil && ok && strings.TrimSpace(name) == "model name" {
			model = strings.TrimSpace(value)
			break
		}
	}
	system := runtime.GOOS
	if out, err := exec.CommandContext(ctx, "uname", "-sr").Output(); err == nil {
		system = strings.TrimSpace(string(out))
	}
	return fmt.Sprintf("%s, %d processors, %s", model, runtime.NumCPU(), system)
}
