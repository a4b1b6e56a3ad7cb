package session

// longestText is how many bytes of a text are kept.
const longestText = 240

// A Text is the beginning of a text, as it is written in JSON; Session.Bytes returns it.
type Text struct {
	at   int64
	kept int32
	// Size is how many bytes the whole text has, 0 for none.
	Size int64
}

// Cut reports whether only the beginning is kept.
func (t Text) Cut() bool { return int64(t.kept) < t.Size }

// An arena holds many texts.
type arena struct {
	chunks [][]byte
}

// chunkSize is the number of bytes that are allocated together.
const chunkSize = 64 << 10

// add keeps the beginning of a text of some size.
func (a *arena) add(beginning []byte, size int64) Text {
	n := len(a.chunks)
	if n == 0 || len(a.chunks[n-1])+len(beginning) > cap(a.chunks[n-1]) {
		a.chunks = append(a.chunks, make([]byte, 0, max(chunkSize, len(beginning))))
		n++
	}
	last := &a.chunks[n-1]
	t := Text{at: int64(n-1)<<32 | int64(len(*last)), kept: int32(len(beginning)), Size: size}
	*last = append(*last, beginning...)
	return t
}

func (a *arena) bytes(t Text) []byte {
	if t.kept == 0 {
		return nil
	}
	chunk, from := a.chunks[t.at>>32], t.at&(1<<32-1)
	return chunk[from : from+int64(t.kept)]
}
