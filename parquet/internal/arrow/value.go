package arrow

import (
	"encoding/base64"
	"fmt"
	"math/big"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/toolguard/toolguard/parquet/internal/lines"
)

// A rows reads the rows of a batch.
type rows struct {
	f     *File
	batch arrow.RecordBatch
	at    int
	rest  int64
}

// Left implements lines.Rows.
func (r *rows) Left() int64 { return r.rest }

// Skip implements lines.Rows.
func (r *rows) Skip() error {
	r.at++
	r.rest--
	return nil
}

// End implements lines.Rows. The columns of a batch have as many values as it has rows.
func (r *rows) End() error { return nil }

// Close implements lines.Rows.
func (r *rows) Close() {}

// mostRow is how long a row may be as JSON, as a part of the memory.
const mostRow = 6

// Line implements lines.Rows.
func (r *rows) Line(dst []byte) ([]byte, error) {
	f := r.f
	p := printer{f: f, text: append(dst, '{'), most: len(dst) + int(f.memory/mostRow)}
	for i, column := range f.columns {
		if i > 0 {
			p.text = append(p.text, ',')
		}
		p.text = append(p.text, f.names[column]...)
		p.asText = f.asText[column]
		p.value(r.batch.Column(column), r.at)
	}
	p.text = append(p.text, '}', '\n')
	_ = r.Skip()
	return p.text, p.err
}

// A printer writes values as JSON.
type printer struct {
	f      *File
	text   []byte
	most   int
	asText bool // bytes are text
	err    error
}

// value appends a value.
func (p *printer) value(a arrow.Array, i int) {
	if len(p.text) > p.most && p.err == nil {
		p.err = fmt.Errorf("a row of more than %s as JSON, which does not fit in the memory of the run", lines.Mega(p.f.memory/mostRow))
	}
	if p.err != nil {
		return
	}
	if _, is := a.(*array.Null); is || a.IsNull(i) {
		p.text = append(p.text, "null"...)
		return
	}
	switch a := a.(type) {
	case *array.String:
		p.string(a.Value(i))
	case *array.LargeString:
		p.string(a.Value(i))
	case *array.StringView:
		p.string(a.Value(i))
	case *array.Binary:
		p.bytes(a.Value(i))
	case *array.LargeBinary:
		p.bytes(a.Value(i))
	case *array.BinaryView:
		p.bytes(a.Value(i))
	case *array.FixedSizeBinary:
		p.bytes(a.Value(i))
	case *array.Struct:
		p.object(a, i)
	case *array.Map:
		p.pairs(a, i)
	case *array.Dictionary:
		p.value(a.Dictionary(), a.GetValueIndex(i))
	case array.ListLike:
		from, to := a.ValueOffsets(i)
		values := a.ListValues()
		p.text = append(p.text, '[')
		for j := from; j < to && p.err == nil; j++ {
			if j > from {
				p.text = append(p.text, ',')
			}
			p.value(values, int(j))
		}
		p.text = append(p.text, ']')
	case array.Union:
		child := a.ChildID(i)
		if dense, is := a.(*array.DenseUnion); is {
			i = int(dense.ValueOffset(i))
		}
		p.value(a.Field(child), i)
	case *array.RunEndEncoded:
		p.value(a.Values(), a.GetPhysicalIndex(i))
	case array.ExtensionArray:
		p.value(a.Storage(), i)
	default:
		p.scalar(a, i)
	}
}

// scalar appends a number, a truth value or a time.
func (p *printer) scalar(a arrow.Array, i int) {
	whole := func(n int64) { p.text = strconv.AppendInt(p.text, n, 10) }
	natural := func(n uint64) { p.text = strconv.AppendUint(p.text, n, 10) }
	switch a := a.(type) {
	case *array.Boolean:
		p.text = strconv.AppendBool(p.text, a.Value(i))
	case *array.Int8:
		whole(int64(a.Value(i)))
	case *array.Int16:
		whole(int64(a.Value(i)))
	case *array.Int32:
		whole(int64(a.Value(i)))
	case *array.Int64:
		whole(a.Value(i))
	case *array.Uint8:
		natural(uint64(a.Value(i)))
	case *array.Uint16:
		natural(uint64(a.Value(i)))
	case *array.Uint32:
		natural(uint64(a.Value(i)))
	case *array.Uint64:
		natural(a.Value(i))
	case *array.Float16:
		p.text = lines.AppendFloat(p.text, float64(a.Value(i).Float32()), 32)
	case *array.Float32:
		p.text = lines.AppendFloat(p.text, float64(a.Value(i)), 32)
	case *array.Float64:
		p.text = lines.AppendFloat(p.text, a.Value(i), 64)
	case *array.Decimal32:
		p.decimal(big.NewInt(int64(a.Value(i))), a.DataType())
	case *array.Decimal64:
		p.decimal(big.NewInt(int64(a.Value(i))), a.DataType())
	case *array.Decimal128:
		p.decimal(a.Value(i).BigInt(), a.DataType())
	case *array.Decimal256:
		p.decimal(a.Value(i).BigInt(), a.DataType())
	case *array.Date32:
		p.moment(a.DataType(), int64(a.Value(i)))
	case *array.Date64:
		p.moment(a.DataType(), int64(a.Value(i)))
	case *array.Time32:
		p.moment(a.DataType(), int64(a.Value(i)))
	case *array.Time64:
		p.moment(a.DataType(), int64(a.Value(i)))
	case *array.Timestamp:
		p.moment(a.DataType(), int64(a.Value(i)))
	case *array.Duration:
		whole(int64(a.Value(i)))
	case *array.MonthInterval:
		whole(int64(a.Value(i)))
	case *array.DayTimeInterval:
		v := a.Value(i)
		p.text = fmt.Appendf(p.text, `{"days":%d,"milliseconds":%d}`, v.Days, v.Milliseconds)
	case *array.MonthDayNanoInterval:
		v := a.Value(i)
		p.text = fmt.Appendf(p.text, `{"months":%d,"days":%d,"nanoseconds":%d}`, v.Months, v.Days, v.Nanoseconds)
	default:
		p.err = fmt.Errorf("the type %s, which toolguard does not read", a.DataType())
	}
}

func (p *printer) string(text string) { p.text = lines.AppendString(p.text, []byte(text)) }

func (p *printer) bytes(b []byte) {
	if p.asText {
		p.text = lines.AppendString(p.text, b)
		return
	}
	p.text = lines.Quote(p.text, func(dst []byte) []byte { return base64.StdEncoding.AppendEncode(dst, b) })
}

func (p *printer) decimal(n *big.Int, of arrow.DataType) {
	p.text = lines.AppendDecimal(p.text, n, int(of.(arrow.DecimalType).GetScale()))
}

// moment appends a date or a time.
func (p *printer) moment(of arrow.DataType, n int64) {
	p.text = momentOf(of).Append(p.text, n)
}

// momentOf returns a type of dates or times.
func momentOf(of arrow.DataType) lines.Moment {
	second := func(u arrow.TimeUnit) int64 {
		return [...]int64{arrow.Second: 1, arrow.Millisecond: 1e3, arrow.Microsecond: 1e6, arrow.Nanosecond: 1e9}[u]
	}
	switch of := of.(type) {
	case *arrow.Time32Type:
		return lines.Moment{Kind: lines.Time, Unit: second(of.Unit)}
	case *arrow.Time64Type:
		return lines.Moment{Kind: lines.Time, Unit: second(of.Unit)}
	case *arrow.TimestampType:
		return lines.Moment{Kind: lines.Timestamp, Unit: second(of.Unit), UTC: of.TimeZone != ""}
	case *arrow.Date64Type: // milliseconds, which need not be whole days
		return lines.Moment{Kind: lines.Timestamp, Unit: 1e3}
	}
	return lines.Moment{Kind: lines.Date}
}

// object appends a struct.
func (p *printer) object(a *array.Struct, i int) {
	of := a.DataType().(*arrow.StructType)
	keys := p.f.keys[of]
	if keys == nil {
		keys = keysOf(of) // the library made the type
	}
	p.text = append(p.text, '{')
	for j, key := range keys {
		if j > 0 {
			p.text = append(p.text, ',')
		}
		p.text = append(p.text, key...)
		p.value(a.Field(j), i)
	}
	p.text = append(p.text, '}')
}

// pairs appends a map as an object.
func (p *printer) pairs(a *array.Map, i int) {
	from, to := a.ValueOffsets(i)
	keys, items := a.Keys(), a.Items()
	p.text = append(p.text, '{')
	for j := from; j < to && p.err == nil; j++ {
		if j > from {
			p.text = append(p.text, ',')
		}
		at := len(p.text)
		if p.value(keys, int(j)); p.text[at] != '"' {
			name := string(p.text[at:])
			p.text = lines.AppendString(p.text[:at], []byte(name))
		}
		p.text = append(p.text, ':')
		p.value(items, int(j))
	}
	p.text = append(p.text, '}')
}
