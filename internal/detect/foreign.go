package detect

import (
	"errors"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
)

// A foreign format is one without anything to pair: it has no calls, or no results that
// name their calls. It competes with the dialects for a file, so similarities with
// transcripts do not reject any.
type foreign struct {
	// reason says what the file is, why there is nothing to pair, and what to check
	// instead.
	reason string
	// signs describe the records of the format, or the first element of an array record.
	signs *evidence.Table
	// calls is set if the sign is a call in a form that no dialect has. It then outweighs
	// a dialect that reads such messages.
	calls bool
	// few is set if a few matching records are enough, and bulk if more than half are
	// enough. Otherwise all records must match.
	few, bulk bool
	// within is set if programs log such records inside of records of their own.
	within bool
}

// levelsWithin is how deep records inside of others are searched, and mostFields among how many
// fields.
const (
	levelsWithin = 2
	mostFields   = 16
)

// foreigners lists the foreign formats in the order in which they are tried.
var foreigners = [...]foreign{
	{
		reason: "a Cursor session, whose calls have no ids and no results, so there is nothing to pair; " +
			"check the logged API requests of the agent instead",
		calls: true, few: true,
		signs: &evidence.Table{Rows: []string{"decisive if role and !type and any message.content has type=tool_use and !id and no message.content has type=tool_use and id:any"}},
	},
	{
		reason: "an Antigravity or Windsurf step log, whose steps have no call ids, so there is nothing to pair; " +
			"check the history sent to the model instead, if the agent exports it",
		signs: &evidence.Table{Rows: []string{"decisive if step_index and source and type and status"}},
	},
	{
		reason: "an event stream of a Pydantic AI app, which has calls in pieces and no results that name them, so there is nothing to pair; " +
			"check the messages of the run instead, as all_messages_json() returns them",
		few:   true,
		signs: &evidence.Table{Rows: []string{"decisive if type and tool_name and args_delta"}},
	},
	{
		reason: "a ChatGPT export, which is a tree of messages without call ids, so there is nothing to pair; " +
			"export the conversation from the API to check its calls",
		signs: &evidence.Table{Rows: []string{"decisive if mapping.@keys.0 and current_node"}},
	},
	{
		reason: "a claude.ai export, which has the calls and results of a turn in one message and mostly without ids, so there is nothing to pair; " +
			"check the API history instead",
		signs: &evidence.Table{Rows: []string{"decisive if uuid and chat_messages"}},
	},
	{
		reason: "the display log of a Cline or Roo task, which has no calls and no results, so there is nothing to pair; " +
			"check api_conversation_history.json in the same directory instead",
		signs: &evidence.Table{Rows: []string{"decisive if ts and type and say|ask"}},
	},
	{
		reason: "a JSON-RPC log of an MCP client or server, which has tool requests but no model messages, so there is nothing to pair; " +
			"check the history of the agent that made the requests instead",
		bulk: true,
		// Session updates describe calls.
		signs: &evidence.Table{Rows: []string{"decisive if jsonrpc and method|result|error and !method=session/*"}},
	},
	{
		reason: "the steps of a smolagents run, whose observations name no call, so there is nothing to pair; " +
			"check the messages sent to the model instead, as write_memory_to_messages() returns them",
		calls: true, // the steps repeat the messages
		signs: &evidence.Table{Rows: []string{
			"decisive if step_number and model_output|observations|action_output",
			"decisive if steps.#.step_number and steps.#.model_output|steps.#.observations|steps.#.action_output",
		}},
	},
	{
		reason: "the output of pi --mode json, whose events repeat unfinished messages; " +
			"check the session that pi keeps in ~/.pi/agent/sessions instead",
		calls: true, few: true, within: true,
		signs: &evidence.Table{Rows: []string{
			"decisive if type=agent_start|agent_end|turn_start|turn_end|tool_execution_*",
			"decisive if type=message_start|message_update|message_end and message.role and message.timestamp",
		}},
	},
	{
		reason: "the frame of an opencode message, whose parts are in other files; check the session instead, as opencode export prints it",
		signs:  &evidence.Table{Rows: []string{"decisive if id and sessionID and role and time.created and !parts"}},
	},
	{
		reason: "the events of a CrewAI run, whose tool calls have no ids, so there is nothing to pair; " +
			"check the requests to the model instead, as its provider or a proxy logs them",
		calls: true, few: true, within: true,
		signs: &evidence.Table{Rows: []string{
			"decisive if type=tool_usage_started|tool_usage_finished|tool_usage_error and tool_name and tool_args:any and timestamp",
			"decisive if type=llm_call_started|llm_call_completed and timestamp and messages:any",
			"decisive if type=crew_kickoff_*|agent_execution_*|task_started|task_completed and timestamp",
		}},
	},
	{
		reason: "a recording of HTTP requests, none of which has messages in its body",
		signs: &evidence.Table{Rows: []string{
			"decisive if log.entries.#.request.method and log.entries.#.response and log.entries.#.request.postData.text",
			"decisive if interactions.#.request.method and interactions.#.response and interactions.#.request.body.string|interactions.#.request.body:string",
		}},
	},
	{
		reason: "an API description, whose examples are not real messages; check the requests of its clients instead",
		calls:  true, few: true,
		signs: &evidence.Table{Rows: []string{"decisive if openapi|swagger:string and paths|components|webhooks:object"}},
	},
	{reason: streamReason, bulk: true, signs: streamSigns},
}

// A signature is how the files of a format begin.
type signature struct {
	head string
	at   int    // the offset of then
	then string // "" if head is enough
}

// stores are recognized by the first bytes of a file. FILE stands for its name.
var stores = []struct {
	signature
	reason string
}{
	{signature{head: "SQLite format 3\x00"}, "an SQLite database, in which opencode, goose and others keep sessions; " +
		"check it with toolguard sqlite check FILE, and repair it with toolguard sqlite fix FILE"},
	{signature{head: "PK\x03\x04"}, "a zip archive, which Inspect uses for .eval logs; convert it to JSON to check it, with inspect log convert --to json"},
	{signature{head: "PAR1"}, "a Parquet file; check it with toolguard parquet check FILE"},
	{signature{head: "ARROW1\x00\x00"}, "an Arrow file; check it with toolguard parquet check FILE"},
	{signature{head: "FEA1"}, "a Feather file of version 1; convert it to JSONL to check it, with " +
		`python -c "import pandas; pandas.read_feather('FILE').to_json('rows.jsonl', orient='records', lines=True)"`},
	// A message of a stream begins with its length and the offset of a table in it, which are small.
	{
		signature{"\xff\xff\xff\xff", 7, "\x00"}, "an Arrow stream, in which Hugging Face datasets are stored; check it with toolguard parquet check FILE",
	},
	{signature{head: "\xfd7zXZ\x00"}, "a file compressed with xz; unpack it to check it, with xz -dc FILE | toolguard check -"},
	{signature{"BZh", 4, "1AY&SY"}, "a file compressed with bzip2; unpack it to check it, with bzip2 -dc FILE | toolguard check -"},
	{signature{head: "\x04\x22\x4d\x18"}, "a file compressed with lz4; unpack it to check it, with lz4 -dc FILE | toolguard check -"},
	{signature{head: "7z\xbc\xaf\x27\x1c"}, "a 7z archive; unpack it to check it, with 7z x -so FILE | toolguard check -"},
	{signature{head: "event:"}, streamReason},
	{signature{head: "data:"}, streamReason},
}

// store says what a source is by its first bytes. It returns "" if the source may be a
// transcript.
func store(src *source.Source) (string, error) {
	var head [16]byte
	n, err := src.ReadAt(head[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	for _, s := range stores {
		if s.begins(string(head[:n])) {
			return s.reason, nil
		}
	}
	return "", nil
}

// begins reports whether a text begins with the signature.
func (s *signature) begins(text string) bool {
	return strings.HasPrefix(text, s.head) && (s.then == "" || strings.HasPrefix(text[min(s.at, len(text)):], s.then))
}

// A recognition counts the records that match each foreign format.
type recognition struct {
	seen int // arrays and objects
	by   [len(foreigners)]int
}

// add counts a record. read says whether a dialect reads it.
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
	var may uint64
	for i := range foreigners {
		if foreigners[i].calls || !read {
			may |= 1 << i
		}
	}
	is := foreignIn(v, may, levelsWithin)
	for i := range foreigners {
		r.by[i] += int(is >> i & 1)
	}
}

// foreignIn returns the foreign formats, a bit for each of those in may, of which a value is a record,
// or has one in a field at most levels deeper.
func foreignIn(v source.Value, may uint64, levels int) (is uint64) {
	of := foreignKeys()
	has := of.keys[""]
	n := 0
	for k, val := range v.Members() {
		has |= of.keys[string(k.Text())]
		if n++; levels > 0 && n <= mostFields && may&of.within != 0 && val.Kind() == source.Object {
			is |= foreignIn(val, may&of.within, levels-1)
		}
	}
	for i := range foreigners {
		if (has & may >> i & 1) == 0 {
			continue
		}
		if weight, _ := foreigners[i].signs.Weigh(v, false); weight > evidence.None {
			is |= 1 << i
		}
	}
	return is
}

// A foreignIndex maps a key to the foreign formats of which a record could be that has it, a bit for
// each. Those without keys are at "".
type foreignIndex struct {
	keys   map[string]uint64
	within uint64 // the formats with records inside of others
}

var foreignKeys = sync.OnceValue(func() foreignIndex {
	of := foreignIndex{keys: map[string]uint64{}}
	for i := range foreigners {
		keys := foreigners[i].signs.Needs()
		if len(keys) == 0 {
			keys = []string{""}
		}
		for _, key := range keys {
			of.keys[key] |= 1 << i
		}
		if foreigners[i].within {
			of.within |= 1 << i
		}
	}
	return of
})

// any reports whether a record matches a foreign format.
func (r *recognition) any() bool {
	return slices.ContainsFunc(r.by[:], func(n int) bool { return n > 0 })
}

// sure reports whether all records match one foreign format.
func (r *recognition) sure() bool { return r.seen > 0 && slices.Contains(r.by[:], r.seen) }

// reason says what the records are, or "" if they match no foreign format. known is the
// number of records for which a dialect is certain.
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
