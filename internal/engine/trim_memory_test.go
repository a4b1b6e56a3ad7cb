package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/trim"
)

// TestTrimMemory checks what is held at the end of the proof if nearly all results are shortened:
// the second model, the edits and the result, but neither texts nor the first model.
func TestTrimMemory(t *testing.T) {
	const few, many, budget = 1000, 5000, 2*200 + 500 // a pair has a call and a result
	if each := (heldByTrim(t, many) - heldByTrim(t, few)) / (many - few); each > budget {
		t.Errorf("%d bytes are held for each result, want at most %d", each, budget)
	} else {
		t.Logf("%d bytes are held for each result", each)
	}
}

// heldByTrim returns the size of the heap at the end of the proof.
func heldByTrim(t *testing.T, pairs int) (size int64) {
	t.Helper()
	var script strings.Builder
	script.WriteString("u")
	for i := range pairs {
		fmt.Fprintf(&script, " a:%d t%d", i, i)
	}
	text := strings.ReplaceAll(chat(script.String()), `"content":"result`, `"content":"`+strings.Repeat("0123456789", 50))
	text = strings.ReplaceAll(text[1:len(text)-1], ",\n ", "\n") // one line is read at a time
	path := filepath.Join(t.TempDir(), "x.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := source.Open(context.Background(), path, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	parts := 0
	got, err := Trim(context.Background(), src, Options{}, &trim.Request{ResultsMax: 200, MaxTokens: 1e9, Count: func([]byte) (float64, error) {
		if parts++; parts == 2*(2*pairs+1) { // each message, twice
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			size = int64(m.HeapAlloc)
		}
		return 1, nil
	}})
	if err != nil || len(got.Shortened) != pairs || size == 0 {
		t.Fatalf("%v, %d results and %d parts", err, len(got.Shortened), parts)
	}
	return size
}
