package source

// An Index numbers hashes from 0 in the order in which they are added. It replaces a map
// and uses a third of its memory.
type Index struct {
	hashes []uint64
	// slots is an open-addressing hash table of numbers. tags holds one byte of the hash
	// for each slot, 0 for a free one. Comparing tags first avoids looking at almost all
	// other hashes.
	slots []int32
	tags  []uint8
}

// Find returns the number of a hash, and whether it is known.
func (x *Index) Find(hash uint64) (n int32, known bool) {
	return x.FindFrom(hash, len(x.hashes)-1)
}

// FindFrom is Find for a hash whose number is probably near.
func (x *Index) FindFrom(hash uint64, near int) (n int32, known bool) {
	if uint(near) < uint(len(x.hashes)) && x.hashes[near] == hash {
		return int32(near), true
	}
	if len(x.hashes) == 0 {
		return 0, false
	}
	at := x.slot(hash)
	return x.slots[at], x.tags[at] > 0
}

// Number returns the number of a hash, which is added if it is not known. near is the number that it
// probably has, -1 for none.
func (x *Index) Number(hash uint64, near int) (n int32, known bool) {
	if uint(near) < uint(len(x.hashes)) && x.hashes[near] == hash {
		return int32(near), true
	}
	x.room()
	at := x.slot(hash)
	if x.tags[at] > 0 {
		return x.slots[at], true
	}
	n = int32(len(x.hashes))
	x.put(at, hash, int(n))
	x.hashes = append(x.hashes, hash)
	return n, false
}

// At returns the hash with a number.
func (x *Index) At(n int32) uint64 { return x.hashes[n] }

// Len returns the number of hashes.
func (x *Index) Len() int { return len(x.hashes) }

// Add gives the next number to a new hash.
func (x *Index) Add(hash uint64) {
	x.room()
	x.put(x.slot(hash), hash, len(x.hashes))
	x.hashes = append(x.hashes, hash)
}

// room makes room for one more hash.
func (x *Index) room() {
	if len(x.hashes) == cap(x.hashes) {
		x.Reserve(max(8, len(x.hashes)*5/4))
	}
}

// Reserve makes room for n hashes in total.
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
	x.slots, x.tags = make([]int32, size), make([]uint8, size)
	for i, h := range x.hashes {
		x.put(x.slot(h), h, i)
	}
}

func (x *Index) put(at int, hash uint64, n int) { x.slots[at], x.tags[at] = int32(n), tagOf(hash) }

// tagOf returns the tag of a hash. It uses bits that do not select the slot.
func tagOf(hash uint64) uint8 { return uint8(hash>>57) | 0x80 }

// slot returns the slot of a hash, or the free slot that it would take.
func (x *Index) slot(hash uint64) int {
	mask := uint64(len(x.tags) - 1)
	tag := tagOf(hash)
	i := hash & mask
	for x.tags[i] > 0 && (x.tags[i] != tag || x.hashes[x.slots[i]] != hash) {
		i = (i + 1) & mask
	}
	return int(i)
}
