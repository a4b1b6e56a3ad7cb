//go:build nozstd

package engine

// compress returns a copy of the text: builds without the library hold texts as they are. It may use spare.
func compress(spare, text []byte) []byte { return append(spare[:0], text...) }

// uncompress returns a copy of the text. It may use spare.
func uncompress(spare, text []byte) ([]byte, error) { return append(spare[:0], text...), nil }
