package engine

import "bytes"

// A packed holds very many short texts in little memory. The texts are alike, so they are
// compressed in chunks.
type packed struct {
	chunks [][]byte // compressed
	open   []byte   // the last ones, not yet compressed
	spare  []byte
	by     *compressor // nil before the first use
}

// A packedRef is the position of a text in a packed.
type packedRef struct {
	chunk int32
	at    uint16
}

// packedChunk is the length at which a chunk is compressed: short enough to be unpacked for
// one text, and long enough to contain similar texts. Every text begins before that offset.
const packedChunk = 64 << 10

// end returns the position of the next text.
func (p *packed) end() packedRef { return packedRef{int32(len(p.chunks)), uint16(len(p.open))} }

// add adds a text.
func (p *packed) add(text []byte) {
	if p.open = append(p.open, text...); len(p.open) < packedChunk {
		return
	}
	if p.by == nil {
		p.by = &compressor{}
	}
	p.chunks = append(p.chunks, bytes.Clone(p.by.compress(p.open)))
	p.open = p.open[:0]
}

// write adds a text that a packer writes.
func (p *packed) write(w *words, what func(*packer)) {
	out := packer{words: w, writes: true, out: p.spare[:0]}
	what(&out)
	p.spare = out.out
	p.add(out.out)
}

// chunk returns all texts of a chunk.
func (p *packed) chunk(i int) string {
	if i == len(p.chunks) {
		return string(p.open)
	}
	text, err := p.by.uncompress(p.chunks[i])
	if err != nil {
		panic(err) // it was packed here
	}
	return string(text)
}

// An unpacker reads texts of a packed in any order. It keeps the chunks that were read last,
// because successive texts come from a few chunks.
type unpacker struct {
	*packed
	// left is how often each chunk will still be read before it is dropped; nil drops none.
	left []int32
	kept [32]struct {
		chunk int32 // counted from 1
		text  string
	}
}

// expect counts a text that will be read once. Chunks of which all such texts were read are dropped.
func (u *unpacker) expect(ref packedRef) {
	if u.left == nil {
		u.left = make([]int32, len(u.chunks)+1)
	}
	u.left[ref.chunk]++
}

// from returns the text at ref, followed by the rest of its chunk.
func (u *unpacker) from(ref packedRef) string {
	k := &u.kept[int(ref.chunk)%len(u.kept)]
	if k.chunk != ref.chunk+1 {
		k.chunk, k.text = ref.chunk+1, u.chunk(int(ref.chunk))
	}
	if u.left != nil {
		if u.left[ref.chunk]--; u.left[ref.chunk] == 0 && int(ref.chunk) < len(u.chunks) {
			u.chunks[ref.chunk] = nil
			text := k.text
			k.chunk, k.text = 0, ""
			return text[ref.at:]
		}
	}
	return k.text[ref.at:]
}
