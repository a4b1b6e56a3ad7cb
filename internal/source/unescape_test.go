package source

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"unicode/utf8"
)

// TestAppendUnescaped compares copying eight bytes at a time with copying one, for
// escapes of all kinds at all distances, complete and cut off.
func TestAppendUnescaped(t *testing.T) {
	pieces := []string{
		`\n`, `\"`, `\\`, `\/`, `\b`, `\f`, `\r`, `\t`, `\u0041`, `\u00e9`, `\u20ac`, `\ud83d\ude00`, `\ud83d`, `\ude00x`, `\uD83D\u0041`,
		`\x`, `\é`, `\u12`, `\uzzzz`, `\`, `é`, `x`, "\x00", "\xff", "1234567", "12345678", "123456789",
	}
	byOne := func(out, in []byte) []byte {
		for len(in) > 0 {
			if in[0] != '\\' {
				out, in = append(out, in[0]), in[1:]
				continue
			}
			r, size := escaped(in)
			out, in = utf8.AppendRune(out, r), in[size:]
		}
		return out
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		var in []byte
		for range rnd.IntN(12) {
			in = append(in, pieces[rnd.IntN(len(pieces))]...)
		}
		in = in[:rnd.IntN(len(in)+1)]
		before := bytes.Repeat([]byte{'#'}, rnd.IntN(10))
		want := byOne(bytes.Clone(before), in)
		if got := AppendUnescaped(bytes.Clone(before), in); !bytes.Equal(got, want) {
			t.Fatalf("%q: %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{
		`a\u00E9\n\\\"`: "aé\n\\\"", `\ud83d\ude00`: "😀", `\ud83d\ud83d\ude00`: "\ufffd😀", `\u12`: "\ufffd", `\`: "\ufffd", `\q`: "q",
	} {
		if got := AppendUnescaped(nil, []byte(in)); string(got) != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}
