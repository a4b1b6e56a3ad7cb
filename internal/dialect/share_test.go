package dialect_test

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/contain"
	"github.com/toolguard/toolguard/internal/container"
	"github.com/toolguard/toolguard/internal/detect"
	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/planted"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
)

// TestSharedMemory: what a set has learnt from a file is used for the next one, unless a panic was
// caught in that file.
func TestSharedMemory(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // each processor has memories of its own
	read := func(set *dialect.Set, text string) error {
		src := source.NewSource("s", strings.NewReader(text), int64(len(text)))
		return contain.Do(func() error {
			_, all := container.Read(src, detect.Options{Dialects: set})
			for _, err := range all {
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	check := func(set *dialect.Set, text string) error {
		src := source.NewSource("s", strings.NewReader(text), int64(len(text)))
		return contain.Do(func() error {
			_, err := engine.Units(context.Background(), src, engine.Options{Dialects: set, Rules: append(rules.All(), planted.Rule())}, func(*engine.Unit) error { return nil })
			return err
		})
	}
	for _, tt := range []struct {
		name, text string
		use        func(set *dialect.Set, text string) error
		shared     bool
	}{
		{"lines", planted.Lines("c1"), read, true},
		{"no transcript", `{"a":1}`, read, true},
		{"a row", planted.Row("c1") + "\n" + planted.Row("c2") + "\n", check, true},
		{"panic in a file", planted.Lines(planted.InReader), read, false},
		{"panic in a row", planted.Row("c1") + "\n" + planted.Row(planted.InReader) + "\n", read, false},
		{"panic in the rule of a row", planted.Row("c1") + "\n" + planted.Row(planted.InRule) + "\n", check, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			set := dialect.Builtin().With(planted.Dialect())
			shared := false
			for range 100 { // the collector of garbage may take a memory
				before := set.Remembering()
				memory := before.Memory()
				before.Release()
				_ = tt.use(set, tt.text)
				after := set.Remembering()
				shared = shared || after.Memory() == memory
			}
			if shared != tt.shared {
				t.Errorf("the memory is shared: %t, want %t", shared, tt.shared)
			}
		})
	}
}
