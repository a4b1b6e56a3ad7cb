package session

import (
	"cmp"
	"slices"
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
	opts  Options
	model Field
	// agents are the calls by the sub-agents that they began, as far as their results name these.
	agents map[string]int32
	beside []besideResult
	tools  map[string]string // names of tools, each once
	of     *dialect.Dialect  // of which the paths of time and model are
}

// A besideResult is what a log stores about a result, where it may name the agent that the call began.
type besideResult struct {
	at    source.Span
	agent dialect.Lens
	call  int32
}

// conversation adds a conversation.
func (r *reader) conversation(v *engine.View) error {
	if r.of != v.Dialect {
		r.of, r.clock.time, r.model = v.Dialect, TimeField(v.Dialect), ModelField()
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
	looseLo, loose := int32(len(r.Loose)), make([]int32, len(v.Results))
	for _, i := range byTurn(turns, v, len(v.Results), func(i int) int32 { return v.Results[i].Message }) {
		switch v.Pairing.Results[i].Fate {
		case pairing.Answers, pairing.Ignored, pairing.Update:
			loose[i] = -1
		default:
			loose[i] = int32(len(r.Loose))
			r.loose(v, i, lo)
		}
	}
	if r.opts.Elements {
		r.elements(v, lo, index, loose)
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
		if beside := v.Results[i].Beside; v.Pairing.Results[i].Fate == pairing.Answers && !beside.IsZero() && v.Unfolded == nil && v.Dialect.Log != nil {
			r.beside = append(r.beside, besideResult{beside, v.Dialect.Log.Agent, index[v.Pairing.Results[i].Call]})
		}
	}
	for i := range v.Calls {
		if id := given(v.Calls[i].ID); id != "" && r.Threads[thread].Name == "" {
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

// about reads the time of a message, and the model. Records of a file are read later, if anybody asks
// for their time.
func (r *reader) about(v *engine.View, m *transcript.Message) int64 {
	model := r.Model == "" && m.Role == transcript.RoleAssistant && !r.model.Absent()
	var at source.Span
	if v.Unfolded == nil {
		at = v.RecordSpan(m.Record)
	}
	later := !at.IsZero() && !r.opts.Times
	if !model && (later || r.clock.time.Absent()) {
		return 0
	}
	if at.IsZero() {
		at = m.Span()
	}
	value := v.Value(at)
	if model {
		if got := r.model.In(value); got.Kind() == source.String && got.Span().Len() < longestText {
			r.Model = got.Str()
		}
	}
	if later {
		return 0
	}
	ms := Time(r.clock.time.In(value))
	r.spans(ms)
	return ms
}

// blocks notes what the blocks of a message are.
func (r *reader) blocks(v *engine.View, m *transcript.Message, t *Turn) {
	if m.BlockLo == m.BlockHi {
		t.Answers = false
		if r.opts.Texts && t.Text.Size == 0 {
			t.Text = r.keep(v, textOf(v, m.Span()), r.whole(v, m.Turn, ""))
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
				t.Text = r.keep(v, at, r.whole(v, m.Turn, ""))
			}
		}
		t.Answers = false
	}
}

// commonText are where messages have their text, unless their dialect says so.
const commonText dialect.Lens = "content|text|message.content|parts|kwargs.content|data.content|value|message|blocks|output"

// textOf returns where a message without blocks has its first text, zero if it has none.
func textOf(v *engine.View, message source.Span) source.Span {
	value := v.Value(message)
	at := v.Content(message)
	if at.IsZero() {
		if value = commonText.In(value); value.Kind() == source.Null || !value.Exists() {
			return source.Span{}
		}
		at = value.Span()
	}
	value = v.Value(at)
	if value.Kind() == source.Array {
		for e := range value.Each() {
			text := e.Get("text")
			switch {
			case e.Kind() == source.String:
				text = e
			case text.Kind() != source.String:
				text = e.Get("content")
			}
			if text.Kind() == source.String && !text.Blank() {
				return text.Span()
			}
		}
		return source.Span{}
	}
	return at
}

// keep keeps the beginning of the text at a span, or all of it.
func (r *reader) keep(v *engine.View, at source.Span, whole bool) Text {
	if !r.opts.Texts || at.IsZero() {
		return Text{Size: at.Len()}
	}
	part := at.First(min(longestText, at.Len()))
	if whole {
		part = at
	}
	return r.text.add(v.Bytes(part), at.Len())
}

// whole reports whether texts are kept whole.
func (r *reader) whole(v *engine.View, turn int32, id string) bool {
	return r.opts.Whole != nil && r.opts.Whole(v.Name, int(turn), id)
}

// tool returns the name of a tool.
func (r *reader) tool(t transcript.Token) string {
	name := r.brief(t.Text(), t.IsNested())
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
	id := r.id(c.ID)
	whole := r.whole(v, m.Turn, id)
	out := Call{
		Turn: lo + m.Turn, Record: m.Record, At: v.Origin(v.Blocks[c.Block].Span), ID: id, Tool: r.tool(c.Name),
		Args: r.keep(v, c.Args, whole), State: StateOf(c, x.State), Misplaced: x.Place != pairing.InWindow && x.State == pairing.Answered, Counts: c.Counts(),
	}
	if x.Result >= 0 {
		res := &v.Results[x.Result]
		in := &v.Messages[res.Message]
		out.Result = Result{
			Turn: lo + in.Turn, Record: in.Record, At: v.Origin(v.Blocks[res.Block].Span), Bytes: length(res), MS: -1, Failed: res.Error,
			Placeholder: v.Placeholder(x.Result), Own: res.Answer == transcript.AnswerOwnRecord, Text: r.keep(v, res.Payload, whole),
		}
		if from, to := times[c.Message], times[res.Message]; from != 0 && to >= from && c.Message != res.Message {
			out.Result.MS = to - from
		}
	}
	r.Calls = append(r.Calls, out)
}

// StateOf returns what became of a call whose pairing has a state.
func StateOf(c *transcript.Call, paired pairing.State) State {
	if paired == pairing.Missing && c.State == transcript.CallInterrupted {
		return Interrupted
	}
	return states[paired]
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
	id := r.id(res.ID)
	r.Loose = append(r.Loose, Loose{
		Turn: lo + m.Turn, Record: m.Record, At: v.Origin(v.Blocks[res.Block].Span), ID: id, Tool: r.tool(res.Name),
		Fate: v.Pairing.Results[i].Fate, Bytes: length(res), Text: r.keep(v, res.Payload, r.whole(v, m.Turn, id)),
	})
}

// nest finds the calls that began the threads of sub-agents.
func (r *reader) nest(src *source.Source) error {
	if slices.ContainsFunc(r.Threads, func(t Thread) bool { return strings.HasPrefix(t.Name, agentName) }) {
		for _, b := range r.beside {
			value, err := src.Value(b.at)
			if err != nil {
				return err
			}
			if agent := b.agent.In(value); agent.Kind() == source.String {
				r.agents[agent.Str()] = b.call
			}
		}
	}
	for i := range r.Threads {
		t := &r.Threads[i]
		if name, is := strings.CutPrefix(t.Name, agentName); is {
			// A thread only hangs on one before it, so none is below itself.
			if call, known := r.agents[name]; known && r.Turns[r.Calls[call].Turn].Thread < int32(i) {
				t.Parent = call
			}
		}
	}
	return nil
}

// agentName begins the name of the thread of a sub-agent.
const agentName = "agent "

// length returns how many bytes the content of a result has, without the quotes around a text.
func length(res *transcript.Result) int64 {
	n := res.Payload.Len()
	if res.Form == source.String {
		n -= 2
	}
	return n
}

// id returns the id of a call or of a result. A repair makes a text of an id that is an object.
func (r *reader) id(id transcript.Token) string {
	text := given(id)
	return r.brief(text, id.IsNested() || strings.HasPrefix(text, "{") || strings.HasPrefix(text, "["))
}

// brief returns an id or a name. Without texts, it returns only the kind of an object or a list, because
// that can hold any text.
func (r *reader) brief(text string, nested bool) string {
	switch {
	case !nested || r.opts.Texts:
		return text
	case strings.HasPrefix(text, "{"):
		return "{…}"
	}
	return "[…]"
}

// given returns the text of an id, "" if it is absent or null.
func given(id transcript.Token) string {
	if !id.Given() {
		return ""
	}
	return strings.Clone(id.Text())
}
