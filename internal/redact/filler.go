package redact

import (
	"crypto/hmac"
	"crypto/sha256"
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
	longestShared = 24  // longer filler for two texts is never equal by chance
	longestSearch = 512 // for pieces of the original in its filler
	window        = 6   // the shortest piece that must not survive
	attempts      = 64  // to find filler without a coincidence
	mostAttempts  = 1 << 10
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
	words *vocabulary
	// made is the filler of short texts, by their hash, and taken is the set of that filler.
	made  map[[sha256.Size]byte][]rune
	taken map[string]bool
}

func newFiller(key []byte, words *vocabulary) *filler {
	return &filler{key: key, words: words, made: map[[sha256.Size]byte][]rune{}, taken: map[string]bool{}}
}

// sum returns the keyed hash of a text.
func (f *filler) sum(as shape, in []rune, try uint16) (out [sha256.Size]byte) {
	h := hmac.New(sha256.New, f.key)
	buf := make([]byte, 0, 1<<10)
	buf = append(buf, byte(as), byte(try>>8), byte(try))
	for _, r := range in {
		if len(buf)+4 > cap(buf) {
			h.Write(buf)
			buf = buf[:0]
		}
		buf = append(buf, byte(r>>24), byte(r>>16), byte(r>>8), byte(r))
	}
	h.Write(buf)
	h.Sum(out[:0])
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
	short := len(in) <= longestShared
	id := f.sum(as, in, 0)
	if out, known := f.made[id]; short && known {
		return out
	}
	var out []rune
	n := len([]rune(idPrefix(in)))
	for try := range mostAttempts {
		seed := f.sum(as, in, uint16(1+try))
		g := generator{rand.NewChaCha8(seed), as, len(in) >= window || try < attempts/2}
		out = g.text(in)
		// There are few short texts of a form. Different filler for different texts matters most.
		if short && f.taken[string(out)] {
			continue
		}
		if try >= attempts || !f.words.words[string(out)] && !survives(in[n:], out[n:]) && idPrefix(out) == idPrefix(in) {
			break
		}
	}
	if short {
		f.made[id], f.taken[string(out)] = out, true
	}
	return out
}

// survives reports whether a piece of a text is in its filler, by chance. A piece without
// letters and digits says nothing.
func survives(in, out []rune) bool {
	if len(in) < window || len(in) > longestSearch {
		return false
	}
	pieces := map[[window]rune]bool{}
	for i := range len(in) - window + 1 {
		if piece := [window]rune(in[i:]); slices.ContainsFunc(piece[:], tells) {
			pieces[piece] = true
		}
	}
	for i := range len(out) - window + 1 {
		if pieces[[window]rune(out[i:])] {
			return true
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

// A generator makes filler from random numbers.
type generator struct {
	random *rand.ChaCha8
	as     shape
	other  bool // no character may be that of the original
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

// text returns filler for a text.
func (g *generator) text(in []rune) []rune {
	out := make([]rune, len(in))
	from := 0
	switch g.as {
	case shapeNumber:
		return g.number(in, out)
	case shapeText, shapeName, shapeHex:
		from = g.start(in, out)
	}
	words := len(in) // from here on, white space ends the text
	for words > from && unicode.IsSpace(in[words-1]) {
		words--
	}
	tag := from > 0 && in[from-1] == '<'
	run := 0 // of separators
	for i := from; i < len(in); i++ {
		r := in[i]
		if r != '_' && r != '-' && r != '.' && r != ':' {
			run = 0
		} else {
			run++
		}
		switch {
		case i >= words:
			out[i] = r
		case r == '>' && tag && i-from <= longestToken:
			out[i], tag = r, false
		case r == ' ' && g.as == shapeText && i > from:
			out[i] = g.among(lower, r)
		default:
			out[i] = g.rune(r, run)
		}
	}
	return out
}

// start copies the beginning of a text that decides how the text is read, and returns its
// length: white space, a bracket, and the prefix of an id. Of a text that begins with a tag,
// it keeps the brackets of the tag.
func (g *generator) start(in, out []rune) int {
	n := 0
	for n < len(in) && unicode.IsSpace(in[n]) {
		out[n] = in[n]
		n++
	}
	if n < len(in) && strings.ContainsRune("[{<", in[n]) {
		out[n] = in[n]
		return n + 1
	}
	if (g.as == shapeName || g.as == shapeHex) && n == 0 {
		n = copy(out, []rune(idPrefix(in)))
	}
	return n
}

// idPrefix returns the longest prefix of ids with which a text begins.
func idPrefix(in []rune) string {
	best := ""
	text := string(in[:min(len(in), 32)])
	for _, p := range idPrefixes {
		if len(p) > len(best) && len(p) < len(in) && strings.HasPrefix(text, p) {
			best = p
		}
	}
	return best
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

// number writes filler for a number. Zeros at the start, and fractions that are zero, decide
// what kind of number it is.
func (g *generator) number(in, out []rune) []rune {
	fraction, exponent := len(in), len(in)
	for i, r := range in {
		switch r {
		case '.':
			fraction = min(fraction, i)
		case 'e', 'E':
			exponent = min(exponent, i)
		}
	}
	whole := fraction < exponent && strings.Trim(string(in[fraction+1:exponent]), "0") == ""
	first := true
	for i, r := range in {
		out[i] = r
		if r < '0' || r > '9' {
			continue
		}
		switch {
		case first && r == '0':
		case first:
			out[i] = g.among(digit[1:], r)
		case whole && i > fraction && i < exponent:
		case i > exponent && len(in)-exponent <= 4: // a huge exponent would be no number
		default:
			out[i] = g.among(digit, r)
		}
		first = false
	}
	return out
}
