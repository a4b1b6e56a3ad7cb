package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/transcript"
)

// Gemini is the dialect of the Gemini API, in the spellings of the API and of
// the Python SDKs.
var Gemini = &Dialect{
	Name:    "gemini",
	Title:   "Gemini contents",
	Summary: "Contents of parts: functionCall, answered by functionResponse in the next user content.",
	Where:   "request bodies, Gemini CLI checkpoints, evaluation sets of the Agent Development Kit, recorded fixtures",
	Example: `{"role":"model","parts":[{"functionCall":{"name":"ls","args":{}}}]}
{"role":"user","parts":[{"functionResponse":{"name":"ls","response":{"output":"a.txt"}}}]}`,
	Provider: "gemini",
	Window:   transcript.WindowUser,
	Evidence: geminiEvidence,
	Members:  geminiMembers,
	Holder:   &Holder{Members: []string{"clientHistory", "toolCall"}, ReadFrom: []string{"clientHistory"}, Waits: true},
	Driver:   geminiBlocks,
}

var geminiMembers = map[transcript.Member]Lens{
	transcript.MemberCallName:      "functionCall.name|function_call.name",
	transcript.MemberArguments:     "functionCall.args|function_call.args",
	transcript.MemberSignature:     "thoughtSignature|thought_signature",
	transcript.MemberResultName:    "functionResponse.name|function_response.name",
	transcript.MemberResultContent: "functionResponse.response|function_response.response",
	transcript.MemberContent:       "parts", transcript.MemberLastText: "parts.-1.text",
}

// geminiParts are the members by one of which a part is known that is no call, no
// result and no text.
const geminiParts = "inlineData|inline_data|fileData|file_data|executableCode|executable_code|codeExecutionResult|code_execution_result"

// geminiEvidence is for contents, bare and in logs.
var geminiEvidence = evidence.NewTable(
	evidence.None.If("role", "!role:string"),
	evidence.None.If("!parts"),
	evidence.Decisive.If().Any("parts", "functionCall:object", "functionCall.id|functionCall.name|functionCall.args"),
	evidence.Decisive.If().Any("parts", "function_call:object", "function_call.id|function_call.name|function_call.args"),
	evidence.Decisive.If().Any("parts", "functionResponse:object", "functionResponse.id|functionResponse.response"),
	evidence.Decisive.If().Any("parts", "function_response:object", "function_response.id|function_response.response"),
	evidence.Decisive.If().Any("parts", "toolCall:object", "toolCall.id|toolCall.toolType|toolCall.args"),
	evidence.Decisive.If().Any("parts", "toolResponse:object", "toolResponse.id|toolResponse.response"),
	evidence.None.If("role=tool|function"),
	// What has no role is a message if it is nothing else.
	evidence.None.If("!role", "@keys.#!=1"),
	evidence.None.If("!role", "!parts.0"),
	evidence.Weak.If("@this").Any("parts", "!@this:object"),
	// A part of another dialect has a type.
	evidence.Weak.If("@this").Any("parts", "*:any", "!"+geminiParts, "thought!=true", "!text"),
	evidence.Weak.If("@this").Any("parts", "*:any", "!"+geminiParts, "thought!=true", "type"),
	evidence.Shared.If("role:string").Any("parts", "thought=true"),
	evidence.Shared.If("!role").Any("parts", "thought=true"),
	evidence.Plain.If("role:string"),
	evidence.Plain.If("!role"),
)

var geminiBlocks = NewBlocks(Blocks{
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
			Payload: "functionResponse.response", Inner: "functionResponse.parts", Error: []Cond{{At: "functionResponse.response.error"}},
		},
		{
			Is: PartResult, Key: "function_response", ID: "function_response.id", Name: "function_response.name",
			Payload: "function_response.response", Inner: "function_response.parts", Error: []Cond{{At: "function_response.response.error"}},
		},
		{Is: PartServerCall, Key: "toolCall", ID: "toolCall.id", Name: "toolCall.toolType", Args: "toolCall.args", Signature: "thoughtSignature"},
		{Is: PartServerResult, Key: "toolResponse", ID: "toolResponse.id", Payload: "toolResponse.response"},
		{Is: PartReasoning, Key: "thought", With: []Cond{{At: "thought", Is: []string{"true"}}}, Signature: "thoughtSignature|thought_signature"},
		// A part of another dialect has a type.
		{Is: PartText, Key: "text", With: []Cond{{At: "type", Not: true}}, Text: "text", Signature: "thoughtSignature|thought_signature"},
		{Is: PartMedia, Key: "inlineData"},
		{Is: PartMedia, Key: "inline_data"},
		{Is: PartMedia, Key: "fileData"},
		{Is: PartMedia, Key: "file_data"},
		{Is: PartOther, Key: "executableCode"},
		{Is: PartOther, Key: "executable_code"},
		{Is: PartOther, Key: "codeExecutionResult"},
		{Is: PartOther, Key: "code_execution_result"},
	},
	Message:   []Form{{JSON: `{"role":"user","parts":"$blocks"}`}},
	TextBlock: []Form{{JSON: `{"text":"$text"}`}},
})
