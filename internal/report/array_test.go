package report

import (
	"bytes"
	"strings"
	"testing"
)

// TestFindingsAreNotKept: formats that list every finding write each one at once, however
// many there are.
func TestFindingsAreNotKept(t *testing.T) {
	t.Parallel()
	for _, f := range Formats() {
		if f.Few {
			continue
		}
		var out bytes.Buffer
		r := f.New(&out, Options{})
		for _, rep := range reports() {
			if err := r.File(rep); err != nil {
				t.Fatal(err)
			}
			for x := range rep.Findings.All() {
				if name := x.Rule.Name; !strings.Contains(out.String(), name) {
					t.Errorf("%s: %s is not written before the end", f.Name, name)
				}
			}
		}
	}
}
