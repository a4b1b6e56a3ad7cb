package source

import (
	"bytes"
	"cmp"
	"slices"
	"sync"
)

// lines records where some lines start while the source is read from its beginning.
// Finding the number of a line then takes only a partial read.
type lines struct {
	mu sync.Mutex
	// ends is the number of line ends before offset counted.
	ends    int
	counted int64
	starts  []lineStart
}

// A lineStart is the number of a line, counted from 1, and its offset.
type lineStart struct {
	line int
	at   int64
}

// read counts the line ends in text, which is at offset off in the source.
func (l *lines) read(text []byte, off int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if off > l.counted || off+int64(len(text)) <= l.counted {
		return
	}
	text = text[l.counted-off:]
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		l.starts = append(l.starts, lineStart{l.ends + 2, l.counted + int64(i) + 1})
		l.ends += bytes.Count(text, []byte{'\n'})
	}
	l.counted += int64(len(text))
}

// before returns the last known line start at or before off.
func (l *lines) before(off int64) lineStart {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, found := slices.BinarySearchFunc(l.starts, off, func(s lineStart, off int64) int { return cmp.Compare(s.at, off) })
	if found {
		return l.starts[n]
	}
	if n == 0 {
		return lineStart{line: 1}
	}
	return l.starts[n-1]
}
