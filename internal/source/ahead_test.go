package source

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/toolguard/toolguard/internal/sample"
)

// told returns a description of records and the error that ended them.
func told(records iter.Seq2[Record, error]) string {
	var b strings.Builder
	for rec, err := range records {
		fmt.Fprintf(&b, "%d %v %v %v: ", rec.Index, rec.Span, rec.Faults, err)
		seen(&b, rec.Value)
		b.WriteByte('\n')
	}
	return b.String()
}

// TestAhead checks that reading ahead yields the same records.
func TestAhead(t *testing.T) {
	t.Parallel()
	texts := documentsOf(t)
	err := filepath.WalkDir("../../testdata/transcripts", func(path string, _ os.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".jsonl" {
			texts[path], err = os.ReadFile(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat(`{"a":[1,"`+strings.Repeat("long ", 50)+`"]}`+"\n", 3000)
	texts["many"] = []byte(long)
	texts["long"] = []byte(`{"a":1}` + "\n" + `{"a":"` + strings.Repeat("x", 2*batchBytes) + `"}` + "\n" + long[:1000] + "\n" + `["` + strings.Repeat("y", 2*batchBytes) + `"]`)
	for name, text := range texts {
		want := told(Records(FromBytes(name, text)))
		for _, held := range []int64{0, 200} {
			src := FromBytes(name, text)
			src.SetWindow(held)
			src.SetAhead(0)
			if got := told(Records(src)); got != want {
				t.Fatalf("%s:\n got %s\nwant %s", name, got, want)
			}
		}
	}
}

// TestElementsAhead checks that reading ahead yields the same elements of an array.
func TestElementsAhead(t *testing.T) {
	t.Parallel()
	texts := documentsOf(t)
	var many strings.Builder
	for i := range 600 {
		fmt.Fprintf(&many, `, {"a": [%d, "%s", null], "b":{}}, null, "%s"`, i, strings.Repeat("long ", i%90), strings.Repeat("x", i%70))
	}
	texts["many"] = []byte("[0" + many.String() + "]")
	texts["long"] = []byte(`[{"a":1}, {"a":["` + strings.Repeat("x", 2*batchBytes) + `"]}` + many.String() + "]")
	lists := 0
	for name, text := range texts {
		for _, held := range []int64{0, 5000} {
			src := FromBytes(name, text)
			src.SetWindow(held)
			src.SetAhead(0)
			rec, ok := only(t, src)
			if !ok {
				continue
			}
			var check func(v Value)
			check = func(v Value) {
				for _, val := range v.Members() {
					check(val)
				}
				if v.Kind() != Array {
					return
				}
				lists++
				var want, got strings.Builder
				for _, e := range v.Elements() {
					seen(&want, e)
				}
				for e := range v.Ahead() {
					seen(&got, e)
					if e.Outside() {
						continue
					}
					for _, l := range e.ends.list {
						if end := skipValue(e.text, int(l.start)); end != int(l.end) || brackets[e.text[l.start]] == nil {
							t.Fatalf("%s, %d held: no long value ends at %d in %q", name, held, l.end, e.text)
						}
					}
				}
				if got.String() != want.String() {
					t.Fatalf("%s, %d held:\n got %s\nwant %s", name, held, got.String(), want.String())
				}
				for _, e := range v.Elements() {
					if len(name) > 1 { // others are nested very deeply
						check(e)
					}
				}
			}
			check(rec.Value)
		}
	}
	if lists < sample.Size(500, 150, 150) {
		t.Errorf("only %d lists", lists)
	}
}

// TestAheadFails checks that an error comes after the records before it.
func TestAheadFails(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("{\"a\":1}\n", 100_000)
	src := NewSource("s", breaking{text, 600_000}, int64(len(text)))
	src.SetAhead(0)
	n, failed := 0, ""
	for _, err := range Records(src) {
		if err != nil {
			failed = err.Error()
			break
		}
		n++
	}
	if n < 30_000 || failed != "s: no more" {
		t.Errorf("%d records, then %q", n, failed)
	}
}

// A breaking source cannot be read to its end.
type breaking struct {
	text string
	at   int64
}

func (f breaking) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > f.at {
		return 0, errors.New("no more")
	}
	n := copy(p, f.text[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// TestAheadStops checks that no goroutine keeps reading after an early stop.
func TestAheadStops(t *testing.T) {
	for _, text := range []string{strings.Repeat("{\"a\":1}\n", 100_000), strings.Repeat("{\"a\":\""+strings.Repeat("x", 2*batchBytes)+"\"}\n", 10)} {
		before := runtime.NumGoroutine()
		for stop := range 5 {
			src := FromBytes("s", []byte(text))
			src.SetAhead(0)
			n := 0
			for _, err := range Records(src) {
				if n++; err != nil || n > stop {
					break
				}
			}
		}
		for range 100 {
			if runtime.NumGoroutine() <= before {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if now := runtime.NumGoroutine(); now > before {
			t.Errorf("%d goroutines, want %d", now, before)
		}
	}
}

// TestAheadBehindBlanks: the window moves on if there are blanks at its end. Records before
// them that nobody has read yet must stay as they are.
func TestAheadBehindBlanks(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	n := 0
	for ; text.Len() < 4<<20; n++ {
		fmt.Fprintf(&text, "{\"n\":%07d}%s", 1_000_000+n, strings.Repeat("\r\n", 1+n%4))
	}
	src := NewSource("t", strings.NewReader(text.String()), int64(text.Len()))
	src.SetAhead(1)
	i := 0
	for rec, err := range Records(src) {
		if err != nil {
			t.Fatal(err)
		}
		if i%batchRecords == 0 {
			time.Sleep(100 * time.Microsecond) // the other goroutine is ahead
		}
		if want := fmt.Sprintf(`{"n":%07d}`, 1_000_000+i); string(rec.Value.Raw()) != want {
			t.Fatalf("record %d is %s, want %s", rec.Index, rec.Value.Raw(), want)
		}
		i++
	}
	if i != n {
		t.Errorf("read %d records of %d", i, n)
	}
}
