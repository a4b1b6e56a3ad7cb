package container

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// TestKids compares adding, removing and cutting elements and fields in any order with a
// list that is searched linearly.
func TestKids(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		n := &node{kids: &kids{}, list: rnd.IntN(2) == 0}
		var want []kid
		for i := range 120 {
			step := source.NewValue([]byte(strconv.Itoa(rnd.IntN(len(want)+1))), 0)
			at, _ := strconv.Atoi(string(step.Raw()))
			if !n.list {
				step = source.NewValue([]byte(strconv.Quote("k"+strconv.Itoa(rnd.IntN(40)))), 0)
				at = slices.IndexFunc(want, func(k kid) bool { return k.key == string(step.Raw()) })
			} else if at == len(want) {
				at = -1
			}
			slot := n.find(step)
			if (slot < 0) != (at < 0) || at >= 0 && n.kids.slots[slot].node != want[at].node {
				t.Fatalf("step %d: %s leads to %d, want %d", i, step.Raw(), slot, at)
			}
			switch does := rnd.IntN(8); {
			case does == 0 && n.list:
				keep := rnd.IntN(len(want) + 2)
				n.kids.cut(keep)
				want = want[:min(keep, len(want))]
			case does < 4 && at >= 0:
				n.kids.drop(slot)
				want = slices.Delete(want, at, at+1)
			default:
				k := kid{"", &node{record: int32(i)}}
				if !n.list {
					k.key = string(step.Raw()) // some keys occur twice
				}
				n.kids.add(k.key, k.node)
				want = append(want, k)
			}
			var got []kid
			for key, k := range n.kids.all() {
				got = append(got, kid{key, k})
			}
			if !slices.Equal(got, want) || n.kids.live != len(want) {
				t.Fatalf("step %d: %v, %d in use, want %v", i, got, n.kids.live, want)
			}
		}
	}
}

// TestSegments checks that messages taken along by compactions get the same segments as
// if each were set individually.
func TestSegments(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		var s segments
		var got, want []transcript.Message
		for record := range int32(60) {
			if rnd.IntN(3) > 0 {
				for range 1 + rnd.IntN(2) {
					got = append(got, transcript.Message{Record: record})
					want = append(want, transcript.Message{Record: record, Segment: s.now})
				}
				continue
			}
			from := record - int32(rnd.IntN(12))
			s.begin(got, from)
			for i := len(want) - 1; i >= 0 && want[i].Record >= from; i-- {
				want[i].Segment = s.now
			}
			if n := len(want); n > 0 && rnd.IntN(2) == 0 { // a message is kept individually
				i := rnd.IntN(n)
				got[i].Segment, want[i].Segment = s.now, s.now
			}
		}
		for i := range want {
			if want[i].Segment < s.now {
				want[i].Flags |= transcript.MessageSuperseded
			}
		}
		s.settle(got)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(transcript.Message{})); diff != "" {
			t.Fatal(diff)
		}
	}
}

// TestFirstRoots checks that a link with a missing parent can follow another one if an
// earlier link is in no cycle and does not descend from it.
func TestFirstRoots(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 500 {
		l := &log{d: dialect.ClaudeCode, threads: make([]*thread, 3)}
		for i := range int32(14) {
			l.chain.add(uint64(i+1), link{thread: int32(rnd.IntN(3)), parent: uint64(rnd.IntN(22))}, 0)
		}
		roots := l.chain.roots()
		first := (&judgement{log: l}).firstRoots()
		for i := range l.chain.links {
			k, want := &l.chain.links[i], false
			for b := range i {
				want = want || l.chain.links[b].thread == k.thread && roots[b] >= 0 && roots[b] != int32(i)
			}
			if first[k.thread].before(int32(i)) != want {
				t.Fatalf("link %d of %+v, with roots %v: want %v", i, l.chain.links, roots, want)
			}
		}
	}
}
