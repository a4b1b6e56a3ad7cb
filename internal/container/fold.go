package container

import (
	"hash/maphash"
	"iter"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/source"
)

// A folded record is one that counts, as far as the log has been read.
type folded struct {
	id     uint64 // the hash of its id, 0 for a record that is not replaced
	start  int64
	length uint32
	record int32
}

// A folder keeps which records of a log count: of those with one id the last,
// in the place of the first.
type folder struct {
	log  *dialect.Fold
	seed maphash.Seed
	live []folded
	at   map[uint64]int32 // by id, the place in live
	keep bool             // the values stay good
	vals []source.Value   // those of live, if they are kept
}

func newFolder(log *dialect.Fold, keep bool) *folder {
	return &folder{log: log, seed: maphash.MakeSeed(), at: map[uint64]int32{}, keep: keep}
}

// add reads a record. It returns false for one that does not speak.
func (f *folder) add(record int32, v source.Value) bool {
	if v.Kind() != source.Object {
		return false
	}
	switch does := f.log.EffectOf(v); {
	case does.Back.Exists():
		f.rewind(f.hash(does.Back))
		return false
	case does.All.Exists():
		f.rewind(0)
		for _, e := range does.All.Elements() {
			f.put(record, e)
		}
		return true
	case does.Silent:
		return false
	}
	f.put(record, v)
	return true
}

func (f *folder) put(record int32, v source.Value) {
	e := folded{record: record, start: v.Span().Start, length: uint32(v.Span().Len())}
	if id := f.log.ID.In(v); id.Kind() == source.String {
		e.id = f.hash(id)
		if i, again := f.at[e.id]; again {
			f.live[i] = e
			if f.keep {
				f.vals[i] = v
			}
			return
		}
		f.at[e.id] = int32(len(f.live))
	}
	f.live = append(f.live, e)
	if f.keep {
		f.vals = append(f.vals, v)
	}
}

func (f *folder) hash(id source.Value) uint64 {
	return max(1, maphash.Bytes(f.seed, id.Raw()))
}

// rewind takes back the record of an id with all behind it, and everything
// where there is none.
func (f *folder) rewind(id uint64) {
	to := f.at[id] // 0 if there is none
	for _, e := range f.live[to:] {
		delete(f.at, e.id)
	}
	f.live = f.live[:to]
	if f.keep {
		f.vals = f.vals[:to]
	}
}

// foldSink reads a log of lines in which later records replace earlier ones.
type foldSink struct {
	r      *reader
	folder *folder
	torns  bool
}

func (s *foldSink) record(index int32, v source.Value) {
	if !s.folder.add(index, v) {
		s.r.file.Skipped++
	}
}

func (s *foldSink) torn(int32) { s.torns = true }

func (s *foldSink) end() {
	q := s.r.newSequence("")
	q.primary = s.r.opts.Dialects.ByName(s.r.shape.Dialect)
	for _, e := range s.folder.live {
		span := source.Span{Start: e.start, End: e.start + int64(e.length)}
		text, err := s.r.src.Bytes(span)
		if err != nil {
			s.r.err = err
			return
		}
		if !q.add(e.record, source.NewValue(text, e.start)) {
			s.r.file.Skipped++
		}
	}
	c := q.b.Conv
	c.Lines, c.Folded, c.Incomplete = true, s.folder.log.Append, s.torns
	s.r.finish(q)
	s.r.hand(c)
}

// foldList yields the elements of a list that count.
func foldList(list source.Value, wrap []string, log *dialect.Fold) iter.Seq2[int, source.Value] {
	f := newFolder(log, true)
	for _, e := range list.Elements() {
		f.add(0, e.Path(wrap...))
	}
	return func(yield func(int, source.Value) bool) {
		for i, v := range f.vals {
			if !yield(i, v) {
				return
			}
		}
	}
}
