// Package filter parts the conversations of a source into those that pass a check and those
// that do not. It knows which bytes go where. Nothing is written again: both parts are spans
// of the source and, if repairs are requested, the edits of proved repairs.
package filter

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"

	"github.com/toolguard/toolguard/internal/contain"
	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
)

// Options say what passes and where the bytes go.
type Options struct {
	// Check are the options of the check.
	Check engine.Options
	// Fix are the options of the repairs that are made first; nil for none.
	Fix *engine.FixOptions
	// FailOn is the least severity that rejects.
	FailOn rules.Severity
	// Whole allows a source of one conversation, which is kept or rejected as a whole.
	Whole bool
	// Row allows such a source if it may be a dataset with one row: if it is on one line.
	Row bool
	// Untold leaves out Counts.Repairable and Counts.Missing, which take a trial of the repairs for
	// each rejected conversation.
	Untold bool
	// Out and Rejects open the files for what passes and what does not. They are called once,
	// and only when it is known that something belongs there. Rejects may be nil.
	Out, Rejects func() (io.Writer, error)
	// Reason receives the reason for each rejection, in order; nil if nobody asks.
	Reason func(*Reason) error
	// Passed receives each row that passes, in order; nil if nobody asks. Elements of documents are
	// not rows.
	Passed func(*Passed) error
	// Fit returns a repaired row as whoever stores it will read it, or says why it cannot be stored; nil if
	// all rows can.
	Fit func(before, after []byte) ([]byte, error)
}

// A Passed is a row that passes.
type Passed struct {
	Record int32       // from 1
	Span   source.Span // of its value in the source
	// Text is the repaired row with the white space around it, nil if the row passes as it is. It is
	// valid until the function returns.
	Text []byte
	// Judged says that the row has a conversation, and Warned names the rules of its warnings.
	Judged bool
	Warned []string
}

// A Reason says what was rejected and why.
type Reason struct {
	Path   string
	Record int32 // from 1
	Line   int   // from 1
	// Span is what was rejected: a row with its line end, or an element, or the file.
	Span   source.Span
	SHA256 [32]byte // of those bytes
	// Internal says that the check or the repair panicked. Then there are no findings.
	Internal bool
	// Rules are the names that count the rejection, see Counts.Rules.
	Rules []string
	// Unfit says why the repaired row could not be stored, "" if that is not the reason.
	Unfit string
	// Findings are the findings at or above the limit, or else those whose repair failed its proof,
	// with places in the source.
	Findings engine.Findings
}

// Counts are what became of the conversations. A row or an element of a list counts as one,
// even if it has several.
type Counts struct {
	Conversations, Kept, Rejected, Repaired int
	// Warned are the kept conversations with warnings, and WarnedBy their numbers by rule.
	Warned   int
	WarnedBy map[string]int
	// Repairable are the rejected conversations that more repairs would save, and Missing the
	// numbers of these by the rules whose repair has to be allowed. Untried are those of which
	// nobody knows, because many others were tried.
	Repairable, Untried int
	Missing             map[string]int
	// NotJudged are the rows and elements without a conversation. They are kept.
	NotJudged int
	// Rules are the numbers of rejected conversations by rule.
	Rules map[string]int
}

// Add adds the counts of another source.
func (c *Counts) Add(more *Counts) {
	c.Conversations += more.Conversations
	c.Kept += more.Kept
	c.Rejected += more.Rejected
	c.Repaired += more.Repaired
	c.Warned += more.Warned
	c.Repairable += more.Repairable
	c.Untried += more.Untried
	c.NotJudged += more.NotJudged
	for _, m := range []struct {
		to   *map[string]int
		from map[string]int
	}{{&c.Rules, more.Rules}, {&c.WarnedBy, more.WarnedBy}, {&c.Missing, more.Missing}} {
		for name, n := range m.from {
			add(m.to, name, n)
		}
	}
}

// add adds to the number of a rule.
func add(to *map[string]int, rule string, n int) {
	if *to == nil {
		*to = map[string]int{}
	}
	(*to)[rule] += n
}

// A Result is what was filtered.
type Result struct {
	Counts
	// Report says what the source is. Nothing was written if it is not a transcript, or not
	// certainly one.
	Report *engine.Report
	// Caught is the first panic for which a row was rejected, nil if there was none.
	Caught *contain.Error
}

// InternalError counts, among the rules, the rows whose check or repair panicked.
const InternalError = "internal-error"

// errUnsure ends the run for a source that is not certainly a transcript.
var errUnsure = errors.New("not certainly a transcript")

// An Error says why a source cannot be filtered, without its name.
type Error struct{ reason string }

// Error implements error.
func (e *Error) Error() string { return e.reason }

// The reasons why a source cannot be filtered.
const (
	alone     = "one conversation and not a dataset: use toolguard check"
	scattered = "its conversations are not in a list: use toolguard check"
	beside    = "findings outside of its conversations, which filter cannot remove: use toolguard check"
	broken    = "the document is not valid JSON: use toolguard check"
	recounted = "not repaired: the repair would change the number of conversations"
)

// Run filters a source.
func Run(ctx context.Context, src *source.Source, opts Options) (*Result, error) {
	if src.Packed() != "" { // nothing is written back, so it may be repaired
		src = src.Derived(src, src.Size())
	}
	r := &run{Options: opts, ctx: ctx, src: src, result: &Result{}}
	if err := r.all(); err != nil {
		return nil, err
	}
	return r.result, nil
}

// A run is the state of one Run.
type run struct {
	Options
	ctx    context.Context
	src    *source.Source
	result *Result

	out, rejects io.Writer // nil before they are opened
	lines        *source.Lines
	buf          []byte
	rows         rows
	started      bool // there are rows, and the outputs are open
	parts        []part
	beside       engine.Findings // in no part
	file         *engine.Unit    // the only unit of a source without rows and lists
}

func (r *run) all() error {
	rep, err := engine.Units(r.ctx, r.src, r.Check, r.unit)
	if rep == nil && !errors.Is(err, errUnsure) {
		return err
	}
	if rep != nil {
		r.result.Report = rep
	}
	switch {
	case err != nil, rep.Skipped != "", !r.sure():
		return nil
	case r.started:
		return r.rows.end(r)
	case len(r.parts) > 0:
		return r.document()
	case r.file == nil:
		return nil
	}
	return r.whole()
}

// sure reports whether the source is certainly a transcript, or the user says that it is.
func (r *run) sure() bool { return r.result.Report.File.Sure || r.Check.Dialect != nil }

// unit takes the next unit of the source.
func (r *run) unit(u *engine.Unit) error {
	switch u.Kind {
	case engine.UnitRow:
		return r.rows.row(r, u)
	case engine.UnitElement:
		p := part{at: u.Span, list: u.List, judged: u.Conversations > 0}
		if u.Findings.Len() > 0 {
			found := u.Findings
			p.found = &found
		}
		r.parts = append(r.parts, p)
	case engine.UnitRest:
		r.beside = u.Findings
	case engine.UnitFile:
		file := *u
		r.file = &file
	}
	return nil
}

// open opens the outputs.
func (r *run) open() (err error) {
	if r.out, err = r.Out(); err == nil && r.Rejects != nil {
		r.rejects, err = r.Rejects()
	}
	return err
}

// failing returns the rules that reject: those of findings at or above the limit, and those
// whose repair failed its proof.
func (r *run) failing(found *engine.Findings) []string {
	if found == nil || found.Len() == 0 {
		return nil
	}
	var names map[string]bool
	for f := range found.All() {
		if f.Severity >= r.FailOn || f.Unproved() {
			if names == nil {
				names = map[string]bool{}
			}
			names[f.Rule.Name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// repairable reports whether a repair of a finding is requested.
func (r *run) repairable(found *engine.Findings) bool {
	if r.Fix == nil || found == nil {
		return false
	}
	for f := range found.All() {
		if r.Fix.Allows(f) {
			return true
		}
	}
	return false
}

// settle repairs a source. It returns nil if it cannot be repaired, and the reason if that is
// a failed proof.
func (r *run) settle(src *source.Source, opts engine.FixOptions) (f *engine.Fixed, unproved bool, err error) {
	f, err = engine.Settle(r.ctx, src, opts)
	switch {
	case errors.As(err, new(*engine.ProofError)):
		return nil, true, nil
	case errors.As(err, new(*engine.CheckOnlyError)):
		return nil, false, nil
	}
	return f, false, err
}

// kept counts a conversation that passes. left are its findings as it is written. It returns the
// rules of its warnings.
func (r *run) kept(repaired bool, left *engine.Findings) []string {
	r.result.Conversations++
	r.result.Kept++
	if repaired {
		r.result.Repaired++
	}
	if left == nil || left.Len() == 0 {
		return nil
	}
	warned := map[string]bool{}
	for f := range left.All() {
		if f.Severity >= rules.Warning && !warned[f.Rule.Name] {
			warned[f.Rule.Name] = true
			add(&r.result.WarnedBy, f.Rule.Name, 1)
		}
	}
	if len(warned) == 0 {
		return nil
	}
	r.result.Warned++
	return slices.Sorted(maps.Keys(warned))
}

// rejected counts a conversation that does not pass, and tells why.
func (r *run) rejected(names []string, reason Reason, found *engine.Findings) error {
	r.result.Conversations++
	r.result.Rejected++
	for _, name := range names {
		add(&r.result.Rules, name, 1)
	}
	if r.Reason == nil {
		return nil
	}
	if r.lines == nil {
		r.lines = source.NewLines(r.src)
	}
	at, err := r.lines.Position(reason.Span.Start)
	if err != nil {
		return err
	}
	reason.Path, reason.Line, reason.Rules = r.src.Name(), at.Line, names
	if found == nil {
		return r.Reason(&reason)
	}
	for f := range found.All() {
		if f.Severity >= r.FailOn || f.Unproved() {
			reason.Findings.Add(f)
		}
	}
	if reason.Findings.Len() == 0 { // the repair of less severe findings failed its proof
		for f := range found.All() {
			if slices.Contains(names, f.Rule.Name) {
				reason.Findings.Add(f)
			}
		}
	}
	return r.Reason(&reason)
}
