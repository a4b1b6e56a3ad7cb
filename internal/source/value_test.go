package source

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestValue(t *testing.T) {
	in := ` {"a": [1, "x\ny", {"b":null}], "\u0061b":true,"e":{},"f":[ ],"a":2 , "s":" \n","t":"","u":"\u0020","n":-1.5e3} `
	v := NewValue([]byte(in), 10)
	if v.Kind() != Object || v.Span() != (Span{11, 10 + int64(len(in)) - 1}) {
		t.Errorf("%v at %v", v.Kind(), v.Span())
	}
	kinds := map[string]Kind{
		"a": Array, "ab": Bool, "e": Object, "f": Array, "s": String, "n": Number, "none": None, "A": None, "": None,
	}
	for key, want := range kinds {
		if got := v.Get(key).Kind(); got != want {
			t.Errorf("%q is of kind %d, want %d", key, got, want)
		}
	}
	a := v.Get("a")
	var elems []string
	for i, e := range a.Elements() {
		if i != len(elems) {
			t.Errorf("element %d has index %d", len(elems), i)
		}
		elems = append(elems, string(e.Raw()))
		if s := e.Span(); in[s.Start-10:s.End-10] != string(e.Raw()) {
			t.Errorf("%q is at %v", e.Raw(), s)
		}
	}
	if want := []string{`1`, `"x\ny"`, `{"b":null}`}; !slices.Equal(elems, want) {
		t.Errorf("elements %q, want %q", elems, want)
	}
	if got := string(a.First().Raw()); got != "1" {
		t.Errorf("first is %s", got)
	}
	if v.Get("f").First().Exists() || v.First().Exists() || v.Path("a", "b").Exists() {
		t.Error("found a value that does not exist")
	}
	if !v.Get("ab").True() || v.Get("a").True() {
		t.Error("true is not true")
	}
	for key, want := range map[string]bool{"s": true, "t": true, "u": false, "n": false, "none": false} {
		if got := v.Get(key).Blank(); got != want {
			t.Errorf("%q is blank: %t", key, got)
		}
	}
	x := NewValue([]byte(`"caf\u00e9"`), 0)
	if x.Str() != "café" || !x.Is("café") || x.Is("caf") {
		t.Errorf("%s is %q", x.Raw(), x.Str())
	}
	if NewValue([]byte(" \n"), 0).Exists() {
		t.Error("blanks are a value")
	}
}

// TestValueOnBrokenText walks text that no scanner accepts. A walk must stay inside the
// text and must end.
func TestValueOnBrokenText(*testing.T) {
	for _, seed := range seeds {
		in := []byte(seed)
		for i := range in {
			walkAll(NewValue(in[:i], 0), 0)
			walkAll(NewValue(in[i:], 0), 0)
			old := in[i]
			for _, c := range []byte("\"\\{}[],: 1") {
				in[i] = c
				walkAll(NewValue(in, 0), 0)
			}
			in[i] = old
		}
	}
}

// walkAll calls every method of a value and returns the number of values in it.
func walkAll(v Value, depth int) int {
	v.Raw()
	v.Str()
	v.Blank()
	v.True()
	v.Is("x")
	v.Get("a")
	v.First()
	n := 1
	if depth > 30 {
		return n
	}
	for k, m := range v.Members() {
		n += walkAll(k, depth+1) + walkAll(m, depth+1)
	}
	for _, e := range v.Elements() {
		n += walkAll(e, depth+1)
	}
	new(Source).Pointers(v, []Span{v.Span(), {v.Span().Start, v.Span().Start}})
	return n
}

// checkValue compares walking a valid text with decoding by the standard library.
func checkValue(t *testing.T, in []byte) {
	t.Helper()
	var want any
	dec := json.NewDecoder(bytes.NewReader(in))
	dec.UseNumber()
	if err := dec.Decode(&want); err != nil {
		t.Fatalf("%q: %v", in, err)
	}
	got := decode(NewValue(in, 0))
	if fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", want) {
		t.Fatalf("%q:\n got %#v\nwant %#v", in, got, want)
	}

	// The pointer of each scalar must lead back to it.
	var leaves []Value
	collect(NewValue(in, 0), &leaves)
	spans := make([]Span, len(leaves))
	for i, l := range leaves {
		spans[i] = l.Span()
	}
	for i, p := range new(Source).Pointers(NewValue(in, 0), spans) {
		if got := new(Source).Pointers(NewValue(in, 0), spans[i:i+1])[0]; got != p {
			t.Fatalf("%q: %v is at %q, and at %q", in, spans[i], p, got)
		}
	}
}

func collect(v Value, leaves *[]Value) {
	n := len(*leaves)
	for _, m := range v.Members() {
		collect(m, leaves)
	}
	for _, e := range v.Elements() {
		collect(e, leaves)
	}
	if n == len(*leaves) {
		*leaves = append(*leaves, v)
	}
}

// decode converts a value as the standard library does.
func decode(v Value) any {
	switch v.Kind() {
	case Object:
		m := map[string]any{}
		for k, val := range v.Members() {
			m[toValid(k.Str())] = decode(val)
		}
		return m
	case Array:
		a := []any{}
		for _, e := range v.Elements() {
			a = append(a, decode(e))
		}
		return a
	case String:
		return toValid(v.Str())
	case Number:
		return json.Number(v.Raw())
	case Bool:
		return v.True()
	}
	return nil
}

// toValid replaces each byte that is not UTF-8, as the standard library does.
func toValid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

func TestValueAgreesWithStandardLibrary(t *testing.T) {
	for _, seed := range seeds {
		if json.Valid([]byte(seed)) {
			checkValue(t, []byte(seed))
			checkValue(t, []byte(" ["+seed+" ,"+seed+"]\n"))
			checkValue(t, []byte(`{"k":`+seed+`, "l" : {"m":`+seed+"}}"))
		}
	}
}

// countElements counts the elements of an array that have a field a.
func countElements(in []byte) (n int) {
	for _, e := range NewValue(in, 0).Elements() {
		if e.Get("a").Exists() {
			n++
		}
	}
	return n
}

// BenchmarkElements reports the ratio of the times for ten times the elements: 10 if the
// work is linear, 100 if it is quadratic.
func BenchmarkElements(b *testing.B) {
	const n = 50_000
	text := func(n int) []byte { return []byte("[" + strings.Repeat(`{"a":[1,"x"]},`, n) + "0]") }
	small, large := text(n), text(10*n)
	var once, tenfold time.Duration
	for b.Loop() {
		start := time.Now()
		if got := countElements(small); got != n {
			b.Fatalf("%d elements", got)
		}
		middle := time.Now()
		if got := countElements(large); got != 10*n {
			b.Fatalf("%d elements", got)
		}
		once += middle.Sub(start)
		tenfold += time.Since(middle)
	}
	b.ReportMetric(float64(tenfold)/float64(once), "x/10x-elements")
}

// surrogates reports whether a string in the text has a lone surrogate, according to the
// standard library. The text must be valid UTF-8 without U+FFFD.
func surrogates(in []byte) bool {
	dec := json.NewDecoder(bytes.NewReader(in))
	dec.UseNumber()
	for {
		tok, err := dec.Token()
		if err == io.EOF {
			return false
		}
		if s, ok := tok.(string); ok && strings.ContainsRune(s, utf8.RuneError) {
			return true
		}
	}
}
