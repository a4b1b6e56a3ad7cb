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

// SideBySide reports whether parts of the file can be read side by side.
func (r *Reading) SideBySide() bool { return r.InRows() && r.src.Jobs() > 1 }

// Alike reports whether rows mean the same in two files: what was detected is the same, and so is what
// the rest of the file says about its beginning.
func (r *Reading) Alike(o *Reading) bool {
	a, b := r.shape, o.shape
	return r.InRows() && o.InRows() && a.Container == b.Container && a.Dialect == b.Dialect && a.Pointer == b.Pointer && a.Wrap == b.Wrap &&
		a.Looks == b.Looks && a.Unknown == b.Unknown && a.Sure == b.Sure && a.Marked == b.Marked && a.Log == b.Log &&
		slices.Equal(a.Into, b.Into) && slices.EqualFunc(a.Else, b.Else, slices.Equal)
}

// A RowReader reads stretches of a file whose lines are rows. It is for one goroutine, and keeps what
// it learns from one stretch to the next. Its source is a fork of the source of the file.
type RowReader struct {
	Source *source.Source
	*reading
	rows *documents
	// Before is how many conversations are before the next stretch, by which those of the stretch are
	// numbered.
	Before int
}

// RowReader returns a reader of stretches. If look is not nil, it is called with each record before it
// counts.
func (r *Reading) RowReader(look func(source.Record)) *RowReader {
	shape := *r.shape
	shape.Places = nil // they are in the record that detection read
	opts := r.opts
	opts.Dialects = r.fresh.Remembering()
	in := &reading{file: &File{Decision: r.shape.Decision}, src: r.src.Fork(), fresh: r.fresh, opts: opts, shape: &shape, look: look, seed: r.seed}
	return &RowReader{Source: in.src, reading: in, rows: &documents{reading: in}}
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
	w.file.Conversations = w.Before
	w.rows.from = &records{reading: r, framed: source.ReadStretch(r.src, at)}
	return func(yield func(*transcript.Conversation, error) bool) {
		for c, err := range w.rows.conversations {
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
