//go:build !nozstd

package source

import (
	"io"

	"github.com/klauspost/compress/zstd"
)

// maxWindow limits how many unpacked bytes a zstd decoder keeps.
const maxWindow = 32 << 20

func openZstd(r io.Reader) (io.ReadCloser, error) {
	d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, err
	}
	return d.IOReadCloser(), nil
}
