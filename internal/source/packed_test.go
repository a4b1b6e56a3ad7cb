package source

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// TestPacked: a compressed file is read as what it holds, small or spooled, and
// one that is cut off is an error that names it.
func TestPacked(t *testing.T) {
	for _, size := range []int{1, 1000, spoolSize + 1000} {
		text := []byte(strings.Repeat("{\"role\":\"user\"}\n", size/16+1))
		var gz, zs bytes.Buffer
		g := gzip.NewWriter(&gz)
		_, _ = g.Write(text)
		_ = g.Close()
		z, err := zstd.NewWriter(&zs)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = z.Write(text)
		_ = z.Close()
		for packing, packed := range map[string][]byte{"gzip": gz.Bytes(), "zstd": zs.Bytes(), "": text} {
			path := filepath.Join(t.TempDir(), "s.jsonl")
			if err := os.WriteFile(path, packed, 0o644); err != nil {
				t.Fatal(err)
			}
			opened, err := Open(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			spooled, err := Spool(t.Context(), "-", bytes.NewReader(packed))
			if err != nil {
				t.Fatal(err)
			}
			for _, src := range []*Source{opened, spooled} {
				got, err := src.Bytes(Span{0, src.Size()})
				if err != nil || !bytes.Equal(got, text) || src.Packed() != packing {
					t.Errorf("%q: %d bytes of %d, packed %q, %v", packing, len(got), len(text), src.Packed(), err)
				}
				if err := src.Close(); err != nil {
					t.Error(err)
				}
			}
			if packing == "" {
				continue
			}
			if _, err := Spool(t.Context(), "cut.jsonl", bytes.NewReader(packed[:len(packed)-3])); err == nil || !strings.HasPrefix(err.Error(), "cut.jsonl: ") || !strings.Contains(err.Error(), packing) {
				t.Errorf("%s cut off: %v", packing, err)
			}
		}
	}
}
