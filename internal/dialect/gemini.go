package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/transcript"
)

// Gemini is the dialect of the Gemini API, in the spellings of the API and of its
// Python SDKs.
var Gemini = &Dialect{
	Name:    "gemini",
	Title:   "Gemini contents",
	Summary: "Contents with parts. A functionCall is answered by a functionResponse in the next user content.",
	Where:   "request bodies, Gemini CLI checkpoints, evaluation sets of the Agent Development Kit, recorded fixtures",
	Example: `{"role":"model","parts":[{"functionCall":{"name":"ls","args":{}}}]}
{"role":"user","parts":[{"functionResponse":{"name":"ls","response":{"output":"a.txt"}}}]}`,
	Provider: "gemini",
	Body:     &Body{Lists: []string{"contents"}, Single: true},
	Window:   transcript.WindowUser,
	Evidence: geminiEvidence,
	Members:  geminiMembers,
	Holder:   &Holder{Members: []string{"clientHistory", "toolCall"}, ReadFrom: []string{"clientHistory"}, Waits: true},
	Strip:    geminiStrip,
	Driver:   geminiBlocks,
}

var geminiMembers = Members{
	transcript.MemberCallName:      "functionCall.name|function_call.name",
	transcript.MemberArguments:     "functionCall.args|function_call.args",
	transcript.MemberSignature:     "thoughtSignature|thought_signature",
	transcript.MemberResultName:    "functionResponse.name|function_response.name",
	transcript.MemberResultContent: "functionResponse.response|function_response.response",
	transcript.MemberImage:         "inlineData.data|inline_data.data",
	transcript.MemberResultBlocks:  "functionResponse.parts|function_response.parts",
	transcript.MemberContent:       "parts", transcript.MemberLastText: "parts.-1.text",
}

// geminiParts lists the keys that identify a part that is not a call, a result or a
// text.
const geminiParts = "inlineData|inline_data|fileData|file_data|executableCode|executable_code|codeExecutionResult|code_execution_result"

// geminiEvidence weighs contents, bare or in logs.
var geminiEvidence = &evidence.Table{Rows: []string{
	"none if role and !role:string",
	"none if !parts",
	"decisive if any parts has functionCall:object and functionCall.id|functionCall.name|functionCall.args",
	"decisive if any parts has function_call:object and function_call.id|function_call.name|function_call.args",
	"decisive if any parts has functionResponse:object and functionResponse.id|functionResponse.response",
	"decisive if any parts has function_response:object and function_response.id|function_response.response",
	"decisive if any parts has toolCall:object and toolCall.id|toolCall.toolType|toolCall.args",
	"decisive if any parts has toolResponse:object and toolResponse.id|toolResponse.response",
	"none if role=tool|function",
	// An object without a role is a message only if it has no other fields.
	"none if !role and @keys.#!=1",
	"none if !role and !parts.0",
	"weak if @this and any parts has !@this:object",
	// A part with a type belongs to another dialect.
	"weak if @this and any parts has *:any and !" + geminiParts + " and thought!=true and !text",
	"weak if @this and any parts has *:any and !" + geminiParts + " and thought!=true and type",
	"shared if role:string and any parts has thought=true",
	"shared if !role and any parts has thought=true",
	"plain if role:string",
	"plain if !role",
}}

var geminiBlocks = NewBlocks(&Blocks{
	Role: "role", NoRole: "user", Content: "parts", Positional: true, Inline: true, Joined: true,
	Parts: []Part{
		{
			Is: PartCall, Key: "functionCall", ID: "functionCall.id", Name: "functionCall.name", Args: "functionCall.args",
			Want: transcript.ArgsWantObject, Signature: "thoughtSignature",
			Answer: `{"functionResponse":{"id":"$id","name":"$name","response":{"error":"$text"}}}`,
		},
		{
			Is: PartCall, Key: "function_call", ID: "function_call.id", Name: "function_call.name", Args: "function_call.args",
			Want: transcript.ArgsWantObject, Signature: "thought_signature",
			Answer: `{"function_response":{"id":"$id","name":"$name","response":{"error":"$text"}}}`,
		},
		{
			Is: PartResult, Key: "functionResponse", ID: "functionResponse.id", Name: "functionResponse.name",
			Payload: "functionResponse.response", Inner: "functionResponse.parts", Error: []*evidence.Cond{{Text: "functionResponse.response.error"}},
		},
		{
			Is: PartResult, Key: "function_response", ID: "function_response.id", Name: "function_response.name",
			Payload: "function_response.response", Inner: "function_response.parts", Error: []*evidence.Cond{{Text: "function_response.response.error"}},
		},
		{Is: PartServerCall, Key: "toolCall", ID: "toolCall.id", Name: "toolCall.toolType", Args: "toolCall.args", Signature: "thoughtSignature"},
		{Is: PartServerResult, Key: "toolResponse", ID: "toolResponse.id", Payload: "toolResponse.response"},
		{Is: PartReasoning, Key: "thought", With: []*evidence.Cond{{Text: "thought=true"}}, Signature: "thoughtSignature|thought_signature"},
		// A part with a type belongs to another dialect.
		{Is: PartText, Key: "text", With: []*evidence.Cond{{Text: "!type"}}, Text: "text", Signature: "thoughtSignature|thought_signature"},
		{Is: PartMedia, Key: "inlineData"},
		{Is: PartMedia, Key: "inline_data"},
		{Is: PartMedia, Key: "fileData"},
		{Is: PartMedia, Key: "file_data"},
		{Is: PartOther, Key: "executableCode"},
		{Is: PartOther, Key: "executable_code"},
		{Is: PartOther, Key: "codeExecutionResult"},
		{Is: PartOther, Key: "code_execution_result"},
	},
	Message:   []Stencil{{JSON: `{"role":"user","parts":"$blocks"}`}},
	TextBlock: []Stencil{{JSON: `{"text":"$text"}`}},
})

// geminiStrip lists the signatures of thoughts, which parts of every kind can have.
var geminiStrip = []Trace{
	"parts.#.thoughtSignature/thought_signature",
	"parts.#.functionCall/function_call.thoughtSignature/thought_signature",
}
