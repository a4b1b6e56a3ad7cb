package source

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestProgress: the part that is read grows evenly to 1, also while a file is unpacked, and does
// not grow when something is read again.
func TestProgress(t *testing.T) {
	t.Parallel()
	text := make([]byte, spoolSize+chunkSize)
	rnd := rand.NewChaCha8([32]byte{})
	_, _ = rnd.Read(text)
	var packed bytes.Buffer
	z, _ := gzip.NewWriterLevel(&packed, gzip.NoCompression)
	_, _ = z.Write(text)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	var parts []float64
	ctx := WithProgress(t.Context(), func(part float64) { parts = append(parts, part) })
	open := func(text []byte) func(context.Context) (*Source, error) {
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, text, 0o666); err != nil {
			t.Fatal(err)
		}
		return func(ctx context.Context) (*Source, error) { return Open(ctx, path, 0) }
	}
	for _, tt := range []struct {
		name   string
		open   func(context.Context) (*Source, error)
		opened float64 // the part that Open reads
	}{
		{"file", open(text), 0},
		{"small file", open(text[:chunkSize]), 1},
		{"compressed file", open(packed.Bytes()), 0.5},
		{"stream", func(ctx context.Context) (*Source, error) { return Spool(ctx, "-", bytes.NewReader(text), 0) }, 0},
		{"compressed stream", func(ctx context.Context) (*Source, error) { return Spool(ctx, "-", &packed, 0) }, 0.5},
	} {
		parts = nil
		src, err := tt.open(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if last := append([]float64{0}, parts...)[len(parts)]; int(last*100) != int(tt.opened*100) {
			t.Errorf("%s: %v is done after opening, want %v", tt.name, last, tt.opened)
		}
		for range 2 {
			if _, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{src.Stream()}, make([]byte, chunkSize/2)); err != nil {
				t.Fatal(err)
			}
		}
		parts = append([]float64{0}, parts...)
		if last := parts[len(parts)-1]; last != 1 || !slices.IsSorted(parts) {
			t.Errorf("%s: not sorted, or not complete: %v", tt.name, parts)
		}
		for i, part := range parts[1:] {
			if step := part - parts[i]; step > 0.13 && tt.opened < 1 {
				t.Errorf("%s: from %v to %v in one step", tt.name, parts[i], part)
			}
		}
		if src.Derived(src, src.Size()).progress != nil {
			t.Errorf("%s: an edited source counts", tt.name)
		}
		src.Close()
	}

	// Without WithProgress nothing is counted.
	parts = nil
	src, err := open(text)(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if _, err := io.Copy(io.Discard, src.Stream()); err != nil || parts != nil {
		t.Errorf("%v, %v", parts, err)
	}
}

// TestProgressOfDocument: a document that is not held in memory is read twice, and lines are
// not, although both begin alike.
func TestProgressOfDocument(t *testing.T) {
	t.Parallel()
	record := append(append([]byte(`["`), bytes.Repeat([]byte("a"), 1<<20)...), `"]`...)
	for _, tt := range []struct {
		name string
		text []byte
		want float64 // after the first record is found
	}{
		{"document", slices.Concat([]byte("["), bytes.Repeat(append(slices.Clip(record), ','), 5), record, []byte("]")), 0.5},
		{"lines", bytes.Repeat(append(slices.Clip(record), '\n'), 6), 0},
	} {
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, tt.text, 0o666); err != nil {
			t.Fatal(err)
		}
		var last float64
		src, err := Open(WithProgress(t.Context(), func(part float64) { last = part }), path, 0)
		if err != nil {
			t.Fatal(err)
		}
		if tt.name == "document" {
			doc, err := NewReader(src).pages(0)
			if err != nil || doc == nil || last < 0.49 || last > 0.5 {
				t.Errorf("%s: %v is done after the scan: %v, %v", tt.name, last, doc, err)
			}
		} else if doc, err := NewReader(src).pages(0); err != nil || doc != nil || src.progress.to != 1 || src.progress.from != 0 {
			t.Errorf("%s: %+v, %v, %v", tt.name, src.progress, doc, err)
		}
		if _, err := io.Copy(io.Discard, src.Stream()); err != nil || last != 1 {
			t.Errorf("%s: %v is done at the end: %v", tt.name, last, err)
		}
		src.Close()
	}
}
