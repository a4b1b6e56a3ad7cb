package target

import (
	"slices"
	"strings"
	"testing"
)

func TestPath(t *testing.T) {
	t.Parallel()
	for came, want := range map[string]string{
		"/": "/", "/a%2Fb?x": "/a%2Fb", "//a|b/../": "//a|b/../", "http://h/a//b?c": "/a//b", "http://h": "", "http://h?q": "", "*": "*", "h:443": "h:443", "/a?b=://c/d": "/a", "/x://y/z": "/x://y/z",
	} {
		if got := Path(came); got != want {
			t.Errorf("%s has the path %q, want %q", came, got, want)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"": "", "/": "", "//": "", "/a/b": "a b", "a/b": "a b", "//a//b/": "a b", "/./a/.": "a", "/x/../a": "a", "/../../a": "a", "/a/b/../..": "",
		"/%61/%2e/%2E%2e/b": "b", "/a%2Fb/c": "a\x00b c", "/a%2F..%2Fb": "a\x00..\x00b", "/a/..b/.c": "a ..b .c", "/a%zz": "a%zz", "/.../a": "... a",
	} {
		if got := strings.Join(Names(path), " "); got != want {
			t.Errorf("%s has the names %q, want %q", path, got, want)
		}
	}
}

// TestCut: what is cut off and the rest are the path that came, and the rest never leaves the prefix.
func TestCut(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ path, prefix, rest string }{
		{"/a/x", "/a", "/x"},
		{"/a", "/a", ""},
		{"/a/", "/a", "/"},
		{"//a//x%2F|", "/a", "//x%2F|"},
		{"/%61/x", "/a", "/x"},
		{"/b/../a/x", "/a", "/x"},
		{"/a/../a/x", "/a", "/x"},
		{"/a/x/../y", "/a", "/x/../y"},
		{"/a/b/../b/x", "/a/b", "/x"},
		{"/a/x/%2E%2e/..", "/a", "-"},
		{"/a/../b", "/a", "-"},
		{"/a/..%2Fb", "/a", "/..%2Fb"},
		{"/ab", "/a", "-"},
		{"/a%2Fx", "/a", "-"},
		{"/A/x", "/a", "-"},
		{"/../x", "", "/../x"},
		{"", "", ""},
		{"", "/a", "-"},
		{"*", "", "-"},
		{"a/x", "/a", "-"},
	} {
		rest, ok := Cut(tt.path, tt.prefix)
		if !ok {
			rest = "-"
		}
		if rest != tt.rest {
			t.Errorf("%s without %s is %q, want %q", tt.path, tt.prefix, rest, tt.rest)
		}
		if ok && (!strings.HasSuffix(tt.path, rest) || !slices.Equal(Names(tt.path), append(Names(tt.prefix), Names(rest)...))) {
			t.Errorf("%s without %s is %q, whose names are others", tt.path, tt.prefix, rest)
		}
	}
}

// TestURL: the bytes of a path go out as they came.
func TestURL(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/a%2Fb": "/a%2Fb?q", "//a//b/": "//a//b/?q", "/a|b%2f\"": "/a|b%2f\"?q", "/é%2F": "/é%2F?q", "/a#b": "/a#b?q", "/": "/?q", "": "/?q",
		"//a|b": "https://h//a|b?q", // the path of another form of the target
	} {
		u := URL("https", "h", path, "q", false)
		if got := u.RequestURI(); got != want || u.Host != "h" {
			t.Errorf("%s goes out as %s, want %s", path, got, want)
		}
	}
	if got := URL("http", "h", "/a|", "", true).RequestURI(); got != "/a|?" {
		t.Errorf("an empty query: %s", got)
	}
}
