package transcript

import "encoding/binary"

// offsetStep is how many offsets lie between two that are kept whole.
const offsetStep = 64

// Offsets is a list of ascending places in a source. It keeps the distances
// between them, which takes a byte or two each where records are small.
type Offsets struct {
	gaps  []byte // from each offset to the next, as varints
	marks []mark // every offsetStep-th
	last  int64
	n     int
}

// A mark is an offset that is kept whole, and where in gaps those behind it
// start.
type mark struct {
	offset int64
	gaps   int
}

// Append adds an offset, which must not lie before the last.
func (o *Offsets) Append(offset int64) {
	if o.n%offsetStep == 0 {
		o.marks = append(o.marks, mark{offset, len(o.gaps)})
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
		gap, n := binary.Uvarint(o.gaps[m.gaps:])
		m.offset += int64(gap)
		m.gaps += n
	}
	return m.offset
}
