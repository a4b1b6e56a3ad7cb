package source

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"iter"
)

// A Stretch is a part of a source with a record on each line. Several can be read side by side, each
// from a fork of the source.
type Stretch struct {
	// From is the start of a line. To is that of a later one, or the end of the source.
	From, To int64
	// End is where the last record ends that begins before To. If it is behind To, the next stretch
	// does not begin with a record.
	End int64
	// Wasted is how many bytes were read in vain up to its end, to join lines. What was wasted before
	// From is given, as far as it is known.
	Wasted int64
	// Before is how many records are before From, by which those of the stretch are numbered.
	Before int
}

// MostWasted is how many bytes can be wasted before From without any effect on what is read.
const MostWasted = joinBytes

// Fork returns a source of the same bytes that another goroutine can read.
func (s *Source) Fork() *Source {
	return &Source{
		name: s.name, r: s.r, size: s.size, ctx: s.ctx, named: s.named, packed: s.packed, held: s.held, progress: s.progress,
		asLines: s.asLines, text: s.text, stretch: s.stretch,
	}
}

// Near says that a record is being examined that was read from another fork.
func (s *Source) Near(rec Record) { s.near = rec.Value }

// SetJobs permits so many goroutines to read stretches of the source, if it has least bytes or more.
func (s *Source) SetJobs(least int64, jobs int) {
	if s.size >= least {
		s.jobs = jobs
	}
}

// Jobs returns how many goroutines may read the source.
func (s *Source) Jobs() int { return max(s.jobs, 1) }

// stretchBytes is about how many bytes a stretch has: enough for what is learnt from one to be of use,
// and few enough for all goroutines to end at the same time.
const stretchBytes = 1 << 20

// StretchBytes returns how many bytes a stretch has at least.
func (s *Source) StretchBytes() int64 { return cmp.Or(s.stretch, stretchBytes) }

// SetStretch sets how many bytes a stretch has at least.
func (s *Source) SetStretch(bytes int64) { s.stretch = bytes }

// Stretches yields stretches that cover the source, in order.
func (s *Source) Stretches() iter.Seq2[Stretch, error] {
	return func(yield func(Stretch, error) bool) {
		for from := int64(0); from < s.size; {
			to, err := s.lineAfter(min(from+s.StretchBytes(), s.size))
			if !yield(Stretch{From: from, To: to}, err) || err != nil {
				return
			}
			from = to
		}
	}
}

// lineAfter returns the start of the first line that begins at an offset or behind it, or the size of
// the source.
func (s *Source) lineAfter(off int64) (int64, error) {
	buf := make([]byte, peekSize)
	for off--; off < s.size; off += int64(len(buf)) {
		part := buf[:min(int64(len(buf)), s.size-off)]
		if err := s.readFull(part, off); err != nil {
			return 0, err
		}
		if i := bytes.IndexByte(part, '\n'); i >= 0 {
			return off + int64(i) + 1, nil
		}
	}
	return s.size, nil
}

// ReadStretch yields the records that begin in a stretch of src, and notes where it ended. A record is valid
// until the next one.
func ReadStretch(src *Source, at *Stretch) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		r := src.spare // there may be a stretch for each repair of a file
		if src.spare = nil; r == nil {
			r = NewReader(src)
		} else {
			r.reset()
		}
		defer func() { src.near, src.spare = Value{}, r }()
		r.win.chunk = min(chunkSize, max(at.To-at.From+1, peekSize))
		r.wasted, r.n = at.Wasted, at.Before
		if at.From > 0 {
			r.decided, r.framing, r.pos = true, FramingLines, at.From
		}
		_, err := r.Framing()
		if err == nil {
			_, err = r.win.from(r.pos) // so that skip need not read it first
		}
		if err != nil {
			yield(Record{}, err)
			return
		}
		for {
			at.End, at.Wasted = r.pos, r.wasted
			nul, next, _, err := r.skip(r.pos, true)
			if err == nil && nul.End == 0 && next >= at.To {
				return
			}
			var rec Record
			if err == nil {
				rec, err = r.Next()
			}
			if errors.Is(err, io.EOF) {
				return
			}
			src.near = rec.Value
			if !yield(rec, err) || err != nil {
				return
			}
		}
	}
}
