package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolguard/toolguard/internal/engine"
)

// A safeBuffer is a buffer that a timer may write to.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(b)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// sized returns files of these sizes. One of no bytes is a pipe.
func sized(sizes ...int64) (files []*target) {
	for _, size := range sizes {
		files = append(files, &target{size: size, stdin: size == 0})
	}
	return files
}

func TestProgress(t *testing.T) {
	t.Parallel()
	// A short run shows nothing.
	var quick safeBuffer
	files := sized(1, 1)
	p := newProgress(&quick, files, time.Hour)
	p.step(files[0])
	p.step(files[1])
	p.end()
	if got := quick.String(); got != "" {
		t.Errorf("a short run shows %q", got)
	}

	// A long run shows it, hides it before other output, and erases it at the end.
	var slow safeBuffer
	files = sized(slices.Repeat([]int64{1}, 40)...)
	p = newProgress(&slow, files, time.Millisecond)
	for range 2000 {
		if strings.Contains(slow.String(), "(0/40)") {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if got := slow.String(); !strings.Contains(got, "checking") || !strings.Contains(got, "(0/40)") {
		t.Fatalf("a long run shows %q", got)
	}
	p.forget()
	p.step(files[0])
	if got := slow.String(); !strings.Contains(got, "(1/40)") {
		t.Errorf("after a file it shows %q", got)
	}
	a := &app{bar: p}
	write := func(text string) {
		if _, err := (overBar{&slow, a, true}).Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	write("a finding\n")
	lines := strings.Split(slow.String(), "\r")
	if last := lines[len(lines)-1]; last != "a finding\n" || strings.TrimSpace(lines[len(lines)-2]) != "" {
		t.Errorf("a report stands beside the bar: %q", lines)
	}

	// It is not drawn over a line that is not finished.
	for _, text := range []string{"half ", "a line"} {
		write(text)
		p.forget()
		p.step(files[1])
	}
	if got := slow.String(); !strings.HasSuffix(got, "\nhalf a line") {
		t.Errorf("the bar is drawn over a line: %q", got)
	}
	write("\n")
	p.forget()
	p.step(files[2])
	if got := slow.String(); !strings.Contains(got, "half a line\n\rchecking   7% |██ ") {
		t.Errorf("the bar is not drawn again: %q", got)
	}
	p.end()
	if got := slow.String(); !strings.HasSuffix(got, " \r") {
		t.Errorf("at the end there is left %q", got)
	}

	// Without a terminal there is no bar.
	var none *progress
	none.step(files[0])
	none.piped(files[0])
	none.end()
	if none.watch(t.Context(), files[0]) != t.Context() || none.pipe(os.Stdin, files[0]) != os.Stdin {
		t.Error("without a bar there is something to move it")
	}
}

func TestBar(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		done, files, pipes int
		read, total        int64
		want               string
	}{
		{0, 1, 0, 0, 1e6, "checking   0% |                              | 0.0/1.0 MB (0/1) "},
		{0, 1, 0, 12_340_000, 24e6, "checking  51% |███████████████               | 12.3/24.0 MB (0/1) "},
		{2, 40, 0, 2e6, 40e6, "checking   5% |█                             | 2.0/40.0 MB (2/40) "},
		{39, 40, 0, 40e6, 40e6, "checking  99% |█████████████████████████████ | 40.0/40.0 MB (39/40) "},
		{13, 40, 0, 0, 0, "checking  32% |█████████                     | 0.0/0.0 MB (13/40) "}, // empty files
		{0, 2, 1, 3_210_000, 1e6, "checking, 3.2 MB read (0/2) "},
	} {
		p := &progress{w: io.Discard, done: tt.done, files: tt.files, pipes: tt.pipes, read: tt.read, total: tt.total}
		if got := p.bar(); got != tt.want {
			t.Errorf("%+v: %q", tt, got)
		}
	}

	// A bar is drawn over the last one, and not after the last file.
	var b bytes.Buffer
	files := sized(1e6, 3e6)
	p := newProgress(&b, files, time.Hour)
	p.due = true
	p.draw()
	for _, t := range files {
		p.forget()
		p.step(t)
	}
	p.end()
	blank := "\r" + strings.Repeat(" ", 64) + "\r"
	want := "\rchecking   0% |                              | 0.0/4.0 MB (0/2) " + blank +
		"\rchecking  25% |███████                       | 1.0/4.0 MB (1/2) " + blank
	if got := b.String(); got != want {
		t.Errorf("two files are drawn as %q, want %q", got, want)
	}
}

// TestBarMovesInsideFile: the bar moves while one file is read, in whatever form it is, and is
// never moved back.
func TestBarMovesInsideFile(t *testing.T) {
	t.Parallel()
	var lines []byte
	content := make([]byte, 5000)
	for n, rnd := 0, rand.NewChaCha8([32]byte{}); len(lines) < 5e6; n++ {
		_, _ = rnd.Read(content)
		lines = fmt.Appendf(lines, "{\"role\":\"%s\",\"content\":\"%x\"}\n", []string{"user", "assistant"}[n%2], content)
	}
	document := append(append([]byte("["), bytes.ReplaceAll(bytes.TrimSpace(lines), []byte("\n"), []byte(","))...), ']')
	var packed bytes.Buffer
	z, _ := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	if _, err := z.Write(slices.Repeat(lines, 2)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, tt := range []struct {
		name  string
		text  []byte
		moves int // at least
	}{
		{"lines.jsonl", lines, 15},
		{"document.json", document, 30}, // scanned, then read
		{"packed.jsonl.gz", packed.Bytes(), 15},
		{"-", slices.Repeat(lines, 2), 30},
	} {
		file := &target{path: filepath.Join(dir, tt.name), size: int64(len(tt.text)), named: true}
		a := newApp(bytes.NewReader(tt.text), io.Discard, io.Discard, noEnv)
		if tt.name == "-" {
			file.stdin, file.size = true, 0
		} else {
			fixture(t, dir, tt.name, tt.text)
		}
		var shown places
		a.bar = newProgress(&shown, []*target{file}, time.Hour)
		a.bar.due = true
		a.bar.every = 0
		if _, err := a.look(t.Context(), file, engine.Options{}, 1); err != nil {
			t.Fatal(err)
		}
		r := a.bar.readings[file]
		if r.size != int64(len(tt.text)) || r.read < r.size*9/10 || r.read > r.size || r.pipe {
			t.Errorf("%s: at the end %+v of %d bytes", tt.name, *r, len(tt.text))
		}
		moves := 0
		for i, bar := range shown.bars[1:] {
			if bar != shown.bars[i] {
				moves++
			}
		}
		if moves < tt.moves {
			t.Errorf("%s: the bar moves %d times: %q", tt.name, moves, shown.bars)
		}
	}
}

// places collects the bars that are drawn.
type places struct{ bars []string }

// Write implements io.Writer.
func (p *places) Write(b []byte) (int, error) {
	p.bars = append(p.bars, strings.TrimSpace(string(b)))
	return len(b), nil
}

// forget makes the next draw happen at once.
func (p *progress) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drawn = time.Time{}
}
