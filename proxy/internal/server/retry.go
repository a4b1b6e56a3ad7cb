package server

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/toolguard/toolguard"
	"github.com/toolguard/toolguard/proxy/internal/body"
)

// A resending is what is needed to send a request again without its reasoning.
type resending struct {
	body     []byte // that was sent
	encoding string // its Content-Encoding
	options  []toolguard.Option
}

// mostRefusal is the size up to which the body of a refusal is read to see what it is about.
const mostRefusal = 64 << 10

// retriedHeader is what X-Toolguard says of a request that was accepted without its reasoning.
const retriedHeader = "retried=without-reasoning"

// strippingRule is the rule whose repairs remove reasoning.
const strippingRule = "replayed-reasoning"

// A retrier sends a request once more, without its reasoning, if the upstream refuses it for that. The
// client sees one of the two answers, and nothing of it before it is decided which.
type retrier struct {
	*handler
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t *retrier) RoundTrip(r *http.Request) (*http.Response, error) {
	first, err := t.next.RoundTrip(r)
	x := exchangeOf(r.Context())
	if err != nil || first.StatusCode != http.StatusBadRequest || x == nil || x.again == nil {
		return first, err
	}
	text, whole := peek(first)
	// left reports whether the client has gone, so that nobody waits for an answer.
	left := func() bool {
		if r.Context().Err() == nil {
			return false
		}
		_ = first.Body.Close()
		return true
	}
	if left() {
		return nil, r.Context().Err()
	}
	if text, ok := body.Decoded(text, first.Header.Get("Content-Encoding"), mostRefusal); !whole || !ok || !toolguard.RefusesReasoning(string(text)) {
		return first, nil
	}
	again, removed := t.without(r, x)
	if left() {
		return nil, r.Context().Err()
	}
	if again == nil {
		t.told(x, "impossible", 0, 0)
		return first, nil
	}
	second, err := t.next.RoundTrip(again)
	switch {
	case err != nil && left():
		return nil, r.Context().Err()
	case err != nil:
		t.told(x, "failed", 0, removed)
		return first, nil
	case second.StatusCode < http.StatusOK || second.StatusCode >= http.StatusMultipleChoices:
		t.told(x, "refused", second.StatusCode, removed)
		_ = second.Body.Close()
		return first, nil
	}
	t.told(x, "accepted", second.StatusCode, removed)
	t.Metrics.Repairs(strippingRule, removed)
	_ = first.Body.Close()
	if x.header != "" {
		x.header += ", "
	}
	x.header += retriedHeader
	second.Request = r
	return second, nil
}

// told notes what became of a second request. status is that of the answer, 0 for none.
func (t *retrier) told(x *exchange, outcome string, status, removed int) {
	t.Metrics.Retried(outcome)
	args := []any{"upstream", x.upstream.URL.Host, "endpoint", x.endpoint, "outcome", outcome}
	if status > 0 {
		args = append(args, "status", status)
	}
	if removed > 0 {
		args = append(args, "removed", removed)
	}
	t.Log.Info("retry without reasoning", args...)
}

// without returns a request without its reasoning, and how many messages had some. It returns nil if there is
// none, or if it cannot be removed.
func (t *retrier) without(r *http.Request, x *exchange) (_ *http.Request, removed int) {
	was := x.again
	x.again = nil // a request is sent again only once
	result := t.checker.Check(r.Context(), was.body, was.encoding, x.share, append(was.options, toolguard.StripReasoning())...)
	if result.Outcome != body.Repaired {
		return nil, 0
	}
	for _, repair := range result.Fixed.Repairs {
		if repair.Rule == strippingRule {
			removed++
		}
	}
	if removed == 0 {
		return nil, 0
	}
	if x.kept != nil {
		x.kept.release() // the memory is for the other body now
	}
	x.kept = &keptBody{b: result.Body}
	again := r.Clone(r.Context())
	again.GetBody = x.kept.open
	again.Body, _ = again.GetBody() // it is there
	again.ContentLength, again.TransferEncoding = int64(len(result.Body)), nil
	again.Header.Set("Content-Length", strconv.Itoa(len(result.Body)))
	unpackedHeader(again.Header)
	return again, removed
}

// unpackedHeader removes what a header says about a body that is replaced.
func unpackedHeader(h http.Header) {
	for _, name := range []string{"Content-Encoding", "Content-Md5", "Digest", "Content-Digest", "Repr-Digest"} {
		h.Del(name)
	}
}

// encodingOf returns the Content-Encoding of a request.
func encodingOf(r *http.Request) string {
	return strings.Join(r.Header.Values("Content-Encoding"), ",")
}

// peek returns the body of a response, which can then be read again, and whether it is short and
// complete.
func peek(r *http.Response) (text []byte, whole bool) {
	text, err := io.ReadAll(io.LimitReader(r.Body, mostRefusal+1))
	rest := io.Reader(r.Body)
	if err != nil {
		rest = failing{err}
	}
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(text), rest), r.Body}
	return text, err == nil && len(text) <= mostRefusal
}

// failing is a reader that fails, as the one before it did.
type failing struct{ err error }

// Read implements io.Reader.
func (f failing) Read([]byte) (int, error) { return 0, f.err }
