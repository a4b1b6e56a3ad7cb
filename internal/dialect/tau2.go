package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// Tau2 is the dialect of tau2-bench simulations, in which the simulated user calls
// tools too.
var Tau2 = &Dialect{
	Name:    "tau2",
	Title:   "tau2-bench simulations",
	Summary: "Messages with tool_calls that name their requestor. Each call is answered by a message with role tool and the same id.",
	Where:   "data/simulations/*.json of tau2-bench, trajectories from its leaderboard",
	Example: `{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","name":"ls","arguments":{},"requestor":"assistant"}]}
{"id":"call_1","role":"tool","content":"a.txt","requestor":"assistant","error":false}`,
	Provider: "neutral",
	Window:   transcript.WindowTool,
	Evidence: &evidence.Table{Rows: []string{
		"none if !role:string",
		// Every call names its requestor.
		"none if tool_calls.0 and !tool_calls.0.requestor",
		"decisive if tool_calls.0.requestor=user|assistant and any tool_calls has name:string and arguments:any, shown as tool_calls",
		"decisive if tool_calls.0.requestor=user|assistant and any tool_calls has name:string and id:any, shown as tool_calls",
		"none if tool_calls.0:object",
		"decisive if id and role=tool|function and requestor=user|assistant",
		"decisive if role=tool|function and requestor=user|assistant and content:any and !content.0:object",
		"decisive if role=tool|function and requestor=user|assistant and content.0.type:any and content.0.type!=*tool*",
		"none if role=tool|function",
		"weak if role:string and content:any, alike",
		"weak if role:string and tool_calls:array, alike",
		"weak if role:string and @tools, alike",
	}},
	Members: Members{
		transcript.MemberRole: "role", transcript.MemberCallName: "name", transcript.MemberArguments: "arguments",
		transcript.MemberResultContent: "content", transcript.MemberContent: "content",
	},
	Driver: &tau2{NewSideList(&SideList{
		Role: "role", User: "user", Assistant: "assistant", Tool: "tool",
		Content: "content", Calls: "tool_calls", ID: "id", Name: "name", Args: "arguments", Want: transcript.ArgsWantObject,
		ResultID: "id", Error: "error", Failed: "true",
	})},
}

// tau2 is a side list in which the user may call tools too.
type tau2 struct{ *SideListDriver }

// Reader implements Driver.
func (d *tau2) Reader(b *transcript.Builder) Reader { return hook(&tau2Reader{d.reader(b)}) }

type tau2Reader struct{ sideListReader }

func (r *tau2Reader) onCall(_ source.Value, call transcript.Call) (transcript.Call, bool) {
	call.WrongRole = call.WrongRole && r.now.role != transcript.RoleUser
	return call, true
}

// WriteResult implements Writer. A result names the requestor of its call.
func (d *tau2) WriteResult(r NewResult) []Field {
	if r.ID == "" {
		return nil
	}
	return given(Field{"id", r.ID}, Field{"role", `"tool"`}, Field{"content", r.Text},
		Field{"requestor", string(r.Element.Get("requestor").Raw())}, Field{"error", "true"})
}
