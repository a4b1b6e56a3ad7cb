package server

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/proxy/internal/refusal"
	"github.com/toolguard/toolguard/proxy/internal/upstream"
)

// A closing is a body that is closed as soon as it is read, as the server does it with the body of
// a request if the response begins.
type closing struct {
	io.Reader
	closed bool
}

func (c *closing) Read(p []byte) (int, error) {
	if c.closed {
		return 0, http.ErrBodyReadAfterClose
	}
	n, err := c.Reader.Read(p)
	c.closed = err == io.EOF || c.Reader.(*strings.Reader).Len() == 0
	return n, err
}

func (c *closing) Close() error { return nil }

// TestUnreadBody: a response is whole if the body of its request, which was not read, is closed when
// the response begins.
func TestUnreadBody(t *testing.T) {
	t.Parallel()
	const sent = `{"prompt":"q"}`
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		for _, part := range []string{"a ", "b ", string(raw)} {
			io.WriteString(w, part) //nolint:errcheck // the test sees what arrives
			http.NewResponseController(w).Flush()
		}
	}))
	t.Cleanup(up.Close)
	to, err := url.Parse(up.URL)
	if err != nil {
		t.Fatal(err)
	}
	x := &exchange{upstream: &upstream.Upstream{URL: to}, rest: "/v1/completions"}
	transport := newTransport()
	t.Cleanup(transport.CloseIdleConnections)
	forward := newForward(transport, func(*exchange, *http.Response) {}, func(_ *exchange, reason string) { t.Errorf("failed: %s", reason) },
		func(_ http.ResponseWriter, _ *exchange, reason string, _ refusal.Refusal) {
			t.Errorf("rejected: %s", reason)
		})
	r := httptest.NewRequest(http.MethodPost, "/v1/completions", &closing{Reader: strings.NewReader(sent)})
	r.ContentLength = int64(len(sent))
	w := httptest.NewRecorder()
	forward.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x)))
	if got, want := w.Body.String(), "a b "+sent; w.Code != http.StatusOK || got != want {
		t.Errorf("%d %q, want 200 %q", w.Code, got, want)
	}
}
