package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/mattn/go-runewidth"
	"golang.org/x/term"
)

const (
	// progressAfter is the time after which a run shows its progress.
	progressAfter = time.Second
	// progressEvery is the least time between two drawings.
	progressEvery = 100 * time.Millisecond
	// progressCells is the length of the bar.
	progressCells = 30
)

// A progress is a progress bar that counts files. A nil progress shows nothing. It is written
// by hand, because a library would add a markup parser and an HTTP client for one line.
type progress struct {
	mu    sync.Mutex
	w     io.Writer
	timer *time.Timer
	files int
	done  int
	due   bool // progressAfter is over
	shown int  // the width of the bar on the screen, 0 if it is hidden
	drawn time.Time
}

func newProgress(w io.Writer, files int, after time.Duration) *progress {
	p := &progress{w: w, files: max(files, 1)}
	p.timer = time.AfterFunc(after, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.due = true
		p.draw()
	})
	return p
}

// draw draws the bar, unless it was drawn within progressEvery, and removes it
// after the last file. Errors of the terminal do not matter.
func (p *progress) draw() {
	if !p.due || time.Since(p.drawn) < progressEvery {
		return
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
}

// bar returns the bar, cut to one line of the terminal, because a second line could
// not be erased.
func (p *progress) bar() string {
	percent := p.done * 100 / p.files
	full := percent * progressCells / 100
	bar := fmt.Sprintf("checking %3d%% |%s%s| (%d/%d) ", percent,
		strings.Repeat("█", full), strings.Repeat(" ", progressCells-full), p.done, p.files)
	if f, ok := p.w.(*os.File); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
			bar = runewidth.Truncate(bar, columns-1, "")
		}
	}
	return bar
}

// blank returns the text that erases the bar.
func (p *progress) blank() string {
	if p.shown == 0 {
		return ""
	}
	return "\r" + strings.Repeat(" ", p.shown) + "\r"
}

// hide erases the bar before other output.
func (p *progress) hide() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown > 0 {
		_, _ = io.WriteString(p.w, p.blank())
		p.shown = 0
	}
}

// step counts a finished file.
func (p *progress) step() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	p.draw()
}

// end erases the bar and stops drawing it.
func (p *progress) end() {
	if p == nil {
		return
	}
	p.timer.Stop()
	p.hide()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.due = false
}

// An overBar hides the progress bar before it writes.
type overBar struct {
	io.Writer
	app *app
}

// Write implements io.Writer.
func (w overBar) Write(b []byte) (int, error) {
	w.app.bar.hide()
	return w.Writer.Write(b)
}
