package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolguard/toolguard/internal/report"
)

// narrowestHelp is how many columns help takes at least: pflag breaks no lines in a narrower
// terminal.
const narrowestHelp = 60

// help prints what a command does and how it is called, in lines that fit on the terminal.
// Lines of more than report.DefaultWidth columns are hard to read.
func (a *app) help(cmd *cobra.Command) {
	width, _ := a.columns(a.rawStdout)
	width = max(narrowestHelp, min(width, report.DefaultWidth))
	var b strings.Builder
	about := cmd.Long
	if about == "" {
		about = cmd.Short
	}
	b.WriteString(foldText(about, width))
	b.WriteString("\nUsage:\n")
	if cmd.Runnable() {
		b.WriteString(report.Fold("  "+cmd.UseLine(), width, "      "))
	}
	if cmd.HasAvailableSubCommands() {
		b.WriteString(report.Fold("  "+cmd.CommandPath()+" [command]", width, "      "))
	}
	if cmd.HasExample() {
		b.WriteString("\nExamples:\n")
		b.WriteString(foldText(cmd.Example, width))
	}
	if cmd.HasAvailableSubCommands() {
		b.WriteString("\nCommands:\n")
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() || c.Name() == "help" {
				name := fmt.Sprintf("  %-*s ", c.NamePadding(), c.Name())
				b.WriteString(report.Fold(name+c.Short, width, strings.Repeat(" ", len(name))))
			}
		}
	}
	if cmd.HasAvailableLocalFlags() {
		b.WriteString("\nFlags:\n")
		for line := range strings.Lines(cmd.LocalFlags().FlagUsagesWrapped(width)) {
			b.WriteString(strings.TrimRight(line, " \n") + "\n")
		}
	}
	if cmd.HasAvailableSubCommands() {
		b.WriteString("\n")
		b.WriteString(report.Fold(fmt.Sprintf("Use \"%s [command] --help\" for more information about a command.", cmd.CommandPath()), width, ""))
	}
	fmt.Fprint(a.screen, b.String())
}

// foldText breaks paragraphs between words. Indented lines are kept, and broken only if they
// are too wide.
func foldText(text string, width int) string {
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
