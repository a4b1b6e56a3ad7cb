package engine

import (
	"encoding/binary"
	"iter"
	"slices"

	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
)

// Findings is a list of findings. A file can have very many, so they are kept packed, and
// each is unpacked when it is read.
type Findings struct {
	packed packed
	n      int
	// counted says that the findings are only counted, by their kinds.
	counted bool
	words   words
	kinds   []kindOfFindings
	// change is called with each finding that is read; nil for no change.
	change func(*Finding)
}

// A kindOfFindings is how many findings of a kind there are.
type kindOfFindings struct {
	findingKind
	n int
}

// Pack returns a list of findings.
func Pack(list ...Finding) Findings {
	var fs Findings
	for i := range list {
		fs.Add(&list[i])
	}
	return fs
}

// Len returns how many findings there are.
func (fs *Findings) Len() int { return fs.n }

// Add adds a finding.
func (fs *Findings) Add(f *Finding) {
	fs.n++
	fs.count(f)
	fs.packed.write(&fs.words, func(p *packer) { p.finding(f) })
}

// count counts a finding by its kind, so that nobody has to unpack findings in order to count them.
func (fs *Findings) count(f *Finding) {
	k := findingKind{rule: f.Rule, severity: f.Severity}
	if f.Fix != nil {
		k.repairs, k.class, k.byStrategy = true, f.Fix.Class, f.Fix.ByStrategy
	}
	for i := range fs.kinds {
		if fs.kinds[i].findingKind == k {
			fs.kinds[i].n++
			return
		}
	}
	fs.kinds = append(fs.kinds, kindOfFindings{k, 1})
}

// countFindings counts the findings that are kept, instead of placing them.
func (c *checker) countFindings() {
	fs := &c.report.Findings
	fs.n, fs.counted = len(c.found.list), true
	for i := range c.found.list {
		h := &c.found.list[i]
		f := Finding{Finding: rules.Finding{Rule: c.found.rule(h), Severity: h.severity}}
		if h.operation > 0 && c.offers.list[h.operation-1].state == offerMade {
			o := &c.offers.list[h.operation-1]
			f.Fix = &operation.Operation{Class: o.class, ByStrategy: o.byStrategy || !c.opts.asked(f.Rule, f.Severity)}
		}
		fs.count(&f)
	}
}

// All yields the findings in order.
func (fs *Findings) All() iter.Seq[*Finding] {
	return func(yield func(*Finding) bool) {
		for i := range len(fs.packed.chunks) + 1 {
			r := packer{words: &fs.words, in: fs.packed.chunk(i)}
			for r.in != "" {
				f := new(Finding)
				r.finding(f)
				if fs.change != nil {
					fs.change(f)
				}
				if !yield(f) {
					return
				}
			}
		}
	}
}

// List returns all findings at once.
func (fs *Findings) List() []Finding {
	var out []Finding
	for f := range fs.All() {
		out = append(out, *f)
	}
	return out
}

// Changed returns the same findings, with change applied to each one when it is read.
func (fs *Findings) Changed(change func(*Finding)) Findings {
	out := *fs
	out.change = change
	return out
}

// words are values that many findings share. Each is stored once.
type words struct {
	rules []*rules.Rule
	texts []string
	known map[string]int32
}

// rule returns the number of a rule.
func (w *words) rule(r *rules.Rule) int {
	n := slices.Index(w.rules, r)
	if n < 0 {
		n = len(w.rules)
		w.rules = append(w.rules, r)
	}
	return n
}

func (w *words) text(s string) int32 {
	n, known := w.known[s]
	if !known {
		if w.known == nil {
			w.known = map[string]int32{}
		}
		n = int32(len(w.texts))
		w.known[s] = n
		w.texts = append(w.texts, s)
	}
	return n
}

// A packer writes or reads findings. The same steps do both, so a reader cannot disagree with
// the writer.
type packer struct {
	*words
	writes bool
	out    []byte
	in     string
}

func (p *packer) finding(f *Finding) {
	rule := 0
	if p.writes {
		rule = p.rule(f.Rule)
	}
	if number(p, &rule); !p.writes {
		f.Rule = p.rules[rule]
	}
	number(p, &f.Severity)
	p.span(&f.Span)
	number(p, &f.Conversation)
	number(p, &f.Record)
	p.operation(&f.Fix)
	p.told(f)
	p.word(&f.Path)
	p.text(&f.Pointer)
	p.position(&f.Start)
	p.position(&f.End)
	sequence(p, &f.RelatedAt, p.position)
	p.excerpt(&f.Excerpt)
	sequence(p, &f.RelatedExcerpts, p.excerpt)
	p.text(&f.Fingerprint)
	p.edits(&f.Edits)
	p.text(&f.RecordHash)
	if optional(p, &f.EditAt) {
		p.position(&f.EditAt[0])
		p.position(&f.EditAt[1])
	}
	p.operation(&f.withheld)
}

// told packs what a rule says of a finding besides its place and its repair, and where the message is in
// its conversation.
func (p *packer) told(f *Finding) {
	p.text(&f.Message)
	p.text(&f.Discreet)
	number(p, &f.Within)
	number(p, &f.Turn)
	p.text(&f.CallID)
	p.text(&f.Tool)
	p.flag(&f.NestedID)
	p.flag(&f.Recorded)
	p.flag(&f.NestedTool)
	p.word(&f.Kind)
	p.word(&f.Refusal)
	p.word(&f.Confidence)
	sequence(p, &f.Related, func(r *rules.Related) {
		p.text(&r.Message)
		p.span(&r.Span)
	})
	p.text(&f.Unfixed)
	p.word(&f.Offer)
	p.word(&f.Dialect)
	number(p, &f.Index)
	p.text(&f.Place)
}

func (p *packer) excerpt(e *Excerpt) {
	p.bytes(&e.Text)
	number(p, &e.Mark[0])
	number(p, &e.Mark[1])
	p.flag(&e.CutBefore)
	p.flag(&e.CutAfter)
}

func (p *packer) edits(list *[]edit.Edit) {
	sequence(p, list, func(e *edit.Edit) {
		p.span(&e.Span)
		p.bytes(&e.Text)
	})
}

// operation packs the part of an operation that reports show.
func (p *packer) operation(op **operation.Operation) {
	if !optional(p, op) {
		return
	}
	o := *op
	number(p, &o.ID)
	number(p, &o.Class)
	p.text(&o.Title)
	p.flag(&o.ByStrategy)
}

func (p *packer) position(at *source.Position) {
	number(p, &at.Offset)
	number(p, &at.Line)
	number(p, &at.Column)
	number(p, &at.Char)
}

func (p *packer) span(s *source.Span) {
	n := s.Len()
	number(p, &s.Start)
	number(p, &n)
	s.End = s.Start + n
}

func (p *packer) text(s *string) {
	n := len(*s)
	if number(p, &n); p.writes {
		p.out = append(p.out, *s...)
		return
	}
	*s, p.in = p.in[:n], p.in[n:]
}

func (p *packer) bytes(b *[]byte) {
	s := ""
	if p.writes {
		s = string(*b)
	}
	if p.text(&s); !p.writes && s != "" {
		*b = []byte(s)
	}
}

// word packs a text that many findings share.
func (p *packer) word(s *string) {
	n := int32(0)
	if p.writes {
		n = p.words.text(*s)
	}
	if number(p, &n); !p.writes {
		*s = p.texts[n]
	}
}

func (p *packer) flag(b *bool) {
	n := 0
	if *b {
		n = 1
	}
	number(p, &n)
	*b = n > 0
}

// number packs a number, which is usually small.
func number[T ~int | ~int32 | ~int64 | ~uint8](p *packer, v *T) {
	if p.writes {
		p.out = binary.AppendVarint(p.out, int64(*v))
		return
	}
	var u uint64
	for shift := 0; ; shift += 7 {
		b := p.in[0]
		p.in = p.in[1:]
		if u |= uint64(b&0x7f) << shift; b < 0x80 {
			break
		}
	}
	*v = T(int64(u>>1) ^ -int64(u&1))
}

// sequence packs a list. An empty one is read as nil.
func sequence[T any](p *packer, list *[]T, each func(*T)) {
	n := len(*list)
	if number(p, &n); !p.writes && n > 0 {
		*list = make([]T, n)
	}
	for i := range n {
		each(&(*list)[i])
	}
}

// optional packs whether a pointer is nil, and reports whether it is not.
func optional[T any](p *packer, v **T) bool {
	is := *v != nil
	if p.flag(&is); is && !p.writes {
		*v = new(T)
	}
	return is
}
