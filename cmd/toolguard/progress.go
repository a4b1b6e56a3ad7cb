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
	// progressAfter is how long a run takes before its progress is shown.
	progressAfter = time.Second
	// progressEvery is how often it is drawn.
	progressEvery = 100 * time.Millisecond
	// progressCells is how long its bar is.
	progressCells = 30
)

// A progress shows on a terminal how many files of a long run are done. A nil
// one shows nothing.
type progress struct {
	mu    sync.Mutex
	w     io.Writer
	timer *time.Timer
	files int
	done  int
	due   bool // the run has taken long enough
	shown int  // how many columns the bar takes, 0 where there is none
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

// draw draws the bar, unless it was drawn just now. After the last file there is
// nothing to wait for. What a terminal refuses is not missed.
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

// bar returns what is shown. It is cut to one line of the terminal, because a
// second one could not be taken away.
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

// blank returns what takes the bar away.
func (p *progress) blank() string {
	if p.shown == 0 {
		return ""
	}
	return "\r" + strings.Repeat(" ", p.shown) + "\r"
}

// hide takes the bar away, because something else is to be written.
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

// step counts a file.
func (p *progress) step() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	p.draw()
}

// end takes the bar away for good.
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

// An overBar writes to where a progress bar may stand, and takes that away
// before.
type overBar struct {
	io.Writer
	app *app
}

// Write implements io.Writer.
func (w overBar) Write(b []byte) (int, error) {
	w.app.bar.hide()
	return w.Writer.Write(b)
}
