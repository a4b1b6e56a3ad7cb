package engine

import (
	"cmp"
	"iter"

	"github.com/toolguard/toolguard/internal/detect"
	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/repair"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// An offer is the outcome of an operation that findings request.
type offer struct {
	details    packedRef
	number     int32 // in the report; 0 if it has none yet
	class      operation.Class
	state      offerState
	byStrategy bool
	told       uint8 // the number of findings that have its edits
}

// mostTold is the number of findings of one repair that have its edits. A repair of a turn with n calls is
// that of n findings and has n edits, so that a report with all of them would be as long as the square of n.
const mostTold = 16

// offers holds the outcome of every operation, indexed by its number minus 1.
type offers struct {
	list    []offer
	details packed
	// open are the last operations, those that the current findings request.
	open []*operation.Operation
}

// add adds an offer with its details.
func (os *offers) add(o offer, d *details) {
	o.details = os.details.end()
	os.details.write(nil, func(p *packer) { p.details(d) })
	os.list = append(os.list, o)
}

// details are the texts that reports show about an offer.
type details struct {
	why   string // why there is no repair
	title string
	edits []edit.Edit
}

type offerState uint8

const (
	offerAsked    offerState = iota // not tried yet
	offerMade                       // can be carried out
	offerUnable                     // cannot be carried out
	offerWithheld                   // could be carried out if such files were repaired
)

// unfit says why a repair is not offered that cannot be made where its finding is.
const unfit = "toolguard cannot make this repair without losing or guessing content"

// mostTried is the number of bytes of messages on which repairs are tried. For a row of a dataset it is
// less, and depends on the row alone, because rows are checked in any order.
const (
	mostTried      = 256 << 20
	mostTriedInRow = 1 << 20
	triedPerByte   = 64
)

// allowance returns on how many bytes of messages repairs of a conversation may be tried, besides
// those that were tried before.
func (c *checker) allowance(conv *transcript.Conversation) int64 {
	most := cmp.Or(c.opts.tries, mostTried)
	if !c.inRows() {
		return most - c.tried
	}
	size := int64(0)
	for i := range conv.Messages {
		size += conv.Messages[i].Span().Len()
	}
	return min(most, mostTriedInRow+triedPerByte*size)
}

// inRows reports whether each line of the file is a row of its own.
func (c *checker) inRows() bool {
	f := c.report.File
	return f.Framing == source.FramingLines && f.Container == detect.ContainerConversations
}

// ask notes the repair that a finding requests, if any, and numbers it.
func (os *offers) ask(op *operation.Operation) {
	if op == nil || op.ID > 0 {
		return
	}
	os.open = append(os.open, op)
	os.list = append(os.list, offer{})
	op.ID = int32(len(os.list))
}

// wishes yields the current findings whose repair is in a state, as wishes.
func (c *checker) wishes(state offerState) iter.Seq[wish] {
	return func(yield func(wish) bool) {
		if len(c.offers.open) == 0 {
			return
		}
		first := int32(len(c.offers.list) - len(c.offers.open))
		for i := c.current; i < len(c.found.list); i++ {
			h := &c.found.list[i]
			if h.operation == 0 || c.offers.list[h.operation-1].state != state {
				continue
			}
			op := c.offers.open[h.operation-1-first]
			if !yield(wish{op, c.found.rule(h), h.severity, h.record, int(h.conversation), h.span}) {
				return
			}
		}
	}
}

// offered yields the current findings whose repairs can be carried out.
func (c *checker) offered() iter.Seq[wish] { return c.wishes(offerMade) }

// decide sets the outcome of an operation.
func (c *checker) decide(op *operation.Operation, state offerState, d details) {
	os := &c.offers
	o := &os.list[op.ID-1]
	o.state, o.class, o.byStrategy, o.details = state, op.Class, op.ByStrategy, os.details.end()
	if state != offerUnable {
		d.title = op.Title
	}
	if !c.opts.Edits {
		d.edits = nil
	}
	os.details.write(nil, func(p *packer) { p.details(&d) })
	if !c.mode.Repairs() { // nobody asks for it any more
		before := len(os.list) - len(os.open) // those of earlier conversations
		os.open[int(op.ID)-1-before] = nil
	}
}

// read returns the details of an offer, nothing if nobody has decided it.
func (o *offer) read(from *unpacker) (d details) {
	if o.state != offerAsked {
		r := packer{in: from.from(o.details)}
		r.wording(&d)
		if o.told < mostTold {
			r.edits(&d.edits)
		}
	}
	return d
}

func (p *packer) details(d *details) {
	p.wording(d)
	p.edits(&d.edits)
}

func (p *packer) wording(d *details) {
	p.text(&d.why)
	p.text(&d.title)
}

// withhold marks the repairs of the current findings as only reported, and says why.
func (c *checker) withhold(why string) {
	if why != "" {
		why = onlyChecked + why
	}
	for w := range c.wishes(offerAsked) {
		c.decide(w.Operation, offerWithheld, details{why: why})
	}
}

// onlyChecked begins what is said of a finding whose repair is withheld.
const onlyChecked = "toolguard only checks this file: "

// fixes has the fix of each open operation alone, in the order of their numbers.
type fixes struct {
	list []edit.Fix
	from int32 // the number of the first operation
}

// take returns the fix of an operation and forgets it, because a Set keeps its own copy. It returns a
// fix without edits if none was compiled.
func (fs *fixes) take(op *operation.Operation) (fix edit.Fix) {
	if i := int(op.ID - fs.from); i >= 0 && i < len(fs.list) {
		fix, fs.list[i] = fs.list[i], edit.Fix{}
	}
	return fix
}

// offer compiles each repair alone and returns the fixes that a round may take. A repair that
// cannot be carried out is not offered. A repair that removes or adds more than its rule says
// gets a higher class. If there are very many in large messages, the last ones are offered
// untried.
func (c *checker) offer(plan *repair.Plan) (*fixes, error) {
	// Datasets and traces are records of the past: they are repaired only if a rule is
	// selected by name.
	kept := plan.Conv.Use == transcript.UseDataset || plan.Conv.Use == transcript.UseTrace
	able := &fixes{from: int32(len(c.offers.list)-len(c.offers.open)) + 1}
	if c.mode.Repairs() {
		able.list = make([]edit.Fix, len(c.offers.open))
	}
	if c.now.most == 0 {
		c.now.most = c.tried + c.allowance(plan.Conv)
	}
	most := c.now.most
	for w := range c.wishes(offerAsked) {
		op := w.Operation
		if !c.goesOn(workOfFinding) {
			return nil, c.err
		}
		var fix edit.Fix
		if c.tried += plan.Extent(op); c.tried <= most {
			var ok bool
			var err error
			if fix, ok, err = plan.Compile(op); err == nil && !ok && op.Else != nil {
				op.Instead()
				fix, ok, err = plan.Compile(op)
			}
			if err != nil {
				return nil, err
			}
			if !ok {
				c.decide(op, offerUnable, details{why: unfit})
				continue
			}
			if class := repair.ClassOf(&fix); class > op.Class {
				op.Class, op.ByStrategy = class, op.ByStrategy || kept && c.opts.Strategy[w.rule.Name] == ""
			}
		}
		c.decide(op, offerMade, details{edits: fix.Edits})
		if c.mode.Repairs() {
			able.list[op.ID-able.from] = fix
		}
	}
	return able, nil
}

// offerOnFile offers the repairs of findings about the file.
func (c *checker) offerOnFile() error {
	for w := range c.wishes(offerAsked) {
		if !c.goesOn(workOfFinding) {
			return c.err
		}
		if _, replaces := w.Do.(*operation.ReplaceBytes); replaces && c.merging[w.record] {
			c.decide(w.Operation, offerUnable, details{why: "two ids that differ only in these bytes would become the same"})
			continue
		}
		fix, ok, err := c.onFile(w)
		if err != nil {
			return err
		}
		if !ok {
			c.decide(w.Operation, offerUnable, details{why: unfit})
			continue
		}
		w.Class = max(w.Class, repair.ClassOf(&fix))
		c.decide(w.Operation, offerMade, details{edits: fix.Edits})
	}
	return nil
}

// repair gives a finding the outcome of the repair that it requests.
func (p *placer) repair(f *Finding) {
	if f.Fix != nil {
		o := &p.offers.list[f.Fix.ID-1]
		f.Fix = nil
		d := o.read(&p.details)
		byStrategy := o.byStrategy || !p.opts.asked(f.Rule, f.Severity)
		op := &operation.Operation{Class: o.class, Title: d.title, ByStrategy: byStrategy}
		switch {
		case o.state == offerWithheld, o.state == offerMade && p.report.File.CheckOnly != "":
			f.withheld = op
		case o.state == offerMade:
			if o.number == 0 {
				p.numbered++
				o.number = p.numbered
			}
			op.ID = o.number
			f.Fix, f.Edits = op, d.edits
			o.told = min(o.told+1, mostTold)
		}
		f.Unfixed = cmp.Or(f.Unfixed, d.why)
	}
	if why := p.report.File.CheckOnly; f.withheld != nil && why != "" {
		f.Unfixed = cmp.Or(f.Unfixed, onlyChecked+why)
	}
}
