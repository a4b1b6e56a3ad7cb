// Package metrics counts what the proxy does, for Prometheus. It does not know why.
package metrics

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics are the counters of one proxy.
type Metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	repairs  *prometheus.CounterVec
	passed   *prometheus.CounterVec
	rejected *prometheus.CounterVec
	failures *prometheus.CounterVec
	retries  *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	active   prometheus.Gauge
	memory   prometheus.Gauge
}

// New returns metrics that are all 0.
func New() *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "toolguard_proxy_requests_total",
			Help: "Requests by upstream, endpoint and outcome: whole, repaired, left, passed, rejected or none.",
		}, []string{"upstream", "endpoint", "outcome"}),
		repairs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "toolguard_proxy_repairs_total",
			Help: "Repairs by rule.",
		}, []string{"rule"}),
		passed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "toolguard_proxy_passed_total",
			Help: "Bodies that were forwarded unread, by reason.",
		}, []string{"reason"}),
		rejected: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "toolguard_proxy_rejected_total",
			Help: "Requests that the proxy refused, by reason or by rule.",
		}, []string{"reason"}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "toolguard_proxy_upstream_failures_total",
			Help: "Requests without a whole response, by upstream and reason.",
		}, []string{"upstream", "reason"}),
		retries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "toolguard_proxy_retries_total",
			Help: "Requests sent again without reasoning, by outcome: accepted, refused, failed or impossible.",
		}, []string{"outcome"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "toolguard_proxy_check_seconds",
			Help:    "Time from the end of a body to its check and repair, by outcome.",
			Buckets: []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5},
		}, []string{"outcome"}),
		active: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "toolguard_proxy_active_requests",
			Help: "Requests and streams that have not ended.",
		}),
		memory: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "toolguard_proxy_memory_bytes",
			Help: "Memory for bodies and their checks, bounded by --max-memory.",
		}),
	}
	m.registry.MustRegister(m.requests, m.repairs, m.passed, m.rejected, m.failures, m.retries, m.seconds, m.active, m.memory,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Request counts a request.
func (m *Metrics) Request(upstream, endpoint, outcome string) {
	m.requests.WithLabelValues(upstream, endpoint, outcome).Inc()
}

// Repairs counts n repairs of a rule.
func (m *Metrics) Repairs(rule string, n int) { m.repairs.WithLabelValues(rule).Add(float64(n)) }

// Passed counts a body that was forwarded unread.
func (m *Metrics) Passed(reason string) { m.passed.WithLabelValues(reason).Inc() }

// Rejected counts a request that the proxy refused.
func (m *Metrics) Rejected(reason string) { m.rejected.WithLabelValues(reason).Inc() }

// Failure counts a request without a whole response.
func (m *Metrics) Failure(upstream, reason string) {
	m.failures.WithLabelValues(upstream, reason).Inc()
}

// Retried counts a request that was refused for its reasoning.
func (m *Metrics) Retried(outcome string) { m.retries.WithLabelValues(outcome).Inc() }

// Memory counts a change of the memory for bodies.
func (m *Metrics) Memory(delta int64) { m.memory.Add(float64(delta)) }

// Checked counts the time that a check took.
func (m *Metrics) Checked(outcome string, took time.Duration) {
	m.seconds.WithLabelValues(outcome).Observe(took.Seconds())
}

// Begin counts a request that begins, and returns the function that counts its end.
func (m *Metrics) Begin() (end func()) {
	m.active.Inc()
	return m.active.Dec
}

// ServeHTTP writes all metrics.
func (m *Metrics) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}).ServeHTTP(w, r)
}
