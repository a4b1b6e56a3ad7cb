package report

import (
	"fmt"
	"strings"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/rules"
)

// A Summary counts what a run found.
type Summary struct {
	Files   int // files that were checked
	Skipped int // files that are no transcripts
	// Lookalikes are the paths of skipped files that speak of calls as a transcript
	// does.
	Lookalikes    []string
	Failed        int // files that could not be checked
	Known         int // findings left out because a baseline holds them
	Conversations int
	Calls         int
	Results       int

	Errors, Warnings, Infos int
	// Hidden counts the infos that are not shown.
	Hidden int

	// Fixable counts the findings that a fix repairs by default, FixableUnsafe
	// those that it repairs only when asked to use unsafe operations.
	Fixable, FixableUnsafe int

	// The same, of errors and warnings alone, and the files these are in.
	problemFixable, problemUnsafe, problemFiles int
	// problemCheckOnly counts the errors and warnings in files that are never
	// repaired.
	problemCheckOnly int
}

// Skip counts a file that is no transcript, or not surely one.
func (s *Summary) Skip(r *engine.Report) {
	s.Skipped++
	if r.File.Looks {
		s.Lookalikes = append(s.Lookalikes, r.Path)
	}
}

// Add counts a file that was checked.
func (s *Summary) Add(r *engine.Report) {
	s.Files++
	s.Conversations += r.File.Conversations
	s.Calls += r.Calls
	s.Results += r.Results
	before := s.Problems()
	for f, n := range r.All() {
		switch f.Severity {
		case rules.Error:
			s.Errors += n
		case rules.Warning:
			s.Warnings += n
		default:
			s.Infos += n
		}
		problem := f.Severity > rules.Info
		switch repairable(f) {
		case byFix:
			s.Fixable += n
			if problem {
				s.problemFixable += n
			}
		case byUnsafeFix:
			s.FixableUnsafe += n
			if problem {
				s.problemUnsafe += n
			}
		}
	}
	if s.Problems() > before {
		s.problemFiles++
		if r.File.CheckOnly != "" {
			s.problemCheckOnly += s.Problems() - before
		}
	}
}

// Problems returns the number of errors and warnings.
func (s *Summary) Problems() int { return s.Errors + s.Warnings }

// Findings returns the number of all findings.
func (s *Summary) Findings() int { return s.Errors + s.Warnings + s.Infos }

// AtLeast returns the number of findings of a severity or a higher one.
func (s *Summary) AtLeast(v rules.Severity) int {
	switch v {
	case rules.Error:
		return s.Errors
	case rules.Warning:
		return s.Problems()
	}
	return s.Findings()
}

// String returns the sentences that a run ends with.
func (s *Summary) String() string {
	if s.Files > 0 {
		return s.found() + " " + s.checked()
	}
	return s.checked()
}

// checked says how many files there were.
func (s *Summary) checked() string {
	var b strings.Builder
	switch s.Files {
	case 0:
		b.WriteString("No files checked")
	default:
		b.WriteString(count(s.Files, "file") + " checked")
	}
	if s.Skipped > 0 {
		fmt.Fprintf(&b, ", %d skipped (%s)", s.Skipped, pick(s.Skipped, "not a transcript", "not transcripts"))
	}
	if s.Failed > 0 {
		fmt.Fprintf(&b, ", %d failed", s.Failed)
	}
	if s.Known > 0 {
		fmt.Fprintf(&b, ", %s left out", count(s.Known, "known finding"))
	}
	b.WriteByte('.')
	if n := len(s.Lookalikes); n > 0 {
		fmt.Fprintf(&b, " Skipped, but like a transcript: %s.", strings.Join(s.Lookalikes, ", "))
	}
	return b.String()
}

// found says what was found.
func (s *Summary) found() string {
	if s.Problems() == 0 {
		if s.Infos > 0 {
			return "No problems found, but " + s.infos() + "."
		}
		return "No problems found."
	}
	out := fmt.Sprintf("Found %s in %s", count(s.Problems(), "problem"), count(s.problemFiles, "file"))
	var remarks []string
	switch fix, unsafes := s.problemFixable, s.problemUnsafe; {
	case fix > 0 && unsafes > 0:
		remarks = append(remarks, fmt.Sprintf("%d fixable with toolguard fix --write, %d more with --unsafe", fix, unsafes))
	case fix > 0:
		remarks = append(remarks, fmt.Sprintf("%d fixable with toolguard fix --write", fix))
	case unsafes > 0:
		remarks = append(remarks, fmt.Sprintf("%d fixable with toolguard fix --write --unsafe", unsafes))
	}
	if n := s.problemCheckOnly; n > 0 {
		remarks = append(remarks, fmt.Sprintf("%d where toolguard only checks", n))
	}
	if len(remarks) > 0 {
		out += " (" + strings.Join(remarks, ", ") + ")"
	}
	if s.Infos > 0 {
		out += " and " + s.infos()
	}
	return out + "."
}

// infos counts the infos, and says how to see them.
func (s *Summary) infos() string {
	out := count(s.Infos, "info")
	if s.Hidden > 0 {
		out += " (--verbose shows " + pick(s.Hidden, "it", "them") + ")"
	}
	return out
}

// A repair says how a finding can be repaired.
type repair uint8

const (
	byHand repair = iota
	byFix
	byUnsafeFix
)

// repairable says how a finding can be repaired without choosing a strategy.
func repairable(f *engine.Finding) repair {
	switch {
	case f.Fix == nil || f.Fix.ByStrategy:
		return byHand
	case f.Fix.Class == operation.Unsafe:
		return byUnsafeFix
	}
	return byFix
}

// count returns a number with its noun: 1 file, 2 files.
func count(n int, noun string) string { return fmt.Sprintf("%d %s", n, pick(n, noun, noun+"s")) }

func pick(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
