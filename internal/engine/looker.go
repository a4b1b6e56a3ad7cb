package engine

import (
	"bytes"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/digest"
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/picture"
	"github.com/toolguard/toolguard/internal/repair"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
	"github.com/toolguard/toolguard/internal/unfold"
)

// A looker reads the source of one conversation. It finds the fields of elements by the names
// that the dialect gives them.
type looker struct {
	c       *checker
	context rules.Context
	plan    repair.Plan
	able    *fixes // that a round may take, once repairs are offered
	dialect *dialect.Dialect
	paths   dialect.Members
	// unfolded maps the spans of the conversation; nil if they are spans of the source.
	unfolded *unfold.Unfolded
	// unrepaired is set if the conversation is never repaired.
	unrepaired bool
	most       int64                    // on how many bytes repairs may be tried; 0 if that is not known yet
	sums       map[source.Span][16]byte // the results of sum
}

// same reports whether two calls with one id are copies of each other. If a call has no
// field of its own for its arguments, the whole call is compared.
func (l *looker) same(a, b int) bool {
	conv := l.context.Conversation
	x, y := &conv.Calls[a], &conv.Calls[b]
	if x.Kind != y.Kind {
		return false
	}
	at, other := x.Args, y.Args
	if at.IsZero() && other.IsZero() {
		at, other = conv.Blocks[x.Block].Span, conv.Blocks[y.Block].Span
	} else if x.Name.Raw != y.Name.Raw {
		return false
	}
	return at.Len() == other.Len() && l.sum(at) == l.sum(other)
}

// sum returns a digest of a text by which calls are compared. So each is read once, with however many
// others it is compared.
func (l *looker) sum(at source.Span) [16]byte {
	sum, known := l.sums[at]
	if !known {
		whole := digest.Sum256(l.c.bytes(at))
		sum = [16]byte(whole[:16])
		if l.sums == nil {
			l.sums = map[source.Span][16]byte{}
		}
		l.sums[at] = sum
	}
	return sum
}

// placeholder reports whether the content of a result is a placeholder.
func (l *looker) placeholder(result int32) bool {
	conv := l.context.Conversation
	return rules.IsPlaceholder(conv.Results[result].Payload, conv.Window, l.plan.Own(result), l.c.bytes)
}

// Text implements rules.Looker.
func (l *looker) Text(at source.Span) string { return l.c.text(at) }

// Value implements rules.Looker.
func (l *looker) Value(at source.Span) source.Value { return l.c.value(at) }

// Own implements rules.Looker.
func (l *looker) Own(result int32) string { return l.plan.Own(result) }

// Echoed implements rules.Looker.
func (l *looker) Echoed(call int32) (record int32, differs bool) {
	_, record, differs = l.plan.Echoed(call)
	return record, differs
}

// Broken implements rules.Looker.
func (l *looker) Broken(record int32) bool { return l.c.broken(record) }

// Seen implements rules.Looker.
func (l *looker) Seen(r *rules.Rule, s rules.Severity) bool { return l.c.seen(r, s) }

// Emit implements rules.Looker.
func (l *looker) Emit(f rules.Finding) { l.c.emit(f) }

// settleMany is the number of operations that are decided before all rules have run.
const settleMany = 1 << 10

// Settle implements rules.Looker.
func (l *looker) Settle() {
	if c := l.c; len(c.offers.open) >= settleMany && !c.mode.Looks() {
		c.decideOpen()
	}
}

// Look implements rules.Looker. It returns an absent token if there is no such field.
func (l *looker) Look(what transcript.Member, at source.Span) transcript.Token {
	path := l.paths[what]
	if path == "" {
		return transcript.Token{Span: at}
	}
	return transcript.TokenOf(path.In(l.c.value(at)), at)
}

// Knows implements rules.Looker.
func (l *looker) Knows(what transcript.Member) bool { return l.paths[what] != "" }

// Marked implements rules.Looker.
func (l *looker) Marked(at source.Span) []source.Span {
	key := l.paths[transcript.MemberCacheMark].Key()
	if key == "" {
		return nil
	}
	message := l.c.value(at)
	if !bytes.Contains(message.Raw(), []byte(key)) {
		return nil
	}
	var out []source.Span
	for _, block := range l.paths[transcript.MemberContent].In(message).Elements() {
		if block.Get(key).Exists() {
			out = append(out, block.Span())
		}
	}
	return out
}

// Elements implements rules.Looker.
func (l *looker) Elements(at source.Span) []source.Span {
	var out []source.Span
	for _, e := range l.c.value(at).Elements() {
		out = append(out, e.Span())
	}
	return out
}

// Image implements rules.Looker.
func (l *looker) Image(block source.Span) (h picture.Header, length int64, is bool) {
	path := l.paths[transcript.MemberImage]
	if path == "" {
		return h, 0, false
	}
	for alt := range path.Alternatives() {
		if data := alt.In(l.c.value(block)); data.Kind() == source.String {
			at := source.Span{Start: data.Span().Start + 1, End: data.Span().End - 1}
			h, is = picture.Read(l.pieces(at))
			return h, at.Len() - int64(picture.Prefix(l.c.bytes(at.First(mostPrefix)))), is
		}
	}
	return h, 0, false
}

const (
	// firstPiece is the length of the text that has the headers of most images.
	firstPiece = 1 << 10
	// nextPiece is the length of each piece behind it.
	nextPiece = 16 << 10
	// mostPrefix is more than what comes before the data in a data URL.
	mostPrefix = 512
)

// pieces returns a function that reads a text piece by piece.
func (l *looker) pieces(at source.Span) func() []byte {
	n := int64(firstPiece)
	return func() []byte {
		piece := at.First(n)
		at.Start, n = piece.End, nextPiece
		return l.c.bytes(piece)
	}
}

// Strips implements rules.Looker.
func (l *looker) Strips(at source.Span) []source.Span { return l.dialect.Strips(l.c.value(at)) }

// Asides implements rules.Looker.
func (l *looker) Asides() (out []rules.Aside) {
	conv, log := l.context.Conversation, l.dialect.Log
	starts := map[int64]bool{}
	for i := range conv.Messages {
		starts[conv.Messages[i].Span().Start] = true
	}
	look := func(e source.Value, record int32) {
		if starts[e.Span().Start] {
			return
		}
		aside := rules.Aside{Span: e.Span(), Record: record}
		switch {
		case l.dialect.StripsWhole(e):
			aside.Drop = []source.Span{e.Span()}
		case l.dialect.Reads(e) == evidence.None: // otherwise it may be a message of another conversation
			aside.Drop = l.dialect.Strips(e)
		}
		if len(aside.Drop) > 0 {
			out = append(out, aside)
		}
	}
	in := func(v source.Value, record int32) {
		if !conv.Enveloped || log == nil {
			look(v, record)
			return
		}
		look(log.Message(v), record)
		if log.History != "" {
			for _, e := range log.History.In(v).Elements() {
				look(e, record)
			}
		}
	}
	switch {
	case conv.Unfolded != nil && !conv.Unfolded.Editable(), conv.Lines && conv.Index > 0: // the first conversation has those of all lines
	case conv.Lines:
		n := int32(0)
		for rec, err := range source.Records(l.c.src) {
			if n++; err != nil || !l.c.goesOn(rec.Span.Len()) {
				break
			}
			in(rec.Value, n)
		}
	default:
		record := int32(1)
		if len(conv.Messages) > 0 {
			record = conv.Messages[0].Record
		}
		for _, list := range conv.Lists {
			for _, e := range l.c.value(list).Elements() {
				in(e, record)
			}
		}
	}
	return out
}
