package source

import (
	"errors"
	"iter"
)

const (
	// LeastAhead is how long a source is that is worth reading ahead.
	LeastAhead = 8 << 20
	// A batch is handed over when it has so many records or bytes.
	batchRecords = 1 << 10
	batchBytes   = 512 << 10
	// batches is how many there are: one is filled, one is read, and the others wait.
	batches = 4
)

// SetAhead says that the records of a source of least bytes and more, and the elements
// of a document, may be read and scanned by another goroutine while those before them
// are looked at.
func (s *Source) SetAhead(least int64) { s.ahead = s.size >= least }

// A batch is records that have been read ahead.
type batch struct {
	records []Record
	ends    []ends // of each record
	list    []longEnd
	size    int64  // of all records
	err     error  // behind the records
	text    []byte // nobody needs it when the batch has been read
}

// add adds a record that is good until its text is read over. The ends of its long
// values are good only until the next one is read.
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

// full reports whether a batch has enough.
func (b *batch) full() bool { return len(b.records) == batchRecords || b.size >= batchBytes }

func (b *batch) clear() {
	*b = batch{records: b.records[:0], ends: b.ends[:0], list: b.list[:0], text: b.text}
}

// A room gives whoever reads on the text that may be read over next, instead of one
// that is full. It returns false if nobody wants to know what is read.
type room func(full []byte) (next []byte, ok bool)

// in is room for those who may have none: then a text is read over itself.
func (r room) in(full []byte) ([]byte, bool) {
	if r == nil {
		return full, true
	}
	return r(full)
}

// errStopped ends the reading of what nobody wants to know.
var errStopped = errors.New("stopped")

// A run is a goroutine that reads ahead.
type run struct {
	filled, free chan *batch
	stop         chan struct{}
	b            *batch // that is being filled, nil after stop
	used         bool   // there are records in the text that is being filled
	spare        []byte // a text that may be read over
}

// readAhead yields what records yields, which runs on another goroutine and is at an end
// when that is.
func readAhead(records func(room) iter.Seq2[Record, error], yield func(Record, error) bool) {
	r := &run{filled: make(chan *batch, batches), free: make(chan *batch, batches), stop: make(chan struct{})}
	for range batches {
		r.free <- &batch{ends: make([]ends, 0, batchRecords)} // values point into it
	}
	go r.fill(records(r.room))
	defer func() {
		close(r.stop)
		for range r.filled { // until it has noticed
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
	defer close(r.filled)
	if !r.next() {
		return
	}
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

// room implements room. A text that is large, because a record is, is read over itself
// once all that is in it has been read, so that there is one of them.
func (r *run) room(full []byte) ([]byte, bool) {
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

// next takes a batch that is free.
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

// hand hands the batch over, with a text that is to be read over when it has been read,
// and takes another. As there are no more batches than filled has room for, it does not
// wait for the first.
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
