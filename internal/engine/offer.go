package engine

import (
	"cmp"
	"iter"

	"github.com/toolguard/toolguard/internal/detect"
	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/repair"
	"github.com/toolguard/toolguard/internal/rules"
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
	if !c.inRows() {
		return mostTried - c.tried
	}
	size := int64(0)
	for i := range conv.Messages {
		size += conv.Messages[i].Span().Len()
	}
	return min(mostTried, mostTriedInRow+triedPerByte*size)
}

// inRows reports whether each line of the file is a row of its own.
func (c *checker) inRows() bool {
	f := c.report.File
	return f.Framing == source.FramingLines && f.Container == detect.ContainerConversations
}

// ask notes the repair that a finding requests, and numbers it.
func (c *checker) ask(op *operation.Operation) {
	if op.ID > 0 {
		return
	}
	c.operations = append(c.operations, op)
	c.offers = append(c.offers, offer{})
	op.ID = int32(len(c.offers))
}

// askers yields the current findings whose repair is in a state.
func (c *checker) askers(state offerState) iter.Seq[*rules.Finding] {
	return func(yield func(*rules.Finding) bool) {
		if len(c.operations) == 0 {
			return
		}
		first := int32(len(c.offers) - len(c.operations))
		for f := range c.found.from(c.asked) {
			if f.Fix == nil || c.offers[f.Fix.ID-1].state != state {
				continue
			}
			own := f.Finding
			own.Fix = c.operations[f.Fix.ID-1-first]
			if !yield(&own) {
				return
			}
		}
	}
}

// offered yields the current findings whose repairs can be carried out.
func (c *checker) offered() iter.Seq[*rules.Finding] { return c.askers(offerMade) }

// decide sets the outcome of an operation.
func (c *checker) decide(op *operation.Operation, state offerState, d details) {
	o := &c.offers[op.ID-1]
	o.state, o.class, o.byStrategy, o.details = state, op.Class, op.ByStrategy, c.details.end()
	if state != offerUnable {
		d.title = op.Title
	}
	if !c.opts.Edits {
		d.edits = nil
	}
	p := packer{writes: true, out: c.details.spare[:0]}
	p.details(&d)
	c.details.spare = p.out
	c.details.add(p.out)
}

func (p *packer) details(d *details) {
	p.text(&d.why)
	p.text(&d.title)
	p.edits(&d.edits)
}

// withhold marks the repairs of the current findings as only reported, and says why.
func (c *checker) withhold(why string) {
	if why != "" {
		why = onlyChecked + why
	}
	for f := range c.askers(offerAsked) {
		c.decide(f.Fix, offerWithheld, details{why: why})
	}
}

// onlyChecked begins what is said of a finding whose repair is withheld.
const onlyChecked = "toolguard only checks this file: "

// offer compiles each repair alone and returns the fixes that a round may take. A repair that
// cannot be carried out is not offered. A repair that removes or adds more than its rule says
// gets a higher class. If there are very many in large messages, the last ones are offered
// untried.
func (c *checker) offer(plan *repair.Plan) (map[*operation.Operation]edit.Fix, error) {
	// Datasets and traces are records of the past: they are repaired only if a rule is
	// selected by name.
	kept := plan.Conv.Use == transcript.UseDataset || plan.Conv.Use == transcript.UseTrace
	var able map[*operation.Operation]edit.Fix
	most := c.tried + c.allowance(plan.Conv)
	for f := range c.askers(offerAsked) {
		op := f.Fix
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
				c.decide(f.Fix, offerUnable, details{why: unfit})
				continue
			}
			if class := repair.ClassOf(&fix); class > op.Class {
				op.Class, op.ByStrategy = class, op.ByStrategy || kept && c.opts.Strategy[f.Rule.Name] == ""
			}
		}
		c.decide(f.Fix, offerMade, details{edits: fix.Edits})
		if c.visit != nil {
			if able == nil {
				able = map[*operation.Operation]edit.Fix{}
			}
			able[op] = fix
		}
	}
	return able, nil
}

// offerOnFile offers the repairs of findings about the file.
func (c *checker) offerOnFile() error {
	for f := range c.askers(offerAsked) {
		if !c.goesOn(workOfFinding) {
			return c.err
		}
		if _, replaces := f.Fix.Do.(*operation.ReplaceBytes); replaces && c.merging[f.Record] {
			c.decide(f.Fix, offerUnable, details{why: "two ids that differ only in these bytes would become the same"})
			continue
		}
		fix, ok, err := c.onFile(wishOf(f))
		if err != nil {
			return err
		}
		if !ok {
			c.decide(f.Fix, offerUnable, details{why: unfit})
			continue
		}
		f.Fix.Class = max(f.Fix.Class, repair.ClassOf(&fix))
		c.decide(f.Fix, offerMade, details{edits: fix.Edits})
	}
	return nil
}

// repair gives a finding the outcome of the repair that it requests.
func (p *placer) repair(f *Finding) {
	if f.Fix != nil {
		o := &p.offers[f.Fix.ID-1]
		f.Fix = nil
		r := packer{in: p.details.from(o.details)}
		var d details
		r.details(&d)
		byStrategy := o.byStrategy || !p.opts.asked(&f.Finding)
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
		}
		f.Unfixed = cmp.Or(f.Unfixed, d.why)
	}
	if why := p.report.File.CheckOnly; f.withheld != nil && why != "" {
		f.Unfixed = cmp.Or(f.Unfixed, onlyChecked+why)
	}
}
