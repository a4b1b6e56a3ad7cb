package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/rules"
)

// A Summary counts the findings of a run.
type Summary struct {
	// Noun is what a file is called, "" for file.
	Noun    string
	Files   int // files that were checked
	Empty   int // those of them in which there is nothing, if that is counted
	Skipped int // files that are no transcripts
	Ignored int // files and directories that a .gitignore hides
	// Lookalikes are the skipped files that speak of calls as a transcript does,
	// and Failed the files that could not be checked or repaired. All reports
	// name them. Unrepaired counts those that were checked.
	Lookalikes []Missed
	Failed     []Missed
	Unrepaired int
	// Known counts the findings that were left out, by the baseline that holds them.
	Known         map[string]int
	Conversations int
	Calls         int
	Results       int

	// described counts the calls and results in the files of each dialect of the config file.
	described map[string]int

	Errors, Warnings, Infos int
	// Hidden counts the infos that are not shown.
	Hidden int

	// Fixable counts the findings that a fix repairs by default, FixableUnsafe those that it
	// repairs only with unsafe operations.
	Fixable, FixableUnsafe int

	// The same for errors and warnings alone, and the number of files with them.
	problemFixable, problemUnsafe, problemFiles int
	// problemChoice counts the errors and warnings that are repaired if a strategy is chosen.
	problemChoice int
	// problemCheckOnly counts the errors and warnings in files that are never repaired.
	problemCheckOnly int
}

// A Missed is a file that was not checked.
type Missed struct {
	Path string
	Why  string // without the path
}

// Skip counts a file that is not a transcript, or not certainly one, for the reason why.
func (s *Summary) Skip(r *engine.Report, why string) {
	s.Skipped++
	if r.File.Looks {
		s.Lookalikes = append(s.Lookalikes, Missed{r.Path, why})
	}
}

// Fail counts a file that could not be checked or repaired. The error may begin with its
// path.
func (s *Summary) Fail(path string, err error) {
	s.Failed = append(s.Failed, Missed{path, strings.TrimPrefix(err.Error(), path+": ")})
}

// Refuse counts a file that was checked, but could not be repaired. The error may begin with
// its path.
func (s *Summary) Refuse(path string, err error) {
	s.Fail(path, err)
	s.Unrepaired++
}

// Add counts a file that was checked.
func (s *Summary) Add(r *engine.Report) {
	s.Files++
	s.Conversations += r.File.Conversations
	s.Calls += r.Calls
	s.Results += r.Results
	before := s.Problems()
	for f, n := range r.Kinds() {
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
		case byStrategy:
			if problem {
				s.problemChoice += n
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

// LeaveOut counts n findings that a baseline holds.
func (s *Summary) LeaveOut(path string, n int) {
	if n == 0 {
		return
	}
	if s.Known == nil {
		s.Known = map[string]int{}
	}
	s.Known[path] += n
}

// baselines returns the baselines that hold findings which were left out.
func (s *Summary) baselines() []string {
	out := slices.AppendSeq([]string{}, maps.Keys(s.Known))
	slices.Sort(out)
	return out
}

// Described counts a file whose dialect a config file describes.
func (s *Summary) Described(r *engine.Report) {
	if s.described == nil {
		s.described = map[string]int{}
	}
	s.described[r.File.Dialect] += r.Calls + r.Results
}

// Silent returns the dialects of the config file whose files contain neither a call nor a
// result: a path in the table may be wrong.
func (s *Summary) Silent() []string {
	out := []string{}
	for _, name := range slices.Sorted(maps.Keys(s.described)) {
		if s.described[name] == 0 {
			out = append(out, name)
		}
	}
	return out
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

// String returns the sentences at the end of a run.
func (s *Summary) String() string {
	if s.Files > s.Empty {
		return s.found() + " " + s.checked()
	}
	return s.checked()
}

func (s *Summary) noun() string { return cmp.Or(s.Noun, "file") }

// files returns a number of files.
func (s *Summary) files(n int) string { return count(n, s.noun()) }

// checked describes the number of files.
func (s *Summary) checked() string {
	var b strings.Builder
	switch n := s.Files - s.Empty; n {
	case 0:
		b.WriteString("No " + s.noun() + "s checked")
	default:
		b.WriteString(s.files(n) + " checked")
	}
	if s.Empty > 0 {
		fmt.Fprintf(&b, ", %d empty", s.Empty)
	}
	if s.Skipped > 0 {
		fmt.Fprintf(&b, ", %d skipped (%s)", s.Skipped, pick(s.Skipped, "not a transcript", "not transcripts"))
	}
	if s.Ignored > 0 {
		fmt.Fprintf(&b, ", %d ignored (--no-gitignore)", s.Ignored)
	}
	if n := s.Unrepaired; n > 0 {
		fmt.Fprintf(&b, ", %d not repaired", n)
	}
	if n := len(s.Failed) - s.Unrepaired; n > 0 {
		fmt.Fprintf(&b, ", %d failed", n)
	}
	for i, path := range s.baselines() {
		n := strconv.Itoa(s.Known[path])
		if i == 0 {
			n = count(s.Known[path], "known finding")
		}
		fmt.Fprintf(&b, ", %s in %s", n, path)
	}
	b.WriteByte('.')
	if n := len(s.Lookalikes); n > 0 {
		fmt.Fprintf(&b, " Skipped although %s: %s (toolguard detect says why).", pick(n, "it looks like a transcript", "they look like transcripts"), strings.Join(paths(s.Lookalikes), ", "))
	}
	if silent := s.Silent(); len(silent) > 0 {
		fmt.Fprintf(&b, " No call and no result was found in files of %s: its paths in the config file may lead nowhere.", strings.Join(silent, ", "))
	}
	return b.String()
}

// Names returns the paths that the sentences of String name.
func (s *Summary) Names() []string { return append(s.baselines(), paths(s.Lookalikes)...) }

// paths returns the paths of files.
func paths(files []Missed) []string {
	out := make([]string, len(files))
	for i, f := range files {
		out[i] = f.Path
	}
	return out
}

// found describes the findings.
func (s *Summary) found() string {
	if s.Problems() == 0 {
		if n := s.shownInfos(); n > 0 {
			return "No problems found, but " + count(n, "info") + "."
		}
		return "No problems found."
	}
	out := fmt.Sprintf("Found %s in %s", count(s.Problems(), "problem"), s.files(s.problemFiles))
	var remarks []string
	switch fix, unsafes := s.problemFixable, s.problemUnsafe; {
	case fix > 0 && unsafes > 0:
		remarks = append(remarks, fmt.Sprintf("%d fixable with toolguard fix --write, %d more with --unsafe", fix, unsafes))
	case fix > 0:
		remarks = append(remarks, fmt.Sprintf("%d fixable with toolguard fix --write", fix))
	case unsafes > 0:
		remarks = append(remarks, fmt.Sprintf("%d fixable with toolguard fix --write --unsafe", unsafes))
	}
	if n := s.problemChoice; n > 0 {
		how := "more"
		if len(remarks) == 0 {
			how = "fixable"
		}
		remarks = append(remarks, fmt.Sprintf("%d %s with --strategy", n, how))
	}
	if n := s.problemCheckOnly; n > 0 {
		remarks = append(remarks, fmt.Sprintf("%d where toolguard only checks", n))
	}
	if len(remarks) > 0 {
		out += " (" + strings.Join(remarks, ", ") + ")"
	}
	if n := s.shownInfos(); n > 0 {
		out += " and " + count(n, "info")
	}
	return out + "."
}

// shownInfos counts the infos that people are shown, as with --verbose: the summary is
// silent about the others.
func (s *Summary) shownInfos() int { return s.Infos - s.Hidden }

// A repair says how a finding can be repaired.
type repair uint8

const (
	byHand repair = iota
	byFix
	byUnsafeFix
	byStrategy
)

// repairable says how a finding can be repaired without choosing a strategy.
func repairable(f *engine.Finding) repair {
	switch {
	case f.Fix == nil:
		return byHand
	case f.Fix.ByStrategy && len(f.Rule.Strategies) > 0:
		return byStrategy
	case f.Fix.ByStrategy:
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
