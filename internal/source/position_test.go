package source

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// positions returns the positions of offsets, looked up one after another.
func positions(src *Source, offsets []int64) ([]Position, error) {
	l := NewLines(src)
	var out []Position
	for _, off := range offsets {
		p, err := l.Position(off)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

func TestPositions(t *testing.T) {
	in := "\xef\xbb\xbfab\r\n\n é\nx"
	src := FromBytes("s", []byte(in))
	offsets := []int64{0, 3, 13, 6, 7, 8, 9, 11, 5, 0, 12, 13}
	want := []Position{
		{0, 1, 1, 1}, {3, 1, 4, 2}, {13, 4, 2, 2}, {6, 1, 7, 5}, {7, 2, 1, 1}, {8, 3, 1, 1}, {9, 3, 2, 2}, {11, 3, 4, 3}, {5, 1, 6, 4}, {0, 1, 1, 1}, {12, 4, 1, 1}, {13, 4, 2, 2},
	}
	got, err := positions(src, offsets)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf(" got %v, %v\nwant %v", got, err, want)
	}
	for _, off := range []int64{-1, int64(len(in)) + 1} {
		if _, err := positions(src, []int64{0, off}); err == nil {
			t.Errorf("offset %d has a position", off)
		}
	}
	if got, err := positions(FromBytes("s", nil), []int64{0}); err != nil || got[0] != (Position{0, 1, 1, 1}) {
		t.Errorf("empty source: %v, %v", got, err)
	}
}

func TestPositionsAgainstPlain(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	in := make([]byte, 3*chunkSize+17)
	for i := range in {
		in[i] = "abcdefgh\n"[rng.IntN(9)]
	}
	want := make([]Position, len(in)+1)
	line, start := 1, 0
	for i := range want {
		want[i] = Position{int64(i), line, i - start + 1, i - start + 1}
		if i < len(in) && in[i] == '\n' {
			line, start = line+1, i+1
		}
	}
	offsets := []int64{0, int64(len(in)), chunkSize - 1, chunkSize, chunkSize + 1}
	for range 5000 {
		offsets = append(offsets, int64(rng.IntN(len(in)+1)))
	}
	got, err := positions(FromBytes("s", in), offsets)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range got {
		if p != want[offsets[i]] {
			t.Errorf("offset %d is at %v, want %v", offsets[i], p, want[offsets[i]])
		}
	}
}

// TestPositionsInOrder checks that offsets in ascending order, at distances typical of
// findings, are found in one pass over the source.
func TestPositionsInOrder(t *testing.T) {
	in := bytes.Repeat([]byte("0123456789abcde\n"), 1<<20)
	c := &counter{r: bytes.NewReader(in)}
	var offsets []int64
	for at := int64(0); at < int64(len(in)/2); at += 700 {
		offsets = append(offsets, at, at+90, at+30)
	}
	if _, err := positions(NewSource("s", c, int64(len(in))), offsets); err != nil {
		t.Fatal(err)
	}
	if limit := int64(len(in) / 2 * 3 / 2); c.n > limit {
		t.Errorf("read %d bytes, more than %d", c.n, limit)
	}
}

// TestPositionsAnywhere checks that an offset out of order is counted from a place near
// it.
func TestPositionsAnywhere(t *testing.T) {
	in := bytes.Repeat([]byte("0123456789abcde\n"), 1<<20)
	c := &counter{r: bytes.NewReader(in)}
	l := NewLines(NewSource("s", c, int64(len(in))))
	if _, err := l.Position(int64(len(in))); err != nil {
		t.Fatal(err)
	}
	c.n = 0
	const n = 1000
	for i := range n {
		off := int64(i * 7919 * 13 % len(in))
		want := Position{off, int(off/16) + 1, int(off%16) + 1, int(off%16) + 1}
		if got, err := l.Position(off); err != nil || got != want {
			t.Fatalf("offset %d is at %v, %v", off, got, err)
		}
	}
	if limit := int64(n * (leastStep + leastRead)); c.n > limit {
		t.Errorf("read %d bytes, more than %d", c.n, limit)
	}
}

// positionsOf returns the positions of offsets.
func positionsOf(t *testing.T, src *Source, offsets []int64) []Position {
	t.Helper()
	l := NewLines(src)
	var out []Position
	for _, off := range offsets {
		p, err := l.Position(off)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, p)
	}
	return out
}

// TestPositionsAfterReading checks that positions in a part that was read before are the
// same and cheaper to find.
func TestPositionsAfterReading(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var in []byte
		for range rnd.IntN(60) {
			in = append(in, `{"a":"`+strings.Repeat("é", rnd.IntN(40))+"\"}"+[]string{"", "\r", " ", "\n", "\n\n"}[rnd.IntN(5)]+"\n"...)
		}
		src := FromBytes("s", in)
		var offsets []int64
		for range rnd.IntN(9) {
			offsets = append(offsets, rnd.Int64N(int64(len(in))+1))
		}
		want := positionsOf(t, src, offsets)
		for range 2 {
			r := newReader(src, 1+rnd.Int64N(90), 1+rnd.Int64N(200))
			for range rnd.IntN(80) {
				if _, err := r.Next(); err != nil {
					break
				}
			}
			if got := positionsOf(t, src, offsets); !slices.Equal(got, want) {
				t.Fatalf("%q, %v:\n got %v\nwant %v", in, offsets, got, want)
			}
		}
	}

	in := bytes.Repeat([]byte("{\"n\":123456789}\n"), 1<<20)
	c := &counter{r: bytes.NewReader(in)}
	src := NewSource("s", c, int64(len(in)))
	r := NewReader(src)
	for {
		if _, err := r.Next(); err != nil {
			break
		}
	}
	c.n = 0
	got := positionsOf(t, src, []int64{int64(len(in)) - 3, 5 << 20})
	if got[0].Line != 1<<20 || got[0].Column != 14 || c.n > 2*chunkSize {
		t.Errorf("%v, and %d bytes were read", got, c.n)
	}
}

func TestPointers(t *testing.T) {
	in := ` {"a" : [1, {"b/c~d": "x"}, []], "e":{"\u00e9":null} ,"":{"":""}} `
	at := func(sub string) Span {
		i := strings.Index(in, sub)
		if i < 0 {
			t.Fatalf("no %s", sub)
		}
		return Span{100 + int64(i), 100 + int64(i+len(sub))}
	}
	empty := func(sub string) Span {
		s := at(sub)
		return Span{s.Start, s.Start}
	}
	tests := []struct {
		span Span
		want string
	}{
		{at(`"x"`), "/a/1/b~1c~0d"},
		{at(`x`), "/a/1/b~1c~0d"},
		{at(`"b/c~d"`), "/a/1/b~1c~0d"},
		{at(`"b/c~d": "x"`), "/a/1/b~1c~0d"},
		{at(`{"b/c~d": "x"}`), "/a/1"},
		{at(`1`), "/a/0"},
		{at(`1, {`), "/a"},
		{at(`[]`), "/a/2"},
		{at(`"a"`), "/a"},
		{at(` : [`), "/a"},
		{at(`"a" : [1, {"b/c~d": "x"}, []]`), "/a"},
		{at(`, "e"`), ""},
		{at(`{"a"`), ""},
		{at(`null`), "/e/é"},
		{empty(`null`), "/e/é"},
		{at(`"":{`), "/"},
		{at(`""}`), "/"},
		{at(`:""`), "//"},
		{Span{100, 101}, ""},
		{Span{101, 100 + int64(len(in)) - 1}, ""},
		{Span{0, 5}, ""},
		{Span{200, 205}, ""},
	}
	v := NewValue([]byte(in), 100)
	spans := make([]Span, len(tests))
	for i, tt := range tests {
		spans[i] = tt.span
		if got := new(Source).Pointers(v, spans[i:i+1]); got[0] != tt.want {
			t.Errorf("%v: %q, want %q", tt.span, got[0], tt.want)
		}
	}
	for i, got := range new(Source).Pointers(v, spans) {
		if got != tests[i].want {
			t.Errorf("%v among others: %q, want %q", spans[i], got, tests[i].want)
		}
	}
	if got := new(Source).Pointers(NewValue([]byte(`"x"`), 0), []Span{{0, 3}, {1, 2}}); got[0] != "" || got[1] != "" {
		t.Errorf("a string: %q", got)
	}
	if got := new(Source).Pointers(Value{}, []Span{{0, 3}}); got[0] != "" {
		t.Errorf("no value: %q", got)
	}
}

// manyPointers returns n places at the bottom of a deep value, the last one first, and
// their pointers.
func manyPointers(n int) (v Value, spans []Span, want []string) {
	var b strings.Builder
	b.WriteString(strings.Repeat(`[`, MaxDepth-1) + "[")
	deep := strings.Repeat("/0", MaxDepth-1)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		spans = append(spans, Span{int64(b.Len()), int64(b.Len()) + 3})
		want = append(want, fmt.Sprintf("%s/%d", deep, i))
		b.WriteString(`"x"`)
	}
	b.WriteString(strings.Repeat("]", MaxDepth))
	slices.Reverse(spans)
	slices.Reverse(want)
	return NewValue([]byte(b.String()), 0), spans, want
}

func TestManyPointers(t *testing.T) {
	v, spans, want := manyPointers(20_000)
	if got := new(Source).Pointers(v, spans); !slices.Equal(got, want) {
		t.Errorf("wrong pointers, such as %.20q…", got[0])
	}
}

// BenchmarkPointers reports the ratio of the times for ten times the places: 10 if the
// work is linear, 100 if it is quadratic.
func BenchmarkPointers(b *testing.B) {
	small, few, _ := manyPointers(2_000)
	large, many, _ := manyPointers(20_000)
	var once, tenfold time.Duration
	for b.Loop() {
		start := time.Now()
		new(Source).Pointers(small, few)
		middle := time.Now()
		new(Source).Pointers(large, many)
		once += middle.Sub(start)
		tenfold += time.Since(middle)
	}
	b.ReportMetric(float64(tenfold)/float64(once), "x/10x-places")
}
