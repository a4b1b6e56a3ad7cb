package report

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/rules"
)

// github writes workflow commands of GitHub Actions, which become annotations.
// Only about ten of each severity are shown for a step, so the worst come
// first: files that were not checked, because they may hold any number of errors.
type github struct {
	w        io.Writer
	opts     Options
	failed   lines
	commands [rules.Error + 1]lines // by severity
}

func newGitHub(w io.Writer, opts Options) Reporter { return &github{w: w, opts: opts} }

// File implements Reporter.
func (g *github) File(r *engine.Report) error {
	for f := range r.Findings.All() {
		if !g.opts.shows(f) {
			continue
		}
		var b strings.Builder
		fmt.Fprintf(&b, "%s file=%s,line=%d,", githubCommand(f.Severity), property(filepath.ToSlash(f.Path)), f.Start.Line)
		if f.End.Line > f.Start.Line {
			fmt.Fprintf(&b, "endLine=%d,", f.End.Line) // columns are for places within a line
		} else {
			fmt.Fprintf(&b, "col=%d,endColumn=%d,", f.Start.Char, f.End.Char)
		}
		fmt.Fprintf(&b, "title=%s::%s", property(f.Rule.Name), data(f.Message))
		switch {
		case f.Fix != nil:
			fmt.Fprintf(&b, "%%0Afix: %s (%s)", data(f.Fix.Title), cost(f))
		case f.Unfixed == "" && f.Offer != "":
			fmt.Fprintf(&b, "%%0Afix: %s", data(f.Offer))
		case f.Unfixed != "":
			fmt.Fprintf(&b, "%%0Ano fix: %s", data(f.Unfixed))
		}
		g.commands[f.Severity].command(b.String())
	}
	for i := range r.Rest {
		if f := &r.Rest[i]; g.opts.shows(&f.Finding) {
			g.commands[f.Severity].command(fmt.Sprintf("%s file=%s,title=%s::%s",
				githubCommand(f.Severity), property(filepath.ToSlash(f.Path)), property(f.Rule.Name), data(left(f))))
		}
	}
	return nil
}

// githubCommand returns the command that annotates with a severity.
func githubCommand(v rules.Severity) string {
	return [...]string{rules.Off: "notice", rules.Info: "notice", rules.Warning: "warning", rules.Error: "error"}[v]
}

// Close implements Reporter. A file that was not checked is an annotation of the whole file.
func (g *github) Close(s *Summary) error {
	err := s.eachMissed(func(kind missedKind, m Missed) error {
		severity, commands := rules.Info, &g.commands[rules.Info]
		if kind == missedFailed {
			severity, commands = rules.Error, &g.failed
		}
		commands.command(fmt.Sprintf("%s file=%s,title=%s::%s", githubCommand(severity), property(filepath.ToSlash(m.Path)), kind, data(kind.says(m))))
		return nil
	})
	if err != nil {
		return err
	}
	if err := g.failed.flush(g.w); err != nil {
		return err
	}
	for severity := rules.Error; severity >= rules.Info; severity-- {
		if err := g.commands[severity].flush(g.w); err != nil {
			return err
		}
	}
	return nil
}

// data returns text as a line of a command's message. The text is made printable first,
// because the runner separates it from the command again.
func data(s string) string { return strings.ReplaceAll(Printable(s), "%", "%25") }

// property returns text as the value of a command's property.
func property(s string) string {
	return strings.NewReplacer("%", "%25", ":", "%3A", ",", "%2C").Replace(Printable(s))
}
