package repair

import (
	"slices"

	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// stripReasoning removes reasoning, and what ties a message to it.
func (d *draft) stripReasoning(do *operation.StripReasoning) bool {
	m := do.Message
	if m < 0 {
		return d.stripAside(do)
	}
	if d.foreign(m) {
		return false
	}
	for _, s := range do.Set {
		if d.objects.whole([]byte(s.Text)) != nil {
			return false
		}
		d.set(s.At, s.Text, false)
	}
	if len(do.Drop) == 0 {
		return len(do.Set) > 0
	}
	s := &stripping{draft: d, drop: distinct(slices.Clone(do.Drop)), content: d.content(m).Span()}
	for _, b := range d.blocksOf(m) {
		if b.Kind == transcript.BlockText && b.Has(transcript.BlockBlank) {
			s.blank = append(s.blank, b.Span)
		}
	}
	msg := &d.Conv.Messages[m]
	for i := range d.Conv.Results {
		if r := &d.Conv.Results[i]; r.Message == m {
			s.results = append(s.results, r.Payload)
		}
	}
	if s.goes(msg.Span()) {
		return d.dropStripped(m)
	}
	if len(do.Set) == 0 && s.saysNothing(m) && d.dropStripped(m) {
		return true
	}
	d.taken = append(d.taken, s.drop...)
	return !s.cut(d.value(m)) && !d.failed
}

// dropStripped removes a message. In a log, a message may be an element of a list in its record,
// which holds a history of its own.
func (d *draft) dropStripped(m int32) bool {
	if d.Log == nil || d.gone[m] {
		return d.dropMessage(m)
	}
	if d.dropListed(d.Conv.Messages[m].Span()) {
		put(&d.gone, m, true)
		return true
	}
	return d.dropMessage(m)
}

// stripAside removes reasoning from an element among the messages that is none, and the element if it
// is left with an empty list.
func (d *draft) stripAside(do *operation.StripReasoning) bool {
	s := &stripping{draft: d, drop: distinct(slices.Clone(do.Drop))}
	if v := d.at(do.Aside); s.goes(do.Aside) || s.empties(v) {
		return d.dropAside(do.Aside)
	} else if d.taken = append(d.taken, s.drop...); s.cut(v) {
		return false
	}
	return !d.failed
}

// dropAside removes an element among the messages that is not one. In a log, its record goes.
func (d *draft) dropAside(at source.Span) bool {
	switch {
	case d.Log == nil:
		return d.dropUnread(at)
	case !d.dropListed(at):
		put(&d.log().dropped, at.Start, source.Span{})
		d.taken = append(d.taken, d.Log.recordAt(at.Start))
	}
	return true
}

// dropListed removes an element from a list inside a record of a log. It returns false if the element
// is in none.
func (d *draft) dropListed(span source.Span) bool {
	for v := d.at(d.Log.recordAt(span.Start)); v.Exists() && v.Span() != span; {
		var next source.Value
		for _, val := range children(v) {
			if val.Span().Contains(span) {
				next = val
			}
		}
		if v.Kind() == source.Array && next.Span() == span {
			d.list(v.Span().Start, v.Span()).remove(span)
			d.taken = append(d.taken, span)
			return true
		}
		v = next
	}
	return false
}

// A stripping removes values from one message.
type stripping struct {
	*draft
	drop    []source.Span // sorted, and none inside another
	content source.Span   // of the message
	results []source.Span // the contents of its results
	blank   []source.Span // blocks of text that say nothing
}

// goes reports whether a span is removed.
func (s *stripping) goes(at source.Span) bool {
	return slices.ContainsFunc(s.drop, func(d source.Span) bool { return d.Contains(at) })
}

// touches reports whether something inside a span is removed.
func (s *stripping) touches(at source.Span) bool {
	return slices.ContainsFunc(s.drop, at.Contains)
}

// An alsoSpeaker is a driver whose messages have a text or a list of parts as their content, and can
// say something beside that and their calls.
type alsoSpeaker interface{ SaysMore(v source.Value) bool }

// textual reports whether the content of messages may be a text.
func (s *stripping) textual() bool {
	_, also := s.driver.(alsoSpeaker)
	return also
}

// empties reports whether all elements go of a list that is a member of v.
func (s *stripping) empties(v source.Value) bool {
	for _, val := range v.Members() {
		all, n := true, 0
		for _, e := range val.Elements() {
			all, n = all && s.goes(e.Span()), n+1
		}
		if all && n > 0 {
			return true
		}
	}
	return false
}

// saysNothing reports whether a message says nothing but the reasoning that is removed.
func (s *stripping) saysNothing(m int32) bool {
	msg := &s.Conv.Messages[m]
	reasons := msg.Has(transcript.MessageEmpty) || msg.Has(transcript.MessageNull)
	if msg.Role != transcript.RoleAssistant || msg.Has(transcript.MessageText) || msg.Has(transcript.MessageItem) || msg.Has(transcript.MessageStray) {
		return false
	}
	for _, b := range s.blocksOf(m) {
		switch {
		case s.goes(b.Span):
			reasons = reasons || b.Kind == transcript.BlockReasoning
		case b.Kind != transcript.BlockEmptyCalls && !slices.Contains(s.blank, b.Span):
			return false
		}
	}
	for _, e := range s.Plan.content(m).Elements() {
		if !s.goes(e.Span()) && !slices.Contains(s.blank, e.Span()) {
			return false
		}
	}
	more, also := s.driver.(alsoSpeaker)
	return reasons && !(also && more.SaysMore(s.value(m)))
}

// cut removes what goes from a value. If nothing of the value would be left, cut changes nothing
// and returns true.
func (s *stripping) cut(v source.Value) bool {
	var out []source.Span
	n := 0
	for _, val := range children(v) {
		n++
		at := val.Span()
		if s.goes(at) || s.touches(at) && (slices.Contains(s.blank, at) || s.cut(val)) {
			out = append(out, at)
		}
	}
	result := slices.Contains(s.results, v.Span())
	content := v.Span() == s.content || result
	switch {
	case len(out) == 0:
		return n == 0
	case len(out) == n && !content:
		return true
	case len(out) == n && v.Kind() == source.Array && (result || s.textual()):
		s.set(v.Span(), `""`, false) // a list of parts must not be empty
	case v.Kind() == source.Array:
		l := s.list(v.Span().Start, v.Span())
		for _, at := range out {
			l.remove(at)
		}
	default:
		for _, e := range cutMembers(v, func(_, val source.Value) bool { return slices.Contains(out, val.Span()) }) {
			s.sets = append(s.sets, set{Edit: edit.Edit{Span: e.Span}})
		}
	}
	return false
}
