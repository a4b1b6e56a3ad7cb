package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/transcript"
)

// ElevenLabs is the dialect of conversations of ElevenLabs agents.
var ElevenLabs = &Dialect{
	Name:    "elevenlabs",
	Title:   "ElevenLabs conversations",
	Summary: "Turns with tool_calls and tool_results. A result names its call by request_id.",
	Where:   "conversations from the ElevenLabs API, post-call webhooks, simulated conversations (known from its client libraries and the tests of their users)",
	Example: `{"role":"agent","message":null,"tool_calls":[{"type":"webhook","request_id":"r1","tool_name":"ls","params_as_json":"{}","tool_has_been_called":true}],"tool_results":[],"time_in_call_secs":1}
{"role":"agent","message":null,"tool_calls":[],"tool_results":[{"type":"webhook","request_id":"r1","tool_name":"ls","result_value":"a.txt","is_error":false,"tool_has_been_called":true}],"time_in_call_secs":2}`,
	Provider:  "neutral",
	Window:    transcript.WindowLog,
	CheckOnly: voiceCheckOnly,
	Evidence: &evidence.Table{Rows: []string{
		"none if !message|tool_calls|tool_results",
		"none if content",
		"decisive if any tool_calls.? has request_id and tool_name and params_as_json, shown by list",
		"decisive if any tool_results.? has tool_name and request_id",
		"decisive if role=agent and message and time_in_call_secs",
		"shared if role=user and message and time_in_call_secs",
	}},
	Driver: &Combined{
		Role: "role", Text: "message",
		Records: []Records{{In: "tool_calls", ID: "request_id", Name: "tool_name", Args: "params_as_json", Want: transcript.ArgsWantString, Apart: true}},
		Results: ResultList{In: "tool_results", Has: "tool_name", ID: "request_id", Name: "tool_name", Payload: "result_value"},
	},
}
