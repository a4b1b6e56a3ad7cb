package lines

import (
	"errors"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
)

// ErrShape is the error of a value that does not fit into its column.
var ErrShape = errors.New("its type cannot hold the value")

// AppendFloat appends a number. JSON has no NaN and no infinity, so these are strings.
func AppendFloat(dst []byte, f float64, bits int) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return Quote(dst, func(dst []byte) []byte { return strconv.AppendFloat(dst, f, 'g', -1, bits) })
	}
	return strconv.AppendFloat(dst, f, 'g', -1, bits)
}

// Quote appends a string that f writes and that needs no escapes.
func Quote(dst []byte, f func([]byte) []byte) []byte { return append(f(append(dst, '"')), '"') }

// plainByte says which bytes of a string are written as they are.
var plainByte = func() (out [256]bool) {
	for i := range out {
		out[i] = i >= ' ' && i != '"' && i != '\\'
	}
	return out
}()

// AppendString appends a string of JSON. Bytes that are not UTF-8 stay: they are for the check.
func AppendString(dst, text []byte) []byte {
	dst = append(dst, '"')
	from := 0
	for i, c := range text {
		if plainByte[c] {
			continue
		}
		dst = append(dst, text[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\r':
			dst = append(dst, '\\', 'r')
		default:
			dst = append(dst, '\\', 'u', '0', '0', "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15])
		}
	}
	dst = append(dst, text[from:]...)
	return append(dst, '"')
}

// AppendDecimal appends an exact number: n without its scale.
func AppendDecimal(dst []byte, n *big.Int, scale int) []byte {
	if n.Sign() < 0 {
		dst = append(dst, '-')
	}
	digits := new(big.Int).Abs(n).String()
	if scale == 0 {
		return append(dst, digits...)
	}
	if missing := scale + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	dst = append(dst, digits[:len(digits)-scale]...)
	dst = append(dst, '.')
	return append(dst, digits[len(digits)-scale:]...)
}

// ParseDecimal returns an exact number without its scale.
func ParseDecimal(raw string) (*big.Int, bool) {
	return new(big.Int).SetString(strings.Replace(raw, ".", "", 1), 10)
}

// A Kind is what a moment consists of.
type Kind uint8

// Date is days since 1970, Time what has passed of a day, and Timestamp what has passed since 1970.
const (
	Date Kind = iota
	Time
	Timestamp
)

// A Moment is a type of dates or times.
type Moment struct {
	Kind Kind
	Unit int64 // how many are a second; of times and timestamps
	UTC  bool  // they are in UTC, and else in no known time zone
}

// Append appends a moment as a string, or as a number if it has no year of four digits or is longer than a day.
func (m Moment) Append(dst []byte, n int64) []byte {
	switch m.Kind {
	case Date:
		if n >= math.MinInt32 && n <= math.MaxInt32 {
			if t := time.Unix(n*86400, 0).UTC(); Ordinary(t) {
				return t.AppendFormat(dst, m.layout())
			}
		}
	case Time:
		if n >= 0 && n < 86400*m.Unit {
			return time.Unix(0, 0).UTC().Add(time.Duration(n*(1e9/m.Unit))).AppendFormat(dst, m.layout())
		}
	case Timestamp:
		seconds := n / m.Unit
		if n%m.Unit < 0 {
			seconds--
		}
		if t := time.Unix(seconds, (n-seconds*m.Unit)*(1e9/m.Unit)).UTC(); Ordinary(t) {
			return t.AppendFormat(dst, m.layout())
		}
	}
	return strconv.AppendInt(dst, n, 10)
}

// Parse returns the moment that a string of JSON stands for.
func (m Moment) Parse(raw string) (int64, error) {
	t, err := time.Parse(m.layout(), raw)
	if err != nil {
		return 0, ErrShape
	}
	switch m.Kind {
	case Date:
		n := t.Unix() / 86400
		if t.Unix()%86400 < 0 {
			n--
		}
		return n, nil
	case Time:
		return int64(t.Sub(t.Truncate(24*time.Hour))) / (1e9 / m.Unit), nil
	}
	return t.Unix()*m.Unit + int64(t.Nanosecond())/(1e9/m.Unit), nil
}

// Ordinary reports whether a time has a year of four digits. Others are written as numbers.
func Ordinary(t time.Time) bool { return t.Year() >= 0 && t.Year() <= 9999 }

// layout returns the layout of a moment, with all digits of its unit.
func (m Moment) layout() string {
	if m.Kind == Date {
		return `"2006-01-02"`
	}
	text := `"15:04:05`
	if m.Kind == Timestamp {
		text = `"2006-01-02T15:04:05`
	}
	text += map[int64]string{1e3: ".000", 1e6: ".000000", 1e9: ".000000000"}[m.Unit]
	if m.UTC {
		text += "Z"
	}
	return text + `"`
}
