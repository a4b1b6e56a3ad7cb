package container

import (
	"hash/maphash"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A folding yields of the elements of a log those that count: of those with one id
// the last, in the place of the first.
type folding struct {
	log  *dialect.Fold
	from elements
	// again returns the value at a span: what is kept of an element is where it
	// stands.
	again   func(source.Span) (source.Value, error)
	skipped int // elements that do not speak

	seed maphash.Seed
	live []folded
	at   map[uint64]int32 // by id, the place in live
}

// A folded is an element that counts, as far as the log has been read.
type folded struct {
	id     uint64 // the hash of its id, 0 for an element that is not replaced
	start  int64
	length uint32
	record int32
}

func (f *folding) elements(yield func(element, error) bool) {
	f.seed, f.at = maphash.MakeSeed(), map[uint64]int32{}
	for e, err := range f.from {
		if err != nil {
			yield(element{}, err)
			return
		}
		if !f.add(e.record, e.val) {
			f.skipped++
		}
	}
	for _, e := range f.live {
		v, err := f.again(source.Span{Start: e.start, End: e.start + int64(e.length)})
		if !yield(element{record: e.record, val: v}, err) || err != nil {
			return
		}
	}
}

// add takes an element in. It returns false for one that does not speak.
func (f *folding) add(record int32, v source.Value) bool {
	if v.Kind() != source.Object {
		return false
	}
	switch does := f.log.EffectOf(v); {
	case does.Back.Exists():
		f.rewind(f.hash(does.Back))
		return false
	case does.All.Exists():
		f.rewind(0)
		for _, e := range does.All.Present() {
			f.put(record, e)
		}
		return true
	case does.Silent:
		return false
	}
	f.put(record, v)
	return true
}

func (f *folding) put(record int32, v source.Value) {
	e := folded{record: record, start: v.Span().Start, length: uint32(v.Span().Len())}
	if id := f.log.ID.In(v); id.Kind() == source.String {
		e.id = f.hash(id)
		if i, again := f.at[e.id]; again {
			f.live[i] = e
			return
		}
		f.at[e.id] = int32(len(f.live))
	}
	f.live = append(f.live, e)
}

func (f *folding) hash(id source.Value) uint64 {
	return max(1, maphash.Bytes(f.seed, id.Raw()))
}

// rewind takes back the element of an id with all behind it, and everything
// where there is none.
func (f *folding) rewind(id uint64) {
	to := f.at[id] // 0 if there is none
	for _, e := range f.live[to:] {
		delete(f.at, e.id)
	}
	f.live = f.live[:to]
}

// A foldingLog is one conversation in a log of lines in which later records replace
// earlier ones.
type foldingLog struct {
	*reading
	from *records
}

func (l *foldingLog) conversations(yield func(*transcript.Conversation, error) bool) {
	q := l.newSequence("", l.src.Size())
	q.primary = l.opts.Dialects.ByName(l.shape.Dialect)
	f := &folding{log: q.primary.Fold, from: l.from.elements, again: l.value}
	for e, err := range f.elements {
		read := false
		if err == nil {
			read, err = q.read(e)
		}
		if err != nil {
			yield(nil, err)
			return
		}
		if !read {
			f.skipped++
		}
	}
	l.file.Skipped += f.skipped
	c := q.b.Conv
	bare := l.shape.Into == nil
	c.Lines, c.Folded, c.Incomplete = bare, bare && f.log.Append, l.from.torn
	q.finish()
	yield(c, nil)
}
