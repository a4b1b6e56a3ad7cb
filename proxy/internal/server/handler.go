package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolguard/toolguard"
	"github.com/toolguard/toolguard/proxy/internal/body"
	"github.com/toolguard/toolguard/proxy/internal/endpoint"
	"github.com/toolguard/toolguard/proxy/internal/metrics"
	"github.com/toolguard/toolguard/proxy/internal/record"
	"github.com/toolguard/toolguard/proxy/internal/refusal"
	"github.com/toolguard/toolguard/proxy/internal/target"
	"github.com/toolguard/toolguard/proxy/internal/upstream"
)

// Config says what the proxy does.
type Config struct {
	Upstreams upstream.Set
	// Hosts are the names by which clients may call the proxy, besides those of this machine.
	Hosts []string
	// Origins are those of programs that may call the proxy, as ParseOrigin returns them.
	Origins []string
	// Repairs says what is repaired, for all endpoints.
	Repairs []toolguard.Option
	// Profile is that of upstreams that have none, "" for none.
	Profile string
	// DryRun forwards all requests as they came.
	DryRun bool
	// Retry sends a request once more, without its reasoning, if the upstream refuses it for that.
	Retry bool
	// RejectErrors and RejectUnreadable say what is answered instead of forwarded.
	RejectErrors, RejectUnreadable bool
	MaxBody, MaxUnpacked           int64
	MaxMemory                      int64         // of all bodies together
	Timeout                        time.Duration // of a check with its repair
	ReadTimeout                    time.Duration // for which a body may stall
	Record                         *record.Dir   // nil for none
	Metrics                        *metrics.Metrics
	Log                            *slog.Logger
	Version                        string // of this program
}

// A handler answers requests: it repairs their bodies and forwards them.
type handler struct {
	Config
	guard    guard
	checker  *body.Checker
	budget   *body.Budget
	forward  http.Handler
	options  map[route][]toolguard.Option
	draining atomic.Bool
	upgraded sync.Map // the upstreams for which a WebSocket was logged
}

// A route is where requests go and what they are.
type route struct {
	upstream *upstream.Upstream
	endpoint string
}

// newHandler returns the handler of a configuration.
func newHandler(c Config, transport http.RoundTripper) (*handler, error) {
	h := &handler{
		Config: c, guard: guard{c.Hosts, c.Origins}, checker: body.New(c.MaxUnpacked, c.Timeout),
		budget: body.NewBudget(c.MaxMemory, c.Metrics.Memory), options: map[route][]toolguard.Option{},
	}
	if c.Retry {
		transport = &retrier{h, transport}
	}
	h.forward = newForward(transport, h.answered, h.failed, h.reject)
	for _, u := range c.Upstreams {
		for _, e := range endpoint.All() {
			o, err := h.optionsFor(u, e)
			if err != nil {
				return nil, err
			}
			h.options[route{u, e.Name}] = o
		}
	}
	return h, nil
}

// optionsFor returns the options for bodies to an endpoint of an upstream.
func (h *handler) optionsFor(u *upstream.Upstream, e endpoint.Endpoint) ([]toolguard.Option, error) {
	o := append(slices.Clone(h.Repairs), toolguard.Dialect(e.Dialect), toolguard.Request(), toolguard.Send())
	for _, name := range []string{u.Profile, h.Profile} {
		if name == "" {
			continue
		}
		profile, err := toolguard.ProfileFor(name, e.Dialect)
		if err != nil {
			return nil, err
		}
		if profile != "" {
			return append(o, toolguard.Target(profile)), nil
		}
	}
	return o, nil
}

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/healthz" && !h.guard.foreign(r) && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		h.health(w)
		return
	}
	defer h.Metrics.Begin()()
	u, rest := h.Upstreams.Find(target.Path(r.RequestURI))
	x := &exchange{upstream: u, rest: rest, shape: refusal.OpenAI, answer: w.Header(), share: h.budget.Share(), body: &incoming{ReadCloser: r.Body}}
	defer x.share.Release()
	control := http.NewResponseController(w)
	var e *endpoint.Endpoint
	if u != nil {
		if e = endpoint.Find(r.Method, u.Path(rest)); e != nil {
			x.endpoint, x.shape = e.Name, e.Errors
		}
	}
	if r.Method == http.MethodConnect {
		h.refuse(w, x, "method", refused("method", "method", "CONNECT is not supported: set the base URL of the client, not its proxy"))
		return
	}
	if why := h.guard.refuses(r); why != "" {
		h.refuse(w, x, "forbidden", refused("forbidden", "forbidden", why))
		return
	}
	if u == nil {
		h.refuse(w, x, "upstream", refused("upstream", "upstream", "no --upstream has this path; expected one that begins with "+h.prefixes()))
		return
	}
	r = r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x))
	if r.ContentLength != 0 {
		r.Body = x.body
	}
	if e != nil || offers(r, "h2c") {
		r = stays(r)
	}
	if e != nil || upgrades(r) {
		var ok bool
		if r, ok = h.repair(w, r, x, e, control.SetReadDeadline); !ok {
			return
		}
	} else {
		h.Metrics.Request(u.URL.Host, "other", "none")
	}
	h.send(w, r, x)
}

// health answers whether the proxy takes requests.
func (h *handler) health(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if h.draining.Load() {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, "draining\n")
		return
	}
	_, _ = io.WriteString(w, "ok\n")
}

// send forwards a request. If the response breaks off, so does the connection of the client.
func (h *handler) send(w http.ResponseWriter, r *http.Request, x *exchange) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		reason := "cut"
		if r.Context().Err() != nil {
			reason = "client"
		}
		h.failed(x, reason)
		panic(p)
	}()
	h.forward.ServeHTTP(w, r)
}

// prefixes lists the paths of the upstreams, in words.
func (h *handler) prefixes() string {
	all := make([]string, len(h.Upstreams))
	for i, u := range h.Upstreams {
		all[i] = u.Prefix + "/"
	}
	slices.Sort(all)
	return strings.Join(all, " or ")
}

// answered notes a response that refuses a request. A request whose path is wrong has no endpoint, and
// would leave no trace.
func (h *handler) answered(x *exchange, r *http.Response) {
	wrongPath := r.Request.Method == http.MethodPost && (r.StatusCode == http.StatusNotFound || r.StatusCode == http.StatusMethodNotAllowed)
	if r.StatusCode >= http.StatusBadRequest && (x.endpoint != "" || wrongPath) {
		h.Log.Warn("response", "upstream", x.upstream.URL.Host, "endpoint", orOther(x.endpoint), "status", r.StatusCode)
	}
}

// failed notes that there is no whole response to a request.
func (h *handler) failed(x *exchange, reason string) {
	h.Metrics.Failure(x.upstream.URL.Host, reason)
	if reason != "client" {
		h.Log.Warn("no response", "upstream", x.upstream.URL.Host, "endpoint", orOther(x.endpoint), "reason", reason)
	}
}

// statuses are those of the answers to requests that are refused whatever their history is, by reason.
var statuses = map[string]int{
	"forbidden": http.StatusForbidden,        // the guard says why
	"upstream":  http.StatusNotFound,         // none has the path
	"method":    http.StatusMethodNotAllowed, // the proxy is no HTTP_PROXY
	"malformed": http.StatusBadRequest,       // the body is no HTTP
	"client":    http.StatusBadRequest,       // the body ends too early
	"stalled":   http.StatusRequestTimeout,   // the body is too slow
}

// refused returns the answer to a request that is refused for a reason of statuses.
func refused(reason, code, message string) refusal.Refusal {
	return refusal.Refusal{Status: statuses[reason], Code: code, Message: "toolguard proxy: " + message}
}

// refuse answers a request that is not forwarded, and counts it.
func (h *handler) refuse(w http.ResponseWriter, x *exchange, reason string, why refusal.Refusal) {
	// The server reads the rest of the body, so that the client reads the answer.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(h.ReadTimeout))
	h.Metrics.Request(x.host(), orOther(x.endpoint), "rejected")
	h.reject(w, x, reason, why)
}

// reject answers a request with an error of the proxy. The reason is that of the log and the metrics.
// A body that turns out to be no HTTP while it is streamed belongs to a request that was counted before.
func (h *handler) reject(w http.ResponseWriter, x *exchange, reason string, why refusal.Refusal) {
	h.Log.Warn("request", "upstream", x.host(), "endpoint", orOther(x.endpoint), "outcome", "rejected", "reason", reason)
	h.answer(w, x, reason, why)
}

// answer is reject for a request whose log line is written.
func (h *handler) answer(w http.ResponseWriter, x *exchange, reason string, why refusal.Refusal) {
	h.Metrics.Rejected(reason)
	w.Header().Set(header, "rejected")
	why.Write(w, x.shape)
}

func orOther(name string) string {
	if name == "" {
		return "other"
	}
	return name
}

// repair returns the request to send. It is not ok if the client has its answer. deadline sets that of
// reading from the client.
func (h *handler) repair(w http.ResponseWriter, r *http.Request, x *exchange, e *endpoint.Endpoint, deadline func(time.Time) error) (_ *http.Request, ok bool) {
	switch {
	case upgrades(r):
		h.Metrics.Request(x.upstream.URL.Host, orOther(x.endpoint), "passed")
		h.Metrics.Passed(string(body.Upgrade))
		if _, said := h.upgraded.LoadOrStore(x.upstream, true); !said {
			h.Log.Warn("request", "upstream", x.upstream.URL.Host, "endpoint", orOther(x.endpoint), "outcome", "passed", "reason", body.Upgrade)
		}
		return r, true
	case r.ContentLength == 0 || r.Body == nil:
		h.Metrics.Request(x.upstream.URL.Host, x.endpoint, "none")
		return r, true
	case signed(r):
		h.pass(x, body.Signed, -1)
		return r, true
	case len(r.Trailer) > 0:
		h.pass(x, body.Trailer, -1)
		return r, true
	case r.ContentLength > h.MaxBody:
		return h.unreadable(w, r, x, e, body.Large, r.ContentLength)
	}
	raw, err := body.Read(newPaced(r.Body, deadline, h.ReadTimeout), r.ContentLength, h.MaxBody, x.share)
	if f := x.body.fault(); f != nil {
		h.Metrics.Request(x.host(), x.endpoint, "rejected")
		h.reject(w, x, f.reason, f.refusal())
		return nil, false
	}
	_ = deadline(time.Time{}) // what is not read for repair may take any time
	if err != nil {
		r = r.Clone(r.Context())
		r.Body = rejoined(raw, r.Body, x.share)
		why := body.Large
		switch {
		case errors.Is(err, body.ErrMemory):
			why = body.Memory
		case errors.Is(err, body.ErrHeavy):
			why = body.Heavy
		}
		return h.unreadable(w, r, x, e, why, r.ContentLength)
	}
	return h.check(w, r, x, e, raw)
}

// check returns the request to send, whose body is raw.
func (h *handler) check(w http.ResponseWriter, r *http.Request, x *exchange, e *endpoint.Endpoint, raw []byte) (_ *http.Request, ok bool) {
	options := append(slices.Clone(h.options[route{x.upstream, e.Name}]), toolguard.Address(x.upstream.Address(x.rest)))
	start := time.Now()
	result := h.checker.Check(r.Context(), raw, encodingOf(r), x.share, options...)
	took := time.Since(start)
	if r.Context().Err() != nil {
		h.failed(x, "client")
		panic(http.ErrAbortHandler)
	}
	outcome := h.outcome(&result)
	h.Metrics.Checked(outcome, took)
	if result.Outcome == body.Unreadable {
		return h.unreadable(w, withBody(r, raw), x, e, result.Reason, int64(len(raw)))
	}
	h.Metrics.Request(x.upstream.URL.Host, x.endpoint, outcome)
	left := result.Left()
	h.note(x, e, &result, outcome, took, len(raw), left)
	switch {
	case outcome == "rejected":
		f := result.Refused()
		h.answer(w, x, f.Rule, refusal.Refusal{
			Status: http.StatusBadRequest, Code: f.Rule, Param: f.Pointer,
			Message: fmt.Sprintf("toolguard proxy: %s: %s [%s]", orRoot(f.Pointer), f.Message, f.Rule),
		})
		return nil, false
	case h.DryRun:
		return withBody(r, raw), true
	case result.Outcome == body.Whole:
		h.keepFor(x, r, raw, options)
		return withBody(r, raw), true
	}
	x.header = "repaired=" + strconv.Itoa(len(result.Fixed.Repairs))
	r = withBody(r, result.Body)
	unpackedHeader(r.Header)
	h.keepFor(x, r, result.Body, options)
	return r, true
}

// keepFor keeps the body that is sent, if it may be sent again without its reasoning.
func (h *handler) keepFor(x *exchange, r *http.Request, b []byte, options []toolguard.Option) {
	if h.Retry {
		x.again = &resending{b, encodingOf(r), options}
	}
}

// orRoot returns a pointer as errors show it.
func orRoot(pointer string) string {
	if pointer == "" {
		return "the body"
	}
	return pointer
}

// outcome returns what becomes of a request, as logs and metrics name it.
func (h *handler) outcome(r *body.Result) string {
	switch {
	case r.Outcome == body.Unreadable:
		return "passed"
	case h.RejectErrors && !h.DryRun && len(r.Left()) > 0:
		return "rejected"
	case r.Outcome == body.Repaired:
		return "repaired"
	case len(r.Left()) > 0:
		return "left"
	}
	return "whole"
}

// withBody returns a request with a body in memory, which can be sent again.
func withBody(r *http.Request, b []byte) *http.Request {
	r = r.Clone(r.Context())
	if x := exchangeOf(r.Context()); x != nil && len(b) > smallBody {
		x.kept = &keptBody{b: b}
		r.GetBody = x.kept.open
	} else {
		r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }
	}
	r.Body, _ = r.GetBody() // it is there
	r.ContentLength, r.TransferEncoding = int64(len(b)), nil
	r.Header.Set("Content-Length", strconv.Itoa(len(b)))
	r.Header.Del("Expect") // the body is here already
	return r
}

// unreadable returns the request to send if its body is not read, or answers it.
func (h *handler) unreadable(w http.ResponseWriter, r *http.Request, x *exchange, e *endpoint.Endpoint, why body.Reason, size int64) (_ *http.Request, ok bool) {
	if !h.RejectUnreadable || h.DryRun || e.Mixed && why == body.OtherBody {
		h.pass(x, why, size)
		return r, true
	}
	h.refuse(w, x, string(why), refusal.Refusal{
		Status: http.StatusBadRequest, Code: "unreadable_" + string(why), Message: "toolguard proxy: " + reasons[why],
	})
	return nil, false
}

// reasons says in words why a body is not read.
var reasons = map[body.Reason]string{
	body.BadJSON:      "the body is not valid JSON",
	body.OtherBody:    "the body is no request with a history",
	body.OtherDialect: "the messages are not in the form of this API",
	body.Encoding:     "the Content-Encoding is not supported; gzip and zstd are",
	body.Corrupt:      "the body cannot be unpacked",
	body.Large:        "the body is larger than --max-body",
	body.Unpacked:     "the unpacked body is larger than --max-unpacked",
	body.Ratio:        "the body becomes more than 100 times as large when it is unpacked; send it without Content-Encoding",
	body.Memory:       "too little of --max-memory is left for the body",
	body.Heavy:        "the body needs more memory than --max-memory allows",
	body.Proof:        "the history is broken, and its repair cannot be proved",
	body.Late:         "the check took longer than --repair-timeout",
	body.Fault:        "internal error in toolguard",
}

// pass notes that a body is forwarded without being read. size is negative if it is unknown.
func (h *handler) pass(x *exchange, why body.Reason, size int64) {
	h.Metrics.Request(x.upstream.URL.Host, x.endpoint, "passed")
	h.Metrics.Passed(string(why))
	args := []any{"upstream", x.upstream.URL.Host, "endpoint", x.endpoint, "outcome", "passed", "reason", why}
	if why == body.Fault {
		args = append(args, "version", h.Version)
	}
	if size >= 0 {
		args = append(args, "bytes", size)
	}
	h.Log.Info("request", args...)
}

// note writes what was found in a body to the log, the metrics and the record.
func (h *handler) note(x *exchange, e *endpoint.Endpoint, r *body.Result, outcome string, took time.Duration, size int, left []toolguard.Finding) {
	made := map[string]int{}
	for _, repair := range r.Fixed.Repairs {
		made[repair.Rule]++
	}
	if outcome != "rejected" && !h.DryRun {
		for rule, n := range made {
			h.Metrics.Repairs(rule, n)
		}
	}
	if r.Broken() && h.Record != nil {
		h.keep(e, r, outcome)
	}
	if r.Outcome == body.Whole && len(left) == 0 {
		return
	}
	remain := map[string]int{}
	for i := range left {
		remain[left[i].Rule]++
	}
	level := slog.LevelInfo
	args := []any{"upstream", x.upstream.URL.Host, "endpoint", x.endpoint, "outcome", outcome}
	if outcome == "rejected" {
		level, args = slog.LevelWarn, append(args, "reason", r.Refused().Rule)
	}
	if len(made) > 0 {
		args = append(args, "rules", counts(made))
	}
	args = append(args, "left", len(left))
	if len(remain) > 0 {
		args = append(args, "left_rules", counts(remain))
	}
	args = append(args, "bytes", size, "ms", took.Milliseconds())
	if h.DryRun {
		args = append(args, "dry_run", true)
	}
	h.Log.Log(context.Background(), level, "request", args...)
}

// counts returns numbers by name as a group of a log line, in the order of the names.
func counts(m map[string]int) slog.Value {
	attrs := make([]slog.Attr, 0, len(m))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		attrs = append(attrs, slog.Int(name, m[name]))
	}
	return slog.GroupValue(attrs...)
}

// keep records the outline of a broken request.
func (h *handler) keep(e *endpoint.Endpoint, r *body.Result, outcome string) {
	entry := record.Entry{Endpoint: e.Name, Dialect: e.Dialect, Outcome: outcome, Findings: []record.Finding{}}
	for _, f := range r.Fixed.Before.Findings {
		if f.Severity == toolguard.Error {
			entry.Findings = append(entry.Findings, record.Finding{Rule: f.Rule, Pointer: f.Pointer})
		}
	}
	full, err := h.Record.Add(entry, r.Text)
	if err != nil {
		h.Log.Warn("record", "reason", "write")
	}
	if full {
		h.Log.Warn("recording ended", "reason", "full", "files", record.Most)
	}
}
