package source

import "iter"

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

// A batch is records that have been read ahead, with the bytes that they stand in.
type batch struct {
	records []Record
	ends    []ends // of each record
	text    []byte
	list    []longEnd
	size    int64 // of all records
	err     error // behind the records
	// read is closed when the batch has been read. It is only set for one whose
	// bytes are the reader's own.
	read chan struct{}
}

// add adds a record that is good only until the next one is read.
func (b *batch) add(rec Record) {
	if !rec.Value.Outside() {
		b.size += rec.Value.Span().Len()
		b.own(&rec.Value)
	}
	b.records = append(b.records, rec)
}

// own gives a value a text that begins with it, and ends that count from there. The text
// is the batch's own, unless the reader waits until it has been read.
func (b *batch) own(v *Value) {
	text := v.text[v.from:v.to:v.to]
	if b.read == nil {
		from := len(b.text)
		b.text = append(b.text, text...)
		text = b.text[from:len(b.text):len(b.text)]
	}
	if v.ends != nil && v.ends.turn == v.turn {
		from := len(b.list)
		for _, l := range v.ends.list {
			b.list = append(b.list, longEnd{l.start - uint32(v.from), l.end - uint32(v.from), l.next})
		}
		b.ends = append(b.ends, ends{turn: v.turn, list: b.list[from:], pages: v.ends.pages})
		v.ends = &b.ends[len(b.ends)-1]
	}
	v.text, v.base, v.from, v.to = text, v.base+int64(v.from), 0, len(text)
}

// full reports whether a batch has enough.
func (b *batch) full() bool {
	return len(b.records) == batchRecords || b.size >= batchBytes || b.read != nil
}

func (b *batch) clear() {
	*b = batch{records: b.records[:0], ends: b.ends[:0], text: b.text[:0], list: b.list[:0]}
}

// A run is a goroutine that reads ahead.
type run struct {
	filled, free chan *batch
	stop         chan struct{}
	b            *batch // that is being filled
}

// readAhead yields what records yields, which runs on another goroutine and is at an end
// when that is.
func readAhead(records iter.Seq2[Record, error], yield func(Record, error) bool) {
	r := &run{filled: make(chan *batch, batches), free: make(chan *batch, batches), stop: make(chan struct{})}
	for range batches {
		r.free <- &batch{ends: make([]ends, 0, batchRecords)} // values point into it
	}
	go r.fill(records)
	defer func() {
		close(r.stop)
		for b := range r.filled {
			b.release()
		}
	}()
	for b := range r.filled {
		for _, rec := range b.records {
			if !yield(rec, nil) {
				b.release()
				return
			}
		}
		if b.err != nil {
			yield(Record{}, b.err)
			return
		}
		b.release()
		b.clear()
		r.free <- b
	}
}

// fill fills batches with records.
func (r *run) fill(records iter.Seq2[Record, error]) {
	defer close(r.filled)
	for rec, err := range records {
		if r.b == nil && !r.next() {
			return
		}
		if err != nil {
			r.b.err = err
			break
		}
		// A long record is not copied: the reader waits until it has been read.
		if !rec.Value.Outside() && rec.Value.Span().Len() > batchBytes {
			if len(r.b.records) > 0 && (!r.hand() || !r.next()) {
				return
			}
			r.b.read = make(chan struct{})
		}
		if r.b.add(rec); r.b.full() && !r.hand() {
			return
		}
	}
	if r.b != nil {
		r.hand()
	}
}

// next takes a batch that is free.
func (r *run) next() bool {
	select {
	case r.b = <-r.free:
		return true
	case <-r.stop:
		return false
	}
}

// hand hands the batch over, and reports whether there is to be another.
func (r *run) hand() bool {
	b := r.b
	read := b.read
	r.b = nil
	select {
	case r.filled <- b:
	case <-r.stop:
		return false
	}
	if read != nil {
		select {
		case <-read:
		case <-r.stop:
			return false
		}
	}
	return true
}

// release lets the reader go on that waits for a batch to be read.
func (b *batch) release() {
	if b.read != nil {
		close(b.read)
		b.read = nil
	}
}
