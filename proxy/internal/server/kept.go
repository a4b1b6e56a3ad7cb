package server

import (
	"bytes"
	"errors"
	"io"
	"sync"
)

// A keptBody is the body of a request, which stays in memory until there is a response: until then,
// it may have to be sent again. The transport holds on to the request as long as the response runs,
// which takes minutes for a stream.
type keptBody struct {
	mu sync.Mutex
	b  []byte
}

// smallBody is the size up to which bodies stay: they go out together with the header.
const smallBody = 32 << 10

// errReleased says that a body is no longer there. Nothing sends it after the response has begun.
var errReleased = errors.New("the body was released")

// open returns a reader of the body.
func (k *keptBody) open() (io.ReadCloser, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.b == nil {
		return nil, errReleased
	}
	return &bodyReader{r: bytes.NewReader(k.b)}, nil
}

// release drops the body. Readers that are open keep it until they are closed.
func (k *keptBody) release() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.b = nil
}

// A bodyReader reads a body, and drops it when it is closed. It is closed while it is read if the
// response comes early.
type bodyReader struct {
	mu sync.Mutex
	r  *bytes.Reader // nil if it is closed
}

// Read implements io.Reader.
func (b *bodyReader) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.r == nil {
		return 0, io.ErrClosedPipe
	}
	return b.r.Read(p)
}

// Close implements io.Closer.
func (b *bodyReader) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.r = nil
	return nil
}
