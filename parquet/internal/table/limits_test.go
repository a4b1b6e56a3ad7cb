package table

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/toolguard/toolguard/parquet/internal/lines"
)

// writeOnePage writes rows whose columns have one page each.
func writeOnePage[T any](t *testing.T, path string, rows ...T) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := parquet.NewGenericWriter[T](f, parquet.Compression(&parquet.Zstd), parquet.PageBufferSize(64<<20), parquet.WriteBufferSize(0))
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// writeFooter writes a file with one column of numbers, which has only a footer.
func writeFooter(t *testing.T, path string, c format.ColumnMetaData) {
	t.Helper()
	text, err := thrift.Marshal(&thrift.CompactProtocol{}, &format.FileMetaData{
		Schema:    []format.SchemaElement{{NumChildren: thrift.New(int32(1))}, {Name: "a", Type: thrift.New(format.Int32)}},
		RowGroups: []format.RowGroup{{Columns: []format.ColumnChunk{{MetaData: c}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	text = append([]byte(magic), text...)
	text = append(binary.LittleEndian.AppendUint32(text, uint32(len(text)-len(magic))), magic...)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestLargeInMemory: short files that would be large in memory are refused.
func TestLargeInMemory(t *testing.T) {
	t.Parallel()
	type flags struct {
		Flags []bool `parquet:"flags"`
	}
	type text struct {
		A string `parquet:"a,delta"`
		B string `parquet:"b,delta"`
	}
	var alike []text
	for i := range 150 {
		s := strings.Repeat("the same beginning ", 500) + strconv.Itoa(i)
		alike = append(alike, text{s, s})
	}
	const memory = 12 << 20
	const full = "a row or a page has values that do not fit in the memory of the run: write smaller ones, or allow more with --max-memory"
	for name, c := range map[string]struct {
		write  func(path string)
		memory int64
		want   string
	}{
		"few flags":  {func(path string) { writeOnePage(t, path, flags{make([]bool, 50_000)}) }, memory, ""},
		"many flags": {func(path string) { writeOnePage(t, path, flags{make([]bool, 100_000)}) }, memory, "column flags: " + full},
		"few alike":  {func(path string) { writeOnePage(t, path, alike[:50]...) }, memory, ""},
		"many alike": {func(path string) { writeOnePage(t, path, alike...) }, memory, full}, // each column would fit alone
		"long list": {
			func(path string) {
				writeFooter(t, path, format.ColumnMetaData{Type: format.Int32, PathInSchema: make([]string, 4_000_000)})
			}, lines.DefaultMemory, "footer: more than 400,000 structs, or 4,000,000 values in lists",
		},
		"long bounds": {func(path string) { writeOnePage(t, path, text{strings.Repeat("x", 3<<20), ""}) }, lines.DefaultMemory, "header: expected at most 4 MB, so the bounds of its values are too long"},
	} {
		path := filepath.Join(t.TempDir(), "in.parquet")
		c.write(path)
		_, err := texts(path, c.memory)
		if got := fmt.Sprint(err); c.want == "" && err != nil || !strings.HasSuffix(got, c.want) && c.want != "" {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestLargeRow: a row that takes too much memory when it is written again is refused, and copied if its group is.
func TestLargeRow(t *testing.T) {
	t.Parallel()
	type row struct {
		A string `parquet:"a"`
	}
	path := filepath.Join(t.TempDir(), "in.parquet")
	writeOnePage(t, path, row{strings.Repeat("x", 1<<20)}, row{"y"})
	for memory, want := range map[int64]string{
		23 << 20: path + ": row group 1: column a: a row of 1 MB, and at most 1 MB fit in the memory of the run when they are written: allow more with --max-memory",
		24 << 20: "<nil>",
	} {
		if got := fmt.Sprint(copyExcept(path, path+".copy", memory, 2, func(i int) bool { return i == 1 })); got != want {
			t.Errorf("%d: %s, want %s", memory, got, want)
		}
		if err := copyExcept(path, path+".copy", memory, 2, func(i int) bool { return i == 0 }); err != nil {
			t.Error(err)
		}
		if err := copyExcept(path, path+".copy", memory, 2, func(int) bool { return false }); err != nil {
			t.Error(err)
		}
	}
}

// TestEmptyGroup: pages of a group without rows may be nowhere.
func TestEmptyGroup(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "in.parquet")
	writeFooter(t, path, format.ColumnMetaData{Type: format.Int32, PathInSchema: []string{"a"}})
	if got, err := texts(path, lines.DefaultMemory); err != nil || len(got) > 0 {
		t.Errorf("%v, %v", got, err)
	}
	if err := copyExcept(path, path+".copy", lines.DefaultMemory, 0, nil); err != nil {
		t.Error(err)
	}
	if got, err := texts(path+".copy", lines.DefaultMemory); err != nil || len(got) > 0 {
		t.Errorf("the copy: %v, %v", got, err)
	}
}

// TestFixedLengths: values of a fixed length whose beginnings are left out have this length.
func TestFixedLengths(t *testing.T) {
	t.Parallel()
	number := func(n int) []byte { return binary.AppendVarint(nil, int64(n)) }
	text := func(prefix, suffix int) []byte { // of one value
		var out []byte
		for _, n := range []int{prefix, suffix} {
			out = append(out, 0x80, 1, 4, 1) // blocks of 128 in 4 parts, 1 value
			out = append(out, number(n)...)
		}
		return append(out, make([]byte, suffix)...)
	}
	s := &scalar{physical: format.FixedLenByteArray, length: 16}
	for suffix, want := range map[int]string{16: "<nil>", 15: "expected 1 values of 16 bytes, got 15 bytes", 17: "expected 1 values of 16 bytes, got 17 bytes"} {
		err := s.values(&page{nonNull: 1, encoding: format.DeltaByteArray}, text(0, suffix), -1, 1<<20)
		if got := fmt.Sprint(err); got != want {
			t.Errorf("%d bytes: %s, want %s", suffix, got, want)
		}
	}
}

// TestLongDecimal: a decimal of many bytes is bytes. Its digits would take minutes.
func TestLongDecimal(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "in.parquet")
	long := bytes.Repeat([]byte{7}, 1<<20)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := parquet.NewWriter(f, parquet.NewSchema("s", parquet.Group{"d": parquet.Decimal(2, 38, parquet.ByteArrayType)}), parquet.PageBufferSize(64<<20))
	for _, value := range [][]byte{{1, 0}, long} {
		if _, err := w.WriteRows([]parquet.Row{{parquet.ByteArrayValue(value).Level(0, 0, 0)}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := texts(path, lines.DefaultMemory)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`{"d":2.56}` + "\n", `{"d":"` + base64.StdEncoding.EncodeToString(long) + `"}` + "\n"}
	if !slices.Equal(want, got) {
		t.Errorf("%d rows, %.40s", len(got), got)
	}
}
