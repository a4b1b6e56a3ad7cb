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
	for _, d := range set.Having(dialect.Nests) {
		var parts []source.Value
		sure, n, holds := false, 0, 0
		for _, e := range list.Present() {
			n++
			found, ok := messagesIn(set, d, e)
			if !ok {
				continue // the element is opaque
			}
			holds++
			for _, m := range found {
				claim, _ := set.Claim(d, m)
				sure = sure || claim == evidence.Decisive
			}
			parts = append(parts, found...)
		}
		if sure && 2*holds >= n {
			return d, parts
		}
	}
	return nil, nil
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
