package repair

import (
	"cmp"
	"slices"
	"sort"

	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A fix may remove or add the following without changing recorded content:
//
//   - leaves that package edit treats as the same leaf: a value that is decoded, encoded,
//     wrapped, joined or trimmed; null and empty values, such as the arguments "" that
//     become {}, content that is null, an empty list of calls, and separators
//   - a field of an element that is null, which means the same as no field
//   - boilerplate: the fields that give the role or the type of an element
//   - the id of a removed element
//   - the id of a removed call or result, which says nothing by itself, and the name
//     that a result copies from its call
//   - the state of a call that a placeholder answers, if it says that the call is
//     running; a finished or an unknown state is recorded content
//   - plain edits: ids that are renamed, minted, relinked or omitted, with their
//     copies; roles and types that are set; a name copied from the call; surplus
//     prompt cache markers; ordinals and parents of records; nulls in the schemas of
//     tools that no schema may have
//   - placeholders, which were never recorded, with the envelopes of their records
//   - of an exact copy of something that stays: the id, the parent and the time of its
//     record
//
// Everything else is recorded content, whether a dialect knows it or not.

// keysOf looks up the keys that decide what is recorded content, once.
func (p *Plan) keysOf() {
	if p.boilerplate != nil {
		return
	}
	p.boilerplate = []string{"role", "type", "id"}
	if p.Log != nil {
		p.boilerplate = append(p.boilerplate, p.Log.Format.ID)
	}
	if len(p.Conv.Messages) == 0 {
		return
	}
	keys := p.keys(0)
	p.boilerplate = append(p.boilerplate, keys.Type)
	if m := &p.Conv.Messages[0]; m.RoleLen > 0 {
		p.boilerplate = append(p.boilerplate, p.keyOf(m.RoleSpan()))
	}
	p.known = slices.Concat(keys.Calls, p.keysOfMembers(p.Dialect))
	// A role without a key of its own has the key "".
	none := func(key string) bool { return key == "" }
	p.boilerplate, p.known = slices.DeleteFunc(p.boilerplate, none), slices.DeleteFunc(p.known, none)
}

// empty reports whether a leaf is null, an empty text, or the key of an object or a list. The
// values in an object or a list are leaves of their own.
func (p *Plan) empty(at source.Span) bool {
	return slices.ContainsFunc([]string{"null", `""`, "[", "{"}, func(text string) bool { return p.src.is(at, text) })
}

// keyOf returns the key of the value at a span, "" if it has none.
func (p *Plan) keyOf(at source.Span) string {
	return edit.KeyBefore(p.src.view(max(0, at.Start-edit.LongestKey), at.Start))
}

// ClassOf returns the class of a fix: unsafe if it removes recorded content, additive if it
// adds some, and safe otherwise.
func ClassOf(f *edit.Fix) operation.Class {
	switch {
	case f.Drops > 0:
		return operation.Unsafe
	case f.Adds > 0:
		return operation.Additive
	}
	return operation.Safe
}

// account computes what the edits of a fix do to recorded content.
func (d *draft) account(f *edit.Fix) {
	var plain, left map[source.Span]bool
	note := func(sets []set) {
		for _, s := range sets {
			if s.plain {
				put(&plain, s.Span, true)
			}
			if s.state {
				put(&left, s.Span, true)
			}
		}
	}
	note(d.sets)
	if d.changes != nil {
		note(d.changes.sets)
	}
	a := d.accounts.open()
	count := func(e edit.Edit, counts, leaves bool) {
		key := ""
		if e.Span.Len() > 0 {
			key = d.keyOf(e.Span)
		}
		for l := range edit.Leaves(d.src.view(e.Span.Start, e.Span.End), key, e.Span.Start) {
			if counts {
				f.Change = f.Change.Minus(l.Sum)
			}
			if leaves && !left[e.Span] {
				a.out(l)
			}
		}
		for l := range edit.Leaves(e.Text, key, 0) {
			if counts {
				f.Change = f.Change.Plus(l.Sum)
			}
			if leaves {
				a.in(l)
			}
		}
	}
	for _, e := range f.Edits {
		// In a record that replaces another, only the changes are new.
		count(e, true, !plain[e.Span] && (len(d.tail) == 0 || e.Span.Start < d.end()))
	}
	if d.changes != nil && d.changes.untold() { // the records that would be removed, with their content
		for at := range d.changes.dropped {
			for l := range edit.Leaves(d.text(d.Log.recordAt(at)), "", d.Log.recordAt(at).Start) {
				a.out(l)
			}
		}
	}
	note(d.replaced)
	for _, s := range d.replaced {
		count(s.Edit, false, !s.plain)
	}
	d.keysOf()
	keys := d.boilerplate
	if len(d.stays) > 0 && d.Log != nil {
		keys = append(slices.Clip(keys), d.Log.Format.Parent, d.Log.Format.Time, d.Log.Format.Ordinal)
	}
	known := d.known
	if d.onlyPlaceholders() {
		keys = append(append(slices.Clip(keys), d.Log.Format.Parent), d.Log.Format.Envelope...)
		known = append(slices.Clip(known), d.Log.Format.Payload.Key())
	}
	for _, s := range d.stays {
		a.stays(d.text(s))
	}
	for _, s := range d.taken {
		for _, i := range d.resultsIn(s) {
			r := &d.Conv.Results[i]
			if r.Payload.IsZero() || d.Known == nil || !d.Known(i) {
				continue
			}
			a.stays(d.text(r.Payload))
			for k, v := range d.at(d.Conv.Blocks[r.Block].Span).Members() {
				if v.Kind() == source.Bool { // the error flag
					a.stays(d.src.bytes(k.Span().Start, v.Span().End))
				}
			}
		}
	}
	drops, adds := a.net(
		func(l edit.Leaf) bool {
			none := slices.Contains(keys, l.Key) || d.src.is(l.At, "null")
			return none && d.structural(l.At) || slices.Contains(known, l.Key) && d.empty(l.At) || d.saysID(l.At)
		},
		func(l edit.Leaf) bool { return slices.Contains(keys, l.Key) },
	)
	f.Drops, f.Adds = len(drops), adds
	f.Gone = d.elements(drops)
}

// elements returns, for each leaf that is removed, the smallest removed element that contains it, or the
// leaf. It returns each once.
func (d *draft) elements(drops []edit.Leaf) (out []source.Span) {
	bySpan := func(a, b source.Span) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End)) }
	taken := slices.Compact(slices.SortedFunc(slices.Values(d.taken), bySpan))
	slices.SortFunc(drops, func(a, b edit.Leaf) int { return bySpan(a.At, b.At) })
	var open []source.Span // the elements around a leaf, from the outside
	for _, l := range drops {
		for len(taken) > 0 && taken[0].Start <= l.At.Start {
			open, taken = append(open, taken[0]), taken[1:]
		}
		open = slices.DeleteFunc(open, func(s source.Span) bool { return s.End <= l.At.Start })
		at := l.At
		for _, s := range open {
			if s.Contains(l.At) && (at == l.At || s.Len() < at.Len()) {
				at = s
			}
		}
		out = append(out, at)
	}
	return distinct(out)
}

// onlyPlaceholders reports whether everything that the fix takes out of a log is placeholders.
func (d *draft) onlyPlaceholders() bool {
	return d.Log != nil && len(d.taken) > 0 && d.Known != nil && !slices.ContainsFunc(d.taken, func(s source.Span) bool {
		results := d.resultsIn(s)
		return len(results) == 0 || slices.ContainsFunc(results, func(r int32) bool { return !d.Known(r) })
	})
}

// structural reports whether a scalar is a field of a message, a block, the element of a call
// or result, or a record, and not a field of a value inside them.
func (d *draft) structural(at source.Span) bool {
	has := func(v source.Value) bool {
		for _, val := range v.Members() {
			if val.Span() == at {
				return true
			}
		}
		return false
	}
	m := d.messageAt(at.Start)
	if m < 0 {
		return d.Log != nil && has(d.at(d.Log.recordAt(at.Start)))
	}
	if has(d.value(m)) || has(d.keys(m).Body) {
		return true
	}
	b := d.blockAt(m, at.Start)
	return b >= 0 && has(d.at(d.Conv.Blocks[b].Span))
}

// saysID reports whether the value at a span is the id of a call or a result, or a name that
// a result copies from its call.
func (d *draft) saysID(at source.Span) bool {
	if slices.ContainsFunc(d.Conv.Aliases, func(a transcript.Alias) bool { return a.ID.Span == at }) {
		return true
	}
	b := d.blockAt(d.messageAt(at.Start), at.Start)
	if b < 0 {
		return false
	}
	switch blk := &d.Conv.Blocks[b]; blk.Kind {
	case transcript.BlockCall:
		return d.Conv.Calls[blk.Ref].ID.Span == at
	case transcript.BlockResult:
		r := &d.Conv.Results[blk.Ref]
		return r.ID.Span == at || r.Name.Span == at && d.Pairing.Results[blk.Ref].Call >= 0
	}
	return false
}

// resultsIn returns the results in a span.
func (p *Plan) resultsIn(s source.Span) (out []int32) {
	m := p.messageAt(s.Start)
	if m < 0 && p.Log != nil { // the record begins before its message
		m = p.messageIn(s)
	}
	for ; m >= 0 && int(m) < len(p.Conv.Messages) && p.Conv.Messages[m].Span().Start < s.End; m++ {
		for _, b := range p.blocksOf(m) {
			if b.Kind == transcript.BlockResult && s.Contains(b.Span) {
				out = append(out, b.Ref)
			}
		}
	}
	return out
}

// messageIn returns the first message that begins in a span, -1 if there is none.
func (p *Plan) messageIn(s source.Span) int32 {
	if p.places != nil {
		return -1 // the messages are not sorted by place
	}
	i := sort.Search(len(p.Conv.Messages), func(i int) bool { return p.Conv.Messages[i].Span().Start >= s.Start })
	if i == len(p.Conv.Messages) || p.Conv.Messages[i].Span().Start >= s.End {
		return -1
	}
	return int32(i)
}

// accounts are the leaves that edits remove and add.
type accounts struct {
	outs, ins []edit.Leaf
	// balance is how many more times a leaf is added than removed. It is of no use if none is removed.
	balance map[edit.Sum]int
	weighed bool
}

// mostKept is the number of leaves for which memory is kept. Clearing a larger map takes
// longer than making a new one.
const mostKept = 1 << 10

// open returns the accounts of the next fix, in the memory of the last one.
func (a *accounts) open() *accounts {
	if len(a.outs)+len(a.ins) > mostKept {
		*a = accounts{}
	}
	clear(a.balance)
	a.outs, a.ins, a.weighed = a.outs[:0], a.ins[:0], false
	return a
}

func (a *accounts) out(l edit.Leaf) { a.outs = append(a.outs, l) }

func (a *accounts) in(l edit.Leaf) { a.ins = append(a.ins, l) }

// weigh computes the balance of all leaves, once, and reports whether it is of use.
func (a *accounts) weigh() bool {
	if len(a.outs) == 0 || a.weighed {
		return len(a.outs) > 0
	}
	a.weighed = true
	for _, l := range a.outs {
		put(&a.balance, l.Sum, a.balance[l.Sum]-1)
	}
	for _, l := range a.ins {
		a.balance[l.Sum]++
	}
	return true
}

// stays notes a text that stays and of which the removed text is a copy. Each of its leaves
// offsets a removed one.
func (a *accounts) stays(text []byte) {
	if !a.weigh() {
		return
	}
	for l := range edit.Leaves(text, "", 0) {
		if a.balance[l.Sum] < 0 {
			a.balance[l.Sum]++
		}
	}
}

// net returns the leaves that are removed and not added, and the number of leaves that are
// added and not removed. It skips the leaves for which neverOut or neverIn is true.
func (a *accounts) net(neverOut, neverIn func(edit.Leaf) bool) (drops []edit.Leaf, adds int) {
	weighs := a.weigh()
	for _, l := range a.outs {
		if a.balance[l.Sum] < 0 {
			a.balance[l.Sum]++
			if !neverOut(l) {
				drops = append(drops, l)
			}
		}
	}
	for _, l := range a.ins {
		if !weighs || a.balance[l.Sum] > 0 {
			if weighs {
				a.balance[l.Sum]--
			}
			if !neverIn(l) {
				adds++
			}
		}
	}
	return drops, adds
}
