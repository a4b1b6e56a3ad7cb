package engine

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/sample"
)

// A wire is an API: what it accepts, and how to write histories for it. Without a target it
// is the file of an agent, and what a sound file contains.
type wire struct {
	dialect, target string
	takes           func(history []object) string // "" for a history that is taken, else why not
	id              func(turn, k int) string      // nil where calls have none
	says            func(role, text string) object
	call            func(id string) object
	answer          func(id string, text any) object
	calls           func(calls []object) []object // the messages that make them
	answers         func(answers []object) []object
	// lists are the fields of a message that hold its parts. kinds are the types of parts or
	// items: the value of the type, or the only key.
	lists, kinds []string
	// joined makes one record of a call and its result; nil if they are separate. state is
	// the path to its state, which is one of states.
	joined func(call, answer object) object
	state  []string
	states []any
	frame  *frame // how messages stand in records; nil where they stand alone
}

// name returns the name of its test.
func (w *wire) name() string {
	if w.target == "" {
		return w.dialect
	}
	return w.dialect + "/" + w.target
}

// options are the options of a check.
func (w *wire) options() Options {
	return Options{Dialect: dialect.ByName(w.dialect), Target: profile.ByName(w.target), Send: w.target != ""}
}

// text writes a history.
func (w *wire) text(history []object) []byte {
	if w.frame == nil {
		return must(json.Marshal(history))
	}
	var out []byte
	for _, m := range history {
		out = append(append(out, must(json.Marshal(m))...), '\n')
	}
	return out
}

// why returns the fault of a written history, "" if there is none.
func (w *wire) why(text []byte) string {
	if w.frame == nil {
		return w.takes(speaking(parsed(text)))
	}
	return w.takes(decoded(text))
}

func spoken(role, text string) object { return object{"role": role, "content": text} }

func blocksOf(role, key string) func([]object) []object {
	return func(b []object) []object { return []object{{"role": role, key: anys(b)}} }
}

func itself(m []object) []object { return m }

func chatCall(id string) object {
	out := object{"type": "function", "function": object{"name": "f", "arguments": "{}"}}
	if id != "" {
		out["id"] = id
	}
	return out
}

func chatCalls(c []object) []object {
	return []object{{"role": "assistant", "content": nil, "tool_calls": anys(c)}}
}

func chatAnswer(id string, text any) object {
	return object{"role": "tool", "tool_call_id": id, "content": text}
}

func messagesCall(id string) object {
	return object{"type": "tool_use", "id": id, "name": "f", "input": object{}}
}

func messagesAnswer(id string, text any) object {
	return object{"type": "tool_result", "tool_use_id": id, "content": text}
}

func itemCall(id string) object {
	return object{"type": "function_call", "call_id": id, "name": "f", "arguments": "{}"}
}

func itemAnswer(id string, text any) object {
	return object{"type": "function_call_output", "call_id": id, "output": text}
}

func converseText(role, text string) object {
	return object{"role": role, "content": []any{object{"text": text}}}
}

func converseCall(id string) object {
	return object{"toolUse": object{"toolUseId": id, "name": "f", "input": object{}}}
}

func converseAnswer(id string, text any) object {
	return object{"toolResult": object{"toolUseId": id, "content": []any{object{"text": text}}}}
}

func contentsText(role, text string) object {
	if role == "assistant" {
		role = "model"
	}
	return object{"role": role, "parts": []any{object{"text": text}}}
}

func contentsCall(id string) object {
	call := object{"name": "f", "args": object{}}
	if id != "" {
		call["id"] = id
	}
	return object{"functionCall": call}
}

func contentsAnswer(id string, text any) object {
	response := object{"name": "f", "response": object{"output": text}}
	if id != "" {
		response["id"] = id
	}
	return object{"functionResponse": response}
}

// numbered makes an id that most APIs accept, plain one that all accept.
func numbered(turn, k int) string { return fmt.Sprintf("c%d_%d", turn, k) }
func plain(turn, k int) string    { return fmt.Sprintf("call%03d%02d", turn, k) }

var wires = []wire{
	{
		dialect: "openai-chat", target: "openai", takes: openAIChat.takes, id: numbered,
		says: spoken, call: chatCall, answer: chatAnswer, calls: chatCalls, answers: itself,
		lists: []string{"tool_calls", "content"},
	},
	{
		dialect: "openai-chat", target: "mistral", takes: mistralChat.takes, id: plain,
		says: spoken, call: chatCall, answer: chatAnswer, calls: chatCalls, answers: itself,
		lists: []string{"tool_calls", "content"},
	},
	{
		dialect: "openai-chat", target: "cohere", takes: cohereChat.takes, id: numbered,
		says: spoken, call: chatCall, answer: chatAnswer, calls: chatCalls, answers: itself,
		lists: []string{"tool_calls", "content"},
	},
	{
		dialect: "openai-chat", target: "ollama", takes: ollamaChat.takes,
		says:   spoken,
		call:   func(string) object { return object{"function": object{"name": "f", "arguments": object{}}} },
		answer: func(_ string, text any) object { return object{"role": "tool", "tool_name": "f", "content": text} },
		calls: func(c []object) []object {
			return []object{{"role": "assistant", "content": "", "tool_calls": anys(c)}}
		},
		answers: itself, lists: []string{"tool_calls", "content"},
	},
	{
		dialect: "anthropic", target: "anthropic", takes: messagesTake, id: numbered,
		says: spoken, call: messagesCall, answer: messagesAnswer, calls: blocksOf("assistant", "content"), answers: blocksOf("user", "content"),
		lists: []string{"content"}, kinds: []string{"text", "tool_use", "tool_result"},
	},
	{
		dialect: "openai-responses", target: "openai-responses", takes: itemsTake, id: numbered,
		says: spoken,
		call: itemCall, answer: itemAnswer, calls: itself, answers: itself,
		lists: []string{"content"}, kinds: []string{"message", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output"},
	},
	{
		dialect: "gemini", target: "gemini", takes: contentsTake, id: numbered,
		says: contentsText, call: contentsCall, answer: contentsAnswer, calls: blocksOf("model", "parts"), answers: blocksOf("user", "parts"),
		lists: []string{"parts"}, kinds: []string{"text", "functionCall", "functionResponse"},
	},
	{
		dialect: "gemini", target: "gemini", takes: contentsTake, // without ids
		says: contentsText, call: contentsCall, answer: contentsAnswer, calls: blocksOf("model", "parts"), answers: blocksOf("user", "parts"),
		lists: []string{"parts"}, kinds: []string{"text", "functionCall", "functionResponse"},
	},
	{
		dialect: "bedrock", target: "bedrock", takes: converse{claude: true}.takes, id: numbered,
		says: converseText, call: converseCall, answer: converseAnswer, calls: blocksOf("assistant", "content"), answers: blocksOf("user", "content"),
		lists: []string{"content"}, kinds: []string{"text", "toolUse", "toolResult"},
	},
	{
		dialect: "bedrock", target: "bedrock-other", takes: converse{}.takes, id: numbered,
		says: converseText, call: converseCall, answer: converseAnswer, calls: blocksOf("assistant", "content"), answers: blocksOf("user", "content"),
		lists: []string{"content"}, kinds: []string{"text", "toolUse", "toolResult"},
	},
	{
		dialect: "ai-sdk", target: "ai-sdk", takes: partsTake, id: numbered,
		says: spoken,
		call: func(id string) object {
			return object{"type": "tool-call", "toolCallId": id, "toolName": "f", "input": object{}}
		},
		answer: func(id string, text any) object {
			return object{"type": "tool-result", "toolCallId": id, "toolName": "f", "output": object{"type": "text", "value": text}}
		},
		calls: blocksOf("assistant", "content"), answers: blocksOf("tool", "content"),
		lists: []string{"content"}, kinds: []string{"text", "tool-call", "tool-result"},
	},
	{
		dialect: "langchain", target: "langgraph", takes: langChainChat.takes, id: numbered,
		says: func(role, text string) object {
			return object{"type": map[string]string{"user": "human", "assistant": "ai"}[role], "content": text}
		},
		call: func(id string) object { return object{"type": "tool_call", "id": id, "name": "f", "args": object{}} },
		answer: func(id string, text any) object {
			return object{"type": "tool", "tool_call_id": id, "name": "f", "content": text}
		},
		calls:   func(c []object) []object { return []object{{"type": "ai", "content": "", "tool_calls": anys(c)}} },
		answers: itself, lists: []string{"tool_calls", "content"},
	},
}

func anys(in []object) []any {
	out := make([]any, len(in))
	for i := range in {
		out[i] = in[i]
	}
	return out
}

// A breaker breaks histories.
type breaker struct {
	*rand.Rand
	wire *wire
}

// talk generates a sound history.
func (b breaker) talk() []object {
	if f := b.wire.frame; f != nil {
		return f.wrap(b, b.said())
	}
	return b.said()
}

// said returns the messages of a sound history.
func (b breaker) said() []object {
	w := b.wire
	var out []object
	turns := 4
	if w.frame != nil {
		turns = 3 // they are longer
	}
	for turn := range 1 + b.IntN(turns) {
		out = append(out, w.says("user", fmt.Sprint("question ", turn)))
		n := b.IntN(4)
		if n == 0 {
			out = append(out, w.says("assistant", fmt.Sprint("answer ", turn)))
			continue
		}
		var calls, answers []object
		for k := range n {
			id := ""
			if w.id != nil {
				id = w.id(turn, k)
				if b.IntN(5) == 0 {
					id = w.id(9, k) // used again in other turns
				}
			}
			calls = append(calls, w.call(id))
			answers = append(answers, w.answer(id, fmt.Sprintf("result %d %d", turn, k)))
		}
		if w.joined == nil && b.IntN(3) == 0 {
			b.Shuffle(n, func(i, j int) { answers[i], answers[j] = answers[j], answers[i] })
		}
		if w.joined == nil {
			out = append(append(out, w.calls(calls)...), w.answers(answers)...)
		} else {
			for k := range calls {
				calls[k] = w.joined(calls[k], answers[k])
			}
			out = append(out, w.calls(calls)...)
		}
		if b.IntN(4) > 0 || strings.HasPrefix(w.target, "bedrock") {
			out = append(out, w.says("assistant", fmt.Sprint("so ", turn)))
		}
	}
	return append(out, w.says("user", "and?"))
}

// parts returns the objects in a message: the message, its parts, and their parts.
func (w *wire) parts(m object) []object {
	out := []object{m}
	for _, key := range w.lists {
		for _, e := range list(m[key]) {
			part, ok := e.(object)
			if !ok {
				continue
			}
			out = append(out, part)
			for _, key := range []string{"function", "toolUse", "toolResult", "functionCall", "functionResponse", "toolInvocation", "state"} {
				if inner, ok := part[key].(object); ok {
					out = append(out, inner)
				}
			}
		}
	}
	return out
}

// The keys that mutations change. The ids that pair calls are not the ids of items.
var (
	pairKeys = []string{"id", "tool_use_id", "tool_call_id", "call_id", "toolUseId", "toolCallId", "callID"}
	bareKeys = []string{
		"role", "type", "content", "parts", "text", "id", "tool_use_id", "tool_call_id", "call_id", "toolUseId", "toolCallId", "name", "toolName",
		"tool_calls", "function", "arguments", "input", "args", "output", "response", "toolUse", "toolResult", "functionCall", "functionResponse",
	}
)

// has returns which of the keys an object has.
func has(o object, keys []string) (out []string) {
	for _, key := range keys {
		v, there := o[key]
		if _, class := v.([]any); there && !(class && key == "id") { // LangChain's constructors have it for a name
			out = append(out, key)
		}
	}
	return out
}

// pick returns a random element of a list.
func pick[T any](b breaker, of ...T) T { return of[b.IntN(len(of))] }

// breakOnce breaks a history in one way.
func (b breaker) breakOnce(history []object) []object {
	if len(history) < 2 {
		return history
	}
	i, j := b.IntN(len(history)), b.IntN(len(history))
	whole := history[i]
	m := b.wire.message(whole)
	parts := b.wire.parts(m)
	part := pick(b, parts...)
	setID := func(to any) {
		var with []object
		for _, p := range parts {
			if len(has(p, pairKeys)) > 0 {
				with = append(with, p)
			}
		}
		if len(with) > 0 {
			p := pick(b, with...)
			p[pick(b, has(p, pairKeys)...)] = to
		}
	}
	ways := 14
	if b.wire.frame != nil {
		ways++
	}
	if b.wire.states != nil && b.IntN(5) == 0 {
		b.setState(part)
		return history
	}
	switch b.IntN(ways) {
	case 0: // drop
		return slices.Delete(history, i, i+1)
	case 1: // duplicate
		return slices.Insert(history, j, copied(whole))
	case 2: // move
		history = slices.Delete(history, i, i+1)
		return slices.Insert(history, min(j, len(history)), whole)
	case 3: // reorder
		if _, inner := b.inner(m); len(inner) > 1 && b.IntN(2) == 0 {
			b.Shuffle(len(inner), func(x, y int) { inner[x], inner[y] = inner[y], inner[x] })
			break
		}
		history[i], history[j] = history[j], history[i]
	case 4: // rename on one side
		setID(fmt.Sprint("x", b.IntN(3)))
	case 5: // cut the head
		return history[i/2:]
	case 6: // cut the tail
		return history[:len(history)-j/2]
	case 7: // wedge
		wedge := []object{b.wire.says(pick(b, "user", "assistant"), pick(b, "wedge", "wedge "))}
		if f := b.wire.frame; f != nil {
			wedge = f.wrap(b, wedge)
		}
		return slices.Insert(history, i, wedge...)
	case 8: // split
		if key, inner := b.inner(m); len(inner) > 1 {
			other := copied(whole)
			at := 1 + b.IntN(len(inner)-1)
			m[key] = inner[:at:at]
			b.wire.message(other)[key] = copiedAny(inner[at:])
			return slices.Insert(history, i+1, other)
		}
	case 9: // merge
		if i+1 == len(history) {
			break
		}
		next := b.wire.message(history[i+1])
		if key, inner := b.inner(m); inner != nil && m["role"] == next["role"] {
			if more := list(next[key]); more != nil {
				m[key] = append(slices.Clone(inner), more...)
				return slices.Delete(history, i+1, i+2)
			}
		}
	case 10: // empty an id
		setID(pick[any](b, "", nil, " c0 "))
	case 11: // another id
		setID(pick[any](b, 7.0, strings.Repeat("y", 70), "a b"))
	case 12: // strip a key
		// LangChain's own reader requires the type of a stored message outside.
		if keys := has(part, bareKeys); len(keys) > 0 && part["data"] == nil {
			delete(part, pick(b, keys...))
		}
	case 13: // another type
		if kinds := has(part, b.wire.kinds); len(kinds) > 0 && b.IntN(2) == 0 {
			v := part[kinds[0]]
			delete(part, kinds[0])
			part[pick(b, b.wire.kinds...)] = v
		} else if typ, tagged := part["type"].(string); tagged && slices.Contains(b.wire.kinds, typ) && b.IntN(2) == 0 {
			part["type"] = pick(b, b.wire.kinds...)
		} else if keys := has(part, []string{"content", "input", "args", "arguments", "response", "name"}); len(keys) > 0 {
			part[pick(b, keys...)] = pick[any](b, nil, 5.0, "", []any{}, object{}, "{}")
		} else if _, is := part["text"]; is {
			part["text"] = pick(b, "", " \n")
		}
	case 14: // what else an agent writes
		if spoils := b.wire.frame.spoils; spoils != nil && b.IntN(2) == 0 {
			spoils(whole)
			break
		}
		return slices.Insert(history, i, b.wire.frame.mark(b))
	}
	return history
}

// setState gives the record of a call another state.
func (b breaker) setState(part object) {
	for _, key := range b.wire.state[:len(b.wire.state)-1] {
		part = member(part[key])
	}
	if key := b.wire.state[len(b.wire.state)-1]; part[key] != nil {
		part[key] = pick(b, b.wire.states...)
	}
}

// inner returns the first list in a message, and its key.
func (b breaker) inner(m object) (string, []any) {
	for _, key := range b.wire.lists {
		if inner := list(m[key]); inner != nil {
			return key, inner
		}
	}
	return "", nil
}

func copiedAny(v any) any {
	switch v := v.(type) {
	case object:
		return copied(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = copiedAny(v[i])
		}
		return out
	}
	return v
}

func copied(o object) object {
	out := maps.Clone(o)
	for k, v := range out {
		out[k] = copiedAny(v)
	}
	return out
}

// recordedResult matches the results of a generated history.
var recordedResult = regexp.MustCompile(`result \d \d`)

// TestMutants breaks histories in one to five ways. The check must find an error exactly if
// the API would reject the history. After all repairs, the API must accept the result or
// findings must remain. The default repairs must lose nothing.
func TestMutants(t *testing.T) {
	t.Parallel()
	seed := sample.Seed(5)
	total, kept := sample.Inputs(20_400, 408, 340), sample.Inputs(6_000, 160, 160)
	for w, wire := range slices.Concat(wires, keptWires) {
		n := total / len(wires)
		if wire.target == "" {
			n = kept / len(keptWires)
		}
		t.Run(wire.name(), func(t *testing.T) {
			t.Parallel()
			wire.mutants(t, breaker{rand.New(rand.NewPCG(seed, uint64(w))), &wire}, n)
		})
	}
}

// mutants breaks n histories.
func (w *wire) mutants(t *testing.T, b breaker, n int) {
	t.Helper()
	opts := w.options()
	sources := w.sources(t)
	refused, fixed, left, wrong := 0, 0, 0, 0
	every := 5 // one of so many is repaired
	if w.frame != nil {
		every = 10
	}
	fail := func(format string, args ...any) {
		if wrong++; wrong <= 10 {
			t.Errorf(format, args...)
		}
	}
	done := sample.Until(t)
	for i := range n {
		if done() {
			break
		}
		history := b.talk()
		if len(sources) > 0 && b.IntN(3) == 0 {
			history = nil
			for _, m := range sources[b.IntN(len(sources))] {
				history = append(history, copied(m))
			}
		}
		for range 1 + b.IntN(5) {
			history = b.breakOnce(history)
		}
		if len(history) == 0 {
			continue
		}
		linked := w.frame != nil && w.frame.parent != ""
		if linked {
			b.link(history)
		}
		if linked && i%20 == 19 {
			b.unlink(history)
			text := w.text(history)
			for _, set := range []FixOptions{{Options: opts}, {Options: opts, Unsafe: true}} {
				if s, out, _ := misfixed("mutant", text, set); s != "" {
					fail("%s\n%s\n%s", s, text, out)
				}
			}
			continue
		}
		text := w.text(history)
		why := w.why(text)
		rep := check(t, "mutant", text, opts)
		if rep.Skipped != "" {
			continue
		}
		if found := errorsOf(rep); why != unknown && (why != "") != (len(found) > 0) {
			fail("the API says %q, the check %v\n%s", why, found, text)
			continue
		}
		if why != "" && why != unknown {
			refused++
		}
		if i%every != 0 || opts.Dialect.CheckOnly != "" {
			continue
		}
		out, f := fixText(t, "mutant", text, FixOptions{Options: opts, Unsafe: true})
		if why := w.why(out); why != "" && why != unknown && len(errorsOf(f.After)) == 0 {
			fail("repaired, and the API says %q\n%s\n%s", why, text, out)
		} else if why != "" {
			left++
		} else {
			fixed++
		}
		if s := cmp.Or(w.loose(out), faultyLinks(text, out, f)); s != "" {
			fail("repaired, and %s\n%s\n%s", s, text, out)
		}
		out, f = fixText(t, "mutant", text, FixOptions{Options: opts})
		if s := cmp.Or(w.loose(out), faultyLinks(text, out, f), lostContent(text, out, f)); s != "" {
			fail("%s\n%s\n%s", s, text, out)
		}
		for _, r := range recordedResult.FindAll(text, -1) {
			if !bytes.Contains(out, r) {
				fail("%s is lost\n%s\n%s", r, text, out)
			}
		}
		if again, _ := fixText(t, "mutant", out, FixOptions{Options: opts}); !bytes.Equal(again, out) {
			fail("not settled\n%s\n%s", out, again)
		}
	}
	t.Logf("%d sources, %d mutants, %d refused; of one in %d, %d are taken once repaired, %d have something left", len(sources), n, refused, every, fixed, left)
	if wrong > 0 {
		t.Errorf("%d judged wrong", wrong)
	}
}

// sources returns the sound histories among the fixtures of the dialect that the API accepts
// as they are.
func (w *wire) sources(t *testing.T) (out [][]object) {
	t.Helper()
	opts := w.options()
	var look func(v any)
	look = func(v any) {
		switch v := v.(type) {
		case object:
			for _, key := range slices.Sorted(maps.Keys(v)) {
				look(v[key])
			}
		case []any:
			text := must(json.Marshal(v))
			if history := parsed(text); len(history) > 1 && w.takes(history) == "" {
				if w.id == nil && strings.Contains(string(text), `_id":`) || w.target == "gemini" && strings.Contains(string(text), "function_") {
					return // of an API that has ids, or in the spelling of a library
				}
				if w.dialect == "langchain" && strings.Contains(string(text), `"function_call":{`) {
					return // a call without an id, of an older version
				}
				if rep := check(t, "source", text, opts); rep.Skipped == "" && rep.Calls > 0 && len(errorsOf(rep)) == 0 {
					out = append(out, history)
					return
				}
			}
			for _, e := range v {
				look(e)
			}
		}
	}
	for _, f := range fixtures(t) {
		if folder, state := f.kind(); folder != w.dialect || state != "ok" {
			continue
		}
		var all []any
		dec := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(f.text, []byte("\ufeff"))))
		for {
			var v any
			if dec.Decode(&v) != nil {
				break
			}
			all = append(all, v)
		}
		if w.frame == nil {
			look(all)
			continue
		}
		if history := w.frame.records(all); w.why(w.text(history)) == "" {
			b := breaker{wire: w}
			b.link(history)
			text := w.text(history)
			if rep := check(t, "source", text, opts); w.why(text) == "" && rep.Skipped == "" && rep.Calls > 0 && len(errorsOf(rep)) == 0 {
				out = append(out, history)
			}
		}
	}
	return out
}

// speaking omits elements that only other programs write: it is not known whether they are
// rejected.
func speaking(history []object) []object {
	return slices.DeleteFunc(history, func(m object) bool {
		return len(m) > 0 && len(has(m, append([]string{"tool_name", "kwargs", "data"}, bareKeys...))) == 0
	})
}

// decoded returns the records of a log.
func decoded(text []byte) (records []object) {
	for line := range bytes.Lines(text) {
		var r object
		if json.Unmarshal(line, &r) == nil {
			records = append(records, r)
		}
	}
	return records
}

func parsed(text []byte) []object {
	var list []object
	if json.Unmarshal(text, &list) != nil {
		return nil
	}
	return list
}

func errorsOf(rep *Report) (out []string) {
	for f := range rep.Findings.All() {
		if f.Severity == rules.Error {
			out = append(out, f.Rule.Name)
		}
	}
	return out
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
