//go:build !nocrypto

package digest

import (
	"crypto/sha256"
	"hash"
)

// Sum256 returns the SHA-256 of data.
func Sum256(data []byte) [Size]byte { return sha256.Sum256(data) }

// New returns a hash of what is written to it.
func New() hash.Hash { return sha256.New() }
