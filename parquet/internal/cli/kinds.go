package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolguard/toolguard/parquet/internal/arrow"
	"github.com/toolguard/toolguard/parquet/internal/lines"
	"github.com/toolguard/toolguard/parquet/internal/table"
)

// A kind is a format of files with rows.
type kind struct {
	title string // what one is called, with an article
	// endings are how files of it are named.
	endings []string
	// begins reports whether a file begins as one of this kind.
	begins func(head []byte) bool
	open   func(ctx context.Context, path string, memory int64) (lines.File, error)
}

// kinds lists them. The last one takes all that the others do not.
func kinds() []*kind {
	return []*kind{
		{"an Arrow file", []string{".arrow", ".arrows", ".feather", ".ipc"}, arrow.Is, opened(arrow.Open)},
		{"a Parquet file", []string{".parquet", ".parq", ".pq"}, func([]byte) bool { return true }, opened(table.Open)},
	}
}

// opened returns open as a function of the interface, in which no file is nil.
func opened[F lines.File](open func(context.Context, string, int64) (F, error)) func(context.Context, string, int64) (lines.File, error) {
	return func(ctx context.Context, path string, memory int64) (lines.File, error) {
		f, err := open(ctx, path, memory)
		if err != nil {
			return nil, err
		}
		return f, nil
	}
}

// kindNamed returns the kind that a file is named like, nil for JSON Lines.
func kindNamed(path string) *kind {
	ending := strings.ToLower(filepath.Ext(path))
	for _, k := range kinds() {
		if slices.Contains(k.endings, ending) {
			return k
		}
	}
	return nil
}

// kindOf returns the kind of a file. What cannot be read is told by whoever opens it.
func kindOf(path string) *kind {
	var head [8]byte
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		if f, err := os.Open(path); err == nil {
			defer f.Close()
			if _, err := io.ReadFull(f, head[:]); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
				head = [8]byte{}
			}
		}
	}
	list := kinds()
	return list[slices.IndexFunc(list, func(k *kind) bool { return k.begins(head[:]) })]
}
