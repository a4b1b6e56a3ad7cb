package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// LangChain4j is the dialect of LangChain4j chat messages.
var LangChain4j = &Dialect{
	Name:    "langchain4j",
	Title:   "LangChain4j messages",
	Summary: "Messages of type AI with toolExecutionRequests. Each request is answered by a message of type TOOL_EXECUTION_RESULT.",
	Where:   "chat memory stores of apps, written by ChatMessageSerializer (not verified against a real file)",
	Example: `{"toolExecutionRequests":[{"id":"call_1","name":"ls","arguments":"{}"}],"type":"AI"}
{"id":"call_1","toolName":"ls","text":"a.txt","type":"TOOL_EXECUTION_RESULT"}`,
	Provider: "neutral",
	Window:   transcript.WindowTool,
	Evidence: &evidence.Table{Rows: []string{
		"none if type!=SYSTEM|USER|AI|TOOL_EXECUTION_RESULT|CUSTOM",
		"none if role",
		"decisive if any toolExecutionRequests has name:string and arguments:any, shown by list",
		"decisive if any toolExecutionRequests has name:string and id:any, shown by list",
		"decisive if toolExecutionRequests.0:object and toolExecutionRequests.0.id:string and type=AI",
		"none if toolExecutionRequests.0:object",
		"none if type=TOOL_EXECUTION_RESULT and !toolName",
		"decisive if id and type=TOOL_EXECUTION_RESULT",
		"decisive if type=TOOL_EXECUTION_RESULT and text|contents:any and !text.0|contents.0:object",
		"decisive if type=TOOL_EXECUTION_RESULT and text.0.type|contents.0.type:any and text.0.type|contents.0.type!=*tool*",
		"none if type=TOOL_EXECUTION_RESULT",
		"decisive if type=AI and text|contents:any",
		"weak if type:string and text|contents:any",
		"weak if type:string and toolExecutionRequests:array",
	}},
	Members: Members{
		transcript.MemberCallName: "name", transcript.MemberArguments: "arguments", transcript.MemberResultName: "toolName",
		transcript.MemberResultContent: "text",
	},
	Strip: []Trace{
		"attributes.thinking_signature/thought_signature/redacted_thinking/encrypted_reasoning",
	},
	Driver: &langChain4j{NewSideList(&SideList{
		Role: "type", User: "USER", Assistant: "AI", Tool: "TOOL_EXECUTION_RESULT",
		Roles: []RoleName{
			{"SYSTEM", transcript.RoleSystem},
			{"USER", transcript.RoleUser},
			{"AI", transcript.RoleAssistant},
			{"TOOL_EXECUTION_RESULT", transcript.RoleTool},
			{"CUSTOM", transcript.RoleOther},
		},
		// Older versions store the text of a user in text.
		Content: "text|contents", Calls: "toolExecutionRequests", ID: "id", Name: "name", Args: "arguments", Want: transcript.ArgsWantString,
		ResultID: "id", ResultName: "toolName",
		Error: "isError", Failed: "true", Reasoning: "thinking",
	})},
}

// langChain4j is a side list in which calls have no id if the provider gave none,
// and in which a user's text is in a list of contents.
type langChain4j struct{ *SideListDriver }

// Reader implements Driver.
func (d *langChain4j) Reader(b *transcript.Builder) Reader {
	return hook(&langChain4jReader{d.reader(b)})
}

type langChain4jReader struct{ sideListReader }

func (r *langChain4jReader) onCall(_ source.Value, call transcript.Call) (transcript.Call, bool) {
	if absentRaw(call.ID.Raw) {
		call.Answer = transcript.AnswerByPosition
	}
	return call, true
}

func (r *langChain4jReader) onResult(_ source.Value, res transcript.Result) transcript.Result {
	if absentRaw(res.ID.Raw) {
		res.Answer = transcript.AnswerByPosition
	}
	return res
}

// WriteResult implements Writer. It does not set isError, because older versions
// reject unknown keys.
func (d *langChain4j) WriteResult(r NewResult) []Field {
	if r.ID == "" && r.Name == "" {
		return nil
	}
	return given(Field{"id", r.ID}, Field{"toolName", r.Name}, Field{"text", r.Text}, Field{"type", `"TOOL_EXECUTION_RESULT"`})
}

// WriteText implements Writer.
func (d *langChain4j) WriteText(t NewText) Text {
	out := d.SideListDriver.WriteText(t)
	for i := range out.Message {
		if f := &out.Message[i]; f.Key == "text" {
			*f = Field{"contents", `[{"text":` + f.Raw + `,"type":"TEXT"}]`}
		}
	}
	return out
}
