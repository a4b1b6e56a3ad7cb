package engine

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// What is in this file says what is wrong with a session log, written from what
// is known of the agents that write it. It shares nothing with what it is held
// against. What an agent does on purpose is not wrong: a turn that was broken off,
// a call at the end that still runs, what lies before a compaction.

// An entry is what a record of a log says.
type entry struct {
	scope string // the thread that it belongs to
	turn  string // of the model's message, "" for others
	acts  []act
	// why says what is wrong with the record whatever else there is.
	why string
	// human is set for what a human typed, other for any message else that is not
	// the model's and holds no result.
	human, other bool
	// aborted is set for a message that was broken off, aborts for what breaks
	// off the model's turn before it.
	aborted, aborts bool
	cut             bool // a compaction: what lies before is out of sight
	// unsure is set where it is not known what others make of the record.
	unsure bool
	// begins is set for a call that counts only where no other entry made it.
	begins bool
}

// unknown stands for what nobody knows to be right or wrong.
const unknown = "?"

// goesOn is the turn of what belongs to the model's turn before it, if there is
// one that nobody has answered.
const goesOn = "goes on"

// An act is a call or a result.
type act struct {
	id, kind string
	result   bool
	bare     bool // a call without arguments
}

// A logFormat is what there is to know of the logs of one agent.
type logFormat struct {
	// read tells what the n-th record says: entries that follow each other.
	read func(record object, n int) []entry
	// run is set where results stand in the unbroken run of messages behind the
	// model's. Elsewhere they stand anywhere behind their call.
	run bool
}

// takes says what is wrong with a log.
func (f logFormat) takes(records []object) string {
	scopes := map[string][]entry{}
	told := map[[2]string]bool{} // by scope and id: calls that have only begun
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
				again := told[k] && !e.begins && !a.result
				told[k] = e.begins
				return again
			})
			scopes[e.scope] = append(thread, e)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(scopes)) {
		thread := scopes[name]
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
		why := anywhere(thread)
		if f.run {
			why = inRun(thread)
		}
		if why != "" {
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

// inRun says what is wrong with a thread whose results stand directly behind the
// message with their calls.
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

// anywhere says what is wrong with a thread whose results may stand anywhere
// behind their calls. Until another turn uses an id again a result of that id
// is its call's.
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
	// closed reports whether the model spoke anew, or a human, behind a turn.
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

// call adds a call to an entry. Without arguments it is wrong unless it was
// broken off.
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

// typed reports whether a text is what a human typed: what an agent writes comes
// in tags.
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

// claudeCode is what Claude Code writes: the blocks of Anthropic messages, those
// of one message with one id in records of their own, linked by uuid.
var claudeCode = logFormat{read: func(r object, n int) []entry {
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
	if m["role"] == "assistant" || m["role"] == nil && slices.ContainsFunc(list(m["content"]), func(b any) bool { return member(b)["type"] == "tool_use" }) {
		e.turn = fmt.Sprint("#", n)
		for _, id := range []any{r["requestId"], m["id"]} {
			if s, is := id.(string); is && s != "" {
				e.turn = s
			}
		}
	}
	for _, b := range list(m["content"]) {
		block := member(b)
		switch block["type"] {
		case "tool_use":
			_, fits := block["input"].(object)
			if !fits {
				e.why = "input"
			}
			if id, _ := block["id"].(string); id != "" && !wordDash.MatchString(id) || noServers.MatchString(id) {
				e.why = "the id of a call"
			}
			name, _ := block["name"].(string)
			e.call(block["id"], block["name"], "", len(name) > 200, false)
		case "tool_result":
			if id, _ := block["tool_use_id"].(string); id != "" && !wordDash.MatchString(id) {
				e.why = "the id of a result"
			}
			e.result(block["tool_use_id"], "")
		}
	}
	if s, has := text(m["content"]); has && m["role"] == "user" && len(e.acts) == 0 && r["isMeta"] != true && r["isCompactSummary"] != true {
		e.aborts = strings.HasPrefix(s, "[Request interrupted by user")
		e.human = !e.aborts && typed(s)
	}
	return []entry{e}
}}

// piLog is what pi and OpenClaw write: messages, each result one of its own
// behind the model's, and nothing for calls of a turn that was broken off.
var piLog = logFormat{run: true, read: func(r object, n int) []entry {
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

// copilotCLI is what GitHub Copilot CLI writes: events, of which one requests
// calls and one for each call completes it. One that says that a call has begun
// makes it where nobody has requested it.
var copilotCLI = logFormat{read: func(r object, n int) []entry {
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

// codexRollout is what Codex writes: Responses items, each in a record, and with
// a compaction those that take the place of all before.
var codexRollout = logFormat{read: func(r object, n int) []entry {
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

// codexItem says what an item says. Calls belong to what the model put out before
// them: behind calls it only speaks again when they have been answered.
func codexItem(item object, n int) entry {
	e := entry{}
	kind, _ := item["type"].(string)
	if _, is := item["role"].(string); is && kind != "message" || strings.HasSuffix(kind, "_call") && item["call_id"] == nil && item["name"] == nil {
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

// qwenCode is what Qwen Code writes: Gemini contents in the records of Claude
// Code.
var qwenCode = logFormat{read: func(r object, n int) []entry {
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
