package engine

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/sample"
	"github.com/toolguard/toolguard/internal/source"
)

// TestWindow: what is found in a document that is read through a window, or in a file
// that is read ahead, and what it becomes, is the same as if it were in memory.
func TestWindow(t *testing.T) {
	t.Parallel()
	texts := fixtures(t)
	for _, c := range readCases(t) {
		texts = append(texts, fixture{c.Name, c.text(t)})
	}
	for i, in := range sampled(t, 10, texts) {
		want := windowed(t, in.name, in.text, 0)
		for k, held := range []int64{16, 200, 2000} {
			if (i+k)%sample.Size(1, 3, 3) > 0 {
				continue
			}
			if diff := cmp.Diff(want, windowed(t, in.name, in.text, held)); diff != "" {
				t.Errorf("%s, %d bytes of it in memory (-want +got):\n%s", in.name, held, diff)
			}
		}
	}
}

// windowed returns all that is told of a document of which so much may be held in
// memory; 0 means the usual.
func windowed(t *testing.T, name string, text []byte, held int64) string {
	t.Helper()
	src := source.FromBytes(name, text)
	src.SetWindow(held)
	if held > 0 {
		src.SetAhead(0)
	}
	rep, err := Check(context.Background(), src, Options{Edits: true, Excerpts: true})
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	b.WriteString(render(rep))
	fmt.Fprintf(&b, "%+v\n%v\n", rep.File.Decision, rep.File.Faults)
	for f := range rep.Findings.All() {
		fmt.Fprintf(&b, "%s %v-%v %s %s %q %q %v %v\n", f.Rule.Name, f.Start, f.End, f.Pointer, f.Fingerprint, f.Excerpt.Text, f.Unfixed, f.RelatedAt, f.RelatedExcerpts)
	}
	fixed, err := Settle(context.Background(), src, FixOptions{Unsafe: true})
	if err != nil {
		fmt.Fprintln(&b, err)
		return b.String()
	}
	if fixed.Pieces != nil {
		text, err := io.ReadAll(fixed.Pieces.Source().Stream())
		if err != nil {
			t.Fatal(err)
		}
		b.Write(text)
	}
	return b.String()
}
