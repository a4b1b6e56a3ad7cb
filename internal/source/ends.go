package source

import (
	"cmp"
	"math"
	"slices"
)

// longValue is the least number of bytes of a value whose end is recorded.
const longValue = 64

// mostLarge limits how many large values are recorded of a document that is not held in
// memory. Only documents of many gigabytes have more.
const mostLarge = 1 << 20

// ends records where the long strings and containers of a text end, so that readers can
// skip them without looking at their bytes. Keys are not recorded.
type ends struct {
	// turn numbers the scans. A Value must not use the ends recorded by another scan.
	turn uint32
	// list is sorted by start. If a container is missing from it, so is every value
	// inside the container.
	list []longEnd
	most int
	// least is the least length of a recorded value; 0 means longValue.
	least int
	// shift is the offset of the scanned bytes, which may be only a part of the text.
	shift int
	// pages is the document of the text; nil if the document is held as a whole.
	pages *pages
	// The outermost within containers around the current value are in the list, and last
	// is the index of the innermost of these.
	within int
	last   uint32
}

// A longEnd is the start and end of one long value.
type longEnd struct {
	start, end uint32
	// next is the index of the first long value after this one. While the value is open,
	// it is the index of the enclosing container.
	next uint32
}

// begin clears the list and sets its limit for a text of size bytes.
func (e *ends) begin(size int) {
	*e = ends{turn: e.turn + 1, list: e.list[:0], least: e.least, pages: e.pages}
	e.grow(size)
}

// grow sets the limit of the list for a text of size bytes, so that the list takes less
// memory than the text. Ends beyond the limit are not recorded.
func (e *ends) grow(size int) {
	e.most = 1<<10 + size/128
	if e.least > longValue {
		e.most = mostLarge
	}
	if uint64(size) > math.MaxUint32 {
		e.most = 0
	}
}

// add records the string or empty container [start, end) if it is long.
func (e *ends) add(start, end int) {
	if end-start >= max(longValue, e.least) && len(e.list) < e.most {
		e.list = append(e.list, longEnd{uint32(start + e.shift), uint32(end + e.shift), uint32(len(e.list) + 1)})
	}
}

// open records the container that starts at start inside depth others.
func (e *ends) open(start, depth int) {
	if depth == e.within && len(e.list) < e.most {
		e.list = append(e.list, longEnd{start: uint32(start + e.shift), next: e.last})
		e.last = uint32(len(e.list) - 1)
		e.within++
	}
}

// close records the end of the innermost container, which is inside depth others.
func (e *ends) close(end, depth int) {
	if depth >= e.within {
		return
	}
	at := e.last
	l := &e.list[at]
	e.last, e.within = l.next, depth
	if end += e.shift; end-int(l.start) < max(longValue, e.least) {
		e.list = e.list[:at]
		return
	}
	l.end, l.next = uint32(end), uint32(len(e.list))
}

// find returns the index of the first long value that starts at or after start.
func (e *ends) find(turn uint32, start int) uint32 {
	if e == nil || e.turn != turn {
		return 0
	}
	n, _ := slices.BinarySearchFunc(e.list, start, func(l longEnd, start int) int { return cmp.Compare(int(l.start), start) })
	return uint32(n)
}

// at returns the end of the value that starts at start if it is the long value next, and
// the index of the long value after it. Otherwise it returns 0 and next.
func (e *ends) at(turn uint32, start int, next uint32) (end int, behind uint32) {
	if e == nil || e.turn != turn || int(next) >= len(e.list) || int(e.list[next].start) != start {
		return 0, next
	}
	return int(e.list[next].end), e.list[next].next
}
