package main

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"testing"
	"time"
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

func TestProgress(t *testing.T) {
	t.Parallel()
	// A short run shows nothing.
	var quick safeBuffer
	p := newProgress(&quick, 2, time.Hour)
	p.step()
	p.hide()
	p.step()
	p.end()
	if got := quick.String(); got != "" {
		t.Errorf("a short run shows %q", got)
	}

	// A long run shows it, hides it before other output, and erases it at the end.
	var slow safeBuffer
	p = newProgress(&slow, 40, time.Millisecond)
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
	p.step()
	if got := slow.String(); !strings.Contains(got, "(1/40)") {
		t.Errorf("after a file it shows %q", got)
	}
	a := &app{bar: p}
	if _, err := (overBar{&slow, a}).Write([]byte("a finding\n")); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(slow.String(), "\r")
	if last := lines[len(lines)-1]; last != "a finding\n" || strings.TrimSpace(lines[len(lines)-2]) != "" {
		t.Errorf("a report stands beside the bar: %q", lines)
	}
	p.forget()
	p.step()
	p.end()
	if got := slow.String(); !strings.HasSuffix(got, " \r") {
		t.Errorf("at the end there is left %q", got)
	}

	// Without a terminal there is no bar.
	var none *progress
	none.step()
	none.hide()
	none.end()
}

func TestBar(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		done, files int
		want        string
	}{
		{0, 1, "checking   0% |                              | (0/1) "},
		{2, 40, "checking   5% |█                             | (2/40) "},
		{13, 40, "checking  32% |█████████                     | (13/40) "},
		{1233, 1234, "checking  99% |█████████████████████████████ | (1233/1234) "},
	} {
		p := &progress{w: io.Discard, done: tt.done, files: tt.files}
		if got := p.bar(); got != tt.want {
			t.Errorf("%d of %d are %q, want %q", tt.done, tt.files, got, tt.want)
		}
	}

	// A bar is drawn over the last one, and not after the last file.
	var b bytes.Buffer
	p := &progress{w: &b, files: 2, due: true}
	p.draw()
	for range 2 {
		p.forget()
		p.step()
	}
	p.hide()
	blank := "\r" + strings.Repeat(" ", 53) + "\r"
	want := "\rchecking   0% |                              | (0/2) " + blank +
		"\rchecking  50% |███████████████               | (1/2) " + blank
	if got := b.String(); got != want {
		t.Errorf("two files are drawn as %q, want %q", got, want)
	}
}

// forget makes the next draw happen at once.
func (p *progress) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drawn = time.Time{}
}
