package source

import "encoding/binary"

const (
	// offsetStep is how many offsets lie between two that are kept whole.
	offsetStep = 128
	// The gaps between offsets are kept in pieces, each twice as large as the
	// one before, up to maxGaps.
	minGaps = offsetStep * binary.MaxVarintLen64
	maxGaps = 64 << 10
)

// Offsets is a list of ascending places in a source. It keeps the distances
// between them, which takes a byte or two each where records are small.
type Offsets struct {
	marks []mark // every offsetStep-th
	gaps  []byte // the piece that is being filled, with room for those of a mark
	last  int64
	n     int
}

// A mark is an offset that is kept whole, and the gaps behind it as varints.
type mark struct {
	offset int64
	gaps   []byte
}

// Append adds an offset, which must not lie before the last.
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

// Len returns how many offsets there are.
func (o *Offsets) Len() int { return o.n }

// At returns the i-th offset.
func (o *Offsets) At(i int) int64 {
	m := o.marks[i/offsetStep]
	for range i % offsetStep {
		gap, n := binary.Uvarint(m.gaps)
		m.offset += int64(gap)
		m.gaps = m.gaps[n:]
	}
	return m.offset
}
