package engine

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"

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
	Pieces  *transcript.Pieces
	Repairs []Repair
	Rounds  int
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
	f.join(more)
	return f, nil
}

// join adds the repair of the result.
func (f *Fixed) join(more *Fixed) {
	f.After = more.After
	if !more.Changed() {
		return
	}
	for _, r := range more.Repairs {
		for i, s := range r.Dropped {
			r.Dropped[i], _ = f.Pieces.Original(s)
		}
		f.Repairs = append(f.Repairs, r)
	}
	f.Rounds += more.Rounds
	if f.Pieces = f.Pieces.Apply(more.Pieces.Edits()); len(f.Pieces.Edits()) == 0 {
		f.Pieces, f.Repairs, f.Rounds = nil, nil, 0
	}
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
	pieces := transcript.NewPieces(src)
	now := src
	kept := map[uint64]bool{}   // payloads that an unsafe operation may drop
	var has map[uint64]recorded // payloads that are there at last
	moved := map[*transcript.Span]uint64{}
	for round := 0; ; round++ {
		c := newChecker(now, opts.Options)
		c.fix = &fixer{attempt: a}
		if round > 0 {
			c.fix.payloads = map[uint64]recorded{}
		}
		rep, err := c.run(ctx)
		if err != nil {
			return nil, err
		}
		if round == 0 {
			out.Before = rep
		} else {
			out.Before.forget()
		}
		out.After = rep
		wrong := slices.ContainsFunc(rep.Findings, func(f Finding) bool { return f.Severity == rules.Error })
		if rep.File.CheckOnly != "" && (wrong || c.fix.withheld) {
			return nil, &CheckOnlyError{rep.File.CheckOnly}
		}
		has = c.fix.payloads
		if rep.Skipped != "" || len(c.fix.edits) == 0 {
			break
		}
		if round == maxRounds {
			return nil, &ProofError{
				fmt.Sprintf("it did not settle in %d rounds; the last repair was to %s", maxRounds, c.fix.repairs[len(c.fix.repairs)-1].Title),
				c.fix.touched,
			}
		}
		for _, s := range c.fix.dropped {
			h, err := payloadHash(now, s)
			if err != nil {
				return nil, err
			}
			kept[h] = true
		}
		for _, r := range c.fix.repairs {
			for i, s := range r.Dropped {
				var there bool
				if r.Dropped[i], there = pieces.Original(s); there && r.Dropped[i].Len() == s.Len() {
					continue
				}
				h, err := payloadHash(now, s) // an earlier round has moved or changed it
				if err != nil {
					return nil, err
				}
				moved[&r.Dropped[i]] = h
			}
			out.Repairs = append(out.Repairs, r)
		}
		pieces = pieces.Apply(c.fix.edits)
		now = pieces.Source()
		out.Rounds = round + 1
	}
	if out.Rounds == 0 {
		return out, nil
	}
	if len(pieces.Edits()) == 0 { // what was done was undone
		out.Repairs, out.Rounds = nil, 0
		return out, nil
	}
	out.Pieces = pieces
	had, err := payloads(ctx, src, opts)
	if err != nil {
		return nil, err
	}
	if err := prove(out, had, has, kept); err != nil {
		return nil, err
	}
	for at, h := range moved {
		if p, there := had[h]; there {
			*at = p.at
		}
	}
	return out, nil
}

// forget lets go of the texts around what was found, which are many when there
// is much to repair.
func (r *Report) forget() {
	for i := range r.Findings {
		r.Findings[i].Excerpt = Excerpt{}
	}
}

// seed makes hashes of payloads comparable within one run.
var seed = maphash.MakeSeed()

func payloadHash(src *transcript.Source, s transcript.Span) (uint64, error) {
	b, err := src.Bytes(s)
	if err != nil {
		return 0, err
	}
	return maphash.Bytes(seed, repair.Payload(b)), nil
}

// prove holds the repaired source against the original.
func prove(f *Fixed, had, has map[uint64]recorded, dropped map[uint64]bool) error {
	if f.After.Skipped != "" {
		return &ProofError{"the result is no transcript any more: " + f.After.Skipped, nil}
	}
	if n, m := lost(f.Before.File), lost(f.After.File); m > n {
		return &ProofError{fmt.Sprintf("%d records could not be read before, %d after", n, m), nil}
	}
	was, is := counts(f.Before), counts(f.After)
	for _, r := range rules.All() {
		name := family(r.Name)
		if name == order && is[order]-was[order] <= settled(was, is) {
			continue
		}
		if is[name] > was[name] {
			return &ProofError{
				fmt.Sprintf("%s was found %d times before and %d times after", name, was[name], is[name]),
				worse(f, name),
			}
		}
	}
	gone := map[int]bool{} // conversations
	first := int64(-1)
	for h, p := range had {
		if _, still := has[h]; !still && !dropped[h] {
			gone[p.conversation] = true
			if first < 0 || p.at.Start < first {
				first = p.at.Start
			}
		}
	}
	if first >= 0 {
		return &ProofError{fmt.Sprintf("the result payload at byte %d would be lost", first), gone}
	}
	return nil
}

// worse returns the conversations in which more of a family is found than
// before, nil where that is not to be told.
func worse(f *Fixed, name string) map[int]bool {
	if f.Before.File.Conversations != f.After.File.Conversations {
		return nil
	}
	more := map[int]int{}
	count := func(r *Report, by int) {
		for i := range r.Findings {
			if fd := &r.Findings[i]; fd.Severity >= rules.Warning && family(fd.Rule.Name) == name {
				more[fd.Conversation] += by
			}
		}
	}
	count(f.Before, -1)
	count(f.After, 1)
	out := map[int]bool{}
	for c, n := range more {
		if n > 0 {
			out[c] = true
		}
	}
	return out
}

// lost counts the records that cannot be read.
func lost(f *detect.File) int {
	n := 0
	for _, fault := range f.Faults {
		if fault.Unreadable() {
			n++
		}
	}
	return n
}

// family returns what a rule's findings count as in the proof. A call without a
// result is one problem whichever rule reports it, and so are a result that
// does not stand where it answers and a record that is torn: a repair beside it
// may turn one into the other.
func family(rule string) string {
	switch rule {
	case "pending-tool-call":
		return "missing-tool-result"
	case "orphan-tool-result", "result-before-call", "duplicate-tool-result":
		return "misplaced-tool-result"
	case "truncated-record":
		return "invalid-json"
	case "missing-arguments":
		return "schema-violation"
	case "consecutive-roles", "first-role", "last-role", "user-after-tool", "mixed-tool-result-message", "result-order-mismatch",
		"reasoning-unreplayable":
		return order
	}
	return rule
}

// order is the family of what providers want of the order of messages, and of the
// reasoning in the last turns. It can come to light where a result is put in its
// place.
const order = "the order of messages"

// settled counts the faults of other kinds that are there no more.
func settled(was, is map[string]int) int {
	n := 0
	for name := range was {
		if name != order {
			n += was[name] - is[name]
		}
	}
	return n
}

// counts counts errors and warnings by rule.
func counts(r *Report) map[string]int {
	out := map[string]int{}
	for i := range r.Findings {
		if r.Findings[i].Severity >= rules.Warning {
			out[family(r.Findings[i].Rule.Name)]++
		}
	}
	for name, n := range r.ignored {
		out[family(name)] += n
	}
	return out
}

// A recorded is where the content of a recorded result stands.
type recorded struct {
	at           transcript.Span
	conversation int
}

// payloads returns the recorded result payloads of a source, by hash, with
// where each stands. Placeholders are not recorded content.
func payloads(ctx context.Context, src *transcript.Source, opts FixOptions) (map[uint64]recorded, error) {
	out := map[uint64]recorded{}
	_, err := detect.Read(src, detect.Options{Dialects: opts.Dialects, Dialect: opts.Dialect}, func(c *transcript.Conversation) error {
		return cmp.Or(addPayloads(out, src, c), ctx.Err())
	})
	if _, not := errors.AsType[*detect.ErrNotTranscript](err); not {
		err = nil
	}
	return out, err
}

// addPayloads adds the payloads of a conversation.
func addPayloads(to map[uint64]recorded, src *transcript.Source, c *transcript.Conversation) error {
	var failed error
	text := func(s transcript.Span) string {
		b, err := src.Bytes(s)
		failed = cmp.Or(failed, err)
		return string(b)
	}
	for i := range c.Results {
		if r := &c.Results[i]; !r.Payload.IsZero() && !rules.IsPlaceholder(c, r, text) {
			h, err := payloadHash(src, r.Payload)
			if err != nil {
				return err
			}
			to[h] = recorded{r.Payload, c.Index}
		}
	}
	return failed
}

// A fixer collects the edits of one round.
type fixer struct {
	*attempt
	touched map[int]bool                    // conversations with edits in this round
	logs    map[transcript.Span]*repair.Log // by the list of records, which is zero for lines
	edits   []transcript.Edit
	repairs []Repair
	dropped []transcript.Span // payloads that unsafe operations drop
	// withheld is set when a repair that is allowed was asked for where
	// nothing is repaired.
	withheld bool
	// payloads are the recorded results, by hash; nil where they do not matter.
	payloads map[uint64]recorded
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
	if x.payloads != nil {
		if err := addPayloads(x.payloads, c.src, conv); err != nil {
			return err
		}
	}
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
			if op.Class == operation.Unsafe {
				x.dropped = append(x.dropped, s)
			}
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
		x.edits, x.repairs, x.dropped, x.logs = nil, nil, nil, nil
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
	x.edits = inOrder(x.edits)
	return nil
}

// inOrder puts edits of a conversation and of the log that it stands in in
// order, each once: an id may be changed by both.
func inOrder(edits []transcript.Edit) []transcript.Edit {
	slices.SortStableFunc(edits, func(a, b transcript.Edit) int { return cmp.Compare(a.Span.Start, b.Span.Start) })
	return slices.CompactFunc(edits, func(a, b transcript.Edit) bool {
		return a.Span == b.Span && a.Span.Len() > 0 && bytes.Equal(a.Text, b.Text)
	})
}
