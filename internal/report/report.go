// Package report writes findings, one file an output format. It does not know
// how findings came about.
package report

import (
	"io"
	"time"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/rules"
)

// A Reporter writes what was found in one output format.
type Reporter interface {
	// File takes what was found in one file. Files come in the order of their
	// paths, and nothing of a file is needed once File returns.
	File(r *engine.Report) error
	// Close writes what stands after the last file: s counts the whole run. It
	// does not close the writer.
	Close(s *Summary) error
}

// Options are what a user can change about a report.
type Options struct {
	// Color allows escape sequences that colour text.
	Color bool
	// NoExcerpt keeps what a transcript says out of the report: only ids, names,
	// types and roles are shown, in excerpts, messages and pointers, and no
	// edits, which hold text of the transcript.
	NoExcerpt bool
	// ShowInfo says whether an info is shown to people; nil means all of them.
	// Machines get them all.
	ShowInfo func(*engine.Finding) bool
	// OwnFile is set for a report that is a file of its own, and not read together
	// with what the run says on standard error.
	OwnFile bool
	// Fix is set when the findings are what a repair left.
	Fix bool
	// Version is the version of the program, as machine formats name it.
	Version string
	// Fails says whether a finding makes the run fail; nil means that errors
	// do. It and the time when the run began are for formats that tell of
	// tests.
	Fails   func(*engine.Finding) bool
	Started time.Time
}

// shows reports whether a finding is shown to people.
func (o *Options) shows(f *engine.Finding) bool {
	return f.Severity > rules.Info || o.ShowInfo == nil || o.ShowInfo(f)
}

// fails reports whether a finding makes the run fail.
func (o *Options) fails(f *engine.Finding) bool {
	if o.Fails == nil {
		return f.Severity == rules.Error
	}
	return o.Fails(f)
}

// A Format is one output format.
type Format struct {
	Name    string
	Summary string
	// Human is set for formats that people read: they leave out infos, and a run
	// that writes one ends with a summary. Few is set for those that show no more
	// than MostShown findings of one kind in a file.
	Human, Few bool
	// Infos is set for formats that list all infos, whether or not people are
	// shown them.
	Infos bool
	// Edits is set for formats that write the edits of repairs, Excerpts for those
	// that show what stands around a finding.
	Edits, Excerpts bool
	New             func(io.Writer, Options) Reporter
}

// Formats lists the output formats.
func Formats() []Format {
	return []Format{
		{Name: "text", Summary: "each finding with its place in the file", Human: true, Few: true, Excerpts: true, New: discreetly(newText)},
		{Name: "concise", Summary: "a line for each finding", Human: true, Few: true, New: discreetly(newConcise)},
		{Name: "json", Summary: "everything, for programs", Infos: true, Edits: true, New: discreetly(newJSON)},
		{Name: "jsonl", Summary: "the same, a line for each file and finding", Infos: true, Edits: true, New: discreetly(newJSONL)},
		{Name: "sarif", Summary: "SARIF 2.1.0, for code scanning", Infos: true, Edits: true, New: discreetly(newSARIF)},
		{Name: "github", Summary: "annotations of GitHub Actions", Few: true, New: discreetly(newGitHub)},
		{Name: "gitlab", Summary: "a code quality report of GitLab", New: discreetly(newGitLab)},
		{Name: "junit", Summary: "JUnit XML, a test case for each file", Few: true, New: discreetly(newJUnit)},
		{Name: "rdjson", Summary: "the Reviewdog Diagnostic Format", Edits: true, New: discreetly(newRDJSON)},
	}
}
