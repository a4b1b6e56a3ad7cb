package engine

import (
	"cmp"
	"iter"
	"slices"
	"sort"

	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
)

// A hit is what a check keeps of a finding until all are known. It is flat, so that very many can be
// selected and sorted without unpacking them.
type hit struct {
	span         source.Span
	texts        packedRef // everything that only people read
	conversation int32
	record       int32
	operation    int32  // the number of the repair that it requests, 0 for none
	rule         uint16 // numbered as in the words
	severity     rules.Severity
}

// hits are the hits of a check, in the order of discovery until they are sorted.
type hits struct {
	list   []hit
	words  words
	packed packed
}

// add adds a finding.
func (hs *hits) add(f *Finding) {
	h := hit{
		span: f.Span, texts: hs.packed.end(), conversation: int32(f.Conversation), record: f.Record,
		rule: uint16(hs.words.rule(f.Rule)), severity: f.Severity,
	}
	if f.Fix != nil {
		h.operation = f.Fix.ID
	}
	hs.list = append(hs.list, h)
	hs.packed.write(&hs.words, func(p *packer) { p.told(f) })
}

// rule returns the rule of a hit.
func (hs *hits) rule(h *hit) *rules.Rule { return hs.words.rules[h.rule] }

// finding returns the finding of a hit. Of its repair it has only the number. from reads the texts of
// the hits.
func (hs *hits) finding(h *hit, from *unpacker) *Finding {
	f := new(Finding)
	f.Span, f.Conversation, f.Record, f.Rule, f.Severity = h.span, int(h.conversation), h.record, hs.rule(h), h.severity
	if h.operation > 0 {
		f.Fix = &operation.Operation{ID: h.operation}
	}
	r := packer{words: &hs.words, in: from.from(h.texts)}
	r.told(f)
	return f
}

// findings yields the findings of the hits from number n on.
func (hs *hits) findings(n int) iter.Seq[*Finding] {
	return func(yield func(*Finding) bool) {
		from := unpacker{packed: &hs.packed}
		for i := n; i < len(hs.list); i++ {
			if !yield(hs.finding(&hs.list[i], &from)) {
				return
			}
		}
	}
}

// sort sorts the hits by position, rule and message.
func (hs *hits) sort(from *unpacker) {
	same := func(a, b hit) int {
		return cmp.Or(bySpan(a.span, b.span), cmp.Compare(hs.rule(&a).Name, hs.rule(&b).Name))
	}
	slices.SortStableFunc(hs.list, same)
	for lo, hi := 0, 0; lo < len(hs.list); lo = hi {
		for hi = lo + 1; hi < len(hs.list) && same(hs.list[lo], hs.list[hi]) == 0; hi++ {
		}
		if hi-lo > 1 {
			hs.sortMessages(hs.list[lo:hi], from)
		}
	}
}

// sortMessages sorts hits of one rule at one place by message.
func (hs *hits) sortMessages(list []hit, from *unpacker) {
	type said struct {
		message string
		hit
	}
	all := make([]said, len(list))
	for i := range list {
		all[i] = said{hs.finding(&list[i], from).Message, list[i]}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].message < all[j].message })
	for i := range all {
		list[i] = all[i].hit
	}
}
