// Package manpage knows how a command is written as a man page. Only tests use it: the pages are
// committed. It does not know any command.
package manpage

import (
	"fmt"
	"maps"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolguard/toolguard/internal/usage"
)

// date is the date of the man pages.
const date = "2026-11-01"

// width is how long a line of their source is at most, as mandoc wants it.
const width = 78

// All returns the man pages of a command and of those below it, by their names.
func All(cmd *cobra.Command) map[string]string {
	cmd.InitDefaultHelpCmd()
	pages := map[string]string{name(cmd) + ".1": page(cmd)}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() && c.Name() != "help" {
			maps.Copy(pages, All(c))
		}
	}
	return pages
}

// name returns what the page of a command is called: toolguard-config-init.
func name(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// page returns the page of one command.
func page(cmd *cobra.Command) string {
	cmd.InitDefaultHelpFlag()
	m := &man{}
	title := name(cmd)
	m.request(`TH %q "1" %q "toolguard" "toolguard manual"`, strings.ToUpper(title), date)
	m.request("SH NAME")
	m.text(title + " - " + cmd.Short)
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
		also = append(also, name(cmd.Parent()))
	}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() && c.Name() != "help" {
			also = append(also, name(c))
		}
	}
	if len(also) > 0 {
		m.request("SH SEE ALSO")
		for i, other := range also {
			end := ","
			if i == len(also)-1 {
				end = ""
			}
			m.request("BR %s (1)%s", escape(other), end)
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
	m.request("B %s", escape(path))
	if rest := strings.TrimSpace(strings.TrimPrefix(cmd.UseLine(), path)); rest != "" {
		m.text(rest)
	}
}

// option writes a flag and what it does.
func (m *man) option(f *pflag.Flag) {
	value, about := pflag.UnquoteUsage(f)
	if f.Hidden {
		return
	}
	m.request("TP")
	line := `\fB` + escape("--"+f.Name) + `\fR`
	if short := usage.Shorthand(f); short != "" {
		line = `\fB` + escape("-"+short) + `\fR, ` + line
	}
	if value != "" && f.NoOptDefVal != "" {
		line += `[=\fI` + escape(value) + `\fR]`
	} else if value != "" {
		line += ` \fI` + escape(value) + `\fR`
	}
	m.WriteString(line + "\n")
	switch f.DefValue {
	case "", "false", "[]", "0":
	default:
		about += fmt.Sprintf(" (default %s)", f.DefValue)
	}
	m.text(about)
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
		if line != "" && len(escape(line+" "+word)) > width {
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

// escape writes text so that the formatter shows it as it is.
func escape(text string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(text)
}

// escapeLine writes a line so that it is no request.
func escapeLine(line string) string {
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		return `\&` + escape(line)
	}
	return escape(line)
}
