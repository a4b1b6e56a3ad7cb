package write

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"slices"
)

// needless reports whether all data that a killed run left in a file also exists elsewhere:
// in the target, in a backup of it, or in the text that this run is about to write, or is a
// repair that can be computed again. It
// returns false if that cannot be determined.
func (w *writer) needless(name string) bool {
	// A program that has the file open may still write to it.
	if w.lateWriter(name) != "" {
		return false
	}
	left, err := w.open(name)
	if err != nil {
		return false
	}
	defer left.Close()
	if left.Size() == 0 {
		return true
	}
	if w.file.Text != nil && holdsAll(w.file.Text, left, true) {
		return true
	}
	if w.holds(w.target, left) {
		return true
	}
	if w.opts.Known != nil && w.opts.Known(w.target, io.NewSectionReader(left, 0, left.Size())) {
		return true
	}
	bases := []string{w.target + w.opts.Backup, w.target + backupSuffix, w.left}
	if w.opts.Backup == "" {
		bases = bases[1:]
	}
	for _, base := range slices.Compact(bases) {
		for i := range mostBackups {
			other := numbered(base, i)
			if w.reserved(other) {
				continue // it is about to be overwritten
			}
			if _, err := w.sys.Lstat(other); err != nil {
				break
			}
			if w.holds(other, left) {
				return true
			}
		}
	}
	if w.opts.Copies != nil {
		for _, other := range w.opts.Copies(w.target) {
			if w.holds(other, left) {
				return true
			}
		}
	}
	return false
}

// holds reports whether a file contains all of a text.
func (w *writer) holds(name string, left Text) bool {
	f, err := w.open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	return holdsAll(f, left, false)
}

// A looked is a file with a known size.
type looked struct {
	file
	size int64
}

func (t *looked) Size() int64 { return t.size }

// open opens a regular file for reading.
func (w *writer) open(name string) (*looked, error) {
	// Opening a pipe would wait for a writer.
	info, err := w.sys.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	f, err := w.sys.Open(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err != nil {
		f.Close()
		return nil, err
	}
	return &looked{f, info.Size()}, nil
}

// holdsAll reports whether a text begins with a part, or contains all lines of the part in
// order, for example after an insertion. cut says that the last line of the part may be
// incomplete.
func holdsAll(whole, part Text, cut bool) bool {
	return part.Size() <= whole.Size() && (same(whole, 0, part, 0, part.Size()) || hasLines(whole, part, cut))
}

// same reports whether n bytes of two texts are the same.
func same(a Text, atA int64, b Text, atB, n int64) bool {
	x, y := make([]byte, min(n, copySize)), make([]byte, min(n, copySize))
	for done := int64(0); done < n; done += int64(len(x)) {
		x, y = x[:min(n-done, copySize)], y[:min(n-done, copySize)]
		if !filled(a, x, atA+done) || !filled(b, y, atB+done) || !bytes.Equal(x, y) {
			return false
		}
	}
	return true
}

// filled reads from an offset until a buffer is full.
func filled(t Text, p []byte, at int64) bool {
	n, _ := t.ReadAt(p, at)
	return n == len(p)
}

// hasLines reports whether a text contains all lines of a part, in order.
func hasLines(whole, part Text, cut bool) bool {
	in, of := newLines(whole), newLines(part)
	want, err := of.next()
	for err == nil {
		got, e := in.next()
		if e != nil {
			return false
		}
		begins := cut && !want.ended && want.size <= got.size && same(whole, got.start, part, want.start, want.size)
		if begins || want.size == got.size && want.sum == got.sum {
			want, err = of.next()
		}
	}
	return errors.Is(err, io.EOF)
}

// A line is a line of a text, without its ending.
type line struct {
	start, size int64
	sum         [sha256.Size]byte
	ended       bool
}

// lines reads a text line by line. It does not hold lines in memory, because they may be too
// long.
type lines struct {
	r  *bufio.Reader
	at int64
}

func newLines(t Text) *lines {
	return &lines{r: bufio.NewReaderSize(io.NewSectionReader(t, 0, t.Size()), copySize)}
}

// next returns the next line. The error is io.EOF after the last one.
func (l *lines) next() (line, error) {
	out, sum := line{start: l.at}, sha256.New()
	for {
		piece, err := l.r.ReadSlice('\n')
		l.at += int64(len(piece))
		piece, out.ended = bytes.CutSuffix(piece, []byte("\n"))
		out.size += int64(len(piece))
		sum.Write(piece)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && l.at > out.start:
		case err != nil:
			return line{}, err
		}
		sum.Sum(out.sum[:0])
		return out, nil
	}
}
