package unfold

import (
	"encoding/binary"
	"math"
	"sort"

	"github.com/toolguard/toolguard/internal/source"
)

// A piece is a part of the text that comes from one value.
type piece struct {
	at, end int // it ends where the next one begins
	kind    pieceKind
	from    source.Span // the span of the value
	origin  int         // the index of the origin plus 1; 0 for the source
}

type pieceKind uint8

const (
	pieceMade    pieceKind = iota // not in the source, made for a value
	pieceCopied                   // an unchanged value
	pieceDecoded                  // the text of a string
	piecePacked                   // the text of a span that nobody can read
)

// A pieces is the pieces of a text, in order. There is one for every few bytes of text,
// so each is stored compactly as the difference from the previous one.
type pieces struct {
	code   [][]byte // in chunks, so that growing copies nothing
	blocks []block
	last   piece
	n      int // the number of pieces in the last block
}

const (
	// blockPieces is the largest number of pieces that are decoded to find one.
	blockPieces = 64
	// A chunk ends with the block that reaches chunkSize bytes. It has space for a block
	// of typical size beyond that.
	chunkSize = 64 << 10
	chunkRoom = chunkSize + 1<<10
)

// A block is the start of the code of some pieces.
type block struct {
	chunk, code int32
	at          int   // where its first piece begins
	start       int64 // the start of the value of the previous piece
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

// begin begins a block whose first piece is at offset at.
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

// next decodes the piece after before, and returns the remaining code.
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

// before returns the piece relative to which the first piece of a block is stored.
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

// find returns the piece that contains an offset, or the first one if the offset is
// before all pieces. It returns false if there are no pieces.
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

// cut removes the pieces that begin at or after an offset.
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
