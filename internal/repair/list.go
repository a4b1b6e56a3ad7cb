package repair

import (
	"bytes"
	"slices"
	"sort"
	"strings"

	"github.com/toolguard/toolguard/internal/edit"

	"github.com/toolguard/toolguard/internal/transcript"
)

// A list is a JSON array, or the lines of a file, with what is to become of
// its elements. All changes to one list are compiled together, so that commas
// and line ends come out right however many neighbours are concerned.
type list struct {
	src *window
	// array is the array with its brackets; lines is set for lines of a file.
	array transcript.Span
	lines bool
	// sep is what stands between two elements; "" means that it is read off
	// the neighbours.
	sep string

	removed []transcript.Span
	inserts map[int64][][]byte        // by the end of the element before; head() for the front
	anchors map[int64]transcript.Span // the elements of those ends
}

func (l *list) head() int64 {
	if l.lines {
		return 0
	}
	return l.array.Start + 1
}

// remove takes an element out.
func (l *list) remove(e transcript.Span) { l.removed = append(l.removed, e) }

// after puts new text behind an element; behind none means at the front.
func (l *list) after(anchor transcript.Span, text []byte) {
	if l.inserts == nil {
		l.inserts = map[int64][][]byte{}
		l.anchors = map[int64]transcript.Span{}
	}
	key := anchor.End
	if anchor.IsZero() {
		key = l.head()
	}
	l.inserts[key] = append(l.inserts[key], text)
	l.anchors[key] = anchor
}

// next returns where the element behind one that ends at end begins.
func (l *list) next(end int64) (int64, bool) {
	at := l.src.skip(end)
	c, ok := l.src.at(at)
	if !ok {
		return 0, false
	}
	if l.lines {
		return at, true
	}
	if c != ',' {
		return 0, false
	}
	return l.src.skip(at + 1), true
}

// prev returns where the element before one that begins at start ends.
func (l *list) prev(start int64) (int64, bool) {
	at := l.src.back(start)
	c, ok := l.src.at(at - 1)
	if !ok || l.lines && at <= 3 && l.src.bom() {
		return 0, false
	}
	if l.lines {
		return at, true
	}
	if c != ',' {
		return 0, false
	}
	return l.src.back(at - 1), true
}

// compile returns the edits, in order.
func (l *list) compile() []edit.Edit {
	sort.Slice(l.removed, func(i, j int) bool { return l.removed[i].Start < l.removed[j].Start })
	var out []edit.Edit
	for i := 0; i < len(l.removed); {
		j := i
		for j+1 < len(l.removed) {
			if n, ok := l.next(l.removed[j].End); !ok || n != l.removed[j+1].Start {
				break
			}
			j++
		}
		g := gap{removed: transcript.Span{Start: l.removed[i].Start, End: l.removed[j].End}}
		g.prev, g.hasPrev = l.prev(g.removed.Start)
		key := g.prev
		if !g.hasPrev {
			key = l.head()
		}
		g.items = l.take(key, g.items)
		for k := i; k <= j; k++ {
			g.items = l.take(l.removed[k].End, g.items)
		}
		out = append(out, l.edit(g))
		i = j + 1
	}
	for key, items := range l.inserts {
		delete(l.inserts, key) // an edit copies them
		g := gap{items: items, anchor: l.anchors[key]}
		if !g.anchor.IsZero() {
			g.prev, g.hasPrev = g.anchor.End, true
			g.next, g.hasNext = l.next(g.anchor.End)
		} else if at := l.src.skip(l.head()); l.lines || at < l.array.End-1 {
			g.next, g.hasNext = at, true
		}
		out = append(out, l.edit(g))
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Span.Start < out[j].Span.Start })
	return out
}

func (l *list) take(key int64, items [][]byte) [][]byte {
	items = append(items, l.inserts[key]...)
	delete(l.inserts, key)
	return items
}

// A gap is the place between two elements that stay, with what is removed from
// it and what is put there.
type gap struct {
	prev, next       int64 // the end of the one, the start of the other
	hasPrev, hasNext bool
	removed          transcript.Span
	anchor           transcript.Span
	items            [][]byte
}

func (l *list) edit(g gap) edit.Edit {
	cut := !g.removed.IsZero()
	if cut {
		g.next, g.hasNext = l.next(g.removed.End)
	}
	sep := []byte(l.separator(&g))
	var text []byte
	switch {
	case g.hasNext:
		for _, item := range g.items {
			text = append(slices.Grow(text, len(item)+len(sep)), item...)
			text = append(text, sep...)
		}
		from := g.next
		if cut {
			from = g.removed.Start
		}
		return edit.Edit{Span: transcript.Span{Start: from, End: g.next}, Text: text}
	case g.hasPrev:
		for _, item := range g.items {
			text = append(slices.Grow(text, len(item)+len(sep)), sep...)
			text = append(text, item...)
		}
		to := g.prev
		if cut {
			to = g.removed.End
		}
		return edit.Edit{Span: transcript.Span{Start: g.prev, End: to}, Text: text}
	}
	text = bytes.Join(g.items, sep)
	switch {
	case len(text) > 0 && cut && l.lines:
		return edit.Edit{Span: g.removed, Text: text}
	case len(text) > 0 && cut: // nothing else can be put into a list of which nothing stays
		return edit.Edit{Span: l.array, Text: []byte(l.src.text(l.array.Start, g.removed.Start) + string(text) + l.src.text(g.removed.End, l.array.End))}
	case l.lines:
		return edit.Edit{Span: transcript.Span{Start: g.removed.Start, End: l.src.size()}, Text: text}
	}
	// Nothing else can be put into a list that was or becomes empty.
	return edit.Edit{Span: l.array, Text: []byte("[" + string(text) + "]")}
}

// separator returns what goes between two elements.
func (l *list) separator(g *gap) string {
	if l.sep != "" {
		return l.sep
	}
	between := ""
	switch {
	case !g.removed.IsZero() && g.hasPrev:
		between = l.src.text(g.prev, g.removed.Start)
	case !g.removed.IsZero() && g.hasNext:
		between = l.src.text(g.removed.End, g.next)
	case g.hasPrev && g.hasNext:
		between = l.src.text(g.prev, g.next)
	case g.hasPrev && !g.anchor.IsZero():
		if before, ok := l.prev(g.anchor.Start); ok {
			between = l.src.text(before, g.anchor.Start)
		}
	}
	if l.lines {
		end := "\n"
		switch {
		case strings.Contains(between, "\r\n"), between == "" && l.src.crlf():
			end = "\r\n"
		case between != "" && !strings.Contains(between, "\n"):
			return between
		}
		return strings.Repeat(end, l.spacing(g, between))
	}
	if between == "" {
		return l.usual()
	}
	return between
}

// spacing returns how many line ends stand between records around a gap: more
// than one where blank lines keep them apart on both sides.
func (l *list) spacing(g *gap, between string) int {
	n := strings.Count(between, "\n")
	if !g.anchor.IsZero() && g.hasNext {
		if before, ok := l.prev(g.anchor.Start); ok {
			n = min(n, strings.Count(l.src.text(before, g.anchor.Start), "\n"))
		}
	}
	return max(n, 1)
}

// usual returns what stands between the first two elements of an array, or is
// to be expected there.
func (l *list) usual() string {
	raw := l.src.text(l.array.Start, l.array.End)
	end := int64(-1)
	sep := ","
	for _, e := range transcript.NewValue([]byte(raw), 0).Elements() {
		if end >= 0 {
			return raw[end:e.Span().Start]
		}
		end = e.Span().End
		// The white space before an only element tells the layout.
		if lead := raw[1:e.Span().Start]; strings.Contains(lead, "\n") {
			sep = "," + lead
		} else {
			sep = styleOf(e).comma
		}
	}
	return sep
}

// A window reads single bytes and small stretches of a source.
type window struct {
	src  *transcript.Source
	buf  []byte
	base int64
	err  error
}

const windowSize = 4 << 10

func (w *window) size() int64 { return w.src.Size() }

// at returns the byte at an offset.
func (w *window) at(off int64) (byte, bool) {
	if off < 0 || off >= w.src.Size() || w.err != nil {
		return 0, false
	}
	if off < w.base || off >= w.base+int64(len(w.buf)) {
		w.base = max(0, off-windowSize/2)
		buf, err := w.src.Into(w.buf, transcript.Span{Start: w.base, End: min(w.base+windowSize, w.src.Size())})
		if err != nil {
			w.err = err
			return 0, false
		}
		w.buf = buf
	}
	return w.buf[off-w.base], true
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// skip returns the first offset from off on that is not white space.
func (w *window) skip(off int64) int64 {
	for {
		if c, ok := w.at(off); !ok || !blank(c) {
			return off
		}
		off++
	}
}

// back returns the offset behind the last byte before off that is not white
// space.
func (w *window) back(off int64) int64 {
	for {
		if c, ok := w.at(off - 1); !ok || !blank(c) {
			return off
		}
		off--
	}
}

func (w *window) text(from, to int64) string {
	if from >= to {
		return ""
	}
	b, err := w.src.Bytes(transcript.Span{Start: from, End: to})
	if err != nil && w.err == nil {
		w.err = err
	}
	return string(b)
}

func (w *window) bom() bool { return w.text(0, min(3, w.src.Size())) == "\xef\xbb\xbf" }

// crlf reports whether the first line of the source ends in CR LF.
func (w *window) crlf() bool {
	for off := int64(0); ; off++ {
		c, ok := w.at(off)
		if !ok {
			return false
		}
		if c == '\n' {
			b, _ := w.at(off - 1)
			return b == '\r'
		}
	}
}
