package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// ADK is the dialect of the events of the Agent Development Kit, each of which
// holds a Gemini content. The kit moves a result next to its call before it sends
// them, even if other agents spoke in between.
var ADK = &Dialect{
	Name:    "adk",
	Title:   "Agent Development Kit events",
	Summary: "Each event holds a Gemini content. A result answers the call with the same id, wherever it is in the history.",
	Where:   "sessions of the Agent Development Kit: adk run --save_session, adk web exports, lists of events",
	Example: `{"content":{"role":"model","parts":[{"functionCall":{"id":"adk-1","name":"ls","args":{}}}]},"invocationId":"e-1","author":"agent","id":"E1"}
{"content":{"role":"user","parts":[{"functionResponse":{"id":"adk-1","name":"ls","response":{"result":"a.txt"}}}]},"invocationId":"e-1","author":"agent","id":"E2"}`,
	Provider: "gemini",
	Window:   transcript.WindowLog,
	Evidence: &evidence.Table{Rows: []string{
		"none if !invocationId|invocation_id",
		"none if content.role and !content.role:string",
		"none if !content.parts",
		"decisive if any content.parts has functionCall:object and functionCall.id|functionCall.name|functionCall.args",
		"decisive if any content.parts has function_call:object and function_call.id|function_call.name|function_call.args",
		"decisive if any content.parts has functionResponse:object and functionResponse.id|functionResponse.response",
		"decisive if any content.parts has function_response:object and function_response.id|function_response.response",
		"decisive if any content.parts has toolCall:object and toolCall.id|toolCall.toolType|toolCall.args",
		"decisive if any content.parts has toolResponse:object and toolResponse.id|toolResponse.response",
		"none if content.role!=system|developer|user|human|assistant|agent|model|ai|gpt",
		"weak if @this and any content.parts has !@this:object",
		// A part of another dialect has a type.
		"weak if @this and any content.parts has *:any and !" + geminiParts + " and thought!=true and !text",
		"weak if @this and any content.parts has *:any and !" + geminiParts + " and thought!=true and type",
		"shared if content.role:string and any content.parts has thought=true",
		"plain if content.role:string",
	}},
	Members: Members{
		transcript.MemberImage: geminiMembers[transcript.MemberImage], transcript.MemberResultBlocks: geminiMembers[transcript.MemberResultBlocks],
		transcript.MemberCallName:      geminiMembers[transcript.MemberCallName],
		transcript.MemberArguments:     geminiMembers[transcript.MemberArguments],
		transcript.MemberSignature:     geminiMembers[transcript.MemberSignature],
		transcript.MemberResultName:    geminiMembers[transcript.MemberResultName],
		transcript.MemberResultContent: geminiMembers[transcript.MemberResultContent],
		transcript.MemberContent:       "content.parts", transcript.MemberLastText: "content.parts.-1.text",
	},
	Strip: []Trace{
		"content.parts.#.thoughtSignature/thought_signature",
	},
	Driver: &adk{NewBlocks(&Blocks{
		Role: "content.role", NoRole: "user", Content: "content.parts",
		Positional: true, Inline: true, ResultsAlone: true,
		Parts: geminiBlocks.Parts,
		Skip:  []*evidence.Cond{{Text: "invocationId|invocation_id"}, {Text: "author"}, {Text: "!content.parts"}},
		Message: []Stencil{{
			JSON: `{"content":{"role":"user","parts":"$blocks"}}`,
			Copy: []string{"invocationId", "invocation_id", "author", "branch", "timestamp"},
		}},
		TextBlock: geminiBlocks.TextBlock,
	})},
}

// adk reads events that list their long-running calls, whose tools may finish after
// the turn.
type adk struct{ *BlocksDriver }

// Reader implements Driver.
func (d *adk) Reader(b *transcript.Builder) Reader { return hook(&adkReader{d.reader(b)}) }

type adkReader struct{ blocksReader }

// longRunningIDs leads to the ids of long-running calls.
const longRunningIDs Lens = "longRunningToolIds|long_running_tool_ids|eventMetadata.longRunningToolIds"

// onEnd finds the long-running calls among those of the event.
func (r *adkReader) onEnd(v source.Value) {
	c, m, list := r.b.Conv, r.b.Message(), longRunningIDs.In(v)
	for _, id := range list.Present() {
		for _, block := range c.Blocks[m.BlockLo:m.BlockHi] {
			if call := block.Ref; block.Kind == transcript.BlockCall && c.Calls[call].ID.Raw == string(id.Raw()) {
				c.Calls[call].Answer = transcript.AnswerLater
				c.Copies = append(c.Copies, transcript.Copy{Call: call, List: list.Span(), Block: id.Span(), ID: transcript.TokenOf(id, id.Span())})
			}
		}
	}
}
