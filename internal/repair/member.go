package repair

import (
	"bytes"
	"cmp"
	"slices"
	"sort"
	"strings"
	"unicode"

	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// addMember adds a field to an element that has none, or sets it if it is empty.
func (d *draft) addMember(do *operation.AddMember) bool {
	if d.objects.whole([]byte(do.Text)) != nil {
		return false
	}
	first := d.Dialect.Members[do.Member].Nth(0)
	for path := range d.Dialect.Members[do.Member].Alternatives() {
		owner := d.at(do.At)
		if parent := path.Parent(); parent != "" {
			owner = parent.In(owner)
		} else if first.Parent() != "" && !d.flat(owner) {
			continue
		}
		if path != "" && owner.Kind() == source.Object && bytes.IndexByte(owner.Raw(), ':') >= 0 { // it has a field
			// A result repeats the name that its call has.
			plain := do.Member == transcript.MemberResultName
			d.setMember(transcript.TokenOf(owner.Get(path.Key()), owner.Span()), path.Key(), do.Text, plain)
			return true
		}
		if path.Parent() != "" && owner.Kind() == source.Object { // an empty one
			d.set(owner.Span(), "{"+source.Quote(path.Key())+styleOf(d.at(do.At)).colon+do.Text+"}", false)
			return true
		}
	}
	// The objects that should contain it may be missing too. They are added with this field;
	// their other fields follow in the next round.
	text := do.Text
	for path := first; path.Parent() != ""; path = path.Parent() {
		parent, owner := path.Parent(), d.at(do.At)
		text = "{" + source.Quote(path.Key()) + styleOf(owner).colon + text + "}"
		if outer := parent.Parent(); outer != "" {
			owner = outer.In(owner)
		} else if d.flat(owner) {
			return false
		}
		if owner.Kind() == source.Object && bytes.IndexByte(owner.Raw(), ':') >= 0 && !parent.In(d.at(do.At)).Exists() {
			d.setMember(transcript.TokenOf(source.Value{}, owner.Span()), parent.Key(), text, false)
			return true
		}
	}
	return false
}

// flat reports whether an element has, beside its id, fields that others keep in a nested
// object.
func (d *draft) flat(owner source.Value) bool {
	for _, paths := range d.Dialect.Members {
		if paths.Nth(0).Parent() == "" {
			continue
		}
		for path := range paths.Alternatives() {
			if path.Parent() == "" && path.Leads(owner) {
				return true
			}
		}
	}
	return false
}

// setValue replaces a value and its copies.
func (d *draft) setValue(do *operation.SetValue) bool {
	if do.Text == "" || d.objects.whole([]byte(do.Text)) != nil {
		return false
	}
	d.set(do.At, do.Text, d.namesResult(do.At))
	if do.Call < 0 {
		return true
	}
	for _, cp := range d.copiesOf(do.Call) {
		if name := d.Conv.Calls[do.Call].Name; do.At == name.Span && cp.Name.Raw == name.Raw {
			d.set(cp.Name.Span, do.Text, false)
		}
	}
	return true
}

// namesResult reports whether the value at a span is the name of a result, which repeats the
// name of its call.
func (p *Plan) namesResult(at source.Span) bool {
	m := p.messageAt(at.Start)
	if m < 0 {
		return false
	}
	return slices.ContainsFunc(p.blocksOf(m), func(b transcript.Block) bool {
		return b.Kind == transcript.BlockResult && p.Conv.Results[b.Ref].Name.Span == at
	})
}

// setMember sets a field, or adds it as the first field of its element.
func (d *draft) setMember(t transcript.Token, key, raw string, plain bool) {
	if t.Present() {
		d.set(t.Span, raw, plain)
		return
	}
	// A duplicate key would be ambiguous.
	owner := d.at(t.Span)
	if key == "" || owner.Kind() != source.Object || owner.Get(key).Exists() {
		d.failed = true
		return
	}
	d.sets = append(d.sets, set{Edit: d.addFirst(owner, key, raw), plain: plain})
}

// removeNulls removes fields that are null.
func (d *draft) removeNulls(do *operation.RemoveNulls) bool {
	list := d.at(do.List)
	d.around = append(d.around, do.List)
	if list.Kind() != source.String {
		for _, e := range cutNulls(list, do.At, do.List.Start) {
			d.sets = append(d.sets, set{Edit: e, plain: true})
		}
		return true
	}
	// The rest of the string keeps its bytes.
	inner := list.Raw()[1 : len(list.Raw())-1]
	text, offset := source.Unescape(inner)
	edits := cutNulls(source.NewValue(text, 0), do.At, 0)
	for i := range edits {
		at := &edits[i].Span
		at.Start, at.End = int64(offset(int(at.Start))), int64(offset(int(at.End)))
	}
	d.set(do.List, `"`+string(edit.Splice(inner, 0, edits))+`"`, true)
	return true
}

// cutNulls returns the edits that remove the fields whose values are at some offsets from base.
func cutNulls(v source.Value, at []int64, base int64) (edits []edit.Edit) {
	edits = cutMembers(v, func(_, val source.Value) bool {
		_, found := slices.BinarySearch(at, val.Span().Start-base)
		return found && val.Kind() == source.Null
	})
	for _, val := range children(v) {
		if i, _ := slices.BinarySearch(at, val.Span().Start-base); i < len(at) && at[i] < val.Span().End-base && val.Kind() != source.Null {
			edits = append(edits, cutNulls(val, at, base)...)
		}
	}
	slices.SortFunc(edits, func(a, b edit.Edit) int { return cmp.Compare(a.Span.Start, b.Span.Start) })
	return edits
}

// trimText cuts the white space at the end of a message's text. The rest keeps its bytes.
func (d *draft) trimText(m int32) bool {
	text := d.Dialect.Members[transcript.MemberLastText].In(d.value(m))
	if text.Kind() != source.String {
		return false
	}
	inner := text.Raw()[1 : len(text.Raw())-1]
	said, offset := source.Unescape(inner)
	n := len(strings.TrimRightFunc(string(said), unicode.IsSpace))
	d.set(text.Span(), `"`+string(inner[:offset(n)])+`"`, false)
	return true
}

// ownerOf returns the object in a message that contains the value at a span as a field. The
// elements of a message are looked up once: there may be very many, with a field to remove in
// each of them.
func (p *Plan) ownerOf(m int32, member source.Span) source.Value {
	if p.elements == nil || p.elementsOf != m {
		p.elements, p.elementsOf = []source.Value{}, m
		keys := p.keys(m)
		for _, e := range keys.Body.Get(keys.Content).Elements() {
			p.elements = append(p.elements, e)
		}
	}
	i := sort.Search(len(p.elements), func(i int) bool { return p.elements[i].Span().End > member.Start })
	if i < len(p.elements) && p.elements[i].Span() != member && p.elements[i].Span().Contains(member) {
		return holding(p.elements[i], member)
	}
	return holding(p.value(m), member)
}

// holding returns v, or the object inside v, that contains the value at a span as a field.
func holding(v source.Value, member source.Span) source.Value {
	for _, val := range children(v) {
		switch {
		case val.Span() == member:
			return v
		case val.Span().Contains(member):
			return holding(val, member)
		}
	}
	return v
}
