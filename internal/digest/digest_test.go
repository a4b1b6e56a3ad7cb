package digest

import (
	"crypto/sha256"
	"math/rand/v2"
	"testing"
)

// TestPortable: the sum is that of the standard library, around the ends of blocks too.
func TestPortable(t *testing.T) {
	dice := rand.NewChaCha8([32]byte{})
	for size := range 300 {
		data := make([]byte, size)
		_, _ = dice.Read(data)
		want := sha256.Sum256(data)
		h := New()
		_, _ = h.Write(data[:size/3])
		_, _ = h.Write(data[size/3:])
		if portable(data) != want || Sum256(data) != want || [Size]byte(h.Sum(nil)) != want {
			t.Errorf("%d bytes: got %x, %x and %x, want %x", size, portable(data), Sum256(data), h.Sum(nil), want)
		}
	}
}
