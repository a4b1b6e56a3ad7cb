package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/transcript"
)

// GeminiStreamJSON is the output of Gemini CLI with output format stream-json.
var GeminiStreamJSON = &Dialect{
	Name:    "gemini-stream-json",
	Title:   "Gemini CLI stream-json",
	Summary: "A log of printed events. A tool_use is answered by a tool_result with the same tool_id.",
	Where:   "output of gemini --output-format stream-json",
	Example: `{"type":"tool_use","timestamp":"2026-01-02T03:04:05Z","tool_name":"ls","tool_id":"ls-1","parameters":{}}
{"type":"tool_result","timestamp":"2026-01-02T03:04:06Z","tool_id":"ls-1","status":"success","output":"a.txt"}`,
	Provider:  "neutral",
	Window:    transcript.WindowLog,
	CheckOnly: "it is a copy of printed output, and no program resumes from it",
	Evidence: &evidence.Table{Rows: []string{
		"decisive if type=tool_use and tool_name and tool_id|parameters",
		"decisive if type=tool_use and tool_id and parameters",
		"decisive if type=tool_result and tool_id",
		"decisive if type=tool_result and status and output|error",
		"plain if type=message and role:string and content:any",
	}},
	Driver: &Events{
		Type:     "type",
		Messages: []MessageEvent{{Type: "message", RoleAt: "role", Text: "content"}},
		Calls: []CallEvent{
			{Type: "tool_use", ID: "tool_id", Name: "tool_name", Args: "parameters", Want: transcript.ArgsWantObject},
		},
		Results: []ResultEvent{
			{Type: "tool_result", ID: "tool_id", Payload: "output|error", Error: []*evidence.Cond{{Text: "status=error"}}},
		},
	},
	Log: &Log{
		Type: "type", Speaks: []string{"message", "tool_use", "tool_result"},
		Kinds: []string{"init", "result", "error"}, Lacks: []string{"message", "part"},
		Time: "timestamp",
	},
}
