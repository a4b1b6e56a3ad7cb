package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"sort"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/repair"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
	"github.com/toolguard/toolguard/internal/trim"
)

// A Shortened is a result that was shortened.
type Shortened struct {
	CallID   string      // "" if the result names no call
	Span     source.Span // of its content in the original
	From, To int64       // its size in bytes
}

// Trimmed is a source before and after it is trimmed.
type Trimmed struct {
	Before, After *Report
	// Pieces is the trimmed source; nil if there was nothing to drop or to shorten.
	Pieces *edit.Pieces
	Cut    trim.Cut
	// Messages is the number of messages, and Role the role of the first message after the cut
	// and At its place.
	Messages int
	Role     transcript.Role
	// list is the field in which the provider takes the messages.
	list string
	At   source.Position
	// Pinned, Kept and Calls count the pinned messages, the other kept ones, and their calls and
	// results.
	Pinned, Kept, Calls, Results int
	// Tokens is the largest number of tokens that the result can have, -1 if it is not known.
	Tokens    int64
	Shortened []Shortened
	// Spared is the number of kept results that are too long, but among the last ones, which are
	// not shortened.
	Spared int
	// Marks is the number of dropped marks for the prompt cache.
	Marks int
	// Unsent is the number of records of a log that are removed, although the history keeps all that they
	// belong to: the client does not send them, as those of sub-agents and of other branches.
	Unsent int
}

// Name returns how the provider names a message of the history: messages.2, counted from 0.
func (t *Trimmed) Name(message int) string { return fmt.Sprintf("%s.%d", t.list, message) }

// Changed reports whether anything was trimmed.
func (t *Trimmed) Changed() bool { return t.Pieces != nil }

// Trim cuts and shortens the only conversation of a source as a request says, and proves that
// the result has no more problems than the source. Its errors are a *trim.NoCutError, a
// *trim.RefusedError, a *ProofError, those of the request and those of reading. With a
// *trim.NoCutError the result has only Before.
func Trim(ctx context.Context, src *source.Source, opts Options, req *trim.Request) (*Trimmed, error) {
	out, err := cut(ctx, src, opts, req)
	var unproved *ProofError
	if errors.As(err, &unproved) {
		unproved.Cut, out.After = true, out.Before
	}
	return out, err
}

func cut(ctx context.Context, src *source.Source, opts Options, req *trim.Request) (*Trimmed, error) {
	t := &trimmer{src: src, req: req, out: &Trimmed{Tokens: -1}, seed: maphash.MakeSeed()}
	before, rep, err := t.read(ctx, src, opts)
	if err != nil {
		return nil, err
	}
	t.out.Before, t.out.After = rep, rep
	if rep.Skipped != "" {
		return t.out, nil
	}
	if err := t.refuses(rep); err != nil {
		return t.out, err
	}
	if t.log != nil && t.err == nil {
		return t.log.trim(ctx, opts, before)
	}
	if t.seen == 0 {
		t.err = t.empty()
	}
	if t.err == nil && len(t.edits) == 0 && t.seen > 0 {
		t.err = t.exceeds(src.Size(), t.want.tokens)
	}
	if t.err != nil || len(t.edits) == 0 {
		return t.out, t.err
	}
	pieces, err := edit.Apply(src, t.edits)
	if err != nil {
		return nil, err
	}
	if err := t.prove(ctx, pieces, opts, before); err != nil {
		return t.out, err
	}
	if err := src.Unchanged(); err != nil {
		return nil, err
	}
	t.out.Pieces = pieces
	return t.out, nil
}

// A trimmer trims one conversation.
type trimmer struct {
	src   *source.Source
	req   *trim.Request
	out   *Trimmed
	edits []edit.Edit
	err   error // why nothing is trimmed
	seen  int   // conversations in the source that was read last
	// want is what must be in the result, and has is what is in it.
	want, has account
	seed      maphash.Seed
	log       *logTrimmer // nil if it is no session log
}

// trimming is the mode of a check of what is trimmed, before and after.
type trimming struct {
	proving
	trimmer *trimmer
}

// Conversation implements mode.
func (c trimming) Conversation(conv *transcript.Conversation, err error) error {
	if err = c.checking.Conversation(conv, err); err == nil {
		c.trimmer.conversation(c.checker, &c.now.plan)
	}
	return cmp.Or(err, c.err)
}

// read checks a source and passes its conversations to the trimmer.
func (t *trimmer) read(ctx context.Context, src *source.Source, opts Options) (*totals, *Report, error) {
	opts.Edits, opts.Excerpts = false, false
	t.has, t.seen = account{}, 0
	c, found := newChecker(src, opts), newTotals()
	c.mode = trimming{proving{checking{c}, &found}, t}
	rep, err := c.run(ctx)
	return &found, rep, err
}

// refuses returns an error if files of this kind are not trimmed.
func (t *trimmer) refuses(rep *Report) error {
	f := rep.File
	switch {
	case f.CheckOnly != "":
		return &trim.RefusedError{Reason: f.CheckOnly}
	case slices.ContainsFunc(f.Faults, func(f transcript.RecordFault) bool { return f.Unreadable() }):
		return &trim.RefusedError{Reason: "a record cannot be read; toolguard check shows it"}
	case errors.As(t.err, new(*trim.RefusedError)):
		return t.err
	case t.seen > 1:
		return &trim.RefusedError{Reason: fmt.Sprintf("it has %d conversations; expected one, such as a single row on standard input", t.seen)}
	}
	return nil
}

// conversation plans the cut of a conversation.
func (t *trimmer) conversation(c *checker, plan *repair.Plan) {
	conv := plan.Conv
	if t.log == nil && t.seen == 0 && t.out.Before == nil {
		t.log = newLogTrimmer(t, c, conv, plan.Dialect)
	}
	if t.log != nil {
		t.log.conversation(c, plan)
		return
	}
	t.seen++
	if t.out.Before != nil { // this is the proof
		// A single record is read as a document.
		conv.Lines = conv.Lines || t.want.lines && len(conv.Lists) == 0
		if l, ok := newMessageList(c, conv); ok && c.err == nil {
			t.has, c.err = t.account(c, l, plan, nil, t.req.MaxTokens > 0, nil)
		}
		return
	}
	if t.seen > 1 || t.err != nil || c.err != nil {
		return
	}
	t.out.Messages, t.out.list = len(conv.Messages), plan.Profile.Wire.List()
	if reason := untrimmable(conv, plan.Dialect); reason != "" {
		t.err = &trim.RefusedError{Reason: reason}
		return
	}
	l, ok := newMessageList(c, conv)
	if !ok {
		t.err = &trim.RefusedError{Reason: "its messages are not the elements of one list"}
		return
	}
	h := trim.NewHistory(conv, plan.Pairing, plan.Profile, t.req.Pin)
	cuts := t.shorten(c, conv, conv.Results, t.req)
	if t.err != nil {
		return
	}
	if t.want, t.err = t.account(c, l, plan, cuts.edits, t.req.Counts(), h.Sizes); t.err != nil {
		return
	}
	h.Rest, h.Tail = t.want.rest, func(first int) int64 { return l.tail(first, c.src.Size()) }
	if !t.chooses(h, t.req.Cuts()) {
		t.wayOut(c, l, plan, h)
		return
	}
	t.carryOut(c, l, h, cuts)
	t.want.keep(conv, func(i int32) bool { return !h.Drops(t.out.Cut, int(i)) })
}

// chooses chooses the cut of a history, if something may be dropped. It returns false if there is none.
func (t *trimmer) chooses(h *trim.History, drops bool) bool {
	cut := trim.Cut{Reason: "nothing needs to be dropped", Size: h.Sum()}
	if drops {
		if cut, t.err = h.Choose(t.req); t.err != nil {
			return false
		}
	}
	if breach := h.Breach(t.req, cut); breach != "" {
		t.err = &ProofError{Reason: breach}
		return false
	}
	t.out.Cut = cut
	return true
}

// wayOut says in the error what would help, if there is no cut within a limit: shorter results
// or larger limits.
func (t *trimmer) wayOut(c *checker, l *messageList, plan *repair.Plan, h *trim.History) {
	var none *trim.NoCutError
	failed := t.err
	if !errors.As(failed, &none) || !t.req.Limited() {
		return
	}
	var shorter *trim.Way
	for _, most := range []int64{4000, 1000} {
		if t.req.ResultsMax > 0 {
			most = t.req.ResultsMax
		}
		for _, keep := range []int{t.req.KeepResults, 0} {
			if shorter != nil {
				continue
			}
			other := *t.req
			other.ResultsMax, other.KeepResults = most, keep
			cuts := t.shorten(c, l.conv, l.conv.Results, &other)
			if t.err != nil && t.err != failed { //nolint:errorlint // whether it is another one
				return
			}
			if len(cuts.edits) == 0 {
				continue
			}
			resized := h.Resized()
			got, err := t.account(c, l, plan, cuts.edits, t.req.Counts(), resized.Sizes)
			if err != nil {
				t.err = err
				return
			}
			resized.Rest = got.rest
			shorter = resized.Way(t.req, &other)
		}
	}
	t.err = failed
	if shorter != nil {
		none.Long = "" // the way says it better, or there is one that keeps more
	}
	if none.Way = none.Way.Better(shorter); none.Way == nil {
		none.Way = h.Raised(t.req)
	}
}

// empty measures a source without messages, of which nothing can be dropped.
func (t *trimmer) empty() error {
	h := trim.NewHistory(&transcript.Conversation{}, pairing.Pairing{}, &profile.Profile{}, 0)
	h.Rest.Bytes = t.src.Size()
	part := make([]byte, min(lookEvery, t.src.Size()))
	for at := int64(0); t.req.Counts() && at < t.src.Size(); {
		n, err := t.src.ReadAt(part, at)
		if n == 0 {
			return err
		}
		tokens, err := trim.CountTokens(part[:n], t.req.Count)
		if err != nil {
			return err
		}
		h.Rest.Tokens += tokens
		at += int64(n)
	}
	if t.req.Counts() {
		t.out.Tokens = t.req.Tokens(h.Sum())
	}
	t.chooses(h, t.req.Cuts())
	return t.err
}

// untrimmable returns why a conversation is not trimmed, "" if it is.
func untrimmable(conv *transcript.Conversation, d *dialect.Dialect) string {
	switch {
	case d.CheckOnly != "":
		return d.CheckOnly
	case conv.Unfolded != nil:
		return "its messages are texts inside of other values"
	case conv.Enveloped, conv.Folded:
		return "it is a session log of a kind that only its agent shortens, with a command such as /compact"
	case conv.ElsewhereState || conv.References:
		return "it refers to messages that the provider stores"
	case conv.Incomplete:
		return "a record cannot be read; toolguard check shows it"
	case slices.ContainsFunc(conv.Messages, func(m transcript.Message) bool { return m.Has(transcript.MessageForeign) }):
		return "some of its messages are in another format"
	case slices.ContainsFunc(conv.Messages, func(m transcript.Message) bool { return unsent(&m) }):
		return "some of its messages are copies or are no longer sent"
	}
	return ""
}

// shortenings are the results that are shortened, in the order of the text.
type shortenings struct {
	results []Shortened
	edits   []edit.Edit
}

// in returns those of a span.
func (s *shortenings) in(at source.Span) shortenings {
	lo, hi := startsIn(s.results, at, func(r *Shortened) int64 { return r.Span.Start })
	return shortenings{s.results[lo:hi], editsIn(s.edits, at)}
}

// editsIn returns the edits in a span. They are in order.
func editsIn(edits []edit.Edit, at source.Span) []edit.Edit {
	lo, hi := startsIn(edits, at, func(e *edit.Edit) int64 { return e.Span.Start })
	return edits[lo:hi]
}

// grown returns by how many bytes edits make a text longer.
func grown(edits []edit.Edit) (n int64) {
	for _, e := range edits {
		n += int64(len(e.Text)) - e.Span.Len()
	}
	return n
}

// startsIn returns which elements of a sorted list begin in a span.
func startsIn[T any](list []T, at source.Span, start func(*T) int64) (lo, hi int) {
	from := func(off int64) int { return sort.Search(len(list), func(i int) bool { return start(&list[i]) >= off }) }
	return from(at.Start), from(at.End)
}

// shorten returns how the results of a conversation are shortened.
func (t *trimmer) shorten(c *checker, conv *transcript.Conversation, all []transcript.Result, req *trim.Request) (out shortenings) {
	if req.ResultsMax == 0 {
		return out
	}
	results := all[:max(0, len(all)-req.KeepResults)]
	isLong := func(r *transcript.Result) bool {
		return r.Payload.Len() > req.ResultsMax && !r.Answer.ByProvider() && conv.Messages[r.Message].Span().Contains(r.Payload)
	}
	n := 0
	for i := range results {
		if isLong(&results[i]) {
			n++
		}
	}
	out = shortenings{make([]Shortened, 0, n), make([]edit.Edit, 0, n)}
	for i := range results {
		r := &results[i]
		if !isLong(r) {
			continue
		}
		edits := trim.Shorten(c.value(r.Payload), req.ResultsMax)
		if len(edits) == 0 {
			continue
		}
		breach := trim.ShortenBreach(c.bytes(r.Payload), r.Payload.Start, edits, req.ResultsMax)
		if t.err = c.err; t.err == nil && breach != "" {
			t.err = &ProofError{Reason: breach}
		}
		if t.err != nil {
			return out
		}
		from := r.Payload.Len()
		out.results = append(out.results, Shortened{CallID: r.ID.Text(), Span: r.Payload, From: from, To: from + grown(edits)})
		out.edits = append(out.edits, edits...)
		if !r.Beside.IsZero() {
			out.edits = append(out.edits, trim.Shorten(c.value(r.Beside), req.ResultsMax)...)
		}
	}
	sort.Slice(out.results, func(i, j int) bool { return bySpan(out.results[i].Span, out.results[j].Span) < 0 })
	sort.Slice(out.edits, func(i, j int) bool { return out.edits[i].Span.Start < out.edits[j].Span.Start })
	return out
}

// An account is what the proof compares: the bytes of each message and those around all of them,
// as hashes, and which call each result answers.
type account struct {
	list       bool // the messages are the elements of one list, with nothing but separators between
	lines      bool // they are the records of the file
	messages   []uint64
	head, tail uint64  // what is before the first message, and after the last one
	answered   []int32 // by result: the index of its call, -1 if it answers none
	calls      int
	rest       trim.Size // what is no message
	tokens     float64   // of all
}

// account returns the account of a conversation to which edits were applied. If sizes is not
// nil, it sets the size of each message.
func (t *trimmer) account(c *checker, l *messageList, plan *repair.Plan, edits []edit.Edit, counts bool, sizes []trim.Size) (account, error) {
	conv := l.conv
	out := account{list: true, lines: conv.Lines, calls: len(conv.Calls), messages: make([]uint64, len(conv.Messages)), answered: answered(plan)}
	tokens := func(text []byte) (float64, error) {
		if !counts {
			return 0, nil
		}
		return trim.CountTokens(text, t.req.Count)
	}
	var hash maphash.Hash
	hash.SetSeed(t.seed)
	add := func(s source.Span) {
		for s.Len() > 0 && c.err == nil {
			part := source.Span{Start: s.Start, End: min(s.End, s.Start+lookEvery)}
			_, _ = hash.Write(c.bytes(part))
			s.Start = part.End
		}
	}
	size := c.src.Size()
	out.rest.Bytes = size
	for i := range conv.Messages {
		at, extent := conv.Messages[i].Span(), l.extent(i)
		text := edit.Splice(c.bytes(at), at.Start, editsIn(edits, at))
		hash.Reset()
		_, _ = hash.Write(text)
		n, err := tokens(text)
		add(source.Span{Start: at.End, End: l.end(i)})
		if err = cmp.Or(c.err, err); err != nil {
			return out, err
		}
		out.messages[i] = hash.Sum64()
		n++ // for what separates it from the next one
		out.tokens += n
		out.rest.Bytes -= extent.Len()
		if sizes != nil {
			sizes[i] = trim.Size{Bytes: extent.Len() + grown(editsIn(edits, extent)), Tokens: n}
		}
	}
	for _, s := range l.rest(size) {
		for s.Len() > 0 {
			part := source.Span{Start: s.Start, End: min(s.End, s.Start+lookEvery)}
			n, err := tokens(c.bytes(part))
			if err = cmp.Or(c.err, err); err != nil {
				return out, err
			}
			out.rest.Tokens += n
			s.Start = part.End
		}
	}
	out.tokens += out.rest.Tokens
	if n := len(conv.Messages); n > 0 {
		hash.Reset()
		add(source.Span{End: conv.Messages[0].Span().Start})
		out.head = hash.Sum64()
		hash.Reset()
		if !conv.Lines { // else it is a line break or nothing
			add(source.Span{Start: l.end(n - 1), End: size})
		}
		out.tail = hash.Sum64()
	}
	return out, c.err
}

// answered returns which call each result answers, -1 for none.
func answered(plan *repair.Plan) []int32 {
	out := make([]int32, len(plan.Pairing.Results))
	for i, x := range plan.Pairing.Results {
		if out[i] = -1; x.Fate == pairing.Answers {
			out[i] = x.Call
		}
	}
	return out
}

// keep removes the messages that do not stay.
func (a *account) keep(conv *transcript.Conversation, stays func(message int32) bool) {
	index := make([]int32, len(conv.Calls)) // of each call among those that stay
	a.calls = 0
	for i := range conv.Calls {
		if index[i] = -1; stays(conv.Calls[i].Message) {
			index[i], a.calls = int32(a.calls), a.calls+1
		}
	}
	answered := a.answered[:0]
	for i, call := range a.answered {
		if !stays(conv.Results[i].Message) {
			continue
		}
		if call >= 0 {
			call = index[call]
		}
		answered = append(answered, call)
	}
	a.answered = answered
	messages := a.messages[:0]
	for i, m := range a.messages {
		if stays(int32(i)) {
			messages = append(messages, m)
		}
	}
	a.messages = messages
}

// differs returns what is different in the account of the result, as the end of "the cut
// would", or "".
func (a *account) differs(is *account) string {
	switch {
	case !is.list:
		return "leave more than separators between messages"
	case len(is.messages) != len(a.messages) || is.calls != a.calls || len(is.answered) != len(a.answered):
		return fmt.Sprintf("leave %d messages with %d calls and %d results instead of %d with %d and %d",
			len(is.messages), is.calls, len(is.answered), len(a.messages), a.calls, len(a.answered))
	case len(a.messages) > 0 && is.head != a.head:
		return "change what is before the first message"
	case len(a.messages) > 0 && is.tail != a.tail:
		return "change what is after the last message"
	}
	for i, m := range a.messages {
		if m != is.messages[i] {
			return fmt.Sprintf("change message %d of those that stay, counted from 0", i)
		}
	}
	for i, call := range a.answered {
		if call >= 0 && call != is.answered[i] {
			return fmt.Sprintf("change which call result %d of those that stay answers", i+1)
		}
	}
	return ""
}

// carryOut makes the edits of a cut and describes it.
func (t *trimmer) carryOut(c *checker, l *messageList, h *trim.History, cuts shortenings) {
	cut, conv, out := t.out.Cut, l.conv, t.out
	drops := cut.Head < cut.Index
	if !drops {
		out.Shortened, t.edits = cuts.results, cuts.edits
	}
	for i := 0; i < len(conv.Messages); i++ {
		if !h.Drops(cut, i) {
			if drops {
				stay := cuts.in(l.extent(i))
				out.Shortened, t.edits = append(out.Shortened, stay.results...), append(t.edits, stay.edits...)
			}
			continue
		}
		from := i
		for i+1 < len(conv.Messages) && h.Drops(cut, i+1) {
			i++
		}
		t.edits = append(t.edits, edit.Edit{Span: l.run(from, i, t.src.Size())})
		for k := from; k <= i; k++ {
			if m := &conv.Messages[k]; !m.Has(transcript.MessageUnmarked) && c.now.Knows(transcript.MemberCacheMark) {
				out.Marks += len(c.now.Marked(m.Span()))
			}
		}
	}
	out.Cut.Size.Bytes = t.src.Size() + grown(t.edits)
	c.err = cmp.Or(c.err, t.tell(h, conv, func(i int) int64 { return conv.Messages[i].Span().Start }))
}

// tell says how much stays, and where the first message after the cut is, which start returns.
func (t *trimmer) tell(h *trim.History, conv *transcript.Conversation, start func(message int) int64) (err error) {
	out, cut := t.out, t.out.Cut
	out.Pinned = h.Pinned(cut)
	for i := range conv.Messages {
		if !h.Drops(cut, i) {
			out.Kept++
		}
	}
	out.Kept -= out.Pinned
	t.tellPairs(conv, func(m int32) bool { return !h.Drops(cut, int(m)) })
	if t.req.Counts() {
		out.Tokens = t.req.Tokens(cut.Size)
	}
	if cut.Index < len(conv.Messages) && cut.Head < cut.Index {
		out.Role = conv.Messages[cut.Index].Role
		out.At, err = source.NewLines(t.src).Position(start(cut.Index))
	}
	return err
}

// tellPairs says how many calls and results are in the messages that stay.
func (t *trimmer) tellPairs(conv *transcript.Conversation, stays func(message int32) bool) {
	for i := range conv.Calls {
		if stays(conv.Calls[i].Message) {
			t.out.Calls++
		}
	}
	for i := range conv.Results {
		if !stays(conv.Results[i].Message) {
			continue
		}
		t.out.Results++
		if t.req.ResultsMax > 0 && i >= len(conv.Results)-t.req.KeepResults && conv.Results[i].Payload.Len() > t.req.ResultsMax {
			t.out.Spared++
		}
	}
}

// exceeds returns an error if a size is larger than the limits.
func (t *trimmer) exceeds(size int64, tokens float64) error {
	if t.req.MaxBytes > 0 && size > t.req.MaxBytes {
		return &ProofError{Reason: fmt.Sprintf("leave %d bytes, more than the limit", size)}
	}
	// The sums of fractions may differ by a rounding error.
	if n := t.req.Tokens(trim.Size{Tokens: tokens - 1e-6}); t.req.MaxTokens > 0 && n > t.req.MaxTokens {
		return &ProofError{Reason: fmt.Sprintf("leave %d tokens, more than the limit", n)}
	}
	return nil
}

// prove reads the result and compares it with the original.
func (t *trimmer) prove(ctx context.Context, pieces *edit.Pieces, opts Options, before *totals) error {
	was := t.out.Before
	after, rep, err := t.read(ctx, pieces.Source(), opts)
	if err == nil && opts.Dialect == nil && (rep.Skipped != "" || rep.File.Dialect != was.File.Dialect) {
		// What identified the dialect was dropped. The rest has not changed.
		if opts.Dialect = opts.Dialects.ByName(was.File.Dialect); opts.Dialect != nil {
			after, rep, err = t.read(ctx, pieces.Source(), opts)
		}
	}
	if err != nil {
		return err
	}
	t.out.After = rep
	fails := func(format string, args ...any) error { return &ProofError{Reason: fmt.Sprintf(format, args...)} }
	switch {
	case rep.Skipped != "":
		return fails("make the transcript unreadable: %s", rep.Skipped)
	case lost(rep.File) > lost(was.File):
		return fails("make records unreadable")
	case t.seen != 1:
		return fails("leave %d conversations instead of one", t.seen)
	case pieces.Size() != t.out.Cut.Size.Bytes:
		return fails("leave %d bytes instead of %d", pieces.Size(), t.out.Cut.Size.Bytes)
	}
	if differs := t.want.differs(&t.has); differs != "" && (t.log == nil || t.log.drops()) {
		return fails("%s", differs)
	}
	if err := t.exceeds(pieces.Size(), t.has.tokens); err != nil {
		return err
	}
	for _, least := range counting {
		families := before.byFamily(least)
		for name, n := range after.byFamily(least) {
			if n > families[name] {
				return fails("add %s (%d before, %d after)", problems(name, least), families[name], n)
			}
		}
	}
	return nil
}
