package cli

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/parquet-go/parquet-go"
)

// A message and a conversation are rows of the large file.
type (
	message struct {
		Role    string `parquet:"role"`
		Content string `parquet:"content,zstd"`
	}
	conversation struct {
		ID       int64     `parquet:"id"`
		Messages []message `parquet:"messages,list"`
	}
)

// TestLarge filters 2 GB of Parquet and of Arrow in 200 MB of memory, and compares the time with that of toolguard filter on the same rows.
// It runs on Linux if TOOLGUARD_PARQUET_LARGE names a directory with toolguard and toolguard-parquet, and takes 15 GB and some
// minutes.
func TestLarge(t *testing.T) {
	bin := os.Getenv("TOOLGUARD_PARQUET_LARGE")
	if bin == "" {
		t.Skip("TOOLGUARD_PARQUET_LARGE names no directory")
	}
	for name, write := range map[string]func(*testing.T, string, int64) int64{"large.parquet": writeLarge, "large.arrow": writeLargeArrow} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name)
			filterLarge(t, bin, path, write(t, path, 2<<30))
		})
	}
}

func filterLarge(t *testing.T, bin, path string, rows int64) {
	t.Helper()
	dir := t.TempDir()
	measure := func(name string, args ...string) (time.Duration, int64, string) {
		cmd := exec.Command(filepath.Join(bin, name), args...)
		var said bytes.Buffer
		cmd.Stderr = &said
		begun := time.Now()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		peak, ended := int64(0), make(chan error)
		go func() { ended <- cmd.Wait() }()
		for {
			// The system's own account of a child begins with the memory of its parent.
			if status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid)); err == nil {
				if _, rest, is := strings.Cut(string(status), "VmHWM:"); is {
					_, _ = fmt.Sscan(rest, &peak)
				}
			}
			select {
			case err := <-ended:
				if err != nil {
					t.Fatalf("%s: %v\n%s", name, err, said.Bytes())
				}
				return time.Since(begun), peak >> 10, said.String()
			case <-time.After(20 * time.Millisecond):
			}
		}
	}
	out := filepath.Join(dir, "out"+filepath.Ext(path))
	took, memory, said := measure("toolguard-parquet", "filter", "--out", out, path)
	t.Logf("%d rows: filter took %s and %d MB: %s", rows, took, memory, said)
	if memory > 200 {
		t.Errorf("filter took %d MB, want at most 200", memory)
	}
	lines := filepath.Join(dir, "large.jsonl")
	if _, memory, _ = measure("toolguard-parquet", "filter", "-q", "--select", "invalid-json", "--out", lines, path); memory > 200 {
		t.Errorf("writing JSON Lines took %d MB, want at most 200", memory)
	}
	other, _, saidOther := measure("toolguard", "filter", "--jobs", "1", "--out", filepath.Join(dir, "out.jsonl"), lines)
	t.Logf("toolguard filter took %s: %s", other, saidOther)
	t.Logf("ratio %.2f", float64(took)/float64(other))
	if said != saidOther {
		t.Errorf("toolguard-parquet says %q, toolguard %q", said, saidOther)
	}
}

// writeLarge writes a file of at least so many bytes, and returns the number of its rows.
func writeLarge(t *testing.T, path string, size int64) (rows int64) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := parquet.NewGenericWriter[conversation](f, parquet.MaxRowsPerRowGroup(20_000))
	for next := conversations(); ; {
		batch := next()
		rows += int64(len(batch))
		if _, err := w.Write(batch); err != nil {
			t.Fatal(err)
		}
		at, err := f.Seek(0, io.SeekCurrent)
		if err != nil {
			t.Fatal(err)
		}
		if at >= size {
			break
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return rows
}

// conversations returns a function that makes rows, a thousand at a time. Every 5,000th is broken.
func conversations() func() []conversation {
	random := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, 1500)
	say := func() string {
		for i := range text {
			text[i] = byte(' ' + random.IntN(90))
		}
		return string(text)
	}
	batch, rows := make([]conversation, 1000), int64(0)
	return func() []conversation {
		for i := range batch {
			rows++
			batch[i] = conversation{rows, []message{{"user", say()}, {"assistant", say()}}}
			if rows%5000 == 1 {
				batch[i].Messages = append(batch[i].Messages, message{"tool", strconv.FormatInt(rows, 10)})
			}
		}
		return batch
	}
}

// writeLargeArrow writes the same as an Arrow file.
func writeLargeArrow(t *testing.T, path string, size int64) (rows int64) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text := func(name string) arrow.Field { return arrow.Field{Name: name, Type: arrow.BinaryTypes.String} }
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64},
		{Name: "messages", Type: arrow.ListOf(arrow.StructOf(text("role"), text("content")))},
	}, nil)
	w, err := ipc.NewFileWriter(f, ipc.WithSchema(schema), ipc.WithZstd())
	if err != nil {
		t.Fatal(err)
	}
	for next := conversations(); ; {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		list := b.Field(1).(*array.ListBuilder)
		of := list.ValueBuilder().(*array.StructBuilder)
		for _, row := range next() {
			rows++
			b.Field(0).(*array.Int64Builder).Append(row.ID)
			list.Append(true)
			for _, m := range row.Messages {
				of.Append(true)
				of.FieldBuilder(0).(*array.StringBuilder).Append(m.Role)
				of.FieldBuilder(1).(*array.StringBuilder).Append(m.Content)
			}
		}
		if err := w.Write(b.NewRecordBatch()); err != nil {
			t.Fatal(err)
		}
		at, err := f.Seek(0, io.SeekCurrent)
		if err != nil {
			t.Fatal(err)
		}
		if at >= size {
			break
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return rows
}
