// Package session reads a transcript as people look at it: threads of turns, the calls under their
// turn with the results that answer them, times and sizes where they are recorded, and at which of
// these each finding is. It knows neither flags nor how any of this is shown.
package session

import (
	"cmp"
	"context"
	"slices"
	"sort"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A Session is a transcript. Its lists are in the order of its threads.
type Session struct {
	// Report is that of the check. If its Skipped is set, all else is empty.
	Report *engine.Report
	// Model is the first model that is named, "" for none.
	Model string
	Size  int64 // in bytes
	// First and Last are the first and the last time that is recorded, in milliseconds since 1970;
	// 0 for none.
	First, Last int64
	Threads     []Thread
	Turns       []Turn
	Calls       []Call
	Loose       []Loose
	Elements    []Element
	// Problems has one entry for each kept finding of Report, in the same order.
	Problems []Problem

	text  arena
	clock clock
}

// A Thread is a conversation, or several rows in which nothing was found.
type Thread struct {
	// Conversation counts the conversations of the file from 0, N those that the thread stands for.
	Conversation, N int
	// Name distinguishes it from the others: "agent a1b2"; "" if the file has only one.
	Name string
	// Provider is the profile by which it was judged.
	Provider string
	// Row says that it is one of many, Folded that nothing was found in it and its turns are not kept.
	Row, Folded bool
	// Turns, Calls and Results are how many there are; calls and results are those of clients.
	Turns, Calls, Results int
	// TurnLo and TurnHi are its turns, Session.Turns[TurnLo:TurnHi]. The number of a turn, as reports
	// give it, is its index from TurnLo.
	TurnLo, TurnHi int32
	// At is where it begins in the source, Record the record, from 1.
	At     int64
	Record int32
	Bytes  int64 // of its messages
	// Parent is the call that began it, an index of Session.Calls; -1 for none.
	Parent int32
}

// A Turn is the messages of one answer, or one other message.
type Turn struct {
	Thread int32
	// Message is the index of its first message in the conversation, from 0, and Messages how many
	// there are.
	Message, Messages int32
	Record            int32       // of the first one, from 1
	At                source.Span // of the first one, in the source
	Bytes             int64       // of all
	Role              transcript.Role
	Time              int64 // in milliseconds since 1970, 0 if it is not recorded
	Text              Text  // the beginning of the first text
	// CallLo and CallHi are its calls, and LooseLo and LooseHi its results without a call.
	CallLo, CallHi, LooseLo, LooseHi int32
	// ElementLo and ElementHi are its elements, if they are kept.
	ElementLo, ElementHi int32
	// Answers says that it holds nothing but results of calls.
	Answers bool
	// Thinks says that it has reasoning, and Media how many images, files and the like.
	Thinks bool
	Media  int32
	// Superseded says that it is no longer sent, Aborted that its writer recorded it as aborted.
	Superseded, Aborted bool
	Segment             int32 // the number of compactions before it
}

// A State says what became of a call.
type State uint8

// The states of a call.
const (
	Answered    State = iota
	Missing           // it has no result
	Pending           // it has none yet
	Interrupted       // it has none, because the turn was aborted
	Unclear           // without usable ids, nobody knows
	Exempt            // it needs none
	Repeated          // it is a copy of another call of its turn
)

// String returns the name of the state in JSON.
func (s State) String() string {
	return [...]string{"answered", "missing", "pending", "interrupted", "unclear", "exempt", "repeated"}[s]
}

// A Call is a call with its result.
type Call struct {
	Turn     int32 // an index of Session.Turns
	Record   int32
	At       source.Span // in the source
	ID, Tool string
	Args     Text // the beginning of its arguments
	State    State
	// Misplaced says that its result is not where the provider expects it.
	Misplaced bool
	// Counts says that clients run such calls.
	Counts bool
	Result Result
}

// A Result is the result of a call. It is zero without one.
type Result struct {
	Turn   int32 // an index of Session.Turns
	Record int32
	At     source.Span // in the source
	Bytes  int64       // of its content
	// MS is how many milliseconds passed since the call, -1 if that is not recorded.
	MS int64
	// Failed says that it is marked as an error, Placeholder that it says that none was recorded.
	Failed, Placeholder bool
	// Own says that it is part of the record of the call.
	Own  bool
	Text Text // the beginning of its content
}

// A Loose is a result that answers no call, or one that has a result already.
type Loose struct {
	Turn     int32
	Record   int32
	At       source.Span
	ID, Tool string
	Fate     pairing.Fate
	Bytes    int64
	Text     Text
}

// A Problem is where a finding is: indices of Session's lists, -1 for none. A finding about a call or
// a loose result is also about its turn and its thread.
type Problem struct {
	Rule                      *rules.Rule
	Severity                  rules.Severity
	Thread, Turn, Call, Loose int32
	// OnResult says that it is about the result of the call.
	OnResult bool
}

// Options say what is kept.
type Options struct {
	// Check are the options of the check.
	Check engine.Options
	// Rows keeps the turns of rows in which nothing was found.
	Rows bool
	// Times reads the times of all turns and calls. Without it, those of records are read by ReadTimes.
	Times bool
	// Texts keeps the beginnings of texts, arguments and results.
	Texts bool
	// Whole reports whether the texts of a turn, or of a call with its result, are kept whole; nil for
	// none. The turn is numbered in its thread; id is "" for a turn.
	Whole func(thread string, turn int, id string) bool
	// Elements keeps what turns are made of, in the order of the transcript.
	Elements bool
}

// Read checks a source and returns what is in it. The memory is that of a check, and some 200 bytes
// for each turn and call.
func Read(ctx context.Context, src *source.Source, opts Options) (*Session, error) {
	s := &Session{Size: src.Size(), clock: clock{src: src}}
	r := &reader{Session: s, opts: opts, agents: map[string]int32{}, tools: map[string]string{}}
	rep, err := engine.See(ctx, src, opts.Check, r.conversation)
	if err != nil {
		return nil, err
	}
	s.Report = rep
	if err := r.nest(src); err != nil {
		return nil, err
	}
	r.locate()
	if s.clock.file = rep.File; !opts.Times {
		for i := range s.Threads {
			if t := &s.Threads[i]; t.TurnLo < t.TurnHi {
				s.ReadTimes(t.TurnLo, t.TurnLo+1)
				s.ReadTimes(t.TurnHi-1, t.TurnHi)
			}
		}
	}
	return s, nil
}

// Bytes returns a text that was kept.
func (s *Session) Bytes(t Text) []byte { return s.text.bytes(t) }

// ThreadOf returns the thread of a turn.
func (s *Session) ThreadOf(turn int32) *Thread { return &s.Threads[s.Turns[turn].Thread] }

// Number returns the number of a turn in its thread, from 0, as reports give it.
func (s *Session) Number(turn int32) int { return int(turn - s.ThreadOf(turn).TurnLo) }

// locate finds the place of each finding.
func (r *reader) locate() {
	byAt := func(n int, at func(i int) source.Span) []int32 {
		out := make([]int32, 0, n)
		for i := range n {
			if !at(i).IsZero() {
				out = append(out, int32(i))
			}
		}
		slices.SortStableFunc(out, func(a, b int32) int { return cmp.Compare(at(int(a)).Start, at(int(b)).Start) })
		return out
	}
	lists := []struct {
		at    func(i int) source.Span
		turn  func(i int) int32
		set   func(p *Problem, i int32)
		order []int32
	}{
		// Such a result can be in the record of a call.
		{at: func(i int) source.Span { return r.Loose[i].At }, turn: func(i int) int32 { return r.Loose[i].Turn }, set: func(p *Problem, i int32) { p.Loose = i }},
		{at: func(i int) source.Span { return r.Calls[i].At }, turn: func(i int) int32 { return r.Calls[i].Turn }, set: func(p *Problem, i int32) { p.Call = i }},
		{at: func(i int) source.Span { return r.Calls[i].Result.At }, turn: func(i int) int32 { return r.Calls[i].Turn }, set: func(p *Problem, i int32) { p.Call, p.OnResult = i, true }},
	}
	lists[0].order = byAt(len(r.Loose), lists[0].at)
	lists[1].order = byAt(len(r.Calls), lists[1].at)
	lists[2].order = byAt(len(r.Calls), lists[2].at)
	threads := map[int]int32{}
	for i := range r.Threads {
		threads[r.Threads[i].Conversation] = int32(i)
	}
	for f := range r.Report.Findings.All() {
		p := Problem{Rule: f.Rule, Severity: f.Severity, Thread: -1, Turn: -1, Call: -1, Loose: -1}
		if n, ok := threads[f.Conversation]; ok && f.Conversation >= 0 {
			p.Thread = n
		}
		for _, list := range lists {
			// The last one that begins at or before it; records can hold the same element for several
			// conversations.
			i := sort.Search(len(list.order), func(i int) bool { return list.at(int(list.order[i])).Start > f.Span.Start })
			for i--; i >= 0 && p.Turn < 0; i-- {
				n := list.order[i]
				if at := list.at(int(n)); !at.Contains(f.Span) || p.Thread >= 0 && r.Turns[list.turn(int(n))].Thread != p.Thread {
					if at.End <= f.Span.Start {
						break
					}
					continue
				}
				list.set(&p, n)
				p.Turn = list.turn(int(n))
			}
		}
		if p.Thread >= 0 && p.Turn < 0 {
			t := &r.Threads[p.Thread]
			if n := int32(f.Turn); n >= 0 && t.TurnLo+n < t.TurnHi {
				p.Turn = t.TurnLo + n
			}
		}
		if p.Turn >= 0 {
			p.Thread = r.Turns[p.Turn].Thread
		}
		r.Problems = append(r.Problems, p)
	}
}
