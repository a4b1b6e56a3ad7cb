package main

import (
	"bytes"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"
	"github.com/spf13/cobra"

	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/sample"
)

// widths are the terminals that output is made for in tests.
var widths = []int{narrowest, 80, 100, 120}

// tooWide returns the lines of an output that are wider than so many columns although
// they could be broken: they have more than one word.
func tooWide(out string, columns int) []string {
	cond := runewidth.Condition{StrictEmojiNeutral: true}
	var wide []string
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		if cond.StringWidth(line) > columns && strings.Contains(strings.TrimSpace(line), " ") {
			wide = append(wide, line)
		}
	}
	return wide
}

// runWithin carries out a command line for lines of so many columns, and returns what it
// prints.
func runWithin(t *testing.T, columns int, args ...string) string {
	t.Helper()
	env := func(key string) string {
		return map[string]string{"COLUMNS": strconv.Itoa(columns), "NO_COLOR": "1", "TERM": "dumb"}[key]
	}
	var out bytes.Buffer
	a := newApp(strings.NewReader(""), &out, &out, env)
	a.terminal, a.stderrTerminal = true, true
	a.lookPath = notInstalled
	a.run(t.Context(), args)
	return out.String()
}

// TestWidth: what check and fix print fits, whatever is in the files.
func TestWidth(t *testing.T) {
	t.Parallel()
	all := filepath.Join("..", "..", "testdata", "transcripts")
	for k, columns := range widths {
		for i, args := range [][]string{
			{"check", "-v", all},
			{"check", "--no-excerpt", all},
			{"fix", "--unsafe", filepath.Join(all, "anthropic", "broken")},
			{"fix", "--unsafe", filepath.Join(all, "openai-chat", "broken")},
			{"fix", "--no-excerpt", filepath.Join(all, "openai-chat", "broken")},
			{"stats", "--by", "agent", "--by", "version,tool", "--by", "model", "--min-calls", "1", all},
		} {
			if (i+k)%sample.Size(1, 6, 6) > 0 {
				continue
			}
			out := runWithin(t, columns, args...)
			if strings.Count(out, "\n") < 100 {
				t.Errorf("%q prints only\n%s", args, out)
			}
			if wide := tooWide(out, columns); len(wide) > 0 {
				t.Errorf("%q: %d lines are wider than %d columns:\n%s", args, len(wide), columns, strings.Join(wide, "\n"))
			}
		}
	}
}

// TestWidthOfTables: lists fit, also on narrow terminals, and lose no word.
func TestWidthOfTables(t *testing.T) {
	t.Parallel()
	broken := filepath.Join("..", "..", "testdata", "transcripts", "anthropic", "broken")
	for _, args := range [][]string{{"rules"}, {"formats"}, {"profiles"}, {"detect", broken}, {"detect", "-v", broken}, {"check", "--statistics", broken}} {
		var whole bytes.Buffer
		run(t.Context(), args, strings.NewReader(""), &whole, &whole, noEnv)
		for _, columns := range []int{narrowest, 60, 80, 120} {
			out := runWithin(t, columns, args...)
			if !slices.Equal(strings.Fields(out), strings.Fields(whole.String())) {
				t.Errorf("%q in %d columns has other words:\n%s", args, columns, out)
			}
			wide := tooWide(out, columns)
			wide = slices.DeleteFunc(wide, func(line string) bool { return strings.HasPrefix(strings.TrimLeft(line, " "), "{") })
			if len(wide) > 0 {
				t.Errorf("%q: wider than %d columns:\n%s", args, columns, strings.Join(wide, "\n"))
			}
		}
	}
}

// TestPathsAreWhole: a path with spaces stays in one line, whatever a command says of the file.
func TestPathsAreWhole(t *testing.T) {
	t.Parallel()
	names := map[string]string{
		"a cut one.jsonl":         cut,
		"a settled one.json":      `[{"role":"user","content":"hi"}]`,
		"no transcript.json":      `{"a":{"tool_calls":1}}`,
		"in vain.json":            `{"messages":[{"role":"user"`,
		"other/my toolguard.toml": "fail-on = 1\n",
	}
	// count runs the commands in a terminal of so many columns, and returns how often each
	// names the directory.
	count := func(columns int) (lines, outs []string, counts []int) {
		dir := filepath.Join(t.TempDir(), "my own. sessions  of today")
		for name, text := range names {
			fixture(t, dir, name, []byte(text))
		}
		path := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
		for _, args := range [][]string{
			{"check", "-v", dir},
			{"check", "-o", "concise", path("a cut one.jsonl")},
			{"check", "--exclude", "a*", "-v", dir},
			{"check", path("no such file.json")},
			{"check", path("no transcript.json")},
			{"check", path("other")},
			{"check", "--config=" + path("other/my toolguard.toml"), dir},
			{"check", "--config", path("no toolguard.toml"), dir},
			{"check", "-o", "json=" + path("no directory/of mine.json"), dir},
			{"fix", "-v", dir},
			{"fix", "-o", "text", path("no transcript.json")},
			{"detect", "-v", dir},
			{"detect", path("no such file.json")},
			{"detect", path("other")},
			{"baseline", "--baseline", path("what. is known"), path("a cut one.jsonl")},
			{"check", "--baseline", path("what. is known"), path("a cut one.jsonl")},
			{"fix", "--write", "--backup", path("a cut one.jsonl")},
		} {
			out := runWithin(t, columns, args...)
			lines, outs = append(lines, strings.Join(args[:2], " ")), append(outs, out)
			counts = append(counts, strings.Count(out, dir))
		}
		return lines, outs, counts
	}
	lines, wide, want := count(10_000)
	_, narrow, got := count(40)
	for i := range want {
		if got[i] != want[i] || want[i] == 0 {
			t.Errorf("%s breaks a path:\n%s\ninstead of\n%s", lines[i], narrow[i], wide[i])
		}
	}
}

// TestLinesInPipe: what is no terminal gets the same lines whatever COLUMNS says.
func TestLinesInPipe(t *testing.T) {
	t.Parallel()
	broken := filepath.Join("..", "..", "testdata", "transcripts", "openai-chat", "broken")
	for _, args := range [][]string{{"check", "-v", broken}, {"fix", "--unsafe", "--color=always", broken}, {"check", "--help"}, {"rules"}, {"explain", "missing-tool-result"}} {
		var want string
		for i, columns := range []string{"", "50", "200"} {
			env := func(key string) string { return map[string]string{"COLUMNS": columns}[key] }
			var out bytes.Buffer
			run(t.Context(), args, strings.NewReader(""), &out, &out, env)
			if i == 0 {
				want = out.String()
			}
			if out.String() != want || want == "" {
				t.Errorf("%q with COLUMNS=%s prints other lines:\n%s\ninstead of\n%s", args, columns, out.String(), want)
			}
		}
	}
}

// TestWidthOfHelp: the help of every command fits.
func TestWidthOfHelp(t *testing.T) {
	t.Parallel()
	n := 0
	var look func(cmd *cobra.Command)
	look = func(cmd *cobra.Command) {
		n++
		args := strings.Fields(cmd.CommandPath() + " --help")[1:]
		for _, columns := range []int{60, 80, 120} {
			out := runWithin(t, columns, args...)
			if !strings.Contains(out, "\nUsage:\n  "+cmd.CommandPath()) || !strings.Contains(out, "  -h, --help") {
				t.Errorf("%q prints\n%s", args, out)
			}
			if wide := tooWide(out, columns); len(wide) > 0 {
				t.Errorf("%q: wider than %d columns:\n%s", args, columns, strings.Join(wide, "\n"))
			}
		}
		for _, c := range cmd.Commands() {
			look(c)
		}
	}
	look(newRootCmd(&app{env: noEnv}, nil))
	if n < 14 {
		t.Errorf("there are %d commands", n)
	}
}

// TestWidthOfNarrowHelp: help is made for 60 columns at least.
func TestWidthOfNarrowHelp(t *testing.T) {
	t.Parallel()
	want := runWithin(t, 60, "check", "--help")
	if wide := tooWide(want, 60); len(wide) > 0 {
		t.Errorf("wider than 60 columns:\n%s", strings.Join(wide, "\n"))
	}
	for _, columns := range []int{20, 50} {
		if got := runWithin(t, columns, "check", "--help"); got != want {
			t.Errorf("%d columns:\n%s", columns, got)
		}
	}
}

// TestWidthOfExample: the example report on the page of a rule fits.
func TestWidthOfExample(t *testing.T) {
	t.Parallel()
	for _, r := range rules.All() {
		for _, columns := range widths {
			page := runWithin(t, columns, "explain", r.Name)
			_, example, _ := strings.Cut(page, "\n    bad.json")
			example, _, found := strings.Cut(example, "\n\n")
			if !found {
				t.Errorf("%s has no example report:\n%s", r.Name, page)
			}
			if wide := tooWide("    bad.json"+example, columns); len(wide) > 0 {
				t.Errorf("%s: wider than %d columns:\n%s", r.Name, columns, strings.Join(wide, "\n"))
			}
		}
	}
}
