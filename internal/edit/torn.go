package edit

import (
	"bytes"
	"iter"
	"strings"
)

// Complete yields the leaves that are complete in a JSON object or array that is cut off. The
// last token is complete only if something shows that it ends there, and a key only with its
// value.
func Complete(text []byte) iter.Seq[Leaf] {
	end, _ := whole(text)
	return Leaves(text[:end], "", 0)
}

// A Rest is what follows the complete leaves of a JSON text that is cut off, as it is written: a key
// without its value, or a part of one, and a part of a value. They are nil if there are none.
type Rest struct{ Key, Value []byte }

// RestOf returns what Complete leaves out.
func RestOf(text []byte) Rest {
	_, rest := whole(text)
	return rest
}

// whole returns the end of what is complete in a JSON text that is cut off, and the token behind it.
func whole(text []byte) (end int, rest Rest) {
	var open []byte // the brackets that are open
	isKey := false  // the next token is a key
	for i := 0; i < len(text); {
		from, ends, key := i, true, isKey
		switch c := text[i]; c {
		case ' ', '\t', '\n', '\r':
			i++
			continue
		case ':':
			isKey = false
			i++
			continue
		case '{', '[':
			open, isKey = append(open, c), c == '{'
			i++
		case '}', ']':
			open, isKey = open[:max(0, len(open)-1)], false
			i++
		case ',':
			isKey = len(open) > 0 && open[len(open)-1] == '{'
			i++
		case '"':
			if i, ends = stringIn(text, i); ends && isKey {
				rest.Key = text[from:i]
				continue
			}
		default:
			for i < len(text) && strings.IndexByte(" \t\n\r{}[],:\"", text[i]) < 0 {
				i++
			}
			ends = i < len(text)
		}
		switch {
		case ends:
			end, rest = i, Rest{}
		case key:
			rest.Key = text[from:i]
		default:
			rest.Value = text[from:i]
		}
	}
	return end, rest
}

// stringIn returns the offset after the string that begins at an offset, and whether the string
// ends before the text does.
func stringIn(text []byte, at int) (end int, ends bool) {
	for i := at + 1; i < len(text); i++ {
		n := bytes.IndexAny(text[i:], `"\`)
		if n < 0 {
			break
		}
		if i += n; text[i] == '"' {
			return i + 1, true
		}
		i++ // the escaped character
	}
	return len(text), false
}
