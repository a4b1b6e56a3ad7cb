package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWilson compares with values that R's binom.confint(method = "wilson") gives.
func TestWilson(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		some, all int
		low, high float64
	}{
		{0, 10, 0, 0.277533},
		{1, 10, 0.017876, 0.404150},
		{5, 10, 0.236593, 0.763407},
		{10, 10, 0.722467, 1},
		{21, 18402, 0.000747, 0.001744},
		{52, 2911, 0.013649, 0.023349},
		{1, 1, 0.206549, 1},
	} {
		got := Wilson(tt.some, tt.all)
		if math.Abs(got.Low-tt.low) > 1e-6 || math.Abs(got.High-tt.high) > 1e-6 || got.Value != float64(tt.some)/float64(tt.all) {
			t.Errorf("%d of %d: %+v, want %v to %v", tt.some, tt.all, got, tt.low, tt.high)
		}
	}
	if got := Wilson(0, 0); got != (Rate{0, 0, 1}) {
		t.Errorf("without cases: %+v", got)
	}
}

// TestBuckets: percentiles are right to 1 %, small numbers exactly, and shares of numbers can be
// counted apart.
func TestBuckets(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var all, a, b Buckets
		var list []int64
		for range 1 + random.IntN(2000) {
			v := int64(math.Exp(random.Float64() * 43))
			if random.IntN(4) == 0 {
				v = random.Int64N(60)
			}
			list = append(list, v)
			all.Add(v)
			[]*Buckets{&a, &b}[random.IntN(2)].Add(v)
		}
		slices.Sort(list)
		for _, share := range []float64{0, 0.5, 0.9, 0.99, 1} {
			want := list[max(int(math.Ceil(share*float64(len(list)))), 1)-1]
			if got := all.At(share); math.Abs(float64(got-want)) > 0.0101*float64(want) {
				t.Errorf("%v of %d numbers: %d, want %d", share, len(list), got, want)
			}
		}
		a.Merge(&b)
		if a.N() != len(list) || a.Max() != list[len(list)-1] || a.At(0.5) != all.At(0.5) || a.At(0.99) != all.At(0.99) {
			t.Errorf("merged: %d numbers up to %d", a.N(), a.Max())
		}
	}
	var empty Buckets
	if empty.At(0.5) != 0 || empty.N() != 0 {
		t.Error("there are numbers in empty buckets")
	}
	for _, v := range []int64{1 << 61, math.MinInt64, -1, 0, 1, 50, 51, 52} {
		var one Buckets
		one.Add(v)
		if got := one.At(0.5); v >= 0 && math.Abs(float64(got)-float64(v)) > 0.0101*float64(v) || v < 0 && got != 0 {
			t.Errorf("%d is in the bucket of %d", v, got)
		}
	}
	if n := len(starts()); n >= none {
		t.Errorf("there are %d buckets, which 12 bits cannot number", n)
	}
}

// A made call is an input of the test of shards.
type made struct {
	session int
	key     Key
	id      uint64
	state   state
	bytes   int64
	ms      int64
}

// shards makes the shard of each session.
func shards(tables [][]Dimension, calls []made, sessions int) []*Shard {
	out := make([]*Shard, sessions)
	for i := range out {
		s := NewShard(tables)
		s.begin()
		s.Totals.Files, s.Totals.Sessions = 1, 1
		s.files = append(s.files, &mark{fmt.Sprintf("f%03d", i), i%7 == 0})
		for _, c := range calls {
			if c.session == i {
				s.Totals.Calls++
				s.count(&c.key, c.id, c.state, c.bytes, c.ms)
			}
		}
		if i%3 == 0 {
			rule := []string{"a", "b"}[i%2]
			s.cause(&Cause{Rule: rule, Errors: i, Sessions: 1, Sample: Sample{Path: fmt.Sprintf("f%03d", i), Line: i + 1}})
		}
		out[i] = s
	}
	return out
}

// joinShards merges shards in any order and any grouping.
func joinShards(random *rand.Rand, list []*Shard) *Shard {
	for len(list) > 1 {
		i := random.IntN(len(list))
		a := list[i]
		list = slices.Delete(list, i, i+1)
		j := random.IntN(len(list))
		b := list[j]
		list[j] = a
		a.Merge(b)
	}
	return list[0]
}

// TestShards: counts do not depend on how and in which order they are merged, copies are counted once,
// and nothing is lost.
func TestShards(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	tables := [][]Dimension{{Agent}, {Tool}, {Version, Tool}}
	for round := range 30 {
		sessions := 2 + random.IntN(20)
		var calls []made
		for range random.IntN(600) {
			c := made{session: random.IntN(sessions), state: state(random.IntN(4)), bytes: -1, ms: -1}
			c.key[Agent], c.key[Tool], c.key[Version] = string(rune('a'+random.IntN(2))), string(rune('k'+random.IntN(5))), fmt.Sprint("2.", random.IntN(12))
			if c.state == answered {
				c.bytes, c.ms = random.Int64N(1e5), random.Int64N(1e6)-1
			}
			if random.IntN(2) == 0 {
				c.id = 1 + random.Uint64N(400)
			}
			calls = append(calls, c)
		}
		var want *Result
		for range 4 {
			got := joinShards(random, shards(tables, calls, sessions)).Finish()
			if want == nil {
				want = got
				unique := map[uint64]bool{}
				n := 0
				for _, c := range calls {
					if c.id == 0 || !unique[c.id] {
						n++
					}
					unique[c.id] = c.id != 0
				}
				for _, table := range got.Tables {
					sum := 0
					for _, row := range table.Rows {
						sum += row.Calls + row.Interrupted + row.Open
					}
					if sum != n || got.LeftOut[Repeated] != len(calls)-n {
						t.Errorf("round %d: %d calls and %d copies, want %d of %d", round, sum, got.LeftOut[Repeated], n, len(calls))
					}
				}
				continue
			}
			if !reflect.DeepEqual(want, got) {
				t.Fatalf("round %d: another order: %s", round, cmp.Diff(want, got, cmp.AllowUnexported(Group{}, Buckets{})))
			}
		}
	}
}

// TestManyGroups: a table has so many groups at most, the same in any order, and the others are counted
// together.
func TestManyGroups(t *testing.T) {
	t.Parallel()
	const n = 3*MostGroups + 100
	random := rand.New(rand.NewPCG(5, 6))
	var want *Table
	for range 2 {
		var list []*Shard
		for range 5 {
			list = append(list, NewShard([][]Dimension{{Tool}}))
		}
		for _, i := range random.Perm(n) {
			k := Key{Tool: fmt.Sprintf("t%06d", i)}
			for j := range 1 + i%3 {
				s := list[(i+j)%len(list)]
				s.begin()
				id := uint64(0)
				if i%2 == 0 {
					id = uint64(i*4 + j + 1)
				}
				s.count(&k, id, []state{answered, missing, open}[j], 10, 10)
			}
		}
		got := joinShards(random, list).Finish().Tables[0]
		if len(got.Rows) != MostGroups+1 {
			t.Fatalf("%d rows", len(got.Rows))
		}
		rest := got.Rows[MostGroups]
		all := 0
		for _, row := range got.Rows {
			all += row.Calls + row.Open
		}
		if !rest.Rest || rest.Key[Tool] != "other" || rest.Sessions != 0 || all != 2*n-1 {
			t.Errorf("the rest is %+v of %d calls", rest.Key, all)
		}
		if want == nil {
			want = &got
			continue
		}
		if !reflect.DeepEqual(*want, got) {
			t.Fatal("another order, other groups")
		}
	}
}

// TestNatural: versions are in the order of their numbers.
func TestNatural(t *testing.T) {
	t.Parallel()
	want := []string{"1.0", "2.1.9", "2.1.33", "2.1.33-beta", "2.1.220", "2.10", "10", "unknown"}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, natural)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestSpread: a strip has all elements, in order.
func TestSpread(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 5, 59, 60, 61, 1000} {
		bad := make([]bool, n)
		if n > 0 {
			bad[n-1] = true
		}
		s := Spread(bad)
		all, found := 0, 0
		for i, c := range s.Cells {
			all, found = all+c.All, found+c.Bad
			if c.All == 0 || s.Last(i, n)-c.First+1 != c.All {
				t.Errorf("%d: cell %d is %+v up to %d", n, i, c, s.Last(i, n))
			}
		}
		if all != n || len(s.Cells) > Width || n > 0 && (found != 1 || s.Peak() != len(s.Cells)-1) {
			t.Errorf("%d: %d in %d cells, peak %d", n, all, len(s.Cells), s.Peak())
		}
	}
}
