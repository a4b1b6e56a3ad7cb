package table

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding"

	"github.com/toolguard/toolguard/parquet/internal/lines"
)

// A chance makes schemas and rows at random.
type chance struct{ *rand.Rand }

// pick returns one of several values.
func pick[T any](c chance, of ...T) T { return of[c.IntN(len(of))] }

// oddNames are names of columns that mean something to a reader, or look like two.
var oddNames = []string{"a", "A", "a.b", "b", "list", "element", "array", "key_value", "key", "value", "bag", "x y", "é", "m_tuple", "\"", "item"}

// leaf returns a column of values.
func (c chance) leaf() parquet.Node {
	enc := func(n parquet.Node, of ...encoding.Encoding) parquet.Node {
		if c.IntN(3) == 0 {
			return n
		}
		return parquet.Encoded(n, pick(c, of...))
	}
	switch c.IntN(16) {
	case 0:
		return parquet.Leaf(parquet.BooleanType)
	case 1:
		return enc(parquet.Int(pick(c, 8, 16, 32)), &parquet.Plain, &parquet.DeltaBinaryPacked, &parquet.RLEDictionary)
	case 2:
		return enc(parquet.Int(64), &parquet.Plain, &parquet.DeltaBinaryPacked, &parquet.RLEDictionary)
	case 3:
		return enc(parquet.Uint(pick(c, 8, 16, 32, 64)), &parquet.Plain, &parquet.DeltaBinaryPacked, &parquet.RLEDictionary)
	case 4:
		return enc(parquet.Leaf(parquet.FloatType), &parquet.Plain, &parquet.ByteStreamSplit, &parquet.RLEDictionary)
	case 5:
		return enc(parquet.Leaf(parquet.DoubleType), &parquet.Plain, &parquet.ByteStreamSplit, &parquet.RLEDictionary)
	case 6:
		return enc(parquet.String(), &parquet.Plain, &parquet.DeltaLengthByteArray, &parquet.DeltaByteArray, &parquet.RLEDictionary)
	case 7:
		return enc(parquet.Leaf(parquet.ByteArrayType), &parquet.Plain, &parquet.DeltaLengthByteArray, &parquet.DeltaByteArray, &parquet.RLEDictionary)
	case 8:
		return enc(parquet.Leaf(parquet.FixedLenByteArrayType(c.IntN(20)+1)), &parquet.Plain, &parquet.RLEDictionary, &parquet.DeltaByteArray)
	case 9:
		return parquet.Leaf(parquet.Int96Type)
	case 10:
		return enc(parquet.Decimal(2, 9, parquet.Int32Type), &parquet.Plain, &parquet.RLEDictionary)
	case 11:
		return enc(parquet.Decimal(3, 18, parquet.Int64Type), &parquet.Plain, &parquet.RLEDictionary)
	case 12:
		return enc(parquet.Decimal(4, 30, parquet.FixedLenByteArrayType(13)), &parquet.Plain, &parquet.RLEDictionary)
	case 13:
		return pick(c, parquet.Date(), parquet.Time(parquet.Millisecond), parquet.UUID(), parquet.Enum(), parquet.JSON(), parquet.BSON())
	case 14:
		return parquet.Timestamp(pick[parquet.TimeUnit](c, parquet.Millisecond, parquet.Microsecond, parquet.Nanosecond))
	}
	return enc(parquet.String(), &parquet.RLEDictionary)
}

// node returns a column, or a group of them.
func (c chance) node(depth int) parquet.Node {
	var n parquet.Node
	switch kind := c.IntN(8); {
	case depth == 0 || kind < 4:
		n = parquet.Compressed(c.leaf(), pick[compress.Codec](c, &parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip, &parquet.Zstd, &parquet.Brotli))
	case kind == 4:
		n = parquet.List(c.node(depth - 1))
	case kind == 5:
		key := c.leaf()
		n = parquet.Map(key, c.node(depth-1))
	default:
		g := parquet.Group{}
		for range c.IntN(4) + 1 {
			g[pick(c, oddNames...)] = c.node(depth - 1)
		}
		n = g
	}
	switch c.IntN(4) {
	case 0:
		n = parquet.Optional(n)
	case 1:
		n = parquet.Repeated(n)
	}
	return n
}

// value returns a value of a type.
func (c chance) value(n parquet.Node) parquet.Value {
	extreme := pick(c, 0, 1, -1, 1<<31-1, -1<<31, int64(c.Uint64()), 1<<63-1, -1<<63, 253402300800e6)
	text := func() []byte {
		return []byte(pick(c, "", "x", "same", "\x00", "\xff\xfe", "\xed\xa0\x80", "\u2028\"\\\n", "null", "é", strconv.FormatUint(c.Uint64(), 10), string(bytes.Repeat([]byte("long "), c.IntN(300)))))
	}
	switch t := n.Type(); t.Kind() {
	case parquet.Boolean:
		return parquet.BooleanValue(c.IntN(2) == 0)
	case parquet.Int32:
		return parquet.Int32Value(int32(extreme))
	case parquet.Int64:
		return parquet.Int64Value(extreme)
	case parquet.Int96:
		return parquet.Int96Value(deprecated.Int96{c.Uint32(), pick(c, 0, c.Uint32()), pick(c, 2440588, c.Uint32())})
	case parquet.Float:
		return parquet.FloatValue(pick(c, 0, float32(c.NormFloat64()), 1e38, 1e-45))
	case parquet.Double:
		return parquet.DoubleValue(pick(c, 0, c.NormFloat64(), 1e308, 5e-324))
	case parquet.ByteArray:
		return parquet.ByteArrayValue(text())
	default:
		b := make([]byte, t.Length())
		for i := range b {
			b[i] = byte(c.Uint32())
		}
		return parquet.FixedLenByteArrayValue(b)
	}
}

// fill adds the values of a node to the columns of a row. null says that what it is in is not there.
func (c chance) fill(columns [][]parquet.Value, n parquet.Node, first, rep, def, maxRep int, null bool) (next int) {
	once := func(rep, def int, null bool) {
		next = first
		switch {
		case !n.Leaf():
			for _, f := range n.Fields() {
				next = c.fill(columns, f, next, rep, def, maxRep, null)
			}
			return
		case null:
			columns[first] = append(columns[first], parquet.NullValue().Level(rep, def, first))
		default:
			columns[first] = append(columns[first], c.value(n).Level(rep, def, first))
		}
		next++
	}
	if n.Repeated() {
		maxRep++
	}
	many := pick(c, 0, 1, 1, 2, 3)
	if c.IntN(50) == 0 {
		many = c.IntN(40)
	}
	switch {
	case null || n.Required():
		once(rep, def, null)
	case many == 0:
		once(rep, def, true)
	case n.Optional():
		once(rep, def+1, false)
	default:
		for i := range many {
			if i > 0 {
				rep = maxRep
			}
			once(rep, def+1, false)
		}
	}
	return next
}

// rowsOf reads the rows of a file with the library alone, each with its levels.
func rowsOf(t *testing.T, path string) (out []string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	file, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range file.RowGroups() {
		r := g.Rows()
		row := make([]parquet.Row, 1)
		for {
			n, err := r.ReadRows(row)
			if n > 0 {
				out = append(out, fmt.Sprintf("%+v", row[0]))
			}
			if errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		r.Close()
	}
	return out
}

// TestAnySchema: rows of any schema are read, copied with the same values, and fit their own columns again.
func TestAnySchema(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	seeds := uint64(40)
	if os.Getenv("TOOLGUARD_LONG") != "" {
		seeds = 1000
	}
	fit := 0
	for seed := range seeds {
		c := chance{rand.New(rand.NewPCG(seed, 7))}
		g := parquet.Group{}
		for range c.IntN(5) + 1 {
			g[pick(c, oddNames...)] = c.node(3)
		}
		schema := parquet.NewSchema("any", g)
		path, to := filepath.Join(dir, "in.parquet"), filepath.Join(dir, "out.parquet")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		w := parquet.NewGenericWriter[any](f, schema, parquet.DataPageVersion(c.IntN(2)+1), parquet.PageBufferSize(pick(c, 1, 100, 5000)))
		n := 0
		var written []string
		for range c.IntN(4) {
			for range c.IntN(40) {
				columns := make([][]parquet.Value, len(schema.Columns()))
				next := 0
				for _, field := range schema.Fields() {
					next = c.fill(columns, field, next, 0, 0, 0, false)
				}
				var row parquet.Row
				for _, values := range columns {
					row = append(row, values...)
				}
				if _, err := w.WriteRows([]parquet.Row{row}); err != nil {
					t.Fatalf("seed %d: %v\n%s", seed, err, schema)
				}
				written = append(written, fmt.Sprintf("%+v", row))
				n++
			}
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		f.Close()
		was, err := texts(path, lines.DefaultMemory)
		if err != nil {
			t.Errorf("seed %d: %v\n%s", seed, err, schema)
			continue
		}
		if len(was) != n {
			t.Errorf("seed %d: %d rows, want %d", seed, len(was), n)
		}
		drop := map[int]bool{}
		for i := range n {
			drop[i] = c.IntN(4) == 0
		}
		if err := copyExcept(path, to, lines.DefaultMemory, n, func(i int) bool { return drop[i] }); err != nil {
			t.Errorf("seed %d: %v\n%s", seed, err, schema)
			continue
		}
		var want, wantLines []string
		for i, row := range written {
			if !drop[i] {
				want, wantLines = append(want, row), append(wantLines, was[i])
			}
		}
		if diff := cmp.Diff(want, rowsOf(t, to)); diff != "" {
			t.Errorf("seed %d: copied with other values: (-want +got)\n%s\n%s", seed, diff, schema)
		}
		got, err := texts(to, lines.DefaultMemory)
		if diff := cmp.Diff(wantLines, got); err != nil || diff != "" {
			t.Errorf("seed %d: %v: copied as other lines: (-want +got)\n%s\n%s", seed, err, diff, schema)
		}
		fit += fitAgain(t, path, to, was)
		if diff := cmp.Diff(written, rowsOf(t, to)); diff != "" {
			t.Errorf("seed %d: written again with other values: (-want +got)\n%s\n%s", seed, diff, schema)
		}
		for _, line := range was {
			if !json.Valid([]byte(line)) && utf8.ValidString(line) {
				t.Errorf("seed %d: not JSON: %s", seed, line)
			}
		}
	}
	if fit == 0 {
		t.Error("no row fits its columns")
	}
}

// fitAgain writes each row to its own columns again, unless Fit says that it would be another one.
func fitAgain(t *testing.T, path, to string, was []string) (fit int) {
	t.Helper()
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
		row, stored, err := f.Fit([]byte("{}"), []byte(line)) // as if all columns had changed
		if err != nil || !utf8.ValidString(line) {
			continue
		}
		if fit++; string(stored) != line {
			t.Errorf("stored as %s, want %s", stored, line)
		}
		if err := w.Replace(int64(i), row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return fit
}
