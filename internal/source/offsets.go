package source

import (
	"encoding/binary"
	"iter"
	"sort"
)

const (
	// offsetStep is the number of offsets for each one that is stored whole.
	offsetStep = 32
	// The gaps between offsets are stored in chunks. Each chunk is twice as large as the
	// one before, up to maxGaps.
	minGaps = offsetStep * binary.MaxVarintLen64
	maxGaps = 64 << 10
)

// Offsets is a list of ascending offsets in a source. It stores their distances, which
// take one or two bytes each if the records are small.
type Offsets struct {
	marks []mark // every offsetStep-th offset
	gaps  []byte // the chunk being filled
	last  int64
	n     int
}

// A mark is an offset stored whole, and the gaps after it as varints.
type mark struct {
	offset int64
	gaps   []byte
}

// Append adds an offset, which must not be less than the last one.
func (o *Offsets) Append(offset int64) {
	if o.n%offsetStep == 0 {
		if cap(o.gaps)-len(o.gaps) < minGaps {
			o.gaps = make([]byte, 0, min(max(2*cap(o.gaps), minGaps), maxGaps))
		}
		o.marks = append(o.marks, mark{offset, o.gaps[len(o.gaps):cap(o.gaps)]})
	} else {
		o.gaps = binary.AppendUvarint(o.gaps, uint64(offset-o.last))
	}
	o.last = offset
	o.n++
}

// Clear removes all offsets.
func (o *Offsets) Clear() { o.marks, o.gaps, o.last, o.n = o.marks[:0], o.gaps[:0], 0, 0 }

// All yields the offsets in order.
func (o *Offsets) All() iter.Seq[int64] { return o.Range(0, o.n) }

// Range yields the offsets with indexes from lo up to hi, without hi.
func (o *Offsets) Range(lo, hi int) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for i := lo - lo%offsetStep; i < hi; i += offsetStep {
			m := o.marks[i/offsetStep]
			for k := i; k < min(i+offsetStep, hi); k++ {
				if k > i {
					gap, n := binary.Uvarint(m.gaps)
					m.offset, m.gaps = m.offset+int64(gap), m.gaps[n:]
				}
				if k >= lo && !yield(m.offset) {
					return
				}
			}
		}
	}
}

// Find returns how many offsets are less than a given one.
func (o *Offsets) Find(offset int64) int {
	block := max(0, sort.Search(len(o.marks), func(i int) bool { return o.marks[i].offset >= offset })-1)
	n := block * offsetStep
	for at := range o.Range(n, min(n+offsetStep, o.n)) {
		if at >= offset {
			break
		}
		n++
	}
	return n
}

// Len returns the number of offsets.
func (o *Offsets) Len() int { return o.n }

// At returns the offset with index i.
func (o *Offsets) At(i int) int64 {
	m := o.marks[i/offsetStep]
	for range i % offsetStep {
		gap, n := binary.Uvarint(m.gaps)
		m.offset += int64(gap)
		m.gaps = m.gaps[n:]
	}
	return m.offset
}
