package table

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/toolguard/toolguard/parquet/internal/lines"
)

// A meaning says how the values of a column are written as JSON.
type meaning uint8

const (
	meansNumber    meaning = iota // of the physical type, or a boolean
	meansUnsigned                 // an integer without a sign
	meansText                     // a string
	meansBytes                    // a string in base64
	meansDecimal                  // an exact number
	meansDate                     // "2006-01-02"
	meansTime                     // "15:04:05"
	meansTimestamp                // "2006-01-02T15:04:05Z", without Z if the time zone is not known
	meansUUID
	meansFloat16
)

// longDecimal is from how many bytes on a decimal is bytes: its digits would take long to find.
const longDecimal = 4096

// A scalar is the type of a column.
type scalar struct {
	physical format.Type
	length   int // of FIXED_LEN_BYTE_ARRAY
	means    meaning
	plain    bool // bytes of which nobody says what they are
	scale    int  // of a decimal
	unit     int64
	zulu     bool // times are in UTC
	// ordered says that the bounds of a column are ordered as its physical type is.
	ordered bool
}

// scalarOf returns the type of a leaf, nil if it is not known.
func scalarOf(e *format.SchemaElement) *scalar {
	s := &scalar{physical: e.Type.V, length: int(e.TypeLength.V), ordered: true}
	switch s.physical {
	case format.Boolean, format.Int32, format.Int64, format.Float, format.Double:
	case format.Int96:
		s.means, s.ordered = meansTimestamp, false
	case format.ByteArray:
		s.means, s.plain = meansBytes, true
	case format.FixedLenByteArray:
		if s.means = meansBytes; s.length <= 0 || s.length > 1<<20 {
			return nil
		}
	default:
		return nil
	}
	integer := s.physical == format.Int32 || s.physical == format.Int64
	bytes := s.physical == format.ByteArray || s.physical == format.FixedLenByteArray
	units := func(u format.TimeUnit) int64 {
		switch u.Value.(type) {
		case *format.MilliSeconds:
			return 1e3
		case *format.MicroSeconds:
			return 1e6
		}
		return 1e9
	}
	set := func(m meaning, fits bool) {
		if fits {
			s.means, s.plain = m, false
		}
	}
	switch t := e.LogicalType.Value.(type) {
	case *format.StringType, *format.EnumType, *format.JsonType:
		set(meansText, bytes)
	case *format.BsonType, *format.GeometryType, *format.GeographyType:
		s.plain = false
	case *format.UUIDType:
		set(meansUUID, s.physical == format.FixedLenByteArray && s.length == 16)
	case *format.DecimalType:
		set(meansDecimal, integer || bytes && s.length <= longDecimal)
		s.scale, s.ordered = int(t.Scale), integer
	case *format.DateType:
		set(meansDate, s.physical == format.Int32)
	case *format.TimeType:
		set(meansTime, integer)
		s.unit, s.zulu = units(t.Unit), t.IsAdjustedToUTC
	case *format.TimestampType:
		set(meansTimestamp, s.physical == format.Int64)
		s.unit, s.zulu = units(t.Unit), t.IsAdjustedToUTC
	case *format.IntType:
		if !t.IsSigned {
			set(meansUnsigned, integer)
			s.ordered = false
		}
	case *format.Float16Type:
		set(meansFloat16, s.physical == format.FixedLenByteArray && s.length == 2)
		s.ordered = false
	case nil:
		s.convert(e, set, integer, bytes)
	default:
		s.ordered = false
	}
	if s.scale < 0 || s.scale > 1000 {
		return nil
	}
	return s
}

// convert reads the annotation of older writers.
func (s *scalar) convert(e *format.SchemaElement, set func(meaning, bool), integer, bytes bool) {
	if !e.ConvertedType.Valid {
		return
	}
	switch e.ConvertedType.V {
	case deprecated.UTF8, deprecated.Enum, deprecated.Json:
		set(meansText, bytes)
	case deprecated.Decimal:
		set(meansDecimal, integer || bytes && s.length <= longDecimal)
		s.scale, s.ordered = int(e.Scale.V), integer
	case deprecated.Date:
		set(meansDate, s.physical == format.Int32)
	case deprecated.TimeMillis:
		set(meansTime, integer)
		s.unit, s.zulu = 1e3, true
	case deprecated.TimeMicros:
		set(meansTime, integer)
		s.unit, s.zulu = 1e6, true
	case deprecated.TimestampMillis:
		set(meansTimestamp, s.physical == format.Int64)
		s.unit, s.zulu = 1e3, true
	case deprecated.TimestampMicros:
		set(meansTimestamp, s.physical == format.Int64)
		s.unit, s.zulu = 1e6, true
	case deprecated.Uint8, deprecated.Uint16, deprecated.Uint32, deprecated.Uint64:
		set(meansUnsigned, integer)
		s.ordered = false
	case deprecated.Interval, deprecated.Bson:
		s.plain, s.ordered = false, false
	}
}

// append appends a value as JSON. No two values look the same, except for those that are equal.
func (s *scalar) append(dst []byte, v parquet.Value) []byte {
	switch s.means {
	case meansText:
		return lines.AppendString(dst, v.ByteArray())
	case meansBytes:
		return lines.Quote(dst, func(dst []byte) []byte { return base64.StdEncoding.AppendEncode(dst, v.ByteArray()) })
	case meansUUID:
		b := v.ByteArray()
		return lines.Quote(dst, func(dst []byte) []byte {
			for i, part := range [][]byte{b[:4], b[4:6], b[6:8], b[8:10], b[10:]} {
				if i > 0 {
					dst = append(dst, '-')
				}
				dst = hex.AppendEncode(dst, part)
			}
			return dst
		})
	case meansUnsigned:
		if s.physical == format.Int32 {
			return strconv.AppendUint(dst, uint64(v.Uint32()), 10)
		}
		return strconv.AppendUint(dst, v.Uint64(), 10)
	case meansDecimal:
		return s.appendDecimal(dst, v)
	case meansDate, meansTime, meansTimestamp:
		if s.physical == format.Int96 {
			return appendInt96(dst, v.Int96())
		}
		return s.moment().Append(dst, s.integer(v))
	case meansFloat16:
		b := v.ByteArray()
		return lines.AppendFloat(dst, float16(uint16(b[0])|uint16(b[1])<<8), 32)
	}
	switch s.physical {
	case format.Boolean:
		return strconv.AppendBool(dst, v.Boolean())
	case format.Float:
		return lines.AppendFloat(dst, float64(v.Float()), 32)
	case format.Double:
		return lines.AppendFloat(dst, v.Double(), 64)
	}
	return strconv.AppendInt(dst, s.integer(v), 10)
}

func (s *scalar) integer(v parquet.Value) int64 {
	if s.physical == format.Int32 {
		return int64(v.Int32())
	}
	return v.Int64()
}

const julianEpoch = 2440588 // 1970-01-01

// appendInt96 appends a time of nanoseconds in a day.
func appendInt96(dst []byte, n deprecated.Int96) []byte {
	nanos := int64(n[1])<<32 | int64(n[0])
	t := time.Unix((int64(n[2])-julianEpoch)*86400, nanos).UTC()
	if nanos < 0 || nanos >= 86400e9 || !lines.Ordinary(t) {
		return fmt.Appendf(dst, `"%08x%08x%08x"`, n[2], n[1], n[0])
	}
	return t.AppendFormat(dst, `"2006-01-02T15:04:05.000000000"`)
}

// appendDecimal appends an exact number.
func (s *scalar) appendDecimal(dst []byte, v parquet.Value) []byte {
	n := new(big.Int)
	if s.physical == format.Int32 || s.physical == format.Int64 {
		n.SetInt64(s.integer(v))
	} else if b := v.ByteArray(); len(b) > longDecimal {
		return lines.Quote(dst, func(dst []byte) []byte { return base64.StdEncoding.AppendEncode(dst, b) })
	} else if len(b) > 0 {
		if n.SetBytes(b); b[0]&0x80 != 0 {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
		}
	}
	return lines.AppendDecimal(dst, n, s.scale)
}

// float16 returns the value of a half.
func float16(h uint16) float64 {
	exponent, fraction := int(h>>10&31), float64(h&1023)
	f := math.Ldexp(1+fraction/1024, exponent-15)
	switch {
	case exponent == 0:
		f = math.Ldexp(fraction, -24)
	case exponent == 31 && fraction == 0:
		f = math.Inf(1)
	case exponent == 31:
		return math.NaN()
	}
	if h>>15 != 0 {
		return -f
	}
	return f
}

// parse returns the value that JSON stands for: the inverse of append. text is the decoded string, if
// the JSON is one.
func (s *scalar) parse(raw, text string, isText bool) (parquet.Value, error) {
	none := parquet.Value{}
	switch s.means {
	case meansText, meansBytes, meansUUID:
		if !isText {
			return none, lines.ErrShape
		}
		b := []byte(text)
		var err error
		switch s.means {
		case meansBytes:
			b, err = base64.StdEncoding.DecodeString(text)
		case meansUUID:
			b, err = hex.DecodeString(strings.ReplaceAll(text, "-", ""))
		}
		if s.means == meansText && !utf8.ValidString(text) {
			err = lines.ErrShape
		}
		if err != nil {
			return none, lines.ErrShape
		}
		return s.bytes(b)
	case meansDecimal:
		n, ok := lines.ParseDecimal(raw)
		if !ok || s.physical == format.ByteArray {
			return none, lines.ErrShape
		}
		if s.physical != format.FixedLenByteArray {
			return s.number(n.String())
		}
		if n.Sign() < 0 {
			n.Add(n, new(big.Int).Lsh(big.NewInt(1), uint(8*s.length)))
		}
		if n.Sign() < 0 || n.BitLen() > 8*s.length {
			return none, lines.ErrShape
		}
		return s.bytes(n.FillBytes(make([]byte, s.length)))
	case meansDate, meansTime, meansTimestamp:
		if isText {
			return s.time(raw)
		}
	case meansFloat16:
		return none, lines.ErrShape
	}
	if isText {
		if raw = text; raw != "NaN" && raw != "+Inf" && raw != "-Inf" || s.physical != format.Float && s.physical != format.Double {
			return none, lines.ErrShape
		}
	}
	return s.number(raw)
}

// bytes returns a value of bytes.
func (s *scalar) bytes(b []byte) (parquet.Value, error) {
	if s.physical == format.ByteArray {
		return parquet.ByteArrayValue(b), nil
	}
	if len(b) != s.length {
		return parquet.Value{}, lines.ErrShape
	}
	return parquet.FixedLenByteArrayValue(b), nil
}

// moment returns the type of a date or a time.
func (s *scalar) moment() lines.Moment {
	kind := lines.Date
	switch s.means {
	case meansTime:
		kind = lines.Time
	case meansTimestamp:
		kind = lines.Timestamp
	}
	return lines.Moment{Kind: kind, Unit: s.unit, UTC: s.zulu}
}

// time parses a date or a time.
func (s *scalar) time(raw string) (parquet.Value, error) {
	if s.physical == format.Int96 {
		t, err := time.Parse(`"2006-01-02T15:04:05.000000000"`, raw)
		if err != nil {
			return parquet.Value{}, lines.ErrShape
		}
		day := t.Unix() / 86400
		if t.Unix()%86400 < 0 {
			day--
		}
		nanos := (t.Unix()-day*86400)*1e9 + int64(t.Nanosecond())
		return parquet.Int96Value(deprecated.Int96{uint32(nanos), uint32(nanos >> 32), uint32(day + julianEpoch)}), nil
	}
	n, err := s.moment().Parse(raw)
	if err != nil {
		return parquet.Value{}, err
	}
	return s.number(strconv.FormatInt(n, 10))
}

// number parses a number or a boolean.
func (s *scalar) number(raw string) (v parquet.Value, err error) {
	unsigned := s.means == meansUnsigned
	switch {
	case s.physical == format.Boolean && (raw == "true" || raw == "false"):
		return parquet.BooleanValue(raw == "true"), nil
	case s.physical == format.Int32 && unsigned:
		n, err := strconv.ParseUint(raw, 10, 32)
		return parquet.Int32Value(int32(n)), shapeError(err)
	case s.physical == format.Int32:
		n, err := strconv.ParseInt(raw, 10, 32)
		return parquet.Int32Value(int32(n)), shapeError(err)
	case s.physical == format.Int64 && unsigned:
		n, err := strconv.ParseUint(raw, 10, 64)
		return parquet.Int64Value(int64(n)), shapeError(err)
	case s.physical == format.Int64:
		n, err := strconv.ParseInt(raw, 10, 64)
		return parquet.Int64Value(n), shapeError(err)
	case s.physical == format.Float:
		f, err := strconv.ParseFloat(raw, 32)
		return parquet.FloatValue(float32(f)), shapeError(err)
	case s.physical == format.Double:
		f, err := strconv.ParseFloat(raw, 64)
		return parquet.DoubleValue(f), shapeError(err)
	}
	return v, lines.ErrShape
}

// shapeError says that a value does not fit.
func shapeError(err error) error {
	if err != nil {
		return lines.ErrShape
	}
	return nil
}
