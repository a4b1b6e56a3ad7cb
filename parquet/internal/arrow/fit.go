package arrow

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/tidwall/gjson"

	"github.com/toolguard/toolguard/internal/contain"
	"github.com/toolguard/toolguard/parquet/internal/lines"
)

// A Row is the values of some columns of a row, by column: arrays of one value. The other columns stay as they are.
type Row map[int]arrow.Array

// Fit implements lines.File.
func (f *File) Fit(before, after []byte) (_ lines.Row, _ []byte, err error) {
	defer contain.Catch(&err)
	was, err := lines.Object(gjson.ParseBytes(before))
	if err != nil {
		return nil, nil, err
	}
	is, err := lines.Object(gjson.ParseBytes(after))
	if err != nil {
		return nil, nil, err
	}
	row := Row{}
	p := printer{f: f, text: []byte{'{'}, most: int(f.memory / mostRow)}
	for i, column := range f.columns {
		if i > 0 {
			p.text = append(p.text, ',')
		}
		p.text = append(p.text, f.names[column]...)
		field := f.schema.Field(column)
		v, there := is[field.Name]
		delete(is, field.Name)
		if there && v.Raw == was[field.Name].Raw {
			p.text = append(p.text, v.Raw...)
			continue
		}
		if row[column], err = f.build(column, v); err != nil {
			return nil, nil, err
		}
		from := len(p.text)
		p.asText = f.asText[column]
		if p.value(row[column], 0); p.err != nil {
			return nil, nil, p.err
		}
		if there && !lines.Same(v, gjson.ParseBytes(p.text[from:])) {
			return nil, nil, fmt.Errorf("%s: it would be read as another value", field.Name)
		}
	}
	for name := range is {
		return nil, nil, fmt.Errorf("%s: no such column", strconv.Quote(name))
	}
	return row, append(p.text, "}\n"...), nil
}

// build returns an array of one value of a column.
func (f *File) build(column int, v gjson.Result) (arrow.Array, error) {
	field := f.schema.Field(column)
	dictionaries := &dictionary{}
	stored, coded := indexes(field.Type)
	if isCoded(stored) {
		return nil, fmt.Errorf("%s: a dictionary in the type %s cannot be written", field.Name, field.Type)
	}
	if coded {
		if f.replaced {
			return nil, fmt.Errorf("%s: its dictionary is not the same in all batches", field.Name)
		}
		all, err := f.dictionaries()
		if err != nil {
			return nil, err
		}
		dictionaries = all[column]
	}
	b := array.NewBuilder(memory.DefaultAllocator, stored)
	t := put{f: f, asText: f.asText[column]}
	if err := t.field(b, field, dictionaries, v, field.Name); err != nil {
		return nil, err
	}
	a := b.NewArray()
	if coded {
		a = array.MakeFromData(retype(a.Data(), field.Type, dictionaries))
	}
	return a, nil
}

// A dictionary is the values of a column, or of what is in it, that are written as numbers.
type dictionary struct {
	values   arrow.Array
	children []*dictionary
}

func (d *dictionary) child(i int) *dictionary {
	if i < len(d.children) {
		return d.children[i]
	}
	return &dictionary{}
}

// readDictionaries returns the dictionaries of all columns of the first batch.
func (f *File) readDictionaries() (out []*dictionary, err error) {
	c := cursor{f: f}
	batch, err := c.batch(0)
	if err != nil {
		return nil, err
	}
	for _, column := range batch.Columns() {
		out = append(out, dictionariesOf(column.Data()))
	}
	return out, nil
}

func dictionariesOf(d arrow.ArrayData) *dictionary {
	out := &dictionary{}
	if d.DataType().ID() == arrow.DICTIONARY {
		out.values = array.MakeFromData(d.Dictionary())
	}
	for _, c := range d.Children() {
		out.children = append(out.children, dictionariesOf(c))
	}
	return out
}

// indexes returns a type in which values of dictionaries are the numbers that stand for them, and whether there
// are any.
func indexes(t arrow.DataType) (arrow.DataType, bool) {
	one := func(f arrow.Field) (arrow.Field, bool) {
		stored, coded := indexes(f.Type)
		f.Type = stored
		return f, coded
	}
	switch t := t.(type) {
	case *arrow.DictionaryType:
		return t.IndexType, true
	case *arrow.ListType:
		if f, coded := one(t.ElemField()); coded {
			return arrow.ListOfField(f), true
		}
	case *arrow.LargeListType:
		if f, coded := one(t.ElemField()); coded {
			return arrow.LargeListOfField(f), true
		}
	case *arrow.FixedSizeListType:
		if f, coded := one(t.ElemField()); coded {
			return arrow.FixedSizeListOfField(t.Len(), f), true
		}
	case *arrow.StructType:
		fields, some := t.Fields(), false
		for i := range fields {
			coded := false
			fields[i], coded = one(fields[i])
			some = some || coded
		}
		if some {
			return arrow.StructOf(fields...), true
		}
	}
	return t, false
}

// isCoded reports whether there is a dictionary in a type.
func isCoded(t arrow.DataType) bool {
	if t.ID() == arrow.DICTIONARY {
		return true
	}
	nested, is := t.(arrow.NestedType)
	return is && slices.ContainsFunc(nested.Fields(), func(f arrow.Field) bool { return isCoded(f.Type) })
}

// retype returns values in the type that they were built for.
func retype(d arrow.ArrayData, t arrow.DataType, from *dictionary) arrow.ArrayData {
	if from.values != nil {
		return array.NewDataWithDictionary(t, d.Len(), d.Buffers(), d.NullN(), d.Offset(), from.values.Data().(*array.Data))
	}
	nested, is := t.(arrow.NestedType)
	if !is {
		return d
	}
	var children []arrow.ArrayData
	for i, c := range d.Children() {
		children = append(children, retype(c, nested.Fields()[i].Type, from.child(i)))
	}
	return array.NewData(t, d.Len(), d.Buffers(), children, d.NullN(), d.Offset())
}

// A put adds values to builders.
type put struct {
	f      *File
	asText bool
}

// field adds the value of a field.
func (p *put) field(b array.Builder, field arrow.Field, from *dictionary, v gjson.Result, path string) error {
	if v.Type == gjson.Null {
		if !field.Nullable {
			return fmt.Errorf("%s: must not be null", path)
		}
		b.AppendNull()
		return nil
	}
	if from.values != nil {
		return p.index(b, from, v, path)
	}
	err := p.value(b, field.Type, from, v, path)
	if errors.Is(err, errFit) {
		return fmt.Errorf("%s: %w", path, lines.ErrShape)
	}
	return err
}

var errFit = errors.New("does not fit")

// index adds the number that stands for a value.
func (p *put) index(b array.Builder, from *dictionary, v gjson.Result, path string) error {
	for i := range from.values.Len() {
		q := printer{f: p.f, most: int(p.f.memory / mostRow), asText: p.asText}
		if q.value(from.values, i); q.err == nil && lines.Same(v, gjson.ParseBytes(q.text)) {
			return b.AppendValueFromString(strconv.Itoa(i))
		}
	}
	return fmt.Errorf("%s: its dictionary does not have the value", path)
}

// value adds a value that is not null.
func (p *put) value(b array.Builder, t arrow.DataType, from *dictionary, v gjson.Result, path string) error {
	text := v.Type == gjson.String
	switch b := b.(type) {
	case *array.StringBuilder, *array.LargeStringBuilder, *array.StringViewBuilder:
		if !text || !utf8.ValidString(v.Str) {
			return errFit
		}
		b.(array.StringLikeBuilder).Append(v.Str)
	case array.BinaryLikeBuilder:
		raw, err := p.bytes(v)
		if err != nil {
			return err
		}
		b.Append(raw)
	case *array.FixedSizeBinaryBuilder:
		raw, err := p.bytes(v)
		if err != nil || len(raw) != t.(*arrow.FixedSizeBinaryType).ByteWidth {
			return errFit
		}
		b.Append(raw)
	case *array.MapBuilder:
		return p.pairs(b, t.(*arrow.MapType), v, path)
	case array.ListLikeBuilder:
		return p.list(b, t.(arrow.ListLikeType), from, v, path)
	case *array.StructBuilder:
		return p.object(b, t.(*arrow.StructType), from, v, path)
	default:
		return p.scalar(b, t, v)
	}
	return nil
}

func (p *put) bytes(v gjson.Result) ([]byte, error) {
	if v.Type != gjson.String {
		return nil, errFit
	}
	if p.asText {
		if !utf8.ValidString(v.Str) {
			return nil, errFit
		}
		return []byte(v.Str), nil
	}
	raw, err := base64.StdEncoding.DecodeString(v.Str)
	if err != nil {
		return nil, errFit
	}
	return raw, nil
}

func (p *put) list(b array.ListLikeBuilder, t arrow.ListLikeType, from *dictionary, v gjson.Result, path string) error {
	if !v.IsArray() {
		return fmt.Errorf("%s: expected a list", path)
	}
	list := v.Array()
	fixed, is := t.(*arrow.FixedSizeListType)
	switch {
	case is && len(list) != int(fixed.Len()):
		return fmt.Errorf("%s: expected %d elements, got %d", path, fixed.Len(), len(list))
	case is:
		b.Append(true)
	default:
		b.(array.VarLenListLikeBuilder).AppendWithSize(true, len(list))
	}
	for _, e := range list {
		if err := p.field(b.ValueBuilder(), t.ElemField(), from.child(0), e, path); err != nil {
			return err
		}
	}
	return nil
}

func (p *put) object(b *array.StructBuilder, t *arrow.StructType, from *dictionary, v gjson.Result, path string) error {
	if !v.IsObject() {
		return fmt.Errorf("%s: expected an object", path)
	}
	is, err := lines.Object(v)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	b.Append(true)
	for i, field := range t.Fields() {
		e := is[field.Name]
		delete(is, field.Name)
		if err := p.field(b.FieldBuilder(i), field, from.child(i), e, path+"."+field.Name); err != nil {
			return err
		}
	}
	for name := range is {
		return fmt.Errorf("%s: has no field %s", path, strconv.Quote(name))
	}
	return nil
}

func (p *put) pairs(b *array.MapBuilder, t *arrow.MapType, v gjson.Result, path string) (err error) {
	if !v.IsObject() {
		return fmt.Errorf("%s: expected an object", path)
	}
	b.Append(true)
	v.ForEach(func(key, value gjson.Result) bool {
		if err = p.field(b.KeyBuilder(), t.KeyField(), &dictionary{}, key, path); errors.Is(err, lines.ErrShape) {
			err = p.field(b.KeyBuilder(), t.KeyField(), &dictionary{}, gjson.Parse(key.Str), path)
		}
		if err == nil {
			err = p.field(b.ItemBuilder(), t.ItemField(), &dictionary{}, value, path)
		}
		return err == nil
	})
	return err
}

// scalar adds a number, a truth value or a time.
func (p *put) scalar(b array.Builder, t arrow.DataType, v gjson.Result) error {
	text := v.Type == gjson.String
	switch b := b.(type) {
	case *array.BooleanBuilder:
		if !v.IsBool() {
			return errFit
		}
		b.Append(v.Bool())
		return nil
	case *array.Date32Builder, *array.Date64Builder, *array.Time32Builder, *array.Time64Builder, *array.TimestampBuilder:
		return p.moment(b, t, v)
	case *array.Decimal128Builder, *array.Decimal256Builder:
		return p.decimal(b, t.(arrow.DecimalType), v)
	}
	raw := v.Raw
	if text {
		if raw = v.Str; raw != "NaN" && raw != "+Inf" && raw != "-Inf" {
			return errFit
		}
	}
	var err error
	switch b := b.(type) {
	case *array.Float32Builder:
		var n float64
		n, err = strconv.ParseFloat(raw, 32)
		b.Append(float32(n))
	case *array.Float64Builder:
		var n float64
		n, err = strconv.ParseFloat(raw, 64)
		b.Append(n)
	case *array.Int8Builder, *array.Int16Builder, *array.Int32Builder, *array.Int64Builder,
		*array.Uint8Builder, *array.Uint16Builder, *array.Uint32Builder, *array.Uint64Builder:
		err = b.AppendValueFromString(raw)
	default:
		err = errFit
	}
	if err != nil {
		return errFit
	}
	return nil
}

func (p *put) moment(b array.Builder, t arrow.DataType, v gjson.Result) error {
	n, err := strconv.ParseInt(v.Raw, 10, 64)
	if v.Type == gjson.String {
		n, err = momentOf(t).Parse(v.Raw)
	}
	if err != nil {
		return errFit
	}
	switch b := b.(type) {
	case *array.Date32Builder:
		b.Append(arrow.Date32(n))
	case *array.Date64Builder:
		b.Append(arrow.Date64(n))
	case *array.Time32Builder:
		b.Append(arrow.Time32(n))
	case *array.Time64Builder:
		b.Append(arrow.Time64(n))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(n))
	}
	return nil
}

func (p *put) decimal(b array.Builder, t arrow.DecimalType, v gjson.Result) error {
	n, is := lines.ParseDecimal(v.Raw)
	if !is || new(big.Int).Abs(n).Cmp(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.GetPrecision())), nil)) >= 0 {
		return errFit
	}
	switch b := b.(type) {
	case *array.Decimal128Builder:
		b.Append(decimal128.FromBigInt(n))
	case *array.Decimal256Builder:
		b.Append(decimal256.FromBigInt(n))
	}
	return nil
}
