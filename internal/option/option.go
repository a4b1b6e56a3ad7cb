// Package option holds what options come to before the engine gets them. The
// package at the module's root makes its options out of it, for programs; the
// command, which is written over that package, adds what only it has a use for:
// the dialects and exceptions of a config file, and the engine's own reports,
// which hold the excerpts and edits that report formats show. It knows neither
// flags nor files.
package option

import "github.com/toolguard/toolguard/internal/engine"

// Options are what options come to.
type Options struct {
	engine.FixOptions
	// Name is what the input is called in errors.
	Name string
	// DialectName skips detection; "" lets the input decide.
	DialectName string
	// Selected and Ignored are names of rules and categories. Without a
	// selected one all are.
	Selected, Ignored []string
	// Detail, if it is not nil, is filled in, and nothing is told besides: input
	// that is no transcript is no error.
	Detail *Detail
}

// A Detail is what came of an input in the engine's terms.
type Detail struct {
	Report *engine.Report // of a check
	Fixed  *engine.Fixed  // of a repair
}
