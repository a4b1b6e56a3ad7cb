package transcript

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile("s.jsonl", []byte("{\"a\":1}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := Open("s.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if src.Name() != "s.jsonl" || src.Size() != 8 {
		t.Errorf("%s has %d bytes", src.Name(), src.Size())
	}
	if b, err := src.Bytes(Span{1, 4}); string(b) != `"a"` || err != nil {
		t.Errorf("bytes 1 to 4 are %q, %v", b, err)
	}
	for _, s := range []Span{{-1, 1}, {2, 1}, {0, 9}} {
		if b, err := src.Bytes(s); err == nil || !strings.HasPrefix(err.Error(), "s.jsonl: bytes ") {
			t.Errorf("bytes %v are %q, %v", s, b, err)
		}
	}
	b := make([]byte, 10)
	if n, err := src.ReadAt(b, 0); n != 8 || !errors.Is(err, io.EOF) {
		t.Errorf("read %d bytes, %v", n, err)
	}
	if n, err := src.ReadAt(b, 8); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("read %d bytes at the end, %v", n, err)
	}
	if n, err := src.ReadAt(b, -1); n != 0 || err == nil || errors.Is(err, io.EOF) {
		t.Errorf("read %d bytes before the start, %v", n, err)
	}
	if err := src.Close(); err != nil {
		t.Error(err)
	}

	if err := os.Mkdir("d.jsonl", 0o700); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		path, want string
		is         error
	}{
		{"d.jsonl", "d.jsonl: is a directory", nil},
		{"none.jsonl", "none.jsonl: no such file or directory", fs.ErrNotExist},
		{filepath.Join("none", "s.jsonl"), filepath.Join("none", "s.jsonl") + ": no such file or directory", fs.ErrNotExist},
		{os.DevNull, os.DevNull + ": is not a regular file", nil},
	} {
		src, err := Open(tt.path)
		if err == nil {
			src.Close()
			t.Errorf("%s could be opened", tt.path)
			continue
		}
		if err.Error() != tt.want || tt.is != nil && !errors.Is(err, tt.is) {
			t.Errorf("%s: error %q, want %q", tt.path, err, tt.want)
		}
	}
}

func TestShrinkingFile(t *testing.T) {
	t.Chdir(t.TempDir())
	line := strings.Repeat("{\"a\":\"0123456789\"}\n", 1<<16)
	if err := os.WriteFile("s.jsonl", []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := Open("s.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	r := NewReader(src)
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate("s.jsonl", 100); err != nil {
		t.Fatal(err)
	}
	const want = "s.jsonl: became shorter while it was read"
	for {
		rec, err := r.Next()
		if err == nil {
			if !rec.Readable() {
				t.Fatalf("record %+v", rec)
			}
			continue
		}
		if err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
		if _, again := r.Next(); !errors.Is(again, err) {
			t.Errorf("then %v", again)
		}
		break
	}
	if _, err := Positions(src, []int64{src.Size()}); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	if _, err := NewReader(src).Framing(); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	if _, err := src.Bytes(Span{50, 150}); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// TestFailingReads lets every read fail in turn: Next reports it and does not
// take it for the end of the source.
func TestFailingReads(t *testing.T) {
	broken := errors.New("disk on fire")
	for _, file := range frameSeeds() {
		for n := 0; ; n++ {
			f := &failing{r: strings.NewReader(file), after: n, err: broken}
			r := newReader(NewSource("s", f, int64(len(file))), 4, 8)
			var err error
			for err == nil {
				_, err = r.Next()
			}
			if errors.Is(err, io.EOF) && f.after >= 0 {
				break
			}
			if !errors.Is(err, broken) || err.Error() != "s: disk on fire" {
				t.Fatalf("%q, read %d: %v", file, n, err)
			}
		}
	}
}

type failing struct {
	r     io.ReaderAt
	after int
	err   error
}

func (f *failing) ReadAt(p []byte, off int64) (int, error) {
	if f.after--; f.after < 0 {
		return 0, f.err
	}
	return f.r.ReadAt(p, off)
}

func TestSpool(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("TMP", dir)
	for _, size := range []int{0, 1, spoolSize, spoolSize + 1, 3*spoolSize + 7} {
		in := bytes.Repeat([]byte("0123456789abcdef\n"), size/17+1)[:size]
		src, err := Spool("<stdin>", bytes.NewReader(in))
		if err != nil {
			t.Fatal(err)
		}
		if src.Name() != "<stdin>" || src.Size() != int64(size) {
			t.Errorf("%s has %d bytes, want %d", src.Name(), src.Size(), size)
		}
		b, err := src.Bytes(Span{0, src.Size()})
		if err != nil || !bytes.Equal(b, in) {
			t.Errorf("%d bytes came back as %d others, %v", size, len(b), err)
		}
		if err := src.Close(); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(dir); len(left) > 0 || err != nil {
			t.Errorf("%d bytes left %v behind, %v", size, left, err)
		}
	}
	broken := errors.New("pipe broke")
	_, err := Spool("<stdin>", io.MultiReader(bytes.NewReader(make([]byte, spoolSize+5)), iotestErrReader{broken}))
	if !errors.Is(err, broken) || err.Error() != "<stdin>: pipe broke" {
		t.Errorf("error %v", err)
	}
}

type iotestErrReader struct{ err error }

func (r iotestErrReader) Read([]byte) (int, error) { return 0, r.err }
