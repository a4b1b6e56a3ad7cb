package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// GeminiCLI is the dialect of Gemini CLI sessions.
var GeminiCLI = &Dialect{
	Name:    "gemini-cli",
	Title:   "Gemini CLI sessions",
	Summary: "Messages with toolCalls. Each call holds its status and result, and in a log the last record with an id counts.",
	Where:   "~/.gemini/tmp/<project>/chats/session-*.jsonl and .json",
	Example: `{"id":"m1","timestamp":"2026-01-01T00:00:00Z","type":"gemini","content":"","toolCalls":[{"id":"ls-1","name":"ls","args":{},"status":"executing"}]}
{"id":"m1","timestamp":"2026-01-01T00:00:00Z","type":"gemini","content":"","toolCalls":[{"id":"ls-1","name":"ls","args":{},"status":"success","result":[{"functionResponse":{"id":"ls-1","name":"ls","response":{"output":"a.txt"}}}]}]}`,
	Provider: "neutral",
	Window:   transcript.WindowLog,
	// Its reader ignores lines that it cannot parse (gh:google-gemini/gemini-cli#27276).
	DamagedLine: DamagedSkipped,
	Evidence: &evidence.Table{Rows: []string{
		"none if type!=gemini|user|info|error|warning",
		"decisive if any toolCalls.? has id and name and args, shown by list",
		"decisive if any content.? has functionCall.id and functionCall.name and functionCall.args, shown by list",
		"decisive if any content.? has functionResponse.id, shown as functionResponse",
		"decisive if type=gemini and id and timestamp and content",
		"plain if type:string and id and timestamp and content",
	}},
	NewSession: []*evidence.Cond{{Text: "sessionId"}, {Text: "projectHash"}, {Text: "startTime"}},
	Fold:       &Fold{ID: "id", Append: true, Effect: geminiCLIFolding},
	Strip: []Trace{
		"thoughts",
		"content.#.thoughtSignature",
		"content.# if thought=true",
		"toolCalls.#.thoughtSignature",
	},
	Driver: geminiCLIMessages{&Combined{
		Plain: []Lens{"id", "timestamp", "content"},
		Role:  "type",
		Roles: []RoleName{
			{"gemini", transcript.RoleAssistant}, {"info", transcript.RoleOther}, {"error", transcript.RoleOther}, {"warning", transcript.RoleOther},
		},
		Text: "content",
		Records: []Records{
			{
				In: "toolCalls", ID: "id", Name: "name", Args: "args", Want: transcript.ArgsWantObject,
				State: "status", States: []StateName{
					{Written: "validating", State: transcript.CallOpen},
					{Written: "scheduled", State: transcript.CallOpen},
					{Written: "executing", State: transcript.CallOpen},
					{Written: "awaiting_approval", State: transcript.CallWaiting},
					{Written: "success", State: transcript.CallDone},
					{Written: "error", State: transcript.CallFailed},
					{Written: "cancelled", State: transcript.CallInterrupted, Ended: true},
				},
				Result: "result.0.functionResponse.response|result", Answered: true,
				Answer: []Setting{
					{To: "status", Raw: `"error"`},
					{To: "result", Raw: `[{"functionResponse":{"id":"$id","name":"$name","response":{"error":"$text"}}}]`},
				},
			},
			{In: "content", Record: "functionCall", ID: "id", Name: "name", Args: "args", Want: transcript.ArgsWantObject, Apart: true},
		},
		Results: ResultList{
			In: "content", Has: "functionResponse.id|functionResponse.name|functionResponse.response",
			ID: "functionResponse.id", Name: "functionResponse.name", Payload: "functionResponse.response",
		},
	}},
}

// geminiCLIMessages are messages in which a result in an element of its own is sent besides the
// one in the record of its call (google-gemini/gemini-cli#29365). If a session is resumed, the records
// of parallel calls get the results of all of them, and all are sent.
type geminiCLIMessages struct{ *Combined }

// Reader implements Driver.
func (d geminiCLIMessages) Reader(b *transcript.Builder) Reader {
	r := d.reader(b)
	r.resent = &ResultList{In: "result", Has: d.Results.Has, ID: d.Results.ID, Name: d.Results.Name, Payload: d.Results.Payload}
	return hook(&r)
}

// WriteText implements Writer. Such a result becomes a text, beside which its parts may stand.
func (d geminiCLIMessages) WriteText(t NewText) Text {
	if t.Call || !d.Results.result(t.Element) || t.Element.Span() == t.Message.Span() {
		return d.Combined.WriteText(t)
	}
	parts := Lens("functionResponse.parts").In(t.Element)
	t.keep(t.Element, anyKey, t.Content, parts)
	blocks := t.blocks([]source.Value{t.Content, parts}, func(part source.Value) bool { return parts.Span().Contains(part.Span()) },
		func(raw string) []Field { return []Field{{"text", raw}} })
	if blocks == nil {
		return d.Combined.WriteText(t)
	}
	return Text{Blocks: blocks}
}

// geminiCLIFolding returns the effect of a record of a session.
func geminiCLIFolding(v source.Value) Folding {
	var at [5]source.Value
	pick(at[:], v, "type", "$set", "$rewindTo", "projectHash", "sessionId") // it is asked of every record of many files
	typ, set, to := at[0], at[1], at[2]
	does := Folding{Silent: !isSet(typ) && (set.Kind() == source.Object || isSet(to) || isSet(at[3]) && isSet(at[4]))}
	if to.Kind() == source.String {
		does.Back = to
	} else if list := set.Get("messages"); list.First().Exists() {
		does.All = list
	}
	return does
}
