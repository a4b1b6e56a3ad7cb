package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/pairing"
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
	At       source.Position
	// Pinned, Kept and Calls count the pinned messages, the other kept ones, and their calls and
	// results.
	Pinned, Kept, Calls, Results int
	// Tokens is the largest number of tokens that the result can have, -1 if it is not known.
	Tokens    int64
	Shortened []Shortened
	// Marks is the number of dropped marks for the prompt cache.
	Marks int
}

// Changed reports whether anything was trimmed.
func (t *Trimmed) Changed() bool { return t.Pieces != nil }

// Trim cuts and shortens the only conversation of a source as a request says, and proves that
// the result has no more problems than the source. Its errors are a *trim.NoCutError, a
// *trim.RefusedError, a *ProofError, those of the request and those of reading. With a
// *trim.NoCutError the result has only Before.
func Trim(ctx context.Context, src *source.Source, opts Options, req *trim.Request) (*Trimmed, error) {
	t := &trimmer{src: src, req: req, out: &Trimmed{Tokens: -1}}
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
	if t.seen == 0 {
		t.err = t.empty()
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
	seen  int   // conversations
	kept  int   // messages in the last conversation that was read
	calls int   // and its calls
}

// read checks a source with all rules and passes its conversations to the trimmer.
func (t *trimmer) read(ctx context.Context, src *source.Source, opts Options) (*round, *Report, error) {
	opts.Edits, opts.Excerpts = false, false
	r := &round{
		settler: &settler{opts: FixOptions{Options: opts}, did: map[deed]bool{}}, last: true, waived: map[edit.Sum]bool{},
		facts: facts{src: src},
	}
	c := newChecker(src, opts)
	c.visit, c.trim, t.seen, t.kept, t.calls = r, t, 0, 0, 0
	rep, err := c.run(ctx)
	return r, rep, err
}

// refuses returns an error if files of this kind are not trimmed.
func (t *trimmer) refuses(rep *Report) error {
	f := rep.File
	switch {
	case f.CheckOnly != "":
		return &trim.RefusedError{Reason: f.CheckOnly}
	case slices.ContainsFunc(f.Faults, func(f transcript.RecordFault) bool { return f.Unreadable() }):
		return &trim.RefusedError{Reason: "a record cannot be read; toolguard check shows it"}
	case t.seen > 1:
		return &trim.RefusedError{Reason: fmt.Sprintf("it has %d conversations; expected one", t.seen)}
	}
	return nil
}

// conversation plans the cut of a conversation.
func (t *trimmer) conversation(c *checker, plan *repair.Plan) {
	conv := plan.Conv
	t.seen, t.kept, t.calls = t.seen+1, len(conv.Messages), len(conv.Calls)
	if t.out.Before != nil || t.seen > 1 || t.err != nil || c.err != nil {
		return // this is the proof
	}
	t.out.Messages = len(conv.Messages)
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
	shortened := t.shorten(c, conv)
	if t.err == nil {
		t.err = t.measure(c, l, h, shortened)
	}
	if t.err != nil {
		return
	}
	cut := trim.Cut{Reason: "nothing needs to be dropped", Size: h.Sum()}
	if t.req.Cuts() {
		if cut, t.err = h.Choose(t.req); t.err != nil {
			return
		}
	}
	t.out.Cut = cut
	t.carryOut(c, l, h, shortened)
}

// empty measures a source without messages, of which nothing can be dropped.
func (t *trimmer) empty() error {
	h := trim.NewHistory(&transcript.Conversation{}, pairing.Pairing{}, nil, 0)
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
	t.out.Cut = trim.Cut{Reason: "nothing needs to be dropped", Size: h.Sum()}
	if t.req.Counts() {
		t.out.Tokens = t.req.Tokens(h.Sum())
	}
	if !t.req.Cuts() {
		return nil
	}
	var err error
	t.out.Cut, err = h.Choose(t.req)
	return err
}

// untrimmable returns why a conversation is not trimmed, "" if it is.
func untrimmable(conv *transcript.Conversation, d *dialect.Dialect) string {
	left := func(m transcript.Message) bool {
		return m.Has(transcript.MessageSuperseded) || m.Has(transcript.MessageReplay)
	}
	switch {
	case d.CheckOnly != "":
		return d.CheckOnly
	case conv.Unfolded != nil:
		return "its messages are texts inside of other values"
	case conv.Enveloped, conv.Folded:
		return "it is a session log, and only lists of messages are trimmed"
	case conv.ElsewhereState:
		return "it refers to messages that the provider stores"
	case conv.Incomplete:
		return "a record cannot be read; toolguard check shows it"
	case slices.ContainsFunc(conv.Messages, func(m transcript.Message) bool { return m.Has(transcript.MessageForeign) }):
		return "some of its messages are in another dialect"
	case slices.ContainsFunc(conv.Messages, left):
		return "some of its messages are copies or are no longer sent"
	}
	return ""
}

// shorten returns the edits that shorten the results of a conversation, by message.
func (t *trimmer) shorten(c *checker, conv *transcript.Conversation) map[int32][]resultCut {
	if t.req.ResultsMax == 0 {
		return nil
	}
	out := map[int32][]resultCut{}
	for i := range max(0, len(conv.Results)-t.req.KeepResults) {
		r := &conv.Results[i]
		if r.Payload.Len() <= t.req.ResultsMax || r.Answer.ByProvider() || !conv.Messages[r.Message].Span().Contains(r.Payload) {
			continue
		}
		edits := trim.Shorten(c.value(r.Payload), t.req.ResultsMax)
		if len(edits) == 0 {
			continue
		}
		done := resultCut{edits: edits, Shortened: Shortened{CallID: r.ID.Text(), Span: r.Payload, From: r.Payload.Len(), To: r.Payload.Len()}}
		for _, e := range edits {
			done.To += int64(len(e.Text)) - e.Span.Len()
		}
		out[r.Message] = append(out[r.Message], done)
	}
	return out
}

// A resultCut is a result that is shortened, if its message is kept.
type resultCut struct {
	Shortened
	edits []edit.Edit
}

// measure sets the sizes of a history.
func (t *trimmer) measure(c *checker, l *messageList, h *trim.History, shortened map[int32][]resultCut) error {
	counts := t.req.Counts()
	tokens := func(text []byte) (float64, error) {
		if !counts {
			return 0, nil
		}
		return trim.CountTokens(text, t.req.Count)
	}
	for i := range h.Sizes {
		at := l.conv.Messages[i].Span()
		text := c.bytes(at)
		var edits []edit.Edit
		for _, r := range shortened[int32(i)] {
			edits = append(edits, r.edits...)
		}
		slices.SortFunc(edits, func(a, b edit.Edit) int { return cmp.Compare(a.Span.Start, b.Span.Start) })
		n, err := tokens(edit.Splice(text, at.Start, edits))
		if err = cmp.Or(c.err, err); err != nil {
			return err
		}
		h.Sizes[i] = trim.Size{Bytes: l.extent(i).Len(), Tokens: n + 1} // 1 for what separates it from the next one
		for _, e := range edits {
			h.Sizes[i].Bytes += int64(len(e.Text)) - e.Span.Len()
		}
	}
	h.Rest.Bytes = t.src.Size()
	for i := range h.Sizes {
		h.Rest.Bytes -= l.extent(i).Len()
	}
	for _, s := range l.rest(t.src.Size()) {
		for s.Len() > 0 {
			part := source.Span{Start: s.Start, End: min(s.End, s.Start+lookEvery)}
			n, err := tokens(c.bytes(part))
			if err = cmp.Or(c.err, err); err != nil {
				return err
			}
			h.Rest.Tokens += n
			s.Start = part.End
		}
	}
	return nil
}

// carryOut makes the edits of a cut and describes it.
func (t *trimmer) carryOut(c *checker, l *messageList, h *trim.History, shortened map[int32][]resultCut) {
	cut, conv, out := t.out.Cut, l.conv, t.out
	for i := 0; i < len(conv.Messages); i++ {
		if !h.Drops(cut, i) {
			for _, r := range shortened[int32(i)] {
				out.Shortened = append(out.Shortened, r.Shortened)
				t.edits = append(t.edits, r.edits...)
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
	slices.SortFunc(t.edits, func(a, b edit.Edit) int { return cmp.Compare(a.Span.Start, b.Span.Start) })
	out.Cut.Size.Bytes = t.src.Size()
	for _, e := range t.edits {
		out.Cut.Size.Bytes += int64(len(e.Text)) - e.Span.Len()
	}
	slices.SortFunc(out.Shortened, func(a, b Shortened) int { return bySpan(a.Span, b.Span) })
	out.Pinned = h.Pinned(cut)
	for i := range conv.Messages {
		if !h.Drops(cut, i) {
			out.Kept++
		}
	}
	out.Kept -= out.Pinned
	for i := range conv.Calls {
		if !h.Drops(cut, int(conv.Calls[i].Message)) {
			out.Calls++
		}
	}
	for i := range conv.Results {
		if !h.Drops(cut, int(conv.Results[i].Message)) {
			out.Results++
		}
	}
	if t.req.Counts() {
		out.Tokens = t.req.Tokens(cut.Size)
	}
	if cut.Index < len(conv.Messages) && cut.Head < cut.Index {
		at := conv.Messages[cut.Index].Span()
		out.Role = conv.Messages[cut.Index].Role
		var err error
		out.At, err = source.NewLines(t.src).Position(at.Start)
		c.err = cmp.Or(c.err, err)
	}
}

// prove reads the result and compares it with the original.
func (t *trimmer) prove(ctx context.Context, pieces *edit.Pieces, opts Options, before *round) error {
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
	fails := func(format string, args ...any) error {
		t.out.After = was
		return &ProofError{Reason: fmt.Sprintf(format, args...)}
	}
	switch {
	case rep.Skipped != "":
		return fails("make the transcript unreadable: %s", rep.Skipped)
	case lost(rep.File) > lost(was.File):
		return fails("make records unreadable")
	case t.seen != 1 || t.kept != t.out.Pinned+t.out.Kept || t.calls != t.out.Calls:
		return fails("leave %d messages with %d calls instead of %d with %d", t.kept, t.calls, t.out.Pinned+t.out.Kept, t.out.Calls)
	case t.req.MaxBytes > 0 && pieces.Size() > t.req.MaxBytes:
		return fails("leave %d bytes, more than the limit", pieces.Size())
	}
	families := before.byFamily()
	for name, n := range after.byFamily() {
		if n > families[name] {
			return fails("add %s problems (%d before, %d after)", name, families[name], n)
		}
	}
	touched := make([]source.Span, 0, len(t.edits))
	for _, e := range t.edits {
		touched = append(touched, e.Span)
	}
	for _, r := range t.out.Shortened {
		touched = append(touched, r.Span)
	}
	waived := map[edit.Sum]bool{}
	if err := before.facts.waive(touched, waived); err != nil {
		return err
	}
	gone, err := before.facts.lost(pieces, &after.facts, waived)
	if err != nil {
		return err
	}
	if len(gone) > 0 {
		return fails("change which call the result at byte %d answers", gone[0].payload.Start)
	}
	return nil
}
