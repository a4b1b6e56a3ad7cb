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

// A Leaf is recorded content: a scalar of a JSON text and the key right before
// it, "" in an array; or the key of an object or a list. Two leaves are the same if
// their keys and sums are. What is said in another form is the same leaf: a text is a
// leaf for each of its lines, without white space at their ends, JSON inside of a
// string is the leaves of that JSON, a number and a text that says the same are one,
// and of null and of what is empty the key is all there is. So wrapping, joining and
// trimming a value leave its leaves as they are, and so does encoding what stands
// under one of the keys that count as none.
type Leaf struct {
	Key string
	Sum Sum         // of the key and the value
	At  source.Span // the scalar that holds it
}

// A Sum is a hash of a multiset of leaves that does not depend on their order. It
// is good for one run of the process.
type Sum [2]uint64

// Plus returns the sum of both multisets together.
func (s Sum) Plus(o Sum) Sum { return Sum{s[0] + o[0], s[1] + o[1]} }

// Minus returns the sum of what is left when the other multiset is taken out.
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

// total is Total for a text whose head stands behind key.
func total(text []byte, key string) (out Sum) {
	f := finder{found: func(key, value []byte, _ source.Span) bool {
		out = out.Plus(sumOf(key, value))
		return true
	}}
	f.leaves(text, []byte(key), 0, nil, mostNested)
	return out
}

// sayings are the keys under which dialects keep what somebody or some tool said.
// A repair of its form moves it from one to the other, so that they count as none.
var sayings = map[string]bool{
	"content": true, "contents": true, "parts": true, "text": true, "output": true, "result": true, "response": true, "json": true, "value": true,
	"input": true, "args": true, "arguments": true, "parameters": true,
}

// asking are those of them that hold arguments, where the text null is none.
var asking = map[string]bool{"input": true, "args": true, "arguments": true, "parameters": true}

// mostNested is how deep JSON inside of strings of JSON is looked into.
const mostNested = 4

// Leaves yields the leaves in a piece of JSON that begins and ends between
// tokens; base is the offset of its first byte. A scalar at its head stands
// behind key.
func Leaves(text []byte, key string, base int64) iter.Seq[Leaf] {
	return func(yield func(Leaf) bool) {
		f := finder{found: func(key, value []byte, at source.Span) bool { return yield(Leaf{string(key), sumOf(key, value), at}) }}
		f.leaves(text, []byte(key), base, nil, mostNested)
	}
}

// A finder tells of leaves: their keys and values are good until it goes on.
type finder struct {
	found func(key, value []byte, at source.Span) bool
}

// leaves is Leaves. Those of JSON inside of a string stand where the string does.
func (f *finder) leaves(text, key []byte, base int64, within *source.Span, levels int) bool {
	for i := 0; i < len(text); {
		from := i
		switch c := text[i]; c {
		case ' ', '\t', '\n', '\r':
			i++
			continue
		case '{', '[':
			if len(key) > 0 && !sayings[string(key)] { // what it holds are leaves of their own
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
			if (!null || len(key) > 0 && !sayings[string(key)]) && !f.leaf(key, token, at) {
				return false
			}
			key = nil
			continue
		}
		said := decoded(token)
		if next := behindColon(text, i); next > 0 {
			key, i = said, next
			continue
		}
		if !f.saying(said, key, at, levels) {
			return false
		}
		key = nil
	}
	return true
}

func (f *finder) leaf(key, value []byte, at source.Span) bool {
	if sayings[string(key)] {
		key = nil
	}
	return f.found(key, value, at)
}

// saying finds the leaves of what a string says.
func (f *finder) saying(said, key []byte, at source.Span, levels int) bool {
	said = bytes.TrimSpace(said)
	switch {
	case len(said) == 0:
		return len(key) == 0 || sayings[string(key)] || f.leaf(key, nil, at)
	case asking[string(key)] && string(said) == "null":
		return true
	}
	if len(said) > 0 && (said[0] == '{' || said[0] == '[') && levels > 0 && isJSON(said) {
		return f.leaves(said, nil, 0, &at, levels-1)
	}
	for line := range bytes.SplitSeq(said, []byte("\n")) {
		if line = bytes.TrimSpace(line); len(line) > 0 && !f.leaf(key, line, at) {
			return false
		}
	}
	return true
}

// isJSON reports whether a text is one JSON value that is not nested too deep.
func isJSON(text []byte) bool {
	if text[len(text)-1] != text[0]+('}'-'{') { // so far behind a bracket its counterpart is, of either kind
		return false
	}
	s := source.NewScanner().Scan(text, 0, source.Strict)
	return s.Kind == source.FaultNone && s.End == len(text)
}

// stringEnd returns the offset behind the string that begins at an offset.
func stringEnd(text []byte, at int) int {
	quote := at // the next one, once it is behind i
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
		i += back + 2 // behind what is escaped
	}
	return len(text)
}

// behindColon returns the offset behind the colon that comes next, 0 where none
// does.
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

// LongestKey is how far a key is looked for before its value, in bytes.
const LongestKey = 512

// KeyBefore returns the key right before an offset, "" where none is; text ends at
// the offset.
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

// decoded returns what a JSON string says. A half of a surrogate pair that is alone
// stays as it is written, so that it is told from others.
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

// hex4 returns what the \u escape at an offset says, -1 where none stands.
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
