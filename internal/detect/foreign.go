package detect

import (
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
)

// A foreign format is one of which there is nothing to pair: it names no calls, or
// nothing that answers them. It competes with the dialects for a file, and what
// it has in common with a transcript refuses none.
type foreign struct {
	// reason says what it is, why there is nothing to pair, and what to check
	// instead.
	reason string
	// signs are what its records look like, or the first element of a list: one of
	// them.
	signs *evidence.Table
	// calls is set where a sign is a call, written as no dialect does: then it
	// says more of a record than that a dialect reads messages so.
	calls bool
	// few is set where a few of its records tell, bulk where more than half of
	// them do. Else all do.
	few, bulk bool
}

// foreigners lists the foreign formats, in the order in which they are tried.
var foreigners = [...]foreign{
	{
		reason: "a Cursor transcript, which writes calls without ids and no results, so that there is nothing to pair; " +
			"check what the agent sends, as its API logs it",
		calls: true, few: true,
		signs: evidence.NewTable("decisive if role and !type and any message.content has type=tool_use and !id and no message.content has type=tool_use and id:any"),
	},
	{
		reason: "an Antigravity or Windsurf step log, whose steps have no call ids, so that there is nothing to pair; " +
			"check the history that the model was sent, if the agent exports it",
		signs: evidence.NewTable("decisive if step_index and source and type and status"),
	},
	{
		reason: "a stream of events from a Pydantic AI app, which shows calls piece by piece and no results that name them, so that there is " +
			"nothing to pair; check the messages of the run, which all_messages_json() writes",
		few:   true,
		signs: evidence.NewTable("decisive if type and tool_name and args_delta"),
	},
	{
		reason: "a ChatGPT export, a tree of messages without call ids, so that there is nothing to pair; " +
			"export the conversation from the API to check its calls",
		signs: evidence.NewTable("decisive if mapping.@keys.0 and current_node"),
	},
	{
		reason: "a claude.ai export, which keeps calls and results of a turn in one message, mostly without ids, so that there is nothing to pair; " +
			"check the history of the API instead",
		signs: evidence.NewTable("decisive if uuid and chat_messages"),
	},
	{
		reason: "what Cline or Roo shows of a task, which has no calls and no results, so that there is nothing to pair; " +
			"check api_conversation_history.json beside it",
		signs: evidence.NewTable("decisive if ts and type and say|ask"),
	},
	{
		reason: "a log of JSON-RPC, as MCP clients and servers keep it, which has requests to tools and no messages of a model, so that there is nothing to pair; " +
			"check the history of the agent that made them",
		bulk: true,
		// Updates of a session tell of calls.
		signs: evidence.NewTable("decisive if jsonrpc and method|result|error and !method=session/*"),
	},
	{
		reason: "the steps of a smolagents run, whose observations name no call, so that there is nothing to pair; " +
			"check the messages that the model was sent, as write_memory_to_messages() gives them",
		signs: evidence.NewTable(
			"decisive if step_number and model_output|observations|action_output",
			"decisive if steps.#.step_number and steps.#.model_output|steps.#.observations|steps.#.action_output",
		),
	},
	{
		reason: "a Zed thread, which keeps the results of a message beside its calls by their ids and sends them itself, so that there is nothing to pair; " +
			"check what the agent sends, as its API logs it",
		signs: evidence.NewTable("decisive if messages.#.Agent.content|messages.#.User.content"),
	},
	{
		reason: "a recording of HTTP requests that holds their bodies as text, which is not read; " +
			"save the body of a request as a file of its own, as jq -r does with its text, to check it",
		signs: evidence.NewTable(
			"decisive if log.entries.#.request.method and log.entries.#.response and log.entries.#.request.postData.text",
			"decisive if interactions.#.request.method and interactions.#.response and interactions.#.request.body.string|interactions.#.request.body:string",
		),
	},
	{
		reason: "the description of an API, whose examples nobody sends; check what its clients send",
		calls:  true, few: true,
		signs: evidence.NewTable("decisive if openapi|swagger:string and paths|components|webhooks:object"),
	},
	{reason: streamReason, bulk: true, signs: streamSigns},
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
	for i := range foreigners {
		if f := &foreigners[i]; f.calls || !read {
			if weight, _ := f.signs.Weigh(v); weight > evidence.None {
				r.by[i]++
			}
		}
	}
}

// any reports whether a record looks like one of a foreign format.
func (r *recognition) any() bool {
	return slices.ContainsFunc(r.by[:], func(n int) bool { return n > 0 })
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
