package engine

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"

	"github.com/toolguard/toolguard/internal/detect"
	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/repair"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
	"github.com/toolguard/toolguard/internal/trim"
)

// A logTrimmer trims a session log, in three passes. The first one reads its records. The second one
// reads it without what the client no longer sends, and chooses the cut. The third one is the proof.
type logTrimmer struct {
	*trimmer
	rules   *trim.Log
	d       *dialect.Dialect
	log     dialect.Log // of the dialect; of one whose records replace earlier ones, where type and id are
	folds   bool        // the last record with an id counts
	pass    int
	records []trimRecord
	ids     map[string]int32 // the records by raw id
	said    []trimMessage    // the messages that are sent
	cuts    shortenings
	// kept are the records that the second pass reads, drop those that do not stay in the end.
	kept []int32
	drop []bool
}

// A trimRecord is what trim needs to know of a record.
type trimRecord struct {
	at            source.Span // with the line break
	id            string      // raw, "" for none
	parent        string
	parentAt      source.Span
	ordinalAt     source.Span
	typ, sub      string
	refs          []string // raw
	side          bool     // of a sub-agent
	holds, unsent bool     // it holds messages, and none of them is sent
	noted         float64  // the tokens of what is sent of it besides messages
	later         int32    // the record that counts instead of it, -1 for none
}

// A trimMessage is a message that is sent.
type trimMessage struct {
	record int32 // from 0
	hash   uint64
	tokens float64
}

// newLogTrimmer returns the trimmer of the log that a conversation is in, nil if it is in none that is cut.
func newLogTrimmer(t *trimmer, c *checker, conv *transcript.Conversation, d *dialect.Dialect) *logTrimmer {
	l := &logTrimmer{trimmer: t, rules: trim.LogOf(d.Name), d: d, pass: 1, ids: map[string]int32{}}
	if l.rules == nil || conv.Unfolded != nil {
		return nil
	}
	switch container := c.report.File.Container; {
	case container == detect.ContainerFoldingLog && d.Fold != nil:
		l.log, l.folds = dialect.Log{Type: "type", ID: string(d.Fold.ID)}, true
	case (container == detect.ContainerLinkedLog || container == detect.ContainerEventLog) && d.Log != nil && conv.Enveloped && !conv.Folded:
		l.log = *d.Log
	default:
		return nil
	}
	return l
}

// conversation takes a conversation of a pass.
func (l *logTrimmer) conversation(c *checker, plan *repair.Plan) {
	conv := plan.Conv
	if l.seen > 0 && l.err == nil && !l.drops() && len(conv.Messages) > 0 && l.pass != 2 && l.records[conv.Messages[0].Record-1].side {
		return // it goes if anything goes
	}
	if l.seen++; l.seen > 1 || c.err != nil || l.err != nil {
		return
	}
	switch l.pass {
	case 1:
		l.first(c, plan)
	case 2:
		l.choose(c, plan)
	default:
		l.has = l.accountOf(c, conv, plan)
	}
}

// drops reports whether any record goes.
func (l *logTrimmer) drops() bool { return slices.Contains(l.drop, true) }

// unsent reports whether the client no longer sends a message.
func unsent(m *transcript.Message) bool {
	return m.Has(transcript.MessageSuperseded) || m.Has(transcript.MessageReplay)
}

// first reads the records of the log.
func (l *logTrimmer) first(c *checker, plan *repair.Plan) {
	conv := plan.Conv
	switch {
	case l.d.CheckOnly != "":
		l.err = &trim.RefusedError{Reason: l.d.CheckOnly}
	case conv.Incomplete:
		l.err = &trim.RefusedError{Reason: "a record cannot be read; toolguard check shows it"}
	case slices.ContainsFunc(conv.Messages, func(m transcript.Message) bool { return m.Has(transcript.MessageForeign) }):
		l.err = &trim.RefusedError{Reason: "some of its messages are in another format"}
	}
	if l.err != nil || !l.readRecords(c, strings.HasPrefix(conv.Name, "agent ")) {
		return
	}
	live := make([]transcript.Result, 0, len(conv.Results))
	for _, r := range conv.Results {
		if !l.req.Cuts() || !unsent(&conv.Messages[r.Message]) {
			live = append(live, r)
		}
	}
	if l.cuts = l.shorten(c, conv, live, l.req); l.err != nil {
		return
	}
	for i := range conv.Messages {
		m := &conv.Messages[i]
		rec := &l.records[m.Record-1]
		if !rec.holds {
			rec.holds, rec.unsent = true, true
		}
		if unsent(m) {
			continue
		}
		rec.unsent = false
		text := l.content(c, m.Span(), editsIn(l.cuts.edits, m.Span()))
		said := trimMessage{record: m.Record - 1, hash: l.hashOf(text)}
		if l.req.Counts() {
			if said.tokens, l.err = trim.CountTokens(text, l.req.Count); l.err != nil {
				return
			}
		}
		l.said = append(l.said, said)
	}
	l.notes(conv, func(at source.Span, tokens float64) {
		i, _ := slices.BinarySearchFunc(l.records, at.Start, func(r trimRecord, off int64) int { return cmp.Compare(r.at.End, off+1) })
		l.records[i].noted += tokens
	}, c)
	for i := len(l.records) - 1; i >= 0; i-- { // what counts no more goes with what counts instead
		if rec := &l.records[i]; rec.later >= 0 {
			rec.holds, rec.unsent = l.records[rec.later].holds, l.records[rec.later].unsent
		}
	}
	if !l.req.Cuts() {
		l.out.Cut = trim.Cut{Reason: "nothing needs to be dropped"}
		l.out.Kept = len(l.said)
		l.tellPairs(conv, func(m int32) bool { return !unsent(&conv.Messages[m]) })
	}
	l.err = cmp.Or(l.err, c.err)
}

// notes counts the tokens of what the client sends besides the messages, such as the summary of a compaction.
func (l *logTrimmer) notes(conv *transcript.Conversation, add func(record source.Span, tokens float64), c *checker) {
	for _, n := range conv.Notes {
		if n.Unsent || !l.req.Counts() || l.err != nil {
			continue
		}
		var tokens float64
		tokens, l.err = trim.CountTokens(c.bytes(n.Text), l.req.Count)
		add(n.Whole, tokens+1)
	}
}

// counts returns the record that counts instead of one, or the record itself.
func (l *logTrimmer) counts(i int32) int32 {
	for l.records[i].later >= 0 {
		i = l.records[i].later
	}
	return i
}

// hashOf returns the hash of a text.
func (l *logTrimmer) hashOf(text []byte) uint64 {
	var hash maphash.Hash
	hash.SetSeed(l.seed)
	_, _ = hash.Write(text)
	return hash.Sum64()
}

// content returns the text of a message with edits, without the link that is in it if it is the record.
func (l *logTrimmer) content(c *checker, at source.Span, edits []edit.Edit) []byte {
	for _, path := range [...]string{l.log.Parent, l.log.Ordinal} {
		if path == "" {
			continue
		}
		if link := dialect.Lens(path).In(c.value(at)); link.Exists() {
			edits = append(slices.Clone(edits), edit.Edit{Span: link.Span()})
		}
	}
	slices.SortFunc(edits, func(a, b edit.Edit) int { return cmp.Compare(a.Span.Start, b.Span.Start) })
	return edit.Splice(c.bytes(at), at.Start, edits)
}

// readRecords reads what the records say about each other. alone says that all are of a sub-agent.
func (l *logTrimmer) readRecords(c *checker, alone bool) bool {
	starts, log := c.report.File.Starts, &l.log
	refs := make([]dialect.Lens, 0, len(log.Refs)+len(l.rules.Refs))
	for _, path := range slices.Concat(log.Refs, l.rules.Refs) {
		refs = append(refs, dialect.Lens(path))
	}
	raw := func(v source.Value) string {
		if v.Kind() != source.String {
			return ""
		}
		return string(v.Raw())
	}
	for i := range starts.Len() {
		at := source.Span{Start: starts.At(i), End: l.src.Size()}
		if i+1 < starts.Len() {
			at.End = starts.At(i + 1)
		}
		v := c.value(at)
		if l.err = c.err; l.err != nil {
			return false
		}
		rec := trimRecord{at: at, later: -1, typ: log.Type.In(v).Str(), sub: log.Subtype.In(v).Str()}
		if log.ID != "" {
			rec.id = raw(dialect.Lens(log.ID).In(v))
		}
		if log.Parent != "" {
			parent := dialect.Lens(log.Parent).In(v)
			rec.parent, rec.parentAt = raw(parent), parent.Span()
		}
		if log.Ordinal != "" {
			if ordinal := dialect.Lens(log.Ordinal).In(v); ordinal.Kind() == source.Number {
				rec.ordinalAt = ordinal.Span()
			}
		}
		for _, lens := range refs {
			if ref := raw(lens.In(v)); ref != "" {
				rec.refs = append(rec.refs, ref)
			}
		}
		rec.side = !alone && (log.Side.In(v).True() || raw(log.Agent.In(v)) != "")
		if l.req.Cuts() {
			for _, what := range l.rules.Refuse {
				if rec.typ == what || strings.Contains(what, "$") && dialect.Lens(what).In(v).Exists() {
					l.err = &trim.RefusedError{Reason: fmt.Sprintf("it has a record %q, which counts, replaces or takes back others", what)}
					return false
				}
			}
		}
		if rec.id != "" {
			first, again := l.ids[rec.id]
			if again && l.folds {
				l.records[first].later = int32(i)
			} else if again && l.req.Cuts() {
				l.err = &trim.RefusedError{Reason: "two of its records have the same id; toolguard fix repairs that"}
				return false
			}
			l.ids[rec.id] = int32(i)
		}
		l.records = append(l.records, rec)
	}
	if l.req.Cuts() && l.circular() {
		l.err = &trim.RefusedError{Reason: "the parents of its records lead in a circle"}
	}
	return l.err == nil
}

// circular reports whether the parents of a record lead back to it.
func (l *logTrimmer) circular() bool {
	met := make([]int32, len(l.records)) // in which walk, from 1
	for i := range l.records {
		walk := int32(i) + 1
		for at := int32(i); at >= 0; at = l.parentOf(at) {
			if met[at] != 0 {
				if met[at] == walk {
					return true
				}
				break
			}
			met[at] = walk
		}
	}
	return false
}

// is reports whether a list names the type or the subtype of a record.
func (r *trimRecord) is(list []string) bool {
	return slices.Contains(list, r.typ) || r.sub != "" && slices.Contains(list, r.sub)
}

// dropped returns which records do not stay if those go for whose messages goes holds. from is the first
// record with a message that stays and is not pinned.
func (l *logTrimmer) dropped(goes func(record int32) bool, from int32) []bool {
	out := make([]bool, len(l.records))
	for i := range l.records {
		out[i] = l.records[i].side || l.records[i].holds && goes(l.counts(int32(i)))
	}
	lead := from // after the message before it
	for lead > 0 && !l.records[lead-1].holds {
		lead--
	}
	lastBoundary := l.lastBoundary()
	above := l.messagesAbove()
	before := int32(-1) // the last record with a message
	for i := range l.records {
		r, at := &l.records[i], int32(i)
		switch {
		case r.holds:
			before = at
		case r.side, at == lastBoundary:
		case r.is(l.log.Rollback), r.is(l.rules.Go):
			out[i] = true // what it takes back or repeats is gone
		case r.id != "" && l.log.Parent != "":
			m := above[at]
			switch {
			case r.is(l.rules.Stay):
			case m >= 0:
				out[i] = out[m]
			default:
				out[i] = at < from
			}
		case r.is(l.rules.Stay), at >= from, before >= 0 && !out[before]:
		case at >= lead && r.is(l.rules.Lead):
		default:
			out[i] = !slices.ContainsFunc(r.refs, func(ref string) bool { n, known := l.ids[ref]; return known && !out[n] })
		}
	}
	for more := true; more; { // what names a dropped record goes
		more = false
		for i := range l.records {
			r := &l.records[i]
			if !out[i] && !r.holds && int32(i) != lastBoundary && slices.ContainsFunc(r.refs, func(ref string) bool { n, known := l.ids[ref]; return known && out[n] }) {
				out[i], more = true, true
			}
		}
	}
	return out
}

// lastBoundary returns the record of the last compaction, which stays, -1 if there is none.
func (l *logTrimmer) lastBoundary() int32 {
	for i, r := range slices.Backward(l.records) {
		if r.is(l.log.Boundary) && !r.side {
			return int32(i)
		}
	}
	return -1
}

// messagesAbove returns for each record the nearest one with a message from it upwards, -1 if there is
// none. A log can have very many records in a row without a message, so each link is followed once.
func (l *logTrimmer) messagesAbove() []int32 {
	const unknown = -2
	above := slices.Repeat([]int32{unknown}, len(l.records))
	var path []int32
	for i := range above {
		path = path[:0]
		at := int32(i)
		for ; at >= 0 && above[at] == unknown; at = l.parentOf(at) {
			if l.records[at].holds {
				above[at] = at
				break
			}
			above[at] = -1 // for links in a circle
			path = append(path, at)
		}
		if at < 0 {
			continue
		}
		for _, below := range path {
			above[below] = above[at]
		}
	}
	return above
}

// parentOf returns the record that a record names as its parent, -1 if there is none.
func (l *logTrimmer) parentOf(i int32) int32 {
	if n, known := l.ids[l.records[i].parent]; known && n != i {
		return n
	}
	return -1
}

// edits returns the edits that drop records: the parent of one that stays becomes the nearest one above
// it that stays, or null. The first one is a root, whatever it names. Numbers of records follow each other.
func (l *logTrimmer) edits(drop []bool) []edit.Edit {
	var out []edit.Edit
	number, numbered, begun := int64(-1), false, false
	for i := range l.records {
		r := &l.records[i]
		if drop[i] {
			if n := len(out); n > 0 && out[n-1].Span.End == r.at.Start && len(out[n-1].Text) == 0 {
				out[n-1].Span.End = r.at.End
			} else {
				out = append(out, edit.Edit{Span: r.at})
			}
			continue
		}
		var own []edit.Edit
		p := l.parentOf(int32(i))
		first := !begun && r.id != "" && !r.parentAt.IsZero()
		begun = begun || first
		switch {
		case first && p < 0 && r.parent != "" && len(out) > 0: // it names a record that is lost, or itself
			own = append(own, edit.Edit{Span: r.parentAt, Text: []byte("null")})
		case p >= 0 && drop[p]:
			for n := 0; p >= 0 && drop[p] && n <= len(l.records); n++ {
				p = l.parentOf(p)
			}
			text := "null"
			if p >= 0 && !drop[p] {
				text = l.records[p].id
			}
			own = append(own, edit.Edit{Span: r.parentAt, Text: []byte(text)})
		}
		if !r.ordinalAt.IsZero() {
			if !numbered {
				number, numbered = l.ordinal(r), true
			} else {
				number++
			}
			if was := l.ordinal(r); was != number {
				own = append(own, edit.Edit{Span: r.ordinalAt, Text: []byte(strconv.FormatInt(number, 10))})
			}
		}
		slices.SortFunc(own, func(a, b edit.Edit) int { return cmp.Compare(a.Span.Start, b.Span.Start) })
		out = append(out, own...)
	}
	return out
}

// ordinal returns the number of a record.
func (l *logTrimmer) ordinal(r *trimRecord) int64 {
	text, err := l.src.View(r.ordinalAt)
	l.err = cmp.Or(l.err, err)
	n, _ := strconv.ParseInt(string(text), 10, 64) // another number becomes one in order
	return n
}

// accountOf returns the account of what is sent of a conversation.
func (l *logTrimmer) accountOf(c *checker, conv *transcript.Conversation, plan *repair.Plan) account {
	out := account{list: true, calls: len(conv.Calls), messages: make([]uint64, len(conv.Messages)), answered: answered(plan)}
	for i := range conv.Messages {
		text := l.content(c, conv.Messages[i].Span(), nil)
		out.messages[i] = l.hashOf(text)
		if l.pass == 3 && l.req.MaxTokens > 0 && l.err == nil && !unsent(&conv.Messages[i]) { // if nothing is dropped, what is not sent stays too
			var n float64
			n, l.err = trim.CountTokens(text, l.req.Count)
			out.tokens += n
		}
	}
	if l.pass == 3 {
		l.notes(conv, func(_ source.Span, tokens float64) { out.tokens += tokens }, c)
	}
	l.err = cmp.Or(l.err, c.err)
	return out
}

// choose chooses the cut of the log without what is not sent.
func (l *logTrimmer) choose(c *checker, plan *repair.Plan) {
	conv := plan.Conv
	if len(conv.Messages) != len(l.said) || slices.ContainsFunc(conv.Messages, func(m transcript.Message) bool { return unsent(&m) }) {
		l.err = &ProofError{Reason: "change which messages are sent, as records of several branches belong together"}
		return
	}
	l.want = l.accountOf(c, conv, plan)
	for i, m := range conv.Messages {
		if l.kept[m.Record-1] != l.said[i].record {
			l.err = &ProofError{Reason: "change the order of the messages"}
			return
		}
		l.want.messages[i] = l.said[i].hash
		l.want.tokens += l.said[i].tokens
	}
	for _, r := range l.kept {
		l.want.tokens += l.records[r].noted
	}
	l.out.Messages, l.out.list = len(conv.Messages), plan.Profile.Wire.List()
	h := trim.NewHistory(conv, plan.Pairing, plan.Profile, l.req.Pin)
	l.measure(h)
	if !l.chooses(h, len(l.said) > 0) {
		return
	}
	cut := l.out.Cut
	stays := make(map[int32]bool, len(l.said))
	from := int32(len(l.records))
	for i := range l.said {
		if !h.Drops(cut, i) {
			stays[l.said[i].record] = true
			if i >= cut.Index {
				from = min(from, l.said[i].record)
			}
		}
	}
	if cut.Head < cut.Index {
		l.drop = l.dropped(func(r int32) bool { return !stays[r] }, from)
	}
	l.err = l.tell(h, conv, func(i int) int64 { return l.records[l.said[i].record].at.Start })
	l.want.keep(conv, func(i int32) bool { return !h.Drops(cut, int(i)) })
}

// measure sets the sizes of the messages: the tokens that are sent, and the bytes of their records with
// those after them.
func (l *logTrimmer) measure(h *trim.History) {
	owner, next := -1, 0
	h.Rest = trim.Size{}
	order := make([]int, len(l.said)) // as in the file: a record that changes an earlier message is behind others
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(l.said[a].record, l.said[b].record) })
	// begins reports whether a record belongs to the next message.
	begins := func(rec *trimRecord) bool {
		if rec.holds || next == len(l.said) {
			return false
		}
		id := l.records[l.said[order[next]].record].id
		return rec.is(l.rules.Lead) || id != "" && slices.Contains(rec.refs, id)
	}
	lastBoundary := l.lastBoundary()
	for _, r := range l.kept {
		rec := &l.records[r]
		for ; next < len(order) && l.said[order[next]].record == r; next++ {
			if owner < 0 || l.said[owner].record != r {
				owner = order[next]
			}
			h.Sizes[order[next]].Tokens += l.said[order[next]].tokens + 1
		}
		of := &h.Rest
		switch {
		case rec.is(l.rules.Stay), r == lastBoundary:
		case begins(rec):
			of = &h.Sizes[order[next]]
		case owner >= 0:
			of = &h.Sizes[owner]
		}
		of.Bytes += rec.at.Len() + grown(editsIn(l.cuts.edits, rec.at))
		of.Tokens += rec.noted
	}
}

// trim cuts the log and proves the result.
func (l *logTrimmer) trim(ctx context.Context, opts Options, before *totals) (*Trimmed, error) {
	alone := opts.Dialect == nil // the log shows what it is
	opts.Dialect = l.d
	l.out.Messages, l.out.list = len(l.said), "messages"
	l.drop = make([]bool, len(l.records))
	if l.req.Cuts() {
		base := l.dropped(func(r int32) bool { return l.records[r].unsent }, 0)
		for i := range l.records {
			if !base[i] {
				l.kept = append(l.kept, int32(i))
			}
		}
		staged, err := l.apply(l.edits(base))
		if err = cmp.Or(l.err, err); err != nil {
			return l.out, err
		}
		l.pass = 2
		if _, _, err := l.read(ctx, staged, opts); err != nil {
			return l.out, err
		}
		if l.err == nil && l.seen == 0 {
			l.err = l.empty()
		}
		if l.err != nil {
			return l.out, l.err
		}
		if l.out.Cut.Head == l.out.Cut.Index && l.req.MaxBytes > 0 && l.src.Size() > l.req.MaxBytes {
			l.drop = base
		}
		for i := range base {
			if base[i] && l.drop[i] {
				l.out.Unsent++
			}
		}
	}
	edits := l.edits(l.drop)
	for i := range l.records {
		if !l.drop[i] {
			stay := l.cuts.in(l.records[i].at)
			l.out.Shortened, edits = append(l.out.Shortened, stay.results...), append(edits, stay.edits...)
		}
	}
	slices.SortFunc(edits, func(a, b edit.Edit) int { return cmp.Compare(a.Span.Start, b.Span.Start) })
	l.out.Cut.Size.Bytes = l.src.Size() + grown(edits)
	if len(edits) == 0 {
		return l.out, cmp.Or(l.err, l.exceeds(l.src.Size(), l.want.tokens))
	}
	pieces, err := edit.Apply(l.src, edits)
	if err = cmp.Or(l.err, err); err != nil {
		return l.out, err
	}
	if err := l.proveLog(ctx, pieces, opts, before); err != nil {
		return l.out, err
	}
	if alone {
		if err := l.recognized(pieces.Source(), opts); err != nil {
			return l.out, err
		}
	}
	if err := l.src.Unchanged(); err != nil {
		return nil, err
	}
	l.out.Pieces = pieces
	return l.out, nil
}

// recognized proves that so much of the log stays that it is not taken for anything else.
func (l *logTrimmer) recognized(result *source.Source, opts Options) error {
	v, err := detect.Survey(result, detect.Options{Dialects: opts.Dialects})
	switch was := l.out.Before.File; {
	case errors.As(err, new(*detect.ErrNotTranscript)), err == nil && v.Dialect == "":
		return nil // it has too little of anything
	case err != nil:
		return err
	case v.Dialect != was.Dialect || v.Container != was.Container:
		return &ProofError{Reason: "leave so little of the log that it would be taken for " + v.Dialect}
	}
	return nil
}

// apply returns a source with edits.
func (l *logTrimmer) apply(edits []edit.Edit) (*source.Source, error) {
	if len(edits) == 0 {
		return l.src, nil
	}
	pieces, err := edit.Apply(l.src, edits)
	if err != nil {
		return nil, err
	}
	return pieces.Source(), nil
}

// proveLog compares each record of the result with the original, and then proves the result as that of
// any history.
func (l *logTrimmer) proveLog(ctx context.Context, pieces *edit.Pieces, opts Options, before *totals) error {
	l.pass = 3
	if err := l.prove(ctx, pieces, opts, before); err != nil {
		return err
	}
	result := pieces.Source()
	at := int64(0)
	if len(l.records) > 0 {
		at = l.records[0].at.Start
	}
	for i := range l.records {
		r := &l.records[i]
		if l.drop[i] {
			continue
		}
		own := editsIn(pieces.Edits(), r.at)
		was, err := l.src.View(r.at)
		if err != nil {
			return err
		}
		want := edit.Splice(bytes.Clone(was), r.at.Start, own)
		got, err := result.View(source.Span{Start: at, End: at + int64(len(want))})
		if err != nil || !bytes.Equal(got, want) {
			return errors.Join(err, &ProofError{Reason: fmt.Sprintf("change record %d", i+1)})
		}
		at += int64(len(want))
		for _, e := range own {
			if e.Span != r.parentAt && e.Span != r.ordinalAt && len(editsIn(l.cuts.edits, e.Span)) == 0 {
				return &ProofError{Reason: fmt.Sprintf("change more of record %d than its links", i+1)}
			}
		}
	}
	if at != result.Size() {
		return &ProofError{Reason: "leave more than the records that stay"}
	}
	return nil
}
