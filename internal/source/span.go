package source

// A Span is a half-open byte range [Start, End) in a source.
type Span struct {
	Start, End int64
}

// Len returns the number of bytes in the span.
func (s Span) Len() int64 { return s.End - s.Start }

// Contains reports whether t is completely inside s.
func (s Span) Contains(t Span) bool { return s.Start <= t.Start && t.End <= s.End }

// First returns the first n bytes of the span.
func (s Span) First(n int64) Span { return Span{s.Start, min(s.End, s.Start+n)} }

// IsZero reports whether s is the zero Span.
func (s Span) IsZero() bool { return s == Span{} }

// Move moves spans by a number of bytes. One that is zero is the place of nothing.
func Move(by int64, spans ...*Span) {
	for _, s := range spans {
		if !s.IsZero() {
			s.Start, s.End = s.Start+by, s.End+by
		}
	}
}
