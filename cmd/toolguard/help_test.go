package main

import (
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolguard/toolguard/internal/usage"
)

// everyCommand calls f with all commands of toolguard.
func everyCommand(f func(*cobra.Command)) {
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		f(cmd)
		for _, c := range cmd.Commands() {
			walk(c)
		}
	}
	walk(newRootCmd(&app{env: noEnv}, nil))
}

// TestFlagGroups: every flag is below one heading of the help, and each heading has flags.
func TestFlagGroups(t *testing.T) {
	t.Parallel()
	groups, used := map[string]int{}, map[string]bool{}
	for i, g := range flagGroups() {
		for name := range strings.FieldsSeq(g.Names) {
			if _, twice := groups[name]; twice {
				t.Errorf("--%s is below two headings", name)
			}
			groups[name] = i
		}
	}
	everyCommand(func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			used[f.Name] = true
			if _, is := groups[f.Name]; !is && !f.Hidden {
				t.Errorf("%s --%s is below no heading", cmd.CommandPath(), f.Name)
			}
		})
	})
	for name := range groups {
		if !used[name] {
			t.Errorf("no command has --%s", name)
		}
	}
}

// TestShortHelp: -h shows flags that exist, has three examples at most, and fits on one screen.
func TestShortHelp(t *testing.T) {
	t.Parallel()
	for _, c := range commands() {
		if c.name == "proxy" || c.name == "sqlite" || c.name == "parquet" {
			continue
		}
		cmd := c.command(&app{env: noEnv})
		for name := range strings.FieldsSeq(c.short) {
			if cmd.Flags().Lookup(name) == nil {
				t.Errorf("%s has no --%s", c.name, name)
			}
		}
		if n := len(strings.Split(cmd.Example, "\n")); n > 3 {
			t.Errorf("%s has %d examples", c.name, n)
		}
		var short, long strings.Builder
		for flag, out := range map[string]*strings.Builder{"-h": &short, "--help": &long} {
			if code := run(t.Context(), []string{c.name, flag}, strings.NewReader(""), out, out, noEnv); code != 0 {
				t.Errorf("%s %s exits with %d", c.name, flag, code)
			}
		}
		if n := strings.Count(short.String(), "\n"); n > 45 {
			t.Errorf("%s -h has %d lines", c.name, n)
		}
		if all := c.short == ""; all != (short.String() == long.String()) {
			t.Errorf("%s: -h and --help are the same: %v", c.name, !all)
		}
	}
}

// TestHelpWidth: the help of every command fits a narrow terminal, with -h too.
func TestHelpWidth(t *testing.T) {
	t.Parallel()
	for _, width := range []int{60, 61, 72, 100} {
		everyCommand(func(cmd *cobra.Command) {
			for _, flag := range []string{"help", "short-help"} {
				cmd.InitDefaultHelpFlag()
				if cmd.Flags().Lookup(flag) == nil {
					continue
				}
				if err := cmd.Flags().Set(flag, "true"); err != nil {
					t.Fatal(err)
				}
				var b strings.Builder
				if err := usage.Write(&b, cmd, flagGroups(), width); err != nil {
					t.Fatal(err)
				}
				for line := range strings.Lines(b.String()) {
					if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width {
						t.Errorf("%s --%s: %d columns in %d: %s", cmd.CommandPath(), flag, n, width, line)
					}
				}
			}
		})
	}
}

// TestSwitches: the help of no command shows a value behind a flag that is only given or not.
func TestSwitches(t *testing.T) {
	t.Parallel()
	everyCommand(func(cmd *cobra.Command) {
		var help strings.Builder
		args := strings.Fields(cmd.CommandPath() + " --help")[1:]
		if cmd.DisableFlagParsing || run(t.Context(), args, strings.NewReader(""), &help, io.Discard, noEnv) != exitOK {
			return
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden || f.Value.Type() != "bool" {
				return
			}
			if !regexp.MustCompile(`(?m)^ .*--` + f.Name + `(  |$)`).MatchString(help.String()) {
				t.Errorf("%s --%s is not shown without a value", cmd.CommandPath(), f.Name)
			}
		})
	})
}

// TestFormerFlags: the former names of flags work, and no help mentions them.
func TestFormerFlags(t *testing.T) {
	t.Parallel()
	everyCommand(func(cmd *cobra.Command) {
		for former, now := range map[string]string{"dialect": "from", "target": "provider"} {
			if cmd.Flags().Lookup(former) != cmd.Flags().Lookup(now) {
				t.Errorf("%s: --%s is not --%s", cmd.CommandPath(), former, now)
			}
		}
		for _, text := range []string{cmd.Short, cmd.Long, cmd.Example} {
			for _, word := range []string{"dialect", "--target ", "profile "} {
				if strings.Contains(text, word) && !slices.Contains([]string{"config"}, cmd.Name()) {
					t.Errorf("%s: the help says %q", cmd.CommandPath(), word)
				}
			}
		}
	})
}
