package stats

import (
	"math"
	"sort"
	"sync"
)

// Buckets count numbers by their size. Each bucket is 2 % wide, but numbers up to 50 have one each.
// The zero value is empty.
type Buckets struct {
	n   []uint32
	all int
	max int64
}

// starts returns the least number of each bucket. They are whole numbers, so that all machines have the
// same.
var starts = sync.OnceValue(func() []int64 {
	out := []int64{0}
	for at := int64(1); at > 0; at += max(1, at/50) {
		out = append(out, at)
		if at > math.MaxInt64-at/50-1 {
			break
		}
	}
	return out
})

// bucketOf returns the bucket of a number.
func bucketOf(v int64) int {
	if v < 51 {
		return int(max(v, 0))
	}
	list := starts()
	return sort.Search(len(list), func(i int) bool { return list[i] > v }) - 1
}

// Add counts a number.
func (b *Buckets) Add(v int64) {
	b.count(bucketOf(v), 1)
	b.top(v)
}

// count counts numbers of a bucket.
func (b *Buckets) count(bucket, n int) {
	if more := bucket + 1 - len(b.n); more > 0 {
		b.n = append(b.n, make([]uint32, more)...)
	}
	b.n[bucket] += uint32(n)
	b.all += n
}

// top notes that there is a number of this size.
func (b *Buckets) top(v int64) { b.max = max(b.max, v) }

// Merge adds the counts of other buckets.
func (b *Buckets) Merge(o *Buckets) {
	if len(o.n) > len(b.n) {
		b.n = append(b.n, make([]uint32, len(o.n)-len(b.n))...)
	}
	for i, n := range o.n {
		b.n[i] += n
	}
	b.all += o.all
	b.top(o.max)
}

// N returns how many numbers there are.
func (b *Buckets) N() int { return b.all }

// Max returns the largest number.
func (b *Buckets) Max() int64 { return b.max }

// At returns the number below or at which a share of the numbers is, to 1 %; 0 without numbers.
func (b *Buckets) At(share float64) int64 {
	if b.all == 0 {
		return 0
	}
	rank := max(int(math.Ceil(share*float64(b.all))), 1)
	list := starts()
	for i, n := range b.n {
		if rank -= int(n); rank > 0 {
			continue
		}
		v := list[i]
		if i+1 < len(list) {
			v += (list[i+1] - 1 - list[i]) / 2
		}
		return min(v, b.max)
	}
	return b.max
}
