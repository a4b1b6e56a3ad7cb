//go:build !nozstd

package engine

import (
	"encoding/binary"
	"slices"

	"github.com/klauspost/compress/huff0"
	"github.com/klauspost/compress/s2"
)

// A compressor has the memory in which chunks of text are compressed. Repetitions are taken out first. What is
// left is mostly ids, and a Huffman code is shorter for the few characters that they consist of.
type compressor struct {
	codes       huff0.Scratch
	spare, text []byte
}

// compress returns text compressed: the length between both steps, and the code; 0 and no code if there is
// nothing to gain. It is valid until the next call.
func (c *compressor) compress(text []byte) []byte {
	c.text = s2.Encode(c.text[:cap(c.text)], text)
	c.codes.Reuse = huff0.ReusePolicyNone
	code, _, err := huff0.Compress4X(c.text, &c.codes)
	if err != nil {
		return append(append(c.spare[:0], 0), c.text...)
	}
	c.spare = append(binary.AppendUvarint(c.spare[:0], uint64(len(c.text))), code...)
	return c.spare
}

// uncompress returns what was compressed. It is valid until the next call.
func (c *compressor) uncompress(chunk []byte) ([]byte, error) {
	n, size := binary.Uvarint(chunk)
	in := chunk[size:]
	if n > 0 {
		codes, code, err := huff0.ReadTable(in, &c.codes)
		if err != nil {
			return nil, err
		}
		c.spare = slices.Grow(c.spare[:0], int(n))
		if in, err = codes.Decoder().Decompress4X(c.spare[:0:n], code); err != nil {
			return nil, err
		}
	}
	text, err := s2.Decode(c.text[:cap(c.text)], in)
	c.text = text
	return text, err
}
