package server

import (
	"net"
	"net/http"
	"net/netip"
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
	foreign := func(origin string) bool { return origin != "" && !g.trusts(origin) }
	switch origins := r.Header.Values("Origin"); {
	case !g.knows(hostname(r.Host)):
		return "the Host of the request is neither this machine nor a --host"
	case r.Method == http.MethodOptions && len(origins) > 0 && r.Header.Get("Access-Control-Request-Method") != "":
		return "web pages may not send requests through this proxy"
	case slices.ContainsFunc(origins, foreign):
		return "the Origin of the request is neither this machine nor a --host"
	}
	return ""
}

// knows reports whether a host is this machine or was named by --host.
func (g guard) knows(host string) bool {
	if addr, err := netip.ParseAddr(host); err == nil {
		host = addr.String() // an address has several forms
	}
	return upstream.Loopback(host) || slices.Contains(g.hosts, strings.TrimSuffix(strings.ToLower(host), "."))
}

// trusts reports whether requests with an Origin are accepted: those of pages of known hosts, and
// those of programs, whose origins have schemes of their own.
func (g guard) trusts(origin string) bool {
	u, err := url.Parse(origin)
	// null is the origin of a page in a sandbox, and one without a host is none of a program.
	if err != nil || u.Scheme == "" || u.Opaque != "" {
		return false
	}
	network := slices.Contains([]string{"http", "https", "ws", "wss", "ftp"}, u.Scheme)
	return !network || g.knows(u.Hostname())
}

// hostname returns a Host without its port.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}
