package detect

import (
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/toolguard/toolguard/internal/source"
)

// A foreign format is one of which there is nothing to pair: it names no calls, or
// nothing that answers them. It competes with the dialects for a file, and what
// it has in common with a transcript refuses none.
type foreign struct {
	// reason says what it is, why there is nothing to pair, and what to check
	// instead.
	reason string
	// signs are what its records look like: one of them.
	signs []sign
	// calls is set where a sign is a call, written as no dialect does: then it
	// says more of a record than that a dialect reads messages so.
	calls bool
	// few is set where a few of its records tell, bulk where more than half of
	// them do. Else all do.
	few, bulk bool
}

// A sign is what a record has, or the first element of a list: all of its
// conditions hold.
type sign []condition

// A condition is one on what a path leads to, in the syntax of gjson: that it is
// there; that it is one of the texts, or begins as one with "*" at the end; with
// not, that it is not so. Records are valid JSON before they
// are asked, so that a path leads where it says.
type condition struct {
	path  string
	texts []string
	not   bool
}

// has makes a sign of conditions as a dialect's marks are written: "path",
// "path=text|text", and "!" before them for not.
func has(conditions ...string) sign {
	out := make(sign, len(conditions))
	for i, text := range conditions {
		c := &out[i]
		text, c.not = strings.CutPrefix(text, "!")
		path, texts, says := strings.Cut(text, "=")
		if says && !strings.Contains(path, "#") {
			text, c.texts = path, strings.Split(texts, "|")
		}
		c.path = text
	}
	return out
}

// of reports whether a record has the sign.
func (s sign) of(record []byte) bool {
	for i := range s {
		if s[i].holds(record) == s[i].not {
			return false
		}
	}
	return true
}

// holds reports whether the condition holds of a record, but for its not.
func (c *condition) holds(record []byte) bool {
	got := gjson.GetBytes(record, c.path)
	if c.texts == nil {
		return got.Exists() && got.Type != gjson.Null
	}
	return got.Type == gjson.String && slices.ContainsFunc(c.texts, func(p string) bool {
		begin, open := strings.CutSuffix(p, "*")
		return got.Str == p || open && strings.HasPrefix(got.Str, begin)
	})
}

// foreigners lists the foreign formats, in the order in which they are tried.
var foreigners = [...]foreign{
	{
		reason: "a Cursor transcript, which writes calls without ids and no results, so that there is nothing to pair; " +
			"check what the agent sends, as its API logs it",
		calls: true, few: true,
		signs: []sign{has("role", "!type", `message.content.#(type=="tool_use")#|#(id==~null)`, `!message.content.#(type=="tool_use")#|#(id==~*)`)},
	},
	{
		reason: "an Antigravity or Windsurf step log, whose steps have no call ids, so that there is nothing to pair; " +
			"check the history that the model was sent, if the agent exports it",
		signs: []sign{has("step_index", "source", "type", "status")},
	},
	{
		reason: "a stream of events from a Pydantic AI app, which shows calls piece by piece and no results that name them, so that there is " +
			"nothing to pair; check the messages of the run, which all_messages_json() writes",
		few:   true,
		signs: []sign{has("type", "tool_name", "args_delta")},
	},
	{
		reason: "a ChatGPT export, a tree of messages without call ids, so that there is nothing to pair; " +
			"export the conversation from the API to check its calls",
		signs: []sign{has("mapping.@keys.0", "current_node")},
	},
	{
		reason: "a claude.ai export, which keeps calls and results of a turn in one message, mostly without ids, so that there is nothing to pair; " +
			"check the history of the API instead",
		signs: []sign{has("uuid", "chat_messages")},
	},
	{
		reason: "what Cline or Roo shows of a task, which has no calls and no results, so that there is nothing to pair; " +
			"check api_conversation_history.json beside it",
		signs: []sign{has("ts", "type", "say"), has("ts", "type", "ask")},
	},
	{
		reason: "a log of JSON-RPC, as MCP clients and servers keep it, which has requests to tools and no messages of a model, so that there is nothing to pair; " +
			"check the history of the agent that made them",
		bulk: true,
		// Updates of a session tell of calls.
		signs: []sign{has("jsonrpc", "!method=session/*")},
	},
	{
		reason: "the steps of a smolagents run, whose observations name no call, so that there is nothing to pair; " +
			"check the messages that the model was sent, as write_memory_to_messages() gives them",
		signs: []sign{
			has("step_number", "model_output"), has("step_number", "observations"), has("step_number", "action_output"),
			has("steps.#.step_number|0", "steps.#.model_output|0"), has("steps.#.step_number|0", "steps.#.observations|0"),
			has("steps.#.step_number|0", "steps.#.action_output|0"),
		},
	},
	{
		reason: "a Zed thread, which keeps the results of a message beside its calls by their ids and sends them itself, so that there is nothing to pair; " +
			"check what the agent sends, as its API logs it",
		signs: []sign{has("messages.#.Agent.content|0"), has("messages.#.User.content|0")},
	},
	{
		reason: "a recording of HTTP requests that holds their bodies as text, which is not read; " +
			"save the body of a request as a file of its own, as jq -r does with its text, to check it",
		signs: []sign{
			has("log.entries.#.request.method|0", "log.entries.#.response|0", "log.entries.#.request.postData.text|0"),
			has("interactions.#.request.method|0", "interactions.#.response|0", "interactions.#.request.body.string|0"),
			has("interactions.#.request.method|0", "interactions.#.response|0", `interactions.#.request.body|#(%"*")`),
		},
	},
	{reason: streamReason, bulk: true, signs: []sign{
		// As Anthropic names the events of an answer, and Bedrock.
		has("type=message_start|message_delta|message_stop|content_block_*|ping"), has("data.kind=message*|contentBlock*|metadata"),
		has("messageStart"), has("contentBlockStart"), has("contentBlockDelta"), has("contentBlockStop"), has("messageStop"),
		has("message_start"), has("content_block_start"), has("content_block_delta"), has("message_delta"), has("ping"),
		has("metadata.usage"), has("metadata.metrics"), // Bedrock says in the end what it took
		has("object=chat.completion.chunk"),
		has("type=response.*", "sequence_number"), has("type=response.*", "response"), has("type=response.*", "output_index"),
	}},
}

const streamReason = "a recorded stream of events, in which an answer of a model comes piece by piece and no results stand, so that there is " +
	"nothing to pair; check the history that the next request sends, or the message that an SDK makes of the stream"

// stores are recognised by the bytes that a file begins with.
var stores = []struct{ magic, reason string }{
	{"SQLite format 3\x00", "an SQLite database, as opencode, Goose, Crush, Zed and Cursor keep their sessions in; " +
		"export a session to check it, as with opencode export or goose session export --format json"},
	{"PK\x03\x04", "a zip archive, as Inspect keeps its .eval logs in; convert it to JSON to check it, with inspect log convert --to json"},
	{"event:", streamReason},
	{"data:", streamReason},
}

// store says what a source is by its first bytes, "" for what may be a
// transcript.
func store(src *source.Source) (string, error) {
	var head [16]byte
	n, err := src.ReadAt(head[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	for _, s := range stores {
		if strings.HasPrefix(string(head[:n]), s.magic) {
			return s.reason, nil
		}
	}
	return "", nil
}

// A recognition counts the records that look like each foreign format.
type recognition struct {
	seen int // lists and objects
	by   [len(foreigners)]int
}

// add counts a record, of which is known whether a dialect reads it.
func (r *recognition) add(v source.Value, read bool) {
	if v.Kind() != source.Object && v.Kind() != source.Array {
		return
	}
	r.seen++
	if v.Kind() == source.Array {
		v = v.First()
	}
	if v.Kind() != source.Object {
		return
	}
	record := v.Raw()
	for i := range foreigners {
		if f := &foreigners[i]; (f.calls || !read) && slices.ContainsFunc(f.signs, func(s sign) bool { return s.of(record) }) {
			r.by[i]++
		}
	}
}

// sure reports whether all records look like those of a foreign format.
func (r *recognition) sure() bool { return r.seen > 0 && slices.Contains(r.by[:], r.seen) }

// reason says what the records are, "" where they are nothing foreign. Known is
// how many of them a dialect is sure of.
func (r *recognition) reason(known int) string {
	for i := range foreigners {
		f, by := &foreigners[i], r.by[i]
		switch {
		case by == 0:
		case f.few && known <= by, f.bulk && known < by && 2*by > r.seen, by == r.seen:
			return f.reason
		}
	}
	return ""
}
