// Package redact replaces the contents of a transcript by filler, so that it can be shown to
// others. It keeps what decides how the transcript is read, and proves it: a check of the
// redacted text finds the same.
//
// Only what is on a list stays: the keys and values that toolguard itself looks for, times,
// short numbers beside them, and the syntax. Everything else becomes filler of the same length
// from a keyed hash, including what is not JSON. With a random key, nobody can compute the filler
// for a guess.
package redact

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/toolguard/toolguard/internal/contain"
	"github.com/toolguard/toolguard/internal/container"
	"github.com/toolguard/toolguard/internal/detect"
	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
)

// A level says how much stays.
type level uint8

const (
	noPayload   level = iota // nothing of arguments and results
	sameEscapes              // the same, but escaped letters are those of equal texts without escapes
	noArguments
	allWords // keys that are words everywhere
	levels
)

// A ProofError reports that a check of the redacted text finds something else.
type ProofError struct {
	Reason string
}

func (e *ProofError) Error() string {
	return "cannot be redacted: a check of the redacted text would " + e.Reason
}

// A Redacted is a redacted transcript.
type Redacted struct {
	Source *source.Source // the caller closes it
	Report *engine.Report // of the redacted text
}

// Redact redacts a source and proves that a check with these options finds the same. If the
// source is not a transcript, the report says why, and there is no redacted source. If the
// proof fails, the error is a *ProofError.
func Redact(ctx context.Context, src *source.Source, opts engine.Options) (*Redacted, error) {
	var got *Redacted
	var err error
	// Filler can have a meaning by chance, such as the prefix of an id. It hardly has it twice.
	for range 2 {
		key := make([]byte, 32)
		_, _ = rand.Read(key) // never fails
		if got, err = redact(ctx, src, opts, key); !errors.As(err, new(*ProofError)) {
			break
		}
	}
	return got, err
}

func redact(ctx context.Context, src *source.Source, opts engine.Options, key []byte) (*Redacted, error) {
	return redactHolding(ctx, src, opts, key, mostHeld)
}

// redactHolding redacts with at most that many characters of a string in memory.
func redactHolding(ctx context.Context, src *source.Source, opts engine.Options, key []byte, most int) (*Redacted, error) {
	before, err := engine.Check(ctx, src, opts)
	if err != nil || before.Skipped != "" {
		return &Redacted{Report: before}, err
	}
	held, err := held(src, opts)
	if err != nil {
		return nil, err
	}
	words := newVocabulary(opts.Dialects)
	var failed error
	escapes := false
	for l := range levels {
		r := &redactor{filler: newFiller(key, words), level: l, phrase: words.phrases, spans: held.at(l), most: most}
		if l == sameEscapes && !escapes || l == noArguments && len(held.results) == 0 {
			continue
		}
		out, err := r.source(ctx, src)
		if err != nil {
			return nil, err
		}
		escapes = r.escapes
		after, err := engine.Check(ctx, out, opts)
		if err == nil {
			err = same(before, after)
		}
		if err == nil {
			return &Redacted{Source: out, Report: after}, nil
		}
		_ = out.Close()
		var proof *ProofError
		if !errors.As(err, &proof) {
			return nil, err
		}
		failed = cmp.Or(failed, err)
	}
	return nil, failed
}

// spans are places of a source, in order, without those inside others.
type spans struct{ list []source.Span }

// has reports whether an offset is in one of the spans.
func (s *spans) has(offset int64) bool {
	i, _ := slices.BinarySearchFunc(s.list, offset, func(at source.Span, offset int64) int {
		if at.End <= offset {
			return -1
		}
		return 1
	})
	return i < len(s.list) && s.list[i].Start <= offset
}

// payloads are the arguments and the results of a source.
type payloads struct{ arguments, results []source.Span }

// held returns the payloads of a source.
func held(src *source.Source, opts engine.Options) (*payloads, error) {
	p := &payloads{}
	_, conversations := container.Read(src, detect.Options{Dialects: opts.Dialects, Dialect: opts.Dialect, Request: opts.Request}, nil)
	for conv, err := range conversations {
		if err != nil {
			return nil, err
		}
		add := func(to *[]source.Span, at source.Span) {
			if conv.Unfolded != nil && !at.IsZero() {
				at = conv.Unfolded.Origin(at)
			}
			if !at.IsZero() {
				*to = append(*to, at)
			}
		}
		for i := range conv.Calls {
			c := &conv.Calls[i]
			if conv.Blocks[c.Block].Span != c.Args { // else it has no field of its own for them
				add(&p.arguments, c.Args)
			}
		}
		for i := range conv.Results {
			res := &conv.Results[i]
			if res.Form == source.String || res.Form == source.Object {
				add(&p.results, res.Payload)
			}
			add(&p.results, res.Beside)
		}
	}
	return p, nil
}

// at returns the payloads from which nothing stays.
func (p *payloads) at(l level) spans {
	var list []source.Span
	switch l {
	case noPayload, sameEscapes:
		list = slices.Concat(p.arguments, p.results)
	case noArguments:
		list = slices.Clone(p.arguments)
	}
	slices.SortFunc(list, func(a, b source.Span) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End)) })
	out := list[:0]
	for _, s := range list {
		if len(out) == 0 || s.Start >= out[len(out)-1].End {
			out = append(out, s)
		}
	}
	return spans{out}
}

// source returns the redacted source. It is in memory if the source is.
func (r *redactor) source(ctx context.Context, src *source.Source) (*source.Source, error) {
	out, err := r.copy(ctx, src)
	if err == nil && out.Size() != src.Size() {
		_ = out.Close()
		err = fmt.Errorf("%s: redacted text has %d bytes instead of %d", src.Name(), out.Size(), src.Size())
	}
	return out, err
}

// copy writes the redacted text and returns it as a source.
func (r *redactor) copy(ctx context.Context, src *source.Source) (*source.Source, error) {
	if text := src.Text(); text != nil {
		b := bytes.NewBuffer(make([]byte, 0, len(text)))
		w := bufio.NewWriter(b)
		if err := cmp.Or(r.write(ctx, w, src), w.Flush()); err != nil {
			return nil, err
		}
		return source.Hold(ctx, src.Name(), b.Bytes())
	}
	from, to := io.Pipe()
	wrote := make(chan error, 1)
	contain.Go(func() {
		w := bufio.NewWriterSize(to, 64<<10)
		err := r.write(ctx, w, src)
		wrote <- err
		to.CloseWithError(cmp.Or(err, w.Flush()))
	}, func(caught *contain.Error) {
		to.CloseWithError(caught)
		wrote <- caught
	})
	out, err := source.Spool(ctx, src.Name(), from, 0)
	from.CloseWithError(context.Canceled)
	if failed := <-wrote; err != nil && failed != nil {
		err = failed // it begins with the name already
	}
	return out, err
}

// write writes the redacted text. Each record is redacted alone, so that a broken one does not
// affect the next. Nobody knows where the payloads of a broken one are, so its times do not stay.
func (r *redactor) write(ctx context.Context, w *bufio.Writer, src *source.Source) error {
	at := int64(0)
	from := &pages{src: src}
	to := func(end int64, start place) error {
		r.run(&input{pages: from, at: at, end: end}, &output{to: w}, start)
		at = end
		return cmp.Or(from.err, src.Err())
	}
	for rec, err := range source.Records(src) {
		if err != nil {
			return err
		}
		if err := cmp.Or(ctx.Err(), to(rec.Span.Start, place{}), to(rec.Span.End, place{remote: !rec.Readable()})); err != nil {
			return err
		}
	}
	return to(src.Size(), place{})
}

// same returns an error unless two reports say the same of two texts.
func same(before, after *engine.Report) error {
	x, y := before.File, after.File
	switch {
	case after.Skipped != "":
		return &ProofError{"not recognize a transcript"}
	case x.Dialect != y.Dialect:
		return &ProofError{fmt.Sprintf("read the dialect %s instead of %s", y.Dialect, x.Dialect)}
	case x.Container != y.Container || x.Framing != y.Framing || x.Records != y.Records:
		return &ProofError{fmt.Sprintf("read the container %s with %d records instead of %s with %d", y.Container, y.Records, x.Container, x.Records)}
	case x.Conversations != y.Conversations || before.Calls != after.Calls || before.Results != after.Results:
		return &ProofError{fmt.Sprintf("find %d conversations, %d calls and %d results instead of %d, %d and %d",
			y.Conversations, after.Calls, after.Results, x.Conversations, before.Calls, before.Results)}
	}
	// Compressed input is only checked, but its redacted text is not compressed.
	repaired := x.CheckOnly == ""
	a, b := summary(before, repaired), summary(after, repaired && y.CheckOnly == "")
	for i := range max(len(a), len(b)) {
		switch {
		case i >= len(a) || i < len(b) && less(b[i], a[i]):
			return &ProofError{"also find " + b[i].String()}
		case i >= len(b) || a[i] != b[i]:
			return &ProofError{"not find " + a[i].String()}
		}
	}
	return nil
}

// A fact is what a redacted text must preserve of a finding.
type fact struct {
	rule                string
	severity            rules.Severity
	start, end          int64
	line                int
	conversation, turn  int
	record              int32
	related             string
	repairs, byStrategy bool
	class               string
	n                   int
}

func (f fact) String() string {
	return fmt.Sprintf("the %s of the rule %s at byte %d (line %d)", f.severity, f.rule, f.start, f.line)
}

func less(a, b fact) bool {
	return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end), cmp.Compare(a.rule, b.rule)) < 0
}

// summary returns the facts about the findings of a report, in order, with their repairs if
// repaired is true.
func summary(r *engine.Report, repaired bool) []fact {
	var out []fact
	for f, n := range r.All() {
		x := fact{
			rule: f.Rule.Name, severity: f.Severity, start: f.Start.Offset, end: f.End.Offset, line: f.Start.Line,
			conversation: f.Conversation, turn: f.Turn, record: int32(f.Record), n: n,
		}
		for _, at := range f.RelatedAt {
			x.related += fmt.Sprintf("%d ", at.Offset)
		}
		if f.Fix != nil && repaired {
			x.repairs, x.byStrategy, x.class = true, f.Fix.ByStrategy, f.Fix.Class.String()
		}
		out = append(out, x)
	}
	slices.SortStableFunc(out, func(a, b fact) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end), cmp.Compare(a.rule, b.rule))
	})
	return out
}
