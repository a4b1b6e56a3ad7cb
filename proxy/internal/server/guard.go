package server

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/toolguard/toolguard/proxy/internal/upstream"
)

// A guard knows who may call the proxy. A web page can send requests to any address of this
// machine: through a name that it makes resolve to it (DNS rebinding), or across origins.
type guard struct {
	hosts []string // names by which the proxy is called, besides those of this machine
}

// refuses returns why a request is refused, "" if it is not.
func (g guard) refuses(r *http.Request) string {
	switch origin := r.Header.Get("Origin"); {
	case !g.knows(hostname(r.Host)):
		return "the Host of the request is neither this machine nor a --host"
	case r.Method == http.MethodOptions && origin != "" && r.Header.Get("Access-Control-Request-Method") != "":
		return "web pages may not send requests through this proxy"
	case origin != "" && !g.trusts(origin):
		return "the Origin of the request is neither this machine nor a --host"
	}
	return ""
}

// knows reports whether a host is this machine or was named by --host.
func (g guard) knows(host string) bool {
	return upstream.Loopback(host) || slices.Contains(g.hosts, strings.TrimSuffix(strings.ToLower(host), "."))
}

// trusts reports whether requests with an Origin are accepted: those of pages of known hosts, and
// those of programs, whose origins have schemes of their own.
func (g guard) trusts(origin string) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme == "" { // null is the origin of a page in a sandbox
		return false
	}
	return u.Scheme != "http" && u.Scheme != "https" || g.knows(u.Hostname())
}

// hostname returns a Host without its port.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}
