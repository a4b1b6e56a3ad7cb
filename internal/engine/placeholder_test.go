package engine

import (
	"bytes"
	"testing"

	"github.com/toolguard/toolguard/internal/dialect"
)

// TestPlaceholdersAreKnown: the placeholder that toolguard writes in a dialect is known to be one
// when it is read again. A real result replaces it, and it is no evidence of which call another
// result answers.
func TestPlaceholdersAreKnown(t *testing.T) {
	t.Parallel()
	opts := FixOptions{Options: Options{Send: true, Strategy: map[string]string{"missing-tool-result": "insert", "pending-tool-call": "insert"}}}
	inserted, writers := map[string]bool{}, 0
	for _, in := range fixtures(t) {
		_, f, err := tryFix(in.name, in.text, opts)
		if err != nil || !f.Changed() {
			continue // TestFixProperties looks at errors
		}
		d := dialect.ByName(f.Before.File.Dialect)
		if _, states := d.Driver.(dialect.StateWriter); states {
			continue // the state of the call says that it has no result
		}
		for _, r := range f.has.list {
			text, err := f.has.src.View(r.payload)
			if err != nil {
				t.Fatal(err)
			}
			is := f.has.inserted(&r)
			if isOwn := bytes.Contains(text, []byte("[toolguard] No result")); isOwn != is {
				t.Errorf("%s: %s is a placeholder: %t, want %t", in.name, text, is, isOwn)
			}
			inserted[d.Name] = inserted[d.Name] || is
		}
	}
	for _, d := range dialect.All() {
		_, states := d.Driver.(dialect.StateWriter)
		if _, writes := d.Driver.(dialect.Writer); !writes || states || d.CheckOnly != "" {
			continue
		}
		if writers++; !inserted[d.Name] {
			t.Errorf("%s: no placeholder in any fixture", d.Name)
		}
	}
	if writers < 20 {
		t.Errorf("only %d dialects write results", writers)
	}
}
