package provider

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// A History is a history as a client sends it. Words such as w1 are its payload (see Words).
type History struct {
	API  string
	Name string
	// Messages is the list of messages, items or contents.
	Messages string
	// Refusal is the first reason for which the API refuses it, or "" if it is accepted.
	Refusal string
	// Unsafe says that every repair removes recorded content or is a guess, and Strategy which
	// strategy that repair needs, if it is not made without one.
	Unsafe   bool
	Strategy string
}

// Field returns the field of a request with the messages.
func (a *API) Field() string {
	switch a.Name {
	case "openai-responses":
		return "input"
	case "gemini", "gemini-3":
		return "contents"
	}
	return "messages"
}

// Request returns the body of a request with a history.
func (h History) Request() ([]byte, error) {
	a, err := Find(h.API)
	if err != nil {
		return nil, err
	}
	rest := ""
	switch h.API {
	case "anthropic":
		rest = `"model":"claude-haiku-4-5","max_tokens":64,`
	case "openai-chat":
		rest = `"model":"gpt-5.1",`
	case "kimi":
		rest = `"model":"kimi-k2",`
	case "openai-responses":
		rest = `"model":"gpt-5.1","store":false,`
	}
	body := fmt.Appendf(nil, `{%s%q:%s}`, rest, a.Field(), h.Messages)
	if !json.Valid(body) {
		return nil, fmt.Errorf("%s: %s: the messages are not JSON", h.API, h.Name)
	}
	return body, nil
}

// Words returns the payload of a request: the words w1, w2 and so on in its strings, in the order
// of their numbers. Strings that only the API reads are left out.
func Words(body []byte) ([]string, error) {
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			for _, w := range regexp.MustCompile(`\bw\d+\b`).FindAllString(v, -1) {
				seen[w] = true
			}
		case []any:
			for _, e := range v {
				walk(e)
			}
		case object:
			for key, e := range v {
				if key != "signature" && key != "thoughtSignature" {
					walk(e)
				}
			}
		}
	}
	walk(v)
	return slices.SortedFunc(maps.Keys(seen), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	}), nil
}

// signed returns Anthropic messages with signatures that the API accepts.
func signed(messages string) string {
	out, err := Sign([]byte(messages))
	if err != nil {
		panic(err) // the lists below are JSON
	}
	return string(out)
}

// Histories returns histories with each class of fault, and sound ones, of each API.
func Histories() []History {
	var out []History
	for _, list := range [][]History{anthropicHistories(), chatHistories(), responsesHistories(), geminiHistories()} {
		out = append(out, list...)
	}
	return out
}

const (
	noResult   = "messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s. Each `tool_use` block must have a corresponding `tool_result` block in the next message."
	noCall     = "%s: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
	chatOpen   = "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: "
	chatOrphan = "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
	gemCount   = "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn."
)

func anthropicHistories() []History {
	const (
		ask   = `{"role":"user","content":"w1 question"}`
		callA = `{"type":"tool_use","id":"toolu_a","name":"read","input":{"path":"w2"}}`
		callB = `{"type":"tool_use","id":"toolu_b","name":"read","input":{"path":"w3"}}`
		a     = `{"type":"tool_result","tool_use_id":"toolu_a","content":"w4 output"}`
		b     = `{"type":"tool_result","tool_use_id":"toolu_b","content":[{"type":"text","text":"w5 output"}]}`
		think = `{"type":"thinking","thinking":"w6 thought","signature":""}`
		next  = `{"role":"user","content":"w7 next"}`
		said  = `{"role":"assistant","content":"w8 said"}`
	)
	turn := func(blocks ...string) string {
		return `{"role":"assistant","content":[` + strings.Join(blocks, ",") + `]}`
	}
	user := func(blocks ...string) string { return `{"role":"user","content":[` + strings.Join(blocks, ",") + `]}` }
	of := func(messages ...string) string { return "[" + strings.Join(messages, ",") + "]" }
	note := func(text string) string { return fmt.Sprintf(`{"type":"text","text":%q}`, text) }
	const api = "anthropic"
	return []History{
		{API: api, Name: "sound: one call", Messages: of(ask, turn(note("w9"), callA), user(a), said, next)},
		{API: api, Name: "sound: parallel calls, results in another order, text behind", Messages: of(ask, turn(callA, callB), user(b, a, note("w9 also")))},
		{API: api, Name: "sound: signed reasoning", Messages: signed(of(ask, turn(think, callA, callB), user(a, b)))},
		{API: api, Name: "sound: a tool of the server", Messages: of(ask, turn(
			`{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"w2"}}`,
			`{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","url":"https://example.org/w3","title":"w4","encrypted_content":"w5=="}]}`,
			note("w6")), next)},
		{API: api, Name: "sound: images, errors, empty results, escapes", Messages: of(
			user(note("w1 \u2028 <b> & é 😀 \\u0000"), `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}`),
			turn(callA, callB), user(`{"type":"tool_result","tool_use_id":"toolu_a","is_error":true,"content":"w4"}`, `{"type":"tool_result","tool_use_id":"toolu_b"}`))},

		{API: api, Name: "a call without a result", Messages: of(ask, turn(note("w9"), callA), next), Refusal: fmt.Sprintf(noResult, 1, "toolu_a")},
		{API: api, Name: "a call without a result at the end", Messages: of(ask, turn(callA), user(a), turn(callB)), Refusal: fmt.Sprintf(noResult, 3, "toolu_b")},
		{API: api, Name: "parallel calls, one result", Messages: of(ask, turn(callA, callB), user(b, note("w9"))), Refusal: fmt.Sprintf(noResult, 1, "toolu_a")},
		{API: api, Name: "parallel calls, no result", Messages: of(ask, turn(callA, callB), next, said, next), Refusal: fmt.Sprintf(noResult, 1, "toolu_a, toolu_b")},
		{API: api, Name: "a result without a call at the beginning", Messages: of(user(a), said, next), Refusal: fmt.Sprintf(noCall, "messages.0.content.0", "toolu_a")},
		{API: api, Name: "a result without a call", Messages: of(ask, turn(callB), user(b, a), said, next), Refusal: fmt.Sprintf(noCall, "messages.2.content.1", "toolu_a")},
		{API: api, Name: "a result twice", Messages: of(ask, turn(callA), user(a, a), said, next), Refusal: "messages.2.content.1: each tool_use must have a single result. Found multiple `tool_result` blocks with id: toolu_a"},
		{API: api, Name: "a result twice, in two turns", Messages: of(ask, turn(callA), user(a), said, user(a)), Refusal: fmt.Sprintf(noCall, "messages.4.content.0", "toolu_a")},
		{API: api, Name: "two results that differ", Messages: of(ask, turn(callA), user(a, `{"type":"tool_result","tool_use_id":"toolu_a","content":"w9 other"}`), said, next), Refusal: "messages.2.content.1: each tool_use must have a single result. Found multiple `tool_result` blocks with id: toolu_a", Unsafe: true},
		{API: api, Name: "a result in a later turn", Messages: of(ask, turn(callA), next, said, user(a)), Refusal: fmt.Sprintf(noResult, 1, "toolu_a")},
		{API: api, Name: "a result before its call", Messages: of(ask, said, user(a), turn(callA), next), Refusal: fmt.Sprintf(noCall, "messages.2.content.0", "toolu_a")},
		{API: api, Name: "text before a result", Messages: of(ask, turn(callA), user(note("w9 wait"), a)), Refusal: fmt.Sprintf(noResult, 1, "toolu_a")},
		{API: api, Name: "a message between a call and its result", Messages: of(ask, turn(callA), next, user(a)), Refusal: fmt.Sprintf(noResult, 1, "toolu_a")},
		{API: api, Name: "an id twice in a message", Messages: of(ask, turn(callA, `{"type":"tool_use","id":"toolu_a","name":"list","input":{"path":"w3"}}`), user(a, `{"type":"tool_result","tool_use_id":"toolu_a","content":"w5"}`)), Refusal: "messages.1.content.1: `tool_use` ids must be unique"},
		{API: api, Name: "an empty id", Messages: of(ask, turn(`{"type":"tool_use","id":"","name":"read","input":{"path":"w2"}}`), user(`{"type":"tool_result","tool_use_id":"","content":"w4"}`)), Refusal: "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"},
		{API: api, Name: "ids of another provider", Messages: of(ask, turn(`{"type":"tool_use","id":"functions.read:0","name":"read","input":{"path":"w2"}}`), user(`{"type":"tool_result","tool_use_id":"functions.read:0","content":"w4"}`)), Refusal: "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"},
		{API: api, Name: "ids of another provider, a result without a call", Messages: of(ask, turn(`{"type":"tool_use","id":"functions.read:0","name":"read","input":{"path":"w2"}}`), user(`{"type":"tool_result","tool_use_id":"functions.read:0","content":"w4"}`, b), said, next), Refusal: "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"},
		{API: api, Name: "arguments that are a string", Messages: of(ask, turn(`{"type":"tool_use","id":"toolu_a","name":"read","input":"{\"path\":\"w2\"}"}`), user(a)), Refusal: "messages.1.content.0.tool_use.input: Input should be a valid dictionary"},
		{API: api, Name: "empty text", Messages: of(ask, turn(note(""), callA), user(a)), Refusal: "messages: text content blocks must be non-empty"},
		{API: api, Name: "an empty message", Messages: of(ask, `{"role":"assistant","content":[]}`, next), Refusal: "messages.1: all messages must have non-empty content except for the optional final assistant message"},
		{API: api, Name: "too many cache markers", Messages: of(user(strings.Repeat(`{"type":"text","text":"w1","cache_control":{"type":"ephemeral"}},`, 4) + `{"type":"text","text":"w2","cache_control":{"type":"ephemeral"}}`)), Refusal: "A maximum of 4 blocks with cache_control may be provided. Found 5."},
		{API: api, Name: "signed reasoning, parallel calls, one result", Messages: signed(of(ask, turn(think, callA, callB), user(a))), Refusal: fmt.Sprintf(noResult, 1, "toolu_b")},
		{API: api, Name: "signed reasoning, a call without a result", Messages: signed(of(ask, turn(think, note("w9"), callA), next)), Refusal: fmt.Sprintf(noResult, 1, "toolu_a")},
		{API: api, Name: "signed reasoning, a result in a later turn", Messages: signed(of(ask, turn(think, callA), next, said, user(a))), Refusal: fmt.Sprintf(noResult, 1, "toolu_a")},
		{API: api, Name: "a result in a message of the model", Messages: of(ask, turn(callA, a), next), Refusal: "messages.1: `tool_result` blocks can only be in `user` messages"},
		{API: api, Name: "an id twice in a message, one result", Messages: of(ask, turn(callA, `{"type":"tool_use","id":"toolu_a","name":"list","input":{"path":"w3"}}`), user(a), said, next), Refusal: "messages.1.content.1: `tool_use` ids must be unique", Unsafe: true},
		{API: api, Name: "many faults", Messages: of(user(note("w12"), a, b), said, user(note("w10"), note("")), turn(callA), user(note("w11"), a, a), turn(callB), `{"role":"assistant","content":[]}`, next), Refusal: "messages: text content blocks must be non-empty"},
		{API: api, Name: "a tool of the server without a result", Messages: of(ask, turn(`{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"w2"}}`, note("w3")), next), Refusal: "messages.1: `web_search` tool use with id `srvtoolu_1` was found without a corresponding `web_search_tool_result` block", Unsafe: true},
	}
}

func chatHistories() []History {
	const (
		ask   = `{"role":"user","content":"w1 question"}`
		callA = `{"id":"call_a","type":"function","function":{"name":"read","arguments":"{\"path\":\"w2\"}"}}`
		callB = `{"id":"call_b","type":"function","function":{"name":"read","arguments":"{\"path\":\"w3\"}"}}`
		a     = `{"role":"tool","tool_call_id":"call_a","content":"w4 output"}`
		b     = `{"role":"tool","tool_call_id":"call_b","content":[{"type":"text","text":"w5 output"}]}`
		next  = `{"role":"user","content":"w7 next"}`
		said  = `{"role":"assistant","content":"w8 said"}`
	)
	turn := func(calls ...string) string {
		return `{"role":"assistant","content":null,"tool_calls":[` + strings.Join(calls, ",") + `]}`
	}
	of := func(messages ...string) string { return "[" + strings.Join(messages, ",") + "]" }
	long := "call_" + strings.Repeat("x", 70)
	const api = "openai-chat"
	return []History{
		{API: api, Name: "sound: one call", Messages: of(`{"role":"developer","content":"w9"}`, ask, turn(callA), a, said, next)},
		{API: api, Name: "sound: parallel calls, results in another order", Messages: of(ask, turn(callA, callB), b, a, next)},
		{API: api, Name: "sound: the same id in two turns", Messages: of(ask, turn(callA), a, said, next, turn(callA), `{"role":"tool","tool_call_id":"call_a","content":"w9"}`)},

		{API: api, Name: "a call without a result", Messages: of(ask, turn(callA), next), Refusal: chatOpen + "call_a"},
		{API: api, Name: "a call without a result at the end", Messages: of(ask, turn(callA), a, turn(callB)), Refusal: chatOpen + "call_b"},
		{API: api, Name: "parallel calls, one result", Messages: of(ask, turn(callA, callB), b, next), Refusal: chatOpen + "call_a"},
		{API: api, Name: "parallel calls, no result", Messages: of(ask, turn(callA, callB), said, next), Refusal: chatOpen + "call_a, call_b"},
		{API: api, Name: "a result without a call at the beginning", Messages: of(a, said, next), Refusal: chatOrphan},
		{API: api, Name: "a result without a call", Messages: of(ask, turn(callB), b, a, next), Refusal: "Invalid parameter: 'tool_call_id' of 'call_a' not found in 'tool_calls' of previous message."},
		{API: api, Name: "a result twice", Messages: of(ask, turn(callA), a, a, next), Refusal: "Invalid parameter: Duplicate value for 'tool_call_id' of 'call_a', in messages[2] and messages[3]."},
		{API: api, Name: "two results that differ", Messages: of(ask, turn(callA), a, `{"role":"tool","tool_call_id":"call_a","content":"w9 other"}`, next), Refusal: "Invalid parameter: Duplicate value for 'tool_call_id' of 'call_a', in messages[2] and messages[3].", Unsafe: true},
		{API: api, Name: "a result in a later turn", Messages: of(ask, turn(callA), next, said, a), Refusal: chatOpen + "call_a"},
		{API: api, Name: "a result before its call", Messages: of(ask, a, turn(callA), next), Refusal: chatOrphan},
		{API: api, Name: "a message between a call and its result", Messages: of(ask, turn(callA, callB), a, `{"role":"developer","content":"w9 hook"}`, b), Refusal: chatOpen + "call_b"},
		{API: api, Name: "a result without an id", Messages: of(ask, turn(callA), `{"role":"tool","content":"w4 output"}`, next), Refusal: "Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'."},
		{API: api, Name: "empty ids", Messages: of(ask, turn(strings.Replace(callA, "call_a", "", 1), strings.Replace(callB, "call_b", "", 1)), strings.Replace(a, "call_a", "", 1), strings.Replace(b, "call_b", "", 1)), Refusal: "Invalid 'messages[1].tool_calls[0].id': empty string. Expected a string with minimum length 1, but got an empty string instead."},
		{API: api, Name: "a long id", Messages: of(ask, turn(strings.Replace(callA, "call_a", long, 1)), strings.Replace(a, "call_a", long, 1)), Refusal: "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 64, but got a string with length 75 instead."},
		{API: api, Name: "a long id, a result without a call", Messages: of(b, ask, turn(strings.Replace(callA, "call_a", long, 1)), strings.Replace(a, "call_a", long, 1)), Refusal: "Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 64, but got a string with length 75 instead."},
		{API: api, Name: "an empty list of calls", Messages: of(ask, `{"role":"assistant","content":"w8","tool_calls":[]}`, next), Refusal: "Invalid 'messages[1].tool_calls': empty array. Expected an array with minimum length 1, but got an empty array instead."},
		{API: api, Name: "arguments that are an object", Messages: of(ask, turn(`{"id":"call_a","type":"function","function":{"name":"read","arguments":{"path":"w2"}}}`), a), Refusal: "Invalid type for 'messages[1].tool_calls[0].function.arguments': expected a string, but got an object instead."},
		{API: api, Name: "a result that is null", Messages: of(ask, turn(callA), `{"role":"tool","tool_call_id":"call_a","content":null}`, next), Refusal: "Invalid value for 'content': expected a string, got null."},
		{API: api, Name: "a call without a type", Messages: of(ask, turn(`{"id":"call_a","function":{"name":"read","arguments":"{\"path\":\"w2\"}"}}`), a), Refusal: "Missing required parameter: 'messages[1].tool_calls[0].type'."},
		{API: api, Name: "a function message without a name", Messages: of(ask, `{"role":"assistant","content":null,"function_call":{"name":"read","arguments":"{\"path\":\"w2\"}"}}`, `{"role":"function","content":"w4"}`, next), Refusal: "Missing parameter 'name': messages with role 'function' must have a 'name'."},
		{API: api, Name: "a message with nothing", Messages: of(ask, `{"role":"assistant","content":null}`, next), Refusal: "Invalid value for 'content': expected a string, got null."},
		{API: api, Name: "many faults", Messages: of(a, b, said, next, turn(callA, callB), next, b, b, `{"role":"assistant","content":"w9","tool_calls":[]}`, `{"role":"user","content":"w10"}`, turn(strings.Replace(callB, "call_b", "call_c", 1))), Refusal: "Invalid 'messages[8].tool_calls': empty array. Expected an array with minimum length 1, but got an empty array instead."},
		{API: "kimi", Name: "sound: the same id in two turns", Messages: of(ask, turn(callA), a, said, next, turn(callA), `{"role":"tool","tool_call_id":"call_a","content":"w9"}`)},
		{API: "kimi", Name: "an id twice in a message", Messages: of(ask, turn(callA, strings.Replace(callB, "call_b", "call_a", 1)), a, strings.Replace(b, "call_b", "call_a", 1)), Refusal: "tool call id call_a is duplicated"},
	}
}

func responsesHistories() []History {
	const (
		ask   = `{"type":"message","role":"user","content":"w1 question"}`
		callA = `{"type":"function_call","call_id":"call_a","name":"read","arguments":"{\"path\":\"w2\"}"}`
		callB = `{"type":"function_call","call_id":"call_b","name":"read","arguments":"{\"path\":\"w3\"}"}`
		a     = `{"type":"function_call_output","call_id":"call_a","output":"w4 output"}`
		b     = `{"type":"function_call_output","call_id":"call_b","output":[{"type":"input_text","text":"w5 output"}]}`
		edit  = `{"type":"custom_tool_call","call_id":"call_c","name":"patch","input":"w10 patch"}`
		done  = `{"type":"custom_tool_call_output","call_id":"call_c","output":"w11 output"}`
		think = `{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"w6 thought"}],"encrypted_content":"w12="}`
		after = `{"type":"function_call","id":"fc_after_1","call_id":"call_a","name":"read","arguments":"{\"path\":\"w2\"}"}`
		next  = `{"role":"user","content":"w7 next"}`
	)
	of := func(items ...string) string { return "[" + strings.Join(items, ",") + "]" }
	long := "call_" + strings.Repeat("x", 70)
	const api = "openai-responses"
	return []History{
		{API: api, Name: "sound: one call", Messages: of(ask, callA, a, next)},
		{API: api, Name: "sound: parallel calls, outputs later and in another order", Messages: of(ask, callA, callB, edit, next, b, done, a)},
		{API: api, Name: "sound: encrypted reasoning", Messages: of(ask, think, after, a, next)},
		{API: api, Name: "sound: tools of the server", Messages: of(ask, `{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"w2"}}`, `{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"w3","annotations":[]}]}`, next)},

		{API: api, Name: "a call without an output", Messages: of(ask, callA, next), Refusal: "No tool output found for function call call_a."},
		{API: api, Name: "a call without an output at the end", Messages: of(ask, callA, a, callB), Refusal: "No tool output found for function call call_b."},
		{API: api, Name: "parallel calls, one output", Messages: of(ask, callA, callB, b, next), Refusal: "No tool output found for function call call_a."},
		{API: api, Name: "a custom call without an output", Messages: of(ask, edit, next), Refusal: "No tool output found for custom tool call call_c."},
		{API: api, Name: "an output without a call at the beginning", Messages: of(a, next), Refusal: "No tool call found for function call output with call_id call_a."},
		{API: api, Name: "an output without a call", Messages: of(ask, callB, b, a, next), Refusal: "No tool call found for function call output with call_id call_a."},
		{API: api, Name: "an output twice", Messages: of(ask, callA, a, a, next), Refusal: "No tool call found for function call output with call_id call_a."},
		{API: api, Name: "an output of another kind", Messages: of(ask, callA, `{"type":"custom_tool_call_output","call_id":"call_a","output":"w4 output"}`, next), Refusal: "No tool call found for custom tool call output with call_id call_a."},
		{API: api, Name: "an id that is a call_id", Messages: of(ask, `{"type":"function_call","id":"call_a","call_id":"call_a","name":"read","arguments":"{\"path\":\"w2\"}"}`, a), Refusal: "Invalid 'input[1].id': 'call_a'. Expected an ID that begins with 'fc'."},
		{API: api, Name: "an id that is a call_id, an output without a call", Messages: of(b, ask, `{"type":"function_call","id":"call_a","call_id":"call_a","name":"read","arguments":"{\"path\":\"w2\"}"}`, a), Refusal: "Invalid 'input[2].id': 'call_a'. Expected an ID that begins with 'fc'."},
		{API: api, Name: "a long call_id", Messages: of(ask, strings.Replace(callA, "call_a", long, 1), strings.Replace(a, "call_a", long, 1)), Refusal: "Invalid 'input[1].call_id': string too long. Expected a string with maximum length 64, but got a string with length 75 instead."},
		{API: api, Name: "an empty call_id", Messages: of(ask, strings.Replace(callA, "call_a", "", 1), strings.Replace(a, "call_a", "", 1)), Refusal: "Invalid 'input[1].call_id': empty string. Expected a string with minimum length 1, but got an empty string instead."},
		{API: api, Name: "items without a call_id", Messages: of(ask, strings.Replace(callA, `"call_id":"call_a",`, "", 1), strings.Replace(a, `"call_id":"call_a",`, "", 1), next), Refusal: "Missing required parameter: 'input[1].call_id'."},
		{API: api, Name: "an item twice", Messages: of(ask, think, after, think, after, a), Refusal: "Duplicate item found with id rs_1. Remove duplicate items from your input and try again."},
		{API: api, Name: "encrypted reasoning, a call without an output", Messages: of(ask, think, after, next), Refusal: "No tool output found for function call call_a."},
		{API: api, Name: "encrypted reasoning, parallel calls, one output", Messages: of(ask, think, after, callB, a, next), Refusal: "No tool output found for function call call_b."},
		{API: api, Name: "many faults", Messages: of(b, ask, think, after, edit, done, done, next, callB), Refusal: "No tool call found for custom tool call output with call_id call_c."},
		{API: api, Name: "reasoning without its item", Messages: of(ask, think, next), Refusal: "Item 'rs_1' of type 'reasoning' was provided without its required following item.", Unsafe: true},
	}
}

func geminiHistories() []History {
	const (
		ask   = `{"role":"user","parts":[{"text":"w1 question"}]}`
		callA = `{"functionCall":{"name":"read","args":{"path":"w2"}}}`
		callB = `{"functionCall":{"id":"b","name":"list","args":{"path":"w3"}}}`
		a     = `{"functionResponse":{"name":"read","response":{"output":"w4"}}}`
		b     = `{"functionResponse":{"id":"b","name":"list","response":{"output":"w5"}}}`
		step  = `{"functionCall":{"name":"read","args":{"path":"w2"}},"thoughtSignature":"dzY="}`
		next  = `{"role":"user","parts":[{"text":"w7 next"}]}`
		said  = `{"role":"model","parts":[{"text":"w8 said"}]}`
	)
	turn := func(parts ...string) string { return `{"role":"model","parts":[` + strings.Join(parts, ",") + `]}` }
	user := func(parts ...string) string { return `{"role":"user","parts":[` + strings.Join(parts, ",") + `]}` }
	of := func(contents ...string) string { return "[" + strings.Join(contents, ",") + "]" }
	const api, api3 = "gemini", "gemini-3"
	return []History{
		{API: api, Name: "sound: one call", Messages: of(ask, turn(callA), user(a), said, next)},
		{API: api, Name: "sound: parallel calls", Messages: of(ask, turn(callA, callB), user(a, b))},
		{API: api3, Name: "sound: signed steps", Messages: of(ask, turn(step, callB), user(a, b))},

		{API: api, Name: "a call without a response", Messages: of(ask, turn(callA), next), Refusal: gemCount},
		{API: api, Name: "a call without a response at the end", Messages: of(ask, turn(callA), user(a), turn(callB)), Refusal: gemCount},
		{API: api, Name: "parallel calls, one response", Messages: of(ask, turn(callA, callB), user(b), said, next), Refusal: gemCount},
		{API: api, Name: "a response without a call at the beginning", Messages: of(user(a), said, next), Refusal: "Please ensure that function response turn comes immediately after a function call turn."},
		{API: api, Name: "a response without a call", Messages: of(ask, turn(callB), user(b, a), said, next), Refusal: gemCount},
		{API: api, Name: "a response twice", Messages: of(ask, turn(callB), user(b, b), said, next), Refusal: gemCount},
		{API: api, Name: "a response in a later turn", Messages: of(ask, turn(callB), next, said, user(b)), Refusal: gemCount},
		{API: api, Name: "a content between a call and its response", Messages: of(ask, turn(callB), next, user(b)), Refusal: gemCount},
		{API: api, Name: "a call at the beginning", Messages: of(turn(callA), user(a), said, next), Refusal: "Please ensure that function call turn comes immediately after a user turn or after a function response turn.", Unsafe: true, Strategy: "first-role=drop"},
		{API: api, Name: "a response without a name", Messages: of(ask, turn(callA), user(`{"functionResponse":{"name":"","response":{"output":"w4"}}}`)), Refusal: "* GenerateContentRequest.contents[2].parts[0].function_response.name: Name cannot be empty.\n"},
		{API: api, Name: "an empty part", Messages: of(ask, turn(`{}`, callA), user(a)), Refusal: "* GenerateContentRequest.contents[1].parts[0].data: required oneof field 'data' must have one initialized field\n"},
		{API: api, Name: "the role of another provider", Messages: of(ask, `{"role":"assistant","parts":[`+callA+`]}`, user(a), said, next), Refusal: "Please use a valid role: user, model."},
		{API: api, Name: "the role of another provider, a response without a call", Messages: of(user(b), ask, `{"role":"assistant","parts":[`+callA+`]}`, user(a), said, next), Refusal: "Please use a valid role: user, model."},
		{API: api, Name: "a response that is a string", Messages: of(ask, turn(callA), user(`{"functionResponse":{"name":"read","response":"w4"}}`)), Refusal: "Invalid value at 'contents[2].parts[0].function_response.response' (type.googleapis.com/google.protobuf.Struct)"},
		{API: api, Name: "many faults", Messages: of(user(a), said, next, turn(callA, callB), user(b, b), turn(callA), next, turn(callB)), Refusal: "Please ensure that function response turn comes immediately after a function call turn."},
		{API: api3, Name: "signed steps, a call without a response", Messages: of(ask, turn(step, callB), user(a), said, next), Refusal: gemCount},
		{API: api3, Name: "a step without its signature", Messages: of(ask, turn(callA), user(a)), Refusal: "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:read` , position 1."},
	}
}
