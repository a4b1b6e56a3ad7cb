package redact

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"hash/maphash"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A shape says what filler for a text looks like.
type shape uint8

const (
	shapeText   shape = iota // letters
	shapeName                // letters of the same case, digits for digits, and the same separators
	shapeHex                 // shapeName with hexadecimal digits only
	shapeNumber              // digits for digits
	shapeWord                // a word outside strings, where no JSON may arise
)

const (
	longestName   = 64  // providers accept no longer ids and names
	longestToken  = 256 // without white space
	longestPrefix = 32  // of ids
	enoughBits    = 64  // filler of so many random bits is never equal by chance
	longestSearch = 512 // for pieces of the original in its filler
	window        = 6   // the shortest piece that must not survive
	attempts      = 64  // to find filler without a coincidence
	mostAttempts  = 1 << 10
	fewAttempts   = 8       // if most of them fail
	mostOthers    = 1 << 18 // owners that are neither ids nor names
	spared        = 32      // how many attempts a text may take on average
)

// Runes that are no characters: a byte b that is not UTF-8 is notUTF8-b, and half of a
// surrogate pair is itself.
const notUTF8 = -1

// A filler replaces texts. With the same key, it replaces equal texts by equal filler and
// different ones by different filler, and the filler says nothing about the text but its length
// and its shape.
type filler struct {
	key []byte
	// words are never filler, because a reader would see them.
	words  *vocabulary
	mac    hash.Hash
	random *rand.ChaCha8
	// Texts with little filler to choose from could get the same. owners are the hashes of these
	// texts by those of their filler, and tries is how many attempts one took if it took more
	// than the first. Of numbers and words of content, only some are there.
	owners map[uint64]uint64
	tries  map[uint64]uint16
	seed   maphash.Seed
	// spare is how many attempts may fail until fewer are made. Each text adds some, so that
	// the time is linear even if there is no filler left.
	spare      int
	mostOthers int
	others     int // how many owners are neither ids nor names
	adding     sum // of one text at a time
}

func newFiller(key []byte, words *vocabulary) *filler {
	return &filler{
		key: key, words: words, mac: hmac.New(sha256.New, key), random: rand.NewChaCha8([32]byte{}),
		owners: map[uint64]uint64{}, tries: map[uint64]uint16{}, seed: maphash.MakeSeed(), spare: 1 << 18, mostOthers: mostOthers,
	}
}

// A sum is the keyed hash of a text.
type sum struct {
	mac hash.Hash
	n   int
	buf [1 << 8]byte
}

func (f *filler) newSum(as shape) *sum {
	f.mac.Reset()
	s := &f.adding
	s.mac, s.n = f.mac, copy(s.buf[:], []byte{byte(as), 0, 1})
	return s
}

func (s *sum) add(r rune) {
	if s.n+4 > len(s.buf) {
		s.mac.Write(s.buf[:s.n])
		s.n = 0
	}
	s.buf[s.n], s.buf[s.n+1], s.buf[s.n+2], s.buf[s.n+3] = byte(r>>24), byte(r>>16), byte(r>>8), byte(r)
	s.n += 4
}

func (s *sum) end() (out [sha256.Size]byte) {
	s.mac.Write(s.buf[:s.n])
	s.mac.Sum(s.buf[:0])
	copy(out[:], s.buf[:])
	return out
}

// shapeOf returns the shape of the filler for a string.
func shapeOf(in []rune) shape {
	if len(in) > longestToken {
		return shapeText
	}
	hex, space := true, false
	in = in[len(idPrefix(in)):]
	for _, r := range in {
		switch {
		case unicode.IsSpace(r):
			space = true
		case '0' <= r && r <= '9', 'a' <= r && r <= 'f', 'A' <= r && r <= 'F', r == '-':
			continue
		}
		hex = false
	}
	switch {
	case space && len(in) > longestName:
		return shapeText
	case hex && len(in) >= 8:
		return shapeHex
	}
	return shapeName
}

// fill returns filler of the same length for a text. Each character takes as many bytes in
// UTF-8 as the one that it replaces.
func (f *filler) fill(as shape, in []rune) []rune {
	s := f.newSum(as)
	var about facts
	for _, c := range in {
		s.add(c)
		about.add(c)
	}
	seed := s.end()
	prefix := idPrefix(in)
	want := keptPrefix(as, prefix)
	few := bits(as, in[len(want):]) < enoughBits
	id := binary.LittleEndian.Uint64(seed[:])
	out := make([]rune, len(in))
	attempt := func(try int) []rune {
		g := f.generator(as, seed, try, &about, prefix, len(in) >= window || try < attempts/2)
		for i, c := range in {
			out[i] = g.next(c)
		}
		return out
	}
	most := mostAttempts // to find filler that no other text has
	name := as == shapeName || as == shapeHex
	// From here on, others depend on the same owners, so equal ones stay equal.
	full := !name && f.others >= f.mostOthers
	if f.spare < 0 || full {
		most = fewAttempts
	}
	for try := range mostAttempts {
		attempt(try)
		if !few {
			if try < attempts && f.coincides(in, out, want) {
				continue
			}
			break
		}
		filled := f.of(as, out)
		owner, taken := f.owners[filled]
		if taken && owner == id {
			break
		}
		bad := try < attempts && f.coincides(in, out, want)
		if try == 0 && (taken || bad) {
			if try, known := f.tries[id]; known {
				return attempt(int(try))
			}
		}
		// There are few short texts of a form. Different filler for different texts matters most.
		if taken && try+1 < most || bad {
			continue
		}
		if full {
			break
		}
		f.spare += spared - try
		if !taken {
			f.owners[filled] = id
		}
		if !name {
			f.others++
		}
		if try > 0 {
			f.tries[id] = uint16(try)
		}
		break
	}
	return out
}

// coincides reports whether filler has a meaning by chance, or a piece of the text.
func (f *filler) coincides(in, out []rune, prefix string) bool {
	return len(out) <= longestKept && f.words.words[string(out)] || survives(in[len(prefix):], out[len(prefix):]) || idPrefix(out) != prefix
}

// of returns the hash of filler among that of its kind. Nobody compares a number or what is said
// with an id.
func (f *filler) of(as shape, out []rune) uint64 {
	var buf [4 * enoughBits]byte
	text := buf[:0]
	if as != shapeName && as != shapeHex {
		text = append(text, byte(as))
	}
	for _, r := range out {
		text = append(text, byte(r>>24), byte(r>>16), byte(r>>8), byte(r))
	}
	return maphash.Bytes(f.seed, text)
}

// bits returns at least how many random bits filler for a text has, up to enoughBits.
func bits(as shape, in []rune) int {
	n := 0
	for _, r := range in {
		switch {
		case r == '_' || r == '-' || r == '.' || r == ':' || stays(r):
			if as == shapeText && !stays(r) {
				n += 5
			}
		case '0' <= r && r <= '9':
			n += 3
		case r < 0 || as == shapeHex:
			n += 2
		case as == shapeNumber: // the e of an exponent
		default:
			n += 3
		}
		if n >= enoughBits {
			break
		}
	}
	return n
}

// survives reports whether a piece of a text is in its filler, by chance. A piece without
// letters and digits says nothing.
func survives(in, out []rune) bool {
	if len(in) < window || len(in) > longestSearch {
		return false
	}
	var some [1 << 8]uint64 // the hashes of the pieces, as a set of bits
	at := func(piece []rune) (int, uint64) {
		h := uint64(0)
		for _, r := range piece {
			h = (h + uint64(uint32(r))) * 0x9e3779b97f4a7c15
		}
		return int(h >> 56), 1 << (h >> 50 & 63)
	}
	for i := range len(in) - window + 1 {
		word, bit := at(in[i : i+window])
		some[word] |= bit
	}
	for i := range len(out) - window + 1 {
		piece := out[i : i+window]
		if word, bit := at(piece); some[word]&bit == 0 || !slices.ContainsFunc(piece, tells) {
			continue
		}
		for k := range len(in) - window + 1 {
			if slices.Equal(in[k:k+window], piece) {
				return true
			}
		}
	}
	return false
}

// tells reports whether a rune is a letter, a digit or the like.
func tells(r rune) bool { return !stays(r) && !strings.ContainsRune("_-.:", r) && r != '0' }

// stays reports whether filler keeps a rune, because it decides how the text around it is
// read: white space, control characters, and what is written as an escape of two characters.
func stays(r rune) bool {
	return r >= 0 && (r <= ' ' || r == '"' || r == '\\' || r == '/' || r == utf8.RuneError || r == '\uFEFF' || r > unicode.MaxLatin1 && unicode.IsSpace(r))
}

// facts are what filler depends on of a text as a whole.
type facts struct {
	n                  int
	words              int  // behind the last character that is no white space
	fraction, exponent int  // of a number: behind the dot and the e, or 0
	notZero            bool // the fraction is not zero
}

// add adds a character of the text.
func (f *facts) add(r rune) {
	f.n++
	switch {
	case r == '.' && f.fraction == 0:
		f.fraction = f.n
	case (r == 'e' || r == 'E') && f.exponent == 0:
		f.exponent = f.n
	case f.fraction > 0 && f.exponent == 0 && r != '0':
		f.notZero = true
	}
	if !unicode.IsSpace(r) {
		f.words = f.n
	}
}

// A generator makes filler from random numbers, one character after the other.
type generator struct {
	random *rand.ChaCha8
	as     shape
	other  bool // no character may be that of the original
	facts  *facts
	prefix string // of ids, with which the text begins

	i     int  // the characters that were made
	from  int  // where filler begins
	begun bool // from is known
	tag   bool // the text begins with a tag, which has not ended
	run   int  // of separators
	digit bool // a digit of a number was made
}

// generator returns the generator for an attempt with a seed.
func (f *filler) generator(as shape, seed [sha256.Size]byte, try int, about *facts, prefix string, other bool) generator {
	seed[0] ^= byte(try >> 8)
	seed[1] ^= byte(try)
	f.random.Seed(seed)
	return generator{random: f.random, as: as, other: other, facts: about, prefix: prefix}
}

const (
	lower = "abcdefghijklmnopqrstuvwxyz"
	upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digit = "0123456789"
	marks = "!#$%&*+,;=?@^~" // neither quotes nor brackets
	// inert are the letters that no literal of JSON has.
	inert = "bcdghijkmopqvwxyz"
)

// among returns one of some characters, but not r.
func (g *generator) among(set string, r rune) rune {
	at := strings.IndexRune(set, r)
	if at < 0 || !g.other || len(set) == 1 {
		return rune(set[g.random.Uint64()%uint64(len(set))])
	}
	i := int(g.random.Uint64() % uint64(len(set)-1))
	if i >= at {
		i++
	}
	return rune(set[i])
}

// between returns a rune of the range [lo, lo+n), but not r.
func (g *generator) between(lo rune, n uint64, r rune) rune {
	out := lo + rune(g.random.Uint64()%n)
	if out == r {
		out = lo + (out-lo+1)%rune(n)
	}
	return out
}

// next returns filler for the next character.
func (g *generator) next(r rune) rune {
	i := g.i
	g.i++
	if g.as == shapeNumber {
		return g.number(i, r)
	}
	if !g.begun && g.start(i, r) || i < g.from {
		return r
	}
	if r != '_' && r != '-' && r != '.' && r != ':' {
		g.run = 0
	} else {
		g.run++
	}
	switch {
	case i >= g.facts.words:
		return r
	case r == '>' && g.tag && i-g.from <= longestToken:
		g.tag = false
		return r
	case r == ' ' && g.as == shapeText && i > g.from:
		return g.among(lower, r)
	}
	return g.rune(r, g.run)
}

// start reports whether the ith character is white space at the start or a bracket. The beginning
// of a text that decides how the text is read stays: these, and the prefix of an id. Of a text that
// begins with a tag, the brackets of the tag stay.
func (g *generator) start(i int, r rune) bool {
	switch {
	case g.as == shapeWord:
		g.begun = true
	case unicode.IsSpace(r):
		return true
	case strings.ContainsRune("[{<", r):
		g.begun, g.from, g.tag = true, i+1, r == '<'
		return true
	default:
		g.begun, g.from = true, i
		if i == 0 {
			g.from = len(keptPrefix(g.as, g.prefix))
		}
	}
	return false
}

// keptPrefix returns the prefix of an id if filler of a shape keeps it.
func keptPrefix(as shape, prefix string) string {
	if as == shapeName || as == shapeHex {
		return prefix
	}
	return ""
}

// idPrefix returns the longest prefix of ids with which a text begins.
func idPrefix(in []rune) string {
	best := ""
	for _, p := range idPrefixes {
		if len(p) > len(best) && len(p) < len(in) && rune(p[0]) == in[0] && beginsWith(in, p) {
			best = p
		}
	}
	return best
}

// beginsWith reports whether a text begins with letters of ASCII.
func beginsWith(in []rune, letters string) bool {
	for i, c := range letters {
		if in[i] != c {
			return false
		}
	}
	return true
}

// rune returns filler for a character, which is the nth of a run of separators.
func (g *generator) rune(r rune, run int) rune {
	switch {
	case r < 0:
		return notUTF8 - 0xF8 - rune(g.random.Uint64()%6) // bytes that are in no character
	case 0xD800 <= r && r < 0xDC00:
		return g.between(0xD800, 0x400, r)
	case 0xDC00 <= r && r < 0xE000:
		return g.between(0xDC00, 0x400, r)
	case stays(r):
		return r
	case r >= 0x10000:
		return g.between(0x20000, 0xA000, r)
	case r >= 0x800:
		return g.between(0x4E00, 0x5200, r)
	case r >= 0x80:
		return g.between(0x100, 0x80, r)
	case g.as == shapeText:
		return g.among(lower+upper, r)
	case g.as == shapeWord:
		return g.word(r)
	case '0' <= r && r <= '9':
		return g.among(digit, r)
	case 'a' <= r && r <= 'z':
		return g.among(lower[:g.letters()], r)
	case 'A' <= r && r <= 'Z':
		return g.among(upper[:g.letters()], r)
	case run > 0 && run <= 3:
		return r
	case r == '_' || r == '-':
		return '_' + '-' - r
	case r == '.' || r == ':':
		return '.' + ':' - r
	}
	return g.among(marks, r)
}

// letters returns how many letters of the alphabet filler has.
func (g *generator) letters() int {
	if g.as == shapeHex {
		return 6
	}
	return len(lower)
}

// word returns filler for a character outside strings.
func (g *generator) word(r rune) rune {
	switch {
	case '0' <= r && r <= '9', 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', r == '_':
		return g.among(inert, r)
	}
	return g.among("!#$%&*;=?@^~", r)
}

// number returns filler for the ith character of a number. Zeros at the start, and fractions that
// are zero, decide what kind of number it is.
func (g *generator) number(i int, r rune) rune {
	if r < '0' || r > '9' {
		return r
	}
	first := !g.digit
	g.digit = true
	n, fraction, exponent := g.facts.n, g.facts.n, g.facts.n
	if g.facts.fraction > 0 {
		fraction = g.facts.fraction - 1
	}
	if g.facts.exponent > 0 {
		exponent = g.facts.exponent - 1
	}
	switch {
	case first && r == '0':
		return r
	case first:
		return g.among(digit[1:], r)
	case !g.facts.notZero && i > fraction && i < exponent:
		return r
	case i > exponent && n-exponent <= 4: // a huge exponent would be no number
		return r
	}
	return g.among(digit, r)
}
