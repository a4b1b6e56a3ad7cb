package redact

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
)

// A kind says what a value is. Only values of one kind are compared with each other.
type kind uint8

const (
	word    kind = iota // an id, a name or a key
	value               // a string in arguments or in a schema
	text                // what somebody says, and all other strings
	number              // a JSON number
	encoded             // data in base64
	kinds               // how many there are
)

// A sum is the keyed hash of a kind and a whole value. It is all that a filler learns of a value.
type sum [sha256.Size]byte

// A filler makes filler from a seed, a kind and a length. It never sees a text.
type filler struct {
	// seed returns the seed of the filler for values with a sum.
	seed   func(sum) sum
	random *rand.ChaCha8
	words  map[string]bool // no filler, because a reader would see them
	spaces [kinds][mostShort + 1]space
	hash   maphash.Seed
}

// A space is the filler of one kind and length that is in use.
type space struct {
	owners map[uint64]uint64 // the first bytes of sums by the hashes of their filler
	moved  map[uint64]string // the filler of those whose first choice was taken
	next   []int             // what probe tries next
}

const (
	// mostShort is the longest filler that could be equal for two values. Longer filler has more
	// than 100 random bits.
	mostShort = 20
	// mostProbed is the longest filler of which every one is tried if many are in use.
	mostProbed = 5
	// attempts is how often a value takes the next seed before every filler is tried.
	attempts     = 64
	longAttempts = 1 << 16
)

// The alphabets of filler, and those of the short filler that is used if all others are taken.
const (
	letters   = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits    = "0123456789"
	printable = letters + digits + "!#$%&'()*+,-./:;<=>?@[]^_`{|}~\x7f"
	numerals  = digits + "-.eE+"
)

func newFiller(seed func(sum) sum, words map[string]bool) *filler {
	return &filler{seed: seed, random: rand.NewChaCha8([32]byte{}), words: words, hash: maphash.MakeSeed()}
}

// short returns filler of at most mostShort bytes behind a prefix, which other values of the kind
// and length do not have.
func (f *filler) short(s sum, k kind, n int, prefix string) ([]byte, error) {
	sp := &f.spaces[k][n]
	id := binary.LittleEndian.Uint64(s[:])
	if was, moved := sp.moved[id]; moved {
		return []byte(was), nil
	}
	if sp.owners == nil {
		sp.owners = map[uint64]uint64{}
	}
	seed := f.seed(s)
	out := make([]byte, n)
	free := func() bool {
		owner, taken := sp.owners[maphash.Bytes(f.hash, out)]
		return (!taken || owner == id) && (k > value || !f.words[string(out)])
	}
	most := attempts
	if n > mostProbed {
		most = longAttempts
	}
	for try := range most {
		f.write(out, seed, try, k, prefix)
		if free() {
			return f.keep(sp, id, out, try > 0), nil
		}
	}
	for n <= mostProbed && prefix == "" && sp.probe(k, out) {
		if free() {
			return f.keep(sp, id, out, true), nil
		}
	}
	what := [...]string{"ids, names and keys", "arguments", "texts", "numbers", "pieces of data"}[k]
	bytes := "bytes"
	if n == 1 {
		bytes = "byte"
	}
	return nil, &ProofError{fmt.Sprintf("not tell apart all %s of %d %s, because there are more of them than filler; redact a shorter transcript", what, n, bytes)}
}

// keep notes the owner of filler.
func (f *filler) keep(sp *space, id uint64, out []byte, moved bool) []byte {
	sp.owners[maphash.Bytes(f.hash, out)] = id
	if moved {
		if sp.moved == nil {
			sp.moved = map[uint64]string{}
		}
		sp.moved[id] = string(out)
	}
	return out
}

// write writes the filler of a seed.
func (f *filler) write(out []byte, seed sum, try int, k kind, prefix string) {
	seed[30] ^= byte(try >> 8)
	seed[31] ^= byte(try)
	g := f.start(seed, k)
	g.write(out[copy(out, prefix):])
}

// start returns the generator of a seed.
func (f *filler) start(seed sum, k kind) *generator {
	f.random.Seed(seed)
	return &generator{random: f.random, kind: k}
}

// A generator makes filler of any length.
type generator struct {
	random *rand.ChaCha8
	kind   kind
	bits   uint64
	left   int  // how many bits are left
	begun  bool // a byte was written
}

// write writes more of the filler. Every character of the alphabet has the same chance.
func (g *generator) write(out []byte) {
	set, width := letters+digits, 6
	switch g.kind {
	case text:
		set = letters
	case number:
		set, width = digits, 4
	}
	for i := range out {
		set := set
		if first := !g.begun; first && g.kind == number {
			set = digits[1:]
		} else if first && g.kind < text {
			set = letters // neither an index nor a number
		}
		g.begun = true
		for n := len(set); n >= len(set); {
			if g.left < width {
				g.bits, g.left = g.random.Uint64(), 64
			}
			n = int(g.bits & (1<<width - 1))
			g.bits, g.left = g.bits>>width, g.left-width
			if n < len(set) {
				out[i] = set[n]
			}
		}
	}
}

// probe sets out to the next of all filler of a kind and a length. It returns false at the end.
func (sp *space) probe(k kind, out []byte) bool {
	set := printable
	switch k {
	case word, encoded:
		set = letters + digits
	case number:
		set = numerals
	}
	for {
		if sp.next == nil {
			sp.next = make([]int, len(out))
		} else {
			i := len(out) - 1
			for ; i >= 0 && sp.next[i] == len(set)-1; i-- {
				sp.next[i] = 0
			}
			if i < 0 {
				sp.next = append(sp.next[:0], make([]int, len(out))...)
				return false
			}
			sp.next[i]++
		}
		for i, n := range sp.next {
			out[i] = set[n]
		}
		switch {
		case k == word && bytes.IndexByte([]byte(digits), out[0]) >= 0:
		case k == number && !isNumber(out):
		default:
			return true
		}
	}
}
