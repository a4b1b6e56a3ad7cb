// Package usage knows how the help of a command is written: how it is called, examples, flags under
// headings, and what it does. -h shows the flags that most people need, --help all of them. It does
// not know any command.
package usage

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolguard/toolguard/internal/report"
)

// narrowest is how many columns help takes at least: fewer are hard to read.
const narrowest = 60

// widestFlag is how many columns the name of a flag and its value may take before the text
// about it begins on the next line.
const widestFlag = 30

// A Group is a heading of the help, with the names of the flags below it in their order.
type Group struct{ Title, Names string }

// shortFlags is the annotation of a command with the names of the flags that -h shows.
const shortFlags = "toolguard_short"

// Short returns the annotations of a command with which -h shows only these flags.
func Short(names string) map[string]string { return map[string]string{shortFlags: names} }

// A shortHelp is the flag -h, which asks for help as --help does, but for less.
type shortHelp struct {
	pflag.Value // of --help
}

// Set implements pflag.Value. Anything else than true or false is an error.
func (s shortHelp) Set(v string) error { return s.Value.Set(v) }

// shortName is the name of the flag -h. It is hidden, since it is shown beside --help.
const shortName = "short-help"

// Define adds -h and --help to a command and to those below it.
func Define(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Bool("help", false, "explain the command with all flags; -h shows those that most people need")
	f := flags.VarPF(shortHelp{flags.Lookup("help").Value}, shortName, "h", "")
	f.NoOptDefVal, f.Hidden = "true", true
	for _, c := range cmd.Commands() {
		Define(c)
	}
}

// Write writes the help of a command, with its flags under the headings of groups, in lines of
// at most width columns, but not fewer than 60.
func Write(w io.Writer, cmd *cobra.Command, groups []Group, width int) error {
	width = max(narrowest, width)
	path := cmd.CommandPath()
	below := cmd.HasAvailableSubCommands()
	var b strings.Builder
	b.WriteString(report.Fold(cmd.Short+".", width, ""))
	b.WriteString("\nUsage:\n")
	if cmd.Runnable() && !below {
		b.WriteString(report.Fold("  "+cmd.UseLine(), width, "      "))
	}
	if below {
		b.WriteString(report.Fold("  "+path+" [command]", width, "      "))
	}
	if cmd.HasExample() {
		b.WriteString("\nExamples:\n")
		b.WriteString(fold(cmd.Example, width))
	}
	if below {
		b.WriteString("\nCommands:\n")
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() || c.Name() == "help" {
				name := fmt.Sprintf("  %-*s ", c.NamePadding(), c.Name())
				b.WriteString(report.Fold(name+c.Short, width, strings.Repeat(" ", len(name))))
			}
		}
	}
	names, some := cmd.Annotations[shortFlags]
	if some && cmd.Flags().Changed(shortName) {
		writeFlags(&b, cmd, []Group{{"Flags", names + " help"}}, width)
		b.WriteString("\n" + report.Fold(path+" --help explains the command with all flags.", width, ""))
	} else {
		writeFlags(&b, cmd, groups, width)
		if cmd.Long != "" {
			b.WriteString("\n" + fold(cmd.Long, width))
		}
	}
	if below {
		b.WriteString("\n" + report.Fold(path+" [command] -h shows how a command is used, and --help explains it.", width, ""))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeFlags writes the flags of a command under the headings of groups.
func writeFlags(b *strings.Builder, cmd *cobra.Command, groups []Group, width int) {
	type row struct{ flag, text string }
	rows := make([][]row, len(groups))
	column := 0 // where texts begin
	for i, g := range groups {
		for name := range strings.FieldsSeq(g.Names) {
			f := cmd.LocalFlags().Lookup(name)
			if f == nil || f.Hidden {
				continue
			}
			r := row{spelled(f), about(f)}
			if n := utf8.RuneCountInString(r.flag); n <= widestFlag {
				column = max(column, n+3)
			}
			rows[i] = append(rows[i], r)
		}
	}
	hang := strings.Repeat(" ", column)
	for i, g := range groups {
		if len(rows[i]) == 0 {
			continue
		}
		fmt.Fprintf(b, "\n%s:\n", g.Title)
		for _, r := range rows[i] {
			if n := utf8.RuneCountInString(r.flag); n+2 > column {
				b.WriteString(r.flag + "\n" + report.Fold(hang+r.text, width, hang))
			} else {
				b.WriteString(report.Fold(r.flag+hang[n:]+r.text, width, hang))
			}
		}
	}
}

// spelled returns how a flag is written, with its value.
func spelled(f *pflag.Flag) string {
	out := "      --" + f.Name
	if short := Shorthand(f); short != "" {
		out = "  -" + short + ", --" + f.Name
	}
	value, _ := pflag.UnquoteUsage(f)
	switch {
	case value == "" || f.Value.Type() == "bool":
		return out
	case f.NoOptDefVal != "":
		return out + "[=" + value + "]"
	}
	return out + " " + value
}

// Shorthand returns the letter for a flag, "" if it has none. That of --help is a flag of its own.
func Shorthand(f *pflag.Flag) string {
	if f.Name == "help" {
		return "h"
	}
	return f.Shorthand
}

// about returns what a flag does, and its value without it.
func about(f *pflag.Flag) string {
	_, usage := pflag.UnquoteUsage(f)
	switch f.DefValue {
	case "", "false", "[]", "0":
		return usage
	}
	if f.Value.Type() == "string" {
		return fmt.Sprintf("%s (default %q)", usage, f.DefValue)
	}
	return fmt.Sprintf("%s (default %s)", usage, f.DefValue)
}

// fold breaks paragraphs between words. Indented lines are kept, and broken only if they
// are too wide.
func fold(text string, width int) string {
	var b, paragraph strings.Builder
	flush := func() {
		if paragraph.Len() > 0 {
			b.WriteString(report.Fold(paragraph.String(), width, ""))
			paragraph.Reset()
		}
	}
	for line := range strings.SplitSeq(strings.Trim(text, "\n"), "\n") {
		switch {
		case line == "":
			flush()
			b.WriteString("\n")
		case strings.HasPrefix(line, " "):
			flush()
			b.WriteString(report.Fold(line, width, "      "))
		default:
			if paragraph.Len() > 0 {
				paragraph.WriteString(" ")
			}
			paragraph.WriteString(line)
		}
	}
	flush()
	return b.String()
}

// Renamed returns a function with which a set of flags also knows them by former names.
func Renamed(now map[string]string) func(*pflag.FlagSet, string) pflag.NormalizedName {
	return func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		return pflag.NormalizedName(cmp.Or(now[name], name))
	}
}

// Visible returns the names of the flags of a command that help shows.
func Visible(cmd *cobra.Command) []string {
	var out []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			out = append(out, f.Name)
		}
	})
	return out
}
