package arrow

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/parquet/internal/lines"
)

// everything is a schema with each type.
func everything() *arrow.Schema {
	field := func(name string, t arrow.DataType) arrow.Field {
		return arrow.Field{Name: name, Type: t, Nullable: true}
	}
	inner := arrow.StructOf(field("x", arrow.PrimitiveTypes.Int64), field("y \"é\"", arrow.ListOf(arrow.BinaryTypes.String)))
	meta := arrow.NewMetadata([]string{"z", "a"}, []string{"1", `{"x":2}`})
	return arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64, Metadata: arrow.NewMetadata([]string{"k"}, []string{"v"})},
		field("text", arrow.BinaryTypes.String), field("long", arrow.BinaryTypes.LargeString), field("view", arrow.BinaryTypes.StringView),
		field("raw", arrow.BinaryTypes.Binary), field("rawlong", arrow.BinaryTypes.LargeBinary), field("rawview", arrow.BinaryTypes.BinaryView),
		field("fixed", &arrow.FixedSizeBinaryType{ByteWidth: 3}),
		field("ok", arrow.FixedWidthTypes.Boolean), field("i8", arrow.PrimitiveTypes.Int8), field("i16", arrow.PrimitiveTypes.Int16), field("i32", arrow.PrimitiveTypes.Int32),
		field("u8", arrow.PrimitiveTypes.Uint8), field("u16", arrow.PrimitiveTypes.Uint16), field("u32", arrow.PrimitiveTypes.Uint32), field("u64", arrow.PrimitiveTypes.Uint64),
		field("f16", arrow.FixedWidthTypes.Float16), field("f32", arrow.PrimitiveTypes.Float32), field("f64", arrow.PrimitiveTypes.Float64),
		field("d128", &arrow.Decimal128Type{Precision: 20, Scale: 3}), field("d256", &arrow.Decimal256Type{Precision: 50, Scale: 0}),
		field("date", arrow.FixedWidthTypes.Date32), field("date64", arrow.FixedWidthTypes.Date64),
		field("t32", arrow.FixedWidthTypes.Time32ms), field("t64", arrow.FixedWidthTypes.Time64ns),
		field("local", &arrow.TimestampType{Unit: arrow.Second}), field("zoned", &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "Europe/Berlin"}),
		field("span", arrow.FixedWidthTypes.Duration_ms), field("months", arrow.FixedWidthTypes.MonthInterval), field("days", arrow.FixedWidthTypes.DayTimeInterval),
		field("nanos", arrow.FixedWidthTypes.MonthDayNanoInterval),
		field("list", arrow.ListOf(arrow.ListOf(arrow.PrimitiveTypes.Int32))), field("longlist", arrow.LargeListOf(inner)),
		field("pair", arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int16)), field("listview", arrow.ListViewOf(arrow.BinaryTypes.String)),
		field("object", inner), field("map", arrow.MapOf(arrow.BinaryTypes.String, inner)), field("numbers", arrow.MapOf(arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String)),
		field("nothing", arrow.Null),
		field("colour", &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}),
		field("coded", arrow.ListOf(arrow.StructOf(field("role", &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint32, ValueType: arrow.BinaryTypes.String})))),
		field("codedview", arrow.ListViewOf(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: arrow.BinaryTypes.String})),
		field("runs", arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String)),
	}, &meta)
}

// batch makes a batch of rows from first on. Values of row i are null if i is a multiple of 5. Dictionaries are the
// same in all batches, or have what is in the batch.
func batch(schema *arrow.Schema, first, n int, same bool) arrow.RecordBatch {
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	for j := range schema.Fields() {
		if same {
			define(b.Field(j))
		}
	}
	for i := first; i < first+n; i++ {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		for j := 1; j < len(schema.Fields()); j++ {
			if i%5 == 0 {
				b.Field(j).AppendNull()
				continue
			}
			appendValue(b.Field(j), i)
		}
	}
	return b.NewRecordBatch()
}

// define sets the values of dictionaries.
func define(b array.Builder) {
	switch b := b.(type) {
	case *array.BinaryDictionaryBuilder:
		values := array.NewStringBuilder(memory.DefaultAllocator)
		values.AppendValues([]string{"red", "green", "blue"}, nil)
		_ = b.InsertStringDictValues(values.NewStringArray())
	case *array.ListBuilder:
		define(b.ValueBuilder())
	case *array.ListViewBuilder:
		define(b.ValueBuilder())
	case *array.StructBuilder:
		for i := range b.NumField() {
			define(b.FieldBuilder(i))
		}
	}
}

func appendValue(b array.Builder, i int) {
	text := fmt.Sprintf("é \"%d\"\n%s", i, strings.Repeat("a", i%40))
	switch b := b.(type) {
	case *array.StringBuilder:
		b.Append(text)
	case *array.LargeStringBuilder:
		b.Append(text)
	case *array.StringViewBuilder:
		b.Append(text)
	case *array.BinaryDictionaryBuilder:
		_ = b.AppendString([]string{"red", "green", "blue"}[i%3])
	case array.BinaryLikeBuilder:
		b.Append([]byte(text))
	case *array.FixedSizeBinaryBuilder:
		b.Append([]byte{byte(i), 0, 255})
	case *array.BooleanBuilder:
		b.Append(i%2 == 0)
	case *array.Int8Builder:
		b.Append(int8(i))
	case *array.Int16Builder:
		b.Append(int16(-i))
	case *array.Int32Builder:
		b.Append(int32(-i))
	case *array.Int64Builder:
		b.Append(math.MinInt64 + int64(i))
	case *array.Uint8Builder:
		b.Append(uint8(i))
	case *array.Uint16Builder:
		b.Append(uint16(i))
	case *array.Uint32Builder:
		b.Append(uint32(i))
	case *array.Uint64Builder:
		b.Append(math.MaxUint64 - uint64(i))
	case *array.Float16Builder:
		b.Append(float16.New(float32(i) / 4))
	case *array.Float32Builder:
		b.Append([]float32{float32(i) / 3, float32(math.Inf(-1))}[i%2])
	case *array.Float64Builder:
		b.Append([]float64{float64(i) / 3, math.NaN()}[i%2])
	case *array.Decimal128Builder:
		b.Append(decimal128.FromI64(int64(1 - i)))
	case *array.Decimal256Builder:
		n, _ := new(big.Int).SetString(fmt.Sprintf("-%d0000000000000000000000000000000000000000", i), 10)
		b.Append(decimal256.FromBigInt(n))
	case *array.Date32Builder:
		b.Append(arrow.Date32(i - 3))
	case *array.Date64Builder:
		b.Append(arrow.Date64(i * 86_400_000))
	case *array.Time32Builder:
		b.Append(arrow.Time32(i))
	case *array.Time64Builder:
		b.Append(arrow.Time64(i))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(i - 3))
	case *array.DurationBuilder:
		b.Append(arrow.Duration(i))
	case *array.MonthIntervalBuilder:
		b.Append(arrow.MonthInterval(i))
	case *array.DayTimeIntervalBuilder:
		b.Append(arrow.DayTimeInterval{Days: int32(i), Milliseconds: 7})
	case *array.MonthDayNanoIntervalBuilder:
		b.Append(arrow.MonthDayNanoInterval{Months: 1, Days: int32(i), Nanoseconds: 2})
	case *array.MapBuilder:
		b.Append(true)
		for k := range i % 3 {
			appendValue(b.KeyBuilder(), i+k)
			appendValue(b.ItemBuilder(), i)
		}
	case *array.FixedSizeListBuilder:
		b.Append(true)
		appendValue(b.ValueBuilder(), i)
		b.ValueBuilder().AppendNull()
	case array.ListLikeBuilder:
		if sized, is := b.(array.VarLenListLikeBuilder); is {
			sized.AppendWithSize(true, i%3)
		} else {
			b.Append(true)
		}
		for range i % 3 {
			appendValue(b.ValueBuilder(), i)
		}
	case *array.StructBuilder:
		b.Append(true)
		for j := range b.NumField() {
			appendValue(b.FieldBuilder(j), i)
		}
	case *array.NullBuilder:
		b.AppendNull()
	case *array.RunEndEncodedBuilder:
		b.Append(1)
		appendValue(b.ValueBuilder(), i/4)
	default:
		panic(fmt.Sprintf("%T", b))
	}
}

// writeFile writes batches of so many rows as a file or a stream.
func writeFile(t testing.TB, path string, stream bool, schema *arrow.Schema, batches []int, options ...ipc.Option) {
	t.Helper()
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	options = append(options, ipc.WithSchema(schema))
	var w interface {
		Write(arrow.RecordBatch) error
		Close() error
	} = ipc.NewWriter(out, options...)
	if !stream {
		if w, err = ipc.NewFileWriter(out, options...); err != nil {
			t.Fatal(err)
		}
	}
	first := 0
	for _, n := range batches {
		if err := w.Write(batch(schema, first, n, !stream)); err != nil {
			t.Fatal(err)
		}
		first += n
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// texts returns the rows of a file as lines of JSON.
func texts(path string, memory int64) (_ []string, err error) {
	f, err := Open(context.Background(), path, memory)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := lines.NewText(context.Background(), f)
	if err != nil {
		return nil, err
	}
	defer text.Close()
	raw, err := io.ReadAll(io.NewSectionReader(text, 0, text.Size()))
	if err != nil {
		return nil, err
	}
	return slices.Collect(strings.Lines(string(raw))), nil
}

// records reads a file with the library alone, as its own JSON.
func records(t *testing.T, path string, stream bool) (rows []string, sizes []int64, schema *arrow.Schema) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	add := func(b arrow.RecordBatch) {
		text, err := b.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		var list []json.RawMessage
		if err := json.Unmarshal(text, &list); err != nil {
			t.Fatal(err)
		}
		for _, row := range list {
			rows = append(rows, string(row))
		}
		sizes = append(sizes, b.NumRows())
	}
	if stream {
		r, err := ipc.NewReader(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		for r.Next() {
			add(r.RecordBatch())
		}
		if r.Err() != nil {
			t.Fatal(r.Err())
		}
		return rows, sizes, r.Schema()
	}
	r, err := ipc.NewFileReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.NumRecords() {
		b, err := r.RecordBatch(i)
		if err != nil {
			t.Fatal(err)
		}
		add(b)
	}
	return rows, sizes, r.Schema()
}

// copyRows copies a file without the rows that drop names, or only those.
func copyRows(path, to string, few bool, n int, drop func(int) bool) error {
	f, err := Open(context.Background(), path, lines.DefaultMemory)
	if err != nil {
		return err
	}
	defer f.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer out.Close()
	w := f.Rest(out, "test")
	if few {
		w = f.Few(out, "test")
	}
	for i := range n {
		if drop(i) {
			if err := w.Except(int64(i)); err != nil {
				return err
			}
		}
	}
	return w.Close()
}

// TestCopies: copies of files and streams have the same values, types, metadata and batches, in each codec, as the
// library reads them.
func TestCopies(t *testing.T) {
	t.Parallel()
	sizes := []int{60, 0, 1, 39, 70}
	n := 170
	for name, options := range map[string][]ipc.Option{"plain": nil, "lz4": {ipc.WithLZ4()}, "zstd": {ipc.WithZstd()}} {
		for _, stream := range []bool{false, true} {
			dir := t.TempDir()
			path, to := filepath.Join(dir, "a.arrow"), filepath.Join(dir, "b.arrow")
			writeFile(t, path, stream, everything(), sizes, options...)
			want, _, schema := records(t, path, stream)
			for what, drop := range map[string]func(int) bool{
				"none": func(int) bool { return false }, "all": func(int) bool { return true },
				"third": func(i int) bool { return i%3 == 1 }, "batch": func(i int) bool { return i < 60 }, "one": func(i int) bool { return i == 60 },
			} {
				for _, few := range []bool{false, true} {
					label := fmt.Sprintf("%s, stream %v, %s, few %v", name, stream, what, few)
					if err := copyRows(path, to, few, n, drop); err != nil {
						t.Fatalf("%s: %v", label, err)
					}
					var left []string
					for i, row := range want {
						if drop(i) == few {
							left = append(left, row)
						}
					}
					got, batches, gotSchema := records(t, to, stream)
					if diff := cmp.Diff(left, got); diff != "" {
						t.Errorf("%s: (-want +got)\n%s", label, diff)
					}
					if !schema.Equal(gotSchema) || !schema.Metadata().Equal(gotSchema.Metadata()) {
						t.Errorf("%s: schema %v, want %v", label, gotSchema, schema)
					}
					if what == "batch" && !few && fmt.Sprint(batches) != "[0 1 39 70]" || what == "one" && few && fmt.Sprint(batches) != "[1]" {
						t.Errorf("%s: batches %v", label, batches)
					}
					again, err := texts(to, lines.DefaultMemory)
					if err != nil || len(again) != len(left) {
						t.Errorf("%s: %d rows, %v", label, len(again), err)
					}
					a, _ := os.ReadFile(path)
					if b, _ := os.ReadFile(to); what == "none" && !few && !bytes.Equal(a, b) {
						t.Errorf("%s: %d bytes, want the same %d", label, len(b), len(a))
					}
				}
			}
		}
	}
}

// TestJSON shows how each type is written.
func TestJSON(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "in.arrow")
	writeFile(t, path, true, everything(), []int{3})
	got, err := texts(path, lines.DefaultMemory)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"id":2,"text":"é \"2\"\naa","long":"é \"2\"\naa","view":"é \"2\"\naa","raw":"w6kgIjIiCmFh","rawlong":"w6kgIjIiCmFh","rawview":"w6kgIjIiCmFh","fixed":"AgD/",` +
		`"ok":true,"i8":2,"i16":-2,"i32":-2,"u8":2,"u16":2,"u32":2,"u64":18446744073709551613,"f16":0.5,"f32":0.6666667,"f64":0.6666666666666666,` +
		`"d128":-0.001,"d256":-20000000000000000000000000000000000000000,"date":"1969-12-31","date64":"1970-01-03T00:00:00.000","t32":"00:00:00.002","t64":"00:00:00.000000002",` +
		`"local":"1969-12-31T23:59:59","zoned":"1969-12-31T23:59:59.999999Z","span":2,"months":2,"days":{"days":2,"milliseconds":7},"nanos":{"months":1,"days":2,"nanoseconds":2},` +
		`"list":[[-2,-2],[-2,-2]],"longlist":[{"x":-9223372036854775806,"y \"é\"":["é \"2\"\naa","é \"2\"\naa"]},{"x":-9223372036854775806,"y \"é\"":["é \"2\"\naa","é \"2\"\naa"]}],` +
		`"pair":[-2,null],"listview":["é \"2\"\naa","é \"2\"\naa"],"object":{"x":-9223372036854775806,"y \"é\"":["é \"2\"\naa","é \"2\"\naa"]},` +
		`"map":{"é \"2\"\naa":{"x":-9223372036854775806,"y \"é\"":["é \"2\"\naa","é \"2\"\naa"]},"é \"3\"\naaa":{"x":-9223372036854775806,"y \"é\"":["é \"2\"\naa","é \"2\"\naa"]}},` +
		`"numbers":{"-2":"é \"2\"\naa","-3":"é \"2\"\naa"},"nothing":null,"colour":"blue","coded":[{"role":"blue"},{"role":"blue"}],"codedview":["blue","blue"],"runs":"é \"0\"\n"}` + "\n"
	if len(got) != 3 {
		t.Fatalf("%d rows", len(got))
	}
	if diff := cmp.Diff(want, got[2]); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if want := `{"id":0,"text":null,"long":null,`; !strings.HasPrefix(got[0], want) || !strings.Contains(got[1], `"f32":"-Inf","f64":"NaN","d128":0.000,`) {
		t.Errorf("%s%s", got[0], got[1])
	}
}

// TestFitsAgain: each row fits its own columns, and is read as the same row again.
func TestFitsAgain(t *testing.T) {
	t.Parallel()
	var fields []arrow.Field
	for _, field := range everything().Fields() {
		switch field.Name {
		case "f16", "span", "months", "days", "nanos", "runs", "codedview": // they cannot be written by a repair
		default:
			fields = append(fields, field)
		}
	}
	schema := arrow.NewSchema(fields, nil)
	for _, stream := range []bool{false, true} {
		dir := t.TempDir()
		path, to := filepath.Join(dir, "in.arrow"), filepath.Join(dir, "out.arrow")
		batches := []int{20, 40}
		if stream {
			batches = []int{60} // there is one dictionary only
		}
		writeFile(t, path, stream, schema, batches, ipc.WithZstd())
		was, err := texts(path, lines.DefaultMemory)
		if err != nil {
			t.Fatal(err)
		}
		f, err := Open(t.Context(), path, lines.DefaultMemory)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		out, err := os.Create(to)
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		w := f.Rest(out, "test")
		for i, line := range was {
			if i%4 == 3 {
				continue
			}
			row, stored, err := f.Fit([]byte("{}"), []byte(line)) // as if all columns had changed
			if err != nil {
				t.Fatalf("row %d: %v\n%s", i, err, line)
			}
			if string(stored) != line {
				t.Errorf("row %d is stored as\n%s, want\n%s", i, stored, line)
			}
			if err := w.Replace(int64(i), row); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		want, wantSizes, _ := records(t, path, stream)
		got, gotSizes, _ := records(t, to, stream)
		if diff := cmp.Diff(want, got); diff != "" || !slices.Equal(wantSizes, gotSizes) {
			t.Errorf("%v, %v (-want +got)\n%s", wantSizes, gotSizes, diff)
		}
	}
}

// TestFit: what does not fit is told.
func TestFit(t *testing.T) {
	t.Parallel()
	colour := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64},
		{Name: "price", Type: &arrow.Decimal128Type{Precision: 5, Scale: 2}},
		{Name: "colour", Type: colour},
		{Name: "raw", Type: arrow.BinaryTypes.Binary},
		{Name: "views", Type: arrow.ListViewOf(colour)},
		{Name: "pair", Type: arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int8)},
		{Name: "messages", Type: arrow.ListOf(arrow.StructOf(
			arrow.Field{Name: "role", Type: arrow.BinaryTypes.String},
			arrow.Field{Name: "text", Type: arrow.BinaryTypes.String, Nullable: true},
			arrow.Field{Name: "calls", Type: arrow.ListOfNonNullable(arrow.BinaryTypes.String)},
		))},
	}, nil)
	dir := t.TempDir()
	var file *File
	for _, batches := range [][]int{{1, 2}, {2}} {
		path := filepath.Join(dir, fmt.Sprint("in", len(batches), ".arrow"))
		out, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		w := ipc.NewWriter(out, ipc.WithSchema(schema))
		for i, n := range batches {
			b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
			for range n {
				b.Field(0).(*array.Int64Builder).Append(0)
				b.Field(1).(*array.Decimal128Builder).Append(decimal128.FromI64(-5))
				_ = b.Field(2).(*array.BinaryDictionaryBuilder).AppendString([]string{"red", "blue"}[i])
				b.Field(3).(*array.BinaryBuilder).Append([]byte("x"))
				b.Field(4).(*array.ListViewBuilder).AppendWithSize(true, 1)
				_ = b.Field(4).(*array.ListViewBuilder).ValueBuilder().(*array.BinaryDictionaryBuilder).AppendString("red")
				b.Field(5).(*array.FixedSizeListBuilder).Append(true)
				b.Field(5).(*array.FixedSizeListBuilder).ValueBuilder().(*array.Int8Builder).AppendValues([]int8{1, 2}, nil)
				b.Field(6).(*array.ListBuilder).AppendEmptyValue()
			}
			if err := w.Write(b.NewRecordBatch()); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		out.Close()
		if file, err = Open(t.Context(), path, lines.DefaultMemory); err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		was, err := texts(path, lines.DefaultMemory)
		if err != nil {
			t.Fatal(err)
		}
		dictionary := `colour: its dictionary does not have the value`
		if len(batches) == 2 {
			dictionary = `colour: its dictionary is not the same in all batches`
		}
		for _, c := range []struct{ old, new, want string }{
			{`"messages":[]`, `"messages":[{"role":"tool","text":"x","calls":[]}]`, ""},
			{`"messages":[]`, `"messages":[{"role":"tool","calls":["x"]}]`, ""},
			{`"messages":[]`, `"messages":[{"role":"tool","calls":[],"tool":"x"}]`, `messages: has no field "tool"`},
			{`"messages":[]`, `"messages":[{"role":"tool","text":"x"}]`, `messages.calls: must not be null`},
			{`"messages":[]`, `"messages":[{"role":null}]`, `messages.role: must not be null`},
			{`"messages":[]`, `"messages":[{"role":5}]`, `messages.role: its type cannot hold the value`},
			{`"messages":[]`, `"messages":{}`, `messages: expected a list`},
			{`"messages":[]`, `"messages":["x"]`, `messages: expected an object`},
			{`"id":0`, `"id":9223372036854775808`, `id: its type cannot hold the value`},
			{`"id":0`, `"id":1.0`, `id: its type cannot hold the value`},
			{`"id":0`, `"id":-0`, `id: it would be read as another value`},
			{`"id":0`, `"id":"NaN"`, `id: its type cannot hold the value`},
			{`"id":0`, `"id":0,"new":1`, `"new": no such column`},
			{`"id":0`, `"id":1,"id":0`, `"id": a field twice`},
			{`"price":-0.05`, `"price":-0.1`, `price: it would be read as another value`},
			{`"price":-0.05`, `"price":1000.00`, `price: its type cannot hold the value`},
			{`"pair":[1,2]`, `"pair":[1]`, `pair: expected 2 elements, got 1`},
			{`"raw":"eA=="`, `"raw":"!"`, `raw: its type cannot hold the value`},
			{`"colour":"red"`, `"colour":"green"`, dictionary},
			{`"views":["red"]`, `"views":[]`, "views: a dictionary in the type list_view<item: dictionary<values=utf8, indices=int8, ordered=false>, nullable> cannot be written"},
		} {
			after := strings.Replace(was[0], c.old, c.new, 1)
			if after == was[0] {
				t.Fatalf("%s has no %s", was[0], c.old)
			}
			_, _, err := file.Fit([]byte(was[0]), []byte(after))
			if got := fmt.Sprint(err); got != c.want && (err != nil || c.want != "") {
				t.Errorf("%s: %s, want %s", c.new, got, c.want)
			}
		}
	}
}

// tries opens, reads and copies a file that may be broken. What can be copied is read as the same rows.
func tries(t testing.TB, path string, memory int64) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	was, err := texts(path, memory)
	if err == nil && len(was) > 0 {
		if err = copyRows(path, path+".copy", false, 1, func(int) bool { return true }); err == nil {
			got, err := texts(path+".copy", memory)
			if err != nil || !slices.Equal(got, was[1:]) {
				t.Errorf("the copy has %d rows, want %d: %v: (-want +got)\n%s", len(got), len(was)-1, err, cmp.Diff(was[1:], got))
			}
		}
	}
	if err != nil && !strings.HasPrefix(err.Error(), path+": ") {
		t.Errorf("the error does not begin with the path: %v", err)
	}
	for _, word := range []string{"runtime", "internal error", "arrow/", "flatbuf", "panic", "goroutine"} {
		if err != nil && strings.Contains(strings.TrimPrefix(err.Error(), path), word) {
			t.Errorf("%v", err)
		}
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > uint64(20*memory) {
		t.Errorf("%d bytes were allocated", used)
	}
}

// TestBroken flips bits of files and streams, and cuts them.
func TestBroken(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, stream := range []bool{false, true} {
		for _, options := range [][]ipc.Option{nil, {ipc.WithLZ4()}} {
			path := filepath.Join(dir, "in.arrow")
			writeFile(t, path, stream, everything(), []int{7, 5}, options...)
			whole, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			f, err := Open(t.Context(), path, 16<<20)
			if err != nil {
				t.Fatal(err)
			}
			f.Close()
			ends := map[int64]bool{f.head.end: stream} // where a stream may end
			for _, m := range f.others {
				ends[m.end] = stream
			}
			ends[int64(len(whole)-4)] = false
			broken := filepath.Join(dir, "broken.arrow")
			try := func(b []byte) {
				if err := os.WriteFile(broken, b, 0o600); err != nil {
					t.Fatal(err)
				}
				tries(t, broken, 16<<20)
			}
			step := 97
			if os.Getenv("TOOLGUARD_LONG") != "" {
				step = 17
			}
			for i := 0; i < len(whole); i += step {
				b := slices.Clone(whole)
				b[i] ^= 1 << (i / step % 8)
				try(b)
				b[i] = 0xff
				try(b)
			}
			for i := 0; i < len(whole); i += 3 * step {
				if err := os.WriteFile(broken, whole[:i], 0o600); err != nil {
					t.Fatal(err)
				}
				if _, err := texts(broken, 16<<20); err == nil && !ends[int64(i)] {
					t.Errorf("cut at %d of %d bytes: read without an error", i, len(whole))
				}
			}
		}
	}
}

// TestTold: what is wrong with a file is said.
func TestTold(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bytesOf := func(stream bool, sizes ...int) []byte {
		path := filepath.Join(dir, "in.arrow")
		writeFile(t, path, stream, everything(), sizes)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return whole
	}
	file, stream := bytesOf(false, 100, 200), bytesOf(true, 100, 200)
	long := slices.Clone(file)
	copy(long[len(long)-10:], []byte{0xff, 0xff, 0xff, 0x7f})
	big := slices.Clone(stream)
	copy(big[4:], []byte{0xff, 0xff, 0xff, 0x7f})
	for name, c := range map[string]struct {
		text   []byte
		memory int64
		want   string
	}{
		"empty":   {nil, lines.DefaultMemory, "not an Arrow file or stream: expected ARROW1 or a message at its start"},
		"other":   {[]byte(`{"messages":[]}` + "\n"), lines.DefaultMemory, "not an Arrow file or stream: expected ARROW1 or a message at its start"},
		"torn":    {file[:1000], lines.DefaultMemory, "the file is torn: expected ARROW1 at its end, after the footer"},
		"cut":     {stream[:len(stream)-100], lines.DefaultMemory, "message at byte "},
		"long":    {long, lines.DefaultMemory, fmt.Sprintf("footer: expected at most %d bytes, got 2147483647", len(file)-18)},
		"big":     {big, lines.DefaultMemory, "message at byte 0: expected a description of at most 33554432 bytes, got 2147483647"},
		"large":   {file, 100_000, "record batch 1: too large for the memory of the run: it needs 1 MB, and 1 MB of --max-memory 1 MB are for it: write smaller batches, or allow more memory"},
		"more":    {append(slices.Clone(stream), "more"...), lines.DefaultMemory, fmt.Sprintf("expected nothing after the end of the stream at byte %d", len(stream))},
		"none":    {[]byte("\xff\xff\xff\xff\x00\x00\x00\x00"), lines.DefaultMemory, "expected a schema"},
		"no file": {nil, 0, "no such file or directory"},
	} {
		at := filepath.Join(dir, name)
		if c.memory > 0 {
			if err := os.WriteFile(at, c.text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, err := texts(at, c.memory)
		if got := fmt.Sprint(err); !strings.HasPrefix(got, at+": "+c.want) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// FuzzFile reads and copies whatever comes.
func FuzzFile(f *testing.F) {
	dir := f.TempDir()
	for _, stream := range []bool{false, true} {
		for _, options := range [][]ipc.Option{nil, {ipc.WithLZ4()}, {ipc.WithZstd()}} {
			path := filepath.Join(dir, "seed.arrow")
			writeFile(f, path, stream, everything(), []int{4, 5}, options...)
			b, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "in.arrow")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		tries(t, path, 16<<20)
	})
}

// patched writes a stream of one batch with another description of the batch, and returns the error of reading it.
func patched(t *testing.T, schema *arrow.Schema, patch func(header *table)) error {
	t.Helper()
	path := filepath.Join(t.TempDir(), "in.arrow")
	writeFile(t, path, true, schema, []int{3})
	f, err := Open(t.Context(), path, lines.DefaultMemory)
	if err != nil {
		t.Fatal(err)
	}
	m := f.others[f.batches[0]]
	f.Close()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := root(whole[m.meta:m.body])
	header, _ := text.table(messageHeader)
	patch(&header)
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = texts(path, lines.DefaultMemory)
	if err == nil {
		return nil
	}
	return errors.New(strings.TrimPrefix(err.Error(), path+": "))
}

// TestParts: a batch has the values and the buffers of its schema, and the buffers are as long as its values. The
// library reads what is next to them.
func TestParts(t *testing.T) {
	t.Parallel()
	schema := arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "view", Type: arrow.BinaryTypes.StringView, Nullable: true}}, nil)
	for name, c := range map[string]struct{ field, size int }{"values": {batchNodes, 16}, "buffers": {batchBuffers, 16}, "views": {batchVariadic, 8}} {
		err := patched(t, schema, func(h *table) {
			elements, at := h.vector(c.field, c.size)
			h.shorten(at, len(elements)/c.size-1)
		})
		if err == nil || !strings.HasSuffix(err.Error(), ": has not the values and buffers of its schema") {
			t.Errorf("fewer %s: %v", name, err)
		}
	}
	err := patched(t, arrow.NewSchema(schema.Fields()[:1], nil), func(h *table) {
		buffers, _ := h.vector(batchBuffers, 16) // where the nulls are marked, and the numbers
		buffers[16+8] = 8
	})
	if got := fmt.Sprint(err); got != "record batch 1: not readable: its parts contradict each other" {
		t.Errorf("fewer bytes: %s", got)
	}
}

// TestDictionaryStays: no row is written whose numbers would stand for other values.
func TestDictionaryStays(t *testing.T) {
	t.Parallel()
	colour := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	path := filepath.Join(t.TempDir(), "in.arrow")
	writeFile(t, path, true, arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "colour", Type: colour, Nullable: true}}, nil), []int{3})
	f, err := Open(t.Context(), path, lines.DefaultMemory)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := array.NewDictionaryBuilder(memory.DefaultAllocator, colour).(*array.BinaryDictionaryBuilder)
	if err := b.AppendString("black"); err != nil {
		t.Fatal(err)
	}
	w := f.Rest(io.Discard, "test")
	if err := w.Replace(1, Row{1: b.NewArray()}); err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(w.Close()), path+": record batch 1: column colour: its dictionary would change"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
