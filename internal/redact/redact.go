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
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"iter"
	"sort"

	"github.com/toolguard/toolguard/internal/contain"
	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
)

// A ProofError reports that a check of the redacted text finds something that a check of the
// original does not find.
type ProofError struct {
	Reason string
}

func (e *ProofError) Error() string {
	return "cannot be redacted: a check of the redacted text would " + e.Reason
}

// A NotKept is a finding that a check of the redacted text does not make as it is.
type NotKept struct {
	Rule     string
	Severity rules.Severity
	At       source.Position
	// Differs says what the finding has otherwise in the redacted text, such as "repair". It is
	// "" if there is no such finding.
	Differs string
}

func (n NotKept) String() string {
	return fmt.Sprintf("the %s of the rule %s at byte %d (line %d)", n.Severity, n.Rule, n.At.Offset, n.At.Line)
}

// A Redacted is a redacted transcript.
type Redacted struct {
	Source *source.Source // the caller closes it
	Report *engine.Report // of the redacted text
	// NotKept are the findings that depend on a text and could not be kept. NoError is set if
	// the original has errors and the redacted text has none of them.
	NotKept []NotKept
	NoError bool
}

// mostKeys is how many keys Redact tries. Filler can mean something to a reader by chance, but
// hardly with each of so many keys.
const mostKeys = 3

// Redact redacts a source and proves that a check with these options finds the same, except the
// findings of NotKept. If the source is not a transcript, the report says why, and there is no
// redacted source. If a check finds anything else, the error is a *ProofError.
func Redact(ctx context.Context, src *source.Source, opts engine.Options) (got *Redacted, err error) {
	for range mostKeys {
		key := make([]byte, 32)
		_, _ = rand.Read(key) // never fails
		got, err = redact(ctx, src, opts, key, func(s sum) sum { return s })
		if unproved := (*ProofError)(nil); !errors.As(err, &unproved) {
			break
		}
	}
	return got, err
}

// redact redacts with a key, and with the seeds of the sums of values.
func redact(ctx context.Context, src *source.Source, opts engine.Options, key []byte, seed func(sum) sum) (*Redacted, error) {
	opts.Most, opts.Shown = 0, nil // the proof is about all findings
	before, err := engine.Check(ctx, src, opts)
	if err != nil || before.Skipped != "" {
		return &Redacted{Report: before}, err
	}
	if before.File.Framing == source.FramingYAML {
		return nil, fmt.Errorf("%s: cannot be redacted: it is YAML", src.Name())
	}
	p, err := newSurvey(src, opts, before)
	if err != nil {
		return nil, err
	}
	r := newRedactor(p, newVocabulary(opts.Dialects), key, seed)
	var failed error
	for {
		r.filler, r.learned.changed = newFiller(seed, r.vocabulary.words), false
		out, err := r.source(ctx, src)
		if err != nil {
			return nil, err
		}
		if r.learned.changed {
			_ = out.Close()
			continue
		}
		after, err := engine.Check(ctx, out, opts)
		if err != nil {
			_ = out.Close()
			return nil, err
		}
		got := &Redacted{Source: out, Report: after}
		if err = got.compare(before); err == nil {
			return got, nil
		}
		_ = out.Close()
		if failed != nil {
			return nil, failed
		}
		failed, p.dropsSchemas = err, true // a limit that was removed can make another part of a schema fail
	}
}

// newRedactor returns a redactor that follows a survey.
func newRedactor(p *survey, words *vocabulary, key []byte, seed func(sum) sum) *redactor {
	return &redactor{
		filler: newFiller(seed, words.words), vocabulary: words, survey: p, mac: hmac.New(sha256.New, key), scanner: source.NewScanner(),
		learned: &lessons{lengths: map[sum]int{}, marks: map[sum]variant{}, containers: map[int64]bool{}, survey: p},
	}
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
// affect the next.
func (r *redactor) write(ctx context.Context, w *bufio.Writer, src *source.Source) error {
	in, out := &input{src: src}, &output{to: w}
	for rec, err := range source.Records(src) {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, f := range rec.Faults {
			if f.Kind == source.FaultGlued { // a record that is torn comes before it
				r.between(in, out, f.Span.Start, false)
				in.seek(f.Span.Start, f.Span.End)
				r.run(in, out, place{remote: true}, false)
			}
		}
		r.between(in, out, rec.Span.Start, false)
		r.record(in, out, rec)
		if err := cmp.Or(in.err, r.err, src.Err()); err != nil {
			return err
		}
	}
	r.between(in, out, src.Size(), false)
	return cmp.Or(in.err, r.err, src.Err())
}

// record redacts a record up to where it stops being JSON. The rest becomes filler.
func (r *redactor) record(in *input, out *output, rec source.Record) {
	at := place{remote: !rec.Readable()}
	stop, deep := rec.Span.End, false
	for _, f := range rec.Faults {
		switch f.Kind {
		case source.FaultInvalidJSON, source.FaultTooDeep:
			stop, deep = min(stop, f.Span.Start), f.Kind == source.FaultTooDeep
		case source.FaultInvalidUTF8:
			out.faults = append(out.faults, poke{f.Span.Start, notUTF8[min(int(f.Span.Len()), len(notUTF8)-1)]})
		case source.FaultLoneSurrogate:
			out.faults = append(out.faults, poke{f.Span.Start, `\ud800`})
		}
	}
	sort.Slice(out.faults, func(i, j int) bool { return out.faults[i].at < out.faults[j].at })
	in.seek(in.at, stop)
	inString := r.run(in, out, at, stop < rec.Span.End)
	in.seek(stop, rec.Span.End)
	if stop < rec.Span.End && in.more() {
		if deep {
			in.copy(out, 1)
		} else {
			in.where, in.raw = func(i int) int { return i }, nil
			r.fault(in, out, inString)
		}
	}
	r.between(in, out, rec.Span.End, true)
}

// notUTF8 are runs of so many bytes that are not UTF-8.
var notUTF8 = [...]string{"", "\xff", "\xe0\xa0", "\xf0\x90\x80"}

// between redacts what is not JSON up to an offset. White space at both ends of a line, NUL bytes
// and byte order marks separate records, so they stay. White space between words would tell their
// lengths. inLine says that there is text before it in its line.
func (r *redactor) between(in *input, out *output, end int64, inLine bool) {
	var blank []byte // white space that may be between words
	for in.seek(in.at, end); in.more(); {
		n := len(in.page)
		piece := make([]byte, 0, n+len(blank))
		for i, c := range in.page {
			switch c {
			case '\n', 0:
				piece, blank = append(append(piece, blank...), c), blank[:0]
				inLine = false
			case ' ', '\t', '\r':
				switch {
				case !inLine:
					piece = append(piece, c)
				case len(blank) < mostHeld:
					blank = append(blank, c)
				default: // no words are so far apart
					piece, blank = append(append(piece, blank...), c), blank[:0]
				}
			default:
				if in.at == 0 && i < len(byteOrderMark) && in.page[i] == byteOrderMark[i] {
					piece = append(piece, c)
					continue
				}
				for range len(blank) + 1 {
					piece = append(piece, inert)
				}
				inLine, blank = true, blank[:0]
			}
		}
		out.write(piece)
		in.skip(n)
	}
	out.write(blank)
}

// byteOrderMark can begin a file.
const byteOrderMark = "\xEF\xBB\xBF"

// compare notes the findings of the original that are not kept. It returns an error if there are
// others, or if a check reads something else.
func (r *Redacted) compare(before *engine.Report) error {
	after := r.Report
	x, y := before.File, after.File
	switch {
	case after.Skipped != "":
		for f := range before.Findings.All() {
			if f.Rule.Name == "invalid-json" {
				return &ProofError{fmt.Sprintf("not recognize a transcript, because its messages are behind the invalid JSON of line %d, where everything becomes filler", f.Start.Line)}
			}
		}
		return &ProofError{"not recognize a transcript"}
	case x.Dialect != y.Dialect:
		return &ProofError{fmt.Sprintf("read %s instead of %s", cmp.Or(y.Dialect, "no messages"), cmp.Or(x.Dialect, "no messages"))}
	case x.Container != y.Container || x.Framing != y.Framing || x.Records != y.Records:
		return &ProofError{fmt.Sprintf("read the container %s with %d records instead of %s with %d", y.Container, y.Records, x.Container, x.Records)}
	case x.Conversations != y.Conversations || before.Calls != after.Calls || before.Results != after.Results:
		return &ProofError{fmt.Sprintf("find %d conversations, %d calls and %d results instead of %d, %d and %d",
			y.Conversations, after.Calls, after.Results, x.Conversations, before.Calls, before.Results)}
	}
	// Compressed input is only checked, but its redacted text is not compressed.
	repaired := x.CheckOnly == ""
	errors, kept := 0, 0
	for a, b := range together(before, after, repaired, repaired && y.CheckOnly == "") {
		for len(a) > 0 || len(b) > 0 {
			switch {
			case len(a) == 0 || len(b) > 0 && less(b[0], a[0]):
				return &ProofError{"also find " + b[0].lost("").String()}
			case len(b) == 0 || less(a[0], b[0]):
				if a[0].severity == rules.Error {
					errors++
				}
				r.NotKept = append(r.NotKept, a[0].lost(""))
				a = a[1:]
			case b[0].severity > a[0].severity:
				return &ProofError{fmt.Sprintf("find %s with the severity %s", a[0].lost(""), b[0].severity)}
			default:
				if a[0].severity == rules.Error {
					errors++
				}
				if b[0].severity == rules.Error {
					kept++
				}
				if differs := a[0].differs(b[0]); differs != "" {
					r.NotKept = append(r.NotKept, a[0].lost(differs))
				}
				a, b = a[1:], b[1:]
			}
		}
	}
	r.NoError = errors > 0 && kept == 0
	return nil
}

// A fact is what a redacted text must preserve of a finding.
type fact struct {
	rule                string
	severity            rules.Severity
	at                  source.Position
	end                 int64
	conversation, turn  int
	record              int32
	related             string
	repairs, byStrategy bool
	class               string
}

func less(a, b fact) bool { return order(a, b) < 0 }

// lost returns a finding that is not kept, and what it has otherwise.
func (x fact) lost(differs string) NotKept { return NotKept{x.rule, x.severity, x.at, differs} }

// differs says in what a finding at the same place differs, "" if in nothing.
func (x fact) differs(y fact) string {
	switch {
	case x == y:
		return ""
	case x.severity != y.severity:
		return "severity"
	case x.repairs != y.repairs || x.byStrategy != y.byStrategy || x.class != y.class:
		return "repair"
	}
	return "place"
}

// order orders findings by place and rule.
func order(a, b fact) int {
	return cmp.Or(cmp.Compare(a.at.Offset, b.at.Offset), cmp.Compare(a.end, b.end), cmp.Compare(a.rule, b.rule))
}

// together yields the facts about the findings of two reports, those at one offset together and in
// order. Reports can have many findings, so they are not all in memory.
func together(before, after *engine.Report, repairsA, repairsB bool) iter.Seq2[[]fact, []fact] {
	return func(yield func(a, b []fact) bool) {
		nextA, stopA := iter.Pull(facts(before, repairsA))
		defer stopA()
		nextB, stopB := iter.Pull(facts(after, repairsB))
		defer stopB()
		x, moreA := nextA()
		y, moreB := nextB()
		for moreA || moreB {
			at := x.at.Offset
			if !moreA || moreB && y.at.Offset < at {
				at = y.at.Offset
			}
			var a, b []fact
			for ; moreA && x.at.Offset == at; x, moreA = nextA() {
				a = append(a, x)
			}
			for ; moreB && y.at.Offset == at; y, moreB = nextB() {
				b = append(b, y)
			}
			for _, facts := range [][]fact{a, b} {
				sort.SliceStable(facts, func(i, j int) bool {
					x, y := facts[i], facts[j]
					return cmp.Or(order(x, y), cmp.Compare(x.related, y.related)) < 0
				})
			}
			if !yield(a, b) {
				return
			}
		}
	}
}

// facts yields the facts about the findings of a report, in the order of their offsets, with their
// repairs if repaired is true.
func facts(r *engine.Report, repaired bool) iter.Seq[fact] {
	return func(yield func(fact) bool) {
		for f := range r.Findings.All() {
			x := fact{
				rule: f.Rule.Name, severity: f.Severity, at: f.Start, end: f.End.Offset,
				conversation: f.Conversation, turn: f.Turn, record: int32(f.Record),
			}
			x.at.Char = 0 // filler has other characters in the same bytes
			for _, at := range f.RelatedAt {
				x.related += fmt.Sprintf("%d ", at.Offset)
			}
			if f.Fix != nil && repaired {
				x.repairs, x.byStrategy, x.class = true, f.Fix.ByStrategy, f.Fix.Class.String()
			}
			if !yield(x) {
				return
			}
		}
	}
}
