package edit

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"iter"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/toolguard/toolguard/internal/source"
)

// A Leaf is a piece of recorded content: a scalar of a JSON text with the key right before
// it, "" in an array; or the key of an object or a list. Two leaves are the same if their
// keys and sums are.
//
// A leaf does not depend on the form of the value. A text has a leaf for each of its lines,
// without white space at the ends. A string that contains JSON has the leaves of that JSON. A
// number equals a text with the same digits. Null and empty values have only their key. So
// wrapping, joining and trimming a value keep its leaves, and so does encoding a value under
// a key of sayings.
type Leaf struct {
	Key string
	Sum Sum         // of the key and the value
	At  source.Span // the scalar that contains it
}

// A Sum is a hash of a multiset of leaves that does not depend on their order. It is valid
// only within the process.
type Sum [2]uint64

// Plus returns the sum of both multisets together.
func (s Sum) Plus(o Sum) Sum { return Sum{s[0] + o[0], s[1] + o[1]} }

// Minus returns the sum after the leaves of the other multiset are removed.
func (s Sum) Minus(o Sum) Sum { return Sum{s[0] - o[0], s[1] - o[1]} }

var seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

// sumOf returns the sum of one leaf.
func sumOf(key, value []byte) (out Sum) {
	for i, seed := range seeds {
		var both [16]byte
		binary.LittleEndian.PutUint64(both[:], maphash.Bytes(seed, key))
		binary.LittleEndian.PutUint64(both[8:], maphash.Bytes(seed, value))
		out[i] = maphash.Bytes(seed, both[:])
	}
	return out
}

// Total returns the sum of all leaves in a text.
func Total(text []byte) Sum { return total(text, "") }

// total is Total for a text that follows key.
func total(text []byte, key string) (out Sum) {
	f := finder{found: func(key, value []byte, _ source.Span) bool {
		out = out.Plus(sumOf(key, value))
		return true
	}}
	f.leaves(text, []byte(key), 0, nil, mostNested)
	return out
}

// changed returns the sums of the leaves of a text at offset base that follows key, and of the text after edits
// of it. It leaves out what is the same in both: the leaves before the edits, and those behind them if a finder
// goes on there in the same way.
func changed(was, is []byte, base int64, edits []Edit, key string) (a, b Sum) {
	if len(edits) == 0 {
		return a, b
	}
	first, left := int(edits[0].Span.Start-base), len(was)-int(edits[len(edits)-1].Span.End-base)
	// What is found before a token depends on nothing behind its first byte.
	begin, before := 0, []byte(key)
	skim := finder{next: func(at int, key []byte) bool {
		if at < first && strings.IndexByte(" \t\n\r", was[at]) < 0 {
			begin, before = at, key
		}
		return at < first
	}}
	skim.leaves(was, before, 0, nil, mostNested)
	total := func(text []byte, left int) (out Sum, rest int, key string) {
		text = text[begin:]
		f := finder{
			found: func(key, value []byte, _ source.Span) bool {
				out = out.Plus(sumOf(key, value))
				return true
			},
			next: func(at int, k []byte) bool {
				if len(text)-at > left {
					return true
				}
				rest, key = len(text)-at, string(k)
				return false
			},
		}
		f.leaves(text, before, 0, nil, mostNested)
		return out, rest, key
	}
	a, restOfA, keyOfA := total(was, left)
	b, restOfB, keyOfB := total(is, left)
	if restOfA != restOfB || keyOfA != keyOfB {
		a, _, _ = total(was, -1)
		b, _, _ = total(is, -1)
	}
	return a, b
}

// says reports whether a key is that of the content of a message, a call or a result. Repairs that change its
// form move it from one key to another, so these keys do not count.
func says(key []byte) bool {
	switch string(key) {
	case "content", "contents", "parts", "text", "output", "result", "response", "json", "value":
		return true
	}
	return asks(key)
}

// asks reports whether a key holds arguments. There the text null means no arguments.
func asks(key []byte) bool {
	switch string(key) {
	case "input", "args", "arguments", "parameters":
		return true
	}
	return false
}

// mostNested is how many levels of JSON inside strings are read.
const mostNested = 4

// Leaves yields the leaves in a part of a JSON text that begins and ends between tokens; base
// is the offset of its first byte. key is the key before the part, "" if there is none.
func Leaves(text []byte, key string, base int64) iter.Seq[Leaf] {
	return func(yield func(Leaf) bool) {
		f := finder{found: func(key, value []byte, at source.Span) bool { return yield(Leaf{string(key), sumOf(key, value), at}) }}
		f.leaves(text, []byte(key), base, nil, mostNested)
	}
}

// A finder finds leaves. The keys and values that it passes to found are valid until found
// returns. If found is nil, it only follows the text.
type finder struct {
	found func(key, value []byte, at source.Span) bool
	// next is called with each offset between tokens of the text itself and the key right before it. The
	// finder stops if it returns false. It may be nil.
	next func(at int, key []byte) bool
}

// leaves is Leaves. Leaves of JSON inside a string have the place of the string.
func (f *finder) leaves(text, key []byte, base int64, within *source.Span, levels int) bool {
	for i := 0; i < len(text); {
		if f.next != nil && within == nil && !f.next(i, key) {
			return false
		}
		from := i
		switch c := text[i]; c {
		case ' ', '\t', '\n', '\r':
			i++
			continue
		case '{', '[':
			if len(key) > 0 && !says(key) { // the values in it are leaves of their own
				at := source.Span{Start: base + int64(i), End: base + int64(i) + 1}
				if within != nil {
					at = *within
				}
				if !f.leaf(key, nil, at) {
					return false
				}
			}
			i++
			key = nil
			continue
		case '}', ']', ',', ':':
			i++
			key = nil
			continue
		case '"':
			i = stringEnd(text, i)
		default:
			for i < len(text) && strings.IndexByte(" \t\n\r{}[],:\"", text[i]) < 0 {
				i++
			}
		}
		token := text[from:i]
		at := source.Span{Start: base + int64(from), End: base + int64(i)}
		if within != nil {
			at = *within
		}
		if token[0] != '"' {
			null := string(token) == "null"
			if null {
				token = nil
			}
			if (!null || len(key) > 0 && !says(key)) && !f.leaf(key, token, at) {
				return false
			}
			key = nil
			continue
		}
		if next := behindColon(text, i); next > 0 {
			key, i = decoded(token), next
			continue
		}
		if f.found != nil && !f.saying(decoded(token), key, at, levels) {
			return false
		}
		key = nil
	}
	return true
}

func (f *finder) leaf(key, value []byte, at source.Span) bool {
	if f.found == nil {
		return true
	}
	if says(key) {
		key = nil
	}
	return f.found(key, value, at)
}

// saying finds the leaves of the text of a string.
func (f *finder) saying(said, key []byte, at source.Span, levels int) bool {
	said = bytes.TrimSpace(said)
	switch {
	case len(said) == 0:
		return len(key) == 0 || says(key) || f.leaf(key, nil, at)
	case asks(key) && string(said) == "null":
		return true
	}
	if len(said) > 0 && (said[0] == '{' || said[0] == '[') && levels > 0 && isJSON(said) {
		return f.leaves(said, nil, 0, &at, levels-1)
	}
	if bytes.IndexByte(said, '\n') < 0 {
		return f.leaf(key, said, at)
	}
	for line := range bytes.SplitSeq(said, []byte("\n")) {
		if line = bytes.TrimSpace(line); len(line) > 0 && !f.leaf(key, line, at) {
			return false
		}
	}
	return true
}

// isJSON reports whether a text is one JSON value that is not nested too deeply.
func isJSON(text []byte) bool {
	if text[len(text)-1] != text[0]+('}'-'{') { // both closing brackets have the same distance to their opening ones
		return false
	}
	s := source.NewScanner().Scan(text, 0, source.Strict)
	return s.Kind == source.FaultNone && s.End == len(text)
}

// stringEnd returns the offset after the string that begins at an offset.
func stringEnd(text []byte, at int) int {
	quote := at // the next quote, once it is after i
	for i := at + 1; i < len(text); {
		if quote < i {
			n := bytes.IndexByte(text[i:], '"')
			if n < 0 {
				break
			}
			quote = i + n
		}
		back := bytes.IndexByte(text[i:quote], '\\')
		if back < 0 {
			return quote + 1
		}
		i += back + 2 // after the escaped character
	}
	return len(text)
}

// behindColon returns the offset after the next colon, 0 if none follows.
func behindColon(text []byte, i int) int {
	for ; i < len(text); i++ {
		switch text[i] {
		case ' ', '\t', '\n', '\r':
		case ':':
			return i + 1
		default:
			return 0
		}
	}
	return 0
}

// LongestKey is the number of bytes before a value in which its key is searched.
const LongestKey = 512

// KeyBefore returns the key right before the end of text, "" if there is none.
func KeyBefore(text []byte) string {
	text = bytes.TrimRight(text, " \t\n\r")
	rest, behind := bytes.CutSuffix(text, []byte(":"))
	if !behind {
		return ""
	}
	if rest = bytes.TrimRight(rest, " \t\n\r"); len(rest) < 2 || rest[len(rest)-1] != '"' {
		return ""
	}
	for i := len(rest) - 2; i >= 0; i-- {
		if rest[i] != '"' {
			continue
		}
		slashes := 0
		for i-slashes > 0 && rest[i-slashes-1] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return string(decoded(rest[i:]))
		}
	}
	return ""
}

// decoded returns the text of a JSON string. An unpaired half of a surrogate pair stays
// escaped, so that it differs from others.
func decoded(token []byte) []byte {
	inner := bytes.TrimSuffix(token[1:], []byte(`"`))
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	out := make([]byte, 0, len(inner))
	for i := 0; i < len(inner); {
		if inner[i] != '\\' || i+1 == len(inner) {
			out = append(out, inner[i])
			i++
			continue
		}
		switch c := inner[i+1]; c {
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r, pair := hex4(inner, i), hex4(inner, i+6)
			switch whole := utf16.DecodeRune(r, pair); {
			case whole != utf8.RuneError:
				out = utf8.AppendRune(out, whole)
				i += 12
			case r < 0 || utf16.IsSurrogate(r):
				end := min(i+6, len(inner))
				out = append(out, bytes.ToLower(inner[i:end])...)
				i = end
			default:
				out = utf8.AppendRune(out, r)
				i += 6
			}
			continue
		default:
			out = append(out, c)
		}
		i += 2
	}
	return out
}

// hex4 returns the value of the \u escape at an offset, -1 if there is none.
func hex4(text []byte, i int) rune {
	if i+6 > len(text) || text[i] != '\\' || text[i+1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(text[i+2:i+6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}
