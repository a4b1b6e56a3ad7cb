//go:build nozstd

package engine

// A compressor of builds without the library holds texts as they are.
type compressor struct{}

// compress returns a text.
func (compressor) compress(text []byte) []byte { return text }

// uncompress returns a text.
func (compressor) uncompress(text []byte) ([]byte, error) { return text, nil }
