package session

import (
	"cmp"
	"strings"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A reader collects the threads of a session.
type reader struct {
	*Session
	opts        Options
	time, model Field
	// agents are the calls by the sub-agents that they began, as far as their results name these.
	agents map[string]int32
	tools  map[string]string // names of tools, each once
	of     *dialect.Dialect  // of which time and model were learnt
}

// conversation adds a conversation.
func (r *reader) conversation(v *engine.View) error {
	if r.of != v.Dialect {
		r.of, r.time, r.model = v.Dialect, TimeField(v.Dialect), ModelField()
	}
	t := Thread{
		Conversation: v.Index, N: 1, Name: v.Name, Row: v.Row, Parent: -1, Record: 1, Turns: v.Turns,
		TurnLo: int32(len(r.Turns)), TurnHi: int32(len(r.Turns)), Provider: v.Provider(),
	}
	for i := range v.Messages {
		t.Bytes += v.Messages[i].Span().Len()
	}
	if len(v.Messages) > 0 {
		t.Record, t.At = v.Messages[0].Record, v.Origin(v.Messages[0].Span()).Start
	}
	for i := range v.Calls {
		if v.Calls[i].Counts() {
			t.Calls++
		}
	}
	for i := range v.Results {
		if v.Results[i].Counts() {
			t.Results++
		}
	}
	r.Model = cmp.Or(r.Model, v.Model)
	if v.Row && !r.opts.Rows && sound(v) {
		r.fold(t)
		return nil
	}
	r.Threads = append(r.Threads, t)
	r.turns(v)
	return nil
}

// sound reports whether nothing was found in a conversation.
func sound(v *engine.View) bool {
	for range v.Findings() {
		return false
	}
	return true
}

// fold adds a row in which nothing was found.
func (r *reader) fold(t Thread) {
	t.Folded, t.Name = true, ""
	if n := len(r.Threads); n > 0 && r.Threads[n-1].Folded {
		last := &r.Threads[n-1]
		last.N++
		last.Turns, last.Calls, last.Results, last.Bytes = last.Turns+t.Turns, last.Calls+t.Calls, last.Results+t.Results, last.Bytes+t.Bytes
		return
	}
	r.Threads = append(r.Threads, t)
}

// turns adds the turns of a conversation to its thread, the last one.
func (r *reader) turns(v *engine.View) {
	thread := int32(len(r.Threads) - 1)
	lo := int32(len(r.Turns))
	r.Turns = append(r.Turns, make([]Turn, v.Turns)...)
	turns := r.Turns[lo:]
	times := make([]int64, len(v.Messages))
	for i := range v.Messages {
		m := &v.Messages[i]
		times[i] = r.about(v, m)
		t := &turns[m.Turn]
		if t.Messages == 0 {
			*t = Turn{
				Thread: thread, Message: int32(i), Record: m.Record, At: v.Origin(m.Span()), Role: m.Role, Time: times[i],
				Answers: true, Superseded: true, Segment: m.Segment,
			}
		}
		t.Messages++
		t.Bytes += m.Span().Len()
		t.Time = cmp.Or(t.Time, times[i])
		t.Superseded = t.Superseded && m.Has(transcript.MessageSuperseded)
		t.Aborted = t.Aborted || m.Has(transcript.MessageAborted)
		r.blocks(v, m, t)
	}
	// Calls and loose results are kept by turn, in the order of the conversation.
	callLo, calls := int32(len(r.Calls)), byTurn(turns, v, len(v.Calls), func(i int) int32 { return v.Calls[i].Message })
	index := make([]int32, len(v.Calls))
	for _, i := range calls {
		index[i] = int32(len(r.Calls))
		r.call(v, i, lo, times)
	}
	looseLo := int32(len(r.Loose))
	for _, i := range byTurn(turns, v, len(v.Results), func(i int) int32 { return v.Results[i].Message }) {
		switch fate := v.Pairing.Results[i].Fate; {
		case fate == pairing.Answers, fate == pairing.Ignored, fate == pairing.Update:
		default:
			r.loose(v, i, lo)
		}
	}
	for i := range turns {
		t := &turns[i]
		t.CallLo, callLo = callLo, after(callLo, len(r.Calls), func(k int32) bool { return r.Calls[k].Turn == lo+int32(i) })
		t.CallHi = callLo
		t.LooseLo, looseLo = looseLo, after(looseLo, len(r.Loose), func(k int32) bool { return r.Loose[k].Turn == lo+int32(i) })
		t.LooseHi = looseLo
		if t.LooseLo < t.LooseHi || t.Messages == 0 {
			t.Answers = false
		}
	}
	for i := range v.Results {
		if v.Pairing.Results[i].Fate == pairing.Answers && !v.Results[i].Beside.IsZero() && v.Dialect.Log != nil {
			agent := v.Dialect.Log.Agent.In(v.Value(v.Results[i].Beside))
			if agent.Kind() == source.String {
				r.agents[agent.Str()] = index[v.Pairing.Results[i].Call]
			}
		}
	}
	for i := range v.Calls {
		if id := v.Calls[i].ID.Text(); id != "" && r.Threads[thread].Name == "" {
			if _, known := r.agents[id]; !known {
				r.agents[id] = index[i]
			}
		}
	}
	r.Threads[thread].TurnHi = int32(len(r.Turns))
}

// byTurn returns the numbers up to n, ordered by the turn of the message of each.
func byTurn(turns []Turn, v *engine.View, n int, message func(i int) int32) []int {
	starts := make([]int32, len(turns)+1)
	for i := range n {
		starts[v.Messages[message(i)].Turn+1]++
	}
	for i := range turns {
		starts[i+1] += starts[i]
	}
	out := make([]int, n)
	for i := range n {
		turn := v.Messages[message(i)].Turn
		out[starts[turn]] = i
		starts[turn]++
	}
	return out
}

// after returns the first number from lo on, below n, for which in does not hold.
func after(lo int32, n int, in func(int32) bool) int32 {
	for lo < int32(n) && in(lo) {
		lo++
	}
	return lo
}

// about reads the time of a message, and the model.
func (r *reader) about(v *engine.View, m *transcript.Message) int64 {
	if r.time.Absent() && (r.Model != "" || r.model.Absent()) {
		return 0
	}
	value := v.Record(m.Record)
	if !value.Exists() || v.Unfolded != nil {
		value = v.Value(m.Span())
	}
	if r.Model == "" && m.Role == transcript.RoleAssistant {
		if got := r.model.In(value); got.Kind() == source.String && got.Span().Len() < longestText {
			r.Model = got.Str()
		}
	}
	at := Time(r.time.In(value))
	if at != 0 {
		if r.First == 0 || at < r.First {
			r.First = at
		}
		r.Last = max(r.Last, at)
	}
	return at
}

// blocks notes what the blocks of a message are.
func (r *reader) blocks(v *engine.View, m *transcript.Message, t *Turn) {
	if m.BlockLo == m.BlockHi {
		t.Answers = false
		if r.opts.Texts && t.Text.Size == 0 {
			if at := v.Content(m.Span()); !at.IsZero() {
				if first := v.Value(at).First().Get("text"); first.Exists() {
					at = first.Span()
				}
				t.Text = r.keep(v, at)
			}
		}
	}
	for b := m.BlockLo; b < m.BlockHi; b++ {
		block := &v.Blocks[b]
		switch block.Kind {
		case transcript.BlockResult, transcript.BlockServerResult:
			continue
		case transcript.BlockReasoning:
			t.Thinks = true
		case transcript.BlockMedia:
			t.Media++
		case transcript.BlockText:
			if r.opts.Texts && t.Text.Size == 0 && !block.Has(transcript.BlockBlank) {
				at := block.Span
				if text := v.Value(at).Get("text"); text.Exists() {
					at = text.Span()
				}
				t.Text = r.keep(v, at)
			}
		}
		t.Answers = false
	}
}

// keep keeps the beginning of the text at a span.
func (r *reader) keep(v *engine.View, at source.Span) Text {
	if !r.opts.Texts || at.IsZero() {
		return Text{Size: at.Len()}
	}
	return r.text.add(v.Bytes(at.First(min(longestText, at.Len()))), at.Len())
}

// tool returns the name of a tool.
func (r *reader) tool(t transcript.Token) string {
	name := t.Text()
	if known, ok := r.tools[name]; ok {
		return known
	}
	if len(r.tools) < mostTools {
		name = strings.Clone(name)
		r.tools[name] = name
	}
	return name
}

// mostTools is how many names of tools are kept only once.
const mostTools = 10_000

// call adds a call. lo is the first turn of its thread.
func (r *reader) call(v *engine.View, i int, lo int32, times []int64) {
	c, x := &v.Calls[i], &v.Pairing.Calls[i]
	m := &v.Messages[c.Message]
	out := Call{
		Turn: lo + m.Turn, Record: m.Record, At: v.Origin(v.Blocks[c.Block].Span), ID: strings.Clone(c.ID.Text()), Tool: r.tool(c.Name),
		Args: r.keep(v, c.Args), State: states[x.State], Misplaced: x.Place != pairing.InWindow && x.State == pairing.Answered, Counts: c.Counts(),
	}
	if x.State == pairing.Missing && c.State == transcript.CallInterrupted {
		out.State = Interrupted
	}
	if x.Result >= 0 {
		res := &v.Results[x.Result]
		in := &v.Messages[res.Message]
		out.Result = Result{
			Turn: lo + in.Turn, Record: in.Record, At: v.Origin(v.Blocks[res.Block].Span), Bytes: res.Payload.Len(), MS: -1, Failed: res.Error,
			Placeholder: v.Placeholder(x.Result), Own: res.Answer == transcript.AnswerOwnRecord, Text: r.keep(v, res.Payload),
		}
		if from, to := times[c.Message], times[res.Message]; from != 0 && to >= from && c.Message != res.Message {
			out.Result.MS = to - from
		}
	}
	r.Calls = append(r.Calls, out)
}

// states are the states of calls by those of their pairing.
var states = [...]State{
	pairing.Answered: Answered, pairing.Missing: Missing, pairing.Pending: Pending, pairing.Interrupted: Interrupted,
	pairing.Copy: Repeated, pairing.Unclear: Unclear, pairing.Exempt: Exempt,
}

// loose adds a result without a call.
func (r *reader) loose(v *engine.View, i int, lo int32) {
	res := &v.Results[i]
	m := &v.Messages[res.Message]
	r.Loose = append(r.Loose, Loose{
		Turn: lo + m.Turn, Record: m.Record, At: v.Origin(v.Blocks[res.Block].Span), ID: strings.Clone(res.ID.Text()), Tool: r.tool(res.Name),
		Fate: v.Pairing.Results[i].Fate, Bytes: res.Payload.Len(), Text: r.keep(v, res.Payload),
	})
}

// nest finds the calls that began the threads of sub-agents.
func (r *reader) nest() {
	for i := range r.Threads {
		t := &r.Threads[i]
		if name, is := strings.CutPrefix(t.Name, "agent "); is {
			if call, known := r.agents[name]; known && r.Turns[r.Calls[call].Turn].Thread != int32(i) {
				t.Parent = call
			}
		}
	}
}
