package provider

import (
	"fmt"
	"slices"
	"strings"
)

// chat has the rules of OpenAI's Chat Completions API.
func chat(r object, f *faults) {
	all := list(r["messages"])
	if len(all) == 0 {
		f.at("messages", "empty_array", "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.")
	}
	for i, v := range all {
		chatMessage(f, fmt.Sprintf("messages[%d]", i), fields(v))
	}
	if len(f.list) > 0 {
		return // the order is checked in requests of the right form
	}
	chatOrder(f, all)
}

// chatMessage has the rules about one message.
func chatMessage(f *faults, at string, m object) {
	role := text(m["role"])
	if !slices.Contains([]string{"system", "developer", "user", "assistant", "tool", "function"}, role) {
		f.at(at+".role", "invalid_value", "Invalid value: '%s'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.", role)
	}
	calls, has := m["tool_calls"].([]any)
	if has && len(calls) == 0 {
		f.at(at+".tool_calls", "empty_array", "Invalid '%s.tool_calls': empty array. Expected an array with minimum length 1, but got an empty array instead.", at)
	}
	if m["content"] == nil && (role != "assistant" || !has && m["function_call"] == nil && m["refusal"] == nil) {
		f.at(at+".content", "", "Invalid value for 'content': expected a string, got null.")
	}
	if role == "tool" && text(m["tool_call_id"]) == "" {
		f.at(at+".tool_call_id", "", "Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'.")
	}
	if role == "function" && text(m["name"]) == "" {
		f.at(at+".name", "", "Missing parameter 'name': messages with role 'function' must have a 'name'.")
	}
	for j, v := range calls {
		c, at := fields(v), fmt.Sprintf("%s.tool_calls[%d]", at, j)
		length(f, at+".id", text(c["id"]))
		if text(c["type"]) == "" {
			f.at(at+".type", "missing_required_parameter", "Missing required parameter: '%s.type'.", at)
		}
		if text(c["type"]) == "custom" {
			continue
		}
		function := fields(c["function"])
		if name := text(function["name"]); !wordID.MatchString(name) {
			f.at(at+".function.name", "invalid_value", "Invalid '%s.function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.", at)
		}
		if _, ok := function["arguments"].(string); !ok {
			f.at(at+".function.arguments", "invalid_type", "Invalid type for '%s.function.arguments': expected a string, but got %s instead.", at, kind(function["arguments"]))
		}
	}
}

// length has the rules about the length of an id. Chat Completions was seen to take up to 64
// characters, although 40 are documented.
func length(f *faults, at, id string) {
	switch n := len([]rune(id)); {
	case n == 0:
		f.at(at, "empty_string", "Invalid '%s': empty string. Expected a string with minimum length 1, but got an empty string instead.", at)
	case n > 64:
		f.at(at, "string_above_max_length", "Invalid '%s': string too long. Expected a string with maximum length 64, but got a string with length %d instead.", at, n)
	}
}

// chatOrder has the rules about the order of messages: the tool messages with the results of a
// message are right behind it.
func chatOrder(f *faults, all []any) {
	var ids []string // of the message with calls above the run of tool messages
	run := false
	answered := map[string]int{}
	end := func(i int) {
		var open []string
		for _, id := range ids {
			if _, ok := answered[id]; !ok {
				open = append(open, id)
			}
		}
		if len(open) > 0 {
			f.at(fmt.Sprintf("messages.[%d].role", i), "", "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: %s", strings.Join(open, ", "))
		}
		ids, run = nil, false
		clear(answered)
	}
	for i, v := range all {
		m := fields(v)
		if text(m["role"]) != "tool" {
			end(i)
			for _, c := range list(m["tool_calls"]) {
				ids, run = append(ids, text(fields(c)["id"])), true
			}
			continue
		}
		id := text(m["tool_call_id"])
		first, twice := answered[id]
		switch {
		case !run:
			f.at(fmt.Sprintf("messages.[%d].role", i), "", "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.")
		case !slices.Contains(ids, id):
			f.at(fmt.Sprintf("messages.[%d].tool_call_id", i), "", "Invalid parameter: 'tool_call_id' of '%s' not found in 'tool_calls' of previous message.", id)
		case twice:
			f.at(fmt.Sprintf("messages.[%d].tool_call_id", i), "", "Invalid parameter: Duplicate value for 'tool_call_id' of '%s', in messages[%d] and messages[%d].", id, first, i)
		default:
			answered[id] = i
		}
	}
	end(len(all))
}

// kimi has the rules of Moonshot's API: those of Chat Completions, and the ids of a message differ.
func kimi(r object, f *faults) {
	for _, v := range list(r["messages"]) {
		seen := map[string]bool{}
		for _, c := range list(fields(v)["tool_calls"]) {
			id := text(fields(c)["id"])
			if seen[id] {
				f.add("tool call id %s is duplicated", id)
			}
			seen[id] = true
		}
	}
	chat(r, f)
}

// outputs returns the calls of the Responses API with the items that answer them, and what its
// errors call them.
func outputs() map[string][2]string {
	return map[string][2]string{
		"function_call":    {"function_call_output", "function call"},
		"custom_tool_call": {"custom_tool_call_output", "custom tool call"},
		"local_shell_call": {"local_shell_call_output", "local shell call"},
		"shell_call":       {"shell_call_output", "shell call"},
		"apply_patch_call": {"apply_patch_call_output", "apply patch call"},
		"computer_call":    {"computer_call_output", "computer call"},
	}
}

// responses has the rules of OpenAI's Responses API.
func responses(r object, f *faults) {
	items := list(r["input"])
	if _, ok := r["input"].(string); ok {
		return
	}
	prefixes := map[string]string{"function_call": "fc", "custom_tool_call": "ctc", "message": "msg", "reasoning": "rs"}
	seen := map[string]bool{}
	for i, v := range items {
		item, at := fields(v), fmt.Sprintf("input[%d]", i)
		kind := text(item["type"])
		if kind == "" && item["role"] != nil {
			kind = "message"
		}
		if id, ok := item["id"].(string); ok {
			prefix := prefixes[kind]
			switch {
			case id == "":
				f.at(at+".id", "invalid_value", "Invalid '%s.id': ''. Expected an ID that contains letters, numbers, underscores, or dashes, but this value contained additional characters.", at)
			case !strings.HasPrefix(id, prefix):
				f.at(at+".id", "invalid_value", "Invalid '%s.id': '%s'. Expected an ID that begins with '%s'.", at, id, prefix)
			case seen[id] && kind != "local_shell_call_output": // it has the id of its call
				f.at("input", "", "Duplicate item found with id %s. Remove duplicate items from your input and try again.", id)
			}
			seen[id] = true
		}
		if strings.HasSuffix(kind, "_call") || strings.HasSuffix(kind, "_call_output") {
			if id, ok := item["call_id"].(string); ok {
				length(f, at+".call_id", id)
			} else if _, isCall := outputs()[strings.TrimSuffix(kind, "_output")]; isCall && kind != "local_shell_call_output" {
				f.at(at+".call_id", "missing_required_parameter", "Missing required parameter: '%s.call_id'.", at)
			}
		}
	}
	if len(f.list) > 0 {
		return // the order is checked in requests of the right form
	}
	// A call of a response that the API keeps is not in the request.
	kept := r["previous_response_id"] != nil || r["conversation"] != nil || slices.ContainsFunc(items, func(v any) bool {
		return text(fields(v)["type"]) == "item_reference"
	})
	paired(f, items, kept)
	follows(f, items)
}

// paired has the rule about calls and outputs: one for each, of the kind of the call, wherever
// they are. An output may also answer a call that the API has kept.
func paired(f *faults, items []any, kept bool) {
	open := map[[2]string]int{} // by the type of the output and the call_id
	shells := map[string]string{}
	callID := func(item object) string {
		if id, ok := shells[text(item["id"])]; ok && item["call_id"] == nil {
			return id // the output of a local shell has the id of the item with its call
		}
		return text(item["call_id"])
	}
	for _, v := range items {
		if text(fields(v)["type"]) == "local_shell_call" {
			shells[text(fields(v)["id"])] = text(fields(v)["call_id"])
		}
		if to, ok := outputs()[text(fields(v)["type"])]; ok {
			open[[2]string{to[0], text(fields(v)["call_id"])}]++
		}
	}
	for _, v := range items {
		kind, isOutput := strings.CutSuffix(text(fields(v)["type"]), "_output")
		if _, ok := outputs()[kind]; !ok || !isOutput {
			continue
		}
		key := [2]string{kind + "_output", callID(fields(v))}
		if open[key] == 0 {
			if kept {
				continue
			}
			f.at("input", "", "No tool call found for %s output with call_id %s.", outputs()[kind][1], key[1])
			continue
		}
		open[key]--
	}
	for _, v := range items {
		if to, ok := outputs()[text(fields(v)["type"])]; ok {
			key := [2]string{to[0], text(fields(v)["call_id"])}
			if open[key] > 0 {
				f.at("input", "", "No tool output found for %s %s.", to[1], key[1])
			}
		}
	}
}

// follows has the rules about reasoning: an item of the model is behind each, and an item that
// was made with reasoning is behind it. The API knows which ones were; here, their ids say so: that
// of an item behind rs_1 is fc_after_1.
func follows(f *faults, items []any) {
	made := func(i int) string {
		if i < 0 || i >= len(items) {
			return ""
		}
		item := fields(items[i])
		switch kind := text(item["type"]); {
		case kind == "reasoning", strings.HasSuffix(kind, "_call"), text(item["role"]) == "assistant":
			return text(item["id"]) + " "
		}
		return ""
	}
	for i, v := range items {
		item := fields(v)
		id := text(item["id"])
		_, suffix, reasoned := strings.Cut(id, "_after_")
		switch kind := text(item["type"]); {
		case kind == "reasoning" && id != "":
			if made(i+1) == "" {
				f.at("input", "", "Item '%s' of type 'reasoning' was provided without its required following item.", id)
			}
		case reasoned:
			// Parallel calls follow one another.
			k := i - 1
			for k >= 0 && made(k) != "" && made(k) != "rs_"+suffix+" " {
				k--
			}
			if k < 0 || made(k) == "" {
				f.at("input", "", "Item '%s' of type '%s' was provided without its required 'reasoning' item: 'rs_%s'.", id, kind, suffix)
			}
		}
	}
}
