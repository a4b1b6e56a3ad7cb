package edit

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"sort"

	"github.com/toolguard/toolguard/internal/source"
)

// Pieces is an edited source: spans of the original and new bytes, in order. It can be read
// like a file and edited again. It copies the original only if that is in memory.
type Pieces struct {
	src   *source.Source
	parts []piece
	size  int64
	was   *Pieces // before the last edits; nil for the original
	edits []Edit  // the last ones
	text  []byte  // the whole, if the original is in memory and the whole was asked for
}

// A piece is a part of the original, or new text.
type piece struct {
	at   int64       // its offset in the whole
	span source.Span // of the original, if text is nil
	text []byte
}

func (p *piece) len() int64 {
	if p.text != nil {
		return int64(len(p.text))
	}
	return p.span.Len()
}

// NewPieces returns the source as one piece.
func NewPieces(src *source.Source) *Pieces {
	p := &Pieces{src: src}
	p.add(piece{span: source.Span{Start: 0, End: src.Size()}})
	return p
}

func (p *Pieces) add(part piece) {
	if part.len() == 0 {
		return
	}
	part.at = p.size
	p.size += part.len()
	p.parts = append(p.parts, part)
}

// Size returns the number of bytes of the whole.
func (p *Pieces) Size() int64 { return p.size }

// find returns the index of the piece that contains an offset.
func (p *Pieces) find(off int64) int {
	return sort.Search(len(p.parts), func(i int) bool { return p.parts[i].at > off }) - 1
}

// ReadAt implements io.ReaderAt.
func (p *Pieces) ReadAt(b []byte, off int64) (int, error) {
	n := 0
	for i := max(0, p.find(off)); i < len(p.parts) && n < len(b); i++ {
		part := &p.parts[i]
		from := off + int64(n) - part.at
		if from >= part.len() {
			break
		}
		want := min(int64(len(b)-n), part.len()-from)
		if part.text != nil {
			copy(b[n:], part.text[from:from+want])
		} else {
			got, err := p.src.ReadAt(b[n:n+int(want)], part.span.Start+from)
			if int64(got) < want {
				return n + got, err
			}
		}
		n += int(want)
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// InFile returns the file that has the bytes at an offset, where they are in it, and how many follow from
// there. The file is nil if the bytes are new, or the original is in no file.
func (p *Pieces) InFile(off int64) (f *os.File, at, n int64) {
	i := p.find(off)
	if i < 0 {
		return nil, 0, 0
	}
	part := &p.parts[i]
	if n = part.at + part.len() - off; n <= 0 || part.text != nil {
		return nil, 0, max(n, 0)
	}
	f, at, _ = p.src.InFile(part.span.Start + off - part.at)
	return f, at, n
}

// Source returns the whole as a source with the same name. If the original is in memory, so
// is the whole.
func (p *Pieces) Source() *source.Source {
	was := p.src.Text()
	if was == nil {
		return p.src.Derived(p, p.size)
	}
	if p.text == nil {
		p.text = make([]byte, 0, p.size)
		for i := range p.parts {
			if part := &p.parts[i]; part.text != nil {
				p.text = append(p.text, part.text...)
			} else {
				p.text = append(p.text, was[part.span.Start:part.span.End]...)
			}
		}
	}
	return p.src.Edited(p.text)
}

// Apply returns the source with edits applied. It returns an error if the edits are not in
// order, overlap, or are outside of the source.
func Apply(src *source.Source, edits []Edit) (*Pieces, error) { return NewPieces(src).Apply(edits) }

// Apply returns the whole with edits applied. It returns an error if the edits are not in
// order, overlap, or are outside of the whole.
func (p *Pieces) Apply(edits []Edit) (*Pieces, error) {
	out := &Pieces{src: p.src, was: p, edits: edits, parts: make([]piece, 0, len(p.parts)+2*len(edits))}
	i, at := 0, int64(0) // the piece and the offset reached
	copyTo := func(end int64) {
		for at < end {
			part := p.parts[i]
			from, to := at-part.at, min(end-part.at, part.len())
			if part.text != nil {
				out.add(piece{text: part.text[from:to]})
			} else {
				out.add(piece{span: source.Span{Start: part.span.Start + from, End: part.span.Start + to}})
			}
			at = part.at + to
			if to == part.len() {
				i++
			}
		}
	}
	for _, e := range edits {
		if e.Span.Start < at || e.Span.End < e.Span.Start || e.Span.End > p.size {
			return nil, fmt.Errorf("%s: edit of bytes %d to %d comes after byte %d of %d", p.src.Name(), e.Span.Start, e.Span.End, at, p.size)
		}
		copyTo(e.Span.Start)
		if len(e.Text) > 0 {
			out.add(piece{text: e.Text})
		}
		for i < len(p.parts) && p.parts[i].at+p.parts[i].len() <= e.Span.End {
			i++
		}
		at = e.Span.End
	}
	copyTo(p.size)
	return out, nil
}

// Edits returns the changes as edits of the original, in order. It omits changes that were
// undone.
func (p *Pieces) Edits() []Edit {
	return slices.Collect(p.changes())
}

// Changed reports whether the whole differs from the original.
func (p *Pieces) Changed() bool {
	for range p.changes() {
		return true
	}
	return false
}

// changes yields the edits. It does not copy new text that is in one piece.
func (p *Pieces) changes() iter.Seq[Edit] {
	return func(yield func(Edit) bool) {
		at := int64(0)
		var text []byte
		for i := range len(p.parts) + 1 {
			stays := source.Span{Start: p.src.Size(), End: p.src.Size()}
			if i < len(p.parts) {
				part := &p.parts[i]
				switch {
				case part.text == nil:
					stays = part.span
				case text == nil:
					text = slices.Clip(part.text)
					continue
				default:
					text = append(text, part.text...)
					continue
				}
			}
			e := Edit{source.Span{Start: at, End: stays.Start}, text}
			if (e.Span.Len() > 0 || len(text) > 0) && !p.same(e.Span, text) && !yield(e) {
				return
			}
			at, text = stays.End, nil
		}
	}
}

// same reports whether a span of the original contains a text.
func (p *Pieces) same(s source.Span, text []byte) bool {
	if s.Len() != int64(len(text)) {
		return false
	}
	b, err := p.src.View(s)
	return err == nil && bytes.Equal(b, text)
}

// Original returns the span of the original that a span of the whole was copied from, as far
// as its first piece reaches. It returns false if the span begins with new text.
func (p *Pieces) Original(s source.Span) (source.Span, bool) {
	i := p.find(s.Start)
	if i < 0 || i >= len(p.parts) || p.parts[i].text != nil {
		return source.Span{}, false
	}
	part := &p.parts[i]
	from := part.span.Start + s.Start - part.at
	return source.Span{Start: from, End: min(from+s.Len(), part.span.End)}, true
}

// Around returns the part of the original that corresponds to a span of the whole. New
// text counts as a replacement of all original bytes between the pieces on both sides of it.
func (p *Pieces) Around(s source.Span) source.Span {
	start, end := int64(0), p.src.Size()
	for i := p.find(s.Start); i >= 0; i-- {
		if part := &p.parts[i]; part.text == nil {
			start = part.span.Start + min(s.Start-part.at, part.span.Len())
			break
		}
	}
	for i := max(0, p.find(max(s.Start, s.End-1))); i < len(p.parts); i++ {
		if part := &p.parts[i]; part.text == nil {
			end = part.span.Start + max(0, s.End-part.at)
			break
		}
	}
	return source.Span{Start: start, End: max(start, end)}
}

// WriteTo implements io.WriterTo.
func (p *Pieces) WriteTo(w io.Writer) (int64, error) {
	return io.Copy(w, io.NewSectionReader(p, 0, p.size))
}
