package body

import (
	"context"
	"runtime/metrics"
	"sync"
	"time"
)

// A Budget bounds the memory of all bodies together.
type Budget struct {
	limit int64
	note  func(delta int64)
	heap  func() uint64 // what the program holds, with garbage

	mu   sync.Mutex
	used int64
}

// NewBudget returns a Budget of limit bytes. note is called whenever their use changes.
func NewBudget(limit int64, note func(delta int64)) *Budget {
	return &Budget{limit: limit, note: note, heap: heapBytes}
}

// heapBytes returns the size of all objects of the program, with garbage.
func heapBytes() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

const (
	// watchEvery is how often the heap is compared with the budget while a body is checked.
	watchEvery = 10 * time.Millisecond
	// besides is what the program may hold besides bodies and their garbage.
	besides = 64 << 20
)

// watch ends a check if the program holds far more than the budget, until stop is called. What a check
// takes depends on what it finds: a body with a fault in each of its bytes takes hundreds of times its size.
func (b *Budget) watch(end context.CancelCauseFunc) (stop func()) {
	done := make(chan struct{})
	go func() {
		tick := time.NewTicker(watchEvery)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				// As much garbage as memory in use is usual.
				if b.heap() > 2*uint64(b.limit)+besides {
					end(ErrMemory) // it can be the garbage of others, or responses that stream
					return
				}
			}
		}
	}()
	return func() { close(done) }
}

// Share returns a share of the budget, which has no bytes yet.
func (b *Budget) Share() *Share { return &Share{budget: b} }

// A Share is what one body has of a budget.
type Share struct {
	budget *Budget
	held   int64
}

// Take adds n bytes to a share. The error is ErrMemory or ErrHeavy if the budget does not have them.
// Nothing waits: a body that would, holds memory that others wait for.
func (s *Share) Take(n int64) error {
	b := s.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if n > b.limit-b.used {
		if n > b.limit-s.held {
			return ErrHeavy
		}
		return ErrMemory
	}
	s.set(s.held + n)
	return nil
}

// Held returns how many bytes a share has.
func (s *Share) Held() int64 {
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	return s.held
}

// Keep makes n bytes of a share, whatever it had. Those that the memory holds already count even
// where they exceed the budget.
func (s *Share) Keep(n int64) {
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	s.set(n)
}

// Release gives all bytes of a share back.
func (s *Share) Release() { s.Keep(0) }

// set changes what a share has.
func (s *Share) set(n int64) {
	delta := n - s.held
	s.held = n
	s.budget.used += delta
	s.budget.note(delta)
}
