package provider

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var (
	wordID   = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
	serverID = regexp.MustCompile(`^srvtoolu_[a-zA-Z0-9_]+$`)
)

// A turn is what the Messages API makes of consecutive messages with one role.
type turn struct {
	role   string
	blocks []object
	// the places of the blocks, and of the first message, in the request
	at    []string
	first int
}

// messages has the rules of Anthropic's Messages API.
func messages(r object, f *faults) {
	var turns []*turn
	all := list(r["messages"])
	if len(all) == 0 {
		f.add("messages: at least one message is required")
	}
	markers := cached(r["system"]) + cached(r["tools"])
	for i, v := range all {
		m := fields(v)
		role := text(m["role"])
		if role == "system" && i > 0 {
			// Claude Code sends such messages. They are turns of their own.
			turns = append(turns, &turn{role: role, first: i})
			continue
		}
		if role != "user" && role != "assistant" {
			f.add("messages.%d.role: Input should be 'user' or 'assistant'", i)
			continue
		}
		blocks := list(m["content"])
		if s, ok := m["content"].(string); ok && s != "" {
			blocks = []any{object{"type": "text", "text": s}}
		}
		if len(blocks) == 0 && (i < len(all)-1 || role != "assistant") {
			f.add("messages.%d: all messages must have non-empty content except for the optional final assistant message", i)
		}
		markers += cached(m["content"])
		if len(turns) == 0 || turns[len(turns)-1].role != role {
			turns = append(turns, &turn{role: role, first: i})
		}
		t := turns[len(turns)-1]
		calls := slices.ContainsFunc(blocks, func(b any) bool { return text(fields(b)["type"]) == "tool_use" })
		for j, b := range blocks {
			t.blocks = append(t.blocks, fields(b))
			t.at = append(t.at, fmt.Sprintf("messages.%d.content.%d", i, j))
			block(f, t.at[len(t.at)-1], fields(b), calls)
		}
	}
	if markers > 4 {
		f.add("A maximum of 4 blocks with cache_control may be provided. Found %d.", markers)
	}
	if len(f.list) > 0 {
		return // the order is checked in requests of the right form
	}
	if turns[0].role != "user" {
		f.add(`messages: first message must use the "user" role`)
	}
	for k, t := range turns {
		var before, after *turn
		if k > 0 {
			before = turns[k-1]
		}
		if k+1 < len(turns) {
			after = turns[k+1]
		}
		switch t.role {
		case "assistant":
			t.assistant(f, after)
		case "user":
			t.user(f, before)
		}
	}
	reasoning(f, turns)
}

// block has the rules about one block of a message. A text of white space beside calls was accepted.
func block(f *faults, at string, b object, calls bool) {
	switch text(b["type"]) {
	case "text":
		switch s := text(b["text"]); {
		case s == "":
			f.add("messages: text content blocks must be non-empty")
		case strings.TrimSpace(s) == "" && !calls:
			f.add("messages: text content blocks must contain non-whitespace text")
		}
	case "tool_use":
		if !wordID.MatchString(text(b["id"])) {
			f.add("%s.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'", at)
		}
		if _, ok := b["input"].(object); !ok {
			f.add("%s.tool_use.input: Input should be a valid dictionary", at)
		}
		if n := len([]rune(text(b["name"]))); n > 200 {
			f.add("%s.tool_use.name: String should have at most 200 characters", at)
		}
	case "tool_result":
		if !wordID.MatchString(text(b["tool_use_id"])) {
			f.add("%s.tool_result.tool_use_id: String should match pattern '^[a-zA-Z0-9_-]+$'", at)
		}
	case "server_tool_use":
		if !serverID.MatchString(text(b["id"])) {
			f.add("%s.server_tool_use.id: String should match pattern '^srvtoolu_[a-zA-Z0-9_]+$'", at)
		}
	case "thinking":
		if own, _, _ := strings.Cut(text(b["signature"]), "."); own != seal(b["thinking"]) {
			f.add("%s: Invalid `signature` in `thinking` block", at)
		}
	}
}

// cached returns the number of blocks in a value that have a cache marker.
func cached(v any) (n int) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			n += cached(e)
		}
	case object:
		if v["cache_control"] != nil {
			n++
		}
		n += cached(v["content"])
	}
	return n
}

// assistant has the rules about calls: each has a result in the next turn, or, for tools of the
// server, behind it.
func (t *turn) assistant(f *faults, after *turn) {
	seen := map[string]bool{}
	var open []string
	for j, b := range t.blocks {
		id := text(b["id"])
		switch kind := text(b["type"]); {
		case kind == "tool_use":
			if seen[id] {
				f.add("%s: `tool_use` ids must be unique", t.at[j])
			}
			seen[id] = true
			if after == nil || !after.answers(id) {
				open = append(open, id)
			}
		case kind == "server_tool_use":
			// A turn of the model may pause at such a call, to be continued.
			if after != nil && !slices.ContainsFunc(t.blocks[j:], func(r object) bool { return text(r["tool_use_id"]) == id }) {
				f.add("messages.%d: `%s` tool use with id `%s` was found without a corresponding `%[2]s_tool_result` block", t.first, text(b["name"]), id)
			}
		case kind == "tool_result":
			f.add("messages.%d: `tool_result` blocks can only be in `user` messages", t.first)
		case strings.HasSuffix(kind, "_tool_result"):
			id := text(b["tool_use_id"])
			if !slices.ContainsFunc(t.blocks[:j], func(u object) bool { return text(u["id"]) == id }) {
				f.add("%s: unexpected `tool_use_id` found in `%s` blocks: %s. Each `%[2]s` block must have a corresponding `server_tool_use` block before it.", t.at[j], kind, id)
			}
		}
	}
	if len(open) > 0 {
		f.add("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s. Each `tool_use` block must have a corresponding `tool_result` block in the next message.", t.first, strings.Join(open, ", "))
	}
	if last := len(t.blocks) - 1; after == nil && last >= 0 {
		if s := text(t.blocks[last]["text"]); s != strings.TrimRight(s, " \t\r\n") {
			f.add("messages: final assistant content cannot end with trailing whitespace")
		}
	}
}

// answers reports whether a turn has the result of a call among the results at its beginning.
func (t *turn) answers(id string) bool {
	for _, b := range t.blocks {
		if text(b["type"]) != "tool_result" {
			return false
		}
		if text(b["tool_use_id"]) == id {
			return true
		}
	}
	return false
}

// user has the rules about results: each has a call in the turn before, and is its only result.
func (t *turn) user(f *faults, before *turn) {
	seen := map[string]bool{}
	for j, b := range t.blocks {
		switch text(b["type"]) {
		case "tool_use":
			f.add("messages.%d: `tool_use` blocks can only be in `assistant` messages", t.first)
		case "tool_result":
			id := text(b["tool_use_id"])
			called := before != nil && slices.ContainsFunc(before.blocks, func(u object) bool {
				return text(u["type"]) == "tool_use" && text(u["id"]) == id
			})
			if !called {
				f.add("%s: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", t.at[j], id)
			}
			if seen[id] {
				f.add("%s: each tool_use must have a single result. Found multiple `tool_result` blocks with id: %s", t.at[j], id)
			}
			seen[id] = true
		}
	}
}

// reasoning has the rule about the latest turn of the model: if it has reasoning, nothing in it
// has changed.
func reasoning(f *faults, turns []*turn) {
	for _, t := range slices.Backward(turns) {
		if t.role != "assistant" {
			continue
		}
		for j, b := range t.blocks {
			if text(b["type"]) != "thinking" {
				continue
			}
			if _, all, _ := strings.Cut(text(b["signature"]), "."); all != seal(rest(t.blocks)) {
				f.add("%s: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.", t.at[j])
			}
		}
		return
	}
}

// rest returns the blocks that are not reasoning.
func rest(blocks []object) []object {
	return slices.DeleteFunc(slices.Clone(blocks), func(b object) bool { return text(b["type"]) == "thinking" })
}

// seal returns a short digest of a value.
func seal(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // values come from JSON
	}
	sum := sha256.Sum256(raw)
	return base64.RawStdEncoding.EncodeToString(sum[:12])
}

// Sign sets the signatures of the thinking blocks in a list of Anthropic messages to what the API
// accepts. A signature covers the reasoning and, as long as its message is the latest one of the
// model, all other blocks of that message.
func Sign(messages []byte) ([]byte, error) {
	var all []object
	if err := json.Unmarshal(messages, &all); err != nil {
		return nil, err
	}
	for _, m := range all {
		var blocks []object
		for _, b := range list(m["content"]) {
			blocks = append(blocks, fields(b))
		}
		for _, b := range blocks {
			if text(b["type"]) == "thinking" {
				b["signature"] = seal(b["thinking"]) + "." + seal(rest(blocks))
			}
		}
	}
	return json.Marshal(all)
}
