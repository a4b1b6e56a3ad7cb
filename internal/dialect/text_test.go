package dialect

import (
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// asWritten renders a text as the tests compare it.
func asWritten(t Text) string {
	switch {
	case t.Blocks != nil:
		return "blocks " + list(t.Blocks)
	case t.Message != nil:
		return "message " + object(t.Message)
	case t.Said != "":
		return "said " + t.Said
	}
	return ""
}

// texts returns the first call and the first result of messages, one a line, as
// text.
func texts(d *Dialect, lines string) (call, result string) {
	w, ok := d.Driver.(Writer)
	if !ok {
		return "", ""
	}
	c := &transcript.Conversation{}
	r := d.Driver.Reader(transcript.NewBuilder(c))
	at := int64(0)
	text := []byte(lines)
	for line := range strings.SplitSeq(lines, "\n") {
		v := source.NewValue([]byte(line), at)
		if d.Log != nil && d.Log.Payload != "" && d.Log.Payload.In(v).Exists() {
			v = d.Log.Payload.In(v)
		}
		r.Read(v)
		at += int64(len(line)) + 1
	}
	value := func(s source.Span) source.Value {
		if s.IsZero() {
			return source.Value{}
		}
		return source.NewValue(text[s.Start:s.End], s.Start)
	}
	if len(c.Calls) > 0 {
		x := &c.Calls[0]
		call = asWritten(w.WriteText(NewText{
			Call: true, Label: `"CALL"`, Content: value(x.Args), Element: value(c.Blocks[x.Block].Span), Message: value(c.Messages[x.Message].Span()),
		}))
	}
	if len(c.Results) > 0 {
		x := &c.Results[0]
		result = asWritten(w.WriteText(NewText{
			Label: `"RESULT"`, Content: value(x.Payload), Element: value(c.Blocks[x.Block].Span), Message: value(c.Messages[x.Message].Span()),
		}))
	}
	return call, result
}

// TestWriteText: each dialect that is repaired says here how it writes a call and
// a result as text.
func TestWriteText(t *testing.T) {
	for _, d := range All() {
		if d.CheckOnly != "" {
			continue
		}
		want, known := asText[d.Name]
		if !known {
			t.Errorf("%s: nothing is said of it", d.Name)
			continue
		}
		call, result := texts(d, d.Example)
		if call != want[0] || result != want[1] {
			t.Errorf("%s:\ngot  %s\n     %s\nwant %s\n     %s", d.Name, call, result, want[0], want[1])
		}
	}
}

var asText = map[string][2]string{
	"claude-code": {
		`blocks [{"type":"text","text":"CALL\n{}"}]`,
		`blocks [{"type":"text","text":"RESULT\na.txt"}]`,
	},
	"adk": {
		`blocks [{"text":"CALL\n{}"}]`,
		`message {"content":{"role":"user","parts":[{"text":"RESULT\n{\"result\":\"a.txt\"}"}]},"invocationId":"e-1","author":"agent"}`,
	},
	"gemini": {
		`blocks [{"text":"CALL\n{}"}]`,
		`blocks [{"text":"RESULT\n{\"output\":\"a.txt\"}"}]`,
	},
	"bedrock": {
		`blocks [{"text":"CALL\n{}"}]`,
		`blocks [{"text":"RESULT"},{"text":"a.txt"}]`,
	},
	"ai-sdk": {
		`blocks [{"type":"text","text":"CALL\n{}"}]`,
		`message {"role":"user","content":[{"type":"text","text":"RESULT\na.txt"}]}`,
	},
	"pi": {
		`blocks [{"type":"text","text":"CALL\n{}"}]`,
		`message {"role":"user","content":[{"type":"text","text":"RESULT"},{"type":"text","text":"a.txt"}]}`,
	},
	"goose": {
		`blocks [{"type":"text","text":"CALL\n{}"}]`,
		`blocks [{"type":"text","text":"RESULT"},{"type":"text","text":"a.txt"}]`,
	},
	"pydantic-ai": {
		`blocks [{"content":"CALL\n{}","part_kind":"text"}]`,
		`blocks [{"content":"RESULT\na.txt","part_kind":"user-prompt"}]`,
	},
	"agent-framework": {
		`blocks [{"type":"text","text":"CALL\n{}"}]`,
		`message {"role":"user","contents":[{"type":"text","text":"RESULT\na.txt"}]}`,
	},
	"semantic-kernel": {
		`blocks [{"content_type":"text","text":"CALL\n{}"}]`,
		`message {"role":"user","items":[{"content_type":"text","text":"RESULT\na.txt"}]}`,
	},
	"meai": {
		`blocks [{"$type":"text","text":"CALL\n{}"}]`,
		`message {"role":"user","contents":[{"$type":"text","text":"RESULT\na.txt"}]}`,
	},
	"autogen": {
		``,
		``,
	},
	"haystack": {
		`blocks [{"text":"CALL\n{}"}]`,
		`message {"role":"user","content":[{"text":"RESULT\na.txt"}],"name":null,"meta":{}}`,
	},
	"qwen-code": {
		`blocks [{"text":"CALL\n{}"}]`,
		`blocks [{"text":"RESULT\n{\"output\":\"a.txt\"}"}]`,
	},
	"codex": {
		`message {"type":"message","role":"assistant","content":[{"type":"output_text","text":"CALL\n{}"}]}`,
		`message {"type":"message","role":"user","content":[{"type":"input_text","text":"RESULT\na.txt"}]}`,
	},
	"codebuddy": {
		`message {"id":"c1","timestamp":1784000001200,"type":"message","sessionId":"s","cwd":"/w","role":"assistant","content":[{"type":"output_text","text":"CALL\n{}"}]}`,
		`message {"id":"r1","parentId":"c1","timestamp":1784000001800,"type":"message","status":"completed","sessionId":"s","cwd":"/w","role":"user","content":[{"type":"input_text","text":"RESULT\n{\"type\":\"text\",\"text\":\"a.txt\"}"}]}`,
	},
	"copilot-cli": {
		``,
		``,
	},
	"factory-droid": {
		`blocks [{"type":"text","text":"CALL\n{}"}]`,
		`blocks [{"type":"text","text":"RESULT\na.txt"}]`,
	},
	"openai-chat": {
		`said "CALL\n{}"`,
		`message {"role":"user","content":"RESULT\na.txt"}`,
	},
	"tau2": {
		`said "CALL\n{}"`,
		`message {"role":"user","content":"RESULT\na.txt","requestor":"assistant"}`,
	},
	"llama-stack": {
		`said "CALL\n{}"`,
		`message {"role":"user","content":"RESULT\na.txt"}`,
	},
	"agentscope": {
		`blocks [{"type":"text","text":"CALL\n{}"}]`,
		`message {"id":"m2","name":"system","role":"user","content":[{"type":"text","text":"RESULT"},{"type":"text","text":"a.txt"}]}`,
	},
	"langchain4j": {
		`said "CALL\n{}"`,
		`message {"type":"USER","contents":[{"text":"RESULT\na.txt","type":"TEXT"}]}`,
	},
	"anthropic": {
		`blocks [{"type":"text","text":"CALL\n{}"}]`,
		`blocks [{"type":"text","text":"RESULT\na.txt"}]`,
	},
	"openai-responses": {
		`message {"role":"assistant","content":"CALL\n{}"}`,
		`message {"role":"user","content":"RESULT\na.txt"}`,
	},
	"ai-sdk-ui": {
		`blocks [{"type":"text","text":"CALL\n{\"type\":\"tool-ls\",\"toolCallId\":\"c1\",\"state\":\"input-available\",\"input\":{}}"}]`,
		`blocks [{"type":"text","text":"RESULT\n{\"type\":\"tool-ls\",\"toolCallId\":\"c1\",\"state\":\"output-available\",\"input\":{},\"output\":\"a.txt\"}"}]`,
	},
	"mastra": {
		`blocks [{"type":"text","text":"CALL\n{\"type\":\"tool-invocation\",\"toolInvocation\":{\"state\":\"call\",\"toolCallId\":\"c1\",\"toolName\":\"ls\",\"args\":{}}}"}]`,
		`blocks [{"type":"text","text":"RESULT\n{\"type\":\"tool-invocation\",\"toolInvocation\":{\"state\":\"result\",\"toolCallId\":\"c1\",\"toolName\":\"ls\",\"args\":{},\"result\":\"a.txt\"}}"}]`,
	},
	"librechat": {
		`blocks [{"type":"text","text":"CALL\n{\"type\":\"tool_call\",\"tool_call\":{\"id\":\"call_1\",\"name\":\"ls\",\"args\":\"{}\",\"type\":\"tool_call\",\"progress\":0.1}}"}]`,
		`blocks [{"type":"text","text":"RESULT\n{\"type\":\"tool_call\",\"tool_call\":{\"id\":\"call_1\",\"name\":\"ls\",\"args\":\"{}\",\"type\":\"tool_call\",\"progress\":1,\"output\":\"a.txt\"}}"}]`,
	},
	"langchain": {
		`said "CALL\n{}"`,
		`message {"type":"human","content":"RESULT\na.txt"}`,
	},
	"opencode": {
		`message {"type":"text","text":"CALL\n{\"id\":\"p1\",\"sessionID\":\"s\",\"messageID\":\"m\",\"type\":\"tool\",\"callID\":\"c1\",\"tool\":\"ls\",\"state\":{\"status\":\"running\",\"input\":{}}}","id":"p1","sessionID":"s","messageID":"m"}`,
		`message {"type":"text","text":"RESULT\n{\"id\":\"p1\",\"sessionID\":\"s\",\"messageID\":\"m\",\"type\":\"tool\",\"callID\":\"c1\",\"tool\":\"ls\",\"state\":{\"status\":\"completed\",\"input\":{},\"output\":\"a.txt\"}}","id":"p1","sessionID":"s","messageID":"m"}`,
	},
	"gemini-cli": {
		``,
		``,
	},
	"continue": {
		``,
		``,
	},
	"grok-chat": {
		`said "CALL\n{}"`,
		`message {"type":"user","content":"RESULT\na.txt"}`,
	},
	"mistral-entries": {
		`message {"type":"message.output","role":"assistant","content":"CALL\n{}"}`,
		`message {"type":"message.input","role":"user","content":"RESULT\na.txt"}`,
	},
}

// TestWriteTextKeeps: blocks stay blocks, and what the message of a result says
// besides stays too.
func TestWriteTextKeeps(t *testing.T) {
	const image = `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}`
	for _, c := range []struct {
		name         string
		dialect      *Dialect
		lines        string
		call, result string
	}{
		{
			"blocks of Anthropic", Anthropic,
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"one"},` + image + `,{"type":"tool_reference","tool_name":"f"},"x"]}]}`,
			"", `blocks [{"type":"text","text":"RESULT"},{"type":"text","text":"one"},` + image + `,{"type":"text","text":"{\"type\":\"tool_reference\",\"tool_name\":\"f\"}\nx"}]`,
		},
		{
			"a list without blocks", Anthropic,
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[1,2]}]}`,
			"", `blocks [{"type":"text","text":"RESULT\n[1,2]"}]`,
		},
		{
			"no content, and arguments that look like blocks", Anthropic,
			`{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":[{"type":"text","text":"one"}]}]}` + "\n" +
				`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}`,
			`blocks [{"type":"text","text":"CALL\n[{\"type\":\"text\",\"text\":\"one\"}]"}]`, `blocks [{"type":"text","text":"RESULT"}]`,
		},
		{
			"a server tool", Anthropic,
			`{"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"q":1}},{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[` + image + `]}]}`,
			`blocks [{"type":"text","text":"CALL\n{\"q\":1}"}]`,
			`blocks [{"type":"text","text":"RESULT\n[` + strings.ReplaceAll(image, `"`, `\"`) + `]"}]`,
		},
		{
			"parts of Gemini", Gemini,
			`{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"ok":true},"parts":[{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]}}]}`,
			"", `blocks [{"text":"RESULT\n{\"ok\":true}"},{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]`,
		},
		{
			"documents of Bedrock", Bedrock,
			`{"role":"user","content":[{"toolResult":{"toolUseId":"a","content":[{"json":{"a":1}},{"document":{"name":"d"}}]}}]}`,
			"", `blocks [{"text":"RESULT\n{\"json\":{\"a\":1}}"},{"document":{"name":"d"}}]`,
		},
		{
			"content of the AI SDK", AISDK,
			`{"role":"tool","content":[{"type":"tool-result","toolCallId":"a","toolName":"f","output":{"type":"content","value":[{"type":"text","text":"one"},{"type":"media","data":"AAAA","mediaType":"image/png"}]}}]}`,
			"", `message {"role":"user","content":[{"type":"text","text":"RESULT"},{"type":"text","text":"one"},{"type":"text","text":"{\"type\":\"media\",\"data\":\"AAAA\",\"mediaType\":\"image/png\"}"}]}`,
		},
		{
			"a message of pi", Pi,
			`{"role":"toolResult","toolCallId":"a","toolName":"f","content":[{"type":"image","data":"AAAA","mimeType":"image/png"}],"isError":true,"details":{"n":1},"timestamp":7}`,
			"", `message {"role":"user","content":[{"type":"text","text":"RESULT"},{"type":"image","data":"AAAA","mimeType":"image/png"}],"details":{"n":1},"timestamp":7}`,
		},
		{
			"parts of Chat", OpenAIChat,
			`{"role":"assistant","content":"hm","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\": \"\\u00e9\"}"}}]}` + "\n" +
				`{"metadata":{"n":1},"role":"tool","tool_call_id":"a","name":"f","content":[{"type":"text","text":"one"},{"type":"image_url","image_url":{"url":"data:"}}],"ts":7}`,
			`said "CALL\n{\"x\": \"\\u00e9\"}"`,
			`message {"role":"user","metadata":{"n":1},"content":[{"type":"text","text":"RESULT"},{"type":"text","text":"one"},{"type":"image_url","image_url":{"url":"data:"}}],"ts":7}`,
		},
		{
			"a constructor of LangChain", LangChain,
			`{"lc":1,"type":"constructor","id":["langchain","schema","messages","ToolMessage"],"kwargs":{"type":"tool","content":"one","name":"f","tool_call_id":"a","status":"error","artifact":{"n":1}}}`,
			"", `message {"lc":1,"type":"constructor","id":["langchain","schema","messages","HumanMessage"],"kwargs":{"type":"human","content":"RESULT\none","artifact":{"n":1}}}`,
		},
		{
			"parts of Responses", OpenAIResponses,
			`{"type":"function_call_output","call_id":"a","output":[{"type":"input_text","text":"one"},{"type":"input_image","image_url":"data:"}]}`,
			"", `message {"role":"user","content":[{"type":"input_text","text":"RESULT"},{"type":"input_text","text":"one"},{"type":"input_image","image_url":"data:"}]}`,
		},
		{
			"a custom tool of Codex", Codex,
			`{"type":"custom_tool_call","call_id":"a","name":"f","input":"*** Begin"}`,
			`message {"type":"message","role":"assistant","content":[{"type":"output_text","text":"CALL\n*** Begin"}]}`, "",
		},
		{
			"a call of pydantic", PydanticAI,
			`{"kind":"response","parts":[{"part_kind":"tool-call","tool_name":"f","args":"{}","tool_call_id":"a"}]}`,
			`blocks [{"content":"CALL\n{}","part_kind":"text"}]`, "",
		},
		{
			"a server tool of pydantic", PydanticAI,
			`{"kind":"response","parts":[{"part_kind":"builtin-tool-return","tool_name":"f","content":"x","tool_call_id":"a"}]}`,
			"", "",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			call, result := texts(c.dialect, c.lines)
			if call != c.call || result != c.result {
				t.Errorf("got  %s\n     %s\nwant %s\n     %s", call, result, c.call, c.result)
			}
		})
	}
}
