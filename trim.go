package toolguard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/trim"
)

// A Boundary says between which messages Trim may cut a history. Each one includes the ones
// before it. No boundary parts a call from its result, or the parallel calls of a turn.
type Boundary int

// The boundaries.
const (
	BoundaryUser Boundary = iota // before a message that a human typed
	BoundaryLoop                 // also before an assistant message after a finished tool loop
	BoundaryPair                 // also between the exchanges of a tool loop
)

// A TrimTo says what Trim keeps. The system prompt and the declared tools always stay. At most
// one of KeepLast, KeepLastUser and Target may be set.
type TrimTo struct {
	// MaxTokens and MaxBytes limit the result; 0 means no limit. Trim keeps as much as fits.
	MaxTokens, MaxBytes int64
	// Count counts the tokens of a text, which is a part of the JSON. If it is nil, Trim
	// estimates them, and keeps 15 % below MaxTokens.
	Count func(text string) (int, error)
	// KeepLast keeps at least so many messages at the end, and KeepLastUser so many messages
	// typed by a human, with all that follows them.
	KeepLast, KeepLastUser int
	// Target is the index of the message that is to be the first one kept.
	Target *int
	// KeepFirst keeps at most so many messages at the start, and drops what is between them
	// and the end that the other fields keep, or everything after them.
	KeepFirst int
	// Newer prefers the boundary after the target, and so keeps less.
	Newer    bool
	Boundary Boundary
	// Pin is the number of messages at the start that stay, with their exchanges.
	Pin int
	// ResultsMaxBytes is the largest size of a result, at least 200. Longer ones are shortened,
	// except the last KeepResults. 0 means no limit.
	ResultsMaxBytes int64
	KeepResults     int
}

// Trimmed says what Trim did.
type Trimmed struct {
	Before, After *Report
	// Dropped is the number of dropped messages, and Kept that of the others.
	Dropped, Kept int
	// Index is the index of the first message after the cut, and Reason says why it is there.
	Index  int
	Reason string
	// Tokens is the largest number of tokens of the result; it is -1 if Count is set and
	// MaxTokens is not.
	Tokens int64
	// Shortened is the number of shortened results, and Spared that of the results that are longer
	// than ResultsMaxBytes but among the last KeepResults.
	Shortened, Spared int
	// CacheMarks is the number of dropped marks for the prompt cache.
	CacheMarks int
	// UnsentRecords is the number of removed records of a log that its agent does not send, such as
	// those of sub-agents and of other branches.
	UnsentRecords int
	// Edits turn the input into the output.
	Edits []Edit
}

// Changed reports whether Trim changed anything.
func (t *Trimmed) Changed() bool { return len(t.Edits) > 0 }

// A NoCutError reports that the history cannot be cut at a boundary so that the result is what
// TrimTo asks for. Trim then writes nothing.
type NoCutError struct {
	Reason string
	// Instead asks for what succeeds: other boundaries, shorter results, or, if neither helps,
	// larger limits. It is nil if nothing is known to succeed.
	Instead *TrimTo
	way     *trim.Way
}

// Error implements error.
func (e *NoCutError) Error() string {
	if e.way == nil {
		return "no safe cut: " + e.Reason
	}
	return "no safe cut: " + e.Reason + ". " + e.way.Says(func(c trim.Change) string {
		if c.Field == "Boundary" {
			return "Boundary: " + boundaryNames[e.way.Request.Boundary]
		}
		return fieldNames[c.Field] + ": " + c.Value
	}, ", ")
}

// boundaryNames are the names of the boundaries in this package.
var boundaryNames = [...]string{trim.User: "BoundaryUser", trim.Loop: "BoundaryLoop", trim.Pair: "BoundaryPair"}

// A NotTrimmedError reports that the history is of a kind that is not trimmed, such as some session
// logs. Trim then writes nothing.
type NotTrimmedError struct{ Reason string }

// Error implements error.
func (e *NotTrimmedError) Error() string { return "not trimmed: " + e.Reason }

// Trim reads a transcript with one list of messages, or some session logs, from r, shortens it, and
// writes it to w. It drops whole messages, or records, and shortens results; every other byte stays as
// it was, except for links of records to dropped ones. If nothing needs to
// be trimmed, it writes the transcript as it was. If w is nil, Trim only says what it would do.
//
// Before Trim writes, it reads the result again and proves that no rule reports more problems than
// before, so that a history without errors has none afterwards. Use Target or Request to name the
// provider. It writes nothing if it returns a *NoCutError, a *NotTrimmedError, a *ProofError or an
// error of Check.
func Trim(ctx context.Context, w io.Writer, r io.Reader, to TrimTo, opts ...Option) (*Trimmed, error) {
	o, err := newOptions(opts)
	if err != nil {
		return nil, err
	}
	src, err := source.Spool(ctx, o.name, r, 0)
	if err != nil {
		return nil, public(err)
	}
	defer src.Close()
	done, out, err := cut(ctx, src, to, o)
	if err != nil {
		return nil, err
	}
	if w != nil {
		if _, err := io.Copy(w, stream{out.Stream()}); err != nil {
			return nil, err
		}
	}
	return done, nil
}

// TrimBytes is Trim for input in memory. It returns the trimmed text, or b itself if nothing needs
// to be trimmed. It writes no temporary file and never changes b.
func TrimBytes(ctx context.Context, b []byte, to TrimTo, opts ...Option) ([]byte, *Trimmed, error) {
	o, err := newOptions(opts)
	if err != nil {
		return nil, nil, err
	}
	src, err := source.Hold(ctx, o.name, b)
	if err != nil {
		return nil, nil, public(err)
	}
	done, out, err := cut(ctx, src, to, o)
	switch {
	case err != nil:
		return nil, nil, err
	case !done.Changed():
		return b, done, nil
	}
	return out.Text(), done, nil
}

// cut trims a source. It returns what was done, and the source to write.
func cut(ctx context.Context, src *source.Source, to TrimTo, o *options) (done *Trimmed, cut *source.Source, err error) {
	defer contained(&err)
	req := &trim.Request{
		KeepLast: to.KeepLast, KeepLastUser: to.KeepLastUser, Target: to.Target, KeepFirst: to.KeepFirst,
		MaxBytes: to.MaxBytes, MaxTokens: to.MaxTokens, Boundary: boundary(to.Boundary),
		Newer: to.Newer, Pin: to.Pin, ResultsMax: to.ResultsMaxBytes, KeepResults: to.KeepResults,
	}
	if to.Count != nil {
		req.Count = func(text []byte) (float64, error) {
			n, err := to.Count(string(text))
			if err == nil && n < 0 {
				err = fmt.Errorf("expected a number of tokens from 0, got %d", n)
			}
			return float64(n), err
		}
	}
	if err := req.Validate(func(field string) string { return fieldNames[field] }); err != nil {
		return nil, nil, err
	}
	t, err := engine.Trim(ctx, src, o.Options, req)
	if err := cmp.Or(src.Err(), err); err != nil {
		return nil, nil, publicTrim(err, to)
	}
	out := &Trimmed{
		Dropped: t.Messages - t.Pinned - t.Kept, Kept: t.Pinned + t.Kept, Index: t.Cut.Index, Reason: t.Cut.Reason,
		Tokens: t.Tokens, Shortened: len(t.Shortened), Spared: t.Spared, CacheMarks: t.Marks, UnsentRecords: t.Unsent,
	}
	if out.Before, err = report(src, t.Before); err != nil {
		return nil, nil, err
	}
	if out.After, err = report(src, t.After); err != nil {
		return nil, nil, err
	}
	if t.Changed() {
		src, out.Edits = t.Pieces.Source(), edits(t.Pieces.Edits())
	}
	return out, src, src.Err()
}

// boundary returns a boundary of this package as one of a request, which is invalid if it is.
func boundary(b Boundary) trim.Boundary {
	if b < BoundaryUser || b > BoundaryPair {
		b = BoundaryPair + 1
	}
	return trim.Boundary(b)
}

// fieldNames are the names of the fields of TrimTo by those of a request.
var fieldNames = map[string]string{
	"KeepLast": "KeepLast", "KeepLastUser": "KeepLastUser", "Target": "Target", "KeepFirst": "KeepFirst", "MaxBytes": "MaxBytes",
	"MaxTokens": "MaxTokens", "Pin": "Pin", "KeepResults": "KeepResults", "ResultsMax": "ResultsMaxBytes", "Boundary": "Boundary",
}

// publicTrim returns an error of trim as one of this package. to is what was asked for.
func publicTrim(err error, to TrimTo) error {
	var none *trim.NoCutError
	if errors.As(err, &none) {
		e := &NoCutError{Reason: none.Reason, way: none.Way}
		if e.way != nil {
			r := &e.way.Request
			to.Boundary, to.Pin, to.MaxBytes, to.MaxTokens = Boundary(r.Boundary), r.Pin, r.MaxBytes, r.MaxTokens
			to.ResultsMaxBytes, to.KeepResults = r.ResultsMax, r.KeepResults
			e.Instead = &to
		}
		return e
	}
	var refused *trim.RefusedError
	if errors.As(err, &refused) {
		return &NotTrimmedError{refused.Reason}
	}
	return public(err)
}
