package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/sample"
)

// documentsOf returns documents of all kinds: a sample of the fixtures that has each dialect,
// and some whose edges are in every place.
func documentsOf(t testing.TB) map[string][]byte {
	t.Helper()
	docs := map[string][]byte{}
	err := filepath.WalkDir("../../testdata/transcripts", func(path string, _ os.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".json" {
			docs[path], err = os.ReadFile(path)
		}
		return err
	})
	if err != nil || len(docs) < 100 {
		t.Fatalf("%d documents, %v", len(docs), err)
	}
	folder := func(path string) []string { return []string{filepath.Dir(filepath.Dir(path))} }
	taken := sample.Of(t, 10, slices.Sorted(maps.Keys(docs)), filepath.ToSlash, folder)
	maps.DeleteFunc(docs, func(path string, _ []byte) bool { return !slices.Contains(taken, path) })
	long := strings.Repeat("long ", 100)
	for i, text := range []string{
		`[]`, ` {} `, "\n[[],{},[[[]]],{\"a\":{}}]\n", `{"a":[1,2.5e3,-0,true,false,null],"b":"\u00e9\n\"\\"}`,
		`["` + long + `",{"` + long + `":"` + long + `","k":[[["` + long + `"]]]}, 12345678901234567890 ]`,
		"{\"a\" : [ 1 ,\n 2\t] , \"b\"\n:\n{\"c\" : \"" + long + "\" } }  ",
		"[\"raw\nline\",\"\xff\xfe\",\"\\ud800\"," + strings.Repeat("[", 200) + strings.Repeat("]", 200) + "]",
		strings.Repeat(`[{"k":`, 300) + `"x"` + strings.Repeat(`}]`, 300),
		"\xef\xbb\xbf[1,{\"a\":2}]",
	} {
		docs[strconv.Itoa(i)] = []byte(text)
	}
	return docs
}

// seen describes everything that can be observed of a value.
func seen(b *strings.Builder, v Value) {
	fmt.Fprintf(b, "%v %v", v.Kind(), v.Span())
	switch v.Kind() {
	case Object:
		for k, val := range v.Members() {
			fmt.Fprintf(b, "\n%v %q: ", k.Span(), k.Raw())
			seen(b, val)
		}
	case Array:
		for i, e := range v.Elements() {
			fmt.Fprintf(b, "\n%d: ", i)
			seen(b, e)
		}
	default:
		fmt.Fprintf(b, " %q %q %v %v", v.Raw(), v.Text(), v.Blank(), v.Is("x"))
	}
}

// only returns the only record of a document.
func only(t *testing.T, src *Source) (Record, bool) {
	t.Helper()
	r := NewReader(src)
	framing, err := r.Framing()
	if err != nil {
		t.Fatal(err)
	}
	if framing != FramingDocument {
		return Record{}, false
	}
	rec, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(); !errors.Is(err, io.EOF) {
		t.Fatalf("after the document: %v", err)
	}
	return rec, true
}

// TestPages checks that a document reads the same through a window as from memory,
// wherever the window ends.
func TestPages(t *testing.T) {
	t.Parallel()
	outside := 0
	for name, text := range documentsOf(t) {
		whole, ok := only(t, FromBytes(name, text))
		if !ok || !whole.Readable() {
			continue
		}
		var want, got strings.Builder
		seen(&want, whole.Value)
		var spans []Span
		allValues(whole.Value, &spans)
		for i := range min(len(spans), 200) {
			s := spans[len(spans)*i/min(len(spans), 200)]
			spans = append(spans, Span{s.Start, s.Start + 1}, Span{s.End, min(s.End+1, int64(len(text)))}, Span{max(0, s.Start-1), s.End}, Span{s.Start, min(s.End+2, int64(len(text)))})
		}
		pointers := new(Source).Pointers(whole.Value, spans)
		for _, held := range []int64{2, 17, 64, 1000} {
			src := FromBytes(name, text)
			src.SetWindow(held)
			rec, _ := only(t, src)
			if rec.Value.Outside() {
				outside++
			} else if int64(len(bytes.TrimSpace(text))) > held+3 && rec.Value.Kind() >= Array && len(rec.Faults) == 0 {
				t.Fatalf("%s is held in memory, not %d bytes of it", name, held)
			}
			if rec.Span != whole.Span || !slices.Equal(rec.Faults, whole.Faults) {
				t.Errorf("%s, %d bytes: %v %v, want %v %v", name, held, rec.Span, rec.Faults, whole.Span, whole.Faults)
			}
			for _, v := range []Value{rec.Value, rec.Value.Indexed(), rec.Value.Light(), rec.Value.Held(), rec.Value.Part(rec.Value.Span())} {
				got.Reset()
				if seen(&got, v); got.String() != want.String() {
					t.Fatalf("%s, %d bytes:\n got %s\nwant %s", name, held, got.String(), want.String())
				}
			}
			for i, p := range new(Source).Pointers(rec.Value, spans) {
				if p != pointers[i] {
					t.Errorf("%s, %d bytes: the pointer to %v is %q, want %q", name, held, spans[i], p, pointers[i])
				}
			}
			if err := src.Err(); err != nil {
				t.Error(err)
			}
		}
	}
	if outside < sample.Size(400, 100, 100) {
		t.Errorf("only %d documents were read through a window", outside)
	}
}

// TestLight checks that a light value can be read again unchanged.
func TestLight(t *testing.T) {
	t.Parallel()
	elem := `{"role":"user","content":"` + strings.Repeat("x", 100) + `"}`
	text := []byte("[" + strings.Repeat(elem+", ", 50) + elem + "]")
	src := FromBytes("s", text)
	src.SetWindow(1000)
	rec, _ := only(t, src)
	n := 0
	for _, e := range rec.Value.Elements() {
		light := e.Light()
		if !light.Outside() || len(light.text) != 1 {
			t.Fatalf("it keeps %d bytes", len(light.text))
		}
		if n++; string(light.Raw()) != elem || light.Get("role").Str() != "user" || light.Span() != e.Span() {
			t.Fatalf("%d: %s", n, light.Raw())
		}
	}
	if n != 51 {
		t.Errorf("%d elements", n)
	}
	if head := rec.Value.Head(2); string(head.Raw()) != "["+elem+","+elem+"]" {
		t.Errorf("the head is %s", head.Raw())
	}
}

// A changing source has different bytes when it is read again.
type changing struct {
	texts []string
	reads int
	after int
}

func (c *changing) ReadAt(p []byte, off int64) (int, error) {
	text := c.texts[0]
	if c.reads++; c.reads > c.after {
		text = c.texts[1]
	}
	return copy(p, text[off:]), nil
}

// TestPagesChange checks that a document that changes after it was scanned causes an
// error.
func TestPagesChange(t *testing.T) {
	t.Parallel()
	text := "[" + strings.Repeat(`{"a":"b"},`, 200) + "{}]"
	for _, other := range []string{strings.ReplaceAll(text, `"`, "x"), strings.ReplaceAll(text, "}", "]"), strings.Repeat("[", len(text))} {
		c := &changing{texts: []string{text, other}, after: 1 << 30}
		src := NewSource("s", c, int64(len(text)))
		src.SetWindow(160)
		rec, _ := only(t, src)
		c.after = c.reads
		var b strings.Builder
		seen(&b, rec.Value)
		if err := src.Err(); err == nil || err.Error() != "s: changed while it was read" {
			t.Errorf("%.20s: %v", other, err)
		}
	}
}
