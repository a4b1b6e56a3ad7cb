package source

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// TestLook reads spans of a source as bytes and as values: before, among and after its
// records, and in a document that is read through a window.
func TestLook(t *testing.T) {
	var text bytes.Buffer
	for i := range 40 {
		fmt.Fprintf(&text, "{\"n\": %d, \"s\": %q, \"list\": [1, {\"k\": %q}]}\n", i, strings.Repeat("x\n", 7*i), strings.Repeat("y", 3000*(i%3)))
	}
	lines := text.String()
	document := "{\"all\": [" + strings.ReplaceAll(strings.TrimSpace(lines), "\n", ",\n") + "]}"
	look := func(t *testing.T, src *Source, text string, at Span) {
		t.Helper()
		want := text[at.Start:at.End]
		if got, err := src.View(at); err != nil || string(got) != want {
			t.Fatalf("%v: %q, %v, want %q", at, got, err, want)
		}
		if v, err := src.Value(at); err != nil || v.Span() != at || string(v.Raw()) != want {
			t.Fatalf("%v: value %q at %v, %v, want %q", at, v.Raw(), v.Span(), err, want)
		}
	}
	around := func(t *testing.T, src *Source, text string, v Value) {
		t.Helper()
		look(t, src, text, v.Span())
		look(t, src, text, Span{0, 9})
		for k, val := range v.Members() {
			look(t, src, text, k.Span())
			look(t, src, text, val.Span())
			if got, err := src.Value(v.Span()); err != nil || got.Get(k.Str()).Span() != val.Span() {
				t.Fatalf("%v: %s at %v, %v, want %v", v.Span(), k.Raw(), got.Get(k.Str()).Span(), err, val.Span())
			}
			look(t, src, text, Span{int64(len(text)) - 5, int64(len(text))})
		}
	}
	t.Run("lines", func(t *testing.T) {
		src := FromBytes("a", []byte(lines))
		for rec, err := range Records(src) {
			if err != nil {
				t.Fatal(err)
			}
			around(t, src, lines, rec.Value)
		}
		look(t, src, lines, Span{0, int64(len(lines))})
	})
	for _, held := range []int64{256, 1 << 10, 1 << 20} {
		t.Run(fmt.Sprint("document held to ", held), func(t *testing.T) {
			src := FromBytes("a", []byte(document))
			src.SetWindow(held)
			rec, err := NewReader(src).Next()
			if err != nil {
				t.Fatal(err)
			}
			for rec, err := range Again(src, rec) {
				if err != nil {
					t.Fatal(err)
				}
				around(t, src, document, rec.Value)
				for e := range rec.Value.Get("all").Each() {
					around(t, src, document, e)
				}
			}
			if src.near.Exists() {
				t.Error("the source still refers to the record")
			}
		})
	}
	if _, err := FromBytes("a", []byte("abc")).Value(Span{2, 4}); err == nil || err.Error() != "a: bytes 2 to 4 are outside the source" {
		t.Errorf("outside: %v", err)
	}
}
