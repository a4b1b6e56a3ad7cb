package table

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"

	"github.com/toolguard/toolguard/parquet/internal/lines"
)

// A turn is a message of a row.
type turn struct {
	Role  string  `parquet:"role,dict"`
	Text  *string `parquet:"text,optional"`
	Calls []call  `parquet:"calls,list"`
}

type call struct {
	ID   string            `parquet:"id,delta"`
	Args map[string]string `parquet:"args"`
	Bare []int32           `parquet:"bare"`
}

// An everything is a row with all kinds of values.
type everything struct {
	ID       int64      `parquet:"id,delta"`
	Small    uint32     `parquet:"small"`
	OK       bool       `parquet:"ok"`
	Half     float32    `parquet:"half,split"`
	Whole    *float64   `parquet:"whole,optional"`
	Raw      []byte     `parquet:"raw"`
	Day      int32      `parquet:"day,date"`
	When     time.Time  `parquet:"when,timestamp(microsecond)"`
	Price    int64      `parquet:"price,decimal(2:18)"`
	UUID     [16]byte   `parquet:"uuid,uuid"`
	Messages []turn     `parquet:"messages,list"`
	Deep     [][]string `parquet:"deep,list"`
	JSON     string     `parquet:"json,json"`
}

// sample returns rows that have every shape of null and empty.
func sample(n int) []everything {
	text := "a \"quoted\"\nline\t\x01 \\ é"
	half := 0.5
	rows := make([]everything, n)
	for i := range rows {
		r := &rows[i]
		*r = everything{
			ID: int64(i), Small: uint32(i) + 1<<31, OK: i%2 == 0, Half: float32(i) / 3, Raw: []byte{byte(i), 0xff, 0},
			Day: int32(i) - 5, When: time.UnixMicro(int64(i)*1e12 + 123456).UTC(), Price: int64(i)*101 - 5, UUID: [16]byte{byte(i), 1, 2}, JSON: fmt.Sprintf(`{"n":%d}`, i),
		}
		if i%3 == 0 {
			r.Whole = &half
		}
		for k := range i % 4 {
			m := turn{Role: "user"}
			if k%2 == 1 {
				m.Text = &text
			}
			for j := range (i + k) % 3 {
				m.Calls = append(m.Calls, call{ID: fmt.Sprint("c", j), Args: map[string]string{"k": text}, Bare: make([]int32, j)})
			}
			r.Messages = append(r.Messages, m)
		}
		if i%5 == 1 {
			r.Deep = [][]string{{}, {"x", "y"}, nil}
		}
	}
	return rows
}

// write writes rows in groups of the given number of rows.
func writeFile(t testing.TB, path string, rows []everything, group int64, codec compress.Codec, version int) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := parquet.NewGenericWriter[everything](f, parquet.MaxRowsPerRowGroup(group), parquet.Compression(codec),
		parquet.DataPageVersion(version), parquet.PageBufferSize(512), parquet.KeyValueMetadata("z", "1"), parquet.KeyValueMetadata("a", "2"))
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// lines returns the rows of a file as JSON.
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
	all, err := io.ReadAll(io.NewSectionReader(text, 0, text.Size()))
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return slices.Collect(strings.Lines(string(all))), nil
}

// copyExcept copies the rows of a file for which drop is false.
func copyExcept(path, to string, memory int64, n int, drop func(int) bool) error {
	f, err := Open(context.Background(), path, memory)
	if err != nil {
		return err
	}
	defer f.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer out.Close()
	w := f.Rest(out, "test version 1")
	for i := range n {
		if drop(i) {
			if err := w.Except(int64(i)); err != nil {
				return err
			}
		}
	}
	return w.Close()
}

// read reads rows with the library alone.
func read(t *testing.T, path string) []everything {
	t.Helper()
	rows, err := parquet.ReadFile[everything](path)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestCopies: a copy has the same values, schema and metadata, whatever the codec and the version of the pages.
func TestCopies(t *testing.T) {
	t.Parallel()
	rows := sample(97)
	codecs := map[string]compress.Codec{
		"none": &parquet.Uncompressed, "snappy": &parquet.Snappy, "gzip": &parquet.Gzip, "zstd": &parquet.Zstd, "brotli": &parquet.Brotli, "lz4": &parquet.Lz4Raw,
	}
	for name, codec := range codecs {
		for version := 1; version <= 2; version++ {
			t.Run(fmt.Sprint(name, version), func(t *testing.T) {
				t.Parallel()
				path := filepath.Join(t.TempDir(), "in.parquet")
				writeFile(t, path, rows, 20, codec, version)
				was, err := texts(path, lines.DefaultMemory)
				if err != nil {
					t.Fatal(err)
				}
				for what, drop := range map[string]func(int) bool{
					"nothing": func(int) bool { return false },
					"a few":   func(i int) bool { return i == 0 || i == 45 || i == 96 },
					"a group": func(i int) bool { return i >= 20 && i < 40 },
					"most":    func(i int) bool { return i%7 != 3 },
					"all":     func(int) bool { return true },
				} {
					to := path + "." + strings.ReplaceAll(what, " ", "-")
					if err := copyExcept(path, to, lines.DefaultMemory, len(rows), drop); err != nil {
						t.Fatalf("without %s: %v", what, err)
					}
					var wantLines []string
					for i := range rows {
						if !drop(i) {
							wantLines = append(wantLines, was[i])
						}
					}
					got, err := texts(to, lines.DefaultMemory)
					if err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(wantLines, got); diff != "" {
						t.Errorf("without %s: (-want +got)\n%s", what, diff)
					}
					var kept []everything
					for i, r := range read(t, path) {
						if !drop(i) {
							kept = append(kept, r)
						}
					}
					if diff := cmp.Diff(kept, append([]everything(nil), read(t, to)...)); diff != "" {
						t.Errorf("without %s, as the library reads it: (-want +got)\n%s", what, diff)
					}
					sameFooter(t, path, to)
				}
			})
		}
	}
}

// sameFooter compares whatever of a footer is not about row groups, and the codecs.
func sameFooter(t *testing.T, path, to string) {
	t.Helper()
	a, err := Open(t.Context(), path, lines.DefaultMemory)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b, err := Open(t.Context(), to, lines.DefaultMemory)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	for _, id := range []int16{fieldVersion, fieldSchema, fieldMetadata, fieldOrders} {
		if x, y := find(a.footer, id), find(b.footer, id); (x == nil) != (y == nil) || x != nil && !bytes.Equal(x.value, y.value) {
			t.Errorf("field %d of the footer differs", id)
		}
	}
	for _, g := range b.meta.RowGroups {
		for i := range g.Columns {
			if x, y := a.meta.RowGroups[0].Columns[i].MetaData, g.Columns[i].MetaData; x.Codec != y.Codec || !slices.Equal(x.PathInSchema, y.PathInSchema) {
				t.Errorf("column %v: %s, want %v, %s", y.PathInSchema, y.Codec, x.PathInSchema, x.Codec)
			}
		}
	}
}

// TestJSON shows how each type is written.
func TestJSON(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "in.parquet")
	writeFile(t, path, sample(7)[5:], 20, &parquet.Snappy, 1)
	got, err := texts(path, lines.DefaultMemory)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`{"id":5,"small":2147483653,"ok":false,"half":1.6666666,"whole":null,"raw":"Bf8A","day":"1970-01-01","when":"1970-02-27T20:53:20.123456Z","price":5.00,"uuid":"05010200-0000-0000-0000-000000000000","messages":[{"role":"user","text":null,"calls":[{"id":"c0","args":{"k":"a \"quoted\"\nline\t\u0001 \\ é"},"bare":[]},{"id":"c1","args":{"k":"a \"quoted\"\nline\t\u0001 \\ é"},"bare":[0]}]}],"deep":[],"json":"{\"n\":5}"}` + "\n",
		`{"id":6,"small":2147483654,"ok":true,"half":2,"whole":0.5,"raw":"Bv8A","day":"1970-01-02","when":"1970-03-11T10:40:00.123456Z","price":6.01,"uuid":"06010200-0000-0000-0000-000000000000","messages":[{"role":"user","text":null,"calls":[]},{"role":"user","text":"a \"quoted\"\nline\t\u0001 \\ é","calls":[{"id":"c0","args":{"k":"a \"quoted\"\nline\t\u0001 \\ é"},"bare":[]}]}],"deep":[[],["x","y"],[]],"json":"{\"n\":6}"}` + "\n",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestFitsAgain: each row fits its own columns, and is read as the same row again.
func TestFitsAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, to := filepath.Join(dir, "in.parquet"), filepath.Join(dir, "out.parquet")
	rows := sample(60)
	writeFile(t, path, rows, 25, &parquet.Zstd, 2)
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
		row, stored, err := f.Fit([]byte("{}"), []byte(line)) // as if all columns had changed
		if err != nil {
			t.Fatalf("row %d: %v\n%s", i, err, line)
		}
		if got := strings.TrimSuffix(string(stored), "\n"); got != strings.TrimSuffix(line, "\n") {
			t.Errorf("row %d is stored as\n%s, want\n%s", i, got, line)
		}
		if err := w.Replace(int64(i), row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(read(t, path), read(t, to)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestFit: what does not fit is told.
func TestFit(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "in.parquet")
	writeFile(t, path, sample(1), 1, &parquet.Snappy, 1)
	f, err := Open(t.Context(), path, lines.DefaultMemory)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	was, err := texts(path, lines.DefaultMemory)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, want string }{
		{`"messages":[]`, `"messages":[{"role":"tool","text":"x","calls":[]}]`, ""},
		{`"messages":[]`, `"messages":[{"role":"tool","calls":[],"tool":"x"}]`, `messages.list.element: has no field "tool"`},
		{`"messages":[]`, `"messages":[{"role":"tool","text":"x"}]`, `messages.list.element.calls: must not be null`},
		{`"messages":[]`, `"messages":[{"role":null}]`, `messages.list.element.role: must not be null`},
		{`"messages":[]`, `"messages":[{"role":5}]`, `messages.list.element.role: its type cannot hold the value`},
		{`"messages":[]`, `"messages":{}`, `messages.list: expected a list`},
		{`"messages":[]`, `"messages":["x"]`, `messages.list.element: expected an object`},
		{`"id":0`, `"id":9223372036854775808`, `id: its type cannot hold the value`},
		{`"id":0`, `"id":-0`, `id: it would be read as another value`},
		{`"id":0`, `"id":0,"new":1`, `"new": no such column`},
		{`"id":0`, `"id":1,"id":0`, `"id": a field twice`},
		{`"price":-0.05`, `"price":-0.1`, `price: it would be read as another value`},
	} {
		after := strings.Replace(was[0], c.old, c.new, 1)
		if after == was[0] {
			t.Fatalf("%s has no %s", was[0], c.old)
		}
		_, _, err := f.Fit([]byte(was[0]), []byte(after))
		if got := fmt.Sprint(err); got != c.want && (err != nil || c.want != "") {
			t.Errorf("%s: %s, want %s", c.new, got, c.want)
		}
	}
}

// tries opens, reads and copies a file that may be broken.
func tries(t testing.TB, path string, memory int64) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := texts(path, memory)
	if err == nil {
		err = copyExcept(path, path+".copy", memory, 1, func(int) bool { return true })
	}
	if err != nil && !strings.HasPrefix(err.Error(), path+": ") {
		t.Errorf("the error does not begin with the path: %v", err)
	}
	if err != nil && (strings.Contains(err.Error(), "runtime") || strings.Contains(err.Error(), "internal error")) {
		t.Errorf("%v", err)
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > uint64(10*memory) {
		t.Errorf("%d bytes were allocated", used)
	}
}

// TestBroken flips bits of files, and cuts them.
func TestBroken(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for version := 1; version <= 2; version++ {
		for _, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Snappy} {
			path := filepath.Join(dir, "in.parquet")
			writeFile(t, path, sample(12), 7, codec, version)
			whole, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			broken := filepath.Join(dir, "broken.parquet")
			try := func(b []byte) {
				if err := os.WriteFile(broken, b, 0o600); err != nil {
					t.Fatal(err)
				}
				tries(t, broken, 16<<20)
			}
			step := 23
			if os.Getenv("TOOLGUARD_LONG") != "" {
				step = 3
			}
			for i := 0; i < len(whole); i += step {
				b := slices.Clone(whole)
				b[i] ^= 1 << (i / step % 8)
				try(b)
				b[i] = 0xff
				try(b)
			}
			for i := 0; i < len(whole); i += 10 * step {
				b := whole[:i]
				if err := os.WriteFile(broken, b, 0o600); err != nil {
					t.Fatal(err)
				}
				if _, err := texts(broken, 16<<20); err == nil {
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
	path := filepath.Join(dir, "in.parquet")
	writeFile(t, path, sample(300), 100, &parquet.Zstd, 1)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	footer := len(whole) - 8 - int(whole[len(whole)-8]) - int(whole[len(whole)-7])<<8 - int(whole[len(whole)-6])<<16
	zeros := slices.Clone(whole)
	clear(zeros[4:footer])
	long := slices.Clone(whole)
	copy(long[len(long)-8:], []byte{0xff, 0xff, 0xff, 0x7f})
	for name, c := range map[string]struct {
		text   []byte
		memory int64
		want   string
	}{
		"empty":    {nil, lines.DefaultMemory, "not a Parquet file: expected at least 12 bytes, got 0"},
		"other":    {[]byte(`{"messages":[]}` + "\n"), lines.DefaultMemory, "not a Parquet file: expected PAR1 at its start"},
		"torn":     {whole[:1000], lines.DefaultMemory, "the file is torn: expected PAR1 at its end, after the footer"},
		"long":     {long, lines.DefaultMemory, fmt.Sprintf("footer: expected at most %d bytes, got 2147483647", len(whole)-12)},
		"cut":      {append(slices.Clone(whole[:200]), whole[footer:]...), lines.DefaultMemory, "row group 1: column small: page at byte 215: header: expected a Thrift struct"},
		"zeros":    {zeros, lines.DefaultMemory, "row group 1: column id: page at byte 4: header: expected a Thrift struct as the format has it"},
		"large":    {whole, 1 << 20, "row group 1: too large for the memory of the run: its pages need"},
		"locked":   {append([]byte("PARE"), whole[4:]...), lines.DefaultMemory, "is encrypted, which toolguard does not read"},
		"no file":  {nil, 0, "no such file or directory"},
		"no group": {append([]byte("PAR1"), "\x15\x02\x19\x0c\x16\x00\x00\x07\x00\x00\x00PAR1"...), lines.DefaultMemory, "footer: "},
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
	for version := 1; version <= 2; version++ {
		for _, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip, &parquet.Zstd, &parquet.Brotli, &parquet.Lz4Raw} {
			path := filepath.Join(dir, "seed.parquet")
			writeFile(f, path, sample(9), 5, codec, version)
			b, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "in.parquet")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		tries(t, path, 16<<20)
	})
}
