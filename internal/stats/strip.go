package stats

// Width is how many buckets a strip has at most.
const Width = 60

// A Strip shows where the bad ones of a sequence are: of the rows of a file, or of files.
type Strip struct{ Cells []Cell }

// A Cell is a part of a strip.
type Cell struct {
	All, Bad int
	// First is the number of the first one, from 1; 0 if there is none.
	First int
}

// add counts one that is at a share of the sequence.
func (s *Strip) add(at, of int64, number int, bad bool) {
	if s.Cells == nil {
		s.Cells = make([]Cell, Width)
	}
	i := 0
	if of > 0 {
		i = int(float64(at) / float64(of) * Width)
	}
	c := &s.Cells[min(max(i, 0), Width-1)]
	c.All++
	if bad {
		c.Bad++
	}
	if c.First == 0 || number < c.First {
		c.First = number
	}
}

// Spread returns the strip of a sequence.
func Spread(bad []bool) Strip {
	cells := make([]Cell, min(len(bad), Width))
	for i, is := range bad {
		c := &cells[i*len(cells)/len(bad)]
		if c.All++; c.All == 1 {
			c.First = i + 1
		}
		if is {
			c.Bad++
		}
	}
	return Strip{cells}
}

// Peak returns the index of the cell with the largest share of bad ones, the first of several, and -1
// if none is bad.
func (s *Strip) Peak() int {
	peak := -1
	for i, c := range s.Cells {
		if c.Bad > 0 && (peak < 0 || c.Bad*s.Cells[peak].All > s.Cells[peak].Bad*c.All) {
			peak = i
		}
	}
	return peak
}

// Last returns the number of the last one in a cell, if there are n in all.
func (s *Strip) Last(cell, n int) int {
	for _, c := range s.Cells[cell+1:] {
		if c.First > 0 {
			return c.First - 1
		}
	}
	return n
}

// Narrow returns the strip with at most so many cells.
func (s *Strip) Narrow(most int) Strip {
	k := (len(s.Cells) + most - 1) / max(most, 1)
	if k <= 1 {
		return *s
	}
	var out Strip
	for i, c := range s.Cells {
		if i%k == 0 {
			out.Cells = append(out.Cells, Cell{})
		}
		to := &out.Cells[len(out.Cells)-1]
		to.All, to.Bad = to.All+c.All, to.Bad+c.Bad
		if to.First == 0 {
			to.First = c.First
		}
	}
	return out
}
