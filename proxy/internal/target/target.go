// Package target knows the path of a request: the bytes that go out, and the names by which it is
// matched. It does not know what a path stands for.
package target

import (
	"net/url"
	"slices"
	"strings"
)

// Path returns the path of a request, byte for byte, from the target of its first line.
func Path(requestURI string) string {
	path, _, _ := strings.Cut(requestURI, "?")
	if strings.HasPrefix(path, "/") {
		return path
	}
	_, rest, absolute := strings.Cut(path, "://")
	if !absolute {
		return path // such as *
	}
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		return rest[i:]
	}
	return ""
}

// URL returns the URL of a request to a host whose path goes out byte for byte, whatever bytes it has.
func URL(scheme, host, path, query string, forceQuery bool) *url.URL {
	plain, err := url.PathUnescape(path)
	if err != nil {
		plain = path // the server has parsed it before
	}
	u := &url.URL{Scheme: scheme, Host: host, Path: plain, RawPath: path, RawQuery: query, ForceQuery: forceQuery}
	switch {
	case u.EscapedPath() == path:
	case strings.HasPrefix(path, "//"):
		u.Opaque = "//" + host + path // "//" alone would begin the name of a host
	default:
		u.Opaque = path // a RawPath with bytes that no URL may have would be escaped anew
	}
	return u
}

// Names returns what the slashes of a path part, without escapes, empty names, and . and .. with what
// they take back. An escaped slash is part of a name, and is NUL there.
func Names(path string) []string {
	var names []string
	for segment := range strings.SplitSeq(path, "/") {
		names = step(names, segment)
	}
	return names
}

// step returns the names of a path that has one more segment.
func step(names []string, segment string) []string {
	name, err := url.PathUnescape(segment)
	if err != nil {
		name = segment
	}
	switch name {
	case "", ".":
		return names
	case "..":
		return names[:max(len(names)-1, 0)]
	}
	return append(names, strings.ReplaceAll(name, "/", "\x00"))
}

// Cut returns a path without the prefix with which its names begin. The rest is what came, byte for
// byte, and is empty or begins with a slash.
func Cut(path, prefix string) (rest string, ok bool) {
	if path != "" && path[0] != '/' {
		return "", false
	}
	want := Names(prefix)
	var names []string
	at := -1 // where the rest begins; it never leaves the prefix
	if len(want) == 0 {
		at = 0
	}
	for end := 0; end < len(path); {
		begin := end + 1
		end = len(path)
		if i := strings.IndexByte(path[begin:], '/'); i >= 0 {
			end = begin + i
		}
		before := len(names)
		names = step(names, path[begin:end])
		switch {
		case len(names) < len(want):
			at = -1
		case before < len(want):
			at = end
		}
	}
	if at < 0 || !slices.Equal(names[:len(want)], want) {
		return "", false
	}
	return path[at:], true
}
