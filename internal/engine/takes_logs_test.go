package engine

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// This file finds the faults of session logs, independently of the code under test. It is
// written from what is known of the agents. What an agent does on purpose is not a fault: an
// interrupted turn, a running call at the end, or the records before a compaction.

// An entry is the content of a record of a log.
type entry struct {
	scope string // the thread that it belongs to
	turn  string // of the model's message, "" for others
	acts  []act
	// why is a fault of the record that does not depend on others.
	why string
	// human marks text that a human typed. other marks any other message that is not the
	// model's and holds no result.
	human, other bool
	// aborted marks an interrupted message, aborts a record that interrupts the model's turn
	// before it.
	aborted, aborts bool
	cut             bool // a compaction: what lies before is out of sight
	// says marks an entry with more than calls and results, late an entry with such content
	// before a result.
	says, late bool
	// unsure marks a record whose effect on others is not known.
	unsure bool
	// deferred marks a message of the model that the agent sends behind the results of open calls.
	deferred bool
	// begins marks a call that counts only if no other entry made it.
	begins bool
	// unasked marks such a call that no other entry has made before, or makes before its result.
	// The agent sends neither it nor its result.
	unasked bool
}

// unknown means that it is not known whether something is a fault.
const unknown = "?"

// goesOn is the turn of an entry that continues the model's last turn, unless somebody
// answered it.
const goesOn = "goes on"

// An act is a call or a result.
type act struct {
	id, kind string
	result   bool
	bare     bool // a call without arguments
	// done marks a call whose record has the result, broken a call whose record says that it
	// was interrupted.
	done, broken bool
}

// A logFormat is the format of the logs of one agent.
type logFormat struct {
	// read returns the entries of the n-th record.
	read func(record object, n int) []entry
	// pair returns the fault of a thread, by the places of its results.
	pair func(thread []entry) string
}

// takes returns the fault of a log.
func (f logFormat) takes(records []object) string {
	scopes := map[string][]entry{}
	told := map[[2]string]bool{} // by scope and id: calls that have only begun
	asked := map[string]bool{}   // by id: calls of the main thread that were requested
	for n, r := range records {
		for _, e := range f.read(r, n) {
			thread := scopes[e.scope]
			if e.cut {
				thread = nil
				maps.DeleteFunc(told, func(k [2]string, _ bool) bool { return k[0] == e.scope })
			}
			if e.turn == goesOn {
				e.turn = fmt.Sprint("#", n)
				for _, before := range slices.Backward(thread) {
					if before.turn != "" {
						e.turn = before.turn
					}
					if before.turn != "" || before.human || before.other || len(before.acts) > 0 {
						break
					}
				}
			}
			if e.begins && made(thread, e.acts[0].id) {
				continue
			}
			e.acts = slices.DeleteFunc(e.acts, func(a act) bool {
				k := [2]string{e.scope, a.id}
				begun := slices.IndexFunc(thread, func(b entry) bool { return b.unasked && b.acts[0].id == a.id })
				switch {
				case e.scope != "":
				case a.result && begun >= 0 && told[k]:
					told[k] = false
					return true
				case e.begins:
					e.unasked = a.id != "" && !asked[a.id]
				case !a.result:
					if asked[a.id] = true; begun >= 0 && told[k] {
						thread[begun].unasked = false
					}
				}
				again := told[k] && !e.begins && !a.result
				told[k] = e.begins
				return again
			})
			scopes[e.scope] = append(thread, e)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(scopes)) {
		thread := slices.DeleteFunc(scopes[name], func(e entry) bool { return e.unasked })
		for _, e := range thread {
			if e.unsure {
				return unknown
			}
		}
		for _, e := range thread {
			if e.why != "" {
				return e.why
			}
		}
		if why := f.pair(thread); why != "" {
			return why
		}
	}
	return ""
}

// made reports whether a thread makes a call.
func made(thread []entry, id string) bool {
	return slices.ContainsFunc(thread, func(e entry) bool {
		return slices.ContainsFunc(e.acts, func(a act) bool { return !a.result && a.id == id })
	})
}

// inRun returns the fault of a thread whose results come directly after the message with
// their calls.
func inRun(thread []entry) string {
	waits, aborted := open{}, false
	for _, e := range thread {
		var answers bool
		for _, a := range e.acts {
			answers = answers || a.result
		}
		if answers {
			for _, a := range e.acts {
				if why := waits.answer(a.id); why != "" {
					return why
				}
			}
			continue
		}
		if e.turn == "" && !e.human && !e.other {
			continue
		}
		if why := waits.missing(); why != "" && !aborted {
			return why
		}
		waits, aborted = open{}, e.aborted
		for _, a := range e.acts {
			switch {
			case waits[a.id]:
				return "an id twice"
			case a.bare && !aborted:
				return "no arguments"
			}
			waits[a.id] = true
		}
	}
	return ""
}

// anywhere returns the fault of a thread whose results may be anywhere after their calls. A
// result belongs to the last call with its id.
func anywhere(thread []entry) string {
	type use struct {
		turn, kind     string
		answered, bare bool
	}
	uses := map[string]*use{} // by id: the last one
	aborted := map[string]bool{}
	inTurn := map[[2]string]bool{} // by turn and id
	last := map[string]int{}       // by turn: its last entry
	spoke := ""
	for i, e := range thread {
		if e.turn != "" {
			spoke = e.turn
			last[spoke] = i
		}
		if e.aborts || e.aborted {
			aborted[spoke] = true
		}
	}
	// closed reports whether the model or a human spoke after a turn.
	closed := func(turn string) bool {
		return !aborted[turn] && slices.ContainsFunc(thread[last[turn]+1:], func(e entry) bool { return e.human || e.turn != "" })
	}
	var all []*use
	for _, e := range thread {
		for _, a := range e.acts {
			u := uses[a.id]
			switch {
			case !a.result && inTurn[[2]string{e.turn, a.id}]:
				return "an id twice in " + e.turn
			case !a.result:
				inTurn[[2]string{e.turn, a.id}] = true
				u = &use{turn: e.turn, kind: a.kind, bare: a.bare}
				uses[a.id] = u
				all = append(all, u)
			case u == nil || u.answered:
				return "a result of no call before it, or the second one"
			case u.kind != a.kind:
				return "a result of another kind"
			default:
				u.answered = true
			}
		}
	}
	for _, u := range all {
		switch {
		case !u.answered && closed(u.turn):
			return "no result for a call in " + u.turn
		case u.bare && (u.answered || !aborted[u.turn]):
			return "no arguments"
		}
	}
	return ""
}

// inTime returns the fault of a thread whose results are after their calls, and before the model
// speaks in another turn.
func inTime(thread []entry) string {
	if why := anywhere(thread); why != "" {
		return why
	}
	calls := map[string]string{} // by id: the turn of the last call
	behind := map[string]string{}
	for _, e := range thread {
		if e.turn != "" && !e.deferred {
			for id, turn := range calls {
				if turn != e.turn {
					behind[id] = turn
				}
			}
		}
		for _, a := range e.acts {
			switch {
			case !a.result:
				calls[a.id], behind[a.id] = e.turn, ""
			case behind[a.id] != "":
				return "a result that is too late for " + behind[a.id]
			default:
				delete(calls, a.id)
			}
		}
	}
	return ""
}

// inRecord returns the fault of a thread whose calls hold their results.
func inRecord(thread []entry) string {
	inTurn := map[[2]string]bool{}
	for i, e := range thread {
		goes := slices.ContainsFunc(thread[i+1:], func(e entry) bool { return e.human || e.other || e.turn != "" })
		for _, a := range e.acts {
			k := [2]string{e.turn, a.id}
			switch {
			case inTurn[k]:
				return "an id twice in " + e.turn
			case a.bare && !a.broken && !e.aborted:
				return "no arguments"
			case !a.done && !a.broken && !e.aborted && goes:
				return "no result for " + a.id
			}
			inTurn[k] = true
		}
	}
	return ""
}

// behindOne returns the fault of a thread whose results are in messages before the model
// speaks again. That closes a turn, too.
func behindOne(thread []entry) string {
	waits, passed, said := open{}, false, false
	for _, e := range thread {
		switch {
		case e.turn != "":
			if why := waits.missing(); why != "" {
				return why
			}
			waits, passed, said = open{}, false, false
			for _, a := range e.acts {
				if waits[a.id] {
					return "an id twice"
				}
				waits[a.id] = true
			}
		default:
			if e.late || said && len(e.acts) > 0 {
				return "something stands before a result"
			}
			passed, said = true, said || e.says
			for _, a := range e.acts {
				if why := waits.answer(a.id); why != "" {
					return why
				}
			}
		}
	}
	if passed {
		return waits.missing()
	}
	return ""
}

// call adds a call to an entry. A call without arguments is a fault, unless it was
// interrupted.
func (e *entry) call(id, name any, kind string, badName, bare bool) {
	s, ok := idOK(id)
	_, named := proper(name)
	switch {
	case !ok:
		e.why = cmp.Or(e.why, "the id of a call")
	case !named || badName:
		e.why = cmp.Or(e.why, "the name of a call")
	case e.turn == "":
		e.why = cmp.Or(e.why, "a call that is not the model's")
	}
	e.acts = append(e.acts, act{id: s, kind: kind, bare: bare})
}

// result adds a result to an entry.
func (e *entry) result(id any, kind string) {
	s, ok := idOK(id)
	switch {
	case !ok:
		e.why = cmp.Or(e.why, "the id of a result")
	case e.turn != "":
		e.why = cmp.Or(e.why, "a result of the model's")
	}
	e.acts = append(e.acts, act{id: s, kind: kind, result: true})
}

// typed reports whether a human typed a text: an agent's texts are in tags.
func typed(text string) bool {
	return !strings.HasPrefix(text, "<") || strings.Index(text, ">") < 2
}

// text returns the first text of a message's content.
func text(content any) (string, bool) {
	if s, is := content.(string); is {
		return s, true
	}
	for _, b := range list(content) {
		if s, is := member(b)["text"].(string); is && member(b)["type"] == "text" {
			return s, true
		}
	}
	return "", false
}

// claudeCode is the format of Claude Code: the blocks of Anthropic messages, in records of
// their own that are linked by uuid.
var claudeCode = logFormat{pair: inTime, read: func(r object, n int) []entry {
	e := entry{scope: fmt.Sprint(r["isSidechain"] == true, r["agentId"])}
	m, said := r["message"].(object)
	switch {
	case r["type"] == "system":
		e.cut = r["subtype"] == "compact_boundary"
		if r["compactMetadata"] != nil {
			e.why = "what is kept is not followed here"
		}
		return []entry{e}
	case !said || r["type"] != "user" && r["type"] != "assistant":
		return nil
	}
	if m["role"] == nil {
		m = maps.Clone(m)
		m["role"] = r["type"] // a record tells who speaks where its message does not
	}
	e.message(m, r["requestId"], n)
	if s, has := text(m["content"]); has && m["role"] == "user" && len(e.acts) == 0 && r["isMeta"] != true && r["isCompactSummary"] != true {
		e.aborts = strings.HasPrefix(s, "[Request interrupted by user")
		e.human = !e.aborts && typed(s)
	}
	return []entry{e}
}}

// message reads a part of an Anthropic message. Parts with one id are one turn.
func (e *entry) message(m object, request any, n int) {
	if m["role"] == "assistant" || m["role"] == nil && slices.ContainsFunc(list(m["content"]), func(b any) bool { return member(b)["type"] == "tool_use" }) {
		e.turn = fmt.Sprint("#", n)
		for _, id := range []any{request, m["id"]} {
			if s, is := id.(string); is && s != "" {
				e.turn = s
			}
		}
	}
	for _, b := range list(m["content"]) {
		block := member(b)
		switch block["type"] {
		case "tool_use":
			input, has := block["input"]
			if _, fits := input.(object); has && !fits {
				e.why = "input"
			}
			if id, _ := block["id"].(string); id != "" && !wordDash.MatchString(id) || noServers.MatchString(id) {
				e.why = "the id of a call"
			}
			name, _ := block["name"].(string)
			e.call(block["id"], block["name"], "", len(name) > 200, !has)
		case "tool_result":
			if id, _ := block["tool_use_id"].(string); id != "" && !wordDash.MatchString(id) {
				e.why = "the id of a result"
			}
			e.result(block["tool_use_id"], "")
		}
	}
}

// words notes the speaker of the text in a user's message: a human, or the agent that reports
// an interruption.
func (e *entry) words(m object) {
	if s, has := text(m["content"]); has && m["role"] == "user" && len(e.acts) == 0 {
		e.aborts = strings.HasPrefix(s, "[Request interrupted by user")
		e.human = !e.aborts && typed(s)
	}
}

// factoryDroid is the format of Factory's droid: one Anthropic message a record.
var factoryDroid = logFormat{pair: anywhere, read: func(r object, n int) []entry {
	m, said := r["message"].(object)
	if r["type"] != "message" || !said {
		return nil
	}
	e := entry{}
	e.message(m, nil, n)
	e.words(m)
	return []entry{e}
}}

// streamJSON is the output of Claude Code: parts of Anthropic messages, those of a sub-agent
// with its call.
var streamJSON = logFormat{pair: anywhere, read: func(r object, n int) []entry {
	e := entry{scope: fmt.Sprint(r["parent_tool_use_id"])}
	m, said := r["message"].(object)
	switch {
	case r["type"] == "system" && r["subtype"] == "compact_boundary":
		e.cut = true
		return []entry{e}
	case !said || r["type"] != "user" && r["type"] != "assistant":
		return nil
	}
	e.message(m, nil, n)
	e.words(m)
	return []entry{e}
}}

// kimiWire is the format of Kimi Code: events of the model's steps, among messages.
var kimiWire = logFormat{pair: inTime, read: func(r object, n int) []entry {
	e := entry{}
	event := member(r["event"])
	switch r["type"] {
	case "context.append_loop_event":
		e.turn, _ = event["stepUuid"].(string)
		switch event["type"] {
		case "tool.call":
			if e.turn == "" {
				e.turn = goesOn
			}
			if event["toolCallId"] == nil && event["name"] == nil {
				return []entry{{unsure: true}}
			}
			e.call(event["toolCallId"], event["name"], "", false, false)
		case "tool.result":
			e.turn = ""
			e.result(event["toolCallId"], "")
		case "content.part":
		default:
			return nil
		}
	case "context.append_message":
		m := member(r["message"])
		s, is := text(m["content"])
		e.human = is && m["role"] == "user" && typed(s)
		e.other = !e.human
		if m["role"] == "assistant" {
			e.turn, e.deferred = fmt.Sprint("#", n), true
		}
	case "context.clear", "context.apply_compaction":
		e.cut = true
	case "StepInterrupted":
		e.aborts = true
	case "metadata":
		return nil
	default:
		e.unsure = true
	}
	return []entry{e}
}}

// gooseMessages is the format of Goose: messages of blocks, with results after the model's
// message.
var gooseMessages = logFormat{pair: behindOne, read: func(m object, n int) []entry {
	content, speaks := m["content"]
	if !speaks {
		return []entry{{unsure: m["role"] != nil}}
	}
	_, odd := content.(object)
	e := entry{other: true, unsure: odd || m["metadata"] != nil}
	calls := slices.ContainsFunc(list(m["content"]), func(b any) bool { return member(b)["type"] == "toolRequest" })
	if m["role"] == "assistant" || m["role"] == nil && calls {
		e.turn = fmt.Sprint("#", n)
	}
	for _, b := range list(m["content"]) {
		block := member(b)
		switch block["type"] {
		case "toolRequest":
			call := member(block["toolCall"])
			value := member(call["value"])
			name := value["name"]
			_, args := value["arguments"]
			if call["status"] == "error" {
				name, args = "unread", true
			}
			e.call(block["id"], name, "", false, !args)
		case "toolResponse":
			e.result(block["id"], "")
			e.late = e.late || e.says
		default:
			e.says = true
		}
	}
	return []entry{e}
}}

// The states of a call's record, by name.
var (
	doneStates   = []any{"output-available", "output-error", "output-denied", "result", "completed", "error", "success"}
	brokenStates = []any{"input-streaming", "partial-call", "cancelled"}
)

// held adds a call whose record has its state.
func (e *entry) held(id, name, state any, bare bool) {
	e.call(id, name, "", false, bare)
	a := &e.acts[len(e.acts)-1]
	a.done, a.broken = slices.Contains(doneStates, state), slices.Contains(brokenStates, state)
}

// uiMessages is the format of apps on the AI SDK: the parts of a message are steps, and calls
// with a state.
var uiMessages = logFormat{pair: inRecord, read: func(m object, n int) []entry {
	e := entry{other: true, unsure: m["role"] == nil}
	if m["role"] == "assistant" {
		e.turn = fmt.Sprint("#", n)
	}
	var all []entry
	seen := map[any]bool{}
	for _, p := range list(m["parts"]) {
		part := member(p)
		typ, _ := part["type"].(string)
		name, tool := strings.CutPrefix(typ, "tool-")
		if typ == "step-start" {
			all = append(all, e)
			e = entry{other: true, turn: e.turn}
			continue
		}
		var state any
		args := "input"
		switch inv, v4 := part["toolInvocation"].(object); {
		case typ == "tool-invocation" && v4:
			part, args = inv, "args"
			name, _ = inv["toolName"].(string)
		case typ == "dynamic-tool":
			name, _ = part["toolName"].(string)
		case !tool:
			continue
		}
		state = part["state"]
		if part["providerExecuted"] == true {
			continue
		}
		_, has := part[args]
		seen[part["toolCallId"]] = true
		e.held(part["toolCallId"], name, state, !has)
	}
	for _, c := range list(m["toolInvocations"]) {
		call := member(c)
		if !seen[call["toolCallId"]] {
			_, has := call["args"]
			e.held(call["toolCallId"], call["toolName"], call["state"], !has)
		}
	}
	return append(all, e)
}}

// openCode is the format of opencode: the same in another spelling.
var openCode = logFormat{pair: inRecord, read: func(m object, n int) []entry {
	info, is := m["info"].(object)
	if !is {
		return []entry{{unsure: true}}
	}
	e := entry{other: true, aborted: info["error"] != nil}
	if info["role"] == "assistant" {
		e.turn = fmt.Sprint("#", n)
	}
	var all []entry
	for _, p := range list(m["parts"]) {
		part := member(p)
		switch part["type"] {
		case "step-start":
			all = append(all, e)
			e = entry{other: true, turn: e.turn, aborted: e.aborted}
		case "tool":
			state := member(part["state"])
			_, has := state["input"]
			e.held(part["callID"], part["tool"], state["status"], !has)
		}
	}
	return append(all, e)
}}

// geminiCLI returns the fault of a session of Gemini CLI, in which the last message with an
// id counts.
func geminiCLI(records []object) string {
	var last []object
	for _, r := range records {
		k := -1
		if r["id"] != nil {
			k = slices.IndexFunc(last, func(m object) bool { return m["id"] == r["id"] })
		}
		switch {
		case r["$rewindTo"] != nil, member(r["$set"])["messages"] != nil:
			return unknown
		case k >= 0:
			last[k] = r
		default:
			last = append(last, r)
		}
	}
	for _, m := range last {
		for _, c := range list(m["toolCalls"]) {
			named := slices.DeleteFunc(slices.Clone(list(member(c)["result"])), func(r any) bool {
				id, _ := member(member(r)["functionResponse"])["id"].(string)
				return id == ""
			})
			if m["type"] == "gemini" && len(named) > 1 {
				return fmt.Sprint("the record of a call has ", len(named), " results")
			}
		}
	}
	return geminiMessages.takes(last)
}

// geminiMessages are the messages of Gemini CLI: calls in a list, each with its state and
// result.
var geminiMessages = logFormat{pair: inRecord, read: func(m object, n int) []entry {
	_, says := m["content"]
	e := entry{unsure: !says}
	switch m["type"] {
	case "gemini":
		e.turn = fmt.Sprint("#", n)
	case "user":
		e.other = true
	default:
		return nil
	}
	for _, c := range list(m["toolCalls"]) {
		call := member(c)
		_, has := call["args"]
		e.held(call["id"], call["name"], call["status"], !has)
		a := &e.acts[len(e.acts)-1]
		a.done = !hollow(call["result"])
		a.broken = a.broken && !a.done
	}
	return []entry{e}
}}

// piLog is the format of pi and OpenClaw: each result is a message after the model's. Calls
// of an interrupted turn have none.
var piLog = logFormat{pair: inRun, read: func(r object, n int) []entry {
	if r["type"] == "compaction" {
		return []entry{{cut: true, why: "what is kept is not followed here"}}
	}
	m, said := r["message"].(object)
	if r["type"] != "message" || !said {
		return nil
	}
	e := entry{}
	calls := slices.ContainsFunc(list(m["content"]), func(b any) bool { return member(b)["type"] == "toolCall" })
	switch role := m["role"]; {
	case role == "assistant", role == nil && calls:
		e.turn = fmt.Sprint("#", n)
		e.aborted = m["stopReason"] == "aborted" || m["stopReason"] == "error"
	case role == "toolResult":
		e.result(m["toolCallId"], "")
		return []entry{e}
	default:
		e.other = true
	}
	for _, b := range list(m["content"]) {
		block := member(b)
		if block["type"] != "toolCall" {
			continue
		}
		_, args := block["arguments"]
		e.call(block["id"], block["name"], "", false, !args)
	}
	return []entry{e}
}}

// copilotCLI is the format of GitHub Copilot CLI: one event requests calls, and one event
// completes each. The event for the start of a call makes the call if nothing has requested
// it, but the calls of the main thread that nothing requests are not sent.
var copilotCLI = logFormat{pair: anywhere, read: func(r object, n int) []entry {
	data := member(r["data"])
	e := entry{}
	for _, agent := range []any{data["parentToolCallId"], r["agentId"]} {
		if s, is := agent.(string); is {
			e.scope = s
		}
	}
	switch r["type"] {
	case "assistant.message":
		e.turn = fmt.Sprint("#", n)
		if s, is := data["messageId"].(string); is && s != "" {
			e.turn = s
		}
		for _, c := range list(data["toolRequests"]) {
			call := member(c)
			_, args := call["arguments"]
			e.call(call["toolCallId"], call["name"], "", false, !args)
		}
	case "tool.execution_start":
		if data["toolCallId"] == nil && data["toolName"] == nil {
			return nil
		}
		e.turn, e.begins = goesOn, true
		e.call(data["toolCallId"], data["toolName"], "", false, false)
	case "tool.execution_complete":
		e.result(data["toolCallId"], "")
	case "user.message":
		text, is := data["content"].(string)
		e.human = is && typed(text)
	case "abort":
		e.aborts = true
	case "session.compaction_complete":
		e.cut = data["success"] == true
	}
	return []entry{e}
}}

// codexRollout is the format of Codex: one Responses item a record, and with a compaction the
// items that replace all earlier ones.
var codexRollout = logFormat{pair: anywhere, read: func(r object, n int) []entry {
	payload := member(r["payload"])
	switch {
	case r["type"] == "response_item":
		return []entry{codexItem(payload, n)}
	case r["type"] == "compacted":
		all := []entry{{cut: true}}
		for k, item := range list(payload["replacement_history"]) {
			all = append(all, codexItem(member(item), -n*1000-k))
		}
		return all
	case payload["type"] == "turn_aborted":
		return []entry{{aborts: true}}
	case payload["type"] == "thread_rolled_back":
		return []entry{{why: "what is taken back is not followed here"}}
	}
	return nil
}}

// codexItem reads an item. Calls belong to the output of the model before them: the model
// speaks again only after they are answered.
func codexItem(item object, n int) entry {
	e := entry{}
	kind, _ := item["type"].(string)
	_, role := item["role"].(string)
	switch {
	case role != (kind == "message"),
		strings.HasSuffix(kind, "_call") && item["call_id"] == nil && item["name"] == nil,
		strings.HasSuffix(kind, "_output") && item["call_id"] == nil && item["output"] == nil:
		return entry{unsure: true}
	}
	id, _ := item["call_id"].(string)
	long := !atMost64.MatchString(id)
	switch kind {
	case "local_shell_call":
		e.turn = goesOn
		if !hollow(item["call_id"]) { // it need not have one
			e.call(item["call_id"], kind, "function_call", false, false)
		}
	case "function_call", "custom_tool_call":
		e.turn = goesOn
		_, has := item["arguments"]
		name, _ := item["name"].(string)
		e.call(item["call_id"], item["name"], kind, len(name) > 64, !has && kind == "function_call")
	case "function_call_output", "custom_tool_call_output":
		e.result(item["call_id"], strings.TrimSuffix(kind, "_output"))
	case "message":
		if item["role"] == "assistant" {
			e.turn = fmt.Sprint("#", n)
			break
		}
		for _, b := range list(item["content"]) {
			s, is := member(b)["text"].(string)
			e.human = is && typed(s)
			break
		}
		if s, is := item["content"].(string); is {
			e.human = typed(s)
		}
		e.human = e.human && item["role"] == "user"
		e.other = !e.human
	case "reasoning", "web_search_call":
		e.turn = fmt.Sprint("#", n)
	}
	if long && len(e.acts) > 0 {
		e.why = "the id of an item"
	}
	return e
}

// qwenCode is the format of Qwen Code: Gemini contents in the records of Claude Code.
var qwenCode = logFormat{pair: inTime, read: func(r object, _ int) []entry {
	e := entry{scope: fmt.Sprint(r["isSidechain"] == true, r["agentId"])}
	m, said := r["message"].(object)
	switch {
	case r["type"] == "system" && r["subtype"] == "chat_compression":
		e.cut = true
		e.why = "what is kept is not followed here"
		return []entry{e}
	case !said || !among(r["type"], "user", "assistant", "tool_result"):
		return nil
	}
	if m["role"] == "model" {
		e.turn = goesOn
	}
	for _, p := range list(m["parts"]) {
		part := member(p)
		call, called := part["functionCall"].(object)
		response, answered := part["functionResponse"].(object)
		e.unsure = e.unsure || !called && part["functionCall"] != nil || !answered && part["functionResponse"] != nil
		switch {
		case called:
			_, args := call["args"]
			e.call(call["id"], call["name"], "", false, !args)
			e.unsure = e.unsure || hollow(call["id"])
		case answered:
			e.result(response["id"], "")
			e.unsure = e.unsure || hollow(response["id"])
		}
	}
	if len(e.acts) == 0 && e.turn == "" {
		for _, p := range list(m["parts"]) {
			if s, is := member(p)["text"].(string); is {
				e.human = typed(s)
				break
			}
		}
	}
	e.other = e.turn == "" && !e.human
	return []entry{e}
}}
