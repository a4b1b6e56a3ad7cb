package source

// An Index numbers hashes in the order in which they come, from 0. It does what
// a map would do in a third of the memory.
type Index struct {
	hashes []uint64
	// slots is a hash table of numbers, counted from 1: a hash has the first
	// slot that was free from its own place on.
	slots []int32
}

// Find returns the number of a hash.
func (x *Index) Find(hash uint64) (n int32, known bool) {
	if len(x.hashes) == 0 {
		return 0, false
	}
	// Who asks for one that is known mostly asks for the last.
	if last := len(x.hashes) - 1; x.hashes[last] == hash {
		return int32(last), true
	}
	at := x.slots[x.slot(hash)]
	return at - 1, at > 0
}

// Len returns how many hashes there are.
func (x *Index) Len() int { return len(x.hashes) }

// Add gives a hash that is new the next number.
func (x *Index) Add(hash uint64) {
	if len(x.hashes) == cap(x.hashes) {
		x.Reserve(max(8, len(x.hashes)*5/4))
	}
	at := x.slot(hash)
	x.hashes = append(x.hashes, hash)
	x.slots[at] = int32(len(x.hashes))
}

// Reserve makes room for n hashes in all.
func (x *Index) Reserve(n int) {
	if n <= cap(x.hashes) {
		return
	}
	x.hashes = append(make([]uint64, 0, n), x.hashes...)
	size := 8
	for 3*size < 4*n {
		size *= 2
	}
	if size == len(x.slots) {
		return
	}
	x.slots = make([]int32, size)
	for i, h := range x.hashes {
		x.slots[x.slot(h)] = int32(i + 1)
	}
}

// slot returns the slot of a hash, or the free one that it would get.
func (x *Index) slot(hash uint64) int {
	mask := uint64(len(x.slots) - 1)
	i := hash & mask
	for x.slots[i] > 0 && x.hashes[x.slots[i]-1] != hash {
		i = (i + 1) & mask
	}
	return int(i)
}
