package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/transcript"
)

// Bedrock is the dialect of the Converse API of Amazon Bedrock.
var Bedrock = &Dialect{
	Name:    "bedrock",
	Title:   "Bedrock Converse",
	Summary: "Messages with content blocks. A toolUse is answered by a toolResult in the next user message.",
	Where:   "request bodies, Strands Agents sessions, recorded fixtures",
	Example: `{"role":"assistant","content":[{"toolUse":{"toolUseId":"tooluse_1","name":"ls","input":{}}}]}
{"role":"user","content":[{"toolResult":{"toolUseId":"tooluse_1","content":[{"text":"a.txt"}],"status":"success"}}]}`,
	Provider: "bedrock",
	Body:     &Body{Lists: []string{"messages"}, Instead: []string{"promptVariables"}},
	// Text blocks alone look like those of other APIs, except that they have no type.
	Request: [][]*evidence.Cond{
		{{Text: "toolConfig.tools.0.toolSpec"}},
		{{Text: "modelId|inferenceConfig"}, {Text: "messages.0.content:array"}, {Text: "!messages.0.content.0.type"}},
	},
	Window: transcript.WindowUser,
	Evidence: &evidence.Table{Rows: []string{
		"none if !role:string",
		// No other dialect writes reasoning this way.
		"decisive if any content has reasoningContent",
		"none if !content",
		"decisive if any content has toolUse:object and toolUse.toolUseId|toolUse.name|toolUse.input",
		"decisive if any content has toolResult:object and toolResult.toolUseId|toolResult.content",
		"none if role=tool|function",
		"weak if role:string and @tools, alike",
		"weak if role:string and any content has !@this:object, alike",
		"weak if role:string and any content has *:any and !image|document|video|cachePoint|guardContent|citationsContent and !text, alike",
		"weak if role:string and any content has *:any and !image|document|video|cachePoint|guardContent|citationsContent and type, alike",
		"plain if role:string, alike",
	}},
	Members: Members{
		transcript.MemberResultContent: "toolResult.content", transcript.MemberRole: "role", transcript.MemberCallName: "toolUse.name", transcript.MemberArguments: "toolUse.input", transcript.MemberContent: "content", transcript.MemberLastText: "content.-1.text",
		transcript.MemberImage: "image.source.bytes",
	},
	Driver: NewBlocks(&Blocks{
		Role: "role", Content: "content", Inline: true,
		Parts: []Part{
			{Is: PartText, Key: "text", With: []*evidence.Cond{{Text: "!type"}}, Text: "text"},
			{
				Is: PartCall, Key: "toolUse", ID: "toolUse.toolUseId", Name: "toolUse.name", Args: "toolUse.input",
				Want: transcript.ArgsWantObject, ByProvider: []*evidence.Cond{{Text: "toolUse.type=server_tool_use"}},
				Answer: `{"toolResult":{"toolUseId":"$id","content":[{"text":"$text"}],"status":"error"}}`,
			},
			{
				Is: PartResult, Key: "toolResult", ID: "toolResult.toolUseId", Payload: "toolResult.content",
				Error: []*evidence.Cond{{Text: "toolResult.status=error"}},
			},
			{
				Is: PartReasoning, Key: "reasoningContent",
				Signature: "reasoningContent.reasoningText.signature|reasoningContent.redactedContent",
			},
			{Is: PartMedia, Key: "image"},
			{Is: PartMedia, Key: "document"},
			{Is: PartMedia, Key: "video"},
			{Is: PartOther, Key: "cachePoint"},
			{Is: PartOther, Key: "guardContent"},
			{Is: PartOther, Key: "citationsContent"},
		},
		Message:   []Stencil{{JSON: `{"role":"user","content":"$blocks"}`}},
		TextBlock: []Stencil{{JSON: `{"text":"$text"}`}},
	}),
}
