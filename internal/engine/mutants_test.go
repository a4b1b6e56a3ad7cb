package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/rules"
)

// A wire is an API by what it takes: accepts is written from the API's rules
// alone, and shares nothing with what it is held against.
type wire struct {
	dialect, target string
	accepts         func(list []object) string // "" for a history that is taken, else why not
	call            func(id string) object
	answer          func(id string, text any) object
	calls           func(calls []object) object
	answers         func(answers []object) []object
}

type object = map[string]any

var nameOK = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// idOK reports whether an id is a text that anybody takes.
func idOK(v any) (string, bool) {
	s, ok := v.(string)
	return s, ok && s != "" && s != "null" && strings.TrimSpace(s) == s && strings.IndexFunc(s, unicode.IsControl) < 0
}

func hasText(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(v) != ""
	case []any:
		return len(v) > 0
	}
	return false
}

// chatTakes says why OpenAI's chat API would refuse a history.
func chatTakes(list []object) string {
	for i := 0; i < len(list); i++ {
		m := list[i]
		calls, listed := m["tool_calls"].([]any)
		switch m["role"] {
		case "system", "developer", "user":
			if listed && len(calls) > 0 {
				return "calls of the user"
			}
			if m["content"] == nil && !listed {
				return "no content"
			}
			if listed {
				return "a list of calls"
			}
			continue
		case "assistant":
		default:
			return fmt.Sprint("role ", m["role"])
		}
		if listed && len(calls) == 0 {
			return "an empty list of calls"
		}
		if len(calls) == 0 {
			if m["content"] == nil {
				return "no content"
			}
			continue
		}
		open := map[string]bool{}
		for _, c := range calls {
			call, _ := c.(object)
			f, _ := call["function"].(object)
			id, ok := idOK(call["id"])
			name, _ := f["name"].(string)
			args, text := f["arguments"].(string)
			switch {
			case !ok || len(id) > 64:
				return "the id of a call"
			case open[id]:
				return "an id twice"
			case call["type"] == nil:
				return "no type"
			case !nameOK.MatchString(name):
				return "the name of a call"
			case !text:
				return "arguments"
			}
			_ = args
			open[id] = true
		}
		for i+1 < len(list) && list[i+1]["role"] == "tool" {
			i++
			id, ok := idOK(list[i]["tool_call_id"])
			switch {
			case !ok:
				return "a result without an id"
			case !open[id]:
				return "a result of no call, or the second one"
			}
			if inner, has := list[i]["tool_calls"]; has && inner != nil {
				return "calls of a tool"
			}
			switch list[i]["content"].(type) {
			case string, []any:
			default:
				return "the content of a result"
			}
			open[id] = false
		}
		for _, missing := range open {
			if missing {
				return "a call without a result"
			}
		}
	}
	return ""
}

// messagesTake says why Anthropic's API would refuse a history.
func messagesTake(list []object) string {
	var open map[string]bool // the ids that the user's next messages answer
	begun := false           // they have said something else
	for i, m := range list {
		content := m["content"]
		blocks, _ := content.([]any)
		user := m["role"] == "user"
		if !user && m["role"] != "assistant" {
			return fmt.Sprint("role ", m["role"])
		}
		if !user {
			for _, missing := range open {
				if missing {
					return "a call without a result"
				}
			}
			open, begun = map[string]bool{}, false
		}
		if text, ok := content.(string); ok && strings.TrimSpace(text) == "" || content == nil || len(blocks) == 0 && !ok {
			if user || i < len(list)-1 {
				return "empty content"
			}
			continue
		}
		if len(blocks) == 0 {
			begun = true
		}
		for _, b := range blocks {
			block, _ := b.(object)
			switch block["type"] {
			case "text":
				begun = begun || user
				if !hasText(block["text"]) && !(len(blocks) == 1 && i == len(list)-1 && !user) {
					return "blank text"
				}
			case "tool_use":
				id, ok := idOK(block["id"])
				name, _ := block["name"].(string)
				_, args := block["input"].(object)
				switch {
				case user:
					return "a call of the user"
				case !ok || !profile.WordDash.Allows(id) || strings.HasPrefix(id, "srvtoolu_"):
					return "the id of a call"
				case open[id]:
					return "an id twice"
				case strings.TrimSpace(name) == "" || len(name) > 200 || strings.TrimSpace(name) != name:
					return "the name of a call"
				case !args:
					return "input"
				}
				open[id] = true
			case "tool_result":
				id, ok := idOK(block["tool_use_id"])
				switch {
				case !user:
					return "a result of the assistant"
				case !ok || !profile.WordDash.Allows(id):
					return "the id of a result"
				case !open[id]:
					return "a result of no call, or the second one"
				case begun:
					return "something stands before a result"
				}
				if c, has := block["content"]; has {
					switch c.(type) {
					case string, []any:
					default:
						return "the content of a result"
					}
				}
				open[id] = false
			}
		}
	}
	for _, missing := range open {
		if missing {
			return "a call without a result"
		}
	}
	if n := len(list); n > 0 && list[n-1]["role"] == "assistant" {
		last := list[n-1]["content"]
		if blocks, ok := last.([]any); ok && len(blocks) > 0 {
			if b, _ := blocks[len(blocks)-1].(object); b["type"] == "text" {
				last = b["text"]
			}
		}
		if s, ok := last.(string); ok && strings.TrimSpace(s) != "" && strings.TrimRightFunc(s, unicode.IsSpace) != s {
			return "white space at the end"
		}
	}
	return ""
}

var wires = []wire{
	{
		dialect: "openai-chat", target: "openai", accepts: chatTakes,
		call: func(id string) object {
			return object{"id": id, "type": "function", "function": object{"name": "f", "arguments": "{}"}}
		},
		answer:  func(id string, text any) object { return object{"role": "tool", "tool_call_id": id, "content": text} },
		calls:   func(c []object) object { return object{"role": "assistant", "content": nil, "tool_calls": anys(c)} },
		answers: func(a []object) []object { return a },
	},
	{
		dialect: "anthropic", target: "anthropic", accepts: messagesTake,
		call: func(id string) object { return object{"type": "tool_use", "id": id, "name": "f", "input": object{}} },
		answer: func(id string, text any) object {
			return object{"type": "tool_result", "tool_use_id": id, "content": text}
		},
		calls:   func(c []object) object { return object{"role": "assistant", "content": anys(c)} },
		answers: func(a []object) []object { return []object{{"role": "user", "content": anys(a)}} },
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

// talk makes a history up that is in order.
func (b breaker) talk() []object {
	var out []object
	for turn := range 1 + b.IntN(4) {
		out = append(out, object{"role": "user", "content": fmt.Sprint("question ", turn)})
		n := b.IntN(4)
		if n == 0 {
			out = append(out, object{"role": "assistant", "content": fmt.Sprint("answer ", turn)})
			continue
		}
		var calls, answers []object
		for k := range n {
			id := fmt.Sprintf("c%d_%d", turn, k)
			if b.IntN(5) == 0 {
				id = fmt.Sprintf("c%d", k) // used again in other turns
			}
			calls = append(calls, b.wire.call(id))
			answers = append(answers, b.wire.answer(id, fmt.Sprintf("result %d %d", turn, k)))
		}
		if b.IntN(3) == 0 {
			b.Shuffle(n, func(i, j int) { answers[i], answers[j] = answers[j], answers[i] })
		}
		out = append(append(out, b.wire.calls(calls)), b.wire.answers(answers)...)
		if b.IntN(2) == 0 {
			out = append(out, object{"role": "assistant", "content": fmt.Sprint("so ", turn)})
		}
	}
	return append(out, object{"role": "user", "content": "and?"})
}

// parts returns the calls, results and blocks in a history.
func parts(list []object) []object {
	var out []object
	for _, m := range list {
		if m["role"] == "tool" {
			out = append(out, m)
		}
		for _, key := range []string{"tool_calls", "content"} {
			inner, _ := m[key].([]any)
			for _, e := range inner {
				if o, ok := e.(object); ok {
					out = append(out, o)
				}
			}
		}
	}
	return out
}

var partKeys = []string{"id", "tool_use_id", "tool_call_id"}

// breakOnce breaks a history in one way.
func (b breaker) breakOnce(list []object) []object {
	if len(list) < 2 {
		return list
	}
	i, j := b.IntN(len(list)), b.IntN(len(list))
	ps := parts(list)
	var part object
	if len(ps) > 0 {
		part = ps[b.IntN(len(ps))]
	}
	setID := func(to any) {
		for _, key := range partKeys {
			if _, has := part[key]; has {
				part[key] = to
			}
		}
	}
	switch b.IntN(14) {
	case 0: // drop
		return slices.Delete(list, i, i+1)
	case 1: // duplicate
		return slices.Insert(list, j, copied(list[i]))
	case 2: // move
		m := list[i]
		list = slices.Delete(list, i, i+1)
		return slices.Insert(list, min(j, len(list)), m)
	case 3: // reorder
		list[i], list[j] = list[j], list[i]
	case 4: // rename on one side
		setID(fmt.Sprint("x", b.IntN(3)))
	case 5: // cut the head
		return list[i/2:]
	case 6: // cut the tail
		return list[:len(list)-j/2]
	case 7: // wedge
		return slices.Insert(list, i, object{"role": []string{"user", "assistant"}[b.IntN(2)], "content": "wedge"})
	case 8: // split
		for _, key := range []string{"tool_calls", "content"} {
			if inner, ok := list[i][key].([]any); ok && len(inner) > 1 {
				other := copied(list[i])
				at := 1 + b.IntN(len(inner)-1)
				list[i][key] = inner[:at:at]
				other[key] = copiedAny(inner[at:])
				return slices.Insert(list, i+1, other)
			}
		}
	case 9: // merge
		for _, key := range []string{"tool_calls", "content"} {
			if i+1 < len(list) {
				a, x := list[i][key].([]any)
				c, y := list[i+1][key].([]any)
				if x && y && list[i]["role"] == list[i+1]["role"] {
					list[i][key] = append(slices.Clone(a), c...)
					return slices.Delete(list, i+1, i+2)
				}
			}
		}
	case 10: // empty an id
		setID([]any{"", nil, " c0 "}[b.IntN(3)])
	case 11: // another id
		setID([]any{7.0, strings.Repeat("y", 70), "a b"}[b.IntN(3)])
	case 12: // strip a key
		if part != nil {
			target := part
			if f, ok := part["function"].(object); ok && b.IntN(2) == 0 {
				target = f
			}
			for _, key := range []string{"arguments", "input", "name", "id", "tool_use_id", "tool_call_id"} {
				if _, has := target[key]; has && b.IntN(2) == 0 {
					delete(target, key)
					break
				}
			}
		}
	case 13: // another type
		if part != nil {
			for _, key := range []string{"content", "input", "text"} {
				if _, has := part[key]; has {
					if part[key] = []any{nil, 5.0, "", []any{}}[b.IntN(4)]; key == "text" {
						part[key] = []string{"", " \n"}[b.IntN(2)] // what is no text at all no rule speaks of
					}
					break
				}
			}
		}
	}
	return list
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

// results counts what was recorded in the results of a history.
func results(list []object) map[string]bool {
	out := map[string]bool{}
	for _, p := range parts(list) {
		if p["role"] == "tool" || p["type"] == "tool_result" {
			if s, ok := p["content"].(string); ok && strings.HasPrefix(s, "result ") {
				out[s] = true
			}
		}
	}
	return out
}

// TestMutants breaks histories in one to five ways. The check must find an error
// exactly where the API would refuse the history; what fix makes of it with all
// repairs must be taken, or be said to be left; and fix alone must lose nothing.
func TestMutants(t *testing.T) {
	seed := uint64(5)
	if s, err := strconv.ParseUint(os.Getenv("TOOLGUARD_SEED"), 10, 64); err == nil {
		seed = s
	}
	total := 20_000
	if testing.Short() || raceEnabled() {
		total = 1_000
	}
	for w := range wires {
		wire := &wires[w]
		t.Run(wire.dialect, func(t *testing.T) {
			b := breaker{rand.New(rand.NewPCG(seed, uint64(w))), wire}
			opts := Options{Dialect: dialect.ByName(wire.dialect), Target: profile.ByName(wire.target), Send: true}
			sources := wire.sources(t)
			refused, fixed, left, wrong := 0, 0, 0, 0
			for n := range total / len(wires) {
				list := b.talk()
				if len(sources) > 0 && b.IntN(3) == 0 {
					list = nil
					for _, m := range sources[b.IntN(len(sources))] {
						list = append(list, copied(m))
					}
				}
				for range 1 + b.IntN(5) {
					list = b.breakOnce(list)
				}
				if len(list) == 0 {
					continue
				}
				text := must(json.Marshal(list))
				list = parsed(text)
				why := wire.accepts(list)
				rep := check(t, "mutant", text, opts)
				if rep.Skipped != "" {
					continue
				}
				if found := errorsOf(rep); (why != "") != (len(found) > 0) {
					if wrong++; wrong <= 10 {
						t.Errorf("the API says %q, the check %v\n%s", why, found, text)
					}
					continue
				}
				if why != "" {
					refused++
				}
				if n%4 != 0 {
					continue
				}
				out, f := fixText(t, "mutant", text, FixOptions{Options: opts, Unsafe: true})
				if why := wire.accepts(parsed(out)); why != "" && len(errorsOf(f.After)) == 0 {
					t.Errorf("repaired, and the API says %q\n%s\n%s", why, text, out)
				} else if why != "" {
					left++
				} else {
					fixed++
				}
				out, _ = fixText(t, "mutant", text, FixOptions{Options: opts})
				still := results(parsed(out))
				for r := range results(list) {
					if !still[r] {
						t.Errorf("%s is lost\n%s\n%s", r, text, out)
					}
				}
				if again, _ := fixText(t, "mutant", out, FixOptions{Options: opts}); !bytes.Equal(again, out) {
					t.Errorf("not settled\n%s\n%s", out, again)
				}
			}
			t.Logf("%d sources, %d mutants, %d refused; of a quarter %d are taken once repaired, %d have something left", len(sources), total/len(wires), refused, fixed, left)
			if wrong > 0 {
				t.Errorf("%d judged wrong", wrong)
			}
		})
	}
}

// sources returns the histories among the fixtures that are in order, and that
// the API takes as they are.
func (w *wire) sources(t *testing.T) (out [][]object) {
	t.Helper()
	for _, f := range fixtures(t) {
		if folder, state := f.kind(); folder != w.dialect || state != "ok" {
			continue
		}
		var v any
		if json.Unmarshal(f.text, &v) != nil {
			continue
		}
		if o, ok := v.(object); ok {
			v = o["messages"]
		}
		list := parsed(must(json.Marshal(v)))
		plain := len(list) > 1
		for _, p := range append(parts(list), list...) {
			switch p["type"] {
			case nil, "text", "tool_use", "tool_result", "function":
			default:
				plain = false
			}
			if p["function_call"] != nil || p["role"] == "function" || p["id"] != nil && p["role"] != nil {
				plain = false
			}
		}
		rep := check(t, f.name, must(json.Marshal(v)), Options{Dialect: dialect.ByName(w.dialect), Target: profile.ByName(w.target), Send: true})
		if plain && rep.Skipped == "" && len(errorsOf(rep)) == 0 && w.accepts(list) == "" {
			out = append(out, list)
		}
	}
	return out
}

func parsed(text []byte) []object {
	var list []object
	if json.Unmarshal(text, &list) != nil {
		return nil
	}
	return list
}

func errorsOf(rep *Report) (out []string) {
	for i := range rep.Findings {
		if f := &rep.Findings[i]; f.Severity == rules.Error {
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
