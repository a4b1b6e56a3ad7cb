package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/parquet-go/parquet-go/format"
)

// The library trusts counts in pages: a run of two thousand million levels takes five bytes. So each page
// is walked through before it is decoded.

var errPage = errors.New("page ends early")

// slack is how many values more than needed a run may have: writers fill up groups of eight.
const slack = 512

// runs walks through n values of a hybrid of runs and packed groups, and passes each run to take.
func runs(text []byte, width, n int, take func(value uint32, count int)) error {
	if width < 0 || width > 32 {
		return fmt.Errorf("expected values of at most 32 bits, got %d", width)
	}
	for left := n; left > 0; {
		head, size := binary.Uvarint(text)
		if size <= 0 {
			return errPage
		}
		text = text[size:]
		count := head >> 1
		if head&1 == 1 {
			if count > uint64(len(text)) && width > 0 {
				count = uint64(len(text)) // the last group may be cut
			}
			if count *= 8; count > uint64(left+slack) {
				return fmt.Errorf("expected %d more values, got a run of %d", left, count)
			}
			need := int(count) * width / 8
			if need > len(text) {
				// Some writers cut the last group after its last value.
				if need = (min(left, int(count))*width + 7) / 8; need > len(text) {
					return errPage
				}
			}
			packed(text[:need], width, min(left, int(count)), take)
			text, left = text[need:], left-int(count)
			continue
		}
		if count > uint64(left+slack) {
			return fmt.Errorf("expected %d more values, got a run of %d", left, count)
		}
		need := (width + 7) / 8
		if need > len(text) {
			return errPage
		}
		value := uint32(0)
		for i, b := range text[:need] {
			value |= uint32(b) << (8 * i)
		}
		take(value, min(left, int(count)))
		text, left = text[need:], left-int(count)
	}
	return nil
}

// packed passes values of so many bits to take.
func packed(text []byte, width, n int, take func(uint32, int)) {
	buffer, have := uint64(0), 0
	mask := uint64(1)<<width - 1
	for range n {
		for have < width {
			buffer |= uint64(text[0]) << have
			text, have = text[1:], have+8
		}
		take(uint32(buffer&mask), 1)
		buffer, have = buffer>>width, have-width
	}
}

// oldDictionary is how older writers call a dictionary of plain values, and indexes into it.
const oldDictionary = format.Encoding(2)

// A page is what is known of a page before it is decoded.
type page struct {
	values   int // with nulls
	nonNull  int
	encoding format.Encoding
	levels   []byte // of a page v2
	data     []byte // unpacked; in a page v1 with the levels
	grown    int64  // the size of its values, if they have beginnings in common
}

// levelsV1 checks the levels at the start of a page v1, and returns what is behind them.
func (n *node) levelsV1(p *page, rep, def format.Encoding) (data []byte, err error) {
	data, p.nonNull = p.data, p.values
	for _, of := range []struct {
		most     int
		encoding format.Encoding
		def      bool
	}{{n.rep, rep, false}, {n.def, def, true}} {
		if of.most == 0 {
			continue
		}
		if of.encoding != format.RLE {
			return nil, fmt.Errorf("levels in the encoding %s, which is obsolete", of.encoding)
		}
		if len(data) < 4 {
			return nil, errPage
		}
		size := binary.LittleEndian.Uint32(data)
		if uint64(size) > uint64(len(data)-4) {
			return nil, errPage
		}
		if err := n.level(data[4:4+size], of.most, of.def, p); err != nil {
			return nil, err
		}
		data = data[4+size:]
	}
	return data, nil
}

// levelsV2 checks the levels of a page v2.
func (n *node) levelsV2(p *page, rep, def int) error {
	p.nonNull = p.values
	if rep < 0 || def < 0 || rep > len(p.levels) || def > len(p.levels)-rep {
		return errPage
	}
	if n.rep > 0 {
		if err := n.level(p.levels[:rep], n.rep, false, p); err != nil {
			return err
		}
	}
	if n.def > 0 {
		return n.level(p.levels[rep:rep+def], n.def, true, p)
	}
	return nil
}

// level checks levels of at most most, and counts the values that are not null.
func (n *node) level(text []byte, most int, def bool, p *page) error {
	nonNull, above := 0, 0
	err := runs(text, bits.Len(uint(most)), p.values, func(value uint32, count int) {
		if int(value) > most {
			above += count
		} else if int(value) == most {
			nonNull += count
		}
	})
	if err == nil && above > 0 {
		err = fmt.Errorf("%d levels above %d", above, most)
	}
	if def {
		p.nonNull = nonNull
	}
	if err != nil {
		return fmt.Errorf("levels: %w", err)
	}
	return nil
}

// width returns how many bytes a value of fixed length takes.
func (s *scalar) width() int {
	switch s.physical {
	case format.Int32, format.Float:
		return 4
	case format.Int64, format.Double:
		return 8
	case format.Int96:
		return 12
	case format.FixedLenByteArray:
		return s.length
	}
	return 0
}

// values checks the values of a page. dictionary is the number of values in the dictionary, -1 if there
// is none. most is how many bytes values of bytes may take.
func (s *scalar) values(p *page, data []byte, dictionary int, most int64) error {
	n := p.nonNull
	if n == 0 {
		return nil
	}
	wrong := fmt.Errorf("the encoding %s does not go with the type %s", p.encoding, s.physical)
	switch p.encoding {
	case format.Plain:
		return s.plainValues(data, n)
	case oldDictionary, format.RLEDictionary:
		if dictionary < 0 {
			return errors.New("expected a dictionary before the values")
		}
		if len(data) == 0 {
			return errPage
		}
		outside := 0
		err := runs(data[1:], int(data[0]), n, func(value uint32, count int) {
			if value >= uint32(dictionary) {
				outside += count
			}
		})
		if err == nil && outside > 0 {
			err = fmt.Errorf("%d indexes outside of a dictionary of %d values", outside, dictionary)
		}
		return err
	case format.RLE:
		if s.physical != format.Boolean {
			return wrong
		}
		if len(data) < 4 || uint64(binary.LittleEndian.Uint32(data)) > uint64(len(data)-4) {
			return errPage
		}
		return runs(data[4:4+binary.LittleEndian.Uint32(data)], 1, n, func(uint32, int) {})
	case format.DeltaBinaryPacked:
		if s.physical != format.Int32 && s.physical != format.Int64 {
			return wrong
		}
		return deltas(data, n)
	case format.DeltaLengthByteArray:
		if s.physical != format.ByteArray {
			return wrong
		}
		_, _, err := lengths(data, n, most)
		return err
	case format.DeltaByteArray:
		if s.physical != format.ByteArray && s.physical != format.FixedLenByteArray {
			return wrong
		}
		data, prefixes, err := lengths(data, n, most)
		if err != nil {
			return err
		}
		_, suffixes, err := lengths(data, n, most)
		if p.grown = prefixes + suffixes; err == nil && s.physical == format.FixedLenByteArray && p.grown != int64(n)*int64(s.length) {
			err = fmt.Errorf("expected %d values of %d bytes, got %d bytes", n, s.length, p.grown)
		}
		return err
	case format.ByteStreamSplit:
		if s.width() == 0 {
			return wrong
		}
		if len(data) < n*s.width() {
			return errPage
		}
		return nil
	}
	return fmt.Errorf("the encoding %s is not known", p.encoding)
}

// plainValues checks values that follow each other.
func (s *scalar) plainValues(data []byte, n int) error {
	switch width := s.width(); {
	case s.physical == format.Boolean:
		if len(data) < (n+7)/8 {
			return errPage
		}
	case width > 0:
		if len(data)/width < n {
			return errPage
		}
	default:
		for range n {
			if len(data) < 4 {
				return errPage
			}
			length := binary.LittleEndian.Uint32(data)
			if uint64(length) > uint64(len(data)-4) {
				return errPage
			}
			data = data[4+length:]
		}
	}
	return nil
}

// deltas checks the head of packed differences of n numbers.
func deltas(data []byte, n int) error {
	var head [3]uint64
	for i := range head {
		v, size := binary.Uvarint(data)
		if size <= 0 {
			return errPage
		}
		head[i], data = v, data[size:]
	}
	switch block, parts, total := head[0], head[1], head[2]; {
	case block == 0 || block > 1<<16 || block%128 != 0 || parts == 0 || block%parts != 0 || block/parts%32 != 0:
		return fmt.Errorf("expected blocks of up to 65536 values in parts of 32, got %d in %d", block, parts)
	case total != uint64(n):
		return fmt.Errorf("expected %d values, got %d", n, total)
	}
	return nil
}

// lengths adds up the lengths before values of bytes, and returns what is behind them.
func lengths(data []byte, n int, most int64) (rest []byte, sum int64, err error) {
	if err := deltas(data, n); err != nil {
		return nil, 0, err
	}
	next := func() (v uint64) {
		v, size := binary.Uvarint(data)
		if size <= 0 {
			err, size = errPage, 0
		}
		data = data[size:]
		return v
	}
	signed := func() int64 { v := next(); return int64(v>>1) ^ -int64(v&1) }
	block, parts := int(next()), int(next())
	next()
	length := signed()
	add := func() {
		if length < 0 || length > most {
			err = cmpErr(err, fmt.Errorf("a value of %d bytes", length))
			return
		}
		if sum += length; sum > most {
			err = cmpErr(err, fmt.Errorf("values of more than %d bytes in one page", most))
		}
	}
	add()
	for left := n - 1; left > 0 && err == nil; {
		least := signed()
		if len(data) < parts {
			return nil, 0, errPage
		}
		widths := data[:parts]
		data = data[parts:]
		for _, width := range widths {
			if left == 0 || err != nil {
				break
			}
			need := block / parts * int(width) / 8
			if width > 32 || need > len(data) {
				return nil, 0, errPage
			}
			packed(data[:need], int(width), min(left, block/parts), func(v uint32, _ int) {
				length += least + int64(v)
				add()
			})
			data, left = data[need:], left-min(left, block/parts)
		}
	}
	return data, sum, err
}
