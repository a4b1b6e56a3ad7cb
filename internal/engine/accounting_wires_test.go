package engine

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/sample"
)

// A scribe writes histories in which every text occurs once.
type scribe struct {
	*rand.Rand
	n int
}

// scribeOf returns a scribe whose histories depend only on the seed.
func scribeOf(seed, stream uint64) *scribe { return &scribe{Rand: rand.New(rand.NewPCG(seed, stream))} }

// mark returns a text that occurs nowhere else. Its letter is the kind: M for a message, A
// for an argument, T for a result, R for reasoning, X for an unknown field, K for a key.
func (s *scribe) mark(letter string) string {
	s.n++
	return fmt.Sprintf("%s%06dz", letter, s.n)
}

// odds is true in so many cases of one.
func (s *scribe) odds(p float64) bool { return s.Float64() < p }

// oneOf returns one of a list.
func oneOf[T any](s *scribe, of ...T) T { return of[s.IntN(len(of))] }

// obj makes an object of keys and values in turn.
func obj(of ...any) *tree {
	t := &tree{kind: '{'}
	for i := 0; i < len(of); i += 2 {
		t.set(of[i].(string), val(of[i+1]))
	}
	return t
}

// arr makes a list.
func arr(of ...*tree) *tree { return &tree{kind: '[', kids: of} }

// val makes a value.
func val(v any) *tree {
	switch v := v.(type) {
	case *tree:
		return v
	case nil:
		return &tree{raw: "null"}
	case string:
		return &tree{raw: quoted(v)}
	}
	return &tree{raw: fmt.Sprint(v)}
}

// callID returns an id that calls reuse, or an invalid one.
func (s *scribe) callID() string {
	return oneOf(s, "c1", "c2", "c3", "c4", "functions.a:0", "x y", "", "call_9", "toolu_1")
}

// put inserts a value at a random place of a list.
func (s *scribe) put(list []*tree, v *tree) []*tree {
	at := s.IntN(len(list) + 1)
	return append(list[:at:at], append([]*tree{v}, list[at:]...)...)
}

// An apiShape is an API with a generator of histories that go wrong in all ways.
type apiShape struct {
	dialect string
	list    string // the key of the messages
	history func(*scribe) *tree
	// runs is set where messages of text are repeated in runs of one role.
	runs func(s *scribe) (key string, body *tree)
	// changed and safe are how many of 500 histories a repair changed when it
	// was last counted, by default and with safe repairs alone.
	changed, safe int
}

var apiShapes = []apiShape{
	{
		dialect: "openai-chat", list: "messages", history: (*scribe).chatHistory, changed: 346, safe: 320,
		runs: func(s *scribe) (string, *tree) { return "content", val(s.mark("M")) },
	},
	{
		dialect: "anthropic", list: "messages", history: (*scribe).messagesHistory, changed: 417, safe: 411,
		runs: func(s *scribe) (string, *tree) { return "content", val(s.mark("M")) },
	},
	{
		dialect: "bedrock", list: "messages", history: (*scribe).converseHistory, changed: 384, safe: 382,
		runs: func(s *scribe) (string, *tree) { return "content", arr(obj("text", s.mark("M"))) },
	},
	{
		dialect: "gemini", list: "contents", history: (*scribe).contentsHistory, changed: 227, safe: 204,
		runs: func(s *scribe) (string, *tree) { return "parts", arr(obj("text", s.mark("M"))) },
	},
	{dialect: "openai-responses", list: "input", history: (*scribe).itemsHistory, changed: 266, safe: 190},
}

// make generates a history, with runs of one role and unknown fields.
func (a *apiShape) make(s *scribe) *tree {
	h := a.history(s)
	if a.runs != nil {
		list := h.get(a.list)
		var out []*tree
		for _, m := range list.kids {
			out = append(out, m)
			for s.odds(.25) {
				if role := m.str("role"); role != "user" && role != "assistant" && role != "model" || m.get("tool_calls") != nil {
					continue
				}
				more := m.clone()
				more.set(a.runs(s))
				out = append(out, more)
			}
		}
		list.kids = out
	}
	for _, m := range h.get(a.list).kids {
		s.remark(m)
	}
	return h
}

// remark adds fields that no dialect knows, or that only describe a message. All of them are
// recorded content.
func (s *scribe) remark(t *tree) {
	for _, k := range t.kids {
		s.remark(k)
	}
	if t.kind != '{' || len(t.kids) == 0 || !s.odds(.12) {
		return
	}
	if t.get("role") == nil && t.get("type") == nil && t.get("toolResult") == nil && t.get("functionResponse") == nil {
		return
	}
	key := oneOf(s, "metadata", "human_label", "created", "x_note", "timestamp")
	if s.odds(.7) {
		t.set(key, val(s.mark("X")))
	} else {
		t.set(key, obj("k", s.mark("X")))
	}
}

// jsonText is an object of one marked argument, as a string.
func (s *scribe) jsonText() string { return fmt.Sprintf(`{"a": %q}`, s.mark("A")) }

func (s *scribe) chatContent() *tree {
	switch k := s.Float64(); {
	case k < .55:
		return val(s.mark("M"))
	case k < .75:
		t := arr()
		for range 1 + s.IntN(3) {
			t.kids = append(t.kids, obj("type", "text", "text", s.mark("M")))
		}
		return t
	case k < .82:
		return val("")
	case k < .88:
		return val(nil)
	case k < .92:
		return arr()
	case k < .96:
		return arr(obj("type", "text", "text", ""), obj("type", "text", "text", s.mark("M")))
	}
	return val(" ")
}

func (s *scribe) chatMessage(m *tree) *tree {
	if s.odds(.3) {
		m.set("name", val(oneOf(s, "bob", "al")))
	}
	if m.str("role") == "assistant" && s.odds(.2) {
		m.set("refusal", val(nil))
	}
	if m.str("role") == "assistant" && s.odds(.15) {
		m.set("reasoning_content", val(s.mark("R")))
	}
	if s.odds(.1) {
		m.set("id", val(fmt.Sprint("msg", 1+s.IntN(9))))
	}
	return m
}

func (s *scribe) chatHistory() *tree {
	var ms []*tree
	var pending []string
	if s.odds(.3) {
		ms = append(ms, obj("role", "system", "content", s.mark("M")))
	}
	for range 2 + s.IntN(8) {
		switch k := s.Float64(); {
		case k < .3:
			ms = append(ms, s.chatMessage(obj("role", "user", "content", s.chatContent())))
		case k < .5:
			ms = append(ms, s.chatMessage(obj("role", "assistant", "content", s.chatContent())))
		case k < .75:
			calls := arr()
			for range 1 + s.IntN(3) {
				id := s.callID()
				function := obj("name", oneOf(s, "f", "g", "h i"), "arguments", s.jsonText())
				if s.odds(.1) {
					function.set("arguments", obj("a", s.mark("A")))
				}
				call := obj("id", id, "type", "function", "function", function)
				if s.odds(.1) {
					call.remove("id")
				}
				if s.odds(.1) {
					call.remove("type")
				}
				calls.kids, pending = append(calls.kids, call), append(pending, id)
			}
			ms = append(ms, s.chatMessage(obj("role", "assistant", "content", oneOf[any](s, nil, "", s.mark("M")), "tool_calls", calls)))
			if !s.odds(.7) {
				break
			}
			if s.odds(.3) {
				s.Shuffle(len(pending), func(i, j int) { pending[i], pending[j] = pending[j], pending[i] })
			}
			for _, id := range pending {
				if s.odds(.8) {
					r := obj("role", "tool", "tool_call_id", id, "content", s.mark("T"))
					if s.odds(.5) {
						r.set("content", arr(obj("type", "text", "text", s.mark("T"))))
					}
					if s.odds(.1) {
						r.remove("tool_call_id")
					}
					if s.odds(.1) {
						r.set("name", val("f"))
					}
					ms = append(ms, r)
				}
				if s.odds(.1) {
					ms = append(ms, obj("role", "user", "content", s.mark("M")))
				}
			}
			pending = nil
		default:
			ms = append(ms, obj("role", "tool", "tool_call_id", s.callID(), "content", s.mark("T")))
		}
	}
	d := obj("model", "gpt-4", "messages", arr(ms...))
	if s.odds(.3) {
		d.set("tools", arr(obj("type", "function", "function", obj("name", "f", "parameters", obj("type", "object")))))
	}
	return d
}

func (s *scribe) messagesBlock() *tree {
	var b *tree
	switch k := s.Float64(); {
	case k < .7:
		b = obj("type", "text", "text", s.mark("M"))
	case k < .8:
		b = obj("type", "text", "text", "")
	case k < .9:
		b = obj("type", "text", "text", s.mark("M")+"  ")
	default:
		b = obj("type", "image", "source", obj("type", "base64", "media_type", "image/png", "data", s.mark("M")))
	}
	if s.odds(.2) {
		b.set("cache_control", obj("type", "ephemeral"))
	}
	return b
}

// times makes a list of up to n values.
func (s *scribe) times(n int, of func() *tree) (out []*tree) {
	for range s.IntN(n + 1) {
		out = append(out, of())
	}
	return out
}

func (s *scribe) messagesHistory() *tree {
	var ms []*tree
	var pending []string
	for range 2 + s.IntN(8) {
		var m *tree
		switch k := s.Float64(); {
		case k < .15:
			m = obj("role", "user", "content", s.mark("M"))
		case k < .3:
			m = obj("role", "user", "content", arr(s.times(3, s.messagesBlock)...))
		case k < .4:
			m = obj("role", "assistant", "content", oneOf(s, s.mark("M"), "", s.mark("M")+" "))
		case k < .7:
			blocks := s.times(2, s.messagesBlock)
			if s.odds(.15) {
				blocks = append([]*tree{obj("type", "thinking", "thinking", s.mark("R"), "signature", oneOf(s, "sig", ""))}, blocks...)
			}
			for range 1 + s.IntN(3) {
				id := s.callID()
				input := oneOf(s, obj("a", s.mark("A")), val(s.jsonText()), obj())
				b := obj("type", "tool_use", "id", id, "name", oneOf(s, "f", "h i"), "input", input)
				if s.odds(.07) {
					b.remove("input")
				}
				blocks, pending = s.put(blocks, b), append(pending, id)
			}
			role := "assistant"
			if s.odds(1. / 9) {
				role = "user"
			}
			m = obj("role", role, "content", arr(blocks...))
		default:
			blocks := s.times(2, s.messagesBlock)
			if s.odds(.3) {
				s.Shuffle(len(pending), func(i, j int) { pending[i], pending[j] = pending[j], pending[i] })
			}
			for _, id := range pending {
				if !s.odds(.8) {
					continue
				}
				b := obj("type", "tool_result", "tool_use_id", id, "content", oneOf(s, val(s.mark("T")), arr(obj("type", "text", "text", s.mark("T"))), arr()))
				if s.odds(.1) {
					b.set("is_error", val(true))
				}
				blocks = s.put(blocks, b)
			}
			if s.odds(.2) {
				blocks = append(blocks, obj("type", "tool_result", "tool_use_id", s.callID(), "content", s.mark("T")))
			}
			pending = nil
			role := "user"
			if s.odds(1. / 9) {
				role = "assistant"
			}
			if s.odds(.3) && len(blocks) > 1 {
				half := len(blocks) / 2
				ms = append(ms, obj("role", role, "content", arr(blocks[:half:half]...)))
				role, blocks = "user", blocks[half:]
			}
			m = obj("role", role, "content", arr(blocks...))
		}
		if s.odds(.1) {
			m.set("id", val("x"))
		}
		ms = append(ms, m)
	}
	return obj("model", "claude-3", "max_tokens", 9, "messages", arr(ms...))
}

func (s *scribe) converseHistory() *tree {
	var ms []*tree
	var pending []string
	text := func() *tree { return obj("text", s.mark("M")) }
	for range 2 + s.IntN(7) {
		switch k := s.Float64(); {
		case k < .35:
			ms = append(ms, obj("role", oneOf(s, "user", "assistant"), "content", arr(s.times(3, func() *tree {
				return obj("text", oneOf(s, s.mark("M"), "", s.mark("M")+" "))
			})...)))
		case k < .65:
			blocks := s.times(2, text)
			for range 1 + s.IntN(3) {
				id := s.callID()
				blocks = s.put(blocks, obj("toolUse", obj("toolUseId", id, "name", "f", "input", obj("a", s.mark("A")))))
				pending = append(pending, id)
			}
			ms = append(ms, obj("role", "assistant", "content", arr(blocks...)))
		default:
			blocks := s.times(1, text)
			for _, id := range pending {
				if s.odds(.8) {
					blocks = s.put(blocks, obj("toolResult", obj("toolUseId", id, "content", arr(obj("text", s.mark("T"))))))
				}
			}
			pending = nil
			ms = append(ms, obj("role", "user", "content", arr(blocks...)))
		}
	}
	return obj("modelId", "m", "messages", arr(ms...))
}

func (s *scribe) contentsHistory() *tree {
	var ms []*tree
	var pending []string
	text := func() *tree { return obj("text", s.mark("M")) }
	for range 2 + s.IntN(7) {
		switch k := s.Float64(); {
		case k < .35:
			ms = append(ms, obj("role", oneOf(s, "user", "model"), "parts", arr(s.times(3, func() *tree {
				return obj("text", oneOf(s, s.mark("M"), ""))
			})...)))
		case k < .65:
			parts := s.times(2, text)
			for range 1 + s.IntN(3) {
				name := oneOf(s, "f", "g")
				parts = s.put(parts, obj("functionCall", obj("name", name, "args", obj("a", s.mark("A")))))
				pending = append(pending, name)
			}
			ms = append(ms, obj("role", "model", "parts", arr(parts...)))
		default:
			parts := s.times(1, text)
			for _, name := range pending {
				if s.odds(.8) {
					response := oneOf(s, obj("r", s.mark("T")), val(s.mark("T")))
					parts = s.put(parts, obj("functionResponse", obj("name", name, "response", response)))
				}
			}
			pending = nil
			ms = append(ms, obj("role", oneOf(s, "user", "function"), "parts", arr(parts...)))
		}
	}
	return obj("contents", arr(ms...))
}

func (s *scribe) itemsHistory() *tree {
	var items []*tree
	var pending []string
	for range 2 + s.IntN(9) {
		switch k := s.Float64(); {
		case k < .3:
			content := oneOf(s, val(s.mark("M")), arr(obj("type", "input_text", "text", s.mark("M"))), arr())
			items = append(items, obj("type", "message", "role", oneOf(s, "user", "assistant"), "content", content))
		case k < .6:
			id := s.callID()
			call := obj("type", "function_call", "call_id", id, "name", "f", "arguments", s.jsonText())
			if s.odds(.3) {
				call.set("id", val(oneOf(s, "fc_1", "fc_2", "bad")))
			}
			items, pending = append(items, call), append(pending, id)
		case k < .7:
			items = append(items, obj("type", "reasoning", "id", oneOf(s, "rs_1", "rs_2"), "summary", arr(obj("type", "summary_text", "text", s.mark("R")))))
		default:
			id := s.callID()
			if len(pending) > 0 {
				at := s.IntN(len(pending))
				id = pending[at]
				pending = append(pending[:at:at], pending[at+1:]...)
			}
			kind := "function_call_output"
			if s.odds(1. / 7) {
				kind = "custom_tool_call_output"
			}
			items = append(items, obj("type", kind, "call_id", id, "output", oneOf(s, val(s.mark("T")), obj("x", s.mark("T")))))
		}
	}
	return obj("model", "gpt-5", "input", arr(items...))
}

// TestMarkersKept: a repair that refuses everything loses nothing. So it must change at least
// 80 in 100 of the histories that it changed when they were last counted.
func TestMarkersKept(t *testing.T) {
	t.Parallel()
	const seed = 17
	for k, a := range apiShapes {
		t.Run(a.dialect, func(t *testing.T) {
			t.Parallel()
			s := scribeOf(seed, uint64(k))
			changed, safe := 0, 0
			n := sample.Inputs(1000, 25, 15)
			done := sample.Until(t)
			for i := range n {
				if done() {
					t.Logf("stopped after %d of %d histories", i, n)
					return
				}
				text := []byte(oneOf(s, layouts...).text(a.make(s)))
				for _, count := range []struct {
					of   *int
					opts FixOptions
				}{{&changed, FixOptions{}}, {&safe, FixOptions{SafeOnly: true}}} {
					out, _, err := repaired(text, count.opts)
					if err != nil {
						t.Logf("%v\n%s", err, text)
					} else if string(out) != string(text) {
						*count.of++
					}
				}
			}
			t.Logf("of %d histories %d are changed by default and %d with safe repairs", n, changed, safe)
			if least := a.changed * n / 500 * 80 / 100; changed < least {
				t.Errorf("%d of %d histories are changed, want %d at least", changed, n, least)
			}
			if least := a.safe * n / 500 * 80 / 100; safe < least {
				t.Errorf("%d of %d histories are changed with safe repairs, want %d at least", safe, n, least)
			}
			if d := dialect.ByName(a.dialect); d == nil || d.CheckOnly != "" {
				t.Errorf("%s is not repaired", a.dialect)
			}
		})
	}
}
