package body

import "sync"

// A Budget bounds the memory of all bodies together.
type Budget struct {
	limit int64
	note  func(delta int64)

	mu   sync.Mutex
	used int64
}

// NewBudget returns a Budget of limit bytes. note is called whenever their use changes.
func NewBudget(limit int64, note func(delta int64)) *Budget {
	return &Budget{limit: limit, note: note}
}

// Share returns a share of the budget, which has no bytes yet.
func (b *Budget) Share() *Share { return &Share{budget: b} }

// A Share is what one body has of a budget.
type Share struct {
	budget *Budget
	held   int64
}

// Take adds n bytes to a share, and reports whether the budget has them. Nothing waits: a body that
// would, holds memory that others wait for.
func (s *Share) Take(n int64) bool {
	b := s.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if n > b.limit-b.used {
		return false
	}
	s.set(s.held + n)
	return true
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
