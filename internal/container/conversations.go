package container

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolguard/toolguard/internal/detect"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// conversationSink finds the conversations in each record.
type conversationSink struct{ r *reader }

func (s *conversationSink) record(index int32, v source.Value) {
	root := transcript.Builder{Record: index, OnKeyFault: s.r.onKey}
	root.Fields(v, nil, nil)
	s.r.end = v.Span().End
	found := s.r.shape.Places
	if s.r.shape.Places = nil; found == nil {
		found = detect.Find(s.r.opts.Dialects, v)
	}
	if len(found) == 0 {
		s.r.file.Skipped++
		return
	}
	lines := s.r.shape.Framing != source.FramingDocument
	for _, p := range found {
		if p.Class == detect.ClassLog {
			ls := newLogSink(s.r, p.Log)
			records, inOrder := chained(p)
			if inOrder {
				ls.array = p.Parts[0].Span()
				s.r.file.Logs = append(s.r.file.Logs, LogList{p.Log.Name, ls.array})
			}
			for _, e := range records {
				ls.record(index, e)
			}
			ls.end()
			continue
		}
		q := s.r.newSequence("")
		c := q.b.Conv
		if c.Unfolded = p.Unfolded; p.Unfolded != nil {
			q.b.OnKeyFault = func(k transcript.KeyFault) {
				k.First, k.Again = p.Unfolded.Origin(k.First), p.Unfolded.Origin(k.Again)
				s.r.onKey(k)
			}
		}
		if p.CheckOnly != "" {
			s.r.file.CheckOnly = p.CheckOnly
		}
		c.Use, c.ElsewhereState, c.Slice, c.Holder = p.Use(lines), p.Elsewhere, p.Slice(), p.Holder
		if c.Use == transcript.UseBody || c.Use == transcript.UseTrace && p.Answered() {
			c.Model, c.Hosts = p.Model, p.Hosts
		} else { // of what is no request only the address tells where it went
			c.Hosts = slices.DeleteFunc(slices.Clone(p.Hosts), func(at string) bool { return !strings.Contains(at, "://") })
		}
		if lines {
			c.Name = fmt.Sprintf("record %d", index)
		}
		if len(found) > 1 && p.Pointer != "" {
			if c.Name != "" {
				c.Name += " "
			}
			c.Name += p.Pointer
		}
		q.choose(p)
		q.listed = true
		for _, part := range p.Parts {
			if part.Kind() != source.Array {
				q.add(index, part)
				continue
			}
			if p.Into == nil {
				c.Lists = append(c.Lists, part.Span())
			}
			q.b.End = part.Span().End
			if q.primary != nil && q.primary.Fold != nil {
				for _, e := range foldList(part, p.Into, q.primary.Fold) {
					q.add(index, e)
				}
				continue
			}
			for _, e := range part.Elements() {
				q.add(index, e.Path(p.Into...))
			}
		}
		if p.Expected {
			expect(c)
		}
		s.r.finish(q)
		if h := p.Hint; p.HintSure && h.Holder != nil && h.Holder.Waits {
			wait(c)
		}
		s.r.hand(c)
	}
}

// expect marks the calls as such that nothing answers.
func expect(c *transcript.Conversation) {
	for i := range c.Calls {
		if a := &c.Calls[i].Answer; a.ByProvider() {
			*a = transcript.AnswerProviderRecord
		} else {
			*a = transcript.AnswerNone
		}
	}
}

// wait marks the calls of the last turn as such that wait for approval.
func wait(c *transcript.Conversation) {
	for i := range c.Calls {
		if call := &c.Calls[i]; c.Messages[call.Message].Turn == int32(c.Turns)-1 {
			call.State = transcript.CallWaiting
		}
	}
}

func (s *conversationSink) torn(int32) {}
func (s *conversationSink) end()       {}
