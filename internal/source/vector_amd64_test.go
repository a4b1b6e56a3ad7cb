//go:build !purego

package source

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestVectorPasses checks that the vector scanner leaves no valid text to the portable
// one. It would otherwise be slower than the portable one.
func TestVectorPasses(t *testing.T) {
	if !hasVector() {
		t.Skip("this machine lacks the instructions")
	}
	var v vector
	passes := func(in []byte) {
		t.Helper()
		want := new(portable).Scan(in, 0, Strict)
		if want.Kind != FaultNone || want.InvalidUTF8.Count+want.LoneSurrogate.Count > 0 || len(in) < vectorLeast {
			return
		}
		s := v.begin(in, 0, Strict)
		if until, done := v.walk(in, &s); !done || s.End != want.End {
			t.Fatalf("%.2000q: done %t, end %d, until %d, want %d", in, done, s.End, until, want.End)
		}
	}
	for _, trap := range traps {
		for shift := range 2*blockSize + 1 {
			passes(around(trap, shift))
		}
	}
	eachLine(corpus(1<<20), passes)
}

// TestClassify compares classify with an examination of each byte.
func TestClassify(t *testing.T) {
	if !hasVector() {
		t.Skip("this machine lacks the instructions")
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	usual := []string{`"`, `"`, `\`, `\\`, `\"`, `\u00e9`, `\ud83d`, `\uDe00`, "{", "}", "[", "]", ":", ",", " ", "\n", "\t", "\r", "1", "-2.5", "true", "é", "日", "😀", "some text in a string, that is long"}
	var out [vectorMost]block // its old contents must have no effect
	for range 20000 {
		var text []byte
		for blocks := 1 + rnd.IntN(4); len(text) < blocks*blockSize; {
			text = append(text, usual[rnd.IntN(len(usual))]...)
			if rnd.IntN(200) == 0 {
				text = append(text, byte(rnd.IntN(256)))
			}
		}
		text = text[:len(text)/blockSize*blockSize]
		// Blanks show whether anything was cut off.
		text = append(text, bytes.Repeat([]byte(" "), blockSize)...)

		var got, want carry
		tokens, halves := look(text, &want)
		for n := len(text) / blockSize; n > 0; {
			from, part := len(text)/blockSize-n, 1+rnd.IntN(n)
			classify(&text[from*blockSize], part, &got, &out[0])
			for i, b := range out[:part] {
				if at := from + i; b != (block{tokens[at], halves[at]}) {
					t.Fatalf("%q, block %d:\n got %064b\nwant %064b\nhalves %064b\nwant   %064b", text, at, b.tokens, tokens[at], b.halves, halves[at])
				}
			}
			n -= part
		}
		if (got.bad != 0) != (want.bad != 0) {
			t.Fatalf("%q: bad is %#x, want %#x", text, got.bad, want.bad)
		}
		got.bad = want.bad
		if want.bad == 0 && got != want {
			t.Fatalf("%q:\n got %+v\nwant %+v", text, got, want)
		}
	}
}

// look does the same as classify, one byte at a time.
func look(text []byte, c *carry) (tokens, halves []uint64) {
	tokens, halves = make([]uint64, len(text)/blockSize), make([]uint64, len(text)/blockSize)
	var inside, escaped, scalar bool
	digits := 0 // how many must follow
	if !utf8.Valid(text) {
		c.bad = 1
	}
	for i, b := range text {
		bit := uint64(1) << (i % blockSize)
		quote := b == '"' && !escaped
		tail := inside
		if quote {
			inside = !inside
		}
		if inside && b < ' ' {
			c.bad = 1
		}
		if digits > 0 {
			if hex[b] < 0 {
				c.bad = 1
			}
			if digits == 4 && b|0x20 == 'd' {
				halves[i/blockSize] |= bit
			}
			digits--
		}
		if inside && escaped {
			if b == 'u' {
				digits = 4
			} else if !escapes[b] {
				c.bad = 1
			}
		}
		// These two control characters differ from marks in one bit and are not blanks.
		mark := strings.IndexByte("{}[]:,\x0c\x1a", b) >= 0
		word := !mark && strings.IndexByte(" \t\r\n", b) < 0
		if !tail && (mark || word && !scalar) {
			tokens[i/blockSize] |= bit
		}
		scalar = word && !quote
		escaped = b == '\\' && !escaped
		if i%blockSize == 0 {
			c.high = 0
		}
		if b >= utf8.RuneSelf {
			c.high = 1
		}
	}
	if inside {
		c.inString = ^uint64(0)
	}
	if escaped {
		c.escaped = 1
	}
	if scalar {
		c.scalar = 1
	}
	c.hex = 1<<digits - 1
	if digits == 4 {
		c.unicode = 1
	}
	copy(c.last[:], text[len(text)-len(c.last):])
	return tokens, halves
}
