package report

import (
	"testing"

	"github.com/toolguard/toolguard/internal/engine"
)

// A largest is a writer that notes the largest write and the sum of all.
type largest struct{ most, sum int }

func (w *largest) Write(p []byte) (int, error) {
	w.most, w.sum = max(w.most, len(p)), w.sum+len(p)
	return len(p), nil
}

// TestStreams: a format that shows all findings writes those of a file as it reads them, so a report
// takes no memory for each of them.
func TestStreams(t *testing.T) {
	t.Parallel()
	const findings, most = 900, 96 << 10
	one := reports()[0]
	var found []engine.Finding
	for f := range one.Findings.All() {
		for range findings {
			found = append(found, *f)
		}
	}
	many := *one
	many.Findings = engine.Pack(found...)
	for _, f := range Formats() {
		w := &largest{}
		r := f.New(w, Options{})
		if err := r.File(&many); err != nil {
			t.Fatal(f.Name, err)
		}
		if err := r.Close(&Summary{}); err != nil {
			t.Fatal(f.Name, err)
		}
		if w.sum == 0 || !f.Few && w.most > most {
			t.Errorf("%s: up to %d of %d bytes are written at once, want at most %d", f.Name, w.most, w.sum, most)
		}
	}
}
