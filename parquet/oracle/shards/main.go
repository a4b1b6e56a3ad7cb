// Command shards writes datasets in JSON Lines as Parquet, for tests: the number of each row, and its
// messages as JSON text.
//
//	shards OUT FILE.jsonl...
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// A row is a row of a dataset.
type row struct {
	N        int64           `json:"n" parquet:"n"`
	Messages json.RawMessage `json:"messages" parquet:"-"`
	Text     string          `json:"-" parquet:"messages,zstd"`
}

func main() {
	for _, path := range os.Args[2:] {
		name := strings.TrimSuffix(filepath.Base(path), ".jsonl") + ".parquet"
		if err := convert(path, filepath.Join(os.Args[1], name)); err != nil {
			fmt.Fprintf(os.Stderr, "shards: %s: %v\n", path, err)
			os.Exit(1)
		}
	}
}

func convert(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer out.Close()
	w := parquet.NewGenericWriter[row](out, parquet.MaxRowsPerRowGroup(1000))
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
		if _, err := w.Write([]row{r}); err != nil {
			return err
		}
	}
	return w.Close()
}
