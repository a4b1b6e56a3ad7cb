package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// reported returns a line of a report.
func reported(name, version, licence, path, text string) string {
	return fmt.Sprintf("%q %q %q %q %q\n", name, version, licence, path, text)
}

func TestNotices(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "NOTICE"), []byte("Made by many.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	linux := reported(module, "Unknown", "MIT", "LICENSE", "our own") +
		reported("example.com/b", "v1.0.0", "MIT", "b/LICENSE", "Text of \"b\".\r\n\r\nEnd.\r\n")
	windows := linux + reported("example.com/a/part", "v2.0.0", "Apache-2.0", filepath.Join(dir, "LICENSE"), "\nText of a.\n\n")
	var all []component
	for _, report := range []string{linux, windows} {
		found, err := parse([]byte(report))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found...)
	}
	got, err := notices(all)
	if err != nil {
		t.Fatal(err)
	}
	want := `toolguard contains the following components. Each has its own licence.

================================================================================
example.com/a/part v2.0.0 (Apache-2.0)
================================================================================

Text of a.

Made by many.

================================================================================
example.com/b v1.0.0 (MIT)
================================================================================

Text of "b".

End.
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("notices (-want +got):\n%s", diff)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	tests := []struct{ report, want string }{
		{reported("example.com/a", "v1.0.0", "Unknown", "", ""), `example.com/a v1.0.0 has the licence "Unknown", which is not accepted`},
		{reported("example.com/a", "v1.0.0", "GPL-3.0", "LICENSE", "text"), `example.com/a v1.0.0 has the licence "GPL-3.0", which is not accepted`},
		{reported("example.com/a", "v1.0.0", "MIT", "LICENSE", " \n"), `example.com/a v1.0.0 has no licence text`},
		{"example.com/a,MIT\n", `go-licenses printed "example.com/a,MIT\n": expected quoted string`},
	}
	for _, tt := range tests {
		all, err := parse([]byte(tt.report))
		if err == nil {
			_, err = notices(all)
		}
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s: error is %v, want %s", tt.report, err, tt.want)
		}
	}
}

func TestUnnamed(t *testing.T) {
	t.Parallel()
	info := &debug.BuildInfo{
		GoVersion: "go1.26.8 X:nodwarf5",
		Deps: []*debug.Module{
			{Path: "example.com/a", Version: "v1.0.0"},
			{Path: "example.com/b", Version: "v2.0.0+incompatible"},
			{Path: module, Version: "v0.0.0", Replace: &debug.Module{Path: ".."}},
			{Path: "example.com/c", Version: "v3.0.0", Replace: &debug.Module{Path: "example.com/fork", Version: "v3.0.1"}},
		},
	}
	all := []component{
		{"Go", "go1.26.8", "BSD-3-Clause", "text"},
		{"example.com/a", "v1.0.0", "MIT", "text"},
		{"example.com/b/part", "v2.0.0", "MIT", "text"},
		{"example.com/fork", "v3.0.1", "MIT", "text"},
	}
	tests := []struct {
		without, version string
		want             []string
	}{
		{"", "", nil},
		{"Go", "", []string{"Go go1.26.8"}},
		{"example.com/a", "", []string{"example.com/a v1.0.0"}},
		{"example.com/a", "v1.0.1", []string{"example.com/a v1.0.0"}},
		{"example.com/b/part", "", []string{"example.com/b v2.0.0"}},
		{"example.com/fork", "", []string{"example.com/fork v3.0.1"}},
	}
	for _, tt := range tests {
		var some []component
		for _, c := range all {
			if c.name == tt.without {
				if tt.version == "" {
					continue
				}
				c.version = tt.version
			}
			some = append(some, c)
		}
		text, err := notices(some)
		if err != nil {
			t.Fatal(err)
		}
		named, err := headings(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, unnamed(info, named)); diff != "" {
			t.Errorf("without %q %s (-want +got):\n%s", tt.without, tt.version, diff)
		}
	}
}
