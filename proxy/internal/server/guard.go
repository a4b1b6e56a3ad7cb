package server

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/toolguard/toolguard/proxy/internal/upstream"
)

// A guard knows who may call the proxy. A web page can send requests to any address of this
// machine: through a name that it makes resolve to it (DNS rebinding), or across origins.
type guard struct {
	hosts   []string // names by which the proxy is called, besides those of this machine
	origins []string // those of programs that may call it, as ParseOrigin returns them
}

// crossSite is why a request is refused that a browser sent for a page of another site. A browser
// sends no Origin with a GET for an image or a script.
const crossSite = "the browser marks the request as cross-site, and it has no Origin that --host or --allow-origin could accept"

// refuses returns why a request is refused, "" if it is not.
func (g guard) refuses(r *http.Request) string {
	origins := r.Header.Values("Origin")
	switch {
	case r.URL.Host != "" && !g.knows(hostname(r.Host)):
		return "the request is for another host: set the base URL of the client, not its proxy"
	case !g.knows(hostname(r.Host)):
		return "the Host of the request is neither this machine nor a --host; if clients call the proxy by this name, start it with --host and the name"
	}
	preflight := r.Method == http.MethodOptions && len(origins) > 0 && r.Header.Get("Access-Control-Request-Method") != ""
	for _, origin := range origins {
		switch why := g.distrusts(origin); {
		case why == "":
		case preflight:
			return "web pages may not send requests through this proxy"
		default:
			return why
		}
	}
	switch {
	case preflight:
		return "the Origin of the request is accepted, but a program that enforces CORS cannot use this proxy, which answers no preflight requests: send the requests from outside the page, such as from the main process"
	case g.foreign(r):
		return crossSite
	}
	return ""
}

// foreign reports whether a browser sent a request for a page of another site, without an Origin that
// is accepted.
func (g guard) foreign(r *http.Request) bool {
	marked := false
	for _, value := range r.Header.Values("Sec-Fetch-Site") {
		for site := range strings.SplitSeq(value, ",") {
			site, _, _ = strings.Cut(site, ";") // parameters
			marked = marked || strings.EqualFold(strings.TrimSpace(site), "cross-site")
		}
	}
	accepted := func(origin string) bool { return origin != "" && g.distrusts(origin) == "" }
	return marked && !slices.ContainsFunc(r.Header.Values("Origin"), accepted)
}

// knows reports whether a host is this machine or was named by --host.
func (g guard) knows(host string) bool {
	if addr, err := netip.ParseAddr(host); err == nil {
		host = addr.String() // an address has several forms
	}
	return upstream.Loopback(host) || slices.Contains(g.hosts, strings.TrimSuffix(strings.ToLower(host), "."))
}

// distrusts returns why requests with an Origin are refused, "" if they are not. Accepted are pages of
// known hosts, those of extensions of Visual Studio Code, and the origins of programs that the user has
// named. Any program that shows pages can have a scheme of its own, also a browser for its extensions.
func (g guard) distrusts(origin string) string {
	const pages = "the Origin of the request is neither this machine nor a --host"
	u, err := url.Parse(origin)
	switch {
	case origin == "":
		return ""
	case origin == "null":
		return "the Origin of the request is null, which is never accepted, because any file and any page in a sandbox can have it: load the page from http://localhost"
	case err != nil || u.Scheme == "" || u.Opaque != "":
		return pages
	case slices.Contains(networks, u.Scheme):
		if g.knows(u.Hostname()) {
			return ""
		}
		return pages
	case u.Scheme == "vscode-webview" || slices.Contains(g.origins, strings.ToLower(origin)):
		return ""
	}
	name, err := ParseOrigin(origin)
	if err != nil {
		name = "SCHEME://HOST"
	}
	return "the Origin of the request is not accepted; if you trust the program that has it, start the proxy with --allow-origin " + name
}

// networks are the schemes of pages from the network, which are known by their hosts.
var networks = []string{"http", "https", "ws", "wss", "ftp"}

// customOrigin matches the origin of a program: a scheme of its own and mostly the name of a host.
var customOrigin = regexp.MustCompile(`^([a-z][a-z0-9+.-]*)://[a-z0-9._~:\[\]{}-]*$`)

// ParseOrigin returns an origin of a program, as it is compared.
func ParseOrigin(origin string) (string, error) {
	name := strings.ToLower(strings.TrimSuffix(origin, "/"))
	if strings.HasSuffix(name, ":/") { // all of it is the scheme
		name += "/"
	}
	m := customOrigin.FindStringSubmatch(name)
	switch {
	case m == nil:
		return "", fmt.Errorf("expected the origin of a program, such as app://localhost, got %q", origin)
	case slices.Contains(networks, m[1]):
		return "", fmt.Errorf("expected the origin of a program, such as app://localhost, got %q; pages of other hosts need --host", origin)
	}
	return name, nil
}

// hostname returns a Host without its port.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}
