package redact

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/toolguard/toolguard/internal/source"
)

// A mode says what the keys and values of a place are.
type mode uint8

const (
	structure mode = iota // of the transcript: known keys stay
	callText              // a call that is written as a text: its known keys stay
	result                // what somebody says; nothing stays
	payload               // arguments, and what no reader reads; nothing stays
	declared              // a schema: keywords and types stay
	named                 // an object in a schema whose keys are names
	pattern               // a regular expression in a schema
	dropped               // a schema that no reader is to understand; nothing stays
)

// schemaKeys are the fields that hold the schema of a tool or of an answer.
var schemaKeys = []string{
	"parameters", "input_schema", "inputSchema", "parametersJsonSchema", "parameters_json_schema",
	"outputSchema", "output_schema", "args_schema", "schema", "json_schema", "responseSchema",
}

// keywords are those of schemas that do not depend on texts or numbers, or only on their
// equality. Those for limits, such as maximum, become unknown keys, so that any filler is within
// them.
var keywords = []string{
	"type", "properties", "required", "items", "prefixItems", "additionalItems", "additionalProperties",
	"unevaluatedItems", "unevaluatedProperties", "enum", "const", "anyOf", "oneOf", "allOf", "not", "if", "then", "else",
	"$ref", "$defs", "definitions", "$schema", "$anchor", "$dynamicAnchor", "$dynamicRef", "dependentSchemas", "dependentRequired", "dependencies",
	"propertyNames", "contains", "uniqueItems", "nullable", "pattern", "title", "description", "default", "examples", "json", "schema",
}

// namesIn are the keywords whose fields are names, and dataIn those whose value is data.
var (
	namesIn = []string{"properties", "$defs", "definitions", "dependentSchemas", "dependentRequired", "dependencies"}
	dataIn  = []string{"enum", "const", "default", "examples", "title", "description"}
	// refersIn are the keywords for places in schemas.
	refersIn = []string{"$ref", "$dynamicRef"}
	// wordsIn are the keywords whose values are names.
	wordsIn = []string{"required", "dependentRequired", "dependencies", "$anchor", "$dynamicAnchor"}
	types   = []string{"object", "array", "string", "number", "integer", "boolean", "null"}
	drafts  = []string{
		"http://json-schema.org/draft-04/schema#", "http://json-schema.org/draft-06/schema#", "http://json-schema.org/draft-07/schema#",
		"https://json-schema.org/draft/2019-09/schema", "https://json-schema.org/draft/2020-12/schema",
		"http://json-schema.org/draft-07/schema", "http://json-schema.org/schema#",
	}
)

// within returns the mode of the value at a key of an object or array in the mode m.
func (m mode) within(key string) mode {
	switch {
	case m == callText && slices.Contains(argumentsIn, key):
		return payload
	case m == callText && key != "":
		return structure
	case m == structure && slices.Contains(schemaKeys, key):
		return declared
	case m == named && key != "":
		return declared
	case m == declared && key == "pattern":
		return pattern
	case m == declared && slices.Contains(namesIn, key):
		return named
	case m == declared && slices.Contains(dataIn, key):
		return payload
	}
	return m
}

// argumentsIn are the fields for the arguments of a call that is written as a text.
var argumentsIn = []string{"arguments", "parameters", "args", "input"}

// opaqueIn are the fields for arguments, results and what users add. Their objects and arrays are
// payload wherever they are, also in what no reader reads, unless messages, calls or results are in
// them.
var opaqueIn = []string{
	"arguments", "args", "input", "inputs", "output", "outputs", "result", "results", "tool_input", "toolInput", "tool_output", "toolOutput",
	"tool_response", "toolResponse", "toolUseResult", "rawInput", "rawOutput", "raw_input", "raw_output", "structuredContent", "structured_content", "metadata",
}

// readIn are the fields of opaque objects that readers look for all the same, by the key that leads
// to the object, with the mode of their values.
var readIn = map[string]mode{
	"output.type": structure, "output.value": payload, "result.isError": structure, "result.errorDetails": payload, "result.metadata": structure,
	"metadata.maxToolCallsExceeded": structure, "metadata.agentVisible": structure,
}

// saidIn are the fields whose strings are said by somebody, whatever words they are.
var saidIn = []string{
	"text", "content", "thinking", "output", "result", "title", "description", "prompt", "instructions",
	"message", "summary", "refusal", "stdout", "stderr", "reasoning_content",
}

// encodedIn are the fields for encoded data.
var encodedIn = []string{
	"data", "signature", "encrypted_content", "thoughtSignature", "thought_signature", "b64_json", "bytes", "blob", "file_data", "url", "image_url",
}

// tellsIn are the last parts of keys by whose values readers tell apart what they read, beside
// the fields that drivers have for roles and types: known words stay there.
var tellsIn = []string{
	"status", "state", "requestor", "blockType", "author", "sender", "_type", "stop_reason", "stopReason", "finish_reason", "finishReason",
	"event", "event_type", "object", "reason", "record_type", "actionType", "execution", "origin", "terminal", "run_type", "action", "env_type",
	"observation", "cause", "stringValue", "string_value", "id", "key", "k", "part_type", "recordType", "method", "function_name", "tool_name",
	"caller", "channel", "phase", "mode", "subType", "operation", "lc", "name", "span_kind", "tool_type", "toolType", "outcome", "resultType",
}

// countsIn are the fields of transcripts that count: usage, indices, versions of formats. Numbers
// stay there, unless an unknown field, arguments, a result or a text is around them.
var countsIn = []string{
	"index", "ordinal", "messageIndex", "step", "step_id", "step_number", "turn", "num_turns", "sequence_number", "seq", "output_index", "content_index",
	"input_tokens", "output_tokens", "total_tokens", "prompt_tokens", "completion_tokens", "cached_tokens", "reasoning_tokens",
	"cache_read_input_tokens", "cache_creation_input_tokens", "inputTokens", "outputTokens", "totalTokens", "cacheRead", "cacheWrite",
	"max_tokens", "max_output_tokens", "max_completion_tokens", "maxOutputTokens", "version", "lc", "format",
	"duration", "durationMs", "duration_ms", "secondsFromStart", "time_in_call_secs", "delegationDepth", "firstKeptEntryIndex", "last_consolidated", "epoch", "k", "i", "v",
}

// numberedIn are the fields in which readers distinguish the numbers 0 to 99, in the field itself or
// in its value.
var numberedIn = []string{"role", "type", "kind", "modelState"}

// mostCounted is the longest count.
const mostCounted = 7

// timestamp matches a date of the years in which there are transcripts, or such a date and a time.
var timestamp = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^20[0-4]\d-[01]\d-[0-3]\d([T ][0-2]\d:[0-5]\d(:[0-6]\d(\.\d{1,9})?)?(Z|[+-][0-2]\d:?[0-5]\d)?)?$`)
})

// epoch matches a time of this century in seconds, milliseconds, microseconds or nanoseconds.
var epoch = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^1\d{9}(\d{3}){0,3}(\.\d{1,9})?$`) })

// inEnvelope reports whether a value is in a field that readers know, outside of everything
// that they do not know.
func (p place) inEnvelope() bool { return p.mode == structure && p.known && !p.remote }

// isTime reports whether the field of this key is a time.
func isTime(key string) bool {
	low := strings.ToLower(key)
	for _, part := range []string{"time", "_date", "created", "updated", "started", "completed"} {
		if strings.Contains(low, part) {
			return true
		}
	}
	return key == "ts" || key == "date" || strings.HasSuffix(key, "Date") || strings.HasSuffix(key, "At") || strings.HasSuffix(key, "_at") || key == "start" || key == "end"
}

// keepsNumber reports whether a number stays in its place.
func keepsNumber(text []byte, p place) bool {
	switch {
	case p.mode == structure && p.known && !p.element && (slices.Contains(numberedIn, p.key) || p.key == "value" && slices.Contains(numberedIn, p.around)):
		return len(text) <= 2
	case !p.inEnvelope() || p.element && p.key != "k":
		return false
	case slices.Contains(countsIn, p.key):
		return len(text) <= mostCounted && len(bytes.Trim(text, digits)) == 0
	}
	return isTime(p.key) && epoch().Match(text)
}

// lastPart returns the last part of a key that is a path, such as role of messages.0.role.
func lastPart(key string) string { return key[strings.LastIndexByte(key, '.')+1:] }

// isID reports whether the field of this key is an id.
func isID(key string) bool {
	low := strings.ToLower(lastPart(key))
	return strings.HasSuffix(low, "id") || strings.HasSuffix(low, "ids")
}

// isModel reports whether the field of this key names a model, a provider or the address of one.
func isModel(key string) bool {
	low := strings.ToLower(key)
	return slices.ContainsFunc([]string{"model", "url", "host", "endpoint", "provider", "base"}, func(part string) bool { return strings.Contains(low, part) })
}

// kindOf returns the kind of a string that is no key.
func (r *redactor) kindOf(p place) kind {
	switch {
	case p.mode == payload, p.mode == callText, p.mode == dropped:
		return value
	case p.mode == result, p.mode == structure && p.known && slices.Contains(saidIn, lastPart(p.key)):
		return text
	case p.mode == structure && p.known && slices.Contains(encodedIn, lastPart(p.key)):
		return encoded
	}
	return word
}

// kept returns how many bytes at the start of a string stay.
func (r *redactor) kept(t *scalar, p place) int {
	head := string(t.head)
	all := func(is bool) int {
		if is {
			return len(head)
		}
		return 0
	}
	switch {
	case len(head) == 0:
		return 0
	case p.mode == declared && p.key == "type":
		return all(slices.Contains(types, strings.ToLower(head)))
	case p.mode == declared && p.key == "$schema":
		return all(slices.Contains(drafts, head))
	case p.mode != structure || !p.known:
		return 0
	case slices.Contains(saidIn, lastPart(p.key)):
		return 0
	case p.inEnvelope() && isTime(p.key) && !p.element:
		return all(timestamp().MatchString(head))
	case slices.Contains(encodedIn, lastPart(p.key)):
		return len(dataURL().FindString(head))
	case isID(p.key) && !p.element:
		return all(head == "null") // which counts as missing
	case p.element && p.key == "messages": // what an agent writes between messages
		return all(r.vocabulary.hasKey(head))
	case !r.vocabulary.tells[lastPart(p.key)] && (p.key != "value" || !r.vocabulary.tells[p.around]):
		return all(slices.Contains(mediaTypes, head) && strings.HasSuffix(p.key, "ype"))
	case strings.HasSuffix(p.key, "name"):
		return all(r.vocabulary.tools[head] || strings.Contains(head, ".") && r.vocabulary.hasKey(head))
	case r.vocabulary.hasKey(head) && !isIndex(head), p.key == "type" && r.vocabulary.tools[strings.TrimSuffix(head, "_tool_result")]:
		return len(head)
	}
	if key := lastPart(p.key); key == "type" || key == "role" {
		return r.vocabulary.beginning(head)
	}
	return 0
}

// mediaTypes are those that providers accept.
var mediaTypes = []string{
	"image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf", "text/plain",
	"application/json", "audio/wav", "audio/mpeg",
}

// dataURL matches the start of an address with encoded data of a known type.
var dataURL = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^data:(` + strings.Join(mediaTypes, "|") + `);base64,`)
})

// date matches the date at the start of a text, with which names of models end.
var date = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^20\d\d([-.]?)(0[1-9]|1[0-2])([-.]?)(0[1-9]|[12]\d|3[01])($|[^0-9A-Za-z])`)
})

// parts redacts the name of a model or an address. Its known parts stay with the separators beside
// them, by which readers see where the name of a model begins. Each text between them is filled as
// a whole.
func (r *redactor) parts(t *scalar, out *output, versions bool) {
	known := make([]bool, len(t.head))
	numbered := 0
	for part := range bytes.FieldsFuncSeq(t.head, isSeparator) {
		if !r.vocabulary.models[strings.ToLower(string(part))] && isVersion(string(bytes.TrimLeft(part, letters))) {
			numbered++
		}
	}
	versions = versions && numbered <= mostNumbered
	dated, family := false, false // a date was kept; the part before is a known word or a version
	for i := 0; i < len(t.head); {
		if m := date().FindSubmatchIndex(t.head[i:]); m != nil && !dated && m[3]-m[2] == m[7]-m[6] && (i == 0 || t.head[i-1] == '-' || t.head[i-1] == '@') {
			i, dated = keep(known, i, i+m[9]), true
			continue
		}
		j := i
		for j < len(t.head) && !isSeparator(rune(t.head[j])) {
			j++
		}
		part := string(t.head[i:j])
		name := strings.TrimRight(part, digits) // qwen3, the 3.2 of llama3.2
		switch {
		case r.vocabulary.models[strings.ToLower(part)], versions && family && isVersion(part):
			family = true
			keep(known, i, j)
		case r.vocabulary.models[strings.ToLower(name)]:
			keep(known, i, i+len(name))
			if family = versions && isVersion(part[len(name):]); family {
				keep(known, i+len(name), j)
			}
		default:
			family = false
		}
		i = j + 1
	}
	for i, c := range t.head { // separators beside known parts
		known[i] = known[i] || isSeparator(rune(c)) && (i == 0 || known[i-1])
	}
	for i, c := range slices.Backward(t.head) {
		known[i] = known[i] || isSeparator(rune(c)) && (i+1 == len(known) || known[i+1])
	}
	for i := 0; i < len(t.head); {
		j := i
		for j < len(t.head) && known[j] == known[i] {
			j++
		}
		piece := t.head[i:j]
		if known[i] {
			out.write(piece)
		} else {
			r.word(&scalar{start: out.at, end: out.at + int64(len(piece)), head: piece, closed: true}, out, plain)
		}
		i = j
	}
}

// mostNumbered is how many numbers the name of a model may have besides its date so that they stay:
// enough for a model, but not for an address or a phone number.
const mostNumbered = 3

func isSeparator(c rune) bool { return strings.ContainsRune("-_./:@?=&#", c) }

// keep marks what stays, and returns its end.
func keep(known []bool, from, to int) int {
	for i := from; i < to; i++ {
		known[i] = true
	}
	return to
}

// isVersion reports whether a part of the name of a model is a short number as models have it:
// 4, 4o, o3, 70b, 5, 405b.
func isVersion(part string) bool {
	return len(part) <= 4 && len(part) > 0 && strings.ContainsAny(part, digits) && len(strings.Trim(part, digits)) <= 1 && len(part)-len(strings.Trim(part, digits)) <= 3
}

// reference redacts the names in a reference to a part of the same schema, and others as a whole.
func (r *redactor) reference(t *scalar, out *output) {
	if t.head[0] != '#' {
		r.word(t, out, plain)
		return
	}
	at := 0
	for i, segment := range strings.Split(string(t.head), "/") {
		piece := &scalar{start: t.start + int64(at), end: t.start + int64(at+len(segment)), head: []byte(segment), closed: true}
		if i > 0 {
			out.write([]byte{'/'})
		}
		switch {
		case segment == "#" && i == 0, slices.Contains(keywords, segment), isIndex(segment):
			out.write(piece.head)
		case i == 0 && strings.HasPrefix(segment, "#"):
			out.write([]byte{'#'})
			piece.start++
			piece.head = piece.head[1:]
			fallthrough
		default:
			r.word(piece, out, plain)
		}
		at += len(segment) + 1
	}
}

// anyPattern fills a regular expression with one that every text matches, or with an invalid one
// if it is invalid.
func anyPattern(t *scalar) []byte {
	mark := byte('|')
	if _, err := regexp.Compile(string(source.AppendUnescaped(nil, t.head))); err != nil && !t.long {
		mark = '('
	}
	return bytes.Repeat([]byte{mark}, int(t.size()))
}
