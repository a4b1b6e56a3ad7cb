package detect

import (
	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
)

// nestedCheckOnly says why such arrays are not repaired.
const nestedCheckOnly = "its messages are stored in pairs, so toolguard cannot add a single message"

// nestedMessages returns the messages of an array whose elements hold them in pairs or
// under keys, and the dialect of that form. It returns nil if no dialect has the form.
func nestedMessages(set *dialect.Set, list source.Value) (*dialect.Dialect, []source.Value) {
	if k := list.First().Kind(); k != source.Array && k != source.Object {
		return nil, nil
	}
	forms := make([]nesting, len(set.Having(dialect.Nests)))
	n := 0
	for _, e := range list.Present() {
		n++
		for i, d := range set.Having(dialect.Nests) {
			found, ok := messagesIn(set, d, e)
			if !ok {
				continue // the element is opaque
			}
			f := &forms[i]
			f.holds++
			for _, m := range found {
				claim, _ := set.Claim(d, m)
				f.sure = f.sure || claim == evidence.Decisive
			}
			f.parts = append(f.parts, found...)
		}
	}
	for i := range forms {
		if f := &forms[i]; f.sure && 2*f.holds >= n {
			return set.Having(dialect.Nests)[i], f.parts
		}
	}
	return nil, nil
}

// A nesting is what elements of an array hold in the form of one dialect.
type nesting struct {
	parts []source.Value
	sure  bool // a message is certainly of the dialect
	holds int  // elements with messages
}

// messagesIn returns the messages in an element of an array. It reports false if the
// element has none, or also has other objects.
func messagesIn(set *dialect.Set, d *dialect.Dialect, e source.Value) (parts []source.Value, ok bool) {
	for _, at := range d.MessagePaths {
		if m := at.In(e); m.Kind() == source.Object {
			if claim, _ := set.Claim(d, m); claim == evidence.None {
				return nil, false
			}
			parts = append(parts, m)
		}
	}
	objects := 0
	if e.Kind() == source.Array {
		for _, m := range e.Present() {
			if m.Kind() == source.Object {
				objects++
			}
		}
	}
	return parts, len(parts) > 0 && objects <= len(parts)
}
