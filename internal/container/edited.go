package container

import (
	"slices"

	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// edited applies the records of the current branch that edit earlier messages. It marks messages
// that the client leaves out, and calls that are missing from the replacement of their message.
func (l *log) edited() error {
	if len(l.edits) == 0 {
		return nil
	}
	within := l.chain.ascend(len(l.threads), func(*link) bool { return true })
	type change struct {
		out bool        // the message is left out
		ids []string    // the calls in what replaces it
		say source.Span // its content
	}
	last := map[int32]change{} // by the link of the target
	for _, i := range l.edits {
		if !within[i] {
			continue
		}
		record, err := l.value(l.link(i).span())
		if err != nil {
			return err
		}
		does, _ := l.d.Log.Hooks.Edit(record)
		at, known := l.chain.find(l.id(does.Target))
		with := does.With
		if !known || !within[at] || l.link(at).msg < 0 || with.Kind() != source.Null && with.Kind() != source.Object {
			continue
		}
		last[at] = change{with.Kind() == source.Null, does.Calls, with.Get("content").Span()}
	}
	for at, is := range last {
		if k := l.link(at); is.out {
			l.message(k).Flags |= transcript.MessageOmitted
		} else {
			l.replaced(k, is.ids)
			c := l.threads[k.thread].conv()
			if c.Replaced == nil {
				c.Replaced = map[int64]source.Span{}
			}
			c.Replaced[l.message(k).Span().Start] = is.say
		}
	}
	return nil
}

// replaced marks the calls of a message that its replacement does not have, given the ids of those
// that it has.
func (l *log) replaced(k *link, ids []string) {
	c := l.threads[k.thread].conv()
	m := l.message(k)
	for _, b := range c.Blocks[m.BlockLo:m.BlockHi] {
		if b.Kind == transcript.BlockCall && !slices.Contains(ids, c.Calls[b.Ref].ID.Raw) {
			c.Calls[b.Ref].Unsent = true
		}
	}
}
