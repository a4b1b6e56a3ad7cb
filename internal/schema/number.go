package schema

import (
	"bytes"
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// A decimal is a JSON number: digits × 10^exp, without zeros at either end of digits.
// Zero has no digits. Exponents are not expanded, so a huge number costs no more than its
// text.
type decimal struct {
	negative bool
	digits   []byte
	exp      int64
}

// mostExponent is the limit beyond which exponents are not distinguished.
const mostExponent = 1 << 40

// parseDecimal parses a JSON number. digits may alias the text.
func parseDecimal(text []byte) decimal {
	var d decimal
	if len(text) > 0 && text[0] == '-' {
		d.negative, text = true, text[1:]
	}
	if i := bytes.IndexAny(text, "eE"); i >= 0 {
		d.exp = parseExponent(text[i+1:])
		text = text[:i]
	}
	d.digits = text
	if i := bytes.IndexByte(text, '.'); i >= 0 {
		d.digits = append(append(make([]byte, 0, len(text)), text[:i]...), text[i+1:]...)
		d.exp -= int64(len(text) - i - 1)
	}
	d.digits = bytes.TrimLeft(d.digits, "0")
	trimmed := bytes.TrimRight(d.digits, "0")
	d.exp += int64(len(d.digits) - len(trimmed))
	d.digits = trimmed
	if len(d.digits) == 0 {
		return decimal{}
	}
	return d
}

func parseExponent(text []byte) int64 {
	negative := len(text) > 0 && text[0] == '-'
	if negative || len(text) > 0 && text[0] == '+' {
		text = text[1:]
	}
	var n int64
	for _, c := range text {
		n = min(10*n+int64(c-'0'), mostExponent)
	}
	if negative {
		return -n
	}
	return n
}

// integer reports whether the number has no fraction.
func (d decimal) integer() bool { return d.exp >= 0 || len(d.digits) == 0 }

// sign returns -1, 0 or 1.
func (d decimal) sign() int {
	switch {
	case len(d.digits) == 0:
		return 0
	case d.negative:
		return -1
	}
	return 1
}

// compare returns -1, 0 or 1 if d is less than, equal to or greater than e.
func (d decimal) compare(e decimal) int {
	if d.sign() != e.sign() || d.sign() == 0 {
		return cmp.Compare(d.sign(), e.sign())
	}
	// Digits that start at the same power of ten compare like strings, because they have
	// no trailing zeros.
	return d.sign() * cmp.Or(
		cmp.Compare(d.exp+int64(len(d.digits)), e.exp+int64(len(e.digits))),
		bytes.Compare(d.digits, e.digits),
	)
}

// multiple reports whether d is an integer multiple of e, which must not be zero.
func (d decimal) multiple(e decimal) bool {
	if len(d.digits) == 0 {
		return true
	}
	if d.exp < e.exp {
		// d has no trailing zeros, so it cannot be a multiple.
		return false
	}
	if len(e.digits) <= shortDigits {
		return d.multipleOfShort(e)
	}
	if len(e.digits) > mostDigits {
		return true
	}
	// More zeros than four for each digit of e change nothing, because e has fewer factors 2 and 5 than that.
	zeros := int(min(d.exp-e.exp, int64(4*len(e.digits))))
	limbs := len(e.digits)/shortDigits + 2 // one is always zero, so that ten times a rest fits
	by, rest := make([]uint64, limbs), make([]uint64, limbs)
	for _, c := range e.digits {
		push(by, c)
	}
	for i := range len(d.digits) + zeros {
		if i < len(d.digits) {
			push(rest, d.digits[i])
		} else {
			push(rest, '0')
		}
		for slices.Compare(rest, by) >= 0 {
			var borrow uint64
			for j := range slices.Backward(rest) {
				rest[j], borrow = bits.Sub64(rest[j], by[j], borrow)
			}
		}
	}
	return slices.Max(rest) == 0
}

// mostDigits is the largest number of digits of a number whose multiples are told from others. The time is the
// product of the digits of both.
const mostDigits = 1000

// push appends a decimal digit to a number, whose first limb is its highest.
func push(n []uint64, digit byte) {
	carry := uint64(digit - '0')
	for i := range slices.Backward(n) {
		hi, lo := bits.Mul64(n[i], 10)
		lo, over := bits.Add64(lo, carry, 0)
		n[i], carry = lo, hi+over
	}
}

// shortDigits is the largest number of digits that fits in 64 bits together with one more
// digit.
const shortDigits = 18

// multipleOfShort is multiple for an e with few digits. It makes one pass over the digits
// of d, because there may be millions.
func (d decimal) multipleOfShort(e decimal) bool {
	var by, rest uint64
	for _, c := range e.digits {
		by = by*10 + uint64(c-'0')
	}
	for _, c := range d.digits {
		rest = (rest*10 + uint64(c-'0')) % by
	}
	times := func(a, b uint64) uint64 {
		hi, lo := bits.Mul64(a, b)
		return bits.Rem64(hi, lo, by)
	}
	power := 10 % by
	for n := d.exp - e.exp; n > 0; n >>= 1 {
		if n&1 == 1 {
			rest = times(rest, power)
		}
		power = times(power, power)
	}
	return rest == 0
}

// count returns the number as a count, clipped to the range of counts.
func (d decimal) count() int {
	if !d.integer() || d.sign() < 0 {
		return 0
	}
	if d.exp+int64(len(d.digits)) > 9 {
		return math.MaxInt
	}
	n := 0
	for _, c := range d.digits {
		n = 10*n + int(c-'0')
	}
	for range d.exp {
		n *= 10
	}
	return n
}
