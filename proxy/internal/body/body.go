// Package body knows what becomes of the body of a request: it is whole, is repaired, or cannot be
// read. It does not know HTTP.
package body

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"time"

	"github.com/toolguard/toolguard"
)

// An Outcome is what became of a body.
type Outcome uint8

// The outcomes.
const (
	Whole      Outcome = iota // there is nothing to repair; errors can be left
	Repaired                  // Body is the repaired text, which is not packed
	Unreadable                // Reason says why
)

// A Reason says why a body is not read. It is a word for logs and metrics.
type Reason string

// The reasons for which a body is not read.
const (
	BadJSON      Reason = "json"           // it is not JSON, or damaged
	OtherBody    Reason = "other"          // it is no request with a history
	OtherDialect Reason = "dialect"        // its messages are in another format
	Encoding     Reason = "encoding"       // its Content-Encoding is unknown
	Corrupt      Reason = "corrupt"        // it cannot be unpacked
	Large        Reason = "large"          // it is larger than the limit
	Unpacked     Reason = "unpacked"       // it is larger than the limit when it is unpacked
	Ratio        Reason = "ratio"          // it is a bomb
	Memory       Reason = "memory"         // what is left of the memory is not enough
	Heavy        Reason = "heavy"          // it needs more memory than all bodies may have
	Proof        Reason = "proof"          // the repair has no proof
	Late         Reason = "timeout"        // there was no time for it
	Fault        Reason = "internal-error" // a bug
	Signed       Reason = "signed"         // a signature covers it
	Upgrade      Reason = "upgrade"        // the connection is no longer HTTP, such as a WebSocket
	Trailer      Reason = "trailer"        // fields follow it, such as checksums
)

// A Result is what became of a body.
type Result struct {
	Outcome Outcome
	Reason  Reason // of an unreadable body
	Body    []byte // what goes out: the same slice unless it is repaired
	Text    []byte // the unpacked text that was read, nil if none was
	// Fixed is nil for an unreadable body.
	Fixed *toolguard.Fixed
}

// Left returns the errors that are left after the repair.
func (r *Result) Left() []toolguard.Finding {
	if r.Fixed == nil {
		return nil
	}
	return errorsOf(r.Fixed.After)
}

// Refused returns the error for which a body is refused, where it is in the text that came: other
// repairs can have moved and renamed it in the text that would have gone out. There is an error left.
func (r *Result) Refused() toolguard.Finding {
	left, came := r.Left(), errorsOf(r.Fixed.Before)
	for _, same := range []func(a, b *toolguard.Finding) bool{
		func(a, b *toolguard.Finding) bool { return a.CallID == b.CallID && a.Message == b.Message },
		func(_, b *toolguard.Finding) bool { return b.Repair == nil },
		func(_, _ *toolguard.Finding) bool { return true },
	} {
		for i := range left {
			for j := range came {
				if left[i].Rule == came[j].Rule && same(&left[i], &came[j]) {
					return came[j]
				}
			}
		}
	}
	f := left[0]
	f.Pointer = "" // of a text that nobody has sent
	return f
}

// Broken reports whether the body had errors, whatever became of them.
func (r *Result) Broken() bool {
	return r.Fixed != nil && r.Fixed.Before.Worst() == toolguard.Error
}

// errorsOf returns the findings of a report that a provider would refuse.
func errorsOf(report *toolguard.Report) []toolguard.Finding {
	var out []toolguard.Finding
	for _, f := range report.Findings {
		if f.Severity == toolguard.Error {
			out = append(out, f)
		}
	}
	return out
}

// A Checker checks and repairs bodies, a few at a time.
type Checker struct {
	unpacked int64         // how large a body may become
	timeout  time.Duration // for waiting and working together
	turns    chan struct{} // one for each body that is being checked
}

// New returns a Checker of bodies with at most unpacked bytes of text, each of which takes at most
// timeout.
func New(unpacked int64, timeout time.Duration) *Checker {
	return &Checker{unpacked: unpacked, timeout: timeout, turns: make(chan struct{}, 2*runtime.GOMAXPROCS(0))}
}

// checkWork and checkBase are how much memory the check of a text takes: that many times its size, with
// its repair, and a constant. Many small messages take most. Where that is not enough, the budget ends the
// check.
const (
	checkWork = 6
	checkBase = 1 << 20
)

// LeastMemory is the least budget with which bodies are repaired: about 140 KB of text.
const LeastMemory = 2 << 20

// Check repairs a body with this Content-Encoding as far as options allow. It takes the memory for that
// from a share, which has the body, and leaves what the body that goes out needs.
func (c *Checker) Check(ctx context.Context, b []byte, encoding string, share *Share, options ...toolguard.Option) Result {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	select {
	case c.turns <- struct{}{}:
		defer func() { <-c.turns }()
	case <-ctx.Done():
		return Result{Outcome: Unreadable, Reason: Late, Body: b}
	}
	held := share.Held()
	r := c.check(ctx, b, encoding, share, options)
	if r.Outcome == Repaired {
		held = int64(cap(r.Body))
	}
	share.Keep(held)
	return r
}

// check is Check for a body whose turn it is.
func (c *Checker) check(ctx context.Context, b []byte, encoding string, share *Share, options []toolguard.Option) (r Result) {
	r = Result{Outcome: Unreadable, Body: b}
	// A bug must not keep a request from a provider who might accept it.
	defer func() {
		if recover() != nil {
			r = Result{Outcome: Unreadable, Reason: Fault, Body: b}
		}
	}()
	text, err := unpack(b, strings.ToLower(strings.TrimSpace(encoding)), c.unpacked, share)
	switch {
	case errors.Is(err, errEncoding):
		r.Reason = Encoding
		return r
	case errors.Is(err, ErrLarge):
		r.Reason = Unpacked
		return r
	case errors.Is(err, errRatio):
		r.Reason = Ratio
		return r
	case errors.Is(err, ErrMemory):
		r.Reason = Memory
		return r
	case errors.Is(err, ErrHeavy):
		r.Reason = Heavy
		return r
	case err != nil:
		r.Reason = Corrupt
		return r
	case packed(text):
		r.Reason = BadJSON
		return r
	case int64(len(text)) > c.unpacked:
		r.Reason = Unpacked
		return r
	}
	switch err := share.Take(checkWork*int64(len(text)) + checkBase); {
	case errors.Is(err, ErrHeavy):
		r.Reason = Heavy
		return r
	case err != nil:
		r.Reason = Memory
		return r
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	defer share.budget.watch(end)()
	r.Text = text
	out, fixed, err := toolguard.FixBytes(ctx, text, options...)
	if err != nil {
		r.Reason = reason(ctx, text, err)
		return r
	}
	if fixed.Before.Dialect == "" && fixed.Before.Worst() == toolguard.Error {
		r.Reason = BadJSON // it has messages, but is damaged
		return r
	}
	r.Fixed = fixed
	r.Outcome = Whole
	if fixed.Changed() {
		r.Outcome, r.Body = Repaired, out
	}
	return r
}

// reason returns why the engine does not read or repair a text.
func reason(ctx context.Context, text []byte, err error) Reason {
	switch {
	case errors.Is(context.Cause(ctx), ErrMemory):
		return Memory
	case ctx.Err() != nil:
		return Late
	case errors.As(err, new(*toolguard.ProofError)), errors.As(err, new(*toolguard.CheckOnlyError)):
		return Proof
	case errors.As(err, new(*toolguard.DialectError)):
		return OtherDialect
	case errors.As(err, new(*toolguard.NotTranscriptError)):
		if !json.Valid(text) {
			return BadJSON
		}
		return OtherBody
	}
	return Fault
}
