package unfold

import (
	"encoding/binary"
	"math"
	"sort"

	"github.com/toolguard/toolguard/internal/source"
)

// A piece is a part of the text that was made of one value.
type piece struct {
	at, end int // it ends where the next one begins
	kind    pieceKind
	from    source.Span // of the value
	origin  int         // where it stands, counted from 1; 0 for the source
}

type pieceKind uint8

const (
	pieceMade    pieceKind = iota // written anew, on account of a value
	pieceCopied                   // a value as it stands
	pieceDecoded                  // the text of a string
)

// A pieces is the pieces of a text, in order. There is one for every few bytes of
// it, so they are written down in as few: each as what it differs by from the one
// before.
type pieces struct {
	code   [][]byte // in chunks, so that it need not be copied to grow
	blocks []block
	last   piece
	n      int // pieces in the last block
}

const (
	// blockPieces is how many pieces are read at most to find one.
	blockPieces = 64
	// A chunk begins with the first block behind chunkSize bytes, and has room for
	// one that takes as much as most do.
	chunkSize = 64 << 10
	chunkRoom = chunkSize + 1<<10
)

// A block is where the code of some pieces begins.
type block struct {
	chunk, code int32
	at          int   // where the first of them begins
	start       int64 // where the value of the one before stands
}

func (ps *pieces) add(p piece) {
	if len(ps.blocks) == 0 || ps.n == blockPieces {
		ps.begin(p.at)
	}
	ps.n++
	last := &ps.code[len(ps.code)-1]
	*last = binary.AppendUvarint(*last, uint64(p.at-ps.last.at)<<2|uint64(p.kind))
	*last = binary.AppendVarint(*last, p.from.Start-ps.last.from.Start)
	*last = binary.AppendUvarint(*last, uint64(p.from.Len()))
	*last = binary.AppendUvarint(*last, uint64(p.origin))
	ps.last = p
}

// begin begins a block of which the first piece is at an offset.
func (ps *pieces) begin(at int) {
	switch n := len(ps.code); {
	case n == 0:
		ps.code = append(ps.code, nil) // few texts have many pieces
	case len(ps.code[n-1]) >= chunkSize:
		ps.code = append(ps.code, make([]byte, 0, chunkRoom))
	}
	n := len(ps.code) - 1
	ps.blocks = append(ps.blocks, block{int32(n), int32(len(ps.code[n])), at, ps.last.from.Start})
	ps.n, ps.last.at = 0, at
}

// next reads the piece behind one, and returns the code behind it.
func next(code []byte, before piece) (piece, []byte) {
	var field [4]uint64
	for i := range field {
		v, n := binary.Uvarint(code)
		field[i], code = v, code[n:]
	}
	start := before.from.Start + (int64(field[1]>>1) ^ -int64(field[1]&1))
	return piece{
		at: before.at + int(field[0]>>2), kind: pieceKind(field[0] & 3),
		from: source.Span{Start: start, End: start + int64(field[2])}, origin: int(field[3]),
	}, code
}

// before returns what the first piece of a block is told by.
func (b *block) before() piece { return piece{at: b.at, from: source.Span{Start: b.start}} }

// of returns the code of a block.
func (ps *pieces) of(i int) []byte {
	b := &ps.blocks[i]
	code := ps.code[b.chunk]
	if i+1 < len(ps.blocks) && ps.blocks[i+1].chunk == b.chunk {
		code = code[:ps.blocks[i+1].code]
	}
	return code[b.code:]
}

// find returns the piece that holds an offset, the first for one before all. It
// returns false where there is none.
func (ps *pieces) find(at int64) (piece, bool) {
	if len(ps.blocks) == 0 {
		return piece{}, false
	}
	i := max(0, sort.Search(len(ps.blocks), func(i int) bool { return int64(ps.blocks[i].at) > at })-1)
	p, code := next(ps.of(i), ps.blocks[i].before())
	for len(code) > 0 {
		var behind piece
		if behind, code = next(code, p); int64(behind.at) > at {
			p.end = behind.at
			return p, true
		}
		p = behind
	}
	p.end = math.MaxInt
	if i+1 < len(ps.blocks) {
		p.end = ps.blocks[i+1].at
	}
	return p, true
}

// cut takes away the pieces that begin at an offset or behind it.
func (ps *pieces) cut(at int) {
	n := len(ps.blocks)
	for n > 0 && ps.blocks[n-1].at >= at {
		n--
		b := &ps.blocks[n]
		ps.code = ps.code[:b.chunk+1]
		ps.code[b.chunk] = ps.code[b.chunk][:b.code]
	}
	ps.blocks = ps.blocks[:n]
	ps.last, ps.n = piece{}, 0
	if n == 0 {
		return
	}
	ps.last = ps.blocks[n-1].before()
	for code := ps.of(n - 1); len(code) > 0; ps.n++ {
		p, rest := next(code, ps.last)
		if p.at >= at {
			last := &ps.code[len(ps.code)-1]
			*last = (*last)[:len(*last)-len(code)]
			return
		}
		ps.last, code = p, rest
	}
}
