package bench

import (
	"fmt"
	"strconv"
	"unicode/utf16"
)

// An object is a JSON object that keeps the order of its fields. Values are objects, lists,
// texts, numbers, booleans and nil.
type (
	object []field
	list   []any
	field  struct {
		key   string
		value any
	}
)

// A layout is the format in which a program writes JSON. The zero value is the format of
// JavaScript's JSON.stringify.
type layout struct {
	spaced bool // spaces after commas and colons
	ascii  bool // other characters are escaped
	indent int  // spaces for each level, on separate lines
}

// python is the format of json.dumps.
func python() layout { return layout{spaced: true, ascii: true} }

// write appends v, at nesting level depth, to b.
func (l layout) write(b []byte, v any, depth int) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case bool:
		return strconv.AppendBool(b, v)
	case int:
		return strconv.AppendInt(b, int64(v), 10)
	case string:
		return l.quote(b, v)
	case list:
		b = append(b, '[')
		for i, e := range v {
			b = l.write(l.separate(b, i, depth+1), e, depth+1)
		}
		return append(l.finish(b, len(v), depth), ']')
	case object:
		b = append(b, '{')
		for i, f := range v {
			b = append(l.quote(l.separate(b, i, depth+1), f.key), ':')
			if l.spaced || l.indent > 0 {
				b = append(b, ' ')
			}
			b = l.write(b, f.value, depth+1)
		}
		return append(l.finish(b, len(v), depth), '}')
	}
	panic(fmt.Sprintf("bench: a value of type %T", v))
}

// separate appends the text before the element with the given index.
func (l layout) separate(b []byte, index, depth int) []byte {
	if index > 0 {
		b = append(b, ',')
		if l.spaced {
			b = append(b, ' ')
		}
	}
	return l.line(b, depth)
}

// finish appends the text between the last of n elements and the bracket.
func (l layout) finish(b []byte, n, depth int) []byte {
	if n == 0 {
		return b
	}
	return l.line(b, depth)
}

func (l layout) line(b []byte, depth int) []byte {
	if l.indent == 0 {
		return b
	}
	b = append(b, '\n')
	for range l.indent * depth {
		b = append(b, ' ')
	}
	return b
}

func (l layout) quote(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i, c := range s {
		short := byte(0)
		switch c {
		case '"', '\\':
			short = byte(c)
		case '\n':
			short = 'n'
		case '\r':
			short = 'r'
		case '\t':
			short = 't'
		default:
			if c >= ' ' && (c < 0x80 || !l.ascii) {
				continue
			}
		}
		b = append(b, s[from:i]...)
		from = i + len(string(c))
		switch {
		case short != 0:
			b = append(b, '\\', short)
		case c < 0x10000:
			b = escape(b, c)
		default:
			high, low := utf16.EncodeRune(c)
			b = escape(escape(b, high), low)
		}
	}
	return append(append(b, s[from:]...), '"')
}

func escape(b []byte, c rune) []byte {
	return append(b, '\\', 'u', hexadecimal[c>>12&15], hexadecimal[c>>8&15], hexadecimal[c>>4&15], hexadecimal[c&15])
}

// text returns v as a JSON text, as APIs return arguments.
func (l layout) text(v any) string { return string(l.write(nil, v, 0)) }
