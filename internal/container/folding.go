package container

import (
	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/source"
)

// A folding yields the current elements of a log. If several elements have the same id,
// it yields the last one in the place of the first.
type folding struct {
	*reading
	log  *dialect.Fold
	from elements
	// again returns the value at a span. Only the spans of elements are kept.
	again   func(source.Span) (source.Value, error)
	skipped *int // counts elements without a message

	live []folded
	at   map[uint64]int32 // the index in live by the hash of the id
}

// A folded is an element that is current at this point of the log.
type folded struct {
	placed
	id uint64 // the hash of its id, 0 for an element that cannot be replaced
}

func (f *folding) elements(yield func(element, error) bool) {
	f.at = map[uint64]int32{}
	if err := each(f.from, f.record); err != nil {
		yield(element{}, err)
		return
	}
	for _, e := range f.live {
		v, err := f.again(e.span())
		if !yield(element{record: e.record, val: v}, err) || err != nil {
			return
		}
	}
}

// record adds an element, or changes those before it.
func (f *folding) record(e element) error {
	if e.val.Kind() != source.Object {
		*f.skipped++
		return nil
	}
	switch does := f.log.EffectOf(e.val); {
	case does.Back.Exists():
		f.rewind(f.hash(does.Back.Raw()))
		*f.skipped++
	case does.All.Exists():
		f.rewind(0)
		for _, v := range does.All.Present() {
			f.put(element{record: e.record, val: v})
		}
	case does.Silent:
		*f.skipped++
	default:
		f.put(e)
	}
	return nil
}

func (f *folding) put(e element) {
	at := folded{e.placed(), f.id(f.log.ID.In(e.val))}
	if at.id != 0 {
		if i, again := f.at[at.id]; again {
			f.live[i] = at
			return
		}
		f.at[at.id] = int32(len(f.live))
	}
	f.live = append(f.live, at)
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
