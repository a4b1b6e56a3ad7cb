package source

import "github.com/toolguard/toolguard/internal/contain"

// A follower reads a source in pieces from an offset to the end. If the source may be
// read ahead, it reads the next piece while the caller handles the current one.
type follower struct {
	src *Source
	at  int64 // where the next piece starts
	// room is the space in each buffer before its piece. The unused rest of the previous
	// piece is copied there. buffers[0] holds the latest piece.
	room    int
	buffers [2][]byte
	read    chan error // receives the result of reading the latest piece
	begun   bool       // a piece has been requested but not yet taken
	piece   []byte     // the latest piece
}

// newFollower returns a follower that reads pieces of size bytes from offset at.
func newFollower(src *Source, at, size int64) *follower {
	f := &follower{src: src, at: at, room: int(size / 4), read: make(chan error, 1)}
	for i := range f.buffers {
		f.buffers[i] = make([]byte, int64(f.room)+size)
	}
	return f
}

// begin starts reading the next piece.
func (f *follower) begin() {
	f.buffers[0], f.buffers[1] = f.buffers[1], f.buffers[0]
	piece, at := f.buffers[0][f.room:], f.at
	piece = piece[:min(int64(len(piece)), f.src.size-at)]
	f.piece, f.at = piece, at+int64(len(piece))
	read := func() {
		err := f.src.readFull(piece, at)
		if err == nil {
			f.src.lines.read(piece, at)
		}
		f.read <- err
	}
	if f.src.ahead {
		contain.Go(read, func(caught *contain.Error) { f.read <- caught })
	} else {
		read()
	}
	f.begun = true // not before: finish would wait for a read that panicked
}

// next returns the next piece.
func (f *follower) next() ([]byte, error) {
	if !f.begun {
		f.begin()
	}
	f.begun = false
	return f.piece, <-f.read
}

// behind returns the rest of the previous text followed by at least one more piece. The
// bytes are valid until the next call.
func (f *follower) behind(rest []byte) ([]byte, error) {
	piece, err := f.next()
	if err != nil {
		return nil, err
	}
	var text []byte
	if len(rest) <= f.room {
		text = f.buffers[0][f.room-len(rest) : f.room+len(piece)]
		copy(text, rest)
	} else {
		// The rest may be a long string, which is scanned from its start each time.
		// Doubling the text limits how often that happens.
		most := 2*len(rest) + len(f.buffers[0])
		text = append(make([]byte, 0, min(int64(most), int64(len(rest)+len(piece))+f.src.size-f.at)), rest...)
		for text = append(text, piece...); len(text) < 2*len(rest) && f.at < f.src.size; text = append(text, piece...) {
			if piece, err = f.next(); err != nil {
				return nil, err
			}
		}
	}
	if f.src.ahead && f.at < f.src.size {
		f.begin()
	}
	return text, nil
}

// finish waits for a read that has begun and drops its result.
func (f *follower) finish() {
	if f.begun {
		_, _ = f.next()
	}
}
