package container

import (
	"slices"

	"github.com/toolguard/toolguard/internal/detect"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// SideBySide reports whether parts of the file can be read side by side: each line is a row of its own.
func (r *Reading) SideBySide() bool {
	return r.err == nil && r.shape.Class == detect.ClassConversation && r.shape.Framing == source.FramingLines && r.look == nil && r.src.Jobs() > 1
}

// A RowReader reads stretches of a file whose lines are rows. It is for one goroutine, and keeps what
// it learns from one stretch to the next. Its source is a fork of the source of the file.
type RowReader struct {
	Source *source.Source
	*reading
	rows *documents
}

// RowReader returns a reader of stretches.
func (r *Reading) RowReader() *RowReader {
	shape := *r.shape
	shape.Places = nil // they are in the record that detection read
	opts := r.opts
	opts.Dialects = r.fresh.Remembering()
	in := &reading{src: r.src.Fork(), fresh: r.fresh, opts: opts, shape: &shape, seed: r.seed}
	return &RowReader{Source: in.src, reading: in, rows: &documents{reading: in}}
}

// A Stretch is what was read in a stretch of a file. Its records and conversations are numbered from
// its start.
type Stretch struct {
	At   source.Stretch
	File *File

	seen, taken int
	inText      inText
}

// Conversations yields the conversations in a stretch, and notes in it what is known about them. They
// are valid until the next one.
func (w *RowReader) Conversations(st *Stretch) func(yield func(*transcript.Conversation, error) bool) {
	return func(yield func(*transcript.Conversation, error) bool) {
		r := w.reading
		st.File = &File{Decision: r.shape.Decision}
		r.file, r.keys, r.seen, r.taken, r.inText = st.File, doubledKeys{}, 0, 0, inText{text: r.inText.text}
		w.rows.from = &records{reading: r, framed: source.ReadStretch(r.src, &st.At)}
		for c, err := range w.rows.conversations {
			if err == nil {
				err = r.complete(c)
			}
			if !yield(c, err) || err != nil {
				break
			}
		}
		st.seen, st.taken, st.inText = r.seen, r.taken, r.inText
		st.inText.text = nil
	}
}

// Release passes on what the reader has learnt. It must not be called after a panic.
func (w *RowReader) Release() { w.opts.Dialects.Release() }

// Join adds what was read in the next stretch to the file.
func (r *Reading) Join(st *Stretch) {
	f, g := r.File, st.File
	before := int32(f.Records)
	f.Records += g.Records
	f.Skipped += g.Skipped
	f.Opaque += g.Opaque
	f.Conversations += g.Conversations
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
	r.seen, r.taken = r.seen+st.seen, r.taken+st.taken
	r.inText.join(&st.inText)
}

// End sets what is known about the file once all stretches were joined.
func (r *Reading) End() error { return r.end() }
