package container

import (
	"iter"
	"slices"

	"github.com/toolguard/toolguard/internal/detect"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// InRows reports whether each line of the file is a row of its own, which is read without the others.
func (r *Reading) InRows() bool {
	return r.err == nil && r.shape.Class == detect.ClassConversation && r.shape.Framing == source.FramingLines
}

// leastListed is how many conversations of a document are many.
const leastListed = 16

// isListed reports whether the file is a document with many conversations, each of which is read without
// the others.
func (r *reading) isListed() bool {
	s := r.shape
	return s.Class == detect.ClassConversation && s.Framing == source.FramingDocument && s.Document.Value.Outside() &&
		!r.opts.Request && len(s.Places) >= leastListed &&
		!slices.ContainsFunc(s.Places, func(p detect.Place) bool { return p.Class == detect.ClassLog || p.Unfolded != nil })
}

// SideBySide reports whether parts of the file can be read side by side: lines, or conversations of a
// document.
func (r *Reading) SideBySide() bool { return r.src.Jobs() > 1 && (r.InRows() || r.Listed) }

// Stretches yields stretches that cover the file, in order. From and To of those of a document are
// numbers of conversations.
func (r *Reading) Stretches() iter.Seq2[source.Stretch, error] {
	if r.InRows() {
		return r.src.Fork().Stretches()
	}
	return func(yield func(source.Stretch, error) bool) {
		from, bytes := 0, int64(0)
		for i := range r.shape.Places {
			for _, part := range r.shape.Places[i].Parts {
				bytes += part.Span().Len()
			}
			if bytes < r.src.StretchBytes() && i+1 < len(r.shape.Places) {
				continue
			}
			if !yield(source.Stretch{From: int64(from), To: int64(i + 1)}, nil) {
				return
			}
			from, bytes = i+1, 0
		}
	}
}

// Begin reads what is around the conversations of a document, before they are read side by side.
func (r *Reading) Begin() error {
	if !r.Listed {
		return nil
	}
	root := transcript.Builder{OnKeyFault: r.onKey}
	return each((&records{reading: r.reading}).elements, func(e element) error {
		r.root, root.Record = e, e.record
		root.Fields(e.val, nil, nil)
		return nil
	})
}

// Alike reports whether rows mean the same in two files: what was detected is the same, and so is what
// the rest of the file says about its beginning.
func (r *Reading) Alike(o *Reading) bool { return r.InRows() && o.InRows() && alike(r.shape, o.shape) }

// Learn takes over what an earlier reading has learnt about rows that means the same in this file.
func (r *Reading) Learn(of *Reading) { r.known = of.known }

// alike reports whether the same was detected.
func alike(a, b *detect.Verdict) bool {
	return a.Container == b.Container && a.Dialect == b.Dialect && a.Pointer == b.Pointer && a.Wrap == b.Wrap &&
		a.Looks == b.Looks && a.Unknown == b.Unknown && a.Sure == b.Sure && a.Marked == b.Marked && a.Log == b.Log &&
		slices.Equal(a.Into, b.Into) && slices.EqualFunc(a.Else, b.Else, slices.Equal)
}

// A RowReader reads stretches of a file whose lines are rows, or of a document. It is for one goroutine, and
// keeps what it learns from one stretch to the next. Its source is a fork of the source of the file.
type RowReader struct {
	Source *source.Source
	*reading
	rows *documents
	of   *Reading
	// Before is how many conversations are before the next stretch, by which those of the stretch are
	// numbered.
	Before int
}

// RowReader returns a reader of stretches.
func (r *Reading) RowReader() *RowReader {
	shape := *r.shape
	shape.Places = nil // they are in the record that detection read
	opts := r.opts
	opts.Dialects = r.fresh.Remembering()
	in := &reading{file: &File{Decision: r.shape.Decision}, src: r.src.Fork(), fresh: r.fresh, opts: opts, shape: &shape, seed: r.seed, known: r.known}
	if r.Listed {
		in.src.Near(r.shape.Document)
	}
	return &RowReader{Source: in.src, reading: in, rows: &documents{reading: in}, of: r}
}

// File returns what is known of the stretch so far, or since Cut.
func (w *RowReader) File() *File { return w.file }

// Cut begins to count anew, and returns what was known.
func (w *RowReader) Cut() *File {
	f := w.file
	w.file = &File{Decision: f.Decision, doubted: f.doubted}
	return f
}

// A Text is what was seen in the messages of a stretch.
type Text struct {
	seen, taken int
	inText      inText
}

// Conversations yields the conversations in a stretch, each valid until the next one. It goes on after a
// *RecordError.
func (w *RowReader) Conversations(at *source.Stretch) iter.Seq2[*transcript.Conversation, error] {
	r := w.reading
	r.keys, r.seen, r.taken, r.inText = doubledKeys{}, 0, 0, inText{text: r.inText.text}
	w.Cut()
	read := w.rows.conversations
	if w.of.Listed {
		r.keys.fresh = slices.Concat(slices.Concat(w.of.keys.runs...), w.of.keys.fresh) // of what is around the conversations
		w.Before, at.End = int(at.From), at.To
		read = w.rows.listed(w.of.root, w.of.shape.Places[at.From:at.To])
	} else {
		w.rows.from = &records{reading: r, framed: source.ReadStretch(r.src, at)}
	}
	w.file.Conversations = w.Before
	return func(yield func(*transcript.Conversation, error) bool) {
		for c, err := range read {
			if err == nil {
				err = r.complete(c)
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

// Text returns what was seen in the messages of the stretch that was read.
func (w *RowReader) Text() Text {
	t := Text{w.seen, w.taken, w.inText}
	t.inText.text = nil
	return t
}

// Release passes on what the reader has learnt. It must not be called after a panic.
func (w *RowReader) Release() { w.release() }

// Join adds what is known of the rows behind those that are known. before is how many records are in
// front of the ones that are numbered from 1.
func (f *File) Join(g *File, before int32) {
	f.Records += g.Records
	f.Skipped += g.Skipped
	f.Opaque += g.Opaque
	f.Conversations += g.Conversations
	f.doubted = f.doubted || g.doubted
	if g.CheckOnly != "" {
		f.CheckOnly = g.CheckOnly
	}
	for _, fault := range g.Faults {
		fault.Record += before
		f.Faults = append(f.Faults, fault)
	}
	for _, n := range g.Broken {
		f.Broken = append(f.Broken, n+before)
	}
	for _, k := range g.Keys {
		k.Record += before
		f.Keys = append(f.Keys, k)
	}
	for _, l := range g.Links {
		l.Record += before
		if l.FirstRecord > 0 {
			l.FirstRecord += before
		}
		f.Links = append(f.Links, l)
	}
	for _, b := range g.Branches {
		b.Record += before
		f.Branches = append(f.Branches, b)
	}
	f.Logs = slices.Concat(f.Logs, g.Logs)
	for at := range g.Starts.All() {
		f.Starts.Append(at)
	}
}

// Clear forgets what is known of rows.
func (f *File) Clear() {
	starts := f.Starts
	starts.Clear()
	*f = File{Decision: f.Decision, Starts: starts, doubted: f.doubted}
}

// See adds what was seen in the messages of the next stretch.
func (r *Reading) See(t Text) {
	r.seen, r.taken = r.seen+t.seen, r.taken+t.taken
	r.inText.join(&t.inText)
}

// Replace sets what was seen in the messages of the file: what was in another one, except for those of
// some of its stretches, which are replaced. It returns false if that is not known without reading the
// file.
func (r *Reading) Replace(of *Reading, was, is Text) bool {
	r.seen, r.taken = of.seen-was.seen+is.seen, of.taken-was.taken+is.taken
	r.inText.structured = of.inText.structured && (is.inText.structured || !was.inText.structured)
	return r.inText.structured
}

// Add adds what was seen in the messages of another stretch.
func (t *Text) Add(next Text) {
	t.seen, t.taken = t.seen+next.seen, t.taken+next.taken
	t.inText.structured = t.inText.structured || next.inText.structured
}

// Release passes on what was learnt if the file is not read.
func (r *Reading) Release() { r.release() }

// End sets what is known about the file once all stretches were joined.
func (r *Reading) End() error { return r.end() }
