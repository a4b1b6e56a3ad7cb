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
	"github.com/toolguard/toolguard/internal/unfold"
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

// counted reports whether a finding is only counted, because it will not be shown or enough
// of its kind are kept.
func (c *checker) counted(f *rules.Finding) bool {
	most := cmp.Or(c.opts.Most, math.MaxInt)
	if c.opts.MostOf != nil {
		most = c.opts.MostOf(f.Severity)
	}
	if c.opts.Shown != nil && !c.opts.Shown(f.Rule, f.Severity) {
		most = 0
	}
	if most == math.MaxInt || c.round != nil && c.round.needs(f) {
		return false
	}
	k := findingKind{rule: f.Rule, severity: f.Severity, most: most}
	if f.Fix != nil && !c.unrepaired {
		k.repairs, k.class, k.byStrategy = true, f.Fix.Class, f.Fix.ByStrategy || !c.opts.asked(f.Rule, f.Severity)
	}
	if c.part != nil {
		c.part.kind = k
	}
	return c.over(k, 1) > 0
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
	return c.opts.Shown == nil || c.opts.Ignore != nil || c.round != nil && c.opts.asked(r, s) || c.opts.Shown(r, s)
}

// Check reads a source and reports what is wrong with it.
func Check(ctx context.Context, src *source.Source, opts Options) (*Report, error) {
	rep, err := newChecker(src, opts).run(ctx)
	if errors.Is(err, errTried) {
		c := newChecker(src, opts)
		c.inOrder = true
		return c.run(ctx)
	}
	return rep, err
}

type checker struct {
	src    *source.Source
	opts   Options
	report *Report
	ctx    context.Context // of run
	left   int64           // the work until the next look at the context
	err    error
	dials  []string // by conversation from firstDial on: its dialect
	// firstDial is the first conversation in dials.
	firstDial int
	// merging are the records with ids that would become equal to other ids if halves of
	// surrogate pairs were replaced.
	merging map[int32]bool
	// unreadable are the records that JSON pointers cannot lead into.
	unreadable map[int32]bool
	// declared are the tools of the object at holder.
	holder   source.Span
	declared *schema.Tools
	schemas  schema.Cache
	// tried is the number of bytes of messages on which repairs were tried.
	tried int64
	// repairs is what the plans of all conversations share.
	repairs repair.Memory
	// tears are the records of the file that are cut off.
	tears repair.Tears
	// logs are the session logs in the file, by the spans of their record lists.
	logs map[source.Span]*repair.Log
	// unfolded maps the spans of the current conversation; nil if they are spans of the
	// source.
	unfolded *unfold.Unfolded
	// found are the kept findings, those about the current conversation or about the file from
	// current on. offers are the repairs that they request.
	found   hits
	current int
	offers  offers
	// round is the round of repairs that the check is part of; nil if there is none.
	round *round
	// then sees each conversation once its repairs are offered, with the fixes that a round may
	// take; nil if nobody asks for that.
	then func(plan *repair.Plan, able *fixes) error
	// kinds count the findings, unless all are kept.
	kinds map[findingKind]kindCount
	// now looks at the current conversation. same and placeholder ask about it.
	now         looker
	same        func(a, b int) bool
	placeholder func(result int32) bool
	emitted     rules.Finding // the last one
	// unrepaired is set while a conversation is read that is never repaired.
	unrepaired bool
	placer     *placer  // nil before the first use
	units      *units   // nil if nobody asks for units
	part       *rowPart // that is checked beside others; nil for a whole source
	inOrder    bool     // no part is checked beside others
	// keeps is set if the next round may take from this check what its edits do not touch. Then
	// reading is that of the source, if it has rows or is a log, and rowOf are the records of the
	// conversations. recalls lets the reading of a log take records from an earlier one; nil for none.
	keeps   bool
	reading *container.Reading
	rowOf   []int32
	recalls func(*container.Reading)
}

func newChecker(src *source.Source, opts Options) *checker {
	if opts.Rules == nil {
		opts.Rules = rules.All()
	}
	for _, r := range rules.All() {
		if opts.demands(r) && !slices.Contains(opts.Rules, r) {
			opts.Rules = append(slices.Clip(opts.Rules), r)
		}
	}
	c := &checker{
		src: src, opts: opts, report: &Report{Path: src.Name()}, merging: map[int32]bool{}, unreadable: map[int32]bool{},
		logs: map[source.Span]*repair.Log{},
	}
	c.same, c.placeholder = c.sameCall, c.now.placeholder // once, not for each conversation
	return c
}

// renew throws away what the checker keeps between rows, because a panic may have left it half
// written.
func (c *checker) renew() {
	was := *c
	*c = *newChecker(was.src, was.opts)
	c.report, c.ctx, c.left, c.err, c.units, c.then = was.report, was.ctx, was.left, was.err, was.units, was.then
	c.report.Findings, c.report.Rest = Findings{}, nil
	if was.part != nil {
		c.part = &rowPart{}
	}
	c.firstDial, c.dials = c.report.File.Conversations, nil
	c.same, c.placeholder = c.sameCall, c.now.placeholder
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
	var add func(source.Record) // to the log
	var look func(source.Record)
	if c.round != nil || c.units != nil {
		look = func(rec source.Record) {
			if add != nil {
				add(rec)
			}
			if c.units != nil {
				c.units.begin(c, rec)
			}
		}
	}
	reading := container.Open(c.src, detect.Options{Dialects: c.opts.Dialects, Dialect: c.opts.Dialect, Request: c.opts.Request}, look)
	file := reading.File
	c.report.File = file
	if c.round != nil && c.round.first { // later rounds mostly have nothing left to repair
		if log := c.logOf(file); log != nil {
			if add = log.Read; reading.Follow(log.Format, log.Lenses(), log.Link) {
				add = log.Add
			}
		}
	}
	if c.keeps && (reading.InRows() || reading.InLog()) {
		c.reading = reading
		reading.Keep()
	}
	if c.recalls != nil {
		c.recalls(reading)
	}
	conversations := reading.Conversations
	if c.then == nil && !c.inOrder && reading.SideBySide() && (c.units == nil || reading.InRows()) {
		conversations = func(yield func(*transcript.Conversation, error) bool) {
			if err := c.sideBySide(reading); err != nil {
				yield(nil, err)
			}
		}
	}
	for conv, err := range conversations {
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
	if c.units != nil {
		return c.report, c.units.end(c)
	}
	return c.report, c.finish(file)
}

// next checks the next conversation, or takes the error of reading it. That of a row is one of its unit.
func (c *checker) next(conv *transcript.Conversation, err error) error {
	var lost *container.RecordError
	switch {
	case c.units != nil && c.units.started && errors.As(err, &lost):
		c.units.lose(c, lost)
	case err != nil:
		return err
	case c.units != nil:
		c.units.check(c, conv)
	default:
		c.conversation(conv)
	}
	return cmp.Or(c.ctx.Err(), c.err)
}

// clean reports whether nothing was found so far, in conversations or in the file.
func (c *checker) clean() bool {
	f := c.report.File
	return len(f.Faults)+len(f.Broken)+len(f.Keys)+len(f.Links)+len(c.found.list) == 0
}

// finish checks the file as a whole and resolves the findings.
func (c *checker) finish(file *container.File) error {
	c.file(file)
	slices.SortStableFunc(c.report.Rest, byKind)
	if err := cmp.Or(c.err, c.src.Unchanged()); err != nil {
		return err
	}
	// A repair reports the findings before the first round and after the last one.
	switch last := c.round == nil || len(c.round.repairs) == 0; {
	case !last && c.round.first && c.round.opts.CountBefore && file.CheckOnly == "":
		c.countFindings()
	case last || c.round.first:
		return c.place(c.opts.Excerpts) // the former are left if the file is not written
	}
	return nil
}

// rules returns the rules to run; a repair runs all of them, because its proof needs them.
func (c *checker) rules() []*rules.Rule {
	if c.round != nil {
		return rules.All()
	}
	return c.opts.Rules
}

// text returns the text of a span. A source that fails ends the check. Once the check has
// ended, all texts are empty, so that a rule has nothing left to do.
func (c *checker) text(s source.Span) string { return string(c.bytes(s)) }

// bytes returns the bytes of a span. They are valid until the next call.
func (c *checker) bytes(s source.Span) []byte {
	if !c.goesOn(workOfValue + s.Len()) {
		return nil
	}
	if c.unfolded != nil {
		return c.unfolded.Bytes(s)
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
	if c.unfolded != nil {
		return source.NewValue(c.unfolded.Bytes(s), s.Start)
	}
	v, err := c.src.Value(s)
	if err != nil && c.err == nil {
		c.err = err
	}
	return v
}

func (c *checker) conversation(conv *transcript.Conversation) {
	if c.units != nil {
		c.units.conversation(conv)
	}
	c.dials = append(c.dials, conv.Dialect)
	if c.reading != nil {
		c.rowOf = append(c.rowOf, int32(c.report.File.Records))
	}
	c.unfolded = conv.Unfolded
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
	now.c, now.dialect, now.paths = c, d, d.Members
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
	c.unrepaired = d.CheckOnly != "" || conv.Unfolded != nil && !conv.Unfolded.Editable()
	work := workOfValue * int64(1+len(conv.Messages)+len(conv.Blocks)+len(conv.Calls)+len(conv.Results))
	for _, r := range c.rules() {
		if c.goesOn(work) {
			rc.Run(r)
		}
	}
	if c.unrepaired {
		c.withhold(d.CheckOnly)
	}
	c.unrepaired = false
	if conv.Enveloped && conv.Unfolded == nil {
		plan.Log = c.log(d, conv)
	}
	var able *fixes
	if c.err == nil {
		able, c.err = c.offer(plan)
	}
	if c.err == nil && c.then != nil {
		c.err = c.then(plan, able)
	}
	c.offers.open, c.current = nil, len(c.found.list)
	c.unfolded, c.now = nil, looker{}
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
		c.logs[at].Trial = c.round == nil && !c.opts.Edits
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

// sameCall reports whether two calls with one id are copies of each other. If a call has no
// field of its own for its arguments, the whole call is compared.
func (c *checker) sameCall(a, b int) bool {
	conv := c.now.context.Conversation
	x, y := &conv.Calls[a], &conv.Calls[b]
	if x.Kind != y.Kind {
		return false
	}
	if x.Args.IsZero() && y.Args.IsZero() {
		return c.text(conv.Blocks[x.Block].Span) == c.text(conv.Blocks[y.Block].Span)
	}
	return x.Name.Raw == y.Name.Raw && x.Args.Len() == y.Args.Len() && c.text(x.Args) == c.text(y.Args)
}

func (c *checker) file(file *container.File) {
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
	for _, r := range c.rules() {
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
	if c.err == nil && c.round != nil {
		c.err = c.round.file(c, c.offered())
	}
	c.offers.open = nil
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
	if c.round != nil {
		c.round.emits(f)
		if !slices.Contains(c.opts.Rules, f.Rule) {
			return
		}
	}
	if s, set := c.opts.Severity[f.Rule.Name]; set {
		f.Severity = s
	}
	if f.Severity == rules.Off || c.opts.Ignore != nil && c.opts.Ignore(f) {
		return
	}
	if c.part != nil {
		c.part.kind = findingKind{}
	}
	if c.counted(f) {
		return
	}
	out := Finding{Index: -1}
	if now := &c.now.context; now.Conversation != nil && f.Conversation >= 0 {
		out.Index, out.Place = now.Place(f.Span)
	}
	if c.unfolded != nil {
		if c.unfolded.Packed(f.Span) {
			f.Message += inBase64(c.unfolded.Bytes(f.Span))
		}
		f.Span = c.unfolded.Origin(f.Span)
		f.Related = slices.Clone(f.Related)
		for i := range f.Related {
			f.Related[i].Span = c.unfolded.Origin(f.Related[i].Span)
		}
	}
	if c.part != nil {
		c.part.kinds = append(c.part.kinds, c.part.kind)
	}
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
