package filter

import (
	"bytes"
	"io"

	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/source"
)

// copySize is the number of bytes that are copied at a time.
const copySize = 256 << 10

// copy copies a span of the source to each writer that is not nil.
func (r *run) copy(at source.Span, to ...io.Writer) error {
	for at.Start < at.End {
		part := source.Span{Start: at.Start, End: min(at.End, at.Start+copySize)}
		text, err := r.src.Into(r.buf, part)
		if err != nil {
			return err
		}
		r.buf, at.Start = text, part.End
		for _, w := range to {
			if w == nil {
				continue
			}
			if _, err := w.Write(text); err != nil {
				return err
			}
		}
	}
	return nil
}

// An edited copies a source with edits to the output.
type edited struct {
	*run
	edits []edit.Edit // that have not been reached
	at    int64       // what is before it is done
}

// upTo copies up to an offset, with the edits there. It reports whether there were any.
func (e *edited) upTo(end int64) (changed bool, err error) {
	for len(e.edits) > 0 && e.edits[0].Span.End <= end && err == nil {
		next := e.edits[0]
		e.edits = e.edits[1:]
		if next.Span.Start < e.at {
			continue // in something that was rejected
		}
		if err = e.copy(source.Span{Start: e.at, End: next.Span.Start}, e.out); err == nil {
			_, err = e.out.Write(next.Text)
		}
		e.at, changed = next.Span.End, true
	}
	if err == nil && e.at < end {
		err = e.copy(source.Span{Start: e.at, End: end}, e.out)
		e.at = end
	}
	return changed, err
}

// byteOrderMark may be at the beginning of a file, and at the beginning of each of several
// files that were joined.
const byteOrderMark = "\xef\xbb\xbf"

// seek is the number of bytes that are first read to find the end of a line.
const seek = 64

// behind returns the offset behind the blanks that follow an offset, and whether a line feed
// is next.
func (r *run) behind(at int64) (int64, bool, error) {
	for n := int64(seek); at < r.src.Size(); n = copySize {
		text, err := r.src.Into(r.buf, source.Span{Start: at, End: min(at+n, r.src.Size())})
		if err != nil {
			return 0, false, err
		}
		r.buf = text
		rest := bytes.TrimLeft(text, " \t\r")
		at += int64(len(text) - len(rest))
		if len(rest) > 0 {
			return at, rest[0] == '\n', nil
		}
	}
	return at, false, nil
}

// before returns the offset before the blanks in front of an offset, but not below from.
func (r *run) before(at, from int64) (int64, error) {
	for n := int64(seek); at > from; n = copySize {
		text, err := r.src.Into(r.buf, source.Span{Start: max(from, at-n), End: at})
		if err != nil {
			return 0, err
		}
		r.buf = text
		rest := bytes.TrimRight(text, " \t\r")
		at -= int64(len(text) - len(rest))
		if len(rest) > 0 {
			return at, nil
		}
	}
	return at, nil
}
