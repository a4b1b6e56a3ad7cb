package trim

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A Way is a request that succeeds where another one does not.
type Way struct {
	Request Request
	// Changes are the differences between the two requests.
	Changes []Change
	// Messages is the number of messages that the request keeps, and Size what is kept.
	Messages int
	Size     Size
}

// A Change is another value of a field of a request.
type Change struct{ Field, Value string }

// Flag returns the name of the flag for a field of a request.
func Flag(field string) string {
	switch field {
	case "Target":
		return "--target-index"
	case "ResultsMax":
		return "--results-max-bytes"
	}
	var b strings.Builder
	for _, c := range field {
		if c >= 'A' && c <= 'Z' {
			b.WriteByte('-')
		}
		b.WriteRune(c | ' ') // to lower case
	}
	return "-" + b.String()
}

// String writes a way as flags and what they would keep.
func (w *Way) String() string {
	return w.Says(func(c Change) string { return Flag(c.Field) + " " + c.Value }, " ")
}

// Says writes a way as a sentence, with each change as spell writes it.
func (w *Way) Says(spell func(Change) string, separator string) string {
	spelled := make([]string, len(w.Changes))
	for i, c := range w.Changes {
		spelled[i] = spell(c)
	}
	what := Grouped(w.Size.Bytes) + " bytes"
	if w.Request.MaxTokens > 0 {
		what = Grouped(w.Request.Tokens(w.Size)) + " tokens"
	}
	return fmt.Sprintf("%s would keep %s (%s).", strings.Join(spelled, separator), Plural(w.Messages, "message"), what)
}

// Better returns the way that keeps more messages, w if they keep as many.
func (w *Way) Better(other *Way) *Way {
	if w == nil || other != nil && other.Messages > w.Messages {
		return other
	}
	return w
}

// changes returns the differences between two requests that differ only in numbers and boundaries.
func changes(from, to *Request) []Change {
	var out []Change
	number := func(field string, was, is int64) {
		if was != is {
			out = append(out, Change{field, strconv.FormatInt(is, 10)})
		}
	}
	number("MaxTokens", from.MaxTokens, to.MaxTokens)
	number("MaxBytes", from.MaxBytes, to.MaxBytes)
	if from.Boundary != to.Boundary {
		out = append(out, Change{"Boundary", to.Boundary.String()})
	}
	number("Pin", int64(from.Pin), int64(to.Pin))
	number("ResultsMax", from.ResultsMax, to.ResultsMax)
	number("KeepResults", int64(from.KeepResults), int64(to.KeepResults))
	return out
}

// Way returns what another request would do, nil if it does not succeed.
func (h *History) Way(from, to *Request) *Way {
	cut, err := h.choose(to)
	if err != nil {
		return nil
	}
	w := &Way{Request: *to, Changes: changes(from, to), Size: cut.Size}
	for i := range h.pinned {
		if !h.Drops(cut, i) {
			w.Messages++
		}
	}
	return w
}

// way returns the request with other boundaries that keeps the most messages, nil if none is
// known. One that pins messages is only returned if no other one succeeds.
func (h *History) way(r *Request) *Way {
	first := 0
	for first < len(h.pinned)-1 && h.pinned[first] {
		first++
	}
	var best *Way
	for b := r.Boundary + 1; b <= Pair; b++ {
		other := *r
		other.Boundary = b
		best = best.Better(h.Way(r, &other))
	}
	if best != nil || r.Pin > first || len(h.pinned) == 0 {
		return best
	}
	pinned := NewHistory(h.conv, h.pairing, h.profile, first+1)
	pinned.Sizes, pinned.Rest, pinned.Tail = h.Sizes, h.Rest, h.Tail
	for b := r.Boundary; b <= Pair; b++ {
		other := *r
		other.Boundary, other.Pin = b, first+1
		best = best.Better(pinned.Way(r, &other))
	}
	return best
}

// Raised returns the request with the least limits that succeeds, nil if none does.
func (h *History) Raised(r *Request) *Way {
	if !r.Limited() || h.Len() == 0 {
		return nil
	}
	free := *r
	free.MaxBytes, free.MaxTokens = 0, 0
	if r.KeepLast == 0 && r.KeepLastUser == 0 && r.Target == nil {
		last := h.Len() - 1 // the last boundary keeps the least
		free.Target, free.Newer = &last, true
	}
	size := h.Sum()
	if cut, err := h.choose(&free); err == nil {
		size = cut.Size
	}
	raised := *r
	if r.MaxBytes > 0 {
		raised.MaxBytes = max(r.MaxBytes, size.Bytes)
	}
	if r.MaxTokens > 0 {
		raised.MaxTokens = max(r.MaxTokens, r.Tokens(size))
		if raised.MaxTokens == math.MaxInt64 {
			return nil // a counter has said too much
		}
	}
	return h.Way(r, &raised)
}

// Resized returns the history with room for other sizes.
func (h *History) Resized() *History {
	other := *h
	other.Sizes, other.Rest = make([]Size, len(h.Sizes)), Size{}
	return &other
}
