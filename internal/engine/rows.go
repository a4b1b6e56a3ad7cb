package engine

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"sync"

	"github.com/toolguard/toolguard/internal/contain"
	"github.com/toolguard/toolguard/internal/container"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A rowPart is rows that were checked beside others: all of a stretch, or one in which something was
// found, or several without that. Records are numbered from the start of the stretch, and
// conversations from the first row. Those of a document are numbered as in the document.
type rowPart struct {
	base           int // the number of the first conversation
	file           *container.File
	calls, results int
	finds
	units []Unit // if they are asked for
}

// A rowStretch is a stretch of a file.
type rowStretch struct {
	at    source.Stretch
	parts []*rowPart
	text  container.Text
	err   error
	check sync.WaitGroup
}

// A rowChecker checks stretches of rows on its own goroutine. It is the mode of that check.
type rowChecker struct {
	checking
	rows  func(*rowChecker) mode // that of beside
	in    *container.RowReader
	st    *rowStretch
	sound *rowPart // the rows before the current one, as far as nothing was found in them
}

func (c beside) newRowChecker(ctx context.Context, reading *container.Reading) *rowChecker {
	w := &rowChecker{rows: c.rows, in: reading.RowReader()}
	w.checker = newChecker(w.in.Source, c.opts)
	w.ctx = ctx
	return w
}

// check checks a stretch.
func (w *rowChecker) check(st *rowStretch) {
	w.st, w.sound = st, nil
	conversations := w.in.Conversations(&st.at)
	w.begin()
	w.mode = w.rows(w)
	for conv, err := range conversations {
		if st.err = w.next(conv, err); st.err != nil {
			return
		}
	}
	st.err = w.mode.End()
	if w.sound != nil {
		st.parts = append(st.parts, w.sound)
	}
	st.text = w.in.Text()
}

// End implements mode.
func (w *rowChecker) End() error {
	w.end()
	return nil
}

// alone returns the mode in which only findings are of interest, and not the rows that they are in.
func (w *rowChecker) alone() mode { return w }

// Kept implements mode.
func (w *rowChecker) Kept(k findingKind) { w.each = append(w.each, k) }

// begin begins a part.
func (w *rowChecker) begin() {
	w.report, w.finds = &Report{Path: w.src.Name(), File: w.in.File()}, finds{merging: map[int32]bool{}}
	w.dials, w.firstDial = nil, w.in.Before
	clear(w.logs)
}

// end ends the part that was begun.
func (w *rowChecker) end() *rowPart {
	p := &rowPart{base: w.in.Before, file: w.in.Cut(), calls: w.report.Calls, results: w.report.Results, finds: w.finds}
	p.file.Conversations -= p.base
	w.st.parts = append(w.st.parts, p)
	return p
}

// ended takes a row that has ended. Rows in which nothing was found are joined here.
func (w *rowChecker) ended(row *Unit) error {
	c, f := w.checker, w.in.File()
	if w.sound == nil {
		w.sound = &rowPart{file: &container.File{Decision: f.Decision}}
	}
	if row.Caught == nil && c.clean() && len(f.Logs)+len(c.kinds) == 0 && f.CheckOnly == "" {
		s := w.sound
		s.file.Join(f, 0)
		f.Clear()
		s.calls, s.results, s.units = s.calls+c.report.Calls, s.results+c.report.Results, append(s.units, *row)
		c.report.Calls, c.report.Results, c.dials, c.firstDial = 0, 0, c.dials[:0], 0
		clear(c.merging)
		clear(c.logs)
		return nil
	}
	if len(w.sound.units) > 0 {
		w.st.parts = append(w.st.parts, w.sound)
	}
	w.sound = nil
	p := w.end()
	p.units = []Unit{*row}
	w.begin()
	return nil
}

// beside is the mode of a check whose parts are checked side by side if they can be.
type beside struct {
	checking
	rows func(*rowChecker) mode // in which a stretch is checked
	join func(*rowPart) error   // takes each part once what was found in it was added
}

// Open implements mode.
func (c beside) Open(r *container.Reading) iter.Seq2[*transcript.Conversation, error] {
	if !r.SideBySide() {
		return r.Conversations
	}
	return func(yield func(*transcript.Conversation, error) bool) {
		if err := c.sideBySide(r); err != nil {
			yield(nil, err)
		}
	}
}

// sideBySide checks stretches of rows on several goroutines, and joins what they find in the order of
// the file. The report is that of a check from the start to the end.
func (c beside) sideBySide(reading *container.Reading) error {
	if err := reading.Begin(); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(c.ctx)
	jobs := c.src.Jobs()
	work, parts := make(chan *rowStretch), make(chan *rowStretch, 2*jobs)
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	running.Add(1 + jobs)
	none := func(*contain.Error) {} // a panic is the error of its part
	contain.Go(func() {
		defer running.Done()
		defer close(parts)
		defer close(work)
		if err := contain.Do(func() error { c.stretches(ctx, reading, work, parts); return nil }); err != nil {
			select {
			case parts <- &rowStretch{err: err}:
			case <-ctx.Done(): // nobody joins any more
			}
		}
	}, none)
	for range jobs {
		contain.Go(func() {
			defer running.Done()
			var w *rowChecker
			for p := range work {
				err := contain.Do(func() error {
					if w == nil {
						w = c.newRowChecker(ctx, reading)
					}
					w.check(p)
					return nil
				})
				if err != nil || p.doubted() {
					w = nil // what it has learnt may be half written
				}
				p.err = cmp.Or(p.err, err)
				p.check.Done()
			}
			if w != nil {
				w.in.Release()
			}
		}, none)
	}
	if err := cmp.Or(c.joinAll(ctx, reading, parts), c.src.Err()); err != nil { // values of a document are read from c.src
		return err
	}
	return reading.End()
}

// stretches passes stretches of the source to who checks them, and in the same order to who joins
// them.
func (c beside) stretches(ctx context.Context, reading *container.Reading, work, parts chan<- *rowStretch) {
	for at, err := range reading.Stretches() {
		p := &rowStretch{at: at, err: err}
		if err == nil {
			p.check.Add(1)
			select {
			case work <- p:
			case <-ctx.Done():
				return
			}
		}
		select {
		case parts <- p:
		case <-ctx.Done():
			return
		}
	}
}

// doubted reports whether a panic was caught in a row of the stretch.
func (st *rowStretch) doubted() bool {
	return slices.ContainsFunc(st.parts, func(p *rowPart) bool {
		return slices.ContainsFunc(p.units, func(u Unit) bool { return u.Caught != nil })
	})
}

// joinAll joins stretches. If a record reaches into the next stretch, it reads both as one.
func (c beside) joinAll(ctx context.Context, reading *container.Reading, parts <-chan *rowStretch) error {
	own := sync.OnceValue(func() *rowChecker { return c.newRowChecker(ctx, reading) })
	again := func(at source.Stretch) (*rowStretch, error) {
		st := &rowStretch{at: at}
		own().check(st)
		return st, st.err
	}
	wasted := int64(0)
	for st := range parts {
		st.check.Wait()
		if st.err != nil {
			return st.err
		}
		for st.at.End > st.at.To {
			next, more := <-parts
			if !more {
				break
			}
			next.check.Wait()
			var err error
			if st, err = again(source.Stretch{From: st.at.From, To: next.at.To}); err != nil {
				return err
			}
		}
		if wasted += st.at.Wasted; wasted > source.MostWasted {
			// Reading wastes so much that it will do less of what wastes it.
			rest, err := again(source.Stretch{From: st.at.From, To: c.src.Size(), Wasted: wasted - st.at.Wasted})
			if err != nil {
				return err
			}
			return c.addStretch(reading, rest)
		}
		if err := c.addStretch(reading, st); err != nil {
			return err
		}
	}
	return c.ctx.Err()
}

// addStretch adds what was found in the next stretch, and passes its rows on if they are asked for.
func (c beside) addStretch(reading *container.Reading, st *rowStretch) error {
	reading.See(st.text)
	before := int32(c.report.File.Records)
	if reading.Listed {
		before = 0
	}
	for _, p := range st.parts {
		c.add(p, before)
		if err := c.join(p); err != nil {
			return err
		}
	}
	return nil
}

// errTried says that conversations of a document cannot be checked side by side, because whether the repairs
// of one are tried depends on those before it.
var errTried = errors.New("too many repairs")

// untried returns errTried if repairs of a document are left untried.
func (c *checker) untried(*rowPart) error {
	if !c.inRows() && c.tried > cmp.Or(c.opts.tries, mostTried) {
		return errTried
	}
	return nil
}

// add adds what was found in the next rows. before is how many records are in front of the stretch.
func (c *checker) add(p *rowPart, before int32) {
	file := c.report.File
	conversations, asked := file.Conversations-p.base, int32(len(c.offers.list))
	c.tried += p.tried
	file.Join(p.file, before)
	c.report.Calls += p.calls
	c.report.Results += p.results
	for record := range p.merging {
		c.merging[record+before] = true
	}
	from := unpacker{packed: &p.offers.details}
	for _, o := range p.offers.list {
		d := o.read(&from)
		c.offers.add(o, &d)
	}
	i := 0
	for f := range p.found.findings(0) {
		k := p.each[i]
		i++
		if k.rule != nil && c.over(k, 1) > 0 {
			continue
		}
		f.Record += before
		if f.Conversation >= 0 {
			f.Conversation += conversations
		}
		if f.Fix != nil {
			f.Fix.ID += asked
		}
		c.found.add(f)
	}
	for k, n := range p.kinds {
		if n.n > k.most {
			c.over(k, n.n-k.most)
		}
	}
	for i := range p.units {
		p.units[i].Record += before
	}
	c.current = len(c.found.list) // the next findings are about other rows or the file
}
