package main

import (
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
)

const (
	// progressAfter is how long a run takes before its progress is shown.
	progressAfter = time.Second
	// progressEvery is how often it is drawn.
	progressEvery = 100 * time.Millisecond
)

// A progress shows on a terminal how many files of a long run are done. A nil
// one shows nothing.
type progress struct {
	mu    sync.Mutex
	bar   *progressbar.ProgressBar
	timer *time.Timer
	done  int
	due   bool // the run has taken long enough
	shown bool
	drawn time.Time
}

func newProgress(w io.Writer, files int, after time.Duration) *progress {
	p := &progress{bar: progressbar.NewOptions(max(files, 1),
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription("checking"),
		progressbar.OptionSetWidth(30),
		progressbar.OptionShowCount(),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionSetElapsedTime(false),
		progressbar.OptionSetRenderBlankState(false),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionThrottle(0),
	)}
	p.timer = time.AfterFunc(after, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.due = true
		p.draw()
	})
	return p
}

// draw draws the bar, unless it was drawn just now. What a terminal refuses is
// not missed.
func (p *progress) draw() {
	if p.due && time.Since(p.drawn) >= progressEvery {
		_ = p.bar.Set(p.done)
		_ = p.bar.RenderBlank()
		p.shown, p.drawn = true, time.Now()
	}
}

// hide takes the bar away, because something else is to be written.
func (p *progress) hide() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		_ = p.bar.Clear()
		p.shown = false
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
