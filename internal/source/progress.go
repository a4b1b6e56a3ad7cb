package source

import (
	"context"
	"sync"
)

// progressKey is the key of the function that WithProgress puts into a context.
type progressKey struct{}

// WithProgress returns a context with which Open and Spool report how much of a source has been
// read. The function is called after each read with the part that is done, from 0 to 1. It may
// be called by several goroutines at a time, and the part never shrinks. A compressed source is
// read twice, and so is a document that is not held in memory; what is read more often does
// not count. A stream that is held in memory has no progress.
func WithProgress(ctx context.Context, report func(part float64)) context.Context {
	return context.WithValue(ctx, progressKey{}, report)
}

// A progress counts the bytes that are read of a source. A nil progress counts nothing.
type progress struct {
	report func(part float64)
	size   int64

	mu   sync.Mutex
	read int64   // in this reading
	from float64 // the part that was done before this reading
	to   float64 // the part that is done after it
}

// newProgress returns the progress of a source of size bytes, of which a part is already done.
func newProgress(ctx context.Context, size int64, done float64) *progress {
	if ctx == nil {
		return nil
	}
	report, ok := ctx.Value(progressKey{}).(func(float64))
	if !ok {
		return nil
	}
	return &progress{report: report, size: size, from: done, to: 1}
}

// add counts n bytes that were read.
func (p *progress) add(n int) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.read += int64(n)
	p.report(p.from + (p.to-p.from)*float64(min(p.read, p.size))/float64(p.size))
}

// twice says that another reading follows this one.
func (p *progress) twice() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.to = (p.from + p.to) / 2
}

// once says that no other reading follows, although twice announced one.
func (p *progress) once() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.to += p.to - p.from
}

// again begins the reading that twice announced.
func (p *progress) again() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.from, p.to, p.read = p.to, 1, 0
}
