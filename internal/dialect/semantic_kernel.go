package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/transcript"
)

// SemanticKernel is the dialect of Semantic Kernel chat histories, as its .NET and
// Python libraries write them.
var SemanticKernel = &Dialect{
	Name:    "semantic-kernel",
	Title:   "Semantic Kernel chat history",
	Summary: "Messages with items. A function call is answered by a function result in a message with role tool.",
	Where:   "serialized chat histories",
	Example: `{"role":"assistant","items":[{"content_type":"function_call","id":"c1","function_name":"ls","arguments":"{}"}]}
{"role":"tool","items":[{"content_type":"function_result","id":"c1","function_name":"ls","result":"a.txt"}]}`,
	Provider: "neutral",
	Window:   transcript.WindowTool,
	Evidence: &evidence.Table{Rows: []string{
		"none if !role.Label|role|Role.Label|Role:string",
		"none if !items|Items:array",
		"decisive if any items|Items has content_type|$type=function_call and id|function_name|name|arguments, shown as content_type",
		"decisive if any items|Items has content_type|$type=FunctionCallContent and Id|FunctionName|Arguments, shown as content_type",
		"decisive if any items|Items has content_type|$type=function_result and id|result, shown as content_type",
		"decisive if any items|Items has content_type|$type=FunctionResultContent and CallId|Result, shown as content_type",
		"none if !role.Label|role|Role.Label|Role=system|developer|user|human|assistant|agent|model|ai|gpt",
		"weak if role.Label|role|Role.Label|Role:string and any items|Items has !@this:object",
		"weak if role.Label|role|Role.Label|Role:string and any items|Items has !content_type|$type",
		"weak if role.Label|role|Role.Label|Role:string and any items|Items has content_type|$type!=text|TextContent|image|ImageContent and @tools",
		"plain if role.Label|role|Role.Label|Role:string, shown as Label",
	}},
	Members: Members{
		transcript.MemberContent: "items|Items", transcript.MemberLastText: "items.-1.text|Items.-1.Text",
	},
	Driver: NewBlocks(&Blocks{
		Role: "role.Label|role|Role.Label|Role", Content: "items|Items", Tag: "content_type|$type", ResultsAlone: true,
		Parts: []Part{
			{Is: PartText, Tag: "text", Text: "text"},
			{Is: PartText, Tag: "TextContent", Text: "Text"},
			{
				Is: PartCall, Tag: "function_call", ID: "id", Name: "function_name|name", Args: "arguments",
				Answer: `{"content_type":"function_result","id":"$id","function_name":"$name","result":"$text"}`,
			},
			{
				Is: PartCall, Tag: "FunctionCallContent", ID: "Id", Name: "FunctionName", Args: "Arguments",
				Answer: `{"$type":"FunctionResultContent","CallId":"$id","FunctionName":"$name","Result":"$text"}`,
			},
			{Is: PartResult, Tag: "function_result", ID: "id", Name: "function_name|name", Payload: "result"},
			{Is: PartResult, Tag: "FunctionResultContent", ID: "CallId", Name: "FunctionName", Payload: "Result"},
			{Is: PartMedia, Tag: "image"},
			{Is: PartMedia, Tag: "ImageContent"},
		},
		Message: []Stencil{
			{If: "Items", JSON: `{"Role":{"Label":"tool"},"Items":"$blocks"}`},
			{JSON: `{"role":"tool","items":"$blocks"}`},
		},
		TextBlock: []Stencil{
			{If: "Items|$type", JSON: `{"$type":"TextContent","Text":"$text"}`},
			{JSON: `{"content_type":"text","text":"$text"}`},
		},
	}),
}
