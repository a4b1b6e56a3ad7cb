package rules

import (
	"slices"
	"strconv"
	"strings"

	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

var missingToolResult = &Rule{
	Name: "missing-tool-result", Category: Pairing, Severity: "error; info in numbered sessions of Codex",
	Summary:    "A tool call has no result",
	Points:     []profile.Point{profile.Missing},
	Strategies: []string{"insert", "strip", "strip-turn", "text", "leave"},
	Together:   true,
	What:       `Checks for calls without a result although the conversation goes on.`,
	Why: `Interrupts, crashes and history compression leave such calls behind. Every provider rejects the
next request.`,
	Repair: `A placeholder says that no result was recorded. If another record repeats the result, toolguard
inserts that instead. If the result may be elsewhere in the file, it inserts nothing without
` + "`--strategy`" + `.

- ` + "`insert`" + ` (default, additive): insert a placeholder.
- ` + "`strip`" + ` (unsafe): remove the call.
- ` + "`strip-turn`" + ` (unsafe): remove the whole turn with its results.
- ` + "`text`" + ` (unsafe): turn the call into text.
- ` + "`leave`" + `: change nothing.

With signed reasoning, ` + "`strip`" + ` and ` + "`text`" + ` insert a placeholder too.`,
	Bad: `[{"role":"user","content":"go"},
 {"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},
 {"role":"user","content":"and?"}]`,
	Good: `[{"role":"user","content":"go"},
 {"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},
 {"role":"tool","tool_call_id":"c1","content":"a.txt"},
 {"role":"user","content":"and?"}]`,
	Check: func(c *Context) {
		for i := range c.eachCall() {
			call := &c.Calls[i]
			x := &c.Pairing.Calls[i]
			if !c.Unanswered(i) {
				continue
			}
			f := Finding{
				Severity: Error, Message: callName(call) + " has no result",
				Refusal: c.cell(profile.Missing).Text,
			}
			if x.Surplus {
				f.Message = callName(call) + " has no result: there are fewer results than calls without ids"
			} else {
				f.Fix, f.Unfixed = c.answer(i, "insert")
			}
			record, differs := c.echoed(i)
			switch {
			case record != 0 && !differs:
				f.Recorded = true
				f.Message += ", but record " + strconv.Itoa(int(record)) + " repeats it"
			case c.AppendOnly && c.OnResume != "":
				f.Severity = Info
				f.Message += ": " + c.OnResume
			case c.storedByProvider() || c.Slice:
				f.Severity = Warning
			}
			if c.Seen(c.rule, f.Severity) {
				f.Related = c.wentOn(i)
			}
			c.aboutCall(i, f)
		}
	},
}

// Unanswered reports whether a call of a client has no result although the conversation goes on, and
// nothing else explains that.
func (c *Context) Unanswered(i int) bool {
	call, x := &c.Calls[i], &c.Pairing.Calls[i]
	return (x.State == pairing.Missing || x.Surplus) && !call.Answer.ByProvider() && call.Kind != transcript.KindApproval && !c.caused(i)
}

// wentOn returns where the conversation goes on without the result of call i: the
// first message after the turn and its results, or else the last of these results.
func (c *Context) wentOn(i int) []Related {
	switch o := c.goesOn(i); {
	case int(o.next) < len(c.Messages):
		return []Related{{"the conversation goes on here", c.Messages[o.next].RoleSpan()}}
	case c.turn(o.last) != o.turn:
		return []Related{{"the last result of the turn is in this message", c.Messages[o.last].RoleSpan()}}
	}
	return nil
}

// goesOn returns the last message of the turn of call i and its results, and the message after
// it.
func (c *Context) goesOn(i int) onward {
	from := c.Calls[i].Message
	// All calls of a turn have the same answer, and a turn can have very many.
	if o := &c.onward; o.turn != c.turn(from) || o.next <= from {
		o.turn, o.last = c.turn(from), c.lastOf(c.turn(from), from)
		o.next = o.last + 1
		for int(o.next) < len(c.Messages) && (c.Messages[o.next].Has(transcript.MessageReplay) || c.hidden(o.next) && !c.hidden(from)) {
			o.next++
		}
	}
	return c.onward
}

// A sign is the only message after the last turn with calls and its results, or the first of
// several empty ones. It shows that the conversation goes on without the result of a call.
type sign struct {
	message int32 // -1 if there is none, or if no result is missing
	blank   bool
}

// mustStay says why a message must not be dropped, "" if it may be. Without the only sign that the
// conversation goes on, a call that lacks its result would only be pending.
func (c *Context) mustStay(message int32, blank bool) string {
	if c.sign == nil {
		c.sign = c.onlySign()
	}
	if message != c.sign.message || blank && !c.sign.blank {
		return ""
	}
	return "without the message, the history would end with a call that has no result"
}

// onlySign returns the sign of the conversation.
func (c *Context) onlySign() *sign {
	out := sign{message: -1}
	for m := int32(len(c.Messages)) - 1; m >= 0; m-- {
		if c.Messages[m].Has(transcript.MessageReplay) || c.hidden(m) {
			continue
		}
		blank := c.blank(m)
		if blank || out.message < 0 {
			out = sign{m, blank}
		}
		if !blank {
			break
		}
	}
	for i, x := range slices.Backward(c.Pairing.Calls) {
		if c.turn(c.Calls[i].Message) != c.turn(c.Calls[len(c.Calls)-1].Message) {
			break
		}
		if x.State == pairing.Missing && !c.Calls[i].Answer.ByProvider() && c.goesOn(i).next == out.message {
			return &out
		}
	}
	return &sign{message: -1}
}

// blank reports whether a message says nothing.
func (c *Context) blank(message int32) bool {
	m := &c.Messages[message]
	blocks := c.Blocks[m.BlockLo:m.BlockHi]
	if len(blocks) == 0 {
		return m.Has(transcript.MessageEmpty) || m.Has(transcript.MessageNull)
	}
	return !slices.ContainsFunc(blocks, func(b transcript.Block) bool { return b.Kind != transcript.BlockText || !b.Has(transcript.BlockBlank) })
}

// An onward is the last message of a turn and its results, and the message after it.
type onward struct{ turn, last, next int32 }

// answer returns the operation that deals with call i, which has no result, by
// the chosen strategy or else by the given one, or says why there is none.
func (c *Context) answer(i int, strategy string) (op *operation.Operation, why string) {
	chosen := c.strategyOr(strategy)
	if chosen != "insert" {
		return c.answered(i, chosen), ""
	}
	switch record, differs := c.echoed(i); {
	case record != 0 && !differs: // nothing is made up
	case c.strategy() != "": // the user requests it
	case differs:
		return nil, "record " + strconv.Itoa(int(record)) + " repeats a result with the id of the call, but another record or call with that id contradicts it"
	default:
		if why = c.elsewhere(i); why != "" {
			return nil, why
		}
	}
	if c.Incomplete && (!c.isEchoed(i) || c.inTorn(c.Calls[i].ID.Raw)) {
		return nil, unreadable
	}
	return c.answered(i, chosen), ""
}

// unreadable says why nothing is inserted if a record cannot be read.
const unreadable = "the result may be in a record that toolguard cannot read"

// inTorn reports whether what cannot be read contains an id, given as JSON, or ends with it before
// its last quote.
func (c *Context) inTorn(id string) bool {
	open, whole := strings.CutSuffix(id, `"`)
	return slices.ContainsFunc(c.Torn, func(at source.Span) bool {
		text := c.Text(at)
		return strings.Contains(text, id) || whole && strings.HasSuffix(text, open)
	})
}

// echoed returns the record that repeats the result of call i, 0 if there is none.
func (c *Context) echoed(i int) (record int32, differs bool) {
	if len(c.Echoes) == 0 {
		return 0, false
	}
	return c.Echoed(int32(i))
}

// isEchoed reports whether the result that is inserted for call i is the recorded one.
func (c *Context) isEchoed(i int) bool {
	record, differs := c.echoed(i)
	return record != 0 && !differs
}

// elsewhere says where a result may be that could belong to call i, because then a
// placeholder would contradict it. It returns "" if there is none.
func (c *Context) elsewhere(i int) string {
	if res := c.loose(int32(i)); res >= 0 {
		return "a result in " + c.messageAt(c.Results[res].Message) + " does not say which call it answers, and may belong to this call"
	}
	key := pairing.Key(c.Calls[i].ID)
	if key == "" {
		return ""
	}
	if c.twin(int32(i)) && c.twins[i].answered {
		return "another call of the turn has the same id, and the result with that id may belong to this call"
	}
	if at, named := c.named(key); named {
		return c.elementAt(at) + ", which toolguard cannot read, contains the id of the call, so the result may be there"
	}
	if record, is := c.replaced()[key]; is {
		return "record " + strconv.Itoa(int(record)) + " contains a result of the call, but another record has the same record id"
	}
	return ""
}

// replaced returns the records with results that nobody reads, because another record has the
// same record id, by the ids of their calls.
func (c *Context) replaced() map[string]int32 {
	if c.lost != nil {
		return c.lost
	}
	c.lost = map[string]int32{}
	for i := range c.Results {
		if c.Pairing.Results[i].Fate == pairing.Ignored && !c.placeholder(int32(i)) {
			c.lost[pairing.Key(c.Results[i].ID)] = c.Messages[c.Results[i].Message].Record
		}
	}
	return c.lost
}

// named returns the position of a message, or of another element of its list, that cannot be read
// and contains an id as a text.
func (c *Context) named(key string) (position int, named bool) {
	if c.opaque == nil {
		c.opaque = map[string]int{}
		for m := range c.Messages {
			c.namesIn(int32(m))
		}
		before := 0
		for i := range c.Unread {
			u := &c.Unread[i]
			c.textsIn(int(u.Before)+before, u.Span)
			if u.Listed {
				before++
			}
		}
		// The id of a call is not to change before its result has the right role.
		for m, call := range c.causes().astray {
			c.opaque[pairing.Key(c.Calls[call].ID)] = c.position(m)
		}
	}
	position, named = c.opaque[key]
	return position, named
}

// namesIn notes the texts in a message with an unknown role or an unknown type of item. Of
// other messages it notes the texts in the blocks that cannot be read.
func (c *Context) namesIn(message int32) {
	m := &c.Messages[message]
	if m.Has(transcript.MessageReplay) {
		return
	}
	if m.Role == transcript.RoleOther || m.Has(transcript.MessageOtherShape) {
		c.textsIn(c.position(message), m.Span())
		return
	}
	if m.Role == transcript.RoleAssistant && !m.Has(transcript.MessageItem) {
		return // an assistant message holds no results
	}
	for b := m.BlockLo; b < m.BlockHi; b++ {
		if blk := &c.Blocks[b]; blk.Kind == transcript.BlockOther {
			c.textsIn(c.position(message), blk.Span)
		}
	}
}

// textsIn notes the texts in a value of a message.
func (c *Context) textsIn(position int, at source.Span) {
	c.eachText(c.Value(at), func(text string) {
		if _, seen := c.opaque[text]; !seen {
			c.opaque[text] = position
		}
	})
}

// answered returns the operation of a strategy for call i, which has no result.
func (c *Context) answered(i int, strategy string) *operation.Operation {
	turn := c.turn(c.Calls[i].Message)
	if c.signed(turn) && (strategy == "strip" || strategy == "text") {
		strategy = "insert" // an edit would invalidate the signature of the message
	}
	switch strategy {
	case "insert":
		return c.insertion(i)
	case "strip":
		op, do := turnOp[operation.DropCalls](c, turn, operation.Unsafe, "remove the call")
		do.CopyOf = -1
		if do.Calls = append(do.Calls, int32(i)); len(do.Calls) > 1 {
			op.Title = "remove the calls"
		}
		return op
	case "text":
		return c.asText(turn, []int32{int32(i)}, nil)
	case "strip-turn":
		return c.dropTurn(c.Calls[i].Message)
	}
	return nil
}

// answerable reports whether a result of a call can be made up.
func (c *Context) answerable(i int) bool {
	call := &c.Calls[i]
	if call.Answer.ByProvider() || c.Messages[call.Message].Has(transcript.MessageForeign) {
		return false
	}
	switch call.Kind {
	case transcript.KindFunction, transcript.KindCustom, transcript.KindLocalShell:
		return true
	case transcript.KindLegacyFunction:
		// Its result would have a role of its own.
		return c.Profile.Roles == nil || !c.sent() || slices.Contains(c.Profile.Roles, "function")
	}
	return false
}

// unanswerable returns the calls for which no result can be made up.
func (c *Context) unanswerable() []int {
	if c.unanswered == nil {
		c.unanswered = []int{}
		for i := range c.Calls {
			if !c.answerable(i) {
				c.unanswered = append(c.unanswered, i)
			}
		}
	}
	return c.unanswered
}

// insertion returns the operation that inserts placeholders for the calls of a turn,
// including call i.
func (c *Context) insertion(i int) *operation.Operation {
	call := &c.Calls[i]
	turn := c.turn(call.Message)
	if call.Answer == transcript.AnswerOwnRecord {
		op, do := turnOp[operation.SetState](c, turn, operation.Additive, "")
		do.Calls = append(do.Calls, int32(i))
		held := slices.ContainsFunc(do.Calls, func(k int32) bool { return c.Calls[k].Held })
		switch op.Title = "record a placeholder as the result of the call"; {
		case held:
			op.Title = "complete the record of the call"
		case len(do.Calls) > 1:
			op.Title = "record placeholders as the results of the calls"
		}
		return op
	}
	echoed := c.isEchoed(i)
	if !c.answerable(i) || c.AppendOnly && c.Pairing.Calls[i].State != pairing.Pending && !echoed {
		return nil
	}
	// A placeholder would answer the first open call with its id.
	for _, k := range c.unanswerable() {
		if k < i && c.turn(c.Calls[k].Message) == turn && c.Pairing.Calls[k].State == c.Pairing.Calls[i].State && pairing.Key(c.Calls[k].ID) == pairing.Key(call.ID) {
			return nil
		}
	}
	op, do := turnOp[operation.InsertResults](c, turn, operation.Additive, "")
	op.Title = c.insertTitle(op.Title, turn, call.Message, len(do.Calls), echoed)
	do.Calls = append(do.Calls, int32(i))
	if echoed {
		do.Recorded++
	}
	return op
}

// The titles of insertions, before the place: of one result and of several.
const (
	onePlaceholder   = "insert a placeholder result"
	morePlaceholders = "insert placeholder results"
	oneEcho          = "insert the recorded result"
	moreEchoes       = "insert the recorded results"
	mixedResults     = "insert the recorded results and placeholder results"
)

// insertTitle returns the title of an insertion with one more result. was is its title with n
// results.
func (c *Context) insertTitle(was string, turn, from int32, n int, echoed bool) string {
	one, more := onePlaceholder, morePlaceholders
	if echoed {
		one, more = oneEcho, moreEchoes
	}
	if n == 0 {
		return one + " " + c.placeOf(turn, from)
	}
	for _, title := range []string{mixedResults, onePlaceholder, morePlaceholders, moreEchoes, oneEcho} {
		place, is := strings.CutPrefix(was, title+" ")
		if !is {
			continue
		}
		if title != one && title != more {
			more = mixedResults
		}
		return more + " " + place
	}
	return was
}

// placeOf says where results that are inserted for a turn go.
func (c *Context) placeOf(turn, from int32) string {
	last := c.lastOf(turn, from)
	if c.Window == transcript.WindowUser {
		for m := from + 1; int(m) < len(c.Messages); m++ {
			if c.Messages[m].Turn == turn {
				continue
			}
			if next := &c.Messages[m]; next.Role == transcript.RoleUser && !next.Has(transcript.MessageForeign) {
				return "into " + c.messageAt(m)
			}
			break
		}
	}
	return "after " + c.messageAt(last)
}

// lastOf returns the last message of a turn and its results, starting at a message of the
// turn.
func (c *Context) lastOf(turn, from int32) int32 {
	last := from
	for m := from; int(m) < len(c.Messages); m++ {
		msg := &c.Messages[m]
		if msg.Turn == turn {
			last = m
			continue
		}
		if !c.answersTurn(msg, turn) {
			break
		}
		last = m
	}
	return last
}

// answersTurn reports whether a message begins with a result of the turn.
func (c *Context) answersTurn(m *transcript.Message, turn int32) bool {
	if m.BlockLo == m.BlockHi || c.Blocks[m.BlockLo].Kind != transcript.BlockResult {
		return false
	}
	call := c.Pairing.Results[c.Blocks[m.BlockLo].Ref].Call
	return call >= 0 && c.turn(c.Calls[call].Message) == turn
}
