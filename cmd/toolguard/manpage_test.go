package main

import (
	"fmt"
	"maps"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manDate is the date of the man pages.
const manDate = "2026-11-01"

// manWidth is how long a line of their source is at most, as mandoc wants it.
const manWidth = 78

// manPages returns the man pages of a command and of those below it, by their names.
func manPages(cmd *cobra.Command) map[string]string {
	cmd.InitDefaultHelpCmd()
	pages := map[string]string{manName(cmd) + ".1": manPage(cmd)}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() && c.Name() != "help" {
			maps.Copy(pages, manPages(c))
		}
	}
	return pages
}

// manName returns what the page of a command is called: toolguard-config-init.
func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manPage returns the page of one command.
func manPage(cmd *cobra.Command) string {
	cmd.InitDefaultHelpFlag()
	m := &man{}
	name := manName(cmd)
	m.request(`TH %q "1" %q "toolguard" "toolguard manual"`, strings.ToUpper(name), manDate)
	m.request("SH NAME")
	m.text(name + " - " + cmd.Short)
	m.request("SH SYNOPSIS")
	m.synopsis(cmd)
	m.request("SH DESCRIPTION")
	about := cmd.Long
	if about == "" {
		about = cmd.Short + "."
	}
	m.prose(about)
	if cmd.HasAvailableLocalFlags() {
		m.request("SH OPTIONS")
		cmd.LocalFlags().VisitAll(m.option)
	}
	if cmd.HasExample() {
		m.request("SH EXAMPLES")
		m.verbatim(strings.Split(cmd.Example, "\n"))
	}
	var also []string
	if cmd.HasParent() {
		also = append(also, manName(cmd.Parent()))
	}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() && c.Name() != "help" {
			also = append(also, manName(c))
		}
	}
	if len(also) > 0 {
		m.request("SH SEE ALSO")
		for i, name := range also {
			end := ","
			if i == len(also)-1 {
				end = ""
			}
			m.request("BR %s (1)%s", escapeMan(name), end)
		}
	}
	return m.String()
}

// A man is the source of a man page.
type man struct{ strings.Builder }

// request writes a line that tells the formatter what to do.
func (m *man) request(format string, args ...any) { fmt.Fprintf(m, "."+format+"\n", args...) }

// synopsis writes how a command is called: its name is bold.
func (m *man) synopsis(cmd *cobra.Command) {
	path := cmd.CommandPath()
	m.request("B %s", escapeMan(path))
	if rest := strings.TrimSpace(strings.TrimPrefix(cmd.UseLine(), path)); rest != "" {
		m.text(rest)
	}
}

// option writes a flag and what it does.
func (m *man) option(f *pflag.Flag) {
	value, usage := pflag.UnquoteUsage(f)
	if f.Hidden {
		return
	}
	m.request("TP")
	line := `\fB` + escapeMan("--"+f.Name) + `\fR`
	if f.Shorthand != "" {
		line = `\fB` + escapeMan("-"+f.Shorthand) + `\fR, ` + line
	}
	if value != "" && f.NoOptDefVal != "" {
		line += `[=\fI` + escapeMan(value) + `\fR]`
	} else if value != "" {
		line += ` \fI` + escapeMan(value) + `\fR`
	}
	m.WriteString(line + "\n")
	switch f.DefValue {
	case "", "false", "[]", "0":
	default:
		usage += fmt.Sprintf(" (default %s)", f.DefValue)
	}
	m.text(usage)
}

// prose writes paragraphs. Indented lines stay as they are.
func (m *man) prose(text string) {
	for i, paragraph := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if i > 0 {
			m.request("PP")
		}
		if lines := strings.Split(paragraph, "\n"); strings.HasPrefix(lines[0], " ") {
			m.verbatim(lines)
		} else {
			m.text(strings.Join(lines, " "))
		}
	}
}

// verbatim writes lines as they are.
func (m *man) verbatim(lines []string) {
	m.request("nf")
	for _, line := range lines {
		m.WriteString(escapeLine(line) + "\n")
	}
	m.request("fi")
}

// text writes words, in lines of the source that are not too long.
func (m *man) text(text string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(escapeMan(line+" "+word)) > manWidth {
			m.WriteString(escapeLine(line) + "\n")
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	m.WriteString(escapeLine(line) + "\n")
}

// escapeMan writes text so that the formatter shows it as it is.
func escapeMan(text string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(text)
}

// escapeLine writes a line so that it is no request.
func escapeLine(line string) string {
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		return `\&` + escapeMan(line)
	}
	return escapeMan(line)
}
