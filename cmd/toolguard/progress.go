package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/mattn/go-runewidth"
	"golang.org/x/term"

	"github.com/toolguard/toolguard/internal/contain"
	"github.com/toolguard/toolguard/internal/source"
)

const (
	// progressAfter is the time after which a run shows its progress.
	progressAfter = time.Second
	// progressEvery is the least time between two drawings.
	progressEvery = 100 * time.Millisecond
	// progressCells is the length of the bar.
	progressCells = 30
)

// A progress is a progress bar that counts the bytes of files. Until a pipe is read to its end,
// nobody knows how many there are, and it shows how many were read. A nil progress shows
// nothing. It is written by hand, because a library would add a markup parser and an HTTP client
// for one line.
type progress struct {
	mu    sync.Mutex
	w     io.Writer
	timer *time.Timer
	files int
	done  int
	due   bool // progressAfter is over
	shown int  // the width of the bar on the screen, 0 if it is hidden
	drawn time.Time
	every time.Duration // the least time between two drawings
	inRow bool          // the cursor is behind other output in a row

	readings map[*target]*reading // of all files; nobody adds one
	total    int64                // the bytes of the files whose sizes are known
	read     int64                // the bytes that were read
	pipes    int                  // the files whose sizes are not known
}

func newProgress(w io.Writer, files []*target, after time.Duration) *progress {
	p := &progress{w: w, files: max(len(files), 1), every: progressEvery, readings: map[*target]*reading{}}
	for _, t := range files {
		p.readings[t] = &reading{size: t.size, pipe: t.stdin}
		p.total += t.size
		if t.stdin {
			p.pipes++
		}
	}
	p.timer = time.AfterFunc(after, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.due = true
		p.draw()
	})
	return p
}

// draw draws the bar, unless it was drawn just now, and removes it
// after the last file. Errors of the terminal do not matter. A bar that cannot be drawn is
// no reason to fail, and is not drawn again.
func (p *progress) draw() {
	if contain.Do(p.redraw) != nil {
		p.due = false
	}
}

// redraw is draw, with its panic.
func (p *progress) redraw() error {
	if !p.due || p.inRow || time.Since(p.drawn) < p.every {
		return nil
	}
	out := p.blank()
	p.shown = 0
	if p.done < p.files {
		bar := p.bar()
		p.shown = runewidth.StringWidth(bar)
		out += "\r" + bar
	}
	_, _ = io.WriteString(p.w, out)
	p.drawn = time.Now()
	return nil
}

// bar returns the bar, cut to one line of the terminal, because a second line could
// not be erased.
func (p *progress) bar() string {
	bar := fmt.Sprintf("checking, %s MB read (%d/%d) ", megabytes(p.read), p.done, p.files)
	if p.pipes == 0 {
		percent := int64(p.done * 100 / p.files)
		if p.total > 0 {
			percent = min(p.read*100/p.total, 99) // the last findings are not yet printed
		}
		full := int(percent * progressCells / 100)
		bar = fmt.Sprintf("checking %3d%% |%s%s| %s/%s MB (%d/%d) ", percent,
			strings.Repeat("█", full), strings.Repeat(" ", progressCells-full), megabytes(p.read), megabytes(p.total), p.done, p.files)
	}
	if f, ok := p.w.(*os.File); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
			bar = runewidth.Truncate(bar, columns-1, "")
		}
	}
	return bar
}

// megabytes returns a number of bytes in megabytes.
func megabytes(n int64) string { return fmt.Sprintf("%.1f", float64(n)/1e6) }

// blank returns the text that erases the bar.
func (p *progress) blank() string {
	if p.shown == 0 {
		return ""
	}
	return "\r" + strings.Repeat(" ", p.shown) + "\r"
}

// hide erases the bar before other output.
func (p *progress) hide() {
	if p.shown > 0 {
		_, _ = io.WriteString(p.w, p.blank())
		p.shown = 0
	}
}

// A reading says how far a file is read.
type reading struct {
	size, read int64
	pipe       bool // its size is not known yet
}

// reading returns how far a file is read, nil if the bar does not show it.
func (p *progress) reading(t *target) *reading {
	if p == nil {
		return nil
	}
	return p.readings[t]
}

// watch returns a context with which reading a file moves the bar.
func (p *progress) watch(ctx context.Context, t *target) context.Context {
	r := p.reading(t)
	if r == nil {
		return ctx
	}
	return source.WithProgress(ctx, func(part float64) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if !r.pipe {
			p.count(r, int64(part*float64(r.size)))
		}
	})
}

// count says how many bytes of a file were read.
func (p *progress) count(r *reading, read int64) {
	p.read += max(read-r.read, 0)
	r.read = max(r.read, read)
	p.draw()
}

// pipe returns a reader of a pipe that moves the bar.
func (p *progress) pipe(from io.Reader, t *target) io.Reader {
	r := p.reading(t)
	if r == nil {
		return from
	}
	return &pipeReader{from, p, r}
}

// A pipeReader counts what is read of a pipe.
type pipeReader struct {
	io.Reader
	bar *progress
	r   *reading
}

// Read implements io.Reader.
func (p *pipeReader) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	p.bar.mu.Lock()
	defer p.bar.mu.Unlock()
	p.bar.count(p.r, p.r.read+int64(n))
	return n, err
}

// piped says that a pipe was read to its end. From then on its bytes are checked.
func (p *progress) piped(t *target) {
	r := p.reading(t)
	if r == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pipes--
	p.total += r.read
	p.read -= r.read
	*r = reading{size: r.read}
}

// step counts a finished file.
func (p *progress) step(t *target) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	if r := p.reading(t); r != nil {
		p.count(r, r.size)
	}
	p.draw()
}

// end erases the bar and stops drawing it.
func (p *progress) end() {
	if p == nil {
		return
	}
	p.timer.Stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hide()
	p.due = false
}

// An overBar hides the progress bar before it writes.
type overBar struct {
	io.Writer
	app      *app
	terminal bool // it writes to the terminal that shows the bar
}

// Write implements io.Writer.
func (w overBar) Write(b []byte) (int, error) {
	p := w.app.bar
	if p == nil {
		return w.Writer.Write(b)
	}
	// Files are read meanwhile, and must not move the bar before the text is written.
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hide()
	if w.terminal && len(b) > 0 {
		p.inRow = b[len(b)-1] != '\n'
	}
	return w.Writer.Write(b)
}
