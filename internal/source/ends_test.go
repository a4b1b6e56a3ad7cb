package source

import (
	"slices"
	"strings"
	"testing"
)

// TestEndsAreBounded checks that only some of very many long values are recorded, and
// that all are found.
func TestEndsAreBounded(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("x", longValue)
	one := `{"a":["` + text + `"],"b":"` + text + `"}`
	for _, n := range []int{1, 200, 5000} {
		in := []byte("[" + strings.Repeat(one+",", n) + one + "]")
		for _, sc := range []Scanner{NewScanner(), new(portable)} {
			s := sc.Scan(in, 0, Strict)
			checkEnds(t, in, s)
			if got, most := len(s.ends.list), 1<<10+len(in)/128; got > most || n == 5000 && got < most-4 {
				t.Errorf("%d values: %d are recorded, want at most %d", n, got, most)
			}
		}
	}
}

// TestEndsOfAnotherScan checks that a value does not use the ends recorded by a later
// scan.
func TestEndsOfAnotherScan(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", longValue)
	in := []byte(`[["` + long + `"],["` + long + `"],1]`)
	for _, sc := range []Scanner{NewScanner(), new(portable)} {
		s := sc.Scan(in, 0, Strict)
		v := s.value(in, 0)
		var want, got []Span
		allValues(v, &want)
		part := v.First()
		sc.Scan([]byte(`[["`+long+long+`",2],3]`), 0, Strict)
		if allValues(v, &got); !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		if at := part.First().Span(); at != want[2] {
			t.Errorf("got %v, want %v", at, want[2])
		}
	}
}

// TestEndsAreUsed checks that long values are skipped without reading them.
func TestEndsAreUsed(t *testing.T) {
	t.Parallel()
	in := []byte(`{"a":"` + strings.Repeat("x", longValue) + `","b":{"c":["` + strings.Repeat("y", longValue) + `"]},"d":1}`)
	for _, sc := range []Scanner{NewScanner(), new(portable)} {
		text := slices.Clone(in)
		s := sc.Scan(text, 0, Strict)
		v := s.value(text, 0)
		// Walking over these values would stop at the quotes.
		copy(text[strings.Index(string(in), "xx")+8:], `"`)
		copy(text[strings.Index(string(in), "yy")+8:], `"`)
		if got := string(v.Get("d").Raw()); got != "1" {
			t.Errorf("d is %q", got)
		}
		if got := v.Path("b", "c").First().Span().Len(); got != longValue+2 {
			t.Errorf("the element is %d bytes long", got)
		}
	}
}
