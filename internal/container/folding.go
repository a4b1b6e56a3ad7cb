package container

import (
	"hash/maphash"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A folding yields the current elements of a log. If several elements have the same id,
// it yields the last one in the place of the first.
type folding struct {
	log  *dialect.Fold
	from elements
	// again returns the value at a span. Only the spans of elements are kept.
	again   func(source.Span) (source.Value, error)
	skipped int // elements without a message

	seed maphash.Seed
	live []folded
	at   map[uint64]int32 // the index in live by the hash of the id
}

// A folded is an element that is current at this point of the log.
type folded struct {
	id     uint64 // the hash of its id, 0 for an element that cannot be replaced
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

// add adds an element. It returns false for one without a message.
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

// rewind removes the element with the given id and all elements after it. If there is no
// such element, it removes everything.
func (f *folding) rewind(id uint64) {
	to := f.at[id] // 0 if there is none
	for _, e := range f.live[to:] {
		delete(f.at, e.id)
	}
	f.live = f.live[:to]
}

// A foldingLog is a conversation in a log of lines whose later records replace earlier
// ones.
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
	c.Lines, c.Folded = bare, bare && f.log.Append
	l.from.tell(c)
	q.finish()
	yield(c, nil)
}
