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

// TestPacked checks that a compressed file is unpacked, whether it is small or spooled,
// and that a truncated one causes an error that names it.
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
			opened, err := Open(t.Context(), path, 1<<30)
			if err != nil {
				t.Fatal(err)
			}
			spooled, err := Spool(t.Context(), "-", bytes.NewReader(packed), 1<<30)
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
			if _, err := Spool(t.Context(), "cut.jsonl", bytes.NewReader(packed[:len(packed)-3]), 1<<30); err == nil || !strings.HasPrefix(err.Error(), "cut.jsonl: ") || !strings.Contains(err.Error(), packing) {
				t.Errorf("%s cut off: %v", packing, err)
			}
		}
	}
}

// TestUnpacked checks the limit for unpacking, which depends on the compressed size
// unless a limit is given.
func TestUnpacked(t *testing.T) {
	t.Parallel()
	line := []byte(`{"role":"user","content":"x"}` + "\n")
	for _, tt := range []struct {
		lines int
		most  int64
		want  string
	}{
		{10, 0, ""},
		{30_000, 0, ""}, // less than minUnpacked
		{1_000_000, 0, "unpacks to more than 200 times its size"},
		{1_000_000, 100 << 20, ""},
		{1_000_000, 1 << 20, "unpacks to more than 1 MiB"},
		{10, 299, "unpacks to more than 299 bytes"},
		{10, 300, ""},
	} {
		text := bytes.Repeat(line, tt.lines)
		var gz, zs bytes.Buffer
		g := gzip.NewWriter(&gz)
		_, _ = g.Write(text)
		g.Close()
		z, err := zstd.NewWriter(&zs)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = z.Write(text)
		z.Close()
		for _, packed := range [][]byte{gz.Bytes(), zs.Bytes()} {
			src, err := Spool(t.Context(), "s.gz", bytes.NewReader(packed), tt.most)
			got := ""
			if err != nil {
				got = strings.TrimPrefix(err.Error(), "s.gz: ")
			} else {
				if src.Size() != int64(len(text)) {
					t.Errorf("%d lines: %d bytes", tt.lines, src.Size())
				}
				src.Close()
			}
			if got != tt.want {
				t.Errorf("%d lines, %d bytes at most: %q, want %q", tt.lines, tt.most, got, tt.want)
			}
		}
	}
}
