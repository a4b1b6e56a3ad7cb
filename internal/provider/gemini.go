package provider

import (
	"fmt"
	"slices"
	"strings"
)

// contents has the rules of the Gemini API. Those of Gemini 3 also want the signature of each
// step of the current turn.
func contents(r object, f *faults, signed bool) {
	all := list(r["contents"])
	if len(all) == 0 {
		f.add("* GenerateContentRequest.contents: contents is not specified\n")
	}
	for i, v := range all {
		c, at := fields(v), fmt.Sprintf("GenerateContentRequest.contents[%d]", i)
		// Not all versions of the API take "function", but none was seen to refuse it lately.
		if role := text(c["role"]); !slices.Contains([]string{"", "user", "model", "function"}, role) {
			f.add("Please use a valid role: user, model.")
		}
		if len(list(c["parts"])) == 0 {
			f.add("* %s.parts: contents.parts must not be empty.\n", at)
		}
		for j, v := range list(c["parts"]) {
			contentsPart(f, i, j, fields(v))
		}
	}
	if len(f.list) > 0 {
		return // the order is checked in requests of the right form
	}
	contentsOrder(f, all)
	if signed {
		signatures(f, all)
	}
}

// contentsPart has the rules about one part.
func contentsPart(f *faults, i, j int, p object) {
	at := fmt.Sprintf("contents[%d].parts[%d]", i, j)
	data := 0
	for key := range p {
		if key != "thought" && key != "thoughtSignature" && key != "videoMetadata" {
			data++
		}
	}
	if s, ok := p["text"].(string); data == 0 || ok && s == "" && p["thoughtSignature"] == nil {
		f.add("* GenerateContentRequest.%s.data: required oneof field 'data' must have one initialized field\n", at)
	}
	if call := member(p, "functionCall"); call != nil {
		if text(call["name"]) == "" {
			f.add("* GenerateContentRequest.%s.function_call.name: Name cannot be empty.\n", at)
		}
		if _, ok := call["args"].(object); call["args"] != nil && !ok {
			f.add("Invalid value at '%s.function_call.args' (type.googleapis.com/google.protobuf.Struct)", at)
		}
	}
	if answer := member(p, "functionResponse"); answer != nil {
		if text(answer["name"]) == "" {
			f.add("* GenerateContentRequest.%s.function_response.name: Name cannot be empty.\n", at)
		}
		if _, ok := answer["response"].(object); answer["response"] != nil && !ok {
			f.add("Invalid value at '%s.function_response.response' (type.googleapis.com/google.protobuf.Struct)", at)
		}
	}
}

// count returns the number of parts of a content that have a field.
func count(v any, field string) (n int) {
	for _, p := range list(fields(v)["parts"]) {
		if member(fields(p), field) != nil {
			n++
		}
	}
	return n
}

// member returns an object in a field, which may be written as in protocol buffers, or nil.
func member(o object, field string) object {
	if v, ok := o[field].(object); ok {
		return v
	}
	return fields(o[map[string]string{"functionCall": "function_call", "functionResponse": "function_response"}[field]])
}

// merged returns contents with those of the model that follow each other as one. Requests with calls in
// several of them were answered.
func merged(all []any) (out []any) {
	for _, c := range all {
		last := len(out) - 1
		if text(fields(c)["role"]) != "model" || last < 0 || text(fields(out[last])["role"]) != "model" {
			out = append(out, c)
			continue
		}
		out[last] = object{"role": "model", "parts": slices.Concat(list(fields(out[last])["parts"]), list(fields(c)["parts"]))}
	}
	return out
}

// contentsOrder has the rules about calls and responses, which the API counts: the content behind
// one with calls has as many responses.
func contentsOrder(f *faults, all []any) {
	all = merged(all)
	for i, c := range all {
		calls, answers := count(c, "functionCall"), count(c, "functionResponse")
		if text(fields(c)["role"]) == "model" {
			calls, answers = calls-answers, 0 // of tools that the API runs
		}
		if calls > 0 && i == 0 {
			f.add("Please ensure that function call turn comes immediately after a user turn or after a function response turn.")
		}
		if calls > 0 {
			got := 0
			if i+1 < len(all) {
				got = count(all[i+1], "functionResponse")
			}
			if got != calls {
				f.add("Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.")
			}
		}
		if answers > 0 && (i == 0 || count(all[i-1], "functionCall") == 0) {
			f.add("Please ensure that function response turn comes immediately after a function call turn.")
		}
	}
}

// signatures has the rule about the current turn, which begins behind the last question: the
// first call of each step has a signature.
func signatures(f *faults, all []any) {
	start := 0
	for i, c := range all {
		asked := slices.ContainsFunc(list(fields(c)["parts"]), func(p any) bool {
			_, ok := fields(p)["text"].(string)
			return ok
		})
		if asked && !strings.EqualFold(text(fields(c)["role"]), "model") {
			start = i
		}
	}
	for i := start; i < len(all); i++ {
		for j, p := range list(fields(all[i])["parts"]) {
			call := member(fields(p), "functionCall")
			if call == nil {
				continue
			}
			if text(fields(p)["thoughtSignature"]) == "" {
				f.add("Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:%s` , position %d.", text(call["name"]), j+1)
			}
			break
		}
	}
}
