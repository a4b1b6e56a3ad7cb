package engine

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// This file says why an API would reject a history, independently of the code under test. It
// is written from what is known of the APIs, and accepts everything else.

type object = map[string]any

var (
	wordDash  = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
	nameOK    = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	nineOf    = regexp.MustCompile(`^[A-Za-z0-9]{9}$`)
	anyText   = regexp.MustCompile(``)
	atMost64  = regexp.MustCompile(`^(?s:.{1,64})$`)
	narrow64  = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	serverIDs = regexp.MustCompile(`^srvtoolu_[A-Za-z0-9_]*$`)
	noServers = regexp.MustCompile(`^srvtoolu_`)
)

// idOK reports whether an id is a text that every API accepts.
func idOK(v any) (string, bool) {
	s, ok := v.(string)
	return s, ok && s != "" && s != "null" && strings.TrimSpace(s) == s && strings.IndexFunc(s, unicode.IsControl) < 0
}

// proper reports whether a value is a valid tool name.
func proper(v any) (string, bool) {
	s, ok := v.(string)
	return s, ok && strings.TrimSpace(s) == s && s != ""
}

func blank(v any) bool {
	s, ok := v.(string)
	return ok && strings.TrimSpace(s) == ""
}

func list(v any) []any                      { l, _ := v.([]any); return l }
func member(v any) object                   { o, _ := v.(object); return o }
func among[T comparable](v T, of ...T) bool { return slices.Contains(of, v) }

// hollow reports whether a value is empty: null, "" or [].
func hollow(v any) bool {
	l, is := v.([]any)
	return v == nil || v == "" || is && len(l) == 0
}

// endsBlank reports whether a text ends in white space, but is not blank.
func endsBlank(v any) bool {
	s, ok := v.(string)
	return ok && strings.TrimSpace(s) != "" && strings.TrimRightFunc(s, unicode.IsSpace) != s
}

// An open set holds the ids of unanswered calls.
type open map[string]bool

func (o open) missing() string {
	for id, waits := range o {
		if waits {
			return "no result for " + id
		}
	}
	return ""
}

// answer notes a result, and returns its fault.
func (o open) answer(id string) string {
	if !o[id] {
		return "a result of no call, or the second one"
	}
	o[id] = false
	return ""
}

// A chatAPI holds the differences between chat APIs.
type chatAPI struct {
	role        string   // the member that says who speaks
	roles       []string // nil where others are not known to be refused
	user, model string
	id, name    *regexp.Regexp
	// strict marks OpenAI's own API, which checks types of calls, arguments and contents.
	strict bool
	// called says that an assistant message needs content or calls.
	called bool
	// inputs says that arguments are an object, noIDs that calls have no ids.
	inputs, noIDs bool
	// speak says that the assistant must speak between tool and user, and not at the end.
	speak bool
}

// takes says why a chat API would reject a history.
func (api *chatAPI) takes(history []object) string {
	var messages []object
	for _, m := range history {
		if m = unpacked(m); api.roles != nil || m[api.role] != nil && m[api.role] != "" && len(has(m, []string{"content", "tool_calls", "tool_call_id"})) > 0 {
			messages = append(messages, m)
		}
	}
	history = messages
	for i := 0; i < len(history); i++ {
		m := history[i]
		role, _ := m[api.role].(string)
		calls, listed := m["tool_calls"].([]any)
		switch {
		case api.roles != nil && !among(role, api.roles...):
			return "role " + fmt.Sprint(m[api.role])
		case role == "tool":
			return "a result of no call"
		case api.strict && listed && len(calls) == 0:
			return "an empty list of calls"
		case role != api.model && len(calls) > 0:
			return "calls of the " + role
		case (api.strict || api.called) && m["content"] == nil && len(calls) == 0:
			return "no content"
		}
		waits, n := open{}, 0
		for _, c := range calls {
			call := member(c)
			f := call
			if fn, nested := call["function"].(object); nested || api.role == "role" {
				f = fn
			}
			id, ok := idOK(call["id"])
			name, named := proper(f["name"])
			args, has := f["arguments"]
			if api.role != "role" {
				args, has = f["args"]
			}
			_, text := args.(string)
			_, input := args.(object)
			switch {
			case !api.noIDs && (!ok || !api.id.MatchString(id)):
				return "the id of a call"
			case !api.noIDs && waits[id]:
				return "an id twice"
			case api.strict && call["type"] == nil:
				return "no type"
			case api.name != nil && (!named || !api.name.MatchString(name)):
				return "the name of a call"
			case api.strict && !text:
				return "arguments"
			case api.inputs && has && !input:
				return "arguments"
			}
			waits[id] = true
			n++
		}
		after := false
		for i+1 < len(history) && history[i+1][api.role] == "tool" {
			i++
			after = true
			r := history[i]
			if len(list(r["tool_calls"])) > 0 {
				return "calls of a tool"
			}
			if api.noIDs {
				if n--; n < 0 {
					return "a result of no call"
				}
				continue
			}
			id, ok := idOK(r["tool_call_id"])
			if !ok || !api.id.MatchString(id) {
				return "the id of a result"
			}
			if why := waits.answer(id); why != "" {
				return why
			}
			switch r["content"].(type) {
			case string, []any:
			default:
				if api.strict {
					return "the content of a result"
				}
			}
		}
		switch {
		case api.noIDs && n > 0:
			return "a call without a result"
		case !api.noIDs && waits.missing() != "":
			return waits.missing()
		case api.speak && after && i+1 < len(history) && history[i+1][api.role] == api.user:
			return "the user behind a tool"
		}
	}
	if n := len(history); api.speak && n > 0 && history[n-1][api.role] == api.model {
		return "the assistant at the end"
	}
	return ""
}

// unpacked returns a LangChain message without its wrapper.
func unpacked(m object) object {
	data, stored := m["data"].(object)
	kwargs, made := m["kwargs"].(object)
	switch {
	case stored:
		data = copied(data)
		data["type"] = m["type"]
		return data
	case made:
		id := list(m["id"])
		out := copied(kwargs)
		delete(out, "type")
		if len(id) > 0 {
			out["type"] = map[any]any{"HumanMessage": "human", "AIMessage": "ai", "ToolMessage": "tool", "SystemMessage": "system"}[id[len(id)-1]]
		}
		return out
	}
	return m
}

var (
	openAIChat    = chatAPI{role: "role", user: "user", model: "assistant", roles: []string{"system", "developer", "user", "assistant", "tool", "function"}, id: atMost64, name: nameOK, strict: true}
	mistralChat   = chatAPI{role: "role", user: "user", model: "assistant", roles: []string{"system", "user", "assistant", "tool"}, id: nineOf, name: nameOK, called: true, speak: true}
	cohereChat    = chatAPI{role: "role", user: "user", model: "assistant", roles: []string{"system", "user", "assistant", "tool"}, id: anyText}
	ollamaChat    = chatAPI{role: "role", user: "user", model: "assistant", roles: []string{"system", "user", "assistant", "tool"}, noIDs: true, inputs: true}
	langChainChat = chatAPI{role: "type", user: "human", model: "ai", id: anyText}
)

// messagesTake says why Anthropic's API would reject a history.
func messagesTake(history []object) string {
	waits := open{} // the ids that the user's next messages answer
	begun := false  // they have said something else
	alone := false  // they may say nothing else: a tool of the server's is open
	marks := 0
	last := len(history) - 1
	for i, m := range history {
		content := m["content"]
		blocks, listed := content.([]any)
		user := m["role"] == "user"
		if !user && m["role"] != "assistant" {
			return fmt.Sprint("role ", m["role"])
		}
		// Successive messages of one role are merged.
		if !user && (i == 0 || history[i-1]["role"] != "assistant") {
			if why := waits.missing(); why != "" {
				return why
			}
			waits, begun, alone = open{}, false, false
		}
		switch empty := content == "" || listed && len(blocks) == 0; {
		case empty && !user && i == last:
			continue
		case empty, content == nil, blank(content):
			return "empty content"
		}
		_, text := content.(string)
		begun = begun || text && user
		servers := map[string]int{} // what the server runs, by id
		results, others, calls, hard, behind := 0, 0, 0, false, false
		for _, b := range blocks {
			block := member(b)
			typ, _ := block["type"].(string)
			if block["cache_control"] != nil {
				if marks++; marks > 4 {
					return "marks for the cache"
				}
			}
			id, ok := idOK(block["id"])
			_, input := block["input"].(object)
			switch served := strings.HasSuffix(typ, "_tool_result") && typ != "tool_result"; {
			case typ == "tool_use":
				name, named := proper(block["name"])
				switch {
				case user:
					return "a call of the user"
				case !ok || !wordDash.MatchString(id) || noServers.MatchString(id):
					return "the id of a call"
				case waits[id]:
					return "an id twice"
				case !named || len(name) > 200:
					return "the name of a call"
				case !input:
					return "input"
				}
				waits[id] = true
				calls++
			case typ == "tool_result":
				id, ok := idOK(block["tool_use_id"])
				switch {
				case !user:
					return "a result of the assistant"
				case !ok || !wordDash.MatchString(id):
					return "the id of a result"
				case begun:
					return "something stands before a result"
				}
				if why := waits.answer(id); why != "" {
					return why
				}
				if c, has := block["content"]; has {
					switch c.(type) {
					case string, []any:
					default:
						return "the content of a result"
					}
				}
				results++
			case typ == "server_tool_use" || typ == "mcp_tool_use":
				switch {
				case user:
					return "a server's call of the user"
				case typ == "server_tool_use" && (!ok || !serverIDs.MatchString(id)):
					return "the id of a server's call"
				case !input:
					return "input"
				}
				servers[id]++
				hard, behind = true, behind || calls > 0
			case served:
				id, _ := block["tool_use_id"].(string)
				if servers[id]--; user || servers[id] < 0 {
					return "a server's result of no call"
				}
				hard = true
			default:
				others++
				begun = begun || user
				hard, behind = hard || typ == "thinking" || typ == "redacted_thinking", behind || calls > 0
				if typ == "text" && blank(block["text"]) {
					return "blank text"
				}
			}
		}
		switch {
		case user && alone && results > 0 && others > 0:
			return "more than results while a server's tool is open"
		case !user && hard && behind:
			return "something stands behind a call"
		}
		for _, n := range servers {
			alone = alone || n > 0
			if n > 0 && calls == 0 && i < last {
				return "a server's call without a result"
			}
		}
	}
	if why := waits.missing(); why != "" {
		return why
	}
	if last >= 0 && history[last]["role"] == "assistant" {
		said := history[last]["content"]
		if blocks := list(said); len(blocks) > 0 {
			said = nil
			if b := member(blocks[len(blocks)-1]); b["type"] == "text" {
				said = b["text"]
			}
		}
		if endsBlank(said) {
			return "white space at the end"
		}
	}
	return ""
}

// A converse holds the differences between models behind Bedrock's Converse API.
type converse struct {
	claude bool
}

// callsNothing reports whether blocks hold no call.
func callsNothing(blocks []any) bool {
	return !slices.ContainsFunc(blocks, func(b any) bool { return member(b)["toolUse"] != nil })
}

// takes says why the Converse API would reject a history.
func (api converse) takes(history []object) string {
	waits := open{}
	last := len(history) - 1
	for i, m := range history {
		user := m["role"] == "user"
		blocks, _ := m["content"].([]any)
		switch {
		case !user && m["role"] != "assistant":
			return fmt.Sprint("role ", m["role"])
		case i == 0 && !user && !(api.claude && callsNothing(blocks)): // recorded
			return "the assistant begins"
		case i > 0 && m["role"] == history[i-1]["role"]:
			return "roles in a row"
		case hollow(m["content"]):
			return "empty content"
		}
		results, others := 0, 0
		for _, b := range blocks {
			block := member(b)
			if len(block) == 0 {
				return "a block that is nothing"
			}
			use, called := block["toolUse"].(object)
			result, answered := block["toolResult"].(object)
			switch {
			case called:
				id, ok := idOK(use["toolUseId"])
				name, named := proper(use["name"])
				input, has := use["input"]
				_, fits := input.(object)
				switch {
				case user:
					return "a call of the user"
				case !ok || !narrow64.MatchString(id):
					return "the id of a call"
				case waits[id]:
					return "an id twice"
				case !named || !nameOK.MatchString(name):
					return "the name of a call"
				case !has || api.claude && !fits:
					return "input"
				}
				waits[id] = true
			case answered:
				id, ok := idOK(result["toolUseId"])
				switch {
				case !user:
					return "a result of the assistant"
				case !ok || !narrow64.MatchString(id):
					return "the id of a result"
				case others > 0:
					return "something stands before a result"
				}
				if why := waits.answer(id); why != "" {
					return why
				}
				if _, listed := result["content"].([]any); !listed {
					return "the content of a result"
				}
				results++
			default:
				if text, has := block["text"]; has && blank(text) {
					return "blank text"
				}
				others++
			}
		}
		if user {
			if why := waits.missing(); why != "" {
				return why
			}
			waits = open{}
			if !api.claude && results > 0 && others > 0 {
				return "results beside other content"
			}
		}
	}
	if why := waits.missing(); why != "" {
		return why
	}
	if api.claude && last >= 0 && history[last]["role"] == "assistant" {
		blocks := list(history[last]["content"])
		if len(blocks) > 0 && endsBlank(member(blocks[len(blocks)-1])["text"]) {
			return "white space at the end"
		}
	}
	return ""
}

// contentsTake says why Gemini's API would reject a history.
func contentsTake(history []object) string {
	type said struct{ id, name string }
	var calls, answers []said
	begun := false // the user has said something else
	ids := map[string]bool{}
	for _, m := range history {
		for _, p := range list(m["parts"]) {
			if id, ok := member(member(p)["functionCall"])["id"].(string); ok && id != "" {
				ids[id] = true
			}
		}
	}
	settle := func() string {
		left := calls
		var more []said
		for _, a := range answers {
			k := slices.IndexFunc(left, func(c said) bool { return a.id != "" && c.id == a.id })
			if k < 0 {
				more = append(more, a)
				continue
			}
			left = slices.Delete(slices.Clone(left), k, k+1)
		}
		calls, answers, begun = nil, nil, false
		if len(left) != len(more) {
			return "as many responses as calls"
		}
		slices.SortStableFunc(left, func(a, b said) int { return strings.Compare(a.name, b.name) })
		slices.SortStableFunc(more, func(a, b said) int { return strings.Compare(a.name, b.name) })
		for i := range left {
			if ids[more[i].id] || left[i].id != "" && more[i].id != "" {
				return "a response to no call"
			}
		}
		return ""
	}
	for i, m := range history {
		role, has := m["role"]
		user := !has || role == "user" || role == "function" || role == "tool"
		parts := list(m["parts"])
		switch {
		case !user && role != "model":
			return fmt.Sprint("role ", role)
		case hollow(m["parts"]):
			return "no parts"
		}
		if !user && i > 0 {
			if before, has := history[i-1]["role"]; !has || before != "model" {
				if why := settle(); why != "" {
					return why
				}
			}
		}
		before := len(calls)
		for _, p := range parts {
			part := member(p)
			if len(part) == 0 {
				return "a part that is nothing"
			}
			call, called := part["functionCall"].(object)
			response, answered := part["functionResponse"].(object)
			switch {
			case called:
				id, named := call["id"].(string)
				if call["id"] != nil && !named || strings.TrimSpace(id) != id {
					return "the id of a call"
				}
				name, ok := proper(call["name"])
				args, has := call["args"]
				_, fits := args.(object)
				switch {
				case user:
					return "a call of the user"
				case i == 0:
					return "a call begins"
				case !ok || len(name) > 64:
					return "the name of a call"
				case has && !fits:
					return "args"
				}
				calls = append(calls, said{id, name})
			case answered:
				id, named := response["id"].(string)
				if response["id"] != nil && !named || strings.TrimSpace(id) != id {
					return "the id of a response"
				}
				name, _ := response["name"].(string)
				_, fits := response["response"].(object)
				if !user { // of a tool that the provider runs
					k := slices.IndexFunc(calls[before:], func(c said) bool { return c.id == id && (id != "" || c.name == name) })
					if k < 0 {
						return "a response of the model"
					}
					calls = slices.Delete(calls, before+k, before+k+1)
					continue
				}
				switch {
				case name == "":
					return "the name of a response"
				case !fits:
					return "the response"
				case begun:
					return "something stands before a response"
				}
				answers = append(answers, said{id, name})
			default:
				begun = begun || user
			}
		}
	}
	if why := settle(); why != "" {
		return why
	}
	if n := len(history); n > 0 && history[n-1]["role"] == "model" {
		return "the model at the end"
	}
	return ""
}

// itemsTake says why OpenAI's Responses API would reject a history.
func itemsTake(history []object) string {
	outputs := map[string]string{"function_call": "function_call_output", "custom_tool_call": "custom_tool_call_output"}
	prefixes := map[string]string{"function_call": "fc", "custom_tool_call": "ctc", "reasoning": "rs", "message": "msg"}
	waits := map[string]string{} // by call id: the type of output
	seen := map[string]bool{}
	for i, m := range history {
		typ, _ := m["type"].(string)
		role, _ := m["role"].(string)
		if m["type"] == nil {
			typ = "message"
		}
		id, ok := idOK(m["call_id"])
		ok = ok && atMost64.MatchString(id)
		switch {
		case typ == "message":
			if !among(role, "user", "assistant", "system", "developer") {
				return fmt.Sprint("role ", m["role"])
			}
		case outputs[typ] != "":
			name, named := proper(m["name"])
			args := m["arguments"]
			if typ == "custom_tool_call" {
				args = ""
			}
			_, text := args.(string)
			switch {
			case !ok:
				return "the id of a call"
			case waits[id] != "":
				return "an id twice"
			case !named || len(name) > 64:
				return "the name of a call"
			case !text:
				return "arguments"
			}
			waits[id] = outputs[typ]
		case among(typ, "function_call_output", "custom_tool_call_output"):
			switch {
			case !ok:
				return "the id of a result"
			case waits[id] != typ:
				return "a result of no call, or the second one"
			}
			delete(waits, id)
		}
		_, text := m["content"].(string)
		item, has := m["id"].(string)
		if !has || typ == "message" && !text && len(list(m["content"])) == 0 {
			continue
		}
		if typ == "reasoning" {
			k := i + 1
			for k < len(history) && history[k]["type"] == "reasoning" {
				k++
			}
			if k == len(history) || !(outputs[fmt.Sprint(history[k]["type"])] != "" || history[k]["role"] == "assistant") {
				return "reasoning that leads to nothing"
			}
		}
		if prefix := prefixes[typ]; prefix != "" && (typ != "message" || role == "assistant") && !(strings.HasPrefix(item, prefix) && wordDash.MatchString(item)) {
			return "the id of an item"
		}
		if item != "" && seen[item] {
			return "two items with one id"
		}
		seen[item] = true
	}
	for id := range waits {
		return "no result for " + id
	}
	return ""
}

// partsTake says why the Vercel AI SDK, or the API that it sends to, would reject a history.
func partsTake(history []object) string {
	for i := 0; i < len(history); i++ {
		role, _ := history[i]["role"].(string)
		if !among(role, "system", "user", "assistant", "tool") {
			return "role " + fmt.Sprint(history[i]["role"])
		}
		waits := open{}
		for _, p := range list(history[i]["content"]) {
			part := member(p)
			id, ok := idOK(part["toolCallId"])
			switch part["type"] {
			case "tool-call":
				switch {
				case role != "assistant":
					return "a call of the " + role
				case !ok:
					return "the id of a call"
				case waits[id]:
					return "an id twice"
				}
				waits[id] = true
			case "tool-result":
				return "a result of no call"
			}
		}
		for i+1 < len(history) && history[i+1]["role"] == "tool" {
			i++
			for _, p := range list(history[i]["content"]) {
				part := member(p)
				id, ok := idOK(part["toolCallId"])
				switch {
				case part["type"] == "tool-call":
					return "a call of a tool"
				case part["type"] != "tool-result":
				case !ok:
					return "the id of a result"
				default:
					if why := waits.answer(id); why != "" {
						return why
					}
				}
			}
		}
		if why := waits.missing(); why != "" {
			return why
		}
	}
	return ""
}
