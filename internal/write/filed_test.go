package write

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A mixed is a text of parts, some of which are in a file.
type mixed struct {
	whole []byte
	parts []mixedPart
	file  *os.File
	err   error // of reading
}

type mixedPart struct{ at, in, n int64 } // in is -1 for a part that is in no file

func (m *mixed) Size() int64 { return int64(len(m.whole)) }

func (m *mixed) ReadAt(p []byte, off int64) (int, error) {
	if m.err != nil {
		return 0, m.err
	}
	return bytes.NewReader(m.whole).ReadAt(p, off)
}

func (m *mixed) InFile(off int64) (f *os.File, at, n int64) {
	for _, p := range m.parts {
		switch {
		case off >= p.at+p.n:
		case p.in < 0:
			return nil, 0, p.at + p.n - off
		default:
			return m.file, p.in + off - p.at, p.at + p.n - off
		}
	}
	return nil, 0, 0
}

// newMixed returns a text of new parts and parts of a file with the given lengths, in turn.
func newMixed(t *testing.T, lengths ...int64) *mixed {
	t.Helper()
	random := rand.NewChaCha8([32]byte{1})
	text := func(n int64) []byte {
		out := make([]byte, n)
		_, _ = random.Read(out)
		return out
	}
	m := &mixed{}
	var in []byte
	for i, n := range lengths {
		p, more := mixedPart{int64(len(m.whole)), -1, n}, text(n)
		if i%2 == 1 {
			in = append(in, text(100)...) // what edits remove
			p.in = int64(len(in))
			in = append(in, more...)
		}
		m.whole, m.parts = append(m.whole, more...), append(m.parts, p)
	}
	path := filepath.Join(t.TempDir(), "original")
	if err := os.WriteFile(path, in, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	m.file = f
	return m
}

// A text that is in a file in parts is copied whole, however long its parts are.
func TestCopyText(t *testing.T) {
	for _, lengths := range [][]int64{
		{0},
		{10, 20, 30},
		{0, shareSize + copySize + 1},
		{5, copySize, 1, copySize - 1, copySize + 1, 2*shareSize + 3, 7},
		{3 * copySize, 1, copySize, copySize, 0, copySize},
	} {
		m := newMixed(t, lengths...)
		out, err := os.Create(filepath.Join(t.TempDir(), "copy"))
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		if err := copyText(t.Context(), realFile{out}, m); err != nil {
			t.Errorf("%d: %v", lengths, err)
		}
		if got, err := os.ReadFile(out.Name()); err != nil || !bytes.Equal(got, m.whole) {
			t.Errorf("%d: got %d bytes, which are not the %d bytes of the text: %v", lengths, len(got), len(m.whole), err)
		}
		var buf strings.Builder
		if err := copyText(t.Context(), struct{ io.Writer }{&buf}, m); err != nil || buf.String() != string(m.whole) {
			t.Errorf("%d: not copied to what is no file: %v", lengths, err)
		}
	}
}

// If a file became shorter, the error is that of reading the text.
func TestCopyTextOfShorterFile(t *testing.T) {
	m := newMixed(t, 0, 3*copySize)
	if err := os.Truncate(m.file.Name(), 2*copySize); err != nil {
		t.Fatal(err)
	}
	m.err = io.ErrNoProgress
	out, err := os.Create(filepath.Join(t.TempDir(), "copy"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if err := copyText(t.Context(), realFile{out}, m); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("got %v, want %v", err, io.ErrNoProgress)
	}
}
