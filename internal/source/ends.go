package source

import (
	"cmp"
	"math"
	"slices"
)

// longValue is how many bytes a value has whose end is worth remembering.
const longValue = 64

// mostLarge bounds how many large values of a document are known that is not held in
// memory. More there are only in one of many gigabytes.
const mostLarge = 1 << 20

// ends remember where the long strings and containers of a text end, so that
// nobody walks over their bytes to find out. Names of members are not among
// them.
type ends struct {
	// turn numbers the scans. A Value must not use what another scan found.
	turn uint32
	// list is in the order of the starts. If a container is not in it, no value
	// inside the container is either.
	list []longEnd
	most int
	// least is how long a value is that is remembered; 0 means longValue.
	least int
	// shift is where the text starts that is looked at, which may be a part.
	shift int
	// pages is the document that the text is of; nil if it is held as a whole.
	pages *pages
	// The first within containers around the current value are in the list, and
	// last is the innermost of them.
	within int
	last   uint32
}

// A longEnd is one long value.
type longEnd struct {
	start, end uint32
	// next is the number of the first long value behind it. While the value is
	// open, it is the number of the container around it.
	next uint32
}

// begin empties the list and makes room for a text of size bytes.
func (e *ends) begin(size int) {
	*e = ends{turn: e.turn + 1, list: e.list[:0], least: e.least, pages: e.pages}
	e.grow(size)
}

// grow bounds the list for a text of size bytes, so that it takes less room than
// the text. The ends of further values are not recorded.
func (e *ends) grow(size int) {
	e.most = 1<<10 + size/128
	if e.least > longValue {
		e.most = mostLarge
	}
	if uint64(size) > math.MaxUint32 {
		e.most = 0
	}
}

// add adds the string or the empty container [start, end), if it is long.
func (e *ends) add(start, end int) {
	if end-start >= max(longValue, e.least) && len(e.list) < e.most {
		e.list = append(e.list, longEnd{uint32(start + e.shift), uint32(end + e.shift), uint32(len(e.list) + 1)})
	}
}

// open adds the container that starts at start, with depth others around it.
func (e *ends) open(start, depth int) {
	if depth == e.within && len(e.list) < e.most {
		e.list = append(e.list, longEnd{start: uint32(start + e.shift), next: e.last})
		e.last = uint32(len(e.list) - 1)
		e.within++
	}
}

// close ends the innermost container, with depth others around it.
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

// find returns the number of the first long value that does not start before
// start.
func (e *ends) find(turn uint32, start int) uint32 {
	if e == nil || e.turn != turn {
		return 0
	}
	n, _ := slices.BinarySearchFunc(e.list, start, func(l longEnd, start int) int { return cmp.Compare(int(l.start), start) })
	return uint32(n)
}

// at returns the end of the value that starts at start, if it is the next long
// one, and the number of the one behind it; 0 and next, if it is not.
func (e *ends) at(turn uint32, start int, next uint32) (end int, behind uint32) {
	if e == nil || e.turn != turn || int(next) >= len(e.list) || int(e.list[next].start) != start {
		return 0, next
	}
	return int(e.list[next].end), e.list[next].next
}
