// Package upstream knows the providers that requests go to: the table of presets, and how the flag
// names one. It does not know what is sent.
package upstream

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/toolguard/toolguard"
	"github.com/toolguard/toolguard/internal/suggest"
	"github.com/toolguard/toolguard/proxy/internal/target"
)

// An Upstream is an API that requests are sent to.
type Upstream struct {
	// Prefix begins the paths of its requests, and is cut off. It has no slash at the end; ""
	// stands for all paths.
	Prefix string
	URL    *url.URL // without a slash at the end of the path
	// Profile is that of the API, "" if the host or the model selects one.
	Profile string
	Preset  *Preset // nil if a URL was given
}

// Parse reads a value of --upstream: [/prefix=]preset-or-url[,provider=name]. Provider was called
// target before.
func Parse(value string) (*Upstream, error) {
	u := &Upstream{}
	rest, profile, named := strings.Cut(value, ",provider=")
	if !named {
		rest, profile, named = strings.Cut(value, ",target=")
	}
	if strings.HasPrefix(rest, "/") {
		prefix, where, ok := strings.Cut(rest, "=")
		if !ok {
			return nil, fmt.Errorf("%q: expected %s=, followed by a preset or a URL", value, prefix)
		}
		u.Prefix, rest = strings.TrimRight(prefix, "/"), where
		if u.Prefix != "" && (!prefixes.MatchString(u.Prefix) || u.Prefix != "/"+strings.Join(target.Names(u.Prefix), "/")) {
			return nil, fmt.Errorf("%q: expected a prefix such as /a, got %q", value, prefix)
		}
	}
	if i := slices.IndexFunc(presets, func(p Preset) bool { return p.Name == rest }); i >= 0 {
		u.Preset = &presets[i]
		u.Profile, rest = u.Preset.Profile, u.Preset.URL
	}
	if before, _, ok := strings.Cut(rest, ","); ok && (slices.Contains(Names(), before) || strings.Contains(before, "://")) {
		return nil, errors.New("behind the comma: expected provider=, followed by its name; for a second upstream, repeat --upstream")
	}
	if !strings.Contains(rest, "://") {
		if instead := meant(rest); instead != "" {
			return nil, fmt.Errorf("%q: expected a URL or a preset; did you mean %s?", value, instead)
		}
		return nil, fmt.Errorf("%q: %w", value, suggest.Unknown("preset", rest, Names(), "expected a URL, or one of "+strings.Join(Names(), ", ")))
	}
	var err error
	if u.URL, err = parseURL(rest); err != nil {
		return nil, err
	}
	if named {
		if _, err := toolguard.ProfileFor(profile, "anthropic"); err != nil {
			return nil, fmt.Errorf("%s: %w", u.URL.Host, err)
		}
		u.Profile = profile
	}
	return u, nil
}

// otherNames are names of presets that users know.
var otherNames = map[string]string{
	"claude": "anthropic", "chatgpt": "openai", "google": "gemini", "moonshot": "kimi", "zai": "glm", "grok": "xai", "dashscope": "qwen",
	"llamacpp": "llama-cpp", "llama.cpp": "llama-cpp",
}

// hosts matches the name or the IPv4 address of a host, perhaps with a port and a path.
var hosts = regexp.MustCompile(`^([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*)(:\d+)?(/[A-Za-z0-9/._~-]*)?$`)

// meant returns what to write instead of a text that is neither a preset nor a URL, or "".
func meant(text string) string {
	if name := otherNames[strings.ToLower(text)]; name != "" {
		return name
	}
	if _, where, ok := strings.Cut(text, "="); ok && (slices.Contains(Names(), where) || strings.Contains(where, "://") && !strings.Contains(where, "@")) {
		return "/" + text
	}
	m := hosts.FindStringSubmatch(text)
	switch {
	case m == nil, !strings.Contains(m[1], ".") && m[2] == "" && m[1] != "localhost":
		return ""
	case Loopback(m[1]):
		return "http://" + text
	}
	return "https://" + text
}

// parseURL reads the URL of an API. Errors do not quote it: it can hold a password.
func parseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, errors.New("expected a URL such as https://api.example.com/v1")
	case u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "":
		return nil, fmt.Errorf("expected a URL that begins with https:// or http:// and names a host, got the scheme %q and the host %q", u.Scheme, u.Hostname())
	case !validPort(u.Port()) || strings.HasSuffix(u.Host, ":"):
		return nil, fmt.Errorf("%s: expected a port from 1 to 65535 behind the colon", u.Host)
	case u.User != nil:
		return nil, fmt.Errorf("%s: expected a URL without a user or a password; clients send their own keys", u.Host)
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, fmt.Errorf("%s: expected a URL without ? and #", u.Host)
	}
	escaped := strings.TrimRight(u.EscapedPath(), "/")
	if u.Path, err = url.PathUnescape(escaped); err != nil {
		return nil, fmt.Errorf("%s: expected a path that is escaped correctly", u.Host)
	}
	u.RawPath = escaped
	return u, nil
}

// validPort reports whether a port can be connected to. "" is that of the scheme.
func validPort(port string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return port == "" || err == nil && n > 0
}

// prefixes matches the paths that need no escapes, neither in a URL nor in a shell.
var prefixes = regexp.MustCompile(`^(/[A-Za-z0-9._~-]+)+$`)

// Names lists the presets.
func Names() []string {
	names := make([]string, len(presets))
	for i := range presets {
		names[i] = presets[i].Name
	}
	return names
}

// Address returns where a request goes whose path is rest, as it is escaped.
func (u *Upstream) Address(rest string) string {
	return u.URL.Scheme + "://" + u.URL.Host + u.Path(rest)
}

// Path returns the path, as it is escaped, of a request whose path is rest.
func (u *Upstream) Path(rest string) string { return u.URL.EscapedPath() + rest }

// Encrypted reports whether nobody on the way can read requests.
func (u *Upstream) Encrypted() bool { return u.URL.Scheme == "https" || Loopback(u.URL.Hostname()) }

// Loopback reports whether a host, without a port, is this machine.
func Loopback(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
	return err == nil && addr.Unmap().IsLoopback()
}

// A Set holds upstreams, those with the longest prefix first.
type Set []*Upstream

// NewSet returns the set of upstreams, no two of which may have the same prefix.
func NewSet(all []*Upstream) (Set, error) {
	set := slices.Clone(all)
	slices.SortStableFunc(set, func(a, b *Upstream) int { return cmp.Compare(len(b.Prefix), len(a.Prefix)) })
	seen := map[string]bool{}
	for _, u := range all {
		switch {
		case seen[u.Prefix] && u.Prefix == "":
			return nil, fmt.Errorf("%s: two upstreams without a prefix: write /name=%s", u.URL.Host, u.name())
		case seen[u.Prefix]:
			return nil, fmt.Errorf("%s: two upstreams with the prefix %s", u.URL.Host, u.Prefix)
		}
		seen[u.Prefix] = true
	}
	return set, nil
}

// name returns what to write in --upstream.
func (u *Upstream) name() string {
	if u.Preset != nil {
		return u.Preset.Name
	}
	return u.URL.String()
}

// Find returns the upstream of a path, as it is escaped, and the path without the prefix. It
// returns nil if there is none.
func (s Set) Find(escapedPath string) (u *Upstream, rest string) {
	for _, u := range s {
		if rest, ok := target.Cut(escapedPath, u.Prefix); ok {
			return u, rest
		}
	}
	return nil, ""
}
