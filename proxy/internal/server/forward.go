package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"sync"
	"syscall"
	"time"

	"github.com/toolguard/toolguard/proxy/internal/body"
	"github.com/toolguard/toolguard/proxy/internal/refusal"
	"github.com/toolguard/toolguard/proxy/internal/target"
	"github.com/toolguard/toolguard/proxy/internal/upstream"
)

// An exchange is a request that is forwarded, and what is known of it.
type exchange struct {
	upstream *upstream.Upstream
	rest     string // the path without the prefix, byte for byte
	endpoint string
	shape    refusal.Shape
	header   string      // the value of X-Toolguard in the response, "" for none
	answer   http.Header // of the response to the client
	kept     *keptBody   // nil if the body is not in memory
	again    *resending  // nil if the request is not sent again
	body     *incoming
	share    *body.Share // of the memory for bodies
}

// host returns the name of the upstream in logs and metrics, "" if there is none.
func (x *exchange) host() string {
	if x.upstream == nil {
		return ""
	}
	return x.upstream.URL.Host
}

// exchangeKey is the key of the exchange in the context of a request.
type exchangeKey struct{}

func exchangeOf(ctx context.Context) *exchange {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	return x
}

// header is the field of responses that says what the proxy did.
const header = "X-Toolguard"

// newTransport returns what sends requests to upstreams. Bodies go through as they are.
func newTransport() *http.Transport {
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           dialer.DialContext,
		ForceAttemptHTTP2:     true,
		DisableCompression:    true,
		MaxIdleConnsPerHost:   100,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   10 * time.Second,
		ExpectContinueTimeout: time.Second,
		// A connection that died silently would take all later requests with it.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
	}
}

// newForward returns the handler that sends requests with an exchange to its upstream.
func newForward(transport http.RoundTripper, answered func(*exchange, *http.Response), failed func(*exchange, string), reject func(http.ResponseWriter, *exchange, string, refusal.Refusal)) *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Rewrite:       rewrite,
		Transport:     transport,
		FlushInterval: -1,
		BufferPool:    &buffers{},
		// Its errors quote responses and addresses. failed has them in words.
		ErrorLog: log.New(io.Discard, "", 0),
		ModifyResponse: func(r *http.Response) error {
			x := exchangeOf(r.Request.Context())
			x.again = nil
			if x.kept != nil {
				x.kept.release()
				x.share.Release()
			}
			if r.StatusCode < 100 {
				return errStatus // it cannot be written
			}
			answered(x, r)
			if x.header != "" {
				r.Header.Add(header, x.header)
			}
			if _, ok := r.Header["Content-Type"]; !ok {
				x.answer["Content-Type"] = nil // or the server would guess one
			}
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			x := exchangeOf(r.Context())
			if r.Context().Err() != nil {
				panic(http.ErrAbortHandler) // there is nobody to answer
			}
			if f := x.body.fault(); f != nil {
				reject(w, x, f.reason, f.refusal())
				return
			}
			reason := failure(err)
			failed(x, reason)
			if x.header != "" {
				w.Header().Set(header, x.header)
			}
			refusal.Refusal{
				Status: http.StatusBadGateway, Code: "upstream_" + reason,
				Message: "toolguard proxy: " + x.upstream.URL.Host + ": " + failures[reason],
			}.Write(w, x.shape)
		},
	}
}

// rewrite addresses a request to its upstream. Everything else stays, also what ReverseProxy takes
// out of requests because it would not tell who the client is.
func rewrite(p *httputil.ProxyRequest) {
	x := exchangeOf(p.In.Context())
	p.Out.URL = target.URL(x.upstream.URL.Scheme, x.upstream.URL.Host, x.upstream.Path(x.rest), p.In.URL.RawQuery, p.In.URL.ForceQuery)
	p.Out.Host = x.upstream.URL.Host
	p.Out.Trailer = p.In.Trailer // a copy would stay without values, which come after the body
	switch {
	case x.kept != nil:
		// ReverseProxy would keep the transport from closing the body, which drops it.
		p.Out.Body, _ = x.kept.open() // no response has released it
		_ = p.In.Body.Close()
	case p.Out.ContentLength > 0:
		p.Out.Body = bounded(p.Out.Body, p.Out.ContentLength)
	}
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		if values, ok := p.In.Header[name]; ok {
			p.Out.Header[name] = values
		}
	}
}

// errStatus says that a response has no valid status.
var errStatus = errors.New("a status below 100")

// bounded returns a body that ends after n bytes without another read. The transport reads behind the
// end of a body to see that there is no more. By then, the server may have closed the body of a
// request that was not read, because the response has begun, and the transport would take
// the error for that of the request and cut off the response.
func bounded(b io.ReadCloser, n int64) io.ReadCloser {
	return struct {
		io.Reader
		io.Closer
	}{io.LimitReader(b, n), b}
}

// failures says in words why there is no response.
var failures = map[string]string{
	"refused": "the upstream refuses connections",
	"dns":     "the name of the upstream cannot be resolved",
	"tls":     "the upstream has no valid certificate",
	"timeout": "the upstream did not answer in time",
	"closed":  "the upstream closed the connection without an answer",
	"other":   "the upstream sent no valid answer",
}

// failure returns the key of failures for an error.
func failure(err error) string {
	var dns *net.DNSError
	var unverified *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var unknown x509.UnknownAuthorityError
	var timeout net.Error
	// Windows has its own error numbers.
	const refusedWindows, resetWindows = syscall.Errno(10061), syscall.Errno(10054)
	switch {
	case errors.As(err, &dns):
		return "dns"
	case errors.As(err, &unverified), errors.As(err, &record), errors.As(err, &unknown):
		return "tls"
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, refusedWindows):
		return "refused"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "timeout"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, resetWindows), errors.Is(err, syscall.EPIPE),
		errors.Is(err, net.ErrClosed): // the transport closes a connection if its other end does, even while it writes
		return "closed"
	}
	return "other"
}

// buffers are the buffers through which bodies are copied.
type buffers struct{ pool sync.Pool }

// Get implements httputil.BufferPool.
func (b *buffers) Get() []byte {
	if p, ok := b.pool.Get().(*[]byte); ok {
		return *p
	}
	return make([]byte, 32<<10)
}

// Put implements httputil.BufferPool.
func (b *buffers) Put(p []byte) { b.pool.Put(&p) }
