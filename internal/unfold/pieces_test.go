package unfold

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/source"
)

// TestPieces compares adding, cutting and finding pieces with a plain list.
func TestPieces(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var ps pieces
		var want []piece
		at := 0
		for range 400 + 20*rnd.IntN(2)*rnd.IntN(1000) {
			if rnd.IntN(40) == 0 {
				at = rnd.IntN(at + 1)
				ps.cut(at)
				want = slices.DeleteFunc(want, func(p piece) bool { return p.at >= at })
				continue
			}
			start := rnd.Int64N(1 << (1 + rnd.IntN(40)))
			p := piece{
				at: at, kind: pieceKind(rnd.IntN(3)), origin: rnd.IntN(300),
				from: source.Span{Start: start, End: start + rnd.Int64N(500)},
			}
			ps.add(p)
			want = append(want, p)
			at += 1 + rnd.IntN(30)
		}
		for i := range want {
			want[i].end = math.MaxInt
			if i+1 < len(want) {
				want[i].end = want[i+1].at
			}
		}
		for i, p := range want {
			for _, at := range []int{p.at, min(p.end-1, p.at+50)} {
				got, known := ps.find(int64(at))
				if diff := cmp.Diff(p, got, cmp.AllowUnexported(piece{})); diff != "" || !known {
					t.Fatalf("piece %d of %d at %d: %s", i, len(want), at, diff)
				}
			}
		}
	}
	var none pieces
	if _, known := none.find(3); known {
		t.Error("found a piece where there is none")
	}
}

// TestMemoryOfPieces checks that each piece of a text that is spread over attributes
// takes a few bytes, and that growing holds none of them twice.
func TestMemoryOfPieces(t *testing.T) {
	const n = 200_000
	var ps pieces
	for i := range n {
		ps.add(piece{at: 6 * i, kind: pieceKind(i % 2), from: source.Span{Start: int64(40 * i), End: int64(40*i + 20)}})
	}
	room := 24 * cap(ps.blocks)
	for _, chunk := range ps.code {
		room += cap(chunk)
	}
	if got := float64(room) / n; got > 6 {
		t.Errorf("a piece takes %.1f bytes", got)
	}
}
