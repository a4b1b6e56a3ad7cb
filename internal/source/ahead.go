package source

import (
	"errors"
	"iter"

	"github.com/toolguard/toolguard/internal/contain"
)

const (
	// LeastAhead is the least size of a source that is worth reading ahead.
	LeastAhead = 8 << 20
	// A batch is full when it has this many records or bytes.
	batchRecords = 1 << 10
	batchBytes   = 512 << 10
	// batches is the number of batches: one is being filled, one is being read, and the
	// others are waiting.
	batches = 4
)

// SetAhead permits another goroutine to read and scan the next records, or the next
// elements of a document, while the caller handles the current ones. It applies to a
// source of least bytes or more, and to an array of an eighth of that: reading ahead begins with
// large buffers.
func (s *Source) SetAhead(least int64) { s.ahead, s.array = s.size >= least, least/8 }

// A batch is a list of records that were read ahead.
type batch struct {
	records []Record
	ends    []ends // the ends of each record
	list    []longEnd
	size    int64  // the bytes of all records
	err     error  // the error after the records
	text    []byte // a buffer that is free once the batch has been read
}

// add adds a record, which is valid until its buffer is overwritten. It copies the ends
// of the record's long values, because the next record overwrites them.
func (b *batch) add(rec Record) {
	if v := &rec.Value; !v.Outside() {
		b.size += v.Span().Len()
		if v.ends != nil && v.ends.turn == v.turn {
			from := len(b.list)
			b.list = append(b.list, v.ends.list...)
			b.ends = append(b.ends, ends{turn: v.turn, list: b.list[from:], pages: v.ends.pages})
			v.ends = &b.ends[len(b.ends)-1]
		}
	}
	b.records = append(b.records, rec)
}

// full reports whether the batch has enough records or bytes.
func (b *batch) full() bool { return len(b.records) == batchRecords || b.size >= batchBytes }

func (b *batch) clear() {
	*b = batch{records: b.records[:0], ends: b.ends[:0], list: b.list[:0], text: b.text}
}

// A swap is called when a buffer is full. It returns the buffer to read into next, because
// records in the full one may still be in use, or false if nobody needs the rest of the source.
type swap func(full []byte) (next []byte, ok bool)

// next calls s. If s is nil, the full buffer itself is overwritten.
func (s swap) next(full []byte) ([]byte, bool) {
	if s == nil {
		return full, true
	}
	return s(full)
}

// errStopped ends reading when nobody needs the rest of the source.
var errStopped = errors.New("stopped")

// A run is a goroutine that reads ahead.
type run struct {
	filled, free chan *batch
	stop         chan struct{}
	b            *batch // the batch being filled, nil after stop
	used         bool   // the buffer being filled has records
	spare        []byte // a buffer that may be overwritten
}

// readAhead yields the records that records yields. It runs records on another goroutine
// and returns after that goroutine has ended.
func readAhead(records func(swap) iter.Seq2[Record, error], yield func(Record, error) bool) {
	r := &run{filled: make(chan *batch, batches), free: make(chan *batch, batches), stop: make(chan struct{})}
	for range batches {
		r.free <- &batch{ends: make([]ends, 0, batchRecords)} // values point into it
	}
	contain.Go(func() { r.fill(records(r.swap)) }, r.fail)
	defer func() {
		close(r.stop)
		for range r.filled { // until fill has noticed
		}
	}()
	for b := range r.filled {
		for _, rec := range b.records {
			if !yield(rec, nil) {
				return
			}
		}
		if b.err != nil {
			yield(Record{}, b.err)
			return
		}
		b.clear()
		r.free <- b
	}
}

// fill fills batches with records.
func (r *run) fill(records iter.Seq2[Record, error]) {
	if r.next() {
		r.all(records)
	}
	close(r.filled)
}

// fail hands over the panic that ended fill. The send does not block: the batch is the one being
// filled, or no batch has been handed over yet, or nobody reads any more and the rest is dropped.
func (r *run) fail(caught *contain.Error) {
	if r.b == nil {
		r.b = &batch{}
	}
	r.b.err = caught
	r.filled <- r.b
	close(r.filled)
}

// all fills batches with records.
func (r *run) all(records iter.Seq2[Record, error]) {
	for rec, err := range records {
		if r.b == nil {
			return
		}
		if err != nil {
			r.b.err = err
			break
		}
		r.b.add(rec)
		r.used = r.used || !rec.Value.Outside()
		if r.b.full() && !r.hand(nil) {
			return
		}
	}
	if r.b != nil {
		r.filled <- r.b
	}
}

// swap implements swap. A buffer that has grown for a large record is reused as soon as
// all its records have been read, so that only one such buffer exists.
func (r *run) swap(full []byte) ([]byte, bool) {
	switch {
	case !r.used:
		return full, true
	case cap(full) > 2*batchBytes:
		if !r.hand(nil) || !r.wait() {
			return nil, false
		}
		r.used = false
		return full, true
	}
	if !r.hand(full) {
		return nil, false
	}
	next := r.spare
	r.used, r.spare = false, nil
	return next, true
}

// next takes a free batch and reports whether there is one.
func (r *run) next() bool {
	r.b = nil
	select {
	case r.b = <-r.free:
	case <-r.stop:
		return false
	}
	if r.b.text != nil {
		r.spare, r.b.text = r.b.text, nil
	}
	return true
}

// hand hands over the batch together with a buffer that is free once the batch has been
// read, and takes another batch. The send never blocks, because filled has room for all
// batches.
func (r *run) hand(text []byte) bool {
	r.b.text = text
	r.filled <- r.b
	return r.next()
}

// wait waits until all batches that were handed over have been read.
func (r *run) wait() bool {
	b := r.b
	read := make([]*batch, 0, batches)
	for len(read) < batches-1 {
		if !r.next() {
			return false
		}
		read = append(read, r.b)
	}
	for _, free := range read {
		r.free <- free
	}
	r.b = b
	return true
}
