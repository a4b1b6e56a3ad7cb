package repair

import (
	"maps"
	"slices"
	"strings"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// setState updates the records of calls that a placeholder answers.
func (d *draft) setState(calls []int32) bool {
	w, ok := d.driver.(dialect.StateWriter)
	if !ok {
		return false
	}
	var members []dialect.Member
	for _, c := range calls {
		if call := &d.Conv.Calls[c]; call.Answer == transcript.AnswerOwnRecord && !d.foreign(call.Message) {
			text := source.Quote(d.placeholderText(call))
			members = append(members, w.WriteState(d.value(call.Message), d.Conv.Blocks[call.Block].Span, text)...)
		}
	}
	d.patch(members)
	return len(members) > 0
}

// supersede appends the changed messages to their log, if the log is changed in that way.
// Only a message with an id can be replaced by a later one. The edits note what is replaced.
func (d *draft) supersede() {
	if !d.Conv.Folded {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(d.lists)) {
		for _, e := range d.lists[key].compile() {
			d.sets = append(d.sets, set{Edit: e})
		}
	}
	clear(d.lists)
	sets := d.sets
	d.sets = nil
	byMessage := map[int32][]set{}
	for _, s := range sets {
		if m := d.messageAt(s.Span.Start); m >= 0 && d.Dialect.Fold.ID.In(d.value(m)).Kind() == source.String {
			byMessage[m] = append(byMessage[m], s)
		} else {
			d.sets = append(d.sets, s)
		}
	}
	for _, m := range slices.Sorted(maps.Keys(byMessage)) {
		d.replaced = append(d.replaced, byMessage[m]...)
		d.append(m, byMessage[m])
	}
}

// end returns the offset at which records are appended: the end of the source, or the start of a
// last line that is cut off, because a client that reads on after it would not find the end of it.
func (d *draft) end() int64 {
	end := d.src.size()
	if n := len(d.Conv.Torn); n > 0 && d.src.skip(d.Conv.Torn[n-1].End) == end {
		return d.Conv.Torn[n-1].Start
	}
	return end
}

// append writes a message once more at the end of its log, with the changes applied.
func (d *draft) append(m int32, sets []set) {
	var edits []edit.Edit
	for _, s := range sets { // a call and its result may share an id, which is written once
		if s.Span.Len() == 0 || !slices.ContainsFunc(edits, func(e edit.Edit) bool { return e.Span == s.Span }) {
			edits = append(edits, s.Edit)
		}
	}
	edits, ok := inOrder(edits)
	if !ok {
		d.failed = true
		return
	}
	v := d.value(m)
	text := edit.Splice(v.Raw(), v.Span().Start, edits)
	nl := []byte("\n")
	if d.src.crlf() {
		nl = []byte("\r\n")
	}
	if end := d.end(); end == 0 || d.src.at(end-1) == '\n' {
		d.tail = slices.Concat(d.tail, text, nl)
	} else {
		d.tail = slices.Concat(d.tail, nl, text)
	}
	d.over = append(d.over, v.Span())
}

// patch sets fields of objects, in place or after the last field.
func (d *draft) patch(members []dialect.Member) {
	missing := map[int64][]dialect.Member{} // by the offset of their object, because they come in one edit
	for _, m := range members {
		there := m.Object.Get(m.Path[0])
		for len(m.Path) > 1 && there.Kind() == source.Object {
			m.Object, m.Path = there, m.Path[1:]
			there = m.Object.Get(m.Path[0])
		}
		switch at := m.Object.Span().Start; {
		case !there.Exists():
			missing[at] = append(missing[at], m)
		case len(m.Path) == 1:
			d.sets = append(d.sets, set{Edit: edit.Edit{Span: there.Span(), Text: []byte(m.Raw)}, state: m.Left})
		} // a value that should be an object but is not stays
	}
	for _, at := range slices.Sorted(maps.Keys(missing)) {
		d.sets = append(d.sets, set{Edit: addMembers(missing[at][0].Object, missing[at])})
	}
}

// nested returns the fields to add to an object. Fields with the same first key are nested in
// one object. If a field is set twice, the first value counts.
func nested(members []dialect.Member) (fields []dialect.Field) {
	for len(members) > 0 {
		first := members[0]
		var inner, rest []dialect.Member
		for _, m := range members {
			if m.Path[0] != first.Path[0] {
				rest = append(rest, m)
			} else if len(m.Path) > 1 {
				inner = append(inner, dialect.Member{Path: m.Path[1:], Raw: m.Raw})
			}
		}
		raw := first.Raw
		if len(first.Path) > 1 {
			var texts []string
			for _, f := range nested(inner) {
				texts = append(texts, source.Quote(f.Key)+":"+f.Raw)
			}
			raw = "{" + strings.Join(texts, ",") + "}"
		}
		fields = append(fields, dialect.Field{Key: first.Path[0], Raw: raw})
		members = rest
	}
	return fields
}

// addMembers adds fields after the last field of an object.
func addMembers(object source.Value, members []dialect.Member) edit.Edit {
	st := styleOf(object)
	sep := st.comma
	if st.multi {
		sep = "," + st.nl + st.indent + st.unit
	}
	end := object.Span().Start + 1
	var text []byte
	for _, val := range object.Members() {
		end, text = val.Span().End, []byte(sep)
	}
	for i, f := range nested(members) {
		if i > 0 {
			text = append(text, sep...)
		}
		text = append(text, source.Quote(f.Key)+st.colon...)
		text = append(text, render([]byte(f.Raw), st, 1)...)
	}
	return edit.Edit{Span: source.Span{Start: end, End: end}, Text: text}
}
