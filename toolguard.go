// Package toolguard checks and repairs transcripts of AI agents: request bodies,
// session logs, saved histories and datasets. It does in process what the
// toolguard command does, so that a program knows whether a provider will accept
// a history before it sends it.
//
//	report, err := toolguard.CheckBytes(ctx, body, toolguard.Send())
//	if err != nil {
//		return err // not a transcript, for example
//	}
//	if report.Worst() == toolguard.Error {
//		// The provider would refuse this request.
//	}
//
// Trim shortens a history without parting calls from their results, and Redact
// replaces the contents of a transcript, so that it can be shared.
//
// The functions keep no state and may be called concurrently. CheckBytes, FixBytes,
// TrimBytes and RedactBytes work in memory. Check, Fix, Trim and Redact write input
// of more than 8 MiB to a temporary file until the call returns; otherwise no
// function writes a file. Input that is compressed with gzip or zstd is unpacked
// first, and all offsets and lines are those of the unpacked text.
package toolguard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/toolguard/toolguard/internal/contain"
	"github.com/toolguard/toolguard/internal/detect"
	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/names"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/redact"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/schema"
	"github.com/toolguard/toolguard/internal/source"
)

// A Severity is the severity of a finding.
type Severity int

// The severities, from the lowest to the highest. Off silences a rule; it is
// also the worst severity of a report without findings.
const (
	Off Severity = iota
	Info
	Warning
	Error
)

// String returns the name of the severity.
func (s Severity) String() string {
	if s < Off || s > Error {
		return fmt.Sprintf("Severity(%d)", int(s))
	}
	return rules.Severity(s).String()
}

// A Class says what a repair costs.
type Class string

// The classes of repairs. A Safe repair loses nothing and claims nothing. An
// Additive repair inserts a placeholder that is labelled as one. An Unsafe repair
// removes recorded content, or chooses between two recorded values.
const (
	Safe     Class = "safe"
	Additive Class = "additive"
	Unsafe   Class = "unsafe"
)

// A Position is a place in a transcript.
type Position struct {
	Offset int64 // in bytes, from 0
	Line   int   // from 1
	Column int   // in bytes from the start of the line, from 1
}

// A Report says what Check found in a transcript.
type Report struct {
	Dialect       string // "" if the transcript has no messages, or none that can be read
	Container     string // how the messages are kept, such as "jsonl-messages"
	Conversations int
	Calls         int
	Results       int
	Findings      []Finding // ordered by position
	// NotKept are the findings of the original that a redacted text does not have as they are.
	// Only Redact and RedactBytes set it.
	NotKept []NotKept
}

// A NotKept is a finding that depends on a text and that filler cannot have.
type NotKept struct {
	Rule     string
	Severity Severity
	Start    Position
	// Differs says what the finding has otherwise in the redacted text: "severity", "repair" or
	// "place". It is "" if there is no such finding.
	Differs string
}

// Worst returns the highest severity of the findings, or Off if there are none.
func (r *Report) Worst() Severity {
	worst := Off
	for i := range r.Findings {
		worst = max(worst, r.Findings[i].Severity)
	}
	return worst
}

// A Finding is one problem that a rule found.
type Finding struct {
	Rule     string
	Category string
	Severity Severity
	Message  string
	URL      string // of the page about the rule
	// Conversation and Turn count from 0. They are -1 if the finding is about
	// the whole file, or about no turn. Record counts from 1.
	Conversation, Turn, Record int
	Pointer                    string // RFC 6901, from the root of the record
	CallID, Tool               string // "" if the finding is about no call
	Start, End                 Position
	ProviderError              string // the error of the provider, "" if unknown
	Related                    []Related
	Fingerprint                string // stays the same even if lines move
	// Repair is nil if the finding has no repair. Findings that one repair
	// resolves share it: their pointers are equal.
	Repair *Repair
	// Edits make the repair alone. They are in order and do not overlap, and
	// findings that share a Repair have the same edits. Only Check fills them
	// in, and only with the option WithEdits. They are nil if working them out
	// would take too long.
	Edits []Edit
}

// A Related is another place that a finding refers to.
type Related struct {
	Message    string
	Start, End Position
}

// A Repair resolves a finding.
type Repair struct {
	Title string
	Class Class
	Rule  string // the rule whose finding it resolves, the first one if there are several
	// ByStrategy is true if Fix makes the repair only when Strategy chooses it
	// or Only names its rule.
	ByStrategy bool
}

// An Edit replaces the bytes of the input from Start up to End with Text. It
// inserts Text if Start equals End, and removes the bytes if Text is empty.
type Edit struct {
	Start, End int64
	Text       []byte
}

// Fixed says what Fix did.
type Fixed struct {
	Before, After *Report
	Repairs       []Repair // in the order in which they were made
	// Edits turn the input into the output. They are in order, do not overlap,
	// and all refer to the input, even where one repair builds on another.
	Edits []Edit
}

// Changed reports whether Fix repaired anything.
func (f *Fixed) Changed() bool { return len(f.Edits) > 0 }

// A NotTranscriptError reports that the input is not a transcript.
type NotTranscriptError struct {
	// Reason says what the input is instead.
	Reason string
}

// Error implements error.
func (e *NotTranscriptError) Error() string { return "not a transcript: " + e.Reason }

// A DialectError reports that the messages of a request are not in the dialect that
// Dialect names, but in another one. Only calls with Request return it.
type DialectError struct {
	Dialect string // the one that Dialect names
	Found   string // that of the first message that only another dialect writes
	Pointer string // RFC 6901, to that message
}

// Error implements error.
func (e *DialectError) Error() string {
	return fmt.Sprintf("not a request in the format %s: the message %s is in the format %s", e.Dialect, e.Pointer, e.Found)
}

// A ProofError reports that a repair or a cut failed its proof. Fix or Trim then writes nothing.
type ProofError struct {
	Reason string // what the repair or the cut would do
	cut    bool
}

// Error implements error.
func (e *ProofError) Error() string {
	if e.cut {
		return "not trimmed: the cut would " + e.Reason
	}
	return "not repaired: the repair would " + e.Reason
}

// A CheckOnlyError reports that there is something to repair, but that toolguard
// does not repair transcripts of this kind. Fix then writes nothing.
type CheckOnlyError struct {
	Reason string
}

// Error implements error.
func (e *CheckOnlyError) Error() string { return "is only checked: " + e.Reason }

// A RedactError reports that a transcript cannot be redacted, because a check of the redacted
// text would find something that the original does not have. Redact then writes nothing.
type RedactError struct {
	Reason string // what the check would do
}

// Error implements error.
func (e *RedactError) Error() string {
	return "not redacted: a check of the redacted text would " + e.Reason
}

// An InternalError reports a fault of this package: a panic while it checked, repaired, trimmed or
// redacted its input. The call has written nothing and returns nothing else, and the package can be
// used as before. Please report it at https://github.com/toolguard/toolguard/issues. A stack
// overflow and a lack of memory end the program all the same, because Go cannot recover from them.
// A panic of the caller's io.Reader or io.Writer is no fault of this package, and goes on.
type InternalError struct {
	Version string // of this module, "" if it is not known
	Panic   string // the value of the panic, which may have text of the input
	Stack   []byte // of the goroutine that panicked
}

// Error implements error. It contains no text of the input.
func (e *InternalError) Error() string {
	version := ""
	if e.Version != "" {
		version = " " + e.Version
	}
	return "internal error in toolguard" + version + "; please report it at https://github.com/toolguard/toolguard/issues"
}

// modulePath is the path of this module.
const modulePath = "github.com/toolguard/toolguard"

// moduleVersion returns the version of this module in the program, "" if it is not known.
func moduleVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == modulePath && m.Version != "(devel)" {
			return strings.TrimPrefix(m.Version, "v")
		}
	}
	return ""
}

// An Option changes what Check and Fix look for, or what Fix repairs. A nil
// Option changes nothing.
type Option interface {
	apply(*options) error
}

// options are the settings of a list of Options.
type options struct {
	engine.FixOptions
	name              string
	selected, ignored []string
}

// An optionFunc is an Option.
type optionFunc func(*options) error

func (f optionFunc) apply(o *options) error { return f(o) }

// newOptions applies options in order.
func newOptions(opts []Option) (*options, error) {
	o := &options{name: "<input>"}
	o.Severity, o.Strategy = map[string]rules.Severity{}, map[string]string{}
	for _, opt := range opts {
		if opt == nil {
			continue
		}
		if err := opt.apply(o); err != nil {
			return nil, err
		}
	}
	o.Rules, o.Explicit = rules.Select(o.selected, o.ignored)
	if o.Request {
		if err := requestable(o.Dialect); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// requestable returns an error if requests have no messages in the dialect.
func requestable(d *dialect.Dialect) error {
	if d != nil && d.Body != nil {
		return nil
	}
	var names []string
	for _, d := range dialect.All() {
		if d.Body != nil {
			names = append(names, d.Name)
		}
	}
	if d == nil {
		return errors.New("Request needs Dialect: one of " + strings.Join(names, ", "))
	}
	return fmt.Errorf("no request is in the format %q; expected one of %s", d.Name, strings.Join(names, ", "))
}

// Target checks the transcript as the provider of this profile would. Without it, the
// provider of the transcript's own dialect is used. See Profiles for the names.
func Target(profileName string) Option {
	return optionFunc(func(o *options) (err error) {
		o.Target, err = names.Program.Provider(profileName)
		return err
	})
}

// Address says where the input is sent as a request: a URL, or the name of a host. The host, or
// else the model in the path of the URL or in the input, selects the profile unless Target does.
func Address(address string) Option {
	return optionFunc(func(o *options) error {
		o.Address = address
		return nil
	})
}

// Dialect reads the input as this dialect instead of detecting it. See Dialects
// for the names.
func Dialect(dialectName string) Option {
	return optionFunc(func(o *options) (err error) {
		o.Dialect, err = names.Program.Format(dialect.Builtin(), dialectName)
		return err
	})
}

// Request says that the input is one request body in the dialect that Dialect names.
// The messages are then read from the field where the API expects them, such as
// "messages", "input" or "contents", and nothing is detected. A body without messages, such
// as one that refers to a prompt which the provider keeps, has no conversations and no findings
// about any.
//
// Input that is not such a body is a *NotTranscriptError, which says what was expected. A body
// with messages that only another dialect writes, and none that only this dialect writes, is a
// *DialectError. Request without Dialect, or with a dialect that no API takes, is an error.
func Request() Option {
	return optionFunc(func(o *options) error {
		o.Request = true
		return nil
	})
}

// Send says that the history is about to be sent. A call that still waits for
// its result is then an error.
func Send() Option {
	return optionFunc(func(o *options) error {
		o.Send = true
		return nil
	})
}

// Tools checks calls against the tools that this JSON declares: a list in the
// form of OpenAI, Anthropic, Gemini or MCP. Without it, calls are checked against
// the tools that their own request declares.
func Tools(declared []byte) Option {
	tools, err := schema.Parse(declared)
	return optionFunc(func(o *options) error {
		o.Tools = tools
		if err != nil {
			return fmt.Errorf("tools: %w", err)
		}
		return nil
	})
}

// Only runs these rules and categories and no others.
func Only(ruleNames ...string) Option {
	return optionFunc(func(o *options) error {
		o.selected = append(o.selected, ruleNames...)
		return names.Program.Rules(ruleNames)
	})
}

// Without skips these rules and categories.
func Without(ruleNames ...string) Option {
	return optionFunc(func(o *options) error {
		o.ignored = append(o.ignored, ruleNames...)
		return names.Program.Rules(ruleNames)
	})
}

// SetSeverity sets the severity of a rule's findings. Off silences the rule.
func SetSeverity(rule string, s Severity) Option {
	return optionFunc(func(o *options) error {
		if s < Off || s > Error {
			return fmt.Errorf("unknown severity %d; expected Off, Info, Warning or Error", int(s))
		}
		if _, err := names.Program.Rule(rule); err != nil {
			return err
		}
		o.Severity[rule] = rules.Severity(s)
		return nil
	})
}

// Strategy chooses one of the repairs that a rule offers.
func Strategy(rule, name string) Option {
	return optionFunc(func(o *options) error {
		o.Strategy[rule] = name
		return names.Program.Strategy(rule, name)
	})
}

// Allow sets which repairs Fix makes: only Safe ones, Additive ones too, or
// Unsafe ones too. Without it, Fix makes safe and additive repairs.
func Allow(most Class) Option {
	return optionFunc(func(o *options) error {
		if !slices.Contains([]Class{Safe, Additive, Unsafe}, most) {
			return fmt.Errorf("unknown class %q; expected Safe, Additive or Unsafe", most)
		}
		o.SafeOnly, o.Unsafe = most == Safe, most == Unsafe
		return nil
	})
}

// AllowFor makes Fix repair the findings of these rules whatever the class of the repair is,
// and whatever Allow says, unless the repair removes content and Allow does not permit that.
// It does not change the repairs of other rules.
func AllowFor(ruleNames ...string) Option {
	return optionFunc(func(o *options) error {
		for _, name := range ruleNames {
			if _, err := names.Program.Rule(name); err != nil {
				return err
			}
			if o.AnyClass == nil {
				o.AnyClass = map[string]bool{}
			}
			o.AnyClass[name], o.Keep = true, true
		}
		return nil
	})
}

// StripReasoning makes Fix remove all reasoning, signatures and encrypted content, so that
// another account, model or provider accepts the history, whatever Allow says. What a provider demands is
// replaced by what it accepts instead. It allows no other repair that removes content.
func StripReasoning() Option {
	return optionFunc(func(o *options) error {
		o.StripReasoning = true
		return nil
	})
}

// Placeholder sets the text of inserted results. In it, {tool} and {id} stand
// for the name of the tool and the id of the call.
func Placeholder(text string) Option {
	return optionFunc(func(o *options) error {
		if strings.TrimSpace(text) == "" {
			return errors.New("the placeholder is empty")
		}
		o.Placeholder = text
		return nil
	})
}

// WithEdits makes Check and CheckBytes fill in the Edits of each finding. It takes longer: to compute the
// edits of a repair in a session log, Check reads the log again.
func WithEdits() Option {
	return optionFunc(func(o *options) error {
		o.Edits = true
		return nil
	})
}

// Name sets the name of the input, "<input>" by default. Errors of reading begin
// with it, and it is a part of each Fingerprint.
func Name(name string) Option {
	return optionFunc(func(o *options) error {
		o.name = name
		return nil
	})
}

// Check reads a transcript from r to its end and reports what is wrong with it.
// Findings are not an error. If the input is not a transcript, the error is a
// *NotTranscriptError, or a *DialectError with Request.
//
// Check returns soon after ctx is done, with an error that wraps that of ctx.
// It does not interrupt a Read of r.
func Check(ctx context.Context, r io.Reader, opts ...Option) (*Report, error) {
	o, err := newOptions(opts)
	if err != nil {
		return nil, err
	}
	src, err := source.Spool(ctx, o.name, r, 0)
	if err != nil {
		return nil, public(err)
	}
	defer src.Close()
	return check(ctx, src, o)
}

// CheckBytes is Check for input in memory. It writes no temporary file, whatever the size of
// b, and does not copy b.
//
// If b is compressed, it is unpacked in memory, to at most 200 times its size or 1 MiB,
// whichever is more, and at most 4 GiB.
//
// CheckBytes never changes b and keeps no reference to it. b must not change until CheckBytes
// returns.
func CheckBytes(ctx context.Context, b []byte, opts ...Option) (*Report, error) {
	o, err := newOptions(opts)
	if err != nil {
		return nil, err
	}
	src, err := source.Hold(ctx, o.name, b)
	if err != nil {
		return nil, public(err)
	}
	return check(ctx, src, o)
}

// check checks a source.
func check(ctx context.Context, src *source.Source, o *options) (rep *Report, err error) {
	defer contained(&err)
	found, err := engine.Check(ctx, src, o.Options)
	if err := cmp.Or(src.Err(), err); err != nil {
		return nil, err
	}
	return report(src, found)
}

// Fix reads a transcript from r to its end, repairs it, and writes it to w. Every
// byte outside the repairs stays as it was. If there is nothing to repair, Fix
// writes the transcript as it was. If w is nil, Fix writes nothing and only says
// what it would do.
//
// Some findings have no repair that Allow permits. They are in the report After of
// the result: a provider may refuse the output if After.Worst is Error.
//
// Compressed input is not repaired: if there is something to repair, the error is a
// *CheckOnlyError. Otherwise, Fix writes the unpacked text.
//
// Before Fix writes, it reads the result again and proves that the repairs lost
// nothing. It writes nothing if it returns an error of reading, a
// *NotTranscriptError, a *DialectError, a *CheckOnlyError or a *ProofError. If w fails, or
// ctx is done while Fix writes, a part of the output may have been written.
//
// Fix returns soon after ctx is done, with an error that wraps that of ctx. It
// does not interrupt a Read of r or a Write to w.
func Fix(ctx context.Context, w io.Writer, r io.Reader, opts ...Option) (*Fixed, error) {
	o, err := newOptions(opts)
	if err != nil {
		return nil, err
	}
	src, err := source.Spool(ctx, o.name, r, 0)
	if err != nil {
		return nil, public(err)
	}
	defer src.Close()
	fixed, out, err := fix(ctx, src, o)
	if err != nil {
		return nil, err
	}
	if w != nil {
		if _, err := io.Copy(w, stream{out.Stream()}); err != nil {
			return nil, err
		}
	}
	return fixed, nil
}

// FixBytes is Fix for input in memory. It returns the repaired text, or b itself if there is
// nothing to repair. It writes no temporary file, whatever the size of b, and does not copy b,
// except into the text that it returns.
//
// If b is compressed, it is unpacked as by CheckBytes. FixBytes returns b itself, still
// compressed, where Fix would write the unpacked text, and a *CheckOnlyError if there is
// something to repair. To repair such input, unpack it first, and send the result without
// its Content-Encoding.
//
// With an error, FixBytes returns no text. The errors are those of Fix. FixBytes never changes b,
// and keeps no reference to it, except that it may return b. b must not change until FixBytes
// returns.
func FixBytes(ctx context.Context, b []byte, opts ...Option) ([]byte, *Fixed, error) {
	o, err := newOptions(opts)
	if err != nil {
		return nil, nil, err
	}
	src, err := source.Hold(ctx, o.name, b)
	if err != nil {
		return nil, nil, public(err)
	}
	fixed, out, err := fix(ctx, src, o)
	if err != nil {
		return nil, nil, err
	}
	if !fixed.Changed() {
		return b, fixed, nil
	}
	return out.Text(), fixed, nil
}

// fix repairs a source. It returns what was done, and the source to write: the repaired one,
// or src if there was nothing to repair.
func fix(ctx context.Context, src *source.Source, o *options) (fixed *Fixed, out *source.Source, err error) {
	defer contained(&err)
	f, err := engine.Settle(ctx, src, o.FixOptions)
	if err := cmp.Or(src.Err(), err); err != nil {
		return nil, nil, err
	}
	fixed = &Fixed{}
	if fixed.Before, err = report(src, f.Before); err != nil {
		return nil, nil, err
	}
	if fixed.After, err = report(src, f.After); err != nil {
		return nil, nil, err
	}
	for i := range f.Repairs {
		fixed.Repairs = append(fixed.Repairs, Repair{Title: f.Repairs[i].Title, Class: Class(f.Repairs[i].Class.String()), Rule: f.Repairs[i].Rule})
	}
	if f.Changed() {
		src, fixed.Edits = f.Pieces.Source(), edits(f.Edits())
	}
	// Computing the edits read the source once more, and ignored errors of reading.
	return fixed, src, src.Err()
}

// Redact reads a transcript from r to its end, replaces its contents by filler of the same
// length, and writes it to w. Check finds the same in the redacted text, at the same bytes: Redact
// proves it with these options before it writes, and returns the report about the redacted text.
// Its NotKept are exceptions: findings that depend on a text and that filler cannot have. Options
// about repairs change nothing.
//
// The keys and values that toolguard looks for stay, and so do the names of known models, times,
// and counts in known fields. Filler depends on the length of a text and on whether two texts are
// equal, and on nothing else of it. It comes from a random key, which is not kept, so two calls
// return different texts.
//
// Compressed input is written without compression. Redact writes nothing if it returns an error
// of reading, a *NotTranscriptError, a *DialectError or a *RedactError. If w fails, or ctx is
// done while Redact writes, a part of the output may have been written.
func Redact(ctx context.Context, w io.Writer, r io.Reader, opts ...Option) (*Report, error) {
	o, err := newOptions(opts)
	if err != nil {
		return nil, err
	}
	src, err := source.Spool(ctx, o.name, r, 0)
	if err != nil {
		return nil, public(err)
	}
	defer src.Close()
	out, found, err := redacted(ctx, src, o)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	if _, err := io.Copy(w, stream{out.Stream()}); err != nil {
		return nil, err
	}
	return found, nil
}

// RedactBytes is Redact for input in memory. It returns the redacted text and the report about it.
// It writes no temporary file, whatever the size of b.
//
// If b is compressed, it is unpacked as by CheckBytes, and the redacted text is not compressed.
// With an error, RedactBytes returns no text. The errors are those of Redact. RedactBytes never
// changes b and keeps no reference to it. b must not change until RedactBytes returns.
func RedactBytes(ctx context.Context, b []byte, opts ...Option) ([]byte, *Report, error) {
	o, err := newOptions(opts)
	if err != nil {
		return nil, nil, err
	}
	src, err := source.Hold(ctx, o.name, b)
	if err != nil {
		return nil, nil, public(err)
	}
	out, found, err := redacted(ctx, src, o)
	if err != nil {
		return nil, nil, err
	}
	return out.Text(), found, nil
}

// redacted redacts a source. It returns the source to write and the report about it.
func redacted(ctx context.Context, src *source.Source, o *options) (out *source.Source, rep *Report, err error) {
	defer contained(&err)
	got, err := redact.Redact(ctx, src, o.Options)
	if err := cmp.Or(src.Err(), err); err != nil {
		return nil, nil, err
	}
	if got.Source == nil {
		return nil, nil, &NotTranscriptError{got.Report.SkippedDiscreet}
	}
	found, err := report(got.Source, got.Report)
	if err != nil {
		got.Source.Close()
		return nil, nil, err
	}
	for _, n := range got.NotKept {
		found.NotKept = append(found.NotKept, NotKept{n.Rule, Severity(n.Severity), position(n.At), n.Differs})
	}
	return got.Source, found, nil
}

// public returns an error of the engine as one of this package.
func public(err error) error {
	var proof *engine.ProofError
	if errors.As(err, &proof) {
		return &ProofError{proof.Reason, proof.Cut}
	}
	var other *detect.ErrOtherDialect
	if errors.As(err, &other) {
		return &DialectError{other.Dialect, other.Found, other.Pointer}
	}
	var redacted *redact.ProofError
	if errors.As(err, &redacted) {
		return &RedactError{redacted.Reason}
	}
	var only *engine.CheckOnlyError
	if errors.As(err, &only) {
		return &CheckOnlyError{only.Reason}
	}
	if caught := contain.From(err); caught != nil {
		return &InternalError{moduleVersion(), caught.Panic, caught.Stack}
	}
	return err
}

// contained makes the error of the function that defers it one of this package, and a panic an
// *InternalError.
func contained(err *error) {
	if value := recover(); value != nil {
		*err = contain.Of(value)
	}
	*err = public(*err)
}

// A stream reads a source. A panic of the source is its error, unlike one of the writer to which
// it is copied.
type stream struct{ *io.SectionReader }

// Read implements io.Reader.
func (s stream) Read(p []byte) (n int, err error) {
	defer contained(&err)
	return s.SectionReader.Read(p)
}

// RefusesReasoning reports whether the text of a provider's error says that the reasoning of a
// request is not accepted, or what ties messages to reasoning. The same request may be accepted after
// FixBytes with StripReasoning.
func RefusesReasoning(errorText string) bool { return rules.RefusesReasoning(errorText) }

// Rules lists the names of the rules.
func Rules() []string { return rules.Names() }

// Profiles lists the names of the providers that Target accepts.
func Profiles() []string { return profile.Names() }

// ProfileFor returns the name of the profile that the provider of a profile has for requests in a
// dialect, or "" if none is known: the one of openai for openai-responses is openai-responses.
func ProfileFor(profileName, dialectName string) (string, error) {
	p, err := names.Program.Provider(profileName)
	if err != nil {
		return "", err
	}
	d, err := names.Program.Format(dialect.Builtin(), dialectName)
	if err != nil {
		return "", err
	}
	if p = p.For(profile.ByName(d.Provider)); p == nil {
		return "", nil
	}
	return p.Name, nil
}

// Dialects lists the names of the dialects that Dialect accepts.
func Dialects() []string { return dialect.Builtin().Names() }

// report returns a report of the engine about src as one of this package.
func report(src *source.Source, r *engine.Report) (*Report, error) {
	if r.Skipped != "" {
		return nil, &NotTranscriptError{r.Skipped}
	}
	out := &Report{
		Dialect: r.File.Dialect, Container: r.File.Container, Conversations: r.File.Conversations,
		Calls: r.Calls, Results: r.Results,
	}
	type repair struct {
		*Repair
		edits []Edit // which the engine tells of the first findings
	}
	shared := map[int32]repair{}
	if n := r.Findings.Len(); n > 0 {
		out.Findings = make([]Finding, 0, n)
	}
	for f := range r.Findings.All() {
		if len(out.Findings)%256 == 0 {
			if err := src.Err(); err != nil {
				return nil, err
			}
		}
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
			if shared[f.Fix.ID].Repair == nil {
				shared[f.Fix.ID] = repair{&Repair{f.Fix.Title, Class(f.Fix.Class.String()), f.Rule.Name, f.Fix.ByStrategy}, edits(f.Edits)}
			}
			x.Repair, x.Edits = shared[f.Fix.ID].Repair, shared[f.Fix.ID].edits
		}
		out.Findings = append(out.Findings, x)
	}
	return out, nil
}

// edits returns edits of the engine as those of this package.
func edits(list []edit.Edit) []Edit {
	var out []Edit
	for _, e := range list {
		out = append(out, Edit{e.Span.Start, e.Span.End, e.Text})
	}
	return out
}

func position(p source.Position) Position { return Position{p.Offset, p.Line, p.Column} }
