// Package report writes findings, one file an output format. It does not know
// how findings came about, nor which of them make a run fail.
package report

import (
	"io"

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
	// NoExcerpt keeps what a transcript says out of the report: of a line only
	// ids, names, types and roles are shown.
	NoExcerpt bool
	// ShowInfo says whether the infos of a rule are shown to people; nil means
	// all of them. Machines get them all.
	ShowInfo func(*rules.Rule) bool
	// Fix is set when the findings are what a repair left.
	Fix bool
	// Version is the version of the program, as machine formats name it.
	Version string
}

// shows reports whether a finding is shown to people.
func (o *Options) shows(f *engine.Finding) bool {
	return f.Severity > rules.Info || o.ShowInfo == nil || o.ShowInfo(f.Rule)
}

// A Format is one output format.
type Format struct {
	Name    string
	Summary string
	// Human is set for formats that people read: they leave out infos, and a
	// run that writes one ends with a summary.
	Human bool
	New   func(io.Writer, Options) Reporter
}

// Formats lists the output formats.
func Formats() []Format {
	return []Format{
		{"text", "each finding with its place in the file", true, newText},
		{"concise", "a line for each finding", true, newConcise},
		{"json", "everything, for programs", false, newJSON},
	}
}
