package pairing

import "hash/maphash"

// A numbers numbers texts from 0 in the order in which they first come. It takes less time than a map.
type numbers struct {
	seed   maphash.Seed
	texts  []string
	hashes []uint64
	// slots is an open-addressing hash table of numbers, counted from 1; 0 is a free one.
	slots []int32
}

// newNumbers returns a numbers for about n texts.
func newNumbers(n int) *numbers {
	size := 8
	for size < 2*n {
		size *= 2
	}
	return &numbers{maphash.MakeSeed(), make([]string, 0, n), make([]uint64, 0, n), make([]int32, size)}
}

// of returns the number of a text.
func (x *numbers) of(text string) int32 {
	h := maphash.String(x.seed, text)
	at := x.slot(h, text)
	if n := x.slots[at]; n > 0 {
		return n - 1
	}
	x.texts, x.hashes = append(x.texts, text), append(x.hashes, h)
	x.slots[at] = int32(len(x.texts))
	if 4*len(x.texts) > 3*len(x.slots) {
		x.slots = make([]int32, 2*len(x.slots))
		for i, h := range x.hashes {
			x.slots[x.slot(h, x.texts[i])] = int32(i + 1)
		}
	}
	return int32(len(x.texts) - 1)
}

// slot returns the slot of a text, or the free one that it would take.
func (x *numbers) slot(h uint64, text string) int {
	mask := uint64(len(x.slots) - 1)
	i := h & mask
	for n := x.slots[i]; n > 0 && (x.hashes[n-1] != h || x.texts[n-1] != text); n = x.slots[i] {
		i = (i + 1) & mask
	}
	return int(i)
}
