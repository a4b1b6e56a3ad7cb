package engine

import (
	"github.com/klauspost/compress/s2"
)

// A packed holds very many short texts in little memory: they are alike, and are
// compressed some at a time.
type packed struct {
	chunks [][]byte // compressed
	open   []byte   // the last ones, which are not yet
	spare  []byte
}

// A packedRef says which of the texts in a packed one is.
type packedRef struct {
	chunk int32
	at    uint16
}

// A chunk is compressed once it is so long: short enough to be unpacked for one text,
// and long enough for what is alike to meet. A text begins before that.
const packedChunk = 16 << 10

// end returns where the next text will be.
func (p *packed) end() packedRef { return packedRef{int32(len(p.chunks)), uint16(len(p.open))} }

// add adds a text to the last ones.
func (p *packed) add(text []byte) {
	if p.open = append(p.open, text...); len(p.open) < packedChunk {
		return
	}
	p.spare = s2.Encode(p.spare[:cap(p.spare)], p.open)
	p.chunks = append(p.chunks, append(make([]byte, 0, len(p.spare)), p.spare...))
	p.open = p.open[:0]
}

// chunk returns all texts of a chunk.
func (p *packed) chunk(i int) string {
	if i == len(p.chunks) {
		return string(p.open)
	}
	text, err := s2.Decode(p.spare[:cap(p.spare)], p.chunks[i])
	if err != nil {
		panic(err) // it was packed here
	}
	p.spare = text
	return string(text)
}

// An unpacker reads texts of a packed in any order. It keeps the chunks that were
// read last, because texts come from a few of them at a time.
type unpacker struct {
	*packed
	kept [64]struct {
		chunk int32 // counted from 1
		text  string
	}
}

// from returns the text at a ref, with those behind it in its chunk.
func (u *unpacker) from(ref packedRef) string {
	k := &u.kept[int(ref.chunk)%len(u.kept)]
	if k.chunk != ref.chunk+1 {
		k.chunk, k.text = ref.chunk+1, u.chunk(int(ref.chunk))
	}
	return k.text[ref.at:]
}
