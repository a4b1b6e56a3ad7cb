package dialect

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/golden"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// asWritten formats a text for comparison.
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

// texts returns the first call and the first result of messages as text. lines has
// one message per line.
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
			Said: []source.Span{x.ID.Span, x.Name.Span}, Without: []string{"role", "type", "id", w.Keys(value(c.Blocks[x.Block].Span)).Type},
		}))
	}
	return call, result
}

// TestWriteText compares the example of each dialect that is repaired, written as
// text, with the golden file.
func TestWriteText(t *testing.T) {
	var got strings.Builder
	for _, d := range All() {
		if d.CheckOnly == "" {
			call, result := texts(d, d.Example)
			fmt.Fprintf(&got, "%s:\n  %s\n  %s\n", d.Name, cmp.Or(call, "none"), cmp.Or(result, "none"))
		}
	}
	golden.File(t, filepath.Join("testdata", "text.golden"), got.String())
}

// TestWriteTextKeeps checks that blocks stay blocks, and that a result's message
// keeps its other fields.
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
			"parts of Gemini CLI", GeminiCLI,
			`{"id":"u1","timestamp":"t","type":"user","content":[{"functionResponse":{"id":"a","name":"f","response":{"output":"x"},"parts":[{"inlineData":{"mimeType":"image/png","data":"AAAA"}}],"scheduling":"SILENT"}}]}`,
			"", `blocks [{"text":"RESULT\n{\"output\":\"x\"}"},{"inlineData":{"mimeType":"image/png","data":"AAAA"}},{"text":"{\"scheduling\":\"SILENT\"}"}]`,
		},
		{
			"an event of Copilot CLI", CopilotCLI,
			`{"type":"tool.execution_complete","data":{"toolCallId":"a","success":false,"error":{"message":"no","code":"denied"}},"id":"e2","timestamp":"t","parentId":"e1","ephemeral":false}`,
			"", `message {"type":"user.message","data":{"content":"RESULT\nno"},"id":"e2","timestamp":"t","parentId":"e1"}`,
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
			"", `message {"role":"user","content":[{"type":"text","text":"RESULT"},{"type":"image","data":"AAAA","mimeType":"image/png"},{"type":"text","text":"{\"isError\":true}"}],"details":{"n":1},"timestamp":7}`,
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
			"", `message {"lc":1,"type":"constructor","id":["langchain","schema","messages","HumanMessage"],"kwargs":{"type":"human","content":"RESULT\none\n{\"status\":\"error\"}","artifact":{"n":1}}}`,
		},
		{
			"other fields of Anthropic", Anthropic,
			`{"role":"user","content":[{"x":{"type":"y"},"type":"tool_result","tool_use_id":"a","content":"one","is_error":true,"none":null}]}`,
			"", `blocks [{"type":"text","text":"RESULT\none\n{\"x\":{\"type\":\"y\"},\"is_error\":true}"}]`,
		},
		{
			"other fields of Gemini, around the content", Gemini,
			`{"role":"user","parts":[{"x":1e400,"functionResponse":{"id":"a","name":"f","willContinue":true,"response":{"ok":true},"parts":[{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]}}]}`,
			"", `blocks [{"text":"RESULT\n{\"ok\":true}"},{"inlineData":{"mimeType":"image/png","data":"AAAA"}},{"text":"{\"x\":1e400,\"willContinue\":true}"}]`,
		},
		{
			"other fields of Bedrock", Bedrock,
			`{"role":"user","content":[{"toolResult":{"toolUseId":"a","status":"error","content":[{"text":"one"}]}}]}`,
			"", `blocks [{"text":"RESULT"},{"text":"one"},{"text":"{\"status\":\"error\"}"}]`,
		},
		{
			"other fields of Responses", OpenAIResponses,
			`{"type":"function_call_output","id":"fc","call_id":"a","output":"one","status":"incomplete","x":["\u00e9",false]}`,
			"", `message {"role":"user","content":"RESULT\none\n{\"status\":\"incomplete\",\"x\":[\"\\u00e9\",false]}"}`,
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
