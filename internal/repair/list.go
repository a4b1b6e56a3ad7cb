package repair

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/source"
)

// A list is a JSON array, or the lines of a file, with the changes to its elements. All
// changes to one list are compiled together, so that commas and line endings are right even
// if adjacent elements change.
type list struct {
	src *window
	// array is the array with its brackets; lines is set for lines of a file.
	array source.Span
	lines bool
	// sep is the separator between two elements; "" means that it is copied from nearby
	// elements.
	sep string

	removed []source.Span
	inserts map[int64]insert // by the end of the element before, -1 for the start of an array
}

// An insert is the text to be inserted after an element, or at the start if anchor is zero.
type insert struct {
	anchor source.Span
	items  [][]byte
}

// remove removes an element.
func (l *list) remove(e source.Span) { l.removed = append(l.removed, e) }

// after inserts text after an element, or at the start if anchor is zero.
func (l *list) after(anchor source.Span, text []byte) {
	key := anchor.End
	if anchor.IsZero() {
		key = -1
	}
	put(&l.inserts, key, insert{anchor, append(l.inserts[key].items, text)})
}

// next returns the start of the element after one that ends at end, -1 if there is none.
func (l *list) next(end int64) int64 {
	at := l.src.skip(end)
	switch {
	case l.lines && at < l.src.size():
		return at
	case !l.lines && l.src.at(at) == ',':
		return l.src.skip(at + 1)
	}
	return -1
}

// prev returns the end of the element before one that begins at start, -1 if there is none.
func (l *list) prev(start int64) int64 {
	at := l.src.back(start)
	switch {
	case l.lines && at > 0 && (at > 3 || l.src.text(0, 3) != "\ufeff"):
		return at
	case !l.lines && l.src.at(at-1) == ',':
		return l.src.back(at - 1)
	}
	return -1
}

// compile returns the edits in order, and clears the inserts.
func (l *list) compile() []edit.Edit {
	slices.SortFunc(l.removed, func(a, b source.Span) int { return cmp.Compare(a.Start, b.Start) })
	var out []edit.Edit
	for i, j := 0, 0; i < len(l.removed); i = j {
		// Adjacent removed elements form one gap.
		for j = i + 1; j < len(l.removed) && l.next(l.removed[j-1].End) == l.removed[j].Start; j++ {
		}
		g := gap{at: source.Span{Start: l.removed[i].Start, End: l.removed[j-1].End}, cut: true}
		g.prev, g.next = l.prev(g.at.Start), l.next(g.at.End)
		g.items = l.take(g.prev).items
		for _, e := range l.removed[i:j] {
			g.items = append(g.items, l.take(e.End).items...)
		}
		out = append(out, l.edit(&g))
	}
	for key := range l.inserts {
		g := gap{insert: l.take(key), prev: -1, next: -1}
		if !g.anchor.IsZero() {
			g.prev, g.next = g.anchor.End, l.next(g.anchor.End)
		} else if first := l.src.skip(l.array.Start + 1); first < l.array.End-1 {
			g.next = first
		}
		if g.at.Start = g.next; g.next < 0 {
			g.at.Start = g.prev
		}
		g.at.End = g.at.Start
		out = append(out, l.edit(&g))
	}
	slices.SortStableFunc(out, func(a, b edit.Edit) int { return cmp.Compare(a.Span.Start, b.Span.Start) })
	return out
}

func (l *list) take(key int64) insert {
	in := l.inserts[key]
	delete(l.inserts, key)
	return in
}

// A gap is the place between two elements that stay, with the elements removed from it and
// the items inserted there.
type gap struct {
	insert
	prev, next int64       // the end of one element and the start of the other; -1 for none
	at         source.Span // the removed elements if cut is set, otherwise the empty span for the items
	cut        bool
}

func (l *list) edit(g *gap) edit.Edit {
	items, at := g.items, g.at
	switch {
	case len(items) == 0:
	case g.next >= 0:
		items = append(items, nil) // so that a separator follows the last one
	case g.prev >= 0:
		items = slices.Insert(items, 0, nil)
	}
	text := bytes.Join(items, []byte(l.separator(g)))
	switch {
	case l.lines && g.cut && len(text) == 0 && g.prev >= 0 && !strings.Contains(l.src.text(g.prev, at.Start), "\n"):
		at.Start = g.prev // what is before it on its line must not go on in the next line
	case g.next >= 0:
		at.End = g.next
	case g.prev >= 0:
		at.Start = g.prev
	case l.lines && len(text) == 0:
		at.End = l.src.size()
	case !l.lines:
		// The edit covers the whole list, so that no other fix inserts anything into it,
		// which would find no neighbor.
		at = l.array
		if g.cut && len(text) > 0 {
			text = slices.Concat(l.src.bytes(at.Start, g.at.Start), text, l.src.bytes(g.at.End, at.End))
		} else {
			text = slices.Concat([]byte("["), text, []byte("]"))
		}
	}
	return edit.Edit{Span: at, Text: text}
}

// separator returns the separator between two elements.
func (l *list) separator(g *gap) string {
	if l.sep != "" {
		return l.sep
	}
	before := l.prev(g.anchor.Start)
	lead := l.src.text(before, g.anchor.Start)
	between := ""
	switch {
	case g.prev < 0 && g.next >= 0 && g.cut:
		between = l.src.text(g.at.End, g.next)
	case g.prev >= 0 && g.next < 0 && !g.cut:
		between = lead
	case g.prev >= 0:
		between = l.src.text(g.prev, g.at.Start)
	}
	switch n := strings.Count(between, "\n"); {
	case between == "" && !l.lines:
		return l.usual()
	case !l.lines, between != "" && n == 0:
		return between
	default:
		if g.next >= 0 && before >= 0 {
			n = min(n, strings.Count(lead, "\n")) // blank lines separate records only if they do so on both sides
		}
		end := "\n"
		if strings.Contains(between, "\r\n") || between == "" && l.src.crlf() {
			end = "\r\n"
		}
		return strings.Repeat(end, max(n, 1))
	}
}

// usual returns the separator between the first two elements of an array, or the one to
// expect if there are fewer.
func (l *list) usual() string {
	raw := l.src.text(l.array.Start, l.array.End)
	end := int64(-1)
	sep := ","
	for _, e := range source.NewValue([]byte(raw), 0).Elements() {
		if end >= 0 {
			return raw[end:e.Span().Start]
		}
		end = e.Span().End
		// The white space before an only element shows the layout.
		if lead := raw[1:e.Span().Start]; strings.Contains(lead, "\n") {
			sep = "," + lead
		} else {
			sep = styleOf(e).comma
		}
	}
	return sep
}

// A window reads single bytes and short texts of a source.
type window struct {
	src  *source.Source
	buf  []byte
	base int64
	err  error
	// ending is the line ending of the first line; "" until it is needed.
	ending string
}

const windowSize = 4 << 10

func (w *window) size() int64 { return w.src.Size() }

// at returns the byte at an offset, or 0 if the offset is outside of the source or cannot be
// read.
func (w *window) at(off int64) byte {
	if off < 0 || off >= w.size() || w.err != nil {
		return 0
	}
	if (off < w.base || off >= w.base+int64(len(w.buf))) && !w.move(off) {
		return 0
	}
	return w.buf[off-w.base]
}

// move loads the window around an offset.
func (w *window) move(off int64) bool {
	w.base = max(0, off-windowSize/2)
	w.buf, w.err = w.src.Into(w.buf, source.Span{Start: w.base, End: min(w.base+windowSize, w.size())})
	return w.err == nil
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// skip returns the first offset at or after off that is not white space.
func (w *window) skip(off int64) int64 {
	for blank(w.at(off)) {
		off++
	}
	return off
}

// back returns the offset after the last byte before off that is not white space.
func (w *window) back(off int64) int64 {
	for blank(w.at(off - 1)) {
		off--
	}
	return off
}

// view returns the bytes between two offsets, nil if from is negative or not less than to.
// They are valid until the next read.
func (w *window) view(from, to int64) []byte {
	if from < 0 || from >= to {
		return nil
	}
	if inside := from >= w.base && to <= w.base+int64(len(w.buf)); w.err == nil && (inside || to-from <= windowSize/2 && to <= w.size() && w.move(from)) {
		return w.buf[from-w.base : to-w.base]
	}
	return w.read(from, to)
}

// bytes returns a copy of the same bytes.
func (w *window) bytes(from, to int64) []byte {
	if to-from > windowSize/2 && from >= 0 {
		return w.read(from, to)
	}
	return bytes.Clone(w.view(from, to))
}

func (w *window) read(from, to int64) []byte {
	b, err := w.src.Bytes(source.Span{Start: from, End: to})
	w.err = cmp.Or(w.err, err)
	return b
}

// text returns them as a string.
func (w *window) text(from, to int64) string { return string(w.view(from, to)) }

// is reports whether the text at a span equals text. It reads nothing if the lengths differ.
func (w *window) is(at source.Span, text string) bool {
	return at.Len() == int64(len(text)) && string(w.view(at.Start, at.End)) == text
}

// crlf reports whether the first line of the source ends in CR LF. The line is read only
// once, because it can be almost all of the source.
func (w *window) crlf() bool {
	if w.ending == "" {
		w.ending = "\n"
		end := int64(0)
		for end < w.size() && w.err == nil && w.at(end) != '\n' {
			end++
		}
		if w.at(end) == '\n' && w.at(end-1) == '\r' {
			w.ending = "\r\n"
		}
	}
	return w.ending == "\r\n"
}
