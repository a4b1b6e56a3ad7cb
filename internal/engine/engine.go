// Package engine checks and repairs transcripts. Check reads a source and returns a report, and
// changes nothing. Settle builds on it: it chooses fixes, applies them, checks again and proves the
// result. Flags and output formats are not its concern.
package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/toolguard/toolguard/internal/container"
	"github.com/toolguard/toolguard/internal/detect"
	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/repair"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/schema"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// Options select what a check looks at, and how severe its findings are.
type Options struct {
	// Dialects are the dialects a file may be written in; nil means the built-in ones.
	Dialects *dialect.Set
	// Dialect skips detection; nil means that detection chooses.
	Dialect *dialect.Dialect
	// Request says that the source is one request to the API of Dialect, which has a Body.
	Request bool
	// Target is the provider whose rules hold; nil means the dialect's own.
	Target *profile.Profile
	// Address is where a request is sent, "" if only the request itself may say so.
	Address string
	// Send says that the history is about to be sent.
	Send bool
	// Over says that no program is going to write to the history any more. A call at its end
	// that waits for nobody is then without a result for good.
	Over bool
	// StripReasoning says that reasoning is removed, whatever classes of repairs are allowed.
	StripReasoning bool
	// Tools are the tools declared for all conversations; if nil, each conversation uses the
	// tools that its own request declares.
	Tools *schema.Tools
	// Rules are the rules to run; nil means all.
	Rules []*rules.Rule
	// Severity overrides the severity of findings by rule name.
	Severity map[string]rules.Severity
	// Strategy selects one of a rule's repairs by rule name.
	Strategy map[string]string
	// Placeholder is the text of inserted results; "" means the default text.
	Placeholder string
	// CheckOnly says why the file must not be repaired if the file itself does not show it;
	// "" means that it may be repaired.
	CheckOnly string
	// Identity identifies the file in fingerprints, however its path is spelled; "" means the
	// path.
	Identity string
	// Edits asks for the edits of each finding's repair, as if it were the only one.
	Edits bool
	// Excerpts asks for what stands around each finding, and around the places
	// that are related to it.
	Excerpts bool
	// Most is the number of findings of one kind that are kept; further ones are only
	// counted. 0 keeps all. MostOf is the same for each severity; nil is Most for all.
	Most   int
	MostOf func(rules.Severity) int
	// Shown reports whether findings of a rule and severity are kept, because they will be
	// shown; nil keeps all. The others are only counted.
	Shown func(*rules.Rule, rules.Severity) bool
	// Explicit are the rules selected by name; their infos are repaired too.
	Explicit map[string]bool
	// Ignore reports whether a finding is neither reported nor repaired; nil ignores none.
	Ignore func(*rules.Finding) bool

	tries int64 // instead of mostTried, in tests
}

// asked reports whether a finding is repaired if its repair is allowed. An info is repaired only
// if its rule is selected by name or a strategy is chosen for it.
func (o *Options) asked(r *rules.Rule, s rules.Severity) bool {
	if r.OnDemand != nil {
		return o.demands(r)
	}
	return s >= rules.Warning || o.Explicit[r.Name] || o.Strategy[r.Name] != ""
}

// demands reports whether the user asked for the repairs of a rule that are only made on
// demand.
func (o *Options) demands(r *rules.Rule) bool {
	return r.OnDemand != nil && r.OnDemand(&rules.Options{StripReasoning: o.StripReasoning})
}

// A Finding is a rule's finding together with its resolved position.
type Finding struct {
	rules.Finding
	Path    string
	Dialect string
	Pointer string
	// Index is the index of the message in its conversation, from 0, -1 if it is about no
	// message. Place is how the provider names the message or its block: messages.2.content.1.
	Index      int
	Place      string
	Start, End source.Position
	RelatedAt  []source.Position // start and end of each related place, in pairs
	Excerpt    Excerpt           // empty where that was not asked for
	// RelatedExcerpts are the lines of the related places; nil if that was not
	// asked for.
	RelatedExcerpts []Excerpt
	Fingerprint     string
	// Edits are what the repair would change, done alone; nil where that was not asked for, would take too
	// long to find out, or is told of the first findings that the repair is for.
	Edits []edit.Edit
	// RecordHash identifies the record of a finding about no call, even if its line number
	// changes.
	RecordHash string
	// EditAt is the start and end of the edit, if there is exactly one.
	EditAt *[2]source.Position
	// withheld is the repair that would be offered if such files were repaired.
	withheld *operation.Operation
}

// An Excerpt is the text around a finding on its line.
type Excerpt struct {
	Text      []byte
	Mark      [2]int // the underlined part of Text
	CutBefore bool   // the line goes on before Text
	CutAfter  bool
}

// A Report holds the findings of one file.
type Report struct {
	Path     string
	File     *container.File
	Calls    int // only those that the client runs
	Results  int
	Findings Findings // ordered by position
	// Rest are the findings that are counted but not kept, one entry per kind.
	Rest []Rest
	// Skipped says why the file is not a transcript; then the fields above are empty.
	// SkippedDiscreet says the same without naming keys of the file.
	Skipped, SkippedDiscreet string
}

// A Rest says how many more findings of one kind there are. Its Finding has only the fields
// that make up the kind: the rule, the severity, and of the repair the class and whether a
// strategy must be chosen.
type Rest struct {
	Finding
	N    int
	Kept int // how many of the kind are kept
}

// byKind orders the entries of Rest: in which order their kinds were found depends on how a source was
// read.
func byKind(a, b Rest) int {
	class := func(r *Rest) (class operation.Class, byStrategy int) {
		switch {
		case r.Fix == nil:
			return 0, -1
		case r.Fix.ByStrategy:
			return r.Fix.Class, 1
		}
		return r.Fix.Class, 0
	}
	classOfA, strategyOfA := class(&a)
	classOfB, strategyOfB := class(&b)
	return cmp.Or(cmp.Compare(b.Severity, a.Severity), cmp.Compare(a.Rule.Name, b.Rule.Name), cmp.Compare(strategyOfA, strategyOfB), cmp.Compare(classOfA, classOfB))
}

// All yields each kept finding with 1, and each entry of Rest with its count.
func (r *Report) All() iter.Seq2[*Finding, int] {
	return func(yield func(*Finding, int) bool) {
		for f := range r.Findings.All() {
			if !yield(f, 1) {
				return
			}
		}
		for i := range r.Rest {
			if !yield(&r.Rest[i].Finding, r.Rest[i].N) {
				return
			}
		}
	}
}

// Kinds yields how many findings of each kind there are, kept or not. A finding has only the fields that
// make up the kind, as in a Rest. This takes no longer if there are very many.
func (r *Report) Kinds() iter.Seq2[*Finding, int] {
	return func(yield func(*Finding, int) bool) {
		for _, k := range r.Findings.kinds {
			if !yield(k.finding(r.Path), k.n) {
				return
			}
		}
		for i := range r.Rest {
			if !yield(&r.Rest[i].Finding, r.Rest[i].N) {
				return
			}
		}
	}
}

// A findingKind is what findings are counted by.
type findingKind struct {
	rule       *rules.Rule
	severity   rules.Severity
	repairs    bool
	class      operation.Class
	byStrategy bool
	most       int // how many are kept
}

// finding returns a finding that has only what makes up the kind.
func (k *findingKind) finding(path string) *Finding {
	f := &Finding{Finding: rules.Finding{Rule: k.rule, Severity: k.severity}, Path: path}
	if k.repairs {
		f.Fix = &operation.Operation{Class: k.class, ByStrategy: k.byStrategy}
	}
	return f
}

// A kindCount is the number of findings of a kind and, once some are not kept, the index of
// the kind in Rest.
type kindCount struct{ n, rest int }

// kindOf returns the kind that a finding counts as if only some of the kind are kept, because the others
// will not be shown. It returns the zero kind if all of them are.
func (c *checker) kindOf(f *rules.Finding) findingKind {
	most := cmp.Or(c.opts.Most, math.MaxInt)
	if c.opts.MostOf != nil {
		most = c.opts.MostOf(f.Severity)
	}
	if c.opts.Shown != nil && !c.opts.Shown(f.Rule, f.Severity) {
		most = 0
	}
	if most == math.MaxInt || c.mode.Needs(f) {
		return findingKind{}
	}
	k := findingKind{rule: f.Rule, severity: f.Severity, most: most}
	if f.Fix != nil && !c.now.unrepaired {
		k.repairs, k.class, k.byStrategy = true, f.Fix.Class, f.Fix.ByStrategy || !c.opts.asked(f.Rule, f.Severity)
	}
	return k
}

// over counts n findings of a kind, and returns how many of them are more than are kept.
func (c *checker) over(k findingKind, n int) int {
	if c.kinds == nil {
		c.kinds = map[findingKind]kindCount{}
	}
	was := c.kinds[k]
	now := kindCount{was.n + n, was.rest}
	over := max(0, min(n, now.n-k.most))
	if over > 0 {
		if was.n <= k.most {
			now.rest = len(c.report.Rest)
			c.report.Rest = append(c.report.Rest, Rest{Finding: *k.finding(c.src.Name()), Kept: k.most})
		}
		c.report.Rest[now.rest].N += over
	}
	c.kinds[k] = now
	return over
}

// seen reports whether the message of such a finding may be shown to anybody.
func (c *checker) seen(r *rules.Rule, s rules.Severity) bool {
	if set, is := c.opts.Severity[r.Name]; is {
		s = set
	}
	return c.opts.Shown == nil || c.opts.Ignore != nil || c.mode.Repairs() && c.opts.asked(r, s) || c.opts.Shown(r, s)
}

// Check reads a source and reports what is wrong with it.
func Check(ctx context.Context, src *source.Source, opts Options) (*Report, error) {
	c := newChecker(src, opts)
	c.mode = beside{checking{c}, (*rowChecker).alone, c.untried}
	rep, err := c.run(ctx)
	if errors.Is(err, errTried) {
		return newChecker(src, opts).run(ctx)
	}
	return rep, err
}

// A checker checks a source. What it knows is grouped by what that is about, or how long it holds.
type checker struct {
	src    *source.Source
	opts   Options
	mode   mode
	report *Report
	progress
	known
	finds
	reused
	now    looker  // looks at the current conversation
	placer *placer // nil before the first use
}

// progress is how far a check is.
type progress struct {
	ctx  context.Context // of run
	left int64           // the work until the next look at the context
	err  error
}

// known is what is known of a source, or of the current row if rows are units.
type known struct {
	dials []string // by conversation from firstDial on: its dialect
	// firstDial is the first conversation in dials.
	firstDial int
	// unreadable are the records that JSON pointers cannot lead into.
	unreadable map[int32]bool
	// tears are the records of the file that are cut off.
	tears repair.Tears
	// logs are the session logs in the file, by the spans of their record lists.
	logs map[source.Span]*repair.Log
}

// reused is what one conversation leaves to the next, so that it is not made for each.
type reused struct {
	// declared are the tools of the object at holder.
	holder   source.Span
	declared *schema.Tools
	schemas  schema.Cache
	// repairs is what the plans of all conversations share.
	repairs repair.Memory
	// same and placeholder ask the looker about its conversation.
	same        func(a, b int) bool
	placeholder func(result int32) bool
	emitted     rules.Finding // the last one
}

// finds are what was found in a source, or in a part of it that is checked beside others.
type finds struct {
	// found are the kept findings, those about the current conversation or about the file from
	// current on. offers are the repairs that they request.
	found   hits
	current int
	offers  offers
	// kinds count the findings, unless all are kept. each has the kind of each of found in a part.
	kinds map[findingKind]kindCount
	each  []findingKind
	// tried is the number of bytes of messages on which repairs were tried.
	tried int64
	// merging are the records with ids that would become equal to other ids if halves of
	// surrogate pairs were replaced.
	merging map[int32]bool
}

// newChecker returns a checker whose mode is checking.
func newChecker(src *source.Source, opts Options) *checker {
	if opts.Rules == nil {
		opts.Rules = rules.All()
	}
	for _, r := range rules.All() {
		if opts.demands(r) && !slices.Contains(opts.Rules, r) {
			opts.Rules = append(slices.Clip(opts.Rules), r)
		}
	}
	c := &checker{src: src, opts: opts, report: &Report{Path: src.Name()}}
	c.mode = checking{c}
	c.begin()
	return c
}

// begin begins to know and to find something.
func (c *checker) begin() {
	c.known = known{unreadable: map[int32]bool{}, logs: map[source.Span]*repair.Log{}}
	c.finds = finds{merging: map[int32]bool{}}
	c.same, c.placeholder = c.now.same, c.now.placeholder
}

// renew throws away what the checker keeps between rows, because a panic may have left it half
// written.
func (c *checker) renew() {
	*c = checker{src: c.src, opts: c.opts, mode: c.mode, report: c.report, progress: c.progress}
	c.begin()
	c.report.Findings, c.report.Rest, c.firstDial = Findings{}, nil, c.report.File.Conversations
}

// lookEvery is the number of bytes after which a check looks at its context. A finding and a
// value count as some bytes more, because each takes time.
const (
	lookEvery     = 256 << 10
	workOfValue   = 64
	workOfFinding = 1 << 10
)

// goesOn counts n bytes of work and looks at the context if there were many since the last
// time. It reports whether the check goes on.
func (c *checker) goesOn(n int64) bool {
	if c.left -= n; c.left <= 0 && c.err == nil {
		c.left = lookEvery
		c.err = cmp.Or(c.src.Err(), c.ctx.Err())
	}
	return c.err == nil
}

func (c *checker) run(ctx context.Context) (*Report, error) {
	c.ctx = ctx
	reading := container.Open(c.src, detect.Options{Dialects: c.opts.Dialects, Dialect: c.opts.Dialect, Request: c.opts.Request})
	file := reading.File
	c.report.File = file
	for conv, err := range c.mode.Open(reading) {
		var not *detect.ErrNotTranscript
		if errors.As(err, &not) {
			c.report.Skipped, c.report.SkippedDiscreet = not.Reason, not.Discreet
			return c.report, nil
		}
		if err := c.next(conv, err); err != nil {
			return nil, err
		}
	}
	defer func() { file.Document = source.Record{} }() // it holds the file's bytes
	if err := c.mode.End(); err != nil {
		return nil, err
	}
	return c.report, nil
}

// next has the mode see the next conversation, or the error of reading it.
func (c *checker) next(conv *transcript.Conversation, err error) error {
	err = c.mode.Conversation(conv, err)
	c.offers.open, c.current = nil, len(c.found.list)
	c.now = looker{}
	return cmp.Or(c.ctx.Err(), err, c.err)
}

// clean reports whether nothing was found so far, in conversations or in the file.
func (c *checker) clean() bool {
	f := c.report.File
	return len(f.Faults)+len(f.Broken)+len(f.Keys)+len(f.Links)+len(c.found.list) == 0
}

// finish ends the search for findings.
func (c *checker) finish() error {
	c.offers.open = nil
	slices.SortStableFunc(c.report.Rest, byKind)
	return cmp.Or(c.err, c.src.Unchanged())
}

// text returns the text of a span. A source that fails ends the check. Once the check has
// ended, all texts are empty, so that a rule has nothing left to do.
func (c *checker) text(s source.Span) string { return string(c.bytes(s)) }

// bytes returns the bytes of a span. They are valid until the next call.
func (c *checker) bytes(s source.Span) []byte {
	if !c.goesOn(workOfValue + s.Len()) {
		return nil
	}
	if c.now.unfolded != nil {
		return c.now.unfolded.Bytes(s)
	}
	b, err := c.src.View(s)
	if err != nil && c.err == nil {
		c.err = err
	}
	return b
}

// value returns the value at a span. It is valid until the next call.
func (c *checker) value(s source.Span) source.Value {
	if !c.goesOn(workOfValue + s.Len()) {
		return source.Value{}
	}
	if c.now.unfolded != nil {
		return source.NewValue(c.now.unfolded.Bytes(s), s.Start)
	}
	v, err := c.src.Value(s)
	if err != nil && c.err == nil {
		c.err = err
	}
	return v
}

func (c *checker) conversation(conv *transcript.Conversation) {
	c.dials = append(c.dials, conv.Dialect)
	for i := range conv.Calls {
		if conv.Calls[i].Counts() {
			c.report.Calls++
		}
	}
	for i := range conv.Results {
		if conv.Results[i].Counts() {
			c.report.Results++
		}
	}
	c.merges(conv)
	d := c.opts.Dialects.ByName(conv.Dialect)
	native := profile.ByName(cmp.Or(conv.Provider, d.Provider))
	asked := profile.Request{Model: conv.Model, Hosts: conv.Hosts}
	if c.opts.Address != "" {
		asked.Hosts = append([]string{c.opts.Address}, conv.Hosts...)
	}
	native, named := native.Asked(asked)
	if conv.Row && !named && !c.opts.Send {
		native = native.OfRows()
	}
	prof := cmp.Or(c.opts.Target, native)
	if prof.Contiguous && conv.Window == transcript.WindowNext {
		conv.Window = transcript.WindowTool
	}
	conv.Merged = prof.Merges
	now := &c.now
	now.c, now.dialect, now.paths, now.unfolded = c, d, d.Members, conv.Unfolded
	rc, plan := &now.context, &now.plan
	*rc = rules.Context{
		Looker: now, Conversation: conv, Profile: prof, Native: native, Named: named, NumericIDs: d.NumericIDs && c.opts.Target == nil, AnyIDs: d.AnyIDs,
		Options: rules.Options{
			Send: c.opts.Send, Over: c.opts.Over, Target: c.opts.Target != nil, StripReasoning: c.opts.StripReasoning,
			Strategy: c.opts.Strategy, Explicit: c.opts.Explicit,
		},
	}
	rc.Pairing = pairing.Pair(conv, c.same)
	*plan = repair.Plan{
		Source: c.src, Conv: conv, Dialect: d, Pairing: rc.Pairing, Profile: prof, Placeholder: c.opts.Placeholder,
	}
	plan.Known, plan.Memory = c.placeholder, &c.repairs
	c.tools(conv, rc)
	if conv.Unfolded != nil {
		plan.Source = conv.Unfolded.Source()
	}
	now.unrepaired = d.CheckOnly != "" || conv.Unfolded != nil && !conv.Unfolded.Editable()
	work := workOfValue * int64(1+len(conv.Messages)+len(conv.Blocks)+len(conv.Calls)+len(conv.Results))
	for _, r := range c.mode.Rules() {
		if c.goesOn(work) {
			rc.Run(r)
		}
	}
	now.able = c.decideOpen()
}

// decideOpen decides the repairs that the current findings request. It returns the fixes that a round may
// take. If nobody looks at them, nothing is known any more of the repairs.
func (c *checker) decideOpen() (able *fixes) {
	plan := &c.now.plan
	if c.now.unrepaired {
		c.withhold(c.now.dialect.CheckOnly)
	}
	if conv := plan.Conv; conv.Enveloped && conv.Unfolded == nil {
		plan.Log = c.log(plan.Dialect, conv)
	}
	if c.err == nil {
		able, c.err = c.offer(plan)
	}
	if !c.mode.Looks() {
		c.offers.open, c.current = c.offers.open[:0], len(c.found.list)
	}
	return able
}

// log returns the log whose records hold the messages of a conversation, or nil if they are
// kept in a form that is not repaired.
func (c *checker) log(d *dialect.Dialect, conv *transcript.Conversation) *repair.Log {
	switch {
	case conv.Lines:
		return c.logIn(d, source.Span{})
	case len(conv.Lists) == 1:
		return c.logIn(d, conv.Lists[0])
	}
	return nil
}

// logIn returns the log whose records are the elements of an array or the lines of the file.
func (c *checker) logIn(d *dialect.Dialect, at source.Span) *repair.Log {
	if c.logs[at] == nil {
		c.logs[at] = repair.NewLog(c.src, d.Log, at)
		c.logs[at].Trial = !c.mode.Repairs() && !c.opts.Edits
	}
	return c.logs[at]
}

// merges notes records with ids that differ only in bytes that a repair would replace.
func (c *checker) merges(conv *transcript.Conversation) {
	type place struct {
		raw    string
		record int32
	}
	var ids map[string][]place
	note := func(t transcript.Token, message int32) {
		if strings.Contains(t.Raw, `\u`) {
			if ids == nil {
				ids = map[string][]place{}
			}
			canonical := string(repair.Canonical([]byte(t.Raw)))
			ids[canonical] = append(ids[canonical], place{t.Raw, conv.Messages[message].Record})
		}
	}
	for i := range conv.Calls {
		note(conv.Calls[i].ID, conv.Calls[i].Message)
	}
	for i := range conv.Results {
		note(conv.Results[i].ID, conv.Results[i].Message)
	}
	for _, places := range ids {
		if slices.ContainsFunc(places, func(p place) bool { return p.raw != places[0].raw }) {
			for _, p := range places {
				c.merging[p.record] = true
			}
		}
	}
}

// tools tells the rules which tools are declared for a conversation.
func (c *checker) tools(conv *transcript.Conversation, rc *rules.Context) {
	if c.opts.Tools != nil {
		rc.Tools = c.opts.Tools
	}
	if conv.Holder.IsZero() || conv.Unfolded != nil {
		return
	}
	if c.holder != conv.Holder { // several conversations can be in one object
		c.holder = conv.Holder
		c.declared, rc.Declarations = c.schemas.Declared(c.value(conv.Holder), conv.Lists...)
	}
	if rc.Tools == nil && c.declared != nil {
		rc.Tools = c.declared
	}
}

// file checks the file as a whole, once its conversations were.
func (c *checker) file() {
	file := c.report.File
	fc := &rules.FileContext{
		Faults: file.Faults, Keys: file.Keys, Links: file.Links, Branches: file.Branches, Lines: file.Framing == source.FramingLines,
		Text: c.text, Broken: c.broken, Emit: c.emit,
	}
	if d := c.opts.Dialects.ByName(file.Dialect); d != nil {
		fc.LeavesOut = fc.Lines && d.DamagedLine != 0
		fc.Stops = fc.Lines && d.DamagedLine == dialect.DamagedEnds
	}
	c.tears = repair.Tears{Source: c.src, Torn: torn(file.Faults)}
	for _, f := range file.Faults {
		if f.Unreadable() {
			c.unreadable[f.Record] = true
		}
	}
	for _, r := range c.mode.Rules() {
		fc.Run(r)
	}
	if file.CheckOnly = cmp.Or(file.CheckOnly, c.opts.CheckOnly); file.CheckOnly != "" {
		c.withhold(file.CheckOnly)
		slices.SortFunc(c.report.Rest, byKind) // by all that the kinds are
		for i := range c.report.Rest {
			c.report.Rest[i].Fix = nil
		}
	}
	if c.err == nil {
		c.err = c.offerOnFile()
	}
}

// torn yields the bytes of a file that may be the beginning of a record.
func torn(faults []transcript.RecordFault) iter.Seq[source.Span] {
	return func(yield func(source.Span) bool) {
		for i := range faults {
			f := &faults[i]
			at := f.Whole
			switch f.Kind {
			case source.FaultGlued:
				at = f.Span
			case source.FaultInvalidJSON, source.FaultTruncated:
			default:
				continue
			}
			if !yield(at) {
				return
			}
		}
	}
}

// onFile compiles the repair of a finding about the file: about one of its records, or its
// bytes.
func (c *checker) onFile(w wish) (edit.Fix, bool, error) {
	if w.rule.Category != rules.Links {
		return c.tears.Bytes(w.Operation)
	}
	file := c.report.File
	for _, l := range file.Logs {
		if l.Array.Contains(w.span) {
			return c.logIn(c.opts.Dialects.ByName(l.Dialect), l.Array).Record(w.Operation)
		}
	}
	if log := c.logOf(file); log != nil {
		return log.Record(w.Operation)
	}
	return edit.Fix{}, false, nil
}

// logOf returns the log if the file is one, nil otherwise.
func (c *checker) logOf(file *container.File) *repair.Log {
	d := c.opts.Dialects.ByName(file.Dialect)
	if d == nil || d.Log == nil || file.Container != detect.ContainerLinkedLog && file.Container != detect.ContainerEventLog {
		return nil
	}
	return c.logIn(d, source.Span{})
}

// broken reports whether toolguard reads a record, but no client that parses line by line.
func (c *checker) broken(record int32) bool {
	_, is := slices.BinarySearch(c.report.File.Broken, record)
	return is
}

func (c *checker) emit(found rules.Finding) {
	if !c.goesOn(workOfFinding) {
		return
	}
	c.emitted = found
	f := &c.emitted
	if !c.mode.Emits(f) {
		return
	}
	if s, set := c.opts.Severity[f.Rule.Name]; set {
		f.Severity = s
	}
	if f.Severity == rules.Off || c.opts.Ignore != nil && c.opts.Ignore(f) {
		return
	}
	kind := c.kindOf(f)
	if kind.rule != nil && c.over(kind, 1) > 0 {
		return
	}
	out := Finding{Index: -1}
	if now := &c.now.context; now.Conversation != nil && f.Conversation >= 0 {
		out.Index, out.Place = now.Place(f.Span)
	}
	if c.now.unfolded != nil {
		if c.now.unfolded.Packed(f.Span) {
			f.Message += inBase64(c.now.unfolded.Bytes(f.Span))
		}
		f.Span = c.now.unfolded.Origin(f.Span)
		f.Related = slices.Clone(f.Related)
		for i := range f.Related {
			f.Related[i].Span = c.now.unfolded.Origin(f.Related[i].Span)
		}
	}
	c.mode.Kept(kind)
	c.offers.ask(f.Fix)
	if f.Conversation >= 0 {
		out.Dialect = c.dials[f.Conversation-c.firstDial]
	}
	out.Finding = *f
	c.found.add(&out)
}

// inBase64 says what the base64 that a finding points to stands for, unless that is long.
func inBase64(text []byte) string {
	const most = 64
	if len(text) > most {
		return " (in base64)"
	}
	return fmt.Sprintf(" (in base64: %s)", text)
}
