//go:build !nozstd

package engine

import "github.com/klauspost/compress/s2"

// compress returns text compressed. It may use spare.
func compress(spare, text []byte) []byte { return s2.Encode(spare, text) }

// uncompress returns what was compressed. It may use spare.
func uncompress(spare, text []byte) ([]byte, error) { return s2.Decode(spare, text) }
