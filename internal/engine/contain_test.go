package engine

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/toolguard/toolguard/internal/contain"
	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/planted"
	"github.com/toolguard/toolguard/internal/source"
)

// A fuse is a reader that panics at its n-th read.
type fuse struct {
	*bytes.Reader
	left atomic.Int64
}

func (f *fuse) ReadAt(b []byte, off int64) (int, error) {
	if f.left.Add(-1) == 0 {
		panic(planted.Value)
	}
	return f.Reader.ReadAt(b, off)
}

// TestPanicAtAnyRead: a panic of any read of a source is an error that the caller can catch, also
// if another goroutine reads ahead.
func TestPanicAtAnyRead(t *testing.T) {
	t.Parallel()
	words := strings.Repeat("words ", 4000)
	var messages []string
	for i := range 30 {
		messages = append(messages, fmt.Sprintf(`{"role":"user","content":"%s"}`, words),
			fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[{"id":"c%d","type":"function","function":{"name":"f","arguments":"{}"}}]}`, i))
	}
	for name, text := range map[string]string{
		"lines":    strings.Join(messages, "\n") + "\n",
		"document": `{"messages":[` + strings.Join(messages, ",") + `]}`,
	} {
		for _, ahead := range []bool{false, true} {
			try := func(reads int64) (left int64, err error) {
				f := &fuse{Reader: bytes.NewReader([]byte(text))}
				f.left.Store(reads)
				src := source.NewSource(name, f, int64(len(text)))
				src.SetWindow(256 << 10)
				if ahead {
					src.SetAhead(0)
				}
				err = contain.Do(func() error {
					fixed, err := Settle(t.Context(), src, FixOptions{Options: Options{Send: true}})
					if err == nil && len(fixed.Repairs) != 30 {
						t.Errorf("%s: %d repairs", name, len(fixed.Repairs))
					}
					return err
				})
				return f.left.Load(), err
			}
			left, err := try(1 << 20)
			if err != nil {
				t.Fatal(err)
			}
			n := 1<<20 - left
			if n < 20 {
				t.Errorf("%s: only %d reads", name, n)
			}
			for reads := int64(1); reads <= n-4; reads += max(1, n/25) { // ahead, the number varies
				if _, err := try(reads); contain.From(err) == nil || contain.From(err).Panic != planted.Value {
					t.Errorf("%s, ahead %v, read %d of %d: got %v", name, ahead, reads, n, err)
				}
			}
		}
	}
}

// TestNothingOfAPanic: what a check has learnt before a panic is not used for the next row.
func TestNothingOfAPanic(t *testing.T) {
	t.Parallel()
	opts := Options{Dialects: dialect.Builtin().With(planted.Dialect())}
	rows := func(text string) (out []string) {
		_, err := Units(t.Context(), source.FromBytes("t", []byte(text)), opts, func(u *Unit) error {
			var row strings.Builder
			fmt.Fprint(&row, u.Conversations, u.Caught != nil)
			for f := range u.Findings.All() {
				fmt.Fprintf(&row, "\n%s %s %v %v %s", f.Rule.Name, f.Message, f.Record, f.Span, f.Pointer)
			}
			out = append(out, row.String())
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	// One row has an open call, and then a conversation that panics.
	open, bad := planted.Row("c1"), planted.Row(planted.InReader)
	both := `{"a":` + open + `,"b":` + bad + `,"a":1}`
	for _, lost := range []string{bad, both} {
		blank := `{"n":"` + strings.Repeat("x", len(lost)-8) + `"}`
		want := rows(strings.Join([]string{open, blank, open, blank, blank, open}, "\n"))
		got := rows(strings.Join([]string{open, lost, open, lost, lost, open}, "\n"))
		for _, i := range []int{1, 3, 4} {
			if !strings.HasSuffix(got[i], "true") {
				t.Errorf("row %d: %s", i, got[i])
			}
			want[i], got[i] = "", ""
		}
		if !slices.Equal(want, got) {
			t.Errorf("got\n%q\nwant\n%q", got, want)
		}
	}
}
