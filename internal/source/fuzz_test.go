package source

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzScan(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed), byte(3))
	}
	for _, in := range transcripts(f) {
		if len(in) < 1<<16 {
			f.Add(in, byte(100))
		}
	}
	f.Add([]byte(strings.Repeat("[", MaxDepth+1)), byte(9))
	f.Fuzz(func(t *testing.T, in []byte, step byte) {
		checkScan(t, in)
		checkResume(t, in, Strict, int(step)+1)
		checkResume(t, in, AllowNewlines, int(step)+1)
		checkRun(t, in, Strict, int(step)+1)
		checkRun(t, in, AllowNewlines, int(step)+1)
		plain := utf8.Valid(in) && !bytes.ContainsRune(in, utf8.RuneError) && !bytes.Contains(bytes.ToLower(in), []byte("fffd"))
		if !plain || !json.Valid(in) {
			return
		}
		if s := NewScanner().Scan(in, 0, Strict); s.Kind == FaultNone && (s.LoneSurrogate.Count > 0) != surrogates(in) {
			t.Fatalf("%q: %+v, the standard library says %t", in, s, surrogates(in))
		}
	})
}

func FuzzFrame(f *testing.F) {
	for _, file := range frameSeeds() {
		f.Add([]byte(file), uint16(0x0305))
	}
	for _, in := range transcripts(f) {
		if len(in) < 1<<16 {
			f.Add(in, uint16(0x2010))
		}
	}
	f.Fuzz(func(t *testing.T, in []byte, sizes uint16) {
		checkFrame(t, in)
		checkChunks(t, in, 1+int64(sizes&0xff), 1+int64(sizes>>8))
	})
}

func FuzzValue(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if s := NewScanner().Scan(in, 0, Strict); s.Kind != FaultNone || !json.Valid(in) {
			walkAll(NewValue(in, 0), 0)
			return
		}
		checkValue(t, in)
	})
}
