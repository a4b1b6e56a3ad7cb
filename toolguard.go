// Package toolguard checks and repairs transcripts of AI agents in process: the
// same as the command does, for programs that want to know before they send a
// history whether the provider will take it.
//
//	report, err := toolguard.Check(ctx, body, toolguard.Send())
//	if err == nil && report.Worst() == toolguard.Error {
//		// the request would be refused
//	}
//
// The package keeps no state and writes no files, but for input of more than
// 8 MiB, which goes to a temporary file while it is worked on.
package toolguard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/option"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/schema"
	"github.com/toolguard/toolguard/internal/suggest"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A Severity says how much a finding matters.
type Severity int

// The severities. Off is that of a rule that is silenced, and of a report
// without findings.
const (
	Off Severity = iota
	Info
	Warning
	Error
)

// String returns the severity's name.
func (s Severity) String() string { return rules.Severity(s).String() }

// A Class says what a repair costs.
type Class string

// The classes of repairs: Safe ones lose nothing and claim nothing, Additive
// ones add a labelled placeholder, Unsafe ones remove something recorded or
// choose between two values.
const (
	Safe     Class = "safe"
	Additive Class = "additive"
	Unsafe   Class = "unsafe"
)

// A Position is a place in a transcript.
type Position struct {
	Offset int64 // bytes from 0
	Line   int   // from 1
	Column int   // bytes from the start of the line, from 1
}

// A Report is what was found in a transcript.
type Report struct {
	Dialect       string // "" where nothing speaks, such as in an empty file
	Container     string // how it is framed
	Conversations int
	Calls         int
	Results       int
	Findings      []Finding // by their place
}

// Worst returns the highest severity among the findings, Off if there are none.
func (r *Report) Worst() Severity {
	worst := Off
	for i := range r.Findings {
		worst = max(worst, r.Findings[i].Severity)
	}
	return worst
}

// A Finding is one objection of a rule.
type Finding struct {
	Rule     string
	Category string
	Severity Severity
	Message  string
	URL      string // where the rule is documented
	// Conversation and Turn count from 0; they are -1 for a finding about the
	// file, or about no turn. Record counts from 1.
	Conversation, Turn, Record int
	Pointer                    string // RFC 6901, from the root of the record
	CallID, Tool               string // "" where the finding is about no call
	Start, End                 Position
	ProviderError              string // what the provider would answer, "" where not known
	Related                    []Related
	Fingerprint                string // stays when lines move
	Repair                     *Repair
}

// A Related is another place that a finding speaks of.
type Related struct {
	Message    string
	Start, End Position
}

// A Repair is what would repair a finding, or did.
type Repair struct {
	Title string
	Class Class
	// ByStrategy is set for a repair that is made only if it is chosen with
	// Strategy, or if its rule is named with Only.
	ByStrategy bool
}

// Fixed is what Fix did.
type Fixed struct {
	Before, After *Report
	Repairs       []Repair // in the order in which they were made
}

// Changed reports whether anything was repaired.
func (f *Fixed) Changed() bool { return len(f.Repairs) > 0 }

// A NotTranscriptError is the error for input in which no transcript is to be
// found.
type NotTranscriptError struct {
	// Reason says what it is instead.
	Reason string
}

// Error implements error.
func (e *NotTranscriptError) Error() string { return "not a transcript: " + e.Reason }

// A ProofError is the error for a repair that did not stand up to its proof.
// Then nothing is written.
type ProofError struct {
	Reason string
}

// Error implements error.
func (e *ProofError) Error() string { return "not repaired: " + e.Reason }

// A CheckOnlyError is the error for something to repair in a transcript of a
// kind that is not repaired. Then nothing is written.
type CheckOnlyError struct {
	Reason string
}

// Error implements error.
func (e *CheckOnlyError) Error() string { return "is only checked: " + e.Reason }

// An Option changes what is looked for, or what is repaired.
type Option func(*option.Options) error

// Target checks as the provider of this profile would; see Profiles. Without it
// each dialect's own provider is meant.
func Target(profileName string) Option {
	return func(o *option.Options) error {
		if o.Target = profile.ByName(profileName); o.Target == nil {
			return suggest.Unknown("profile", profileName, Profiles(), "known are "+strings.Join(Profiles(), ", "))
		}
		return nil
	}
}

// Dialect reads the input as this dialect, without detection; see Dialects.
func Dialect(dialectName string) Option {
	return func(o *option.Options) error {
		o.DialectName = dialectName
		return nil
	}
}

// Send says that the history is about to be sent: a call that still waits for
// its result is then an error.
func Send() Option {
	return func(o *option.Options) error {
		o.Send = true
		return nil
	}
}

// Tools holds calls against the tools that this JSON declares, a list as
// OpenAI, Anthropic, Gemini or MCP write it. Without it they are held against
// those that their own request declares.
func Tools(declared []byte) Option {
	tools, err := schema.Parse(declared)
	return func(o *option.Options) error {
		o.Tools = tools
		if err != nil {
			return fmt.Errorf("tools: %w", err)
		}
		return nil
	}
}

// Only runs no other rules or categories than these.
func Only(names ...string) Option {
	return func(o *option.Options) error {
		o.Selected = append(o.Selected, names...)
		return known(names)
	}
}

// Without does not run these rules or categories.
func Without(names ...string) Option {
	return func(o *option.Options) error {
		o.Ignored = append(o.Ignored, names...)
		return known(names)
	}
}

// SetSeverity sets how much the findings of a rule matter; Off silences it.
func SetSeverity(rule string, s Severity) Option {
	return func(o *option.Options) error {
		if s < Off || s > Error {
			return fmt.Errorf("no severity: %d", s)
		}
		o.Severity[rule] = rules.Severity(s)
		return knownRule(rule)
	}
}

// Strategy chooses among the repairs of a rule.
func Strategy(rule, name string) Option {
	return func(o *option.Options) error {
		if err := knownRule(rule); err != nil {
			return err
		}
		if all := rules.ByName(rule).Strategies; !slices.Contains(all, name) {
			return suggest.Unknown("strategy", name, all, fmt.Sprintf("known for %s: %s", rule, strings.Join(all, ", ")))
		}
		o.Strategy[rule] = name
		return nil
	}
}

// Allow says which repairs Fix makes: Safe ones alone, Additive ones too, which
// is what it does without this option, or Unsafe ones too.
func Allow(most Class) Option {
	return func(o *option.Options) error {
		if !slices.Contains([]Class{Safe, Additive, Unsafe}, most) {
			return fmt.Errorf("no class of repairs: %q", most)
		}
		o.SafeOnly, o.Unsafe = most == Safe, most == Unsafe
		return nil
	}
}

// Placeholder sets the text of inserted results. In it {tool} and {id} are
// filled in.
func Placeholder(text string) Option {
	return func(o *option.Options) error {
		if strings.TrimSpace(text) == "" {
			return errors.New("an empty placeholder")
		}
		o.Placeholder = text
		return nil
	}
}

// Name is what the input is called in errors.
func Name(name string) Option {
	return func(o *option.Options) error {
		o.Name = name
		return nil
	}
}

// Check reads a transcript to its end and reports what is wrong with it. Its
// error is a *NotTranscriptError where there is none to be found. What is
// reported is no error.
func Check(ctx context.Context, r io.Reader, opts ...Option) (*Report, error) {
	o, src, err := begin(r, opts)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	rep, err := engine.Check(ctx, src.Source, o.Options)
	if err != nil {
		return nil, err
	}
	if o.Detail != nil {
		o.Detail.Report = rep
		return &Report{}, nil
	}
	return report(rep)
}

// Fix reads a transcript from r to its end, and writes it to w repaired: every
// byte outside of the repairs as it was, and all of it as it was if there is
// nothing to repair. The result was read again and proved before. With an
// error from reading, a *NotTranscriptError, a *CheckOnlyError or a *ProofError,
// nothing is written; nor is it to a nil w, for who only wants to know.
func Fix(ctx context.Context, w io.Writer, r io.Reader, opts ...Option) (*Fixed, error) {
	o, src, err := begin(r, opts)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	f, err := engine.Settle(ctx, src.Source, o.FixOptions)
	if proof, ok := errors.AsType[*engine.ProofError](err); ok {
		return nil, &ProofError{proof.Reason}
	}
	if only, ok := errors.AsType[*engine.CheckOnlyError](err); ok {
		return nil, &CheckOnlyError{only.Reason}
	}
	if err != nil {
		return nil, err
	}
	out := &Fixed{}
	if o.Detail != nil {
		o.Detail.Fixed = f
		return out, write(w, src.Source, f)
	}
	if out.Before, err = report(f.Before); err != nil {
		return nil, err
	}
	if out.After, err = report(f.After); err != nil {
		return nil, err
	}
	for i := range f.Repairs {
		out.Repairs = append(out.Repairs, Repair{Title: f.Repairs[i].Title, Class: Class(f.Repairs[i].Class.String())})
	}
	return out, write(w, src.Source, f)
}

// write writes the repaired source.
func write(w io.Writer, src *transcript.Source, f *engine.Fixed) error {
	if w == nil {
		return nil
	}
	if f.Changed() {
		src = f.Pieces.Source()
	}
	_, err := io.Copy(w, src.Stream())
	return err
}

// Rules lists the names of the rules.
func Rules() []string { return rules.Names() }

// Profiles lists the names of the providers that Target takes.
func Profiles() []string { return profile.Names() }

// Dialects lists the names of the dialects that Dialect takes.
func Dialects() []string { return dialect.Builtin().Names() }

// An input is a source, and how it is closed.
type input struct {
	*transcript.Source
	close func() error
}

// Close releases what was opened here.
func (i input) Close() error { return i.close() }

// begin settles the options and reads the input.
func begin(r io.Reader, opts []Option) (*option.Options, input, error) {
	o := &option.Options{Name: "<input>"}
	o.Severity, o.Strategy, o.Explicit = map[string]rules.Severity{}, map[string]string{}, map[string]bool{}
	for _, opt := range opts {
		if err := opt(o); err != nil {
			return nil, input{}, err
		}
	}
	if o.DialectName != "" {
		if o.Dialect = o.Dialects.ByName(o.DialectName); o.Dialect == nil {
			known := o.Dialects.Names()
			return nil, input{}, suggest.Unknown("dialect", o.DialectName, known, "known are "+strings.Join(known, ", "))
		}
	}
	named := func(r *rules.Rule, names []string) bool {
		return slices.Contains(names, r.Name) || slices.Contains(names, r.Category)
	}
	o.Rules = []*rules.Rule{} // nil would stand for all rules
	for _, r := range rules.All() {
		if (len(o.Selected) == 0 || named(r, o.Selected)) && !named(r, o.Ignored) {
			o.Rules = append(o.Rules, r)
		}
	}
	for _, name := range o.Selected {
		o.Explicit[name] = true // names of categories do no harm
	}
	if open, ok := r.(*transcript.Stream); ok {
		return o, input{open.Source(), func() error { return nil }}, nil
	}
	src, err := transcript.Spool(o.Name, r)
	if err != nil {
		return nil, input{}, err
	}
	return o, input{src, src.Close}, nil
}

// known returns an error for a name that is none of a rule or a category.
func known(names []string) error {
	all := append(Rules(), rules.Categories()...)
	for _, name := range names {
		if !slices.Contains(all, name) {
			return suggest.Unknown("rule or category", name, all, "known are "+strings.Join(all, ", "))
		}
	}
	return nil
}

func knownRule(name string) error {
	if rules.ByName(name) == nil {
		return suggest.Unknown("rule", name, Rules(), "known are "+strings.Join(Rules(), ", "))
	}
	return nil
}

// report puts a report into the terms of this package.
func report(r *engine.Report) (*Report, error) {
	if r.Skipped != "" {
		return nil, &NotTranscriptError{r.Skipped}
	}
	out := &Report{
		Dialect: r.File.Dialect, Container: r.File.Container, Conversations: r.File.Conversations,
		Calls: r.Calls, Results: r.Results,
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		x := Finding{
			Rule: f.Rule.Name, Category: f.Rule.Category, Severity: Severity(f.Severity), Message: f.Message, URL: f.Rule.URL(),
			Conversation: f.Conversation, Turn: f.Turn, Record: int(f.Record), Pointer: f.Pointer,
			CallID: f.CallID, Tool: f.Tool, Start: position(f.Start), End: position(f.End),
			ProviderError: f.ProviderError(), Fingerprint: f.Fingerprint,
		}
		for k, rel := range f.Related {
			x.Related = append(x.Related, Related{rel.Message, position(f.RelatedAt[2*k]), position(f.RelatedAt[2*k+1])})
		}
		if f.Fix != nil {
			x.Repair = &Repair{f.Fix.Title, Class(f.Fix.Class.String()), f.Fix.ByStrategy}
		}
		out.Findings = append(out.Findings, x)
	}
	return out, nil
}

func position(p transcript.Position) Position { return Position{p.Offset, p.Line, p.Column} }
