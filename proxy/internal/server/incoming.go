package server

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/toolguard/toolguard/proxy/internal/body"
	"github.com/toolguard/toolguard/proxy/internal/refusal"
)

// An incoming is the body of a request as it arrives from the client. It notes the error for which it
// ends, which is the client's: the transport would take it for one of the upstream.
type incoming struct {
	io.ReadCloser
	err atomic.Pointer[error]
}

// Read implements io.Reader.
func (b *incoming) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, http.ErrBodyReadAfterClose) {
		b.err.CompareAndSwap(nil, &err)
	}
	return n, err
}

// A fault is what is wrong with the body of a request as HTTP.
type fault struct {
	reason, message string
}

// fault returns what is wrong with a body, nil if nothing is.
func (b *incoming) fault() *fault {
	err := b.err.Load()
	var gone *net.OpError
	switch {
	case err == nil:
		return nil
	case errors.Is(*err, os.ErrDeadlineExceeded):
		return &fault{"stalled", "the body of the request was slower than 1 KiB/s for the time of --read-timeout"}
	case errors.Is(*err, io.ErrUnexpectedEOF), errors.As(*err, &gone):
		return &fault{"client", "the body of the request ends too early"}
	}
	return &fault{"malformed", "the body of the request is malformed: its chunks or the fields behind them are not those of HTTP"}
}

// refusal returns the answer to a request whose body has a fault.
func (f *fault) refusal() refusal.Refusal {
	return refused(f.reason, "body", f.message)
}

// slowest is how many bytes of a body have to arrive per second.
const slowest = 1 << 10

// A paced is a body that has to arrive as fast as slowest. It may fall behind by the grace, but gets
// nothing for having been faster before: a body that stalls ends, however much of it has arrived.
type paced struct {
	io.Reader
	deadline func(time.Time) error // sets that of reading from the connection
	grace    time.Duration
	until    time.Time
}

// newPaced returns a body that a client has grace to begin.
func newPaced(r io.Reader, deadline func(time.Time) error, grace time.Duration) *paced {
	return &paced{r, deadline, grace, time.Now().Add(grace)}
}

// Read implements io.Reader.
func (p *paced) Read(b []byte) (int, error) {
	_ = p.deadline(p.until) // a connection without deadlines is none of a network
	n, err := p.Reader.Read(b)
	p.until = p.until.Add(time.Duration(n) * time.Second / slowest)
	if most := time.Now().Add(p.grace); p.until.After(most) {
		p.until = most
	}
	return n, err
}

// rejoined returns a body whose beginning was read already. The beginning gives back its share of the
// memory when it is sent.
func rejoined(beginning []byte, rest io.ReadCloser, share *body.Share) io.ReadCloser {
	read := &releasing{bytes.NewReader(beginning), share}
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(read, rest), rest}
}

// A releasing is a text that gives back its share of the memory at its end.
type releasing struct {
	*bytes.Reader
	share *body.Share
}

// Read implements io.Reader.
func (r *releasing) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil {
		r.share.Release()
	}
	return n, err
}
