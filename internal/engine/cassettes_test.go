package engine

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/source"
)

// TestCassettes checks recordings of VCR for Python and Ruby, in all styles of YAML. Each has the same
// call without a result, and at the place of the finding is the id of the call.
func TestCassettes(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../testdata/cassettes/*-*.*")
	if err != nil || len(files) < 60 {
		t.Fatalf("%d cassettes, %v", len(files), err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			rep, err := Check(t.Context(), source.FromBytes(name, text), Options{})
			if err != nil || rep.Skipped != "" {
				t.Fatal(err, rep.Skipped)
			}
			want := 1
			if base := filepath.Base(name); strings.HasPrefix(base, "documents") || strings.HasPrefix(base, "anchors") {
				want = 2
			}
			n := 0
			for f := range rep.Findings.All() {
				if f.Rule.Name != "missing-tool-result" {
					continue
				}
				n++
				line := strings.Split(string(text), "\n")[f.Start.Line-1]
				at := line[f.Start.Column-1:]
				switch {
				case strings.HasPrefix(at, "call_lost"), strings.HasPrefix(at, `"call_lost`), strings.HasPrefix(at, `\"call_lost`):
					if want := `call "call_lost" to "ls" has no result`; f.Message != want {
						t.Errorf("got %s", f.Message)
					}
				default:
					if want := `call "call_lost" to "ls" has no result (in base64: "call_lost")`; f.Message != want {
						t.Errorf("got %s", f.Message)
					}
					if !strings.Contains(inLine64(t, string(text[f.Span.Start:f.Span.End])), "call_lo") {
						t.Errorf("no id in %q", text[f.Span.Start:f.Span.End])
					}
				}
			}
			if n != want {
				t.Errorf("%d findings, want %d", n, want)
			}
		})
	}
}

// inLine64 returns what base64 in a file stands for, without the beginning and the end of the scalar.
func inLine64(t *testing.T, text string) string {
	t.Helper()
	text = strings.Map(func(r rune) rune {
		if strings.ContainsRune(" \r\n\t", r) {
			return -1
		}
		return r
	}, strings.TrimLeft(text, "|-"))
	data, err := base64.StdEncoding.DecodeString(text[:len(text)/4*4])
	if err != nil {
		t.Fatalf("%v: %q", err, text)
	}
	if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		out, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		data = out
	}
	return string(data)
}
