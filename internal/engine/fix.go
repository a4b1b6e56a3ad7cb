package engine

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/toolguard/toolguard/internal/edit"

	"github.com/toolguard/toolguard/internal/detect"
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/repair"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/transcript"
)

// maxRounds is how often a source is repaired and looked at again before it
// counts as one that does not settle.
const maxRounds = 10

// FixOptions are what a user lets a repair do.
type FixOptions struct {
	Options
	SafeOnly bool
	Unsafe   bool
	// Placeholder is the text of inserted results; "" means the usual one.
	Placeholder string
	// Explicit are the rules that were selected by name: their infos are
	// repaired too.
	Explicit map[string]bool
}

// allows reports whether an operation may be carried out for a finding.
func (o *FixOptions) allows(f *rules.Finding) bool {
	op := f.Fix
	if op == nil || op.ByStrategy && !(len(f.Rule.Strategies) == 0 && o.Explicit[f.Rule.Name]) {
		return false
	}
	if f.Severity < rules.Warning && !o.Explicit[f.Rule.Name] && o.Strategy[f.Rule.Name] == "" {
		return false
	}
	switch op.Class {
	case operation.Safe:
		return true
	case operation.Additive:
		return !o.SafeOnly
	}
	return o.Unsafe
}

// A Repair is one operation that was carried out.
type Repair struct {
	Rule  string
	Kind  operation.Kind
	Class operation.Class
	Title string
	// Results is how many results it concerned.
	Results int
	// Dropped are the payloads that it dropped, where they stood in the
	// original.
	Dropped []transcript.Span
}

// Fixed is a source as it was and as it is to be.
type Fixed struct {
	Before, After *Report
	// Pieces is the repaired source; nil when there was nothing to repair.
	Pieces  *edit.Pieces
	Repairs []Repair
	Rounds  int

	has payloads // of the repaired source
}

// NewResults returns where results are, in the repaired source, that are new
// there or stand in new text: from where each begins to where what it says does.
// They are in order.
func (f *Fixed) NewResults() []transcript.Span {
	var out []transcript.Span
	for _, r := range f.has.list {
		s := transcript.Span{Start: r.at.Start - int64(r.lead), End: r.at.Start}
		if _, there := f.Pieces.Original(s); !there {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, bySpan)
	return out
}

// Changed reports whether anything was repaired.
func (f *Fixed) Changed() bool { return f.Pieces != nil }

// A ProofError says that a repair did not stand up to its proof, so that
// nothing may be written.
type ProofError struct {
	Reason string
	// at are the conversations in which it failed; nil means any.
	at map[int]bool
}

// Error implements error.
func (e *ProofError) Error() string { return "not repaired: " + e.Reason }

// A CheckOnlyError says that there is something to repair in a file of a kind
// that is not repaired.
type CheckOnlyError struct{ Reason string }

// Error implements error.
func (e *CheckOnlyError) Error() string { return "is only checked: " + e.Reason }

// Fix repairs a source: it applies the operations that are allowed, looks
// again until nothing is left to do, and proves that nothing was lost. Where
// that cannot be proved, what breaks the proof is withheld. It does not write.
func Fix(ctx context.Context, src *transcript.Source, opts FixOptions) (*Fixed, error) {
	return fix(ctx, src, opts, maxRounds)
}

// fix repairs a source. What was withheld may be possible in the result, which
// is looked at again, so often at most.
func fix(ctx context.Context, src *transcript.Source, opts FixOptions, often int) (*Fixed, error) {
	a := &attempt{opts: opts}
	f, err := a.run(ctx, src)
	if _, unproved := errors.AsType[*ProofError](err); !unproved {
		return f, err
	}
	if often == 0 {
		return nil, err
	}
	if f, err = a.withhold(ctx, src, err); err != nil || !f.Changed() {
		return f, err
	}
	more, err := fix(ctx, f.Pieces.Source(), opts, often-1)
	if err != nil {
		return nil, err
	}
	return f, f.join(more)
}

// join adds the repair of the result.
func (f *Fixed) join(more *Fixed) error {
	f.After, f.has = more.After, more.has
	if !more.Changed() {
		return nil
	}
	for _, r := range more.Repairs {
		for i, s := range r.Dropped {
			r.Dropped[i], _ = f.Pieces.Original(s)
		}
		f.Repairs = append(f.Repairs, r)
	}
	f.Rounds += more.Rounds
	var err error
	if f.Pieces, err = f.Pieces.Apply(more.Pieces.Edits()); err != nil {
		return err
	}
	if len(f.Pieces.Edits()) == 0 {
		f.Pieces, f.Repairs, f.Rounds = nil, nil, 0
	}
	return nil
}

// anyConversation stands for each of them where they cannot be told apart.
const anyConversation = -2

// A deed is what a rule had done to a conversation, -1 for the file.
type deed struct {
	conversation int
	rule         string
}

// An attempt is one way through the rounds.
type attempt struct {
	opts FixOptions
	held map[deed]string // what is withheld, and why
	did  map[deed]bool
}

// why says why the repair of a finding is withheld, "" where it is not.
func (a *attempt) why(f *rules.Finding) string {
	return cmp.Or(a.held[deed{f.Conversation, f.Rule.Name}], a.held[deed{anyConversation, f.Rule.Name}])
}

// withhold looks for what can be proved when all together cannot: it leaves out
// what was done where the proof failed, and lets one rule after another have
// its way again as long as the proof stands.
func (a *attempt) withhold(ctx context.Context, src *transcript.Source, unproved error) (*Fixed, error) {
	var f *Fixed
	held := map[deed]string{}
	for err := unproved; err != nil; {
		proof, ok := errors.AsType[*ProofError](err)
		if !ok {
			return nil, err
		}
		if n := len(held); proof.at != nil {
			for d := range a.did {
				if proof.at[d.conversation] {
					held[d] = proof.Reason
				}
			}
			if len(held) == n {
				proof.at = nil // something was done elsewhere
			}
		}
		if n := len(held); proof.at == nil {
			for d := range a.did {
				held[deed{anyConversation, d.rule}] = proof.Reason
			}
			if len(held) == n {
				return nil, unproved
			}
		}
		a = &attempt{opts: a.opts, held: held}
		f, err = a.run(ctx, src)
	}
	for _, r := range rules.All() {
		fewer := maps.Clone(held)
		maps.DeleteFunc(fewer, func(d deed, _ string) bool { return d.rule == r.Name })
		if len(fewer) == len(held) {
			continue
		}
		more := &attempt{opts: a.opts, held: fewer}
		switch g, err := more.run(ctx, src); {
		case err == nil:
			f, held = g, fewer
		case ctx.Err() != nil:
			return nil, err
		}
	}
	return f, nil
}

func (a *attempt) run(ctx context.Context, src *transcript.Source) (*Fixed, error) {
	opts := a.opts
	a.did = map[deed]bool{}
	out := &Fixed{}
	pieces := edit.NewPieces(src)
	now := src
	var had, has payloads // those of the original, and those that are there at last
	var named waiver
	moved := map[*transcript.Span]uint64{} // what was dropped and did not stand in the original as it was
	for round := 0; ; round++ {
		c := newChecker(now, opts.Options)
		c.fix = &fixer{attempt: a, first: round == 0, payloads: payloads{src: now}}
		rep, err := c.run(ctx)
		if err != nil {
			return nil, err
		}
		has = c.fix.payloads
		if round == 0 {
			out.Before, had = rep, has
		}
		out.After = rep
		wrong := slices.ContainsFunc(rep.Findings, func(f Finding) bool { return f.Severity == rules.Error })
		if rep.File.CheckOnly != "" && (wrong || c.fix.withheld) {
			return nil, &CheckOnlyError{rep.File.CheckOnly}
		}
		if rep.Skipped != "" || len(c.fix.edits) == 0 {
			break
		}
		if round == maxRounds {
			return nil, &ProofError{
				fmt.Sprintf("it did not settle in %d rounds; the last repair was to %s", maxRounds, c.fix.repairs[len(c.fix.repairs)-1].Title),
				c.fix.touched,
			}
		}
		for _, r := range c.fix.repairs {
			for i, s := range r.Dropped {
				var there bool
				if r.Dropped[i], there = whole(pieces, s); there {
					named.add(r.Class, r.Dropped[i])
					continue
				}
				h, err := payloadHash(now, s) // an earlier round has moved or changed it
				if err != nil {
					return nil, err
				}
				named.addHash(r.Class, h)
				moved[&r.Dropped[i]] = h
			}
		}
		out.Repairs = append(out.Repairs, c.fix.repairs...)
		if pieces, err = pieces.Apply(c.fix.edits); err != nil {
			return nil, err
		}
		now = pieces.Source()
		out.Rounds = round + 1
	}
	if out.Rounds == 0 {
		return out, nil
	}
	if !pieces.Changed() { // what was done was undone
		out.Repairs, out.Rounds = nil, 0
		return out, nil
	}
	out.Pieces = pieces
	out.has = has
	if err := prove(out, &had, &has, &named); err != nil {
		return nil, err
	}
	if len(moved) == 0 {
		return out, nil
	}
	were, err := had.hashes()
	if err != nil {
		return nil, err
	}
	for at, h := range moved {
		if r, there := were[h]; there {
			*at = r.at
		}
	}
	return out, nil
}

// whole returns where a span stood in the original, if it stood there as it is.
func whole(p *edit.Pieces, s transcript.Span) (transcript.Span, bool) {
	was, there := p.Original(s)
	return was, there && was.Len() == s.Len()
}

// shown reports whether what is found in this round is reported with all that
// there is to say of it: it is what is there at last.
func (x *fixer) shown() bool { return x == nil || len(x.edits) == 0 }

// passes reports whether what is found in this round is not reported at all: it
// is neither what was there at first nor what is there at last.
func (x *fixer) passes() bool { return !x.shown() && !x.first }

// A fixer collects the edits of one round.
type fixer struct {
	*attempt
	first   bool                            // of the rounds
	touched map[int]bool                    // conversations with edits in this round
	logs    map[transcript.Span]*repair.Log // by the list of records, which is zero for lines
	edits   []edit.Edit
	repairs []Repair
	// withheld is set when a repair that is allowed was asked for where
	// nothing is repaired.
	withheld bool
	payloads payloads
}

// done notes a repair.
func (x *fixer) done(conversation int, r Repair) {
	x.repairs = append(x.repairs, r)
	x.did[deed{conversation, r.Rule}] = true
	if x.touched == nil {
		x.touched = map[int]bool{}
	}
	x.touched[conversation] = true
}

// conversation compiles what the findings of a conversation ask for.
func (x *fixer) conversation(c *checker, conv *transcript.Conversation, pairs pairing.Pairing, prof *profile.Profile, found []Finding) error {
	x.payloads.add(conv)
	ops, rule := x.allowed(found)
	if len(ops) == 0 {
		return nil
	}
	plan := &repair.Plan{Source: c.src, Conv: conv, Dialect: c.opts.Dialects.ByName(conv.Dialect), Pairing: pairs, Profile: prof, Placeholder: x.opts.Placeholder}
	if conv.Enveloped {
		plan.Log = x.log(newLog(c.src, plan.Dialect, conv))
	}
	edits, done, err := plan.Compile(ops)
	if err != nil {
		return err
	}
	x.edits = append(x.edits, edits...)
	for _, d := range done {
		x.note(plan, d, rule[d.Operation])
	}
	return nil
}

// log returns the log of that list of records that is at work already, or else
// the given one.
func (x *fixer) log(fresh *repair.Log) *repair.Log {
	if x.logs == nil {
		x.logs = map[transcript.Span]*repair.Log{}
	}
	if x.logs[fresh.Array] == nil {
		x.logs[fresh.Array] = fresh
	}
	return x.logs[fresh.Array]
}

// onRecord reports whether the repair of a finding concerns a record as such,
// and not its bytes.
func onRecord(f *rules.Finding) bool { return f.Rule.Category == rules.Links }

// logAt returns the log in which a record stands, nil where it is not repaired.
func logAt(f *detect.File, record transcript.Span) *detect.LogList {
	for i := range f.Logs {
		if f.Logs[i].Array.Contains(record) {
			return &f.Logs[i]
		}
	}
	if f.Container == detect.ContainerLinkedLog || f.Container == detect.ContainerEventLog {
		return &detect.LogList{Dialect: f.Dialect}
	}
	return nil
}

// logOf returns a log without any changes, of the records among which one stands.
func (c *checker) logOf(record transcript.Span) *repair.Log {
	at := logAt(c.report.File, record)
	return repair.NewLog(c.src, c.opts.Dialects.ByName(at.Dialect).Log, at.Array)
}

// allowed returns the operations that may be carried out, each once, and the
// rule that asked for it.
func (x *fixer) allowed(found []Finding) ([]*operation.Operation, map[*operation.Operation]string) {
	var ops []*operation.Operation
	rule := map[*operation.Operation]string{}
	for i := range found {
		f := &found[i].Finding
		if !x.opts.allows(f) {
			continue
		}
		if _, seen := rule[f.Fix]; !seen {
			ops = append(ops, f.Fix)
			rule[f.Fix] = f.Rule.Name
		}
	}
	return ops, rule
}

// note records an operation that was carried out.
func (x *fixer) note(plan *repair.Plan, op repair.Done, rule string) {
	conv, pairs := plan.Conv, plan.Pairing
	r := Repair{Rule: rule, Kind: op.Kind, Class: op.Class, Title: op.Title, Results: op.N}
	var gone []int32
	switch op.Kind {
	case operation.DropResult, operation.TextResult:
		gone = op.Results
	case operation.DropCall:
		gone = plan.Answers(op.Operation)
	case operation.DropBlock:
		for _, b := range op.Blocks {
			if k := conv.Blocks[b].Kind; k == transcript.BlockResult || k == transcript.BlockServerResult {
				gone = append(gone, conv.Blocks[b].Ref)
			}
		}
	case operation.DropTurn:
		for i := range pairs.Calls {
			if conv.Messages[conv.Calls[i].Message].Turn == op.Turn && pairs.Calls[i].Result >= 0 {
				gone = append(gone, pairs.Calls[i].Result)
			}
		}
		for i := range conv.Results { // those that stand in the turn itself
			if conv.Messages[conv.Results[i].Message].Turn == op.Turn && !slices.Contains(gone, int32(i)) {
				gone = append(gone, int32(i))
			}
		}
	}
	for _, g := range gone {
		if s := conv.Results[g].Payload; !s.IsZero() {
			r.Dropped = append(r.Dropped, s)
		}
	}
	x.done(conv.Index, r)
}

// file compiles what the findings about the file ask for. The bytes of records
// come first: while they change, conversations are left alone. Links come before
// what hangs on them.
func (x *fixer) file(c *checker, found []Finding) error {
	ops, rule := x.allowed(found)
	var onBytes, onRecords []*operation.Operation
	for _, op := range ops {
		if rules.ByName(rule[op]).Category == rules.Links {
			onRecords = append(onRecords, op)
		} else {
			onBytes = append(onBytes, op)
		}
	}
	if len(ops) > 0 {
		x.edits, x.repairs, x.logs = nil, nil, nil
	}
	if len(onBytes) > 0 {
		edits, err := repair.Bytes(c.src, onBytes)
		if err != nil {
			return err
		}
		x.edits = edits
		for _, op := range onBytes {
			x.done(-1, Repair{Rule: rule[op], Kind: op.Kind, Class: op.Class, Title: op.Title, Results: 1})
		}
		return nil
	}
	for _, op := range onRecords {
		if x.log(c.logOf(op.Span)).Record(op) {
			x.done(-1, Repair{Rule: rule[op], Kind: op.Kind, Class: op.Class, Title: op.Title, Results: 1})
		}
	}
	for _, log := range x.logs {
		edits, err := log.Compile()
		if err != nil {
			return err
		}
		x.edits = append(x.edits, edits...)
	}
	x.edits, x.logs = inOrder(x.edits), nil
	return nil
}

// inOrder puts edits of a conversation and of the log that it stands in in
// order, each once: an id may be changed by both.
func inOrder(edits []edit.Edit) []edit.Edit {
	slices.SortStableFunc(edits, func(a, b edit.Edit) int { return cmp.Compare(a.Span.Start, b.Span.Start) })
	return slices.CompactFunc(edits, func(a, b edit.Edit) bool {
		return a.Span == b.Span && a.Span.Len() > 0 && bytes.Equal(a.Text, b.Text)
	})
}
