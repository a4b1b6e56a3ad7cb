package config

import (
	"strings"
	"testing"
)

// TestCheckGlob: groups multiply, so there is a limit.
func TestCheckGlob(t *testing.T) {
	t.Parallel()
	for glob, want := range map[string]string{
		"**/*.{json,jsonl,ndjson}":        "",
		"{a,b}{c,d}/{e,{f,g}}":            "",
		strings.Repeat("{a,b}", 9):        "",
		strings.Repeat("{a,b}", 10):       "more than 1000 globs",
		strings.Repeat("{a,{b,c},d}", 5):  "more than 1000 globs",
		strings.Repeat("{a,a}", 40) + "b": "more than 1000 globs",
		strings.Repeat(`\{a,a\}`, 40):     "",
		"{" + strings.Repeat("a,", 500):   "is not a valid glob",
		"[":                               "is not a valid glob",
	} {
		got := CheckGlob(glob)
		if (got == nil) != (want == "") || got != nil && !strings.Contains(got.Error(), want) {
			t.Errorf("%s: %v", glob, got)
		}
	}
}
