package engine

import (
	"context"
	"iter"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/repair"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A View is a conversation as a check sees it, once the rules have run. It is valid until the next
// one.
type View struct {
	*transcript.Conversation
	Pairing pairing.Pairing
	Dialect *dialect.Dialect
	c       *checker
	plan    *repair.Plan
}

// See checks a source like Check and passes each conversation to see. An error of see ends the check.
func See(ctx context.Context, src *source.Source, opts Options, see func(*View) error) (*Report, error) {
	c := newChecker(src, opts)
	c.mode = seeing{checking{c}, see}
	return c.run(ctx)
}

// SeeUnits checks a source like Units, and passes each conversation to see before its unit to take.
func SeeUnits(ctx context.Context, src *source.Source, opts Options, see func(*View) error, take func(*Unit) error) (*Report, error) {
	u := newUnits(src, opts, take)
	u.mode = seeing{checking{u.checker}, see}
	return u.run(ctx)
}

// seeing is the mode of a check that passes each conversation on.
type seeing struct {
	checking
	see func(*View) error
}

// Looks implements mode.
func (seeing) Looks() bool { return true }

// Conversation implements mode.
func (c seeing) Conversation(conv *transcript.Conversation, err error) error {
	if err = c.checking.Conversation(conv, err); err != nil {
		return err
	}
	plan := &c.now.plan
	return c.see(&View{Conversation: conv, Pairing: plan.Pairing, Dialect: plan.Dialect, c: c.checker, plan: plan})
}

// Bytes returns the bytes of a span of the conversation, which refers to its unfolded text if it has
// one. They are valid until the next call, and empty once the source has failed.
func (v *View) Bytes(at source.Span) []byte { return v.c.bytes(at) }

// Value returns the value at a span of the conversation. It is valid until the next call.
func (v *View) Value(at source.Span) source.Value { return v.c.value(at) }

// Content returns the span of the content of a message, zero if it has none.
func (v *View) Content(message source.Span) source.Span {
	t := v.c.now.Look(transcript.MemberContent, message)
	if !t.Present() {
		return source.Span{}
	}
	return t.Span
}

// Place returns the index of the message that contains a span, from 0, -1 for none, and how the
// provider names it or its block: messages.2.content.1.
func (v *View) Place(at source.Span) (index int, path string) { return v.c.now.context.Place(at) }

// Missing reports whether a check finds that a call has no result.
func (v *View) Missing(call int) bool { return v.c.now.context.Unanswered(call) }

// Placeholder reports whether a result says that none was recorded.
func (v *View) Placeholder(result int32) bool { return v.plan.Known(result) }

// Origin returns where a span of the conversation is in the source.
func (v *View) Origin(at source.Span) source.Span {
	if v.Unfolded == nil || at.IsZero() {
		return at
	}
	return v.Unfolded.Origin(at)
}

// RecordSpan returns the span of the record with a number, from 1, of a source that has several. It is
// zero in others.
func (v *View) RecordSpan(n int32) source.Span {
	file := v.c.report.File
	if file.Document.Index != 0 || n < 1 || int(n) > file.Starts.Len() {
		return source.Span{}
	}
	at := source.Span{Start: file.Starts.At(int(n) - 1), End: v.c.src.Size()}
	if int(n) < file.Starts.Len() {
		at.End = file.Starts.At(int(n))
	}
	return at
}

// Findings yields the findings about the conversation. Those that are only counted are not among
// them, and their places in the file are not known yet.
func (v *View) Findings() iter.Seq[*rules.Finding] {
	return func(yield func(*rules.Finding) bool) {
		for f := range v.c.found.findings(v.c.current) {
			if !yield(&f.Finding) {
				return
			}
		}
	}
}

// Provider returns the name of the profile by which the conversation is judged.
func (v *View) Provider() string { return v.c.now.context.Profile.Name }
