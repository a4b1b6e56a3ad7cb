package engine

import (
	"cmp"
	"context"
	"sync"

	"github.com/toolguard/toolguard/internal/contain"
	"github.com/toolguard/toolguard/internal/container"
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/source"
)

// A rowPart is a stretch of rows that was checked, numbered from its start.
type rowPart struct {
	container.Stretch
	calls, results int
	found          Findings
	kinds          []findingKind // of each of found; the zero kind if all of it are kept
	kind           findingKind   // of the finding that is being counted
	over           map[findingKind]int
	offers         []offer
	details        packed
	merging        map[int32]bool
	err            error
	done           chan struct{}
}

// A rowChecker checks stretches of rows on its own goroutine.
type rowChecker struct {
	*checker
	in *container.RowReader
}

func (c *checker) newRowChecker(ctx context.Context, reading *container.Reading) *rowChecker {
	in := reading.RowReader()
	w := &rowChecker{newChecker(in.Source, c.opts), in}
	w.ctx = ctx
	return w
}

// check checks a stretch.
func (w *rowChecker) check(p *rowPart) {
	c := w.checker
	c.part, c.report, c.found, c.kinds = p, &Report{Path: c.src.Name()}, Findings{}, nil
	c.operations, c.offers, c.details, c.asked, c.dials = nil, nil, packed{}, packedRef{}, nil
	c.merging = map[int32]bool{}
	clear(c.logs)
	for conv, err := range w.in.Conversations(&p.Stretch) {
		if err != nil {
			p.err = err
			return
		}
		c.report.File = p.File
		c.conversation(conv)
		if p.err = cmp.Or(c.err, c.ctx.Err()); p.err != nil {
			return
		}
	}
	p.calls, p.results, p.found, p.offers, p.details, p.merging = c.report.Calls, c.report.Results, c.found, c.offers, c.details, c.merging
	for k, n := range c.kinds {
		if n.n > k.most {
			if p.over == nil {
				p.over = map[findingKind]int{}
			}
			p.over[k] = n.n - k.most
		}
	}
}

// sideBySide checks stretches of rows on several goroutines, and joins what they find in the order of
// the file. The report is that of a check from the start to the end.
func (c *checker) sideBySide(reading *container.Reading) error {
	ctx, stop := context.WithCancel(c.ctx)
	jobs := c.src.Jobs()
	work, parts := make(chan *rowPart), make(chan *rowPart, 2*jobs)
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	running.Add(1 + jobs)
	none := func(*contain.Error) {} // a panic is the error of its part
	contain.Go(func() {
		defer running.Done()
		defer close(parts)
		defer close(work)
		if err := contain.Do(func() error { c.stretches(ctx, work, parts); return nil }); err != nil {
			parts <- failed(err)
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
				if err != nil {
					p.err, w = err, nil // what it has learnt may be half written
				}
				close(p.done)
			}
			if w != nil {
				w.in.Release()
			}
		}, none)
	}
	if err := c.join(ctx, reading, parts); err != nil {
		return err
	}
	c.asked = c.found.packed.end() // the next findings are about the file
	return reading.End()
}

// stretches passes stretches of the source to who checks them, and in the same order to who joins
// them.
func (c *checker) stretches(ctx context.Context, work, parts chan<- *rowPart) {
	for at, err := range c.src.Fork().Stretches() {
		p := &rowPart{Stretch: container.Stretch{At: at}, done: make(chan struct{})}
		if err != nil {
			p = failed(err)
		} else {
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

// failed returns a part that could not be checked.
func failed(err error) *rowPart {
	p := &rowPart{err: err, done: make(chan struct{})}
	close(p.done)
	return p
}

// join joins stretches. If a record reaches into the next stretch, it reads both as one.
func (c *checker) join(ctx context.Context, reading *container.Reading, parts <-chan *rowPart) error {
	var own *rowChecker
	again := func(at source.Stretch) (*rowPart, error) {
		if own == nil {
			own = c.newRowChecker(ctx, reading)
		}
		p := &rowPart{Stretch: container.Stretch{At: at}}
		own.check(p)
		return p, p.err
	}
	wasted := int64(0)
	for p := range parts {
		<-p.done
		if p.err != nil {
			return p.err
		}
		for p.At.End > p.At.To {
			next, more := <-parts
			if !more {
				break
			}
			<-next.done
			var err error
			if p, err = again(source.Stretch{From: p.At.From, To: next.At.To}); err != nil {
				return err
			}
		}
		if wasted += p.At.Wasted; wasted > source.MostWasted {
			// Reading wastes so much that it will do less of what wastes it.
			rest, err := again(source.Stretch{From: p.At.From, To: c.src.Size(), Wasted: wasted - p.At.Wasted})
			if err != nil {
				return err
			}
			c.add(reading, rest)
			return nil
		}
		c.add(reading, p)
	}
	return c.ctx.Err()
}

// add adds what was found in the next stretch.
func (c *checker) add(reading *container.Reading, p *rowPart) {
	file := c.report.File
	records, conversations, offers := int32(file.Records), file.Conversations, int32(len(c.offers))
	reading.Join(&p.Stretch)
	c.report.Calls += p.calls
	c.report.Results += p.results
	for record := range p.merging {
		c.merging[record+records] = true
	}
	from := unpacker{packed: &p.details}
	for _, o := range p.offers {
		if o.state == offerAsked { // nobody has decided it, so it has no details
			c.offers = append(c.offers, o)
			continue
		}
		r := packer{in: from.from(o.details)}
		var d details
		r.details(&d)
		o.details = c.details.end()
		w := packer{writes: true, out: c.details.spare[:0]}
		w.details(&d)
		c.details.spare = w.out
		c.details.add(w.out)
		c.offers = append(c.offers, o)
	}
	i := 0
	for f := range p.found.All() {
		k := p.kinds[i]
		i++
		if k.rule != nil && c.over(k, 1) > 0 {
			continue
		}
		f.Record += records
		if f.Conversation >= 0 {
			f.Conversation += conversations
		}
		if f.Fix != nil {
			f.Fix = &operation.Operation{ID: f.Fix.ID + offers}
		}
		c.found.Add(f)
	}
	for k, n := range p.over {
		c.over(k, n)
	}
}
