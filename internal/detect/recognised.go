package detect

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/source"
)

// A recognised format is one of which there is nothing to pair: it names no
// calls, or nothing that answers them.
type recognised struct {
	// reason says what it is, why there is nothing to pair, and what to check
	// instead.
	reason string
	is     func(v source.Value) bool
	// against is what it never has: one record with it, and it is another.
	against func(v source.Value) bool
	// bulk is set where most records must look like it, and not all.
	bulk bool
}

// formats lists what is recognised by its records. All records of a format that
// say anything must look like it; a document is one record.
var formats = [...]recognised{
	{
		reason: "a Cursor transcript, which writes calls without ids and no results, so that there is nothing to pair; " +
			"check what the agent sends, as its API logs it",
		is: func(v source.Value) bool {
			return has(v, "role", "message.content") && !v.Get("type").Exists() && slices.ContainsFunc(blocks(v), func(b source.Value) bool {
				return b.Get("type").Is("tool_use") && !b.Get("id").Exists()
			})
		},
		against: func(v source.Value) bool {
			return slices.ContainsFunc(blocks(v), func(b source.Value) bool { return b.Get("type").Is("tool_use") && b.Get("id").Exists() })
		},
	},
	{
		reason: "an Antigravity or Windsurf step log, whose steps have no call ids, so that there is nothing to pair; " +
			"check the history that the model was sent, if the agent exports it",
		is: func(v source.Value) bool { return has(v, "step_index", "source", "type", "status") },
	},
	{
		reason: "a stream of events from a Pydantic AI app, which shows calls piece by piece and no results that name them, so that there is " +
			"nothing to pair; check the messages of the run, which all_messages_json() writes",
		is:      func(v source.Value) bool { return has(v, "type", "tool_name", "args_delta") },
		against: func(v source.Value) bool { return has(v, "message") || has(v, "part_kind") || has(v, "parts") },
	},
	{
		reason: "a ChatGPT export, a tree of messages without call ids, so that there is nothing to pair; " +
			"export the conversation from the API to check its calls",
		is: func(v source.Value) bool {
			return has(first(v), "mapping", "current_node") && first(v).Get("mapping").Kind() == source.Object
		},
	},
	{
		reason: "a claude.ai export, which keeps calls and results of a turn in one message, mostly without ids, so that there is nothing to pair; " +
			"check the history of the API instead",
		is: func(v source.Value) bool { return has(first(v), "uuid", "chat_messages") },
	},
	{
		reason: "what Cline or Roo shows of a task, which has no calls and no results, so that there is nothing to pair; " +
			"check api_conversation_history.json beside it",
		is: func(v source.Value) bool {
			v = first(v)
			return has(v, "ts", "type") && (has(v, "say") || has(v, "ask"))
		},
	},
	{
		reason: "a log of JSON-RPC, as MCP clients and servers keep it, which has requests to tools and no messages of a model, so that there is nothing to pair; " +
			"check the history of the agent that made them",
		is: func(v source.Value) bool { return has(first(v), "jsonrpc") },
		// Updates of a session tell of calls.
		against: func(v source.Value) bool {
			return bytes.HasPrefix(first(v).Get("method").Text(), []byte("session/"))
		},
		bulk: true,
	},
	{
		reason: "the steps of a smolagents run, whose observations name no call, so that there is nothing to pair; " +
			"check the messages that the model was sent, as write_memory_to_messages() gives them",
		is: func(v source.Value) bool {
			v = first(v)
			if steps := v.Get("steps"); steps.Kind() == source.Array {
				for _, e := range steps.Elements() {
					if smolStep(e) {
						return true
					}
				}
			}
			return smolStep(v)
		},
	},
	{
		reason: "a Zed thread, which keeps the results of a message beside its calls by their ids and sends them itself, so that there is nothing to pair; " +
			"check what the agent sends, as its API logs it",
		is: func(v source.Value) bool {
			for _, e := range v.Get("messages").Elements() {
				if has(e, "Agent.content") || has(e, "User.content") {
					return true
				}
			}
			return false
		},
	},
	{
		reason: "a recording of HTTP requests that holds their bodies as text, which is not read; " +
			"save the body of a request as a file of its own, as jq -r does with its text, to check it",
		is: func(v source.Value) bool {
			for _, e := range append(elements(dialect.Path("log.entries").In(v)), elements(v.Get("interactions"))...) {
				body := dialect.Path("request.postData.text|request.body.string|request.body").In(e)
				if has(e, "request.method", "response") && body.Kind() == source.String {
					return true
				}
			}
			return false
		},
	},
	{
		reason: streamReason, bulk: true,
		is: func(v source.Value) bool { return streamed(first(v)) },
		against: func(v source.Value) bool {
			return !streamed(first(v)) && (has(v, "messages") || has(v, "contents") || has(v, "role", "content") || has(v, "message.content"))
		},
	},
}

const streamReason = "a recorded stream of events, in which an answer of a model comes piece by piece and no results stand, so that there is " +
	"nothing to pair; check the history that the next request sends, or the message that an SDK makes of the stream"

// streamEvents are the events of which an answer comes, as Bedrock and Anthropic
// name them.
var streamEvents = []string{
	"messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop",
	"message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop", "ping",
}

// streamed reports whether a record is an event of a stream by which an API
// sends an answer.
func streamed(v source.Value) bool {
	named := func(v source.Value) bool { return slices.ContainsFunc(streamEvents, v.Is) }
	if v.Kind() != source.Object {
		return false
	}
	if named(v.Get("type")) || named(dialect.Path("data.kind").In(v)) || v.Get("object").Is("chat.completion.chunk") {
		return true
	}
	if bytes.HasPrefix(v.Get("type").Text(), []byte("response.")) && (has(v, "sequence_number") || has(v, "response") || has(v, "output_index")) {
		return true
	}
	for k, val := range v.Members() {
		if val.Kind() == source.Object && named(k) {
			return true
		}
	}
	// Bedrock says in the end what it took.
	return has(v, "metadata.usage") || has(v, "metadata.metrics") || v.Get("data").Get("kind").Is("metadata")
}

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

// recognition counts the records that look like a recognised format.
type recognition struct {
	seen    int
	by, not [len(formats)]int
}

func (r *recognition) add(v source.Value) {
	if v.Kind() != source.Object && v.Kind() != source.Array {
		return
	}
	r.seen++
	for i := range formats {
		if formats[i].is(v) {
			r.by[i]++
		}
		if formats[i].against != nil && formats[i].against(v) {
			r.not[i]++
		}
	}
}

// reason says what the records are, "" where they are nothing that is
// recognised.
func (r *recognition) reason() string {
	for i := range formats {
		// Of a transcript only the records with calls tell; the others must at
		// least not be another's.
		if f := &formats[i]; r.by[i] > 0 && r.not[i] == 0 && (r.by[i] == r.seen || f.against != nil && (!f.bulk || 2*r.by[i] > r.seen)) {
			return formats[i].reason
		}
	}
	return ""
}

// smolStep reports whether v is a step of smolagents.
func smolStep(v source.Value) bool {
	return has(v, "step_number") && (has(v, "model_output") || has(v, "observations") || has(v, "action_output"))
}

// elements returns the elements of a list.
func elements(v source.Value) []source.Value {
	var out []source.Value
	for _, e := range v.Elements() {
		out = append(out, e)
	}
	return out
}

func has(v source.Value, paths ...dialect.Path) bool {
	return v.Kind() == source.Object && !slices.ContainsFunc(paths, func(p dialect.Path) bool { return !p.In(v).Exists() })
}

// first returns the first of a list, or the value itself.
func first(v source.Value) source.Value {
	if v.Kind() == source.Array {
		return v.First()
	}
	return v
}

// blocks returns the blocks of the message in a record.
func blocks(v source.Value) []source.Value {
	return elements(dialect.Path("message.content").In(v))
}
