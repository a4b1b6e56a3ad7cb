//go:build nozstd

package source

import (
	"errors"
	"io"
)

// openZstd reports that this build reads no zstd. Builds for browsers leave the library out.
func openZstd(io.Reader) (io.ReadCloser, error) {
	return nil, errors.New("this build of toolguard cannot unpack it")
}
