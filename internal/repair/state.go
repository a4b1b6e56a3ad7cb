package repair

import (
	"slices"
	"strings"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/transcript"
)

// setState sets the records of calls so that a placeholder answered them.
func (d *draft) setState(calls []int32) bool {
	w, ok := d.driver.(dialect.StateWriter)
	if !ok {
		return false
	}
	var order []int32 // messages
	members := map[int32][]dialect.Member{}
	for _, c := range calls {
		call := &d.Conv.Calls[c]
		if !call.Combined || d.foreign(call.Message) {
			continue
		}
		set := w.WriteState(d.value(call.Message), d.Conv.Blocks[call.Block].Span, transcript.Quote(d.placeholderText(call)))
		if len(set) > 0 && !slices.Contains(order, call.Message) {
			order = append(order, call.Message)
		}
		members[call.Message] = append(members[call.Message], set...)
	}
	for _, m := range order {
		d.patch(members[m])
	}
	return len(order) > 0
}

// supersede writes the messages that change once more at the end of their log, where
// records are changed in that way: only one with an id can be replaced by another.
// The edits are those of what is replaced.
func (d *draft) supersede() {
	if !d.Conv.Folded {
		return
	}
	for key, l := range d.lists {
		for _, e := range l.compile() {
			d.sets = append(d.sets, set{Edit: e})
		}
		delete(d.lists, key)
	}
	byMessage := map[int32][]set{}
	var order []int32
	var stay []set
	for _, s := range d.sets {
		m := d.messageAt(s.Span.Start)
		if m < 0 || d.Dialect.Fold.ID.In(d.value(m)).Kind() != transcript.String {
			stay = append(stay, s)
			continue
		}
		if byMessage[m] == nil {
			order = append(order, m)
		}
		byMessage[m] = append(byMessage[m], s)
	}
	d.sets = stay
	for _, m := range order {
		d.replaced = append(d.replaced, byMessage[m]...)
		d.append(m, editsOf(byMessage[m]))
	}
}

// editsOf returns sets as edits, each once.
func editsOf(sets []set) (out []edit.Edit) {
	for _, s := range sets {
		same := func(e edit.Edit) bool { return e.Span == s.Span && s.Span.Len() > 0 }
		if !slices.ContainsFunc(out, same) {
			out = append(out, s.Edit)
		}
	}
	return out
}

// append writes a message once more, at the end of its log, with edits.
func (d *draft) append(m int32, edits []edit.Edit) {
	v := d.value(m)
	edits, ok := inOrder(edits)
	if !ok {
		d.failed = true
		return
	}
	text := edit.Splice(v.Raw(), v.Span().Start, edits)
	nl := "\n"
	if d.src.crlf() {
		nl = "\r\n"
	}
	size := d.Source.Size()
	if last, _ := d.src.at(size - 1); last == '\n' {
		d.tail = slices.Concat(d.tail, text, []byte(nl))
	} else {
		d.tail = slices.Concat(d.tail, []byte(nl), text)
	}
	d.over = append(d.over, v.Span())
}

// patch sets members of objects, in place or behind the last one.
func (d *draft) patch(members []dialect.Member) {
	for len(members) > 0 {
		// All members that the first one's object gets come in one edit.
		object := members[0].Object
		var own, rest []dialect.Member
		for _, m := range members {
			child := object.Get(m.Path[0])
			switch {
			case m.Object.Span() != object.Span():
				rest = append(rest, m)
			case len(m.Path) == 1 && child.Exists():
				d.sets = append(d.sets, set{Edit: edit.Edit{Span: child.Span(), Text: []byte(m.Raw)}, state: m.Left})
			case child.Kind() == transcript.Object:
				rest = append(rest, dialect.Member{Object: child, Path: m.Path[1:], Raw: m.Raw, Left: m.Left})
			case child.Exists():
				// What should be an object is none, and stays.
			default: // there is no such key: where there is one, it has a value
				own = append(own, m)
			}
		}
		if len(own) > 0 {
			d.sets = append(d.sets, set{Edit: addMembers(object, own)})
		}
		members = rest
	}
}

// nested returns the members that an object gets, those of the same key in one
// object. What is set twice is set as it was first.
func nested(members []dialect.Member) []dialect.Field {
	var fields []dialect.Field
	within := map[string][]dialect.Member{}
	for _, m := range members {
		key := m.Path[0]
		if !slices.ContainsFunc(fields, func(f dialect.Field) bool { return f.Key == key }) {
			fields = append(fields, dialect.Field{Key: key})
			if len(m.Path) == 1 {
				fields[len(fields)-1].Raw = m.Raw
			}
		}
		if len(m.Path) > 1 {
			within[key] = append(within[key], dialect.Member{Path: m.Path[1:], Raw: m.Raw})
		}
	}
	for i := range fields {
		if f := &fields[i]; f.Raw == "" {
			var inner []string
			for _, sub := range nested(within[f.Key]) {
				inner = append(inner, transcript.Quote(sub.Key)+":"+sub.Raw)
			}
			f.Raw = "{" + strings.Join(inner, ",") + "}"
		}
	}
	return fields
}

// addMembers puts members behind the last one of an object.
func addMembers(object transcript.Value, members []dialect.Member) edit.Edit {
	fields := nested(members)
	st := styleOf(object)
	sep := st.comma
	if st.multi {
		sep = "," + st.nl + st.indent + st.unit
	}
	end := object.Span().Start + 1
	empty := true
	for _, val := range object.Members() {
		end, empty = val.Span().End, false
	}
	var text []byte
	for i, f := range fields {
		if i > 0 || !empty {
			text = append(text, sep...)
		}
		text = append(append(text, transcript.Quote(f.Key)...), st.colon...)
		text = append(text, render([]byte(f.Raw), st, 1)...)
	}
	return edit.Edit{Span: transcript.Span{Start: end, End: end}, Text: text}
}
