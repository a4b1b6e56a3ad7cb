// Package report writes findings, with one file for each output format. It does not know
// where findings come from.
//
// It writes unified diffs itself, because the libraries compare two texts in memory. Here the
// edits are known, and a file may be larger than the memory.
package report

import (
	"io"
	"time"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/rules"
)

// A Reporter writes findings in one output format.
type Reporter interface {
	// File reports the findings of one file. Files come in the order of their paths, and File
	// must not keep r.
	File(r *engine.Report) error
	// Close writes the end of the report: s counts the whole run. It does not close the
	// writer.
	Close(s *Summary) error
}

// Options are what a user can change about a report.
type Options struct {
	// Color allows escape sequences that colour text.
	Color bool
	// Width is how many columns a line of the text report takes at most, on a terminal. 0
	// means DefaultWidth, except for the lines that name a file: these stay whole, because
	// programs read them.
	Width int
	// NoExcerpt keeps what a transcript says out of the report: only ids, names,
	// types and roles are shown, in excerpts, messages and pointers, and no
	// edits, which hold text of the transcript.
	NoExcerpt bool
	// ShowInfo reports whether an info is shown to people; nil shows all of them. JSON always
	// includes all of them.
	ShowInfo func(*engine.Finding) bool
	// EachCall shows people an entry for each call of a turn that has no result. Otherwise there
	// is one entry for all of them.
	EachCall bool
	// before and after are the elements around what a repair changes, if they are known, for a
	// preview.
	before, after []engine.Element
	outlined      bool
	// Apart says that the report is read without the standard error of the run, which names
	// the files that were not checked. Formats for programs name them in any case.
	Apart bool
	// Fix says that the findings are those that remain after a repair.
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
	// Human says that the format is for people: it omits infos, and a run that writes it ends
	// with a summary. Few says that it shows at most MostShown findings of one kind in a
	// file, and Sparse that it shows at most MostMinor warnings and infos of one kind.
	Human, Few, Sparse bool
	// Infos says that the format lists all infos, even if they are not shown to people.
	Infos bool
	// Edits says that the format writes the edits of repairs, Excerpts that it shows the text
	// around a finding.
	Edits, Excerpts bool
	New             func(io.Writer, Options) Reporter
}

// Formats lists the output formats.
func Formats() []Format {
	return []Format{
		{Name: "text", Summary: "each finding with its place in the file", Human: true, Few: true, Sparse: true, Excerpts: true, New: discreetly(newText)},
		{Name: "concise", Summary: "a line for each finding", Human: true, Few: true, New: discreetly(newConcise)},
		{Name: "json", Summary: "everything, for programs", Infos: true, Edits: true, New: discreetly(newJSON)},
		{Name: "jsonl", Summary: "the same, a line for each file and finding", Infos: true, Edits: true, New: discreetly(newJSONL)},
		{Name: "sarif", Summary: "SARIF 2.1.0, for code scanning", Edits: true, New: discreetly(newSARIF)},
		{Name: "github", Summary: "annotations of GitHub Actions", Few: true, New: discreetly(newGitHub)},
		{Name: "gitlab", Summary: "a code quality report of GitLab", New: discreetly(newGitLab)},
		{Name: "junit", Summary: "JUnit XML, a test case for each file", Few: true, New: discreetly(newJUnit)},
		{Name: "rdjson", Summary: "the Reviewdog Diagnostic Format", Edits: true, New: discreetly(newRDJSON)},
	}
}
