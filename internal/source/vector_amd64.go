//go:build !purego

package source

import (
	"math"
	"math/bits"

	"golang.org/x/sys/cpu"
)

// NewScanner returns the fastest scanner for this machine.
func NewScanner() Scanner {
	if hasVector() {
		return new(vector)
	}
	return new(portable)
}

// hasVector reports whether this machine has the instructions that classify uses.
func hasVector() bool { return cpu.X86.HasAVX2 && cpu.X86.HasPCLMULQDQ }

// A carry is the state that classify needs from the bytes before a block. The zero value
// is correct at a token outside strings.
type carry struct {
	// escaped is 1 if the last byte is a backslash that escapes the next byte. inString
	// has all bits set inside a string. scalar is 1 after the last byte of a number, a
	// literal or any other text that is not a token.
	escaped, inString, scalar uint64
	// hex marks the next bytes that must be hexadecimal digits. unicode is 1 if the first
	// of them follows the u.
	hex, unicode uint64
	// high is not 0 if the last block has bytes outside ASCII.
	high uint64
	// bad is not 0 if any string so far has a fault.
	bad uint64
	// last is the second half of the last block.
	last [32]byte
}

// blockSize is the number of bytes that are classified at once.
const blockSize = 64

// A block describes 64 bytes of the text with one bit for each byte.
type block struct {
	// tokens marks each byte outside strings that starts a token: a bracket, a colon, a
	// comma, an opening quote, or the first byte of any other run of nonblank bytes.
	tokens uint64
	// halves marks each d of a \ud, which may start half of a surrogate pair.
	halves uint64
}

// classify describes n blocks that start at text. n must be at least 1.
//
//go:noescape
func classify(text *byte, n int, c *carry, out *block)

const (
	// vectorLeast is the least number of bytes for which vectors pay off.
	vectorLeast = 256
	// The first run classifies vectorFirst blocks, because the value may end soon. Later
	// runs classify vectorMost blocks.
	vectorFirst = 16
	vectorMost  = 64
	// passFirst is how far the portable scanner continues after the first bytes that are
	// left to it. The distance doubles each time, up to passMost, because such bytes
	// usually come together.
	passFirst = 1 << 10
	passMost  = 64 << 10
	// The portable scanner is faster if there is a token in every dense bytes or more
	// often.
	dense = 4
)

// A vector scanner handles 64 bytes at a time. It accepts only text without faults. At
// anything else it steps back to the end of a token, and the portable scanner finds the
// fault.
type vector struct {
	portable
	blocks [vectorMost]block
	tail   [blockSize]byte
	// scalar receives the faults of numbers and literals. They are ignored, because the
	// portable scanner finds them again.
	scalar Scan
}

func (v *vector) Scan(text []byte, pos int, mode ScanMode) Scan {
	s := v.begin(text, pos, mode)
	v.run(text, &s)
	return s
}

func (v *vector) Resume(text []byte, s Scan) Scan {
	if v.again(text, &s) {
		v.run(text, &s)
	}
	return s
}

func (v *vector) run(text []byte, s *Scan) {
	for pass := passFirst; len(text)-s.next >= vectorLeast; pass = min(2*pass, passMost) {
		if s.depth == 0 && text[s.next] != '{' && text[s.next] != '[' {
			break
		}
		until, done := v.walk(text, s)
		if done || v.portable.run(text, s, until+pass) {
			return
		}
	}
	v.portable.run(text, s, math.MaxInt)
}

// The tokens that may come next in walk.
const (
	someValue   = iota // a value
	firstValue         // a value or the end of the array
	firstName          // a key or the end of the object
	someName           // a key
	someColon          // the colon after a key
	afterMember        // a comma or the end of the object
	afterElem          // a comma or the end of the array
)

// walk continues the scan while the text is valid and has few enough tokens. done reports
// whether it reached the end of the value. If not, the scan can be resumed, and until is
// where to try vectors again.
func (v *vector) walk(text []byte, s *Scan) (until int, done bool) {
	var (
		c     carry
		open  = &v.open
		depth = s.depth
		next  = someValue
		mark  = -1 // the last token at which the scan can be resumed
		// str is the start of the value that was just read if it is a string, and the end
		// of the text otherwise.
		str = len(text)
		// paired is the offset after the last surrogate pair.
		paired int
		end    int
	)
	if s.after {
		next = after(open[depth-1])
	}
	for off, most := s.next, vectorFirst; off < len(text); off, most = end, vectorMost {
		n := min((len(text)-off)/blockSize, most)
		if n > 0 {
			classify(&text[off], n, &c, &v.blocks[0])
			end = off + n*blockSize
		} else {
			for i := copy(v.tail[:], text[off:]); i < blockSize; i++ {
				v.tail[i] = ' '
			}
			n = 1
			classify(&v.tail[0], n, &c, &v.blocks[0])
			end = len(text)
		}
		if c.bad != 0 {
			break
		}
		if off >= s.look && s.stopped(off) {
			s.cut(text, s.next, s.depth, s.after, wantValue)
			return 0, true
		}
		tokens := 0
		for b := range v.blocks[:n] {
			m, halves := v.blocks[b].tokens, v.blocks[b].halves
			if m|halves == 0 {
				continue
			}
			base := off + b*blockSize
			if halves != 0 {
				var ok bool
				if paired, ok = pairs(text, base, halves, paired); !ok {
					v.back(text, s, mark, depth)
					return end, false
				}
			}
			tokens += bits.OnesCount64(m)
			for ; m != 0; m &= m - 1 {
				i := base + bits.TrailingZeros64(m)
				ch := text[i]
				switch ch {
				case '"':
					switch next {
					case firstName, someName:
						next = someColon
						if behind, is := ahead(text, base, m, ':'); is {
							m, next = behind, someValue
						}
						continue
					case someValue, firstValue:
						str, next = i, after(open[depth-1])
						continue
					}
				case ':':
					if next == someColon {
						next = someValue
						continue
					}
				case ',':
					if next >= afterMember {
						v.addString(text, str, i)
						mark, str = i, len(text)
						if next == afterElem {
							next = someValue
							continue
						}
						next = someName
						if name, is := ahead(text, base, m, '"'); is {
							m, next = name, someColon
							if behind, is := ahead(text, base, m, ':'); is {
								m, next = behind, someValue
							}
						}
						continue
					}
				case '{', '[':
					if next <= firstValue && depth < MaxDepth {
						open[depth] = ch
						v.ends.open(i, depth)
						depth++
						mark, next = i, firstValue
						if ch == '{' {
							next = firstName
						}
						continue
					}
				case '}', ']':
					var ok bool
					if ch == '}' {
						ok = next == afterMember || next == firstName
					} else {
						ok = next == afterElem || next == firstValue
					}
					if ok {
						v.addString(text, str, i)
						mark, str = i, len(text)
						depth--
						v.ends.close(i+1, depth)
						if depth == 0 {
							s.End, s.depth = i+1, 0
							return 0, true
						}
						next = after(open[depth-1])
						continue
					}
				default:
					if next <= firstValue {
						if to, ok := scanScalar(text, i, &v.scalar); ok && to < len(text) && endsScalar(text[to]) {
							next = after(open[depth-1])
							continue
						}
					}
				}
				v.back(text, s, mark, depth)
				return end, false
			}
		}
		if tokens > n*(blockSize/dense) {
			break
		}
	}
	v.back(text, s, mark, depth)
	return end, false
}

// ahead removes the first of the tokens m in the block at base. It reports whether the
// next token is c. Testing for the expected token is faster than a switch over all
// tokens.
func ahead(text []byte, base int, m uint64, c byte) (uint64, bool) {
	m &= m - 1
	return m, m != 0 && text[base+bits.TrailingZeros64(m)] == c
}

// addString records the end of the string value that starts at start. next is the token
// after it.
func (v *vector) addString(text []byte, start, next int) {
	if next-start < longValue {
		return
	}
	for text[next-1] <= ' ' {
		next--
	}
	v.ends.add(start, next)
}

// after returns what may follow a value in a container.
func after(open byte) int {
	if open == '{' {
		return afterMember
	}
	return afterElem
}

// endsScalar reports whether c can follow a number or a literal in a container.
func endsScalar(c byte) bool {
	switch c {
	case ',', '}', ']', ' ', '\t', '\n', '\r':
		return true
	}
	return false
}

// back sets the scan to resume at the token at mark, if there is one. depth is the depth
// after that token.
func (v *vector) back(text []byte, s *Scan, mark, depth int) {
	if mark < 0 {
		return
	}
	switch text[mark] {
	case '{', '[':
		v.ends.reopen(depth - 1)
		s.resume(mark, depth-1, false)
	case ',':
		s.resume(mark, depth, true)
	default:
		s.resume(mark+1, depth, true)
	}
}

// reopen removes the container that was opened last, inside depth others, because it will
// be opened again.
func (e *ends) reopen(depth int) {
	if depth < e.within {
		e.list, e.last, e.within = e.list[:e.last], e.list[e.last].next, depth
	}
}

// pairs reports whether each half of a surrogate pair has its other half, and returns the
// offset after the last pair. m marks each d of a \ud in the block at base, and paired is
// the result of pairs for the block before.
func pairs(text []byte, base int, m uint64, paired int) (int, bool) {
	for ; m != 0; m &= m - 1 {
		i := base + bits.TrailingZeros64(m)
		if i < paired {
			continue // the second half
		}
		if i+10 > len(text) {
			return 0, false
		}
		if text[i+1] < '8' {
			continue // not a half
		}
		if !low(text[i+7]) || low(text[i+1]) || text[i+4] != '\\' || text[i+5] != 'u' || text[i+6]|0x20 != 'd' {
			return 0, false
		}
		paired = i + 10
	}
	return paired, true
}

// low reports whether c is the second hexadecimal digit of a low surrogate.
func low(c byte) bool { return c|0x20 >= 'c' && c|0x20 <= 'f' }
