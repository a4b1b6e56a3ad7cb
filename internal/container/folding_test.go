package container

import (
	"fmt"
	"hash/maphash"
	"runtime"
	"testing"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/source"
)

// TestMemoryOfFolding checks that a folding log needs no more memory than a linked log,
// 64 bytes per record.
func TestMemoryOfFolding(t *testing.T) {
	const n = 100_000
	f := &folding{reading: &reading{seed: maphash.MakeSeed()}, log: dialect.GeminiCLI.Fold, at: map[uint64]int32{}}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range n {
		f.put(element{record: int32(i), val: source.NewValue(fmt.Appendf(nil, `{"id":"message-%d","type":"user"}`, i), int64(40*i))})
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if got := (float64(after.HeapAlloc) - float64(before.HeapAlloc)) / n; got > 64 {
		t.Errorf("a record takes %.0f bytes", got)
	}
	if len(f.live) != n {
		t.Error(len(f.live))
	}
}
