package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/transcript"
)

// ADKEvents is the dialect of the events that tests of the Agent Development Kit for Go record:
// Gemini contents with the author of each.
var ADKEvents = &Dialect{
	Name:    "adk-events",
	Title:   "Agent Development Kit for Go, recorded events",
	Summary: "Gemini contents, each with its author. A result answers the call with the same id, wherever it is in the history.",
	Where:   ".events.yaml files of tests",
	Example: `{"author":"agent","role":"model","parts":[{"function_call":{"id":"c1","name":"ls","args":{}}}]}
{"author":"agent","role":"user","parts":[{"function_response":{"id":"c1","name":"ls","response":{"result":"a.txt"}}}]}`,
	Provider:  "gemini",
	Window:    transcript.WindowLog,
	CheckOnly: "it records what a test saw",
	Evidence: &evidence.Table{Rows: []string{
		"none if !author:string",
		"none if !role:string",
		"none if !parts",
		"decisive if any parts has function_call:object and function_call.name",
		"decisive if any parts has function_response:object",
		"plain if @this",
	}},
	Members: geminiMembers,
	Driver: &adk{NewBlocks(&Blocks{
		Role: "role", Content: "parts",
		Positional: true, Inline: true, ResultsAlone: true,
		Parts: geminiBlocks.Parts,
	})},
}
