package trim

import (
	"fmt"
	"math"

	"github.com/toolguard/toolguard/internal/transcript"
)

// A Cut drops the messages from Head up to Index, except the pinned ones.
type Cut struct {
	Head, Index int
	// Kind is the boundary at Index. It means nothing if the cut reaches to the end.
	Kind Boundary
	// Reason says why the history is cut there.
	Reason string
	// Size is the size of what is kept.
	Size Size
}

// Margin is the factor for the tokens of a request.
func (r *Request) margin() float64 {
	if r.Count == nil {
		return EstimateMargin
	}
	return 1
}

// Tokens returns the number of tokens that a size has at most.
func (r *Request) Tokens(s Size) int64 {
	n := math.Ceil(s.Tokens * r.margin())
	if n >= math.MaxInt64 { // a counter may say anything
		return math.MaxInt64
	}
	return int64(n)
}

// Counts reports whether tokens need to be counted.
func (r *Request) Counts() bool { return r.Count == nil || r.MaxTokens > 0 }

// fits reports whether a size is within the limits.
func (r *Request) fits(s Size) bool {
	return (r.MaxBytes == 0 || s.Bytes <= r.MaxBytes) && (r.MaxTokens == 0 || r.Tokens(s) <= r.MaxTokens)
}

// Limited reports whether the request has limits.
func (r *Request) Limited() bool { return r.MaxBytes > 0 || r.MaxTokens > 0 }

// Choose returns the cut for a request. Its error is a *NoCutError, or one about the request.
func (h *History) Choose(r *Request) (Cut, error) {
	cut, err := h.choose(r)
	if no, is := err.(*NoCutError); is { //nolint:errorlint // choose wraps nothing
		no.Way, no.Long = h.way(r), h.longest(r)
	}
	return cut, err
}

// longest says that a result takes more than half of what the limits allow, "" if none does.
func (h *History) longest(r *Request) string {
	var longest int64
	for i := range h.conv.Results {
		res := &h.conv.Results[i]
		size := h.Sizes[res.Message]
		half := r.MaxBytes > 0 && 2*size.Bytes > r.MaxBytes || r.MaxTokens > 0 && 2*r.Tokens(size) > r.MaxTokens
		if half && r.ResultsMax == 0 && res.Payload.Len() > SmallestResult {
			longest = max(longest, res.Payload.Len())
		}
	}
	if longest == 0 {
		return ""
	}
	return fmt.Sprintf("--results-max-bytes would shorten results; one has %s bytes.", Grouped(longest))
}

// Plural writes a number of things.
func Plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return Grouped(int64(n)) + " " + thing + "s"
}

func (h *History) choose(r *Request) (Cut, error) {
	n := h.Len()
	head := 0
	if r.KeepFirst > 0 {
		if head = h.head(r.KeepFirst); head == 0 && r.KeepFirst < n {
			return Cut{}, &NoCutError{Reason: "a call is open after each of the first " + Plural(r.KeepFirst, "message")}
		}
	}
	target, exact := 0, true // exact: the cut may also drop nothing
	tail := r.KeepLast > 0 || r.KeepLastUser > 0
	switch {
	case r.Target != nil:
		if target = *r.Target; target >= n {
			return Cut{}, &RequestError{fmt.Sprintf("%s does not exist; the history has %s, counted from 0", h.at(target), Plural(n, "message"))}
		}
		exact = target == 0
	case r.KeepLast > 0:
		target = max(0, n-r.KeepLast)
	case r.KeepLastUser > 0:
		target = h.lastUser(r.KeepLastUser)
	case r.KeepFirst > 0 && !r.Limited():
		for head > 0 && head < n && (!h.ends(head-1) || h.open(head)) {
			head = h.head(head - 1)
		}
		if head == 0 || head < n && h.conv.Messages[head-1].Role == transcript.RoleSystem {
			return Cut{}, &NoCutError{Reason: "nothing but the system prompt would be left"}
		}
		return h.whole(Cut{Head: head, Index: n, Reason: "no call is open after the first " + Plural(head, "message")}), nil
	}
	size, before := h.Sum(), -1
	if head == n { // all of a short history is its head
		switch {
		case r.fits(size):
		case n == 0:
			return Cut{}, &NoCutError{Reason: "the history has no messages to drop"}
		default:
			return Cut{}, &NoCutError{Reason: "the messages to keep at the start are larger than the limit"}
		}
		return Cut{Head: n, Index: n, Reason: "nothing needs to be dropped", Size: size}, nil
	}
	var best *Cut
	found := false // any boundary, within the limits or not
	for k := range n {
		if k > 0 && (k <= head || h.pinned[k-1]) && h.conv.Messages[k-1].Role != transcript.RoleSystem {
			before = k - 1
		}
		if k > head && !h.pinned[k-1] {
			size = Size{size.Bytes - h.Sizes[k-1].Bytes, size.Tokens - h.Sizes[k-1].Tokens}
		}
		if k < head {
			continue
		}
		cut := Cut{Head: head, Index: k, Size: size}
		nothing := !h.dropsAny(cut)
		switch {
		case nothing:
			cut.Index = head
		case !h.is(k, r.Boundary) || !h.suits(before, k):
			continue
		default:
			found = true
			cut.Kind = Boundary(h.kinds[k] - userKind)
		}
		if nothing && !exact || !r.fits(size) || best != nil && !h.nearer(r, cut.Index, best.Index, target, tail) {
			continue
		}
		if tail && !r.Newer && cut.Index > target && !nothing {
			break // it would keep less than was asked for
		}
		best = &cut
	}
	if best == nil {
		return Cut{}, &NoCutError{Reason: h.why(r, found)}
	}
	best.Reason = reason(r, best, target)
	return *best, nil
}

// nearer reports whether a cut at k is better than the best one so far, which is before it.
func (h *History) nearer(r *Request, k, best, target int, tail bool) bool {
	switch {
	case r.Newer && best < target:
		return true // the first one after the target is best, else the last one before it
	case r.Newer, k > target:
		return false
	case r.Target == nil && !tail:
		return false // limits keep as much as possible
	}
	return true
}

// whole completes a cut that reaches to the end.
func (h *History) whole(cut Cut) Cut {
	cut.Size = h.Sum()
	if !h.dropsAny(cut) {
		cut.Index = cut.Head
	}
	for i := cut.Head; i < cut.Index; i++ {
		if !h.pinned[i] {
			cut.Size = Size{cut.Size.Bytes - h.Sizes[i].Bytes, cut.Size.Tokens - h.Sizes[i].Tokens}
		}
	}
	first := cut.Index
	for first > cut.Head && !h.pinned[first-1] {
		first--
	}
	if cut.Index == h.Len() && first < cut.Index && h.Tail != nil {
		cut.Size.Bytes -= h.Tail(first)
	}
	return cut
}

// Sum returns the size of the whole.
func (h *History) Sum() Size {
	out := h.Rest
	for _, s := range h.Sizes {
		out = out.plus(s)
	}
	return out
}

// head returns the largest number of messages, at most most, after which nothing is open.
func (h *History) head(most int) int {
	if most >= h.Len() {
		return h.Len()
	}
	for most > 0 && (h.kinds[most] == parts || h.waits(most-1)) {
		most--
	}
	return most
}

// is reports whether there is a boundary before a message.
func (h *History) is(k int, most Boundary) bool {
	return h.kinds[k] >= userKind && h.kinds[k] <= userKind+kind(most)
}

// lastUser returns the index of the n-th last message that a human typed, 0 if there are fewer.
func (h *History) lastUser(n int) int {
	for i := h.Len() - 1; i >= 0; i-- {
		if h.human(i) {
			if n--; n == 0 {
				return i
			}
		}
	}
	return 0
}

// why says why there is no cut.
func (h *History) why(r *Request, found bool) string {
	users, last := 0, 0
	for i := range h.kinds {
		if h.human(i) {
			users, last = users+1, i
		}
	}
	switch {
	case found && r.Limited():
		return fmt.Sprintf("what follows the last %s boundary is larger than the limit", r.Boundary)
	case r.Boundary == User && users == 0:
		return "no message was typed by a human"
	case r.Boundary == User && users == 1 && !h.dropsAny(Cut{Index: last}):
		return "the only user message is the first"
	}
	return fmt.Sprintf("the history has no %s boundary that drops anything", r.Boundary)
}

// reason says why a cut is where it is. target is the message that was asked for.
func reason(r *Request, cut *Cut, target int) string {
	switch {
	case cut.Index == cut.Head:
		return "nothing needs to be dropped"
	case r.Target == nil && r.KeepLast == 0 && r.KeepLastUser == 0:
		return fmt.Sprintf("nearest %s boundary within the limit", cut.Kind)
	case r.Target != nil && *r.Target == cut.Index:
		return fmt.Sprintf("%s boundary at the target", cut.Kind)
	case r.Target != nil && *r.Target < cut.Index:
		return fmt.Sprintf("nearest %s boundary after the target", cut.Kind)
	case r.Target != nil:
		return fmt.Sprintf("nearest %s boundary before the target", cut.Kind)
	case r.Newer && cut.Index < target:
		return fmt.Sprintf("last %s boundary", cut.Kind) // it keeps more than was asked for
	case r.Newer:
		return fmt.Sprintf("nearest %s boundary", cut.Kind)
	case r.KeepLast > 0:
		return fmt.Sprintf("nearest %s boundary that keeps the last %s", cut.Kind, Plural(r.KeepLast, "message"))
	}
	return fmt.Sprintf("nearest %s boundary that keeps the last %s", cut.Kind, Plural(r.KeepLastUser, "user message"))
}
