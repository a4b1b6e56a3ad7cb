package source

import (
	"encoding/binary"
	"math"
	"math/bits"
	"unicode/utf8"
)

// A portable scanner is a single pass in plain Go that handles eight bytes at a time
// where possible. It does not recurse: each level of nesting costs one byte.
type portable struct {
	// open holds the bracket of each container around the current value.
	open [MaxDepth]byte
	ends ends
	src  *Source // whose context ends scans, or nil
}

func (p *portable) Scan(text []byte, pos int, mode ScanMode) Scan {
	s := p.begin(text, pos, mode)
	p.run(text, &s, math.MaxInt)
	return s
}

func (p *portable) Resume(text []byte, s Scan) Scan {
	if p.again(text, &s) {
		p.run(text, &s, math.MaxInt)
	}
	return s
}

func (p *portable) remember(least int, of *pages) { p.ends.least, p.ends.pages = least, of }

func (p *portable) watch(src *Source) { p.src = src }

// begin starts a scan at text[pos].
func (p *portable) begin(text []byte, pos int, mode ScanMode) Scan {
	p.ends.begin(len(text))
	start := SkipBlank(text, pos)
	return Scan{Start: start, next: start, mode: mode, ends: &p.ends, turn: p.ends.turn, of: p.src, look: start + lookEvery}
}

// again prepares a scan to continue with more text and reports whether it can.
func (p *portable) again(text []byte, s *Scan) bool {
	if s.Kind != FaultTruncated {
		return false
	}
	p.ends.grow(len(text))
	if s.next == s.Start && s.depth == 0 {
		s.Start = SkipBlank(text, s.Start)
		s.next = s.Start
	}
	s.Kind, s.At, s.Want, s.InString = FaultNone, 0, "", false
	return true
}

// run continues from s.next until the value ends or the scan cannot go on, and then
// returns true. It returns false if it stops at the end of a nested value at or after
// until. Resume continues from there.
func (p *portable) run(text []byte, s *Scan, until int) bool {
	var (
		i     = s.next
		depth = s.depth
		mark  int // where to resume when the text ends: at a value or a ','
		ok    bool
	)
	if s.after {
		goto after
	}

value:
	if i < len(text) && text[i] <= ' ' {
		i = SkipBlank(text, i)
	}
	mark = i
	if i >= len(text) {
		s.cut(text, mark, depth, false, p.wantValue(text, s, depth))
		return true
	}
	switch c := text[i]; c {
	case '"':
		if i, ok = scanString(text, i+1, s); !ok {
			s.resume(mark, depth, false)
			return true
		}
		p.ends.add(mark, i)
	case '{':
		if depth == MaxDepth {
			s.fail(FaultTooDeep, i, wantDepth)
			return true
		}
		i = SkipBlank(text, i+1)
		if i >= len(text) {
			s.cut(text, mark, depth, false, wantFirstMember)
			return true
		}
		p.open[depth] = '{'
		if text[i] == '}' {
			i++
			p.ends.add(mark, i)
			break
		}
		if text[i] != '"' {
			s.fail(FaultInvalidJSON, i, wantFirstMember)
			return true
		}
		if i, ok = scanName(text, i, s); !ok {
			s.resume(mark, depth, false)
			return true
		}
		p.ends.open(mark, depth)
		depth++
		goto value
	case '[':
		if depth == MaxDepth {
			s.fail(FaultTooDeep, i, wantDepth)
			return true
		}
		i = SkipBlank(text, i+1)
		if i >= len(text) {
			s.cut(text, mark, depth, false, wantFirst)
			return true
		}
		p.open[depth] = '['
		if text[i] == ']' {
			i++
			p.ends.add(mark, i)
			break
		}
		p.ends.open(mark, depth)
		depth++
		goto value
	case '1', '2', '3', '4', '5', '6', '7', '8', '9':
		// Most scalars other than strings are numbers, and most numbers are integers.
		for i++; i < len(text) && text[i]-'0' < 10; i++ {
		}
		if i < len(text) && text[i] != '.' && text[i]|0x20 != 'e' {
			break
		}
		i = mark
		fallthrough
	default:
		if i, ok = scanScalar(text, i, s); !ok {
			if s.Want == wantValue && s.Kind == FaultInvalidJSON {
				s.Want = p.wantValue(text, s, depth)
			}
			s.resume(mark, depth, false)
			return true
		}
		if i == len(text) && depth > 0 {
			// More digits may follow in the next bytes.
			s.cut(text, mark, depth, false, p.wantAfter(depth))
			return true
		}
	}

after:
	if depth == 0 {
		s.End = i
		return true
	}
	if i >= s.look && s.stopped(i) {
		s.cut(text, i, depth, true, p.wantAfter(depth))
		return true
	}
	if i >= until {
		s.resume(i, depth, true)
		return false
	}
	if i < len(text) && text[i] <= ' ' {
		i = SkipBlank(text, i)
	}
	mark = i
	if i >= len(text) {
		s.cut(text, mark, depth, true, p.wantAfter(depth))
		return true
	}
	if p.open[depth-1] == '[' {
		switch text[i] {
		case ',':
			i++
			goto value
		case ']':
			depth--
			i++
			p.ends.close(i, depth)
			goto after
		}
		s.fail(FaultInvalidJSON, i, wantAfterElem)
		return true
	}
	switch text[i] {
	case ',':
		i++
		if i < len(text) && text[i] <= ' ' {
			i = SkipBlank(text, i)
		}
		if i >= len(text) {
			s.cut(text, mark, depth, true, wantName)
			return true
		}
		if text[i] != '"' {
			s.fail(FaultInvalidJSON, i, wantName)
			return true
		}
		if i, ok = scanName(text, i, s); !ok {
			s.resume(mark, depth, true)
			return true
		}
		goto value
	case '}':
		depth--
		i++
		p.ends.close(i, depth)
		goto after
	}
	s.fail(FaultInvalidJSON, i, wantAfterMember)
	return true
}

// wantValue describes what may appear in place of a missing value. After a '[' that
// includes the end of the array.
func (p *portable) wantValue(text []byte, s *Scan, depth int) string {
	if depth == 0 || p.open[depth-1] != '[' {
		return wantValue
	}
	i := min(s.At, len(text))
	if s.Kind == FaultNone {
		i = len(text)
	}
	for i--; i >= max(s.Start, 0); i-- {
		switch text[i] {
		case ' ', '\t', '\n', '\r':
			continue
		case '[':
			return wantFirst
		}
		break
	}
	return wantValue
}

func (p *portable) wantAfter(depth int) string {
	if p.open[depth-1] == '[' {
		return wantAfterElem
	}
	return wantAfterMember
}

// scanName reads a key and its colon and returns the offset after them.
func scanName(text []byte, i int, s *Scan) (int, bool) {
	i, ok := scanString(text, i+1, s)
	if !ok {
		return i, false
	}
	if i < len(text) && text[i] <= ' ' {
		i = SkipBlank(text, i)
	}
	if i >= len(text) {
		s.fail(FaultTruncated, len(text), wantColon)
		return i, false
	}
	if text[i] != ':' {
		s.fail(FaultInvalidJSON, i, wantColon)
		return i, false
	}
	return i + 1, true
}

const (
	lows  = 0x0101010101010101
	highs = 0x8080808080808080
)

// escapes marks the bytes that may follow a backslash, except u.
var escapes = [256]bool{'"': true, '\\': true, '/': true, 'b': true, 'f': true, 'n': true, 'r': true, 't': true}

// scanString reads a string from the byte after its opening quote and returns the offset
// after its closing quote.
func scanString(text []byte, i int, s *Scan) (int, bool) {
	start := i
	var high uint64 // its high bits mark bytes outside ASCII
	for {
		if i >= s.look && s.stopped(i) {
			return s.cutString(text)
		}
		var c byte
		part := text[:min(len(text), s.look)]
		rest := part[i:]
		for len(rest) >= 8 {
			// A set high bit in stop marks a byte to stop at. A borrow can set higher
			// bits too, so only the lowest set bit is reliable.
			w := binary.LittleEndian.Uint64(rest)
			quote := w ^ lows*'"'
			slash := w ^ lows*'\\'
			stop := ((w-lows*' ')&^w | (quote-lows)&^quote | (slash-lows)&^slash) & highs
			if stop != 0 {
				n := bits.TrailingZeros64(stop) &^ 7
				high |= w & (1<<n - 1)
				i = len(part) - len(rest) + n>>3
				c = byte(w >> n)
				goto special
			}
			high |= w
			rest = rest[8:]
		}
		for i = len(part) - len(rest); ; i++ {
			if i >= len(part) {
				if i == len(text) {
					return s.cutString(text)
				}
				break
			}
			if c = text[i]; c < ' ' || c == '"' || c == '\\' {
				break
			}
			high |= uint64(c)
		}

	special:
		switch {
		case i == len(part):
		case c == '"':
			if high&highs != 0 && !utf8.Valid(text[start:i]) {
				s.invalidUTF8(text, start, i)
			}
			return i + 1, true
		case c == '\\':
			// Escapes often come in groups.
			for i+1 < len(text) && text[i] == '\\' && i < s.look {
				if escapes[text[i+1]] {
					i += 2
					continue
				}
				if text[i+1] != 'u' {
					s.fail(FaultInvalidJSON, i+1, wantEscape)
					return i, false
				}
				var ok bool
				if i, ok = scanUnicode(text, i, s); !ok {
					s.InString = s.Kind == FaultTruncated
					return i, false
				}
			}
			if i+1 == len(text) && text[i] == '\\' {
				return s.cutString(text)
			}
		default:
			n := lineEnd(text, i)
			if s.mode&AllowNewlines == 0 || n == 0 {
				if s.mode&AllowNewlines != 0 && c == '\r' && i+1 == len(text) {
					return s.cutString(text)
				}
				s.fail(FaultInvalidJSON, i, wantControl)
				return i, false
			}
			s.RawNewline.add(i, i+n)
			i += n
		}
	}
}

// lineEnd returns the length of the line end at text[i], or 0 if there is none.
func lineEnd(text []byte, i int) int {
	switch {
	case text[i] == '\n':
		return 1
	case text[i] == '\r' && i+1 < len(text) && text[i+1] == '\n':
		return 2
	}
	return 0
}

// cutString ends the scan inside a string.
func (s *Scan) cutString(text []byte) (int, bool) {
	s.fail(FaultTruncated, len(text), wantQuote)
	s.InString = true
	return len(text), false
}

// scanUnicode reads the \u escape at text[i], or a surrogate pair of two such escapes,
// and returns the offset after it.
func scanUnicode(text []byte, i int, s *Scan) (int, bool) {
	r, ok := scanHex(text, i+2, s)
	if !ok {
		return i, false
	}
	if r&0xf800 != 0xd800 {
		return i + 6, true
	}
	if r < 0xdc00 {
		// The second half must follow directly. If something else follows, it is scanned
		// on its own.
		if i+7 >= len(text) {
			if i+6 >= len(text) || text[i+6] == '\\' {
				s.fail(FaultTruncated, len(text), wantQuote)
				return i, false
			}
		} else if text[i+6] == '\\' && text[i+7] == 'u' {
			low, ok := scanHex(text, i+8, s)
			if !ok {
				return i, false
			}
			if low&0xfc00 == 0xdc00 {
				return i + 12, true
			}
		}
	}
	s.LoneSurrogate.add(i, i+6)
	return i + 6, true
}

// hex holds the value of each hexadecimal digit, and -1 for all other bytes. The high
// bits of -1 survive every shift.
var hex = func() (t [256]int32) {
	for c := range t {
		switch {
		case c >= '0' && c <= '9':
			t[c] = int32(c - '0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			t[c] = int32(c | 0x20 - 'a' + 10)
		default:
			t[c] = -1
		}
	}
	return t
}()

// scanHex reads four hexadecimal digits.
func scanHex(text []byte, i int, s *Scan) (uint32, bool) {
	if i+4 <= len(text) {
		h := text[i : i+4]
		r := hex[h[0]]<<12 | hex[h[1]]<<8 | hex[h[2]]<<4 | hex[h[3]]
		if r >= 0 {
			return uint32(r), true
		}
	}
	for ; ; i++ {
		if i >= len(text) {
			s.fail(FaultTruncated, len(text), wantHex)
			return 0, false
		}
		if hex[text[i]] < 0 {
			s.fail(FaultInvalidJSON, i, wantHex)
			return 0, false
		}
	}
}

// invalidUTF8 records the runs of bytes in text[i:end] that are not UTF-8.
func (s *Scan) invalidUTF8(text []byte, i, end int) {
	run := -1
	for i < end {
		n := 1
		if text[i] >= utf8.RuneSelf {
			var r rune
			if r, n = utf8.DecodeRune(text[i:end]); r == utf8.RuneError && n == 1 {
				if run < 0 {
					run = i
				}
				i++
				continue
			}
		}
		if run >= 0 {
			s.InvalidUTF8.add(run, i)
			run = -1
		}
		i += n
	}
	if run >= 0 {
		s.InvalidUTF8.add(run, end)
	}
}

// scanScalar reads a literal or a number and returns the offset after it.
func scanScalar(text []byte, i int, s *Scan) (int, bool) {
	switch text[i] {
	case 't':
		return scanLiteral(text, i, "true", s)
	case 'f':
		return scanLiteral(text, i, "false", s)
	case 'n':
		return scanLiteral(text, i, "null", s)
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return scanNumber(text, i, s)
	}
	s.fail(FaultInvalidJSON, i, wantValue)
	return i, false
}

func scanLiteral(text []byte, i int, word string, s *Scan) (int, bool) {
	for k := range len(word) {
		if i+k >= len(text) {
			s.fail(FaultTruncated, len(text), "the literal "+word)
			return i, false
		}
		if text[i+k] != word[k] {
			s.fail(FaultInvalidJSON, i+k, "the literal "+word)
			return i, false
		}
	}
	return i + len(word), true
}

func scanNumber(text []byte, i int, s *Scan) (int, bool) {
	var ok bool
	if text[i] == '-' {
		i++
	}
	if i < len(text) && text[i] == '0' {
		i++
	} else if i, ok = scanDigits(text, i, s); !ok {
		return i, false
	}
	if i < len(text) && text[i] == '.' {
		if i, ok = scanDigits(text, i+1, s); !ok {
			return i, false
		}
	}
	if i < len(text) && text[i]|0x20 == 'e' {
		i++
		if i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		return scanDigits(text, i, s)
	}
	return i, true
}

// scanDigits reads one or more digits.
func scanDigits(text []byte, i int, s *Scan) (int, bool) {
	if i >= len(text) {
		s.fail(FaultTruncated, len(text), wantDigit)
		return i, false
	}
	if text[i]-'0' >= 10 {
		s.fail(FaultInvalidJSON, i, wantDigit)
		return i, false
	}
	for i++; i < len(text) && text[i]-'0' < 10; i++ {
	}
	return i, true
}
