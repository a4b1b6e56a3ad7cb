// Package trim decides where the history of a conversation can be cut, so that what is kept is
// still a history that a provider accepts. It works on the neutral model. It knows neither JSON
// beyond strings nor files.
package trim

import (
	"fmt"
	"strconv"
	"strings"
)

// A Boundary says between which messages a history may be cut. Each kind includes the ones
// before it.
type Boundary uint8

// The boundaries.
const (
	// User is before a message that a human typed.
	User Boundary = iota
	// Loop is also before an assistant message after a finished tool loop.
	Loop
	// Pair is also between the exchanges of a tool loop.
	Pair
)

// Boundaries lists the names of the boundaries.
func Boundaries() []string { return []string{"user", "loop", "pair"} }

// String returns the name of the boundary.
func (b Boundary) String() string { return Boundaries()[b] }

// A Request says what to keep.
type Request struct {
	// KeepLast is the number of messages at the end, and KeepLastUser the number of messages
	// typed by a human, with all that follows them. 0 asks for neither.
	KeepLast, KeepLastUser int
	// Target is the index of the message that is to be the first one kept; nil asks for none.
	Target *int
	// KeepFirst is the largest number of messages at the start; 0 asks for none.
	KeepFirst int
	// MaxBytes and MaxTokens limit the size of the result; 0 means no limit.
	MaxBytes, MaxTokens int64
	// Boundary says where the history may be cut.
	Boundary Boundary
	// Newer prefers the boundary after the target to the one before it.
	Newer bool
	// Pin is the number of messages at the start that stay.
	Pin int
	// ResultsMax is the largest size of a result in bytes; 0 means no limit. The last
	// KeepResults results are never shortened.
	ResultsMax  int64
	KeepResults int
	// Count counts the tokens of a text; nil means Estimate. Margin is the factor by which a
	// count may be too low; 0 means 1 with Count, and EstimateMargin without it.
	Count func(text []byte) (float64, error)
}

// SmallestResult is the smallest value of ResultsMax: a label has to fit in.
const SmallestResult = 200

// Cuts reports whether the request asks for a cut.
func (r *Request) Cuts() bool {
	return r.KeepLast > 0 || r.KeepLastUser > 0 || r.Target != nil || r.KeepFirst > 0 || r.MaxBytes > 0 || r.MaxTokens > 0
}

// Validate returns an error for a request that asks for nothing, or for what contradicts
// itself. name returns what the user calls a field, such as the name of a flag.
func (r *Request) Validate(name func(field string) string) error {
	targets := 0
	for _, set := range []bool{r.KeepLast != 0, r.KeepLastUser != 0, r.Target != nil} {
		if set {
			targets++
		}
	}
	positive := []struct {
		field string
		value int64
	}{
		{"KeepLast", int64(r.KeepLast)},
		{"KeepLastUser", int64(r.KeepLastUser)},
		{"KeepFirst", int64(r.KeepFirst)},
		{"MaxBytes", r.MaxBytes},
		{"MaxTokens", r.MaxTokens},
		{"Pin", int64(r.Pin)},
		{"KeepResults", int64(r.KeepResults)},
		{"ResultsMax", r.ResultsMax},
	}
	for _, p := range positive {
		if p.value < 0 {
			return fmt.Errorf("%s: expected a number from 0, got %d", name(p.field), p.value)
		}
	}
	switch {
	case r.Target != nil && *r.Target < 0:
		return fmt.Errorf("%s: expected an index from 0, got %d", name("Target"), *r.Target)
	case targets > 1:
		return fmt.Errorf("%s, %s and %s exclude each other", name("KeepLast"), name("KeepLastUser"), name("Target"))
	case r.Target != nil && r.KeepFirst > 0:
		return fmt.Errorf("%s and %s exclude each other", name("Target"), name("KeepFirst"))
	case r.ResultsMax > 0 && r.ResultsMax < SmallestResult:
		return fmt.Errorf("%s: expected at least %d bytes, got %d", name("ResultsMax"), SmallestResult, r.ResultsMax)
	case r.Boundary > Pair:
		return fmt.Errorf("%s: expected one of %s", name("Boundary"), strings.Join(Boundaries(), ", "))
	case !r.Cuts() && r.ResultsMax == 0:
		return fmt.Errorf("nothing to trim; expected %s, %s, %s, %s, %s, %s or %s", name("KeepLast"), name("KeepLastUser"),
			name("Target"), name("KeepFirst"), name("MaxBytes"), name("MaxTokens"), name("ResultsMax"))
	}
	return nil
}

// A NoCutError says that no boundary meets a request. Nothing is wrong with the history.
type NoCutError struct {
	Reason string
	Way    *Way   // nil if none is known
	Long   string // a sentence about a long result, "" for none
}

// Error implements error.
func (e *NoCutError) Error() string {
	sentences := []string{e.Reason}
	if e.Way != nil {
		sentences = append(sentences, strings.TrimSuffix(e.Way.String(), "."))
	}
	if e.Long != "" {
		sentences = append(sentences, strings.TrimSuffix(e.Long, "."))
	}
	if len(sentences) == 1 {
		return "no safe cut: " + e.Reason
	}
	return "no safe cut: " + strings.Join(sentences, ". ") + "."
}

// A RefusedError says that a history is of a kind that is not trimmed.
type RefusedError struct{ Reason string }

// Error implements error.
func (e *RefusedError) Error() string { return "not trimmed: " + e.Reason }

// Grouped writes a number with a comma after each three digits.
func Grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// A RequestError says that a request does not fit the history.
type RequestError struct{ Reason string }

// Error implements error.
func (e *RequestError) Error() string { return e.Reason }
