// Command shards writes datasets in JSON Lines as Parquet or Arrow, for tests: the number of each row, and its
// messages as JSON text.
//
//	shards parquet|arrow OUT FILE.jsonl...
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/parquet-go/parquet-go"
)

// A row is a row of a dataset.
type row struct {
	N        int64           `json:"n" parquet:"n"`
	Messages json.RawMessage `json:"messages" parquet:"-"`
	Text     string          `json:"-" parquet:"messages,zstd"`
}

// group is how many rows are written together.
const group = 1000

func main() {
	write := map[string]func(*os.File, []row) error{"parquet": writeParquet, "arrow": writeArrow}[os.Args[1]]
	for _, path := range os.Args[3:] {
		name := strings.TrimSuffix(filepath.Base(path), ".jsonl") + "." + os.Args[1]
		if err := convert(path, filepath.Join(os.Args[2], name), write); err != nil {
			fmt.Fprintf(os.Stderr, "shards: %s: %v\n", path, err)
			os.Exit(1)
		}
	}
}

func convert(from, to string, write func(*os.File, []row) error) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	var rows []row
	for lines := bufio.NewReader(in); ; {
		line, err := lines.ReadBytes('\n')
		if len(line) == 0 {
			break
		}
		if err != nil {
			return err
		}
		var r row
		if err := json.Unmarshal(line, &r); err != nil {
			return err
		}
		r.Text = string(r.Messages)
		rows = append(rows, r)
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer out.Close()
	return write(out, rows)
}

func writeParquet(out *os.File, rows []row) error {
	w := parquet.NewGenericWriter[row](out, parquet.MaxRowsPerRowGroup(group))
	if _, err := w.Write(rows); err != nil {
		return err
	}
	return w.Close()
}

func writeArrow(out *os.File, rows []row) error {
	schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}, {Name: "messages", Type: arrow.BinaryTypes.String}}, nil)
	w, err := ipc.NewFileWriter(out, ipc.WithSchema(schema), ipc.WithZstd())
	if err != nil {
		return err
	}
	for ; len(rows) > 0; rows = rows[min(group, len(rows)):] {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		for _, r := range rows[:min(group, len(rows))] {
			b.Field(0).(*array.Int64Builder).Append(r.N)
			b.Field(1).(*array.StringBuilder).Append(r.Text)
		}
		if err := w.Write(b.NewRecordBatch()); err != nil {
			return err
		}
	}
	return w.Close()
}
