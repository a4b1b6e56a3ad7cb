// Package server is the proxy as an HTTP server: who may call it, what becomes of requests, and how
// it ends. It does not know flags.
package server

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// A Server is a proxy that listens.
type Server struct {
	handler *handler
	main    *http.Server
	side    *http.Server // for metrics
	active  atomic.Int64
	busy    sync.Map // the connections whose last response is not written yet
	drain   time.Duration
	cut     context.CancelFunc // ends all requests
}

// New returns a server that, when it ends, waits for streams as long as drain.
func New(c Config, drain time.Duration) (*Server, error) {
	return newServer(c, newTransport(), drain)
}

// newServer is New with a given way to upstreams.
func newServer(c Config, transport http.RoundTripper, drain time.Duration) (*Server, error) {
	h, err := newHandler(c, transport)
	if err != nil {
		return nil, err
	}
	s := &Server{handler: h, drain: drain}
	base, cut := context.WithCancel(context.Background())
	s.cut = cut
	s.main = newHTTPServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.active.Add(1)
		defer s.active.Add(-1)
		if h.draining.Load() && !upgrades(r) {
			w.Header().Set("Connection", "close")
		}
		h.ServeHTTP(w, r)
	}))
	s.main.BaseContext = func(net.Listener) context.Context { return base }
	s.main.ConnState = func(c net.Conn, state http.ConnState) {
		if state == http.StateActive {
			s.busy.Store(c, true)
		} else {
			s.busy.Delete(c)
		}
	}
	s.side = newHTTPServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/healthz" && !h.guard.foreign(r):
			h.health(w)
		case h.guard.refuses(r) != "":
			http.Error(w, h.guard.refuses(r), http.StatusForbidden)
		case r.URL.Path == "/metrics" && (r.Method == http.MethodGet || r.Method == http.MethodHead):
			h.Metrics.ServeHTTP(w, r)
		default:
			http.NotFound(w, r)
		}
	}))
	s.side.ReadTimeout = c.ReadTimeout
	return s, nil
}

// newHTTPServer returns a server without a limit for the time of a response, which can be a stream.
func newHTTPServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		ErrorLog: log.New(io.Discard, "", 0), // it quotes requests
		// It would answer OPTIONS * to everybody.
		DisableGeneralOptionsHandler: true,
	}
}

// Serve answers requests until ctx ends, and then waits for those that have not ended. side is for
// metrics and can be nil. It closes the listeners.
func (s *Server) Serve(ctx context.Context, listener, side net.Listener) error {
	defer s.cut()
	failed := make(chan error, 2)
	go func() { failed <- s.main.Serve(listener) }()
	if side != nil {
		go func() { failed <- s.side.Serve(side) }()
		defer s.side.Close()
	}
	select {
	case err := <-failed:
		s.main.Close()
		return fmt.Errorf("%s: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	s.handler.draining.Store(true)
	s.handler.Log.Info("draining", "active", s.active.Load())
	// Shutdown would no longer answer /healthz on connections that are open already, and would wait
	// for those that have sent nothing yet.
	listener.Close()
	// A context of its own: the one that has ended would cut the streams.
	wait, done := context.WithTimeout(context.Background(), s.drain)
	defer done()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for (s.active.Load() > 0 || s.writes()) && wait.Err() == nil {
		select {
		case <-wait.Done():
		case <-tick.C:
		}
	}
	left := s.active.Load()
	s.handler.Log.Info("ended", "cut", left)
	s.cut()
	_ = s.main.Close() // all that is left is cut
	return nil
}

// writes reports whether a response is still on its way.
func (s *Server) writes() (found bool) {
	s.busy.Range(func(_, _ any) bool {
		found = true
		return false
	})
	return found
}
