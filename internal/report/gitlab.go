package report

import (
	"io"
	"path/filepath"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/rules"
)

// gitlab writes a code quality report. It includes only infos that are shown to people,
// because the report is shown beside a merge request.
type gitlab struct {
	opts Options
	list array
}

// The parts of the report.
type (
	gitlabIssue struct {
		Description string         `json:"description"`
		CheckName   string         `json:"check_name"`
		Fingerprint string         `json:"fingerprint"`
		Severity    string         `json:"severity"`
		Location    gitlabLocation `json:"location"`
	}
	gitlabLocation struct {
		Path  string      `json:"path"`
		Lines gitlabLines `json:"lines"`
	}
	gitlabLines struct {
		Begin int `json:"begin"`
	}
)

func newGitLab(w io.Writer, opts Options) Reporter {
	return &gitlab{opts: opts, list: array{w: w, open: "[", close: "]"}}
}

// File implements Reporter.
func (g *gitlab) File(r *engine.Report) error {
	for f := range r.Findings.All() {
		if !g.opts.shows(f) {
			continue
		}
		severity := [...]string{rules.Off: "info", rules.Info: "info", rules.Warning: "minor", rules.Error: "major"}
		err := g.list.add(gitlabIssue{
			f.Message, f.Rule.Name, f.Fingerprint, severity[f.Severity],
			gitlabLocation{filepath.ToSlash(f.Path), gitlabLines{f.Start.Line}},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Close implements Reporter. The format has only issues with a place, so a file that was not
// checked is an issue at its first line. Without it, the file would seem to be in order.
func (g *gitlab) Close(s *Summary) error {
	err := s.eachMissed(func(kind missedKind, m Missed) error {
		severity := "info"
		if kind == missedFailed {
			severity = "critical"
		}
		return g.list.add(gitlabIssue{
			kind.says(m), string(kind), kind.fingerprint(m), severity,
			gitlabLocation{filepath.ToSlash(m.Path), gitlabLines{1}},
		})
	})
	if err != nil {
		return err
	}
	return g.list.end()
}
