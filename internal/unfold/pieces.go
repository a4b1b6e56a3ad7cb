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
	code   []byte
	blocks []block
	last   piece
	n      int // pieces in the last block
}

// blockPieces is how many pieces are read at most to find one.
const blockPieces = 64

// A block is where the code of some pieces begins.
type block struct {
	code  int
	at    int   // where the first of them begins
	start int64 // where the value of the one before stands
}

func (ps *pieces) add(p piece) {
	if len(ps.blocks) == 0 || ps.n == blockPieces {
		ps.blocks = append(ps.blocks, block{len(ps.code), p.at, ps.last.from.Start})
		ps.n, ps.last.at = 0, p.at
	}
	ps.n++
	ps.code = binary.AppendUvarint(ps.code, uint64(p.at-ps.last.at)<<2|uint64(p.kind))
	ps.code = binary.AppendVarint(ps.code, p.from.Start-ps.last.from.Start)
	ps.code = binary.AppendUvarint(ps.code, uint64(p.from.Len()))
	ps.code = binary.AppendUvarint(ps.code, uint64(p.origin))
	ps.last = p
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

// end returns where the code of a block ends.
func (ps *pieces) end(i int) int {
	if i+1 < len(ps.blocks) {
		return ps.blocks[i+1].code
	}
	return len(ps.code)
}

// find returns the piece that holds an offset, the first for one before all. It
// returns false where there is none.
func (ps *pieces) find(at int64) (piece, bool) {
	if len(ps.blocks) == 0 {
		return piece{}, false
	}
	i := max(0, sort.Search(len(ps.blocks), func(i int) bool { return int64(ps.blocks[i].at) > at })-1)
	b := &ps.blocks[i]
	p, code := next(ps.code[b.code:ps.end(i)], b.before())
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
	for n := len(ps.blocks); n > 0 && ps.blocks[n-1].at >= at; n-- {
		ps.code = ps.code[:ps.blocks[n-1].code]
		ps.blocks = ps.blocks[:n-1]
	}
	if len(ps.blocks) == 0 {
		*ps = pieces{code: ps.code}
		return
	}
	b := &ps.blocks[len(ps.blocks)-1]
	ps.last, ps.n = b.before(), 0
	for code := ps.code[b.code:]; len(code) > 0; ps.n++ {
		p, rest := next(code, ps.last)
		if p.at >= at {
			ps.code = ps.code[:len(ps.code)-len(code)]
			break
		}
		ps.last, code = p, rest
	}
}
