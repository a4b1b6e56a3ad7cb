package engine

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/toolguard/toolguard/internal/container"
	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/repair"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// maxRounds is the maximum number of rounds of repairs. Repairs still pending after that are
// reported.
const maxRounds = 10

// FixOptions are the options of a repair.
type FixOptions struct {
	Options
	SafeOnly bool
	Unsafe   bool
	// AnyClass are the rules whose repairs are allowed whatever their class is.
	AnyClass map[string]bool
	// Keep excepts from AnyClass the repairs that remove recorded content.
	Keep bool
	// ProveFull proves a repair by a second check of the whole result, however large that is.
	ProveFull bool
	// CountBefore says that of the findings before a repair it is enough to know how many there are of each
	// kind. There may be as many as repairs.
	CountBefore bool

	probe *probe // of a test
}

// Allows reports whether the repair of a finding may be carried out.
func (o *FixOptions) Allows(f *Finding) bool { return o.allows(&f.Finding) }

// allows reports whether the repair of a finding may be carried out.
func (o *FixOptions) allows(f *rules.Finding) bool { return o.grants(f.Fix, f.Rule, f.Severity) }

// grants reports whether the repair that a finding of a rule requests may be carried out.
func (o *FixOptions) grants(op *operation.Operation, r *rules.Rule, s rules.Severity) bool {
	if op == nil || op.ByStrategy {
		return false
	}
	return o.asked(r, s) && o.covers(r, op.Class)
}

// covers reports whether repairs of a rule and a class are allowed.
func (o *FixOptions) covers(r *rules.Rule, c operation.Class) bool {
	if r.OnDemand != nil {
		return o.demands(r)
	}
	return o.AnyClass[r.Name] || c == operation.Safe || c == operation.Additive && !o.SafeOnly || c == operation.Unsafe && o.Unsafe
}

// loses reports whether the fix of some wishes removes content that must stay. Texts hold all of
// what they replace, but not as leaves of their own.
func (o *FixOptions) loses(fix *edit.Fix, wishes ...wish) bool {
	return o.Keep && !o.Unsafe && fix.Drops > 0 && slices.ContainsFunc(wishes, func(w wish) bool {
		_, text := w.Do.(*operation.Texts)
		return !text && w.rule.OnDemand == nil
	})
}

// A Repair is one operation that was carried out.
type Repair struct {
	Rule  string
	Kind  operation.Kind
	Class operation.Class
	Title string
	// Results is the number of results it concerned.
	Results int
	// Recorded is the number of inserted results that another record repeats.
	Recorded int
	// Dropped are the elements from which it removed something, or the parts of them that
	// were in the original, as spans of the original. If a rule asked for several repairs
	// that are one fix, the first of them has the elements of all.
	Dropped []source.Span
	// Removed is how many elements it drops, and Copy says that each of them is the
	// same as another one.
	Removed int
	Copy    bool
	// Fix is the index in Fixed.Places of the fix that the operation is part of.
	Fix int
}

// Fixed is a source before and after its repair.
type Fixed struct {
	Before, After *Report
	// Pieces is the repaired source; nil if there was nothing to repair.
	Pieces  *edit.Pieces
	Repairs []Repair
	Rounds  int
	// Places are the parts of the original that each fix changes.
	Places [][]source.Span

	has facts // of the repaired source
}

// NewResults returns the spans of results in the repaired source that are new or inside new
// text, in order. Each span reaches from the start of the result to the start of its payload.
func (f *Fixed) NewResults() []source.Span {
	var out []source.Span
	for _, r := range f.has.list {
		if r.payload.IsZero() {
			continue
		}
		s := source.Span{Start: r.payload.Start - int64(r.lead), End: r.payload.Start}
		if _, there := f.Pieces.Original(s); !there {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, bySpan)
	return out
}

// Unrepaired returns the result if the repair is not made: the file is as it was before.
func (f *Fixed) Unrepaired() *Fixed { return &Fixed{Before: f.Before, After: f.Before} }

// Changed reports whether anything was repaired.
func (f *Fixed) Changed() bool { return f.Pieces != nil }

// Edits returns the edits of all rounds, as edits of the original, in order.
func (f *Fixed) Edits() []edit.Edit {
	if f.Pieces == nil {
		return nil
	}
	return f.Pieces.Edits()
}

// A ProofError says that a repair or a cut failed its proof, so nothing may be written.
type ProofError struct {
	// Reason says what the repair or the cut would do, as a verb phrase.
	Reason string
	// Cut says that it is a cut.
	Cut bool
	// at are the conversations in which the proof failed; nil means any.
	at map[int]bool
}

// Error implements error.
func (e *ProofError) Error() string {
	if e.Cut {
		return "not trimmed: the cut would " + e.Reason
	}
	return "not repaired: the repair would " + e.Reason
}

// A CheckOnlyError says that a file needs repairs, but is of a kind that toolguard does not
// repair.
type CheckOnlyError struct{ Reason string }

// Error implements error.
func (e *CheckOnlyError) Error() string { return "is only checked: " + e.Reason }

// Settle repairs a source. It makes the allowed fixes, each whole or not at all, checks again
// until nothing is left to do, and proves that nothing was lost. If the proof fails, Settle
// withholds the repairs that break it. Settle does not write. With a ProofError or a
// CheckOnlyError it returns the file as it is, unrepaired.
func Settle(ctx context.Context, src *source.Source, opts FixOptions) (*Fixed, error) {
	f, err := settle(ctx, src, opts, maxRounds)
	if f == nil || f.Changed() || !f.Before.Findings.counted {
		return f, err
	}
	opts.CountBefore = false // the findings are those that remain
	return settle(ctx, src, opts, maxRounds)
}

// settle repairs a source. Then it repairs the result, in which withheld repairs may be
// possible, at most often times.
func settle(ctx context.Context, src *source.Source, opts FixOptions, often int) (*Fixed, error) {
	s := &settler{opts: opts}
	f, err := s.run(ctx, src)
	if !errors.As(err, new(*ProofError)) || often == 0 {
		return f, err
	}
	unrepaired := f
	if f, err = s.withhold(ctx, src, err); err != nil || !f.Changed() {
		return cmp.Or(f, unrepaired), err
	}
	more, err := settle(ctx, f.Pieces.Source(), opts, often-1)
	if err != nil {
		return f.Unrepaired(), err
	}
	return f, f.join(more)
}

// join adds the repair of the result.
func (f *Fixed) join(more *Fixed) (err error) {
	f.After, f.has = more.After, more.has
	if !more.Changed() {
		return nil
	}
	if err = f.add(more.Repairs, more.Places); err != nil {
		return err
	}
	f.Rounds += more.Rounds
	if f.Pieces, err = f.Pieces.Apply(more.Pieces.Edits()); err == nil && !f.Pieces.Changed() {
		f.Pieces, f.Repairs, f.Places, f.Rounds = nil, nil, nil, 0
	}
	return err
}

// add adds repairs of the source as it is edited so far, and what their fixes change.
func (f *Fixed) add(repairs []Repair, places [][]source.Span) error {
	if err := trace(f.Pieces, repairs); err != nil {
		return err
	}
	for i := range repairs {
		repairs[i].Fix += len(f.Places)
	}
	for _, list := range places {
		for i := range list {
			list[i] = f.Pieces.Around(list[i])
		}
	}
	f.Repairs, f.Places = append(f.Repairs, repairs...), append(f.Places, places...)
	return nil
}

// trace has repairs of an edited source say where in the original stood what they take
// something out of.
func trace(p *edit.Pieces, repairs []Repair) error {
	dropped := make([][]source.Span, len(repairs))
	for i := range repairs {
		dropped[i] = repairs[i].Dropped
	}
	dropped, err := p.Origins(dropped)
	for i := range dropped {
		repairs[i].Dropped = dropped[i]
	}
	return err
}

// anyConversation stands for every conversation, if they cannot be matched.
const anyConversation = -2

// A ruleIn is a rule in one conversation, -1 for the file.
type ruleIn struct {
	conversation int
	rule         *rules.Rule
}

// A settler is one run through the rounds.
type settler struct {
	opts FixOptions
	held map[ruleIn]string // the withheld repairs, and why
	did  map[ruleIn]bool   // the rules that made repairs
}

// withhold looks for a subset of the repairs that can be proved. It leaves out the repairs
// where the proof failed, and then allows one rule after another again as long as the proof
// holds.
func (s *settler) withhold(ctx context.Context, src *source.Source, unproved error) (*Fixed, error) {
	var f *Fixed
	held := map[ruleIn]string{}
	for err := unproved; err != nil; {
		var proof *ProofError
		if !errors.As(err, &proof) {
			return nil, err
		}
		if !hold(held, s.did, proof) {
			return nil, unproved
		}
		s = &settler{opts: s.opts, held: held}
		f, err = s.run(ctx, src)
	}
	for _, r := range rules.All() {
		fewer := maps.Clone(held)
		maps.DeleteFunc(fewer, func(d ruleIn, _ string) bool { return d.rule == r })
		if len(fewer) == len(held) {
			continue
		}
		more := &settler{opts: s.opts, held: fewer}
		switch g, err := more.run(ctx, src); {
		case err == nil:
			f, held = g, fewer
		case ctx.Err() != nil:
			return nil, err
		}
	}
	return f, nil
}

// hold withholds the repairs of the conversations where a proof failed, or all repairs if
// those were already withheld. It reports whether there was anything left to withhold.
func hold(held map[ruleIn]string, did map[ruleIn]bool, proof *ProofError) bool {
	n := len(held)
	for d := range did {
		if proof.at[d.conversation] {
			held[d] = proof.Reason
		}
	}
	if len(held) > n {
		return true
	}
	for d := range did {
		held[ruleIn{anyConversation, d.rule}] = proof.Reason
	}
	return len(held) > n
}

// run goes through the rounds.
func (s *settler) run(ctx context.Context, src *source.Source) (*Fixed, error) {
	s.did = map[ruleIn]bool{}
	out := &Fixed{Pieces: edit.NewPieces(src)}
	var first, last *round
	waived := map[edit.Sum]bool{}
	opts := s.opts.Options
	opts.Edits = false     // the edits of each repair alone
	var prev *roundChecker // of the previous round, if its check is kept
	var edits []edit.Edit
	for n := 0; ; n++ {
		now := src
		if n > 0 {
			now = out.Pieces.Source()
		}
		begin := func() *roundChecker {
			c := newRoundChecker(now, opts, &round{settler: s, first: n == 0, last: n == maxRounds, waived: waived, facts: facts{src: now}})
			c.keeps = s.opts.keeps(now)
			return c
		}
		c := begin()
		var rep *Report
		var err error
		if prev != nil {
			did := maps.Clone(s.did)
			if rep, err = c.again(ctx, prev, edits); rep == nil && err == nil {
				s.did = did
				c = begin()
			}
			prev = nil
		}
		if rep == nil && err == nil {
			rep, err = c.run(ctx)
		}
		if err != nil {
			return nil, err
		}
		r := c.round
		if first == nil {
			first, out.Before = r, rep
		} else if was := first.reads(out.Before); opts.Dialect == nil && r.reads(rep) != was && !first.mixed {
			// A repair changed what identified the dialect. The dialect itself did not
			// change.
			if opts.Dialect = opts.Dialects.ByName(was); opts.Dialect != nil {
				n--
				continue
			}
		}
		last, out.After = r, rep
		if rep.File.CheckOnly != "" && anyOf(&rep.Findings, s.stops) {
			return out.Unrepaired(), &CheckOnlyError{rep.File.CheckOnly}
		}
		if rep.Skipped != "" || len(r.repairs) == 0 {
			break
		}
		if sure := out.Before.File.Marked || s.opts.Dialect != nil || s.opts.Target != nil || first.named; !sure && !r.bytes {
			return out.Unrepaired(), &CheckOnlyError{"it could be in another format than " + r.reads(rep) + "; name its format to repair it"}
		}
		if err := r.set.Prove(now); err != nil {
			var unbalanced *edit.BalanceError
			if errors.As(err, &unbalanced) {
				return out.Unrepaired(), &ProofError{Reason: unbalanced.Error()}
			}
			return nil, err
		}
		if err := r.facts.waive(r.touched, r.waived); err != nil {
			return nil, err
		}
		if err := out.add(r.repairs, r.places); err != nil {
			return nil, err
		}
		if out.Pieces, err = out.Pieces.Apply(r.set.Edits()); err != nil {
			return nil, err
		}
		out.Rounds = n + 1
		if c.reading != nil && !r.bytes { // otherwise repairs of conversations wait for the next round
			prev, edits = c, r.set.Edits()
			clear(prev.logs) // the fixes are made
		}
		r.set, r.repairs, r.places, r.touched = edit.Set{}, nil, nil, nil // they are of no use for the proof
	}
	out.has = last.facts
	if !out.Pieces.Changed() { // nothing was done, or undone again
		out.Pieces, out.Repairs, out.Places, out.Rounds = nil, nil, nil, 0
		return out, nil
	}
	err := prove(out, first, last)
	if err == nil && opts.Dialect != s.opts.Dialect {
		err = s.readsAlike(ctx, out, opts.Dialect.Name)
	}
	if err != nil {
		return out.Unrepaired(), err
	}
	return out, nil
}

// readsAlike proves that a reader who does not know the dialect finds nothing to repair in
// the result either.
func (s *settler) readsAlike(ctx context.Context, out *Fixed, dialect string) error {
	rep, err := Check(ctx, out.Pieces.Source(), s.opts.Options)
	if err != nil {
		return err
	}
	if anyOf(&rep.Findings, func(f *Finding) bool { return s.opts.allows(&f.Finding) }) {
		return &ProofError{Reason: "remove what shows that the format is " + dialect + ", unless the format is given"}
	}
	return nil
}

// stops reports whether a finding shows that a file needs repairs although it is only
// checked.
func (s *settler) stops(f *Finding) bool {
	held := f.Finding
	held.Fix = f.withheld
	return f.Severity == rules.Error || s.opts.allows(&held)
}

// anyOf reports whether holds is true of a finding.
func anyOf(fs *Findings, holds func(*Finding) bool) bool {
	for f := range fs.All() {
		if holds(f) {
			return true
		}
	}
	return false
}

// A roundChecker is the check of a round, and its mode.
type roundChecker struct {
	proving
	round *round
	// keeps is set if the next round may take from this check what its edits do not touch. Then
	// reading is that of the source, if it has rows or is a log, and rowOf are the records of the
	// conversations. recalls lets the reading of a log take records from an earlier one; nil for none.
	keeps   bool
	reading *container.Reading
	rowOf   []int32
	recalls func(*container.Reading)
}

func newRoundChecker(src *source.Source, opts Options, r *round) *roundChecker {
	r.totals = newTotals()
	c := &roundChecker{proving: proving{checking{newChecker(src, opts)}, &r.totals}, round: r}
	c.mode = c
	return c
}

// Open implements mode.
func (c *roundChecker) Open(r *container.Reading) iter.Seq2[*transcript.Conversation, error] {
	if c.round.first { // later rounds mostly have nothing left to repair
		if log := c.logOf(r.File); log != nil {
			if r.Look(log.Read); r.Follow(log.Format, log.Lenses(), log.Link) {
				r.Look(log.Add)
			}
		}
	}
	if c.keeps && (r.InRows() || r.InLog()) {
		c.reading = r
		r.Keep()
	}
	if c.recalls != nil {
		c.recalls(r)
	}
	return r.Conversations
}

// Conversation implements mode. It takes the fixes that the findings request. Operations on the results of one
// turn become one fix if possible.
func (c *roundChecker) Conversation(conv *transcript.Conversation, err error) error {
	if c.reading != nil {
		c.rowOf = append(c.rowOf, int32(c.report.File.Records))
	}
	if err = c.checking.Conversation(conv, err); err != nil {
		return err
	}
	r, plan := c.round, &c.now.plan
	r.facts.add(plan)
	r.named = r.named || c.now.context.Named
	r.mixed = r.mixed || r.spoken != "" && r.spoken != conv.Dialect ||
		slices.ContainsFunc(conv.Messages, func(m transcript.Message) bool { return m.Has(transcript.MessageForeign) })
	r.spoken = conv.Dialect
	wishes := r.wishes(c.offered())
	if len(wishes) == 0 {
		return nil
	}
	r.repairs, r.places = slices.Grow(r.repairs, len(wishes)), slices.Grow(r.places, len(wishes))
	turns := map[int32][]wish{} // but the first of each turn
	first := make(map[int32]bool, len(wishes))
	for _, w := range wishes {
		if turn := plan.LaidOut(w.Operation); turn >= 0 {
			if first[turn] {
				turns[turn] = append(turns[turn], w)
			}
			first[turn] = true
		}
	}
	for i, w := range wishes {
		if !c.goesOn(workOfFinding) {
			return c.err
		}
		turn, together := plan.LaidOut(w.Operation), wishes[i:i+1:i+1]
		if turn >= 0 {
			if !first[turn] {
				continue // carried out with the first
			}
			first[turn] = false
			together = append(together, turns[turn]...)
		}
		if err := r.lay(c.checker, turn, together); err != nil {
			return err
		}
	}
	return nil
}

// End implements mode.
func (c *roundChecker) End() error {
	if c.file(); c.err == nil {
		c.err = c.round.file(c.checker, c.offered())
	}
	if err := c.finish(); err != nil {
		return err
	}
	// A repair reports the findings before the first round and after the last one.
	switch last := len(c.round.repairs) == 0; {
	case !last && c.round.first && c.round.opts.CountBefore && c.report.File.CheckOnly == "":
		c.countFindings()
	case last || c.round.first:
		return c.place(c.src.Size(), c.keeps) // the former are left if the file is not written
	}
	return nil
}

// Emits implements mode.
func (c *roundChecker) Emits(f *rules.Finding) bool {
	asked := c.proving.Emits(f)
	c.round.holds(f)
	return asked
}

// Needs implements mode. A finding is kept if it is repaired, or shows that the file needs repairs.
func (c *roundChecker) Needs(f *rules.Finding) bool { return c.round.opts.allows(f) }

// Repairs implements mode.
func (*roundChecker) Repairs() bool { return true }

// A round chooses fixes while its check goes on.
type round struct {
	*settler
	first, last bool
	bytes       bool // the repairs are about bytes, whatever they mean
	named       bool // a request names its API
	set         edit.Set
	repairs     []Repair
	places      [][]source.Span // that each fix changes
	totals
	facts   facts
	spoken  string            // the dialect of the conversations
	mixed   bool              // they are in more than one dialect
	touched []source.Span     // by unsafe fixes
	waived  map[edit.Sum]bool // facts that unsafe repairs change
}

// reads returns the dialect in which a source is read. The conversations of a file may be in another
// dialect than the one that the file shows, so theirs counts.
func (r *round) reads(rep *Report) string { return cmp.Or(r.spoken, rep.File.Dialect) }

// unproved begins what is said of a finding whose repair failed its proof.
const unproved = "not applied, because it would "

// Unproved reports whether a repair of the finding failed its proof.
func (f *Finding) Unproved() bool { return strings.HasPrefix(f.Unfixed, unproved) }

// holds removes a repair that is withheld from its finding.
func (r *round) holds(f *rules.Finding) {
	why := cmp.Or(r.held[ruleIn{f.Conversation, f.Rule}], r.held[ruleIn{anyConversation, f.Rule}])
	if why != "" && f.Fix != nil {
		f.Fix, f.Unfixed = nil, unproved+why
		if r.opts.demands(f.Rule) {
			f.Severity = rules.Error // the user asked for it
		}
	}
}

// A wish is an operation that may be carried out, with the parts of its finding that are
// needed for it. There may be very many wishes, so it does not hold the whole finding.
type wish struct {
	*operation.Operation
	rule         *rules.Rule
	severity     rules.Severity
	record       int32
	conversation int
	span         source.Span
}

// wishes returns the operations that may be carried out, in the order in which overlapping
// ones are made. If several findings share one operation, the first finding counts.
func (r *round) wishes(found iter.Seq[wish]) []wish {
	if r.last {
		return nil
	}
	var out []wish
	var seen map[int32]bool // by number; most operations are requested once
	last := int32(0)
	for w := range found {
		if w.ID == last || !r.opts.grants(w.Operation, w.rule, w.severity) || seen[w.ID] {
			continue
		}
		if last = w.ID; seen == nil {
			seen = map[int32]bool{}
		}
		seen[last] = true
		out = append(out, w)
	}
	sort.SliceStable(out, func(i, j int) bool { return repair.Before(out[i].Operation, out[j].Operation) < 0 })
	return out
}

// lay takes the joint fix of several operations on one turn, unless it has a higher class
// than each of them. Otherwise it takes the fix of each operation.
func (r *round) lay(c *checker, turn int32, wishes []wish) error {
	plan := &c.now.plan
	if len(wishes) > 1 {
		ops := make([]*operation.Operation, len(wishes))
		most := operation.Safe
		for i, w := range wishes {
			ops[i], most = w.Operation, max(most, w.Class)
		}
		fix, ok, err := plan.Lay(turn, ops)
		if ok = ok && repair.ClassOf(&fix) <= most; ok && err == nil {
			ok, err = r.take(c, &fix, wishes...)
		}
		if ok || err != nil {
			return err
		}
	}
	for _, w := range wishes {
		fix := c.now.able.take(w.Operation)
		if len(fix.Edits) == 0 { // not compiled yet
			var ok bool
			var err error
			if fix, ok, err = plan.Compile(w.Operation); err != nil {
				return err
			}
			if !ok {
				continue
			}
		}
		if _, err := r.take(c, &fix, w); err != nil {
			return err
		}
	}
	return nil
}

// take takes the fix of some wishes, and reports whether it is allowed. A fix that overlaps
// another waits for the next round.
func (r *round) take(c *checker, fix *edit.Fix, wishes ...wish) (bool, error) {
	able, err := r.able(c, fix, wishes)
	if able && r.set.Try(*fix) {
		r.done(fix, wishes...)
	}
	return able, err
}

// able reports whether the class of a fix is allowed for one of its wishes, and the fix does
// what it says.
func (r *round) able(c *checker, fix *edit.Fix, wishes []wish) (bool, error) {
	class := repair.ClassOf(fix)
	if r.opts.loses(fix, wishes...) || !slices.ContainsFunc(wishes, func(w wish) bool { return r.opts.covers(w.rule, class) }) {
		return false, nil
	}
	err := r.set.ProveAlone(fix, c.src)
	if errors.As(err, new(*edit.BalanceError)) {
		return false, nil
	}
	return err == nil, err
}

// done notes that the operations that wishes ask for are carried out by a fix. A fix may carry
// out thousands of operations, so its spans are noted once, and not for each of them.
func (r *round) done(fix *edit.Fix, wishes ...wish) {
	most := repair.ClassOf(fix)
	for i, w := range wishes {
		class := max(w.Class, repair.ClassOf(fix))
		most = max(most, class)
		r.did[ruleIn{w.conversation, w.rule}] = true
		n := repair.CountOf(w.Operation)
		var dropped []source.Span
		if len(fix.Gone) > 0 && !slices.ContainsFunc(wishes[:i], func(o wish) bool { return o.rule == w.rule }) {
			dropped = slices.Clone(fix.Gone)
		}
		r.repairs = append(r.repairs, Repair{
			Rule: w.rule.Name, Kind: w.Do.Kind(), Class: class, Title: w.Title, Results: n.Results, Recorded: n.Recorded,
			Dropped: dropped, Removed: n.Removed, Copy: n.Copy, Fix: len(r.places),
		})
	}
	places := make([]source.Span, len(fix.Edits))
	for i, e := range fix.Edits {
		places[i] = e.Span
	}
	if most == operation.Unsafe {
		r.touched = append(append(append(r.touched, places...), fix.Reads...), fix.Gone...)
	}
	r.places = append(r.places, places)
}

// file takes the fixes that the findings about the file request. While the bytes of records
// change, conversations are left alone.
func (r *round) file(c *checker, found iter.Seq[wish]) error {
	wishes := r.wishes(found)
	onLinks := func(w wish) bool { return w.rule.Category == rules.Links }
	onBytes := slices.DeleteFunc(slices.Clone(wishes), onLinks)
	if checkOnly := c.report.File.CheckOnly != ""; checkOnly || len(onBytes) > 0 {
		wishes = onBytes
		r.set, r.repairs, r.places, r.bytes = edit.Set{}, nil, nil, true
		clear(r.did)
	}
	for _, w := range wishes {
		if !c.goesOn(workOfFinding) {
			return c.err
		}
		fix, ok, err := c.onFile(w)
		if err != nil {
			return err
		}
		if ok && !r.opts.loses(&fix, w) && r.opts.covers(w.rule, max(w.Class, repair.ClassOf(&fix))) && r.set.Try(fix) {
			r.done(&fix, w)
		}
	}
	return nil
}
