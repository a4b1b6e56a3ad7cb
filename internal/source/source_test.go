package source

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile("s.jsonl", []byte("{\"a\":1}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := Open(t.Context(), "s.jsonl", 0)
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
		src, err := Open(t.Context(), tt.path, 0)
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

// TestFileWithoutSize checks that a file with a reported size of 0 is read.
func TestFileWithoutSize(t *testing.T) {
	t.Parallel()
	const made, broken = "/proc/self/cmdline", "/proc/self/mem"
	if info, err := os.Stat(made); err != nil || info.Size() > 0 {
		t.Skip("there is no such file")
	}
	src, err := Open(t.Context(), made, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if src.Size() == 0 {
		t.Errorf("%s holds nothing", made)
	}
	if _, err := Open(t.Context(), broken, 0); err == nil || err.Error() != broken+": "+syscall.EIO.Error() {
		t.Errorf("got %v", err)
	}
}

func TestShrinkingFile(t *testing.T) {
	t.Chdir(t.TempDir())
	line := strings.Repeat("{\"a\":\"0123456789\"}\n", 1<<16)
	if err := os.WriteFile("s.jsonl", []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := Open(t.Context(), "s.jsonl", 0)
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
	if _, err := NewLines(src).Position(src.Size()); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	if _, err := NewReader(src).Framing(); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	if _, err := src.Bytes(Span{50, 150}); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// TestFailingReads lets each read fail in turn. Next must report the error instead of the
// end of the source.
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
		src, err := Spool(t.Context(), "<stdin>", bytes.NewReader(in), 0)
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
	_, err := Spool(t.Context(), "<stdin>", io.MultiReader(bytes.NewReader(make([]byte, spoolSize+5)), iotestErrReader{broken}), 0)
	if !errors.Is(err, broken) || err.Error() != "<stdin>: pipe broke" {
		t.Errorf("error %v", err)
	}
}

type iotestErrReader struct{ err error }

func (r iotestErrReader) Read([]byte) (int, error) { return 0, r.err }

// TestContext checks that nothing is read after the context is done, however the source
// was opened, nor from a source derived from it.
func TestContext(t *testing.T) {
	dir := t.TempDir()
	text := bytes.Repeat([]byte("{\"a\":1}\n"), 100)
	var packed bytes.Buffer
	gz := gzip.NewWriter(&packed)
	if _, err := gz.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := gz.Close(); err != nil {
		t.Fatal(err)
	}
	for name, in := range map[string][]byte{"plain": text, "packed": packed.Bytes(), "large": bytes.Repeat(text, spoolSize/len(text)+1)} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, in, 0o600); err != nil {
			t.Fatal(err)
		}
		for how, open := range map[string]func(context.Context) (*Source, error){
			"open":  func(ctx context.Context) (*Source, error) { return Open(ctx, path, 0) },
			"spool": func(ctx context.Context) (*Source, error) { return Spool(ctx, path, bytes.NewReader(in), 0) },
		} {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			src, err := open(ctx)
			if err != nil {
				t.Fatal(err)
			}
			defer src.Close()
			derived := src.Derived(src, src.Size())
			for range 2 {
				want := ""
				if ctx.Err() != nil {
					want = path + ": context canceled"
				}
				for _, s := range []*Source{src, derived} {
					_, readErr := s.Bytes(Span{0, 8})
					for what, err := range map[string]error{"Err": s.Err(), "Bytes": readErr} {
						if (err == nil) != (want == "") || err != nil && (err.Error() != want || !errors.Is(err, context.Canceled)) {
							t.Errorf("%s, %s: %s returns %v, want %q", name, how, what, err, want)
						}
					}
				}
				cancel()
			}
			if src, err := open(ctx); err == nil {
				_, err = src.Bytes(Span{0, 8})
				src.Close()
				if !errors.Is(err, context.Canceled) {
					t.Errorf("%s, %s: with a context that is done: %v", name, how, err)
				}
			} else if !errors.Is(err, context.Canceled) {
				t.Errorf("%s, %s: with a context that is done: %v", name, how, err)
			}
		}
	}
}

// TestDerivedErrors checks that an error names the source once even if it passed through
// a derived source.
func TestDerivedErrors(t *testing.T) {
	broken := NewSource("s.jsonl", readerAtFunc(func([]byte, int64) (int, error) { return 0, errors.New("broken") }), 10)
	if _, err := broken.Derived(broken, 10).Bytes(Span{0, 4}); err == nil || err.Error() != "s.jsonl: broken" {
		t.Error(err)
	}
}

type readerAtFunc func([]byte, int64) (int, error)

func (f readerAtFunc) ReadAt(p []byte, off int64) (int, error) { return f(p, off) }

// TestOpenReadsSmallFilesOnce checks that changes to a small open file have no effect.
func TestOpenReadsSmallFilesOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.jsonl")
	want := `{"a":1}` + "\n" + `{"b":2}` + "\n"
	if err := os.WriteFile(path, []byte(want), 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := Open(t.Context(), path, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if err := os.Truncate(path, 3); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		var got []string
		for rec, err := range Records(src) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(rec.Value.Raw()))
		}
		if diff := cmp.Diff([]string{`{"a":1}`, `{"b":2}`}, got); diff != "" {
			t.Errorf("records (-want +got):\n%s", diff)
		}
	}
	at, err := NewLines(src).Position(11)
	if diff := cmp.Diff(Position{Offset: 11, Line: 2, Column: 4, Char: 4}, at); diff != "" || err != nil {
		t.Errorf("position (-want +got):\n%s, %v", diff, err)
	}
}
