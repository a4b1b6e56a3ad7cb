package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/sample"
)

// strips are transcripts with reasoning, and what is left of them without it.
var strips = []struct {
	dialect, why, target string
	in, out              string
	left                 bool // some reasoning stays, because it is demanded or no longer read
}{
	{
		dialect: "anthropic", why: "thinking and redacted thinking",
		in: `{"model":"claude-x","max_tokens":9,"messages":[
{"role":"user","content":"q"},
{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"c2ln"},{"type":"redacted_thinking","data":"ZGF0"},{"type":"text","text":"a"}]},
{"role":"user","content":"r"}]}`,
		out: `{"model":"claude-x","max_tokens":9,"messages":[
{"role":"user","content":"q"},
{"role":"assistant","content":[{"type":"text","text":"a"}]},
{"role":"user","content":"r"}]}`,
	},
	{
		dialect: "anthropic", why: "a message of thinking alone goes, and so do the fields of routers",
		in: `{"model":"claude-x","max_tokens":9,"messages":[
{"role":"user","content":"q"},
{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"c2ln"}]},
{"role":"user","content":"go on"},
{"role":"assistant","content":"a","reasoning_details":[{"type":"reasoning.text"}]}]}`,
		out: `{"model":"claude-x","max_tokens":9,"messages":[
{"role":"user","content":"q"},
{"role":"user","content":"go on"},
{"role":"assistant","content":"a"}]}`,
	},
	{
		dialect: "anthropic", why: "thinking that calls must begin with is turned off, with the edits that need it",
		in: `{"model":"claude-x","max_tokens":9000,"thinking":{"type":"enabled","budget_tokens":2000},"context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"},{"type":"clear_tool_uses_20250919"}]},"messages":[
{"role":"user","content":"q"},
{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"c2ln"},{"type":"tool_use","id":"toolu_1","name":"ls","input":{}}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"x"}]}]}`,
		out: `{"model":"claude-x","max_tokens":9000,"thinking":{"type":"disabled"},"context_management":{"edits":[{"type":"clear_tool_uses_20250919"}]},"messages":[
{"role":"user","content":"q"},
{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"ls","input":{}}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"x"}]}]}`,
	},
	{
		dialect: "anthropic", why: "thinking stays on before a new question, and adaptive thinking always",
		in: `{"model":"claude-x","max_tokens":9000,"thinking":{"type":"enabled","budget_tokens":2000},"messages":[
{"role":"user","content":"q"},
{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"c2ln"},{"type":"tool_use","id":"toolu_1","name":"ls","input":{}}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"x"}]},
{"role":"assistant","content":"done"},
{"role":"user","content":"r"}]}`,
		out: `{"model":"claude-x","max_tokens":9000,"thinking":{"type":"enabled","budget_tokens":2000},"messages":[
{"role":"user","content":"q"},
{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"ls","input":{}}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"x"}]},
{"role":"assistant","content":"done"},
{"role":"user","content":"r"}]}`,
	},
	{
		dialect: "anthropic", why: "reasoning that Roo keeps in elements of its own",
		in: `[{"role":"user","content":"q","ts":1},
{"type":"reasoning","id":"rs_1","encrypted_content":"gAAA","summary":[],"ts":2},
{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"ls","input":{}}],"ts":3},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"x"}],"ts":4}]`,
		out: `[{"role":"user","content":"q","ts":1},
{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"ls","input":{}}],"ts":3},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"x"}],"ts":4}]`,
	},
	{
		dialect: "bedrock", why: "reasoningContent",
		in: `{"modelId":"anthropic.claude-x","additionalModelRequestFields":{"thinking":{"type":"enabled","budget_tokens":2000}},"messages":[
{"role":"user","content":[{"text":"q"}]},
{"role":"assistant","content":[{"reasoningContent":{"reasoningText":{"text":"t","signature":"c2ln"}}},{"reasoningContent":{"redactedContent":"ZGF0"}},{"toolUse":{"toolUseId":"t1","name":"ls","input":{}}}]},
{"role":"user","content":[{"toolResult":{"toolUseId":"t1","content":[{"text":"x"}]}}]}],"toolConfig":{"tools":[]}}`,
		out: `{"modelId":"anthropic.claude-x","additionalModelRequestFields":{"thinking":{"type":"disabled"}},"messages":[
{"role":"user","content":[{"text":"q"}]},
{"role":"assistant","content":[{"toolUse":{"toolUseId":"t1","name":"ls","input":{}}}]},
{"role":"user","content":[{"toolResult":{"toolUseId":"t1","content":[{"text":"x"}]}}]}],"toolConfig":{"tools":[]}}`,
	},
	{
		dialect: "gemini", why: "signatures of all kinds of parts",
		in: `{"contents":[{"role":"user","parts":[{"text":"q"}]},
{"role":"model","parts":[{"text":"hm","thought":true,"thoughtSignature":"c2ln"},{"text":"a","thoughtSignature":"c2ln"},{"functionCall":{"name":"ls","args":{},"thought_signature":"c2ln"},"thought_signature":"c2ln"}]},
{"role":"user","parts":[{"functionResponse":{"name":"ls","response":{"output":"x"}}}]}]}`,
		out: `{"contents":[{"role":"user","parts":[{"text":"q"}]},
{"role":"model","parts":[{"text":"a"},{"functionCall":{"name":"ls","args":{}}}]},
{"role":"user","parts":[{"functionResponse":{"name":"ls","response":{"output":"x"}}}]}]}`,
	},
	{
		dialect: "gemini", why: "the documented value where Gemini 3 demands a signature", target: "gemini-3",
		in: `{"contents":[{"role":"user","parts":[{"text":"q"}]},
{"role":"model","parts":[{"functionCall":{"name":"ls","args":{}},"thoughtSignature":"b2xk"}]},
{"role":"user","parts":[{"functionResponse":{"name":"ls","response":{"output":"x"}}}]},
{"role":"model","parts":[{"text":"a"},{"text":"","thoughtSignature":"dGV4dA=="}]},
{"role":"user","parts":[{"text":"again"}]},
{"role":"model","parts":[{"functionCall":{"name":"ls","args":{}},"thoughtSignature":"bmV3"},{"functionCall":{"name":"ls","args":{"all":true}}}]},
{"role":"user","parts":[{"functionResponse":{"name":"ls","response":{"output":"x"}}},{"functionResponse":{"name":"ls","response":{"output":"y"}}}]}]}`,
		out: `{"contents":[{"role":"user","parts":[{"text":"q"}]},
{"role":"model","parts":[{"functionCall":{"name":"ls","args":{}}}]},
{"role":"user","parts":[{"functionResponse":{"name":"ls","response":{"output":"x"}}}]},
{"role":"model","parts":[{"text":"a"}]},
{"role":"user","parts":[{"text":"again"}]},
{"role":"model","parts":[{"functionCall":{"name":"ls","args":{}},"thoughtSignature":"skip_thought_signature_validator"},{"functionCall":{"name":"ls","args":{"all":true}}}]},
{"role":"user","parts":[{"functionResponse":{"name":"ls","response":{"output":"x"}}},{"functionResponse":{"name":"ls","response":{"output":"y"}}}]}]}`,
	},
	{
		dialect: "adk", why: "signatures of an event",
		in: `[{"invocationId":"i1","author":"user","content":{"role":"user","parts":[{"text":"q"}]}},
{"invocationId":"i1","author":"a","content":{"role":"model","parts":[{"functionCall":{"id":"c1","name":"ls","args":{}},"thoughtSignature":"c2ln"}]}},
{"invocationId":"i1","author":"a","content":{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"ls","response":{"output":"x"}}}]}}]`,
		out: `[{"invocationId":"i1","author":"user","content":{"role":"user","parts":[{"text":"q"}]}},
{"invocationId":"i1","author":"a","content":{"role":"model","parts":[{"functionCall":{"id":"c1","name":"ls","args":{}}}]}},
{"invocationId":"i1","author":"a","content":{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"ls","response":{"output":"x"}}}]}}]`,
	},
	{
		dialect: "qwen-code", why: "a record of thought alone goes, and the chain stays whole",
		in: `{"uuid":"u1","parentUuid":null,"sessionId":"s","type":"user","message":{"role":"user","parts":[{"text":"q"}]}}
{"uuid":"a1","parentUuid":"u1","sessionId":"s","type":"assistant","message":{"role":"model","parts":[{"text":"hm","thought":true}]}}
{"uuid":"a2","parentUuid":"a1","sessionId":"s","type":"assistant","message":{"role":"model","parts":[{"functionCall":{"id":"c1","name":"ls","args":{},"thoughtSignature":"c2ln"},"thoughtSignature":"c2ln"}]}}
{"uuid":"t1","parentUuid":"a2","sessionId":"s","type":"tool_result","message":{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"ls","response":{"output":"x"}}}]}}
`,
		out: `{"uuid":"u1","parentUuid":null,"sessionId":"s","type":"user","message":{"role":"user","parts":[{"text":"q"}]}}
{"uuid":"a2","parentUuid":"u1","sessionId":"s","type":"assistant","message":{"role":"model","parts":[{"functionCall":{"id":"c1","name":"ls","args":{}}}]}}
{"uuid":"t1","parentUuid":"a2","sessionId":"s","type":"tool_result","message":{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"ls","response":{"output":"x"}}}]}}
`,
	},
	{
		dialect: "claude-code", why: "records of one answer; the record of thinking goes",
		in: `{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"q"}}
{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"s","message":{"id":"msg_1","role":"assistant","content":[{"type":"thinking","thinking":"","signature":"c2ln"}]}}
{"type":"assistant","uuid":"a2","parentUuid":"a1","sessionId":"s","message":{"id":"msg_1","role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{}}]}}
{"type":"user","uuid":"u2","parentUuid":"a2","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"x"}]}}
`,
		out: `{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"q"}}
{"type":"assistant","uuid":"a2","parentUuid":"u1","sessionId":"s","message":{"id":"msg_1","role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{}}]}}
{"type":"user","uuid":"u2","parentUuid":"a2","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"x"}]}}
`,
	},
	{
		dialect: "openai-responses", why: "reasoning items, the ids tied to them, compaction, references",
		in: `{"model":"gpt-5","store":false,"input":[
{"role":"user","content":"q"},
{"type":"message","role":"user","content":[{"type":"input_text","text":"p"},{"type":"encrypted_content","encrypted_content":"gAAA"}],"encrypted_content":"gAAA"},
{"type":"compaction","id":"cmp_1","encrypted_content":"gAAA"},
{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAA"},
{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"I look.","annotations":[]}]},
{"type":"web_search_call","id":"ws_1","status":"completed"},
{"type":"item_reference","id":"rs_2"},
{"id":"msg_2","role":"assistant","content":"so"},
{"type":"function_call","id":"fc_1","call_id":"call_1","name":"ls","arguments":"{}"},
{"type":"function_call_output","id":"fco_1","call_id":"call_1","output":"x"}]}`,
		out: `{"model":"gpt-5","store":false,"input":[
{"role":"user","content":"q"},
{"type":"message","role":"user","content":[{"type":"input_text","text":"p"}]},
{"type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"I look.","annotations":[]}]},
{"type":"web_search_call","status":"completed"},
{"role":"assistant","content":"so"},
{"type":"function_call","call_id":"call_1","name":"ls","arguments":"{}"},
{"type":"function_call_output","id":"fco_1","call_id":"call_1","output":"x"}]}`,
	},
	{
		dialect: "codex", why: "reasoning and compaction on disk; the record of the compaction stays",
		in: `{"timestamp":"2026-01-02T03:04:05Z","type":"session_meta","payload":{"id":"s"}}
{"timestamp":"2026-01-02T03:04:05Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"q"}]}}
{"timestamp":"2026-01-02T03:04:06Z","type":"compacted","payload":{"message":"","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"q"}]},{"type":"compaction","id":"cmp_1","encrypted_content":"gAAA"}]}}
{"timestamp":"2026-01-02T03:04:06Z","type":"response_item","payload":{"type":"compaction","id":"cmp_2","encrypted_content":"gAAA"}}
{"timestamp":"2026-01-02T03:04:07Z","type":"response_item","payload":{"type":"reasoning","id":"rs_1","summary":[],"content":null,"encrypted_content":"gAAA"}}
{"timestamp":"2026-01-02T03:04:08Z","type":"response_item","payload":{"type":"function_call","id":"fc_1","call_id":"call_1","name":"ls","arguments":"{}"}}
{"timestamp":"2026-01-02T03:04:09Z","type":"response_item","payload":{"type":"function_call_output","call_id":"call_1","output":"x"}}
`,
		out: `{"timestamp":"2026-01-02T03:04:05Z","type":"session_meta","payload":{"id":"s"}}
{"timestamp":"2026-01-02T03:04:05Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"q"}]}}
{"timestamp":"2026-01-02T03:04:06Z","type":"compacted","payload":{"message":"","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"q"}]}]}}
{"timestamp":"2026-01-02T03:04:08Z","type":"response_item","payload":{"type":"function_call","call_id":"call_1","name":"ls","arguments":"{}"}}
{"timestamp":"2026-01-02T03:04:09Z","type":"response_item","payload":{"type":"function_call_output","call_id":"call_1","output":"x"}}
`,
	},
	{
		dialect: "codebuddy", why: "a record of reasoning",
		in: `{"id":"u1","timestamp":1,"type":"message","role":"user","content":[{"type":"input_text","text":"q"}],"sessionId":"s","cwd":"/w"}
{"id":"r1","parentId":"u1","timestamp":2,"type":"reasoning","content":[],"rawContent":[{"type":"reasoning_text","text":"Look."}],"sessionId":"s","cwd":"/w"}
{"id":"m1","parentId":"r1","timestamp":3,"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}],"providerData":{"model":"m","reasoning":"Look."},"sessionId":"s","cwd":"/w"}
`,
		out: `{"id":"u1","timestamp":1,"type":"message","role":"user","content":[{"type":"input_text","text":"q"}],"sessionId":"s","cwd":"/w"}
{"id":"m1","parentId":"u1","timestamp":3,"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}],"providerData":{"model":"m"},"sessionId":"s","cwd":"/w"}
`,
	},
	{
		dialect: "pi", why: "signatures of texts and calls",
		in: `{"type":"session","version":3,"id":"s","timestamp":"t","cwd":"/w"}
{"type":"message","id":"u1","parentId":null,"timestamp":"t","message":{"role":"user","content":"q"}}
{"type":"message","id":"a1","parentId":"u1","timestamp":"t","message":{"role":"assistant","content":[{"type":"thinking","thinking":"t","thinkingSignature":"c2ln"},{"type":"text","text":"I look.","textSignature":"msg_1"},{"type":"toolCall","id":"call_1","name":"ls","arguments":{},"thoughtSignature":"c2ln"}],"stopReason":"toolUse"}}
{"type":"message","id":"t1","parentId":"a1","timestamp":"t","message":{"role":"toolResult","toolCallId":"call_1","toolName":"ls","content":[{"type":"text","text":"x"}],"isError":false}}
`,
		out: `{"type":"session","version":3,"id":"s","timestamp":"t","cwd":"/w"}
{"type":"message","id":"u1","parentId":null,"timestamp":"t","message":{"role":"user","content":"q"}}
{"type":"message","id":"a1","parentId":"u1","timestamp":"t","message":{"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"toolCall","id":"call_1","name":"ls","arguments":{}}],"stopReason":"toolUse"}}
{"type":"message","id":"t1","parentId":"a1","timestamp":"t","message":{"role":"toolResult","toolCallId":"call_1","toolName":"ls","content":[{"type":"text","text":"x"}],"isError":false}}
`,
	},
	{
		dialect: "goose", why: "thinking, redacted thinking, the signature of a request",
		in: `{"working_dir":"/w","conversation":[{"role":"user","created":1,"content":[{"type":"text","text":"q"}]},
{"role":"assistant","created":2,"content":[{"type":"thinking","thinking":"t","signature":"c2ln"},{"type":"redactedThinking","data":"ZGF0"},{"type":"toolRequest","id":"r1","toolCall":{"status":"success","value":{"name":"ls","arguments":{}}},"metadata":{"thoughtSignature":"c2ln"},"thoughtSignature":"c2ln"}]},
{"role":"user","created":3,"content":[{"type":"toolResponse","id":"r1","toolResult":{"status":"success","value":{"content":[{"type":"text","text":"x"}],"isError":false}}}]}]}`,
		out: `{"working_dir":"/w","conversation":[{"role":"user","created":1,"content":[{"type":"text","text":"q"}]},
{"role":"assistant","created":2,"content":[{"type":"toolRequest","id":"r1","toolCall":{"status":"success","value":{"name":"ls","arguments":{}}}}]},
{"role":"user","created":3,"content":[{"type":"toolResponse","id":"r1","toolResult":{"status":"success","value":{"content":[{"type":"text","text":"x"}],"isError":false}}}]}]}`,
	},
	{
		dialect: "opencode", why: "an export",
		in: `{"info":{"id":"ses_1"},"messages":[{"info":{"id":"m1","role":"user","sessionID":"ses_1"},"parts":[{"id":"p1","sessionID":"ses_1","messageID":"m1","type":"text","text":"q"}]},
{"info":{"id":"m2","role":"assistant","sessionID":"ses_1"},"parts":[{"id":"p2","sessionID":"ses_1","messageID":"m2","type":"step-start"},{"id":"p3","sessionID":"ses_1","messageID":"m2","type":"reasoning","text":"t","metadata":{"openai":{"itemId":"rs_1","reasoningEncryptedContent":"gAAA"}}},{"id":"p4","sessionID":"ses_1","messageID":"m2","type":"tool","callID":"c1","tool":"ls","state":{"status":"completed","input":{},"output":"x","metadata":{"n":1}},"metadata":{"openai":{"itemId":"fc_1"},"custom":{"n":1}}}]}]}`,
		out: `{"info":{"id":"ses_1"},"messages":[{"info":{"id":"m1","role":"user","sessionID":"ses_1"},"parts":[{"id":"p1","sessionID":"ses_1","messageID":"m1","type":"text","text":"q"}]},
{"info":{"id":"m2","role":"assistant","sessionID":"ses_1"},"parts":[{"id":"p2","sessionID":"ses_1","messageID":"m2","type":"step-start"},{"id":"p4","sessionID":"ses_1","messageID":"m2","type":"tool","callID":"c1","tool":"ls","state":{"status":"completed","input":{},"output":"x","metadata":{"n":1}},"metadata":{"custom":{"n":1}}}]}]}`,
	},
	{
		dialect: "opencode", why: "part files",
		in:  `{"id":"p4","sessionID":"ses_1","messageID":"m2","type":"tool","callID":"c1","tool":"ls","state":{"status":"completed","input":{},"output":"x"},"metadata":{"google":{"thoughtSignature":"c2ln"}}}`,
		out: `{"id":"p4","sessionID":"ses_1","messageID":"m2","type":"tool","callID":"c1","tool":"ls","state":{"status":"completed","input":{},"output":"x"}}`,
	},
	{
		dialect: "opencode", why: "printed events",
		in: `{"type":"tool_use","timestamp":1,"sessionID":"ses_1","part":{"id":"p4","sessionID":"ses_1","messageID":"m2","type":"tool","callID":"c1","tool":"ls","state":{"status":"completed","input":{},"output":"x"},"metadata":{"openai":{"itemId":"fc_1"}}}}
`,
		out: `{"type":"tool_use","timestamp":1,"sessionID":"ses_1","part":{"id":"p4","sessionID":"ses_1","messageID":"m2","type":"tool","callID":"c1","tool":"ls","state":{"status":"completed","input":{},"output":"x"}}}
`,
	},
	{
		dialect: "ai-sdk", why: "reasoning parts and what providers add to others",
		in: `[{"role":"user","content":"q"},
{"role":"assistant","providerOptions":{"openrouter":{"reasoning_details":[{"type":"reasoning.encrypted"}]}},"content":[{"type":"reasoning","text":"t","providerOptions":{"anthropic":{"signature":"c2ln"}}},{"type":"redacted-reasoning","data":"ZGF0"},{"type":"text","text":"a","providerOptions":{"openai":{"itemId":"msg_1"}}},{"type":"tool-call","toolCallId":"c1","toolName":"ls","input":{},"providerOptions":{"google":{"thoughtSignature":"c2ln"},"mine":{"n":1}}}]},
{"role":"tool","content":[{"type":"tool-result","toolCallId":"c1","toolName":"ls","output":{"type":"text","value":"x"}}]}]`,
		out: `[{"role":"user","content":"q"},
{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"tool-call","toolCallId":"c1","toolName":"ls","input":{},"providerOptions":{"mine":{"n":1}}}]},
{"role":"tool","content":[{"type":"tool-result","toolCallId":"c1","toolName":"ls","output":{"type":"text","value":"x"}}]}]`,
	},
	{
		dialect: "ai-sdk-ui", why: "reasoning parts and what providers add to others",
		in: `[{"id":"m1","role":"user","parts":[{"type":"text","text":"q"}]},
{"id":"m2","role":"assistant","reasoning":"t","parts":[{"type":"step-start"},{"type":"reasoning","text":"t","providerMetadata":{"anthropic":{"signature":"c2ln"}}},{"type":"tool-ls","toolCallId":"c1","state":"output-available","input":{},"output":"x","callProviderMetadata":{"openai":{"itemId":"fc_1"}}}]}]`,
		out: `[{"id":"m1","role":"user","parts":[{"type":"text","text":"q"}]},
{"id":"m2","role":"assistant","parts":[{"type":"step-start"},{"type":"tool-ls","toolCallId":"c1","state":"output-available","input":{},"output":"x"}]}]`,
	},
	{
		dialect: "mastra", why: "reasoning parts, and a copy of the text",
		in: `[{"id":"m1","role":"user","threadId":"t","content":{"format":2,"parts":[{"type":"text","text":"q"}]}},
{"id":"m2","role":"assistant","threadId":"t","content":{"format":2,"reasoning":"t","providerMetadata":{"openai":{"itemId":"msg_1"}},"parts":[{"type":"reasoning","reasoning":"","details":[{"type":"text","text":"t","signature":"c2ln"}],"providerMetadata":{"openai":{"itemId":"rs_1"}}},{"type":"tool-invocation","toolInvocation":{"state":"result","toolCallId":"c1","toolName":"ls","args":{},"result":"x","callProviderMetadata":{"openai":{"itemId":"fc_1"}}},"providerMetadata":{"google":{"thoughtSignature":"c2ln"}}}]}}]`,
		out: `[{"id":"m1","role":"user","threadId":"t","content":{"format":2,"parts":[{"type":"text","text":"q"}]}},
{"id":"m2","role":"assistant","threadId":"t","content":{"format":2,"parts":[{"type":"tool-invocation","toolInvocation":{"state":"result","toolCallId":"c1","toolName":"ls","args":{},"result":"x"}}]}}]`,
	},
	{
		dialect: "langchain", why: "parts, keyword arguments and the output that is replayed",
		in: `[{"type":"human","content":"q"},
{"type":"ai","content":[{"type":"thinking","thinking":"t","signature":"c2ln"},{"type":"text","text":"a","id":"msg_1","extras":{"signature":"c2ln"},"thoughtSignature":"c2ln"}],"additional_kwargs":{"reasoning":{"id":"rs_1","encrypted_content":"gAAA"}},"response_metadata":{"output":[{"type":"reasoning","id":"rs_1"},{"type":"message","id":"msg_1"}]},"tool_calls":[]},
{"type":"human","content":"r"},
{"type":"ai","content":[{"type":"reasoning","encrypted_content":"gAAA"}],"additional_kwargs":{},"response_metadata":{},"tool_calls":[{"name":"ls","args":{},"id":"c1","type":"tool_call"}]},
{"type":"tool","content":"x","name":"ls","tool_call_id":"c1","status":"success"}]`,
		out: `[{"type":"human","content":"q"},
{"type":"ai","content":[{"type":"text","text":"a"}],"response_metadata":{"output":[{"type":"message","id":"msg_1"}]},"tool_calls":[]},
{"type":"human","content":"r"},
{"type":"ai","content":"","additional_kwargs":{},"response_metadata":{},"tool_calls":[{"name":"ls","args":{},"id":"c1","type":"tool_call"}]},
{"type":"tool","content":"x","name":"ls","tool_call_id":"c1","status":"success"}]`,
	},
	{
		dialect: "langchain", why: "wrapped messages",
		in: `[{"type":"human","data":{"content":"q"}},{"type":"ai","data":{"content":[{"type":"text","text":"a","id":"msg_1","extras":{"signature":"c2ln"},"thoughtSignature":"c2ln"}],"additional_kwargs":{"reasoning_content":"t"},"response_metadata":{"output":[{"type":"reasoning"}]}}},
{"lc":1,"type":"constructor","id":["langchain","schema","messages","AIMessage"],"kwargs":{"content":[{"type":"text","text":"a","id":"msg_1","extras":{"signature":"c2ln"},"thoughtSignature":"c2ln"}],"additional_kwargs":{"reasoning_content":"t"},"response_metadata":{"output":[{"type":"reasoning"}]}}}]`,
		out: `[{"type":"human","data":{"content":"q"}},{"type":"ai","data":{"content":[{"type":"text","text":"a"}]}},
{"lc":1,"type":"constructor","id":["langchain","schema","messages","AIMessage"],"kwargs":{"content":[{"type":"text","text":"a"}]}}]`,
	},
	{
		dialect: "langchain4j", why: "thinking and its signature",
		in: `[{"contents":[{"text":"q","type":"TEXT"}],"type":"USER"},
{"text":"a","thinking":"t","attributes":{"thinking_signature":"c2ln"},"toolExecutionRequests":[{"id":"c1","name":"ls","arguments":"{}"}],"type":"AI"},
{"id":"c1","toolName":"ls","text":"x","type":"TOOL_EXECUTION_RESULT"}]`,
		out: `[{"contents":[{"text":"q","type":"TEXT"}],"type":"USER"},
{"text":"a","toolExecutionRequests":[{"id":"c1","name":"ls","arguments":"{}"}],"type":"AI"},
{"id":"c1","toolName":"ls","text":"x","type":"TOOL_EXECUTION_RESULT"}]`,
	},
	{
		dialect: "copilot-cli", why: "events",
		in: `{"type":"session.start","data":{"sessionId":"s"},"id":"e0","timestamp":"t","parentId":null}
{"type":"user.message","data":{"content":"q"},"id":"e1","timestamp":"t","parentId":"e0"}
{"type":"assistant.message","data":{"messageId":"m1","content":"","toolRequests":[{"toolCallId":"c1","name":"ls","arguments":{},"thoughtSignature":"c2ln"}],"reasoningOpaque":"b3A=","reasoningText":"t","encryptedContent":"gAAA"},"id":"e2","timestamp":"t","parentId":"e1"}
{"type":"tool.execution_complete","data":{"toolCallId":"c1","success":true,"result":{"content":"x"}},"id":"e3","timestamp":"t","parentId":"e2"}
`,
		out: `{"type":"session.start","data":{"sessionId":"s"},"id":"e0","timestamp":"t","parentId":null}
{"type":"user.message","data":{"content":"q"},"id":"e1","timestamp":"t","parentId":"e0"}
{"type":"assistant.message","data":{"messageId":"m1","content":"","toolRequests":[{"toolCallId":"c1","name":"ls","arguments":{}}]},"id":"e2","timestamp":"t","parentId":"e1"}
{"type":"tool.execution_complete","data":{"toolCallId":"c1","success":true,"result":{"content":"x"}},"id":"e3","timestamp":"t","parentId":"e2"}
`,
	},
	{
		dialect: "pydantic-ai", why: "thinking parts and the ids of other parts",
		in: `[{"kind":"request","parts":[{"part_kind":"user-prompt","content":"q"}]},
{"kind":"response","parts":[{"part_kind":"thinking","content":"t","id":"rs_1","signature":"gAAA","provider_name":"openai"},{"part_kind":"text","content":"a","id":"msg_1"},{"part_kind":"tool-call","tool_name":"ls","args":"{}","tool_call_id":"c1","id":"fc_1","provider_details":{"thought_signature":"c2ln"}}]},
{"kind":"request","parts":[{"part_kind":"tool-return","tool_name":"ls","content":"x","tool_call_id":"c1"}]}]`,
		out: `[{"kind":"request","parts":[{"part_kind":"user-prompt","content":"q"}]},
{"kind":"response","parts":[{"part_kind":"text","content":"a"},{"part_kind":"tool-call","tool_name":"ls","args":"{}","tool_call_id":"c1"}]},
{"kind":"request","parts":[{"part_kind":"tool-return","tool_name":"ls","content":"x","tool_call_id":"c1"}]}]`,
	},
	{
		dialect: "openai-chat", why: "the fields of routers and of copies of the API",
		in: `{"model":"m","messages":[{"role":"user","content":"q"},
{"role":"assistant","content":null,"reasoning_content":"t","reasoning_details":[{"type":"reasoning.encrypted","data":"ZGF0"}],"thinking_blocks":[{"type":"thinking","signature":"c2ln"}],"extra_content":{"google":{"thought_signature":"c2ln"}},"provider_specific_fields":{"thought_signatures":["c2ln"]},"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}","thought_signature":"c2ln","provider_specific_fields":{"thought_signature":"c2ln"}},"extra_content":{"google":{"thought_signature":"c2ln"}},"provider_specific_fields":{"thought_signature":"c2ln"},"thought_signature":"c2ln"}]},
{"role":"tool","tool_call_id":"c1","content":"x"},
{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"c2ln"},{"type":"text","text":"a"}]},
{"role":"assistant","content":"","reasoning":"t"},
{"role":"user","content":"r"}]}`,
		out: `{"model":"m","messages":[{"role":"user","content":"q"},
{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},
{"role":"tool","tool_call_id":"c1","content":"x"},
{"role":"assistant","content":[{"type":"text","text":"a"}]},
{"role":"user","content":"r"}]}`,
	},
	{
		dialect: "openai-chat", why: "what DeepSeek demands is an empty text",
		in: `{"model":"deepseek-reasoner","messages":[{"role":"user","content":"q"},
{"role":"assistant","content":"","reasoning_content":"t","tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},
{"role":"tool","tool_call_id":"c1","content":"x"},
{"role":"assistant","content":"a","reasoning_content":"t"},
{"role":"user","content":"r"}]}`,
		out: `{"model":"deepseek-reasoner","messages":[{"role":"user","content":"q"},
{"role":"assistant","content":"","reasoning_content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},
{"role":"tool","tool_call_id":"c1","content":"x"},
{"role":"assistant","content":"a"},
{"role":"user","content":"r"}]}`,
	},
	{
		dialect: "openai-chat", why: "what Kimi demands stays, because it is the text itself", left: true,
		in: `{"model":"kimi-k2-thinking","messages":[{"role":"user","content":"q"},
{"role":"assistant","content":"","reasoning_content":"t","tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},
{"role":"tool","tool_call_id":"c1","content":"x"},
{"role":"assistant","content":"a","reasoning_content":"t"},
{"role":"user","content":"r"}]}`,
		out: `{"model":"kimi-k2-thinking","messages":[{"role":"user","content":"q"},
{"role":"assistant","content":"","reasoning_content":"t","tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},
{"role":"tool","tool_call_id":"c1","content":"x"},
{"role":"assistant","content":"a"},
{"role":"user","content":"r"}]}`,
	},
	{
		dialect: "gemini-cli", why: "a document",
		in: `{"sessionId":"s","projectHash":"h","startTime":"t","messages":[{"id":"m1","timestamp":"t","type":"user","content":"q"},
{"id":"m2","timestamp":"t","type":"gemini","content":"","thoughts":[{"subject":"s","description":"d"}],"toolCalls":[{"id":"ls-1","name":"ls","args":{},"status":"success","result":[{"functionResponse":{"id":"ls-1","name":"ls","response":{"output":"x"}}}],"thoughtSignature":"c2ln"}]},
{"id":"m3","timestamp":"t","type":"gemini","content":[{"text":"hm","thought":true},{"text":"a","thoughtSignature":"c2ln"}]}]}`,
		out: `{"sessionId":"s","projectHash":"h","startTime":"t","messages":[{"id":"m1","timestamp":"t","type":"user","content":"q"},
{"id":"m2","timestamp":"t","type":"gemini","content":"","toolCalls":[{"id":"ls-1","name":"ls","args":{},"status":"success","result":[{"functionResponse":{"id":"ls-1","name":"ls","response":{"output":"x"}}}]}]},
{"id":"m3","timestamp":"t","type":"gemini","content":[{"text":"a"}]}]}`,
	},
	{
		dialect: "gemini-cli", why: "a log in which later records replace earlier ones", left: true,
		in: `{"sessionId":"s","projectHash":"h","startTime":"2026-01-01T00:00:00Z","lastUpdated":"2026-01-01T00:00:00Z","kind":"main"}
{"id":"m1","timestamp":"2026-01-01T00:00:00Z","type":"user","content":"q"}
{"id":"m2","timestamp":"2026-01-01T00:00:03Z","type":"gemini","content":"a","thoughts":[{"subject":"s","description":"d"}]}
`,
		out: `{"sessionId":"s","projectHash":"h","startTime":"2026-01-01T00:00:00Z","lastUpdated":"2026-01-01T00:00:00Z","kind":"main"}
{"id":"m1","timestamp":"2026-01-01T00:00:00Z","type":"user","content":"q"}
{"id":"m2","timestamp":"2026-01-01T00:00:03Z","type":"gemini","content":"a","thoughts":[{"subject":"s","description":"d"}]}
{"id":"m2","timestamp":"2026-01-01T00:00:03Z","type":"gemini","content":"a"}
`,
	},
	{
		dialect: "continue", why: "messages of the role thinking",
		in: `{"sessionId":"s","history":[{"message":{"role":"user","content":"q"},"contextItems":[]},
{"message":{"role":"thinking","content":"t","signature":"c2ln"},"contextItems":[]},
{"message":{"role":"assistant","content":"a"},"contextItems":[]}]}`,
		out: `{"sessionId":"s","history":[{"message":{"role":"user","content":"q"},"contextItems":[]},
{"message":{"role":"assistant","content":"a"},"contextItems":[]}]}`,
	},
	{
		dialect: "grok-chat", why: "lines of reasoning",
		in: `{"type":"user","content":"q"}
{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAA"}
{"type":"assistant","content":"","reasoning_content":"t","tool_calls":[{"id":"c1","name":"ls","arguments":"{}"}]}
{"type":"tool_result","tool_call_id":"c1","content":"x"}
`,
		out: `{"type":"user","content":"q"}
{"type":"assistant","content":"","tool_calls":[{"id":"c1","name":"ls","arguments":"{}"}]}
{"type":"tool_result","tool_call_id":"c1","content":"x"}
`,
	},
	{
		dialect: "meai", why: "reasoning contents",
		in: `[{"role":"user","contents":[{"$type":"text","text":"q"}]},
{"role":"assistant","contents":[{"$type":"reasoning","text":"t","protectedData":"gAAA"},{"$type":"functionCall","callId":"c1","name":"ls","arguments":{},"additionalProperties":{"thought_signature":"c2ln"}}]},
{"role":"tool","contents":[{"$type":"functionResult","callId":"c1","result":"x"}]}]`,
		out: `[{"role":"user","contents":[{"$type":"text","text":"q"}]},
{"role":"assistant","contents":[{"$type":"functionCall","callId":"c1","name":"ls","arguments":{}}]},
{"role":"tool","contents":[{"$type":"functionResult","callId":"c1","result":"x"}]}]`,
	},
	{
		dialect: "agent-framework", why: "text_reasoning",
		in: `[{"type":"chat_message","role":{"type":"role","value":"user"},"contents":[{"type":"text","text":"q"}]},
{"type":"chat_message","role":{"type":"role","value":"assistant"},"contents":[{"type":"text_reasoning","text":"t","protected_data":"gAAA"},{"type":"function_call","call_id":"c1","name":"ls","arguments":"{}"}]},
{"type":"chat_message","role":{"type":"role","value":"tool"},"contents":[{"type":"function_result","call_id":"c1","result":"x"}]}]`,
		out: `[{"type":"chat_message","role":{"type":"role","value":"user"},"contents":[{"type":"text","text":"q"}]},
{"type":"chat_message","role":{"type":"role","value":"assistant"},"contents":[{"type":"function_call","call_id":"c1","name":"ls","arguments":"{}"}]},
{"type":"chat_message","role":{"type":"role","value":"tool"},"contents":[{"type":"function_result","call_id":"c1","result":"x"}]}]`,
	},
	{
		dialect: "haystack", why: "reasoning parts and signatures",
		in: `[{"role":"user","meta":{},"name":null,"content":[{"text":"q"}]},
{"role":"assistant","meta":{"model":"m","thought_signatures":["c2ln"]},"name":null,"content":[{"reasoning":{"reasoning_text":"t","extra":{}}},{"tool_call":{"tool_name":"ls","arguments":{},"id":"c1","extra":{"thought_signature":"c2ln"}}}]},
{"role":"tool","meta":{},"name":null,"content":[{"tool_call_result":{"result":"x","origin":{"tool_name":"ls","arguments":{},"id":"c1"},"error":false}}]}]`,
		out: `[{"role":"user","meta":{},"name":null,"content":[{"text":"q"}]},
{"role":"assistant","meta":{"model":"m"},"name":null,"content":[{"tool_call":{"tool_name":"ls","arguments":{},"id":"c1"}}]},
{"role":"tool","meta":{},"name":null,"content":[{"tool_call_result":{"result":"x","origin":{"tool_name":"ls","arguments":{},"id":"c1"},"error":false}}]}]`,
	},
	{
		dialect: "agentscope", why: "thinking blocks",
		in: `[{"id":"m1","name":"u","role":"user","content":"q","metadata":null,"timestamp":"2026-03-04 10:00:01.120"},
{"id":"m2","name":"a","role":"assistant","content":[{"type":"thinking","thinking":"t"},{"type":"tool_use","id":"c1","name":"ls","input":{}}],"metadata":null,"timestamp":"2026-03-04 10:00:02.120"},
{"id":"m3","name":"s","role":"system","content":[{"type":"tool_result","id":"c1","name":"ls","output":"x"}],"metadata":null,"timestamp":"2026-03-04 10:00:03.120"}]`,
		out: `[{"id":"m1","name":"u","role":"user","content":"q","metadata":null,"timestamp":"2026-03-04 10:00:01.120"},
{"id":"m2","name":"a","role":"assistant","content":[{"type":"tool_use","id":"c1","name":"ls","input":{}}],"metadata":null,"timestamp":"2026-03-04 10:00:02.120"},
{"id":"m3","name":"s","role":"system","content":[{"type":"tool_result","id":"c1","name":"ls","output":"x"}],"metadata":null,"timestamp":"2026-03-04 10:00:03.120"}]`,
	},
	{
		dialect: "openai-responses", why: "the encrypted content of messages of agents, of outputs and of unknown items",
		in: `{"model":"gpt-5","input":[{"type":"message","role":"user","content":"q"},
{"type":"agent_message","id":"amsg_1","author":"/root","recipient":"/root/a","content":[{"type":"input_text","text":"go"},{"type":"encrypted_content","encrypted_content":"gAA1"}]},
{"type":"agent_message","id":"amsg_2","author":"/root","recipient":"/root/a","content":[{"type":"encrypted_content","encrypted_content":"gAA2"}]},
{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},
{"type":"function_call_output","call_id":"c1","output":[{"type":"encrypted_content","encrypted_content":"gAA3"}]},
{"type":"unknown_item","encrypted_content":"gAA4","text":"u"},
{"type":"message","role":"user","content":"r"}]}`,
		out: `{"model":"gpt-5","input":[{"type":"message","role":"user","content":"q"},
{"type":"agent_message","author":"/root","recipient":"/root/a","content":[{"type":"input_text","text":"go"}]},
{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},
{"type":"function_call_output","call_id":"c1","output":""},
{"type":"unknown_item","text":"u"},
{"type":"message","role":"user","content":"r"}]}`,
	},
	{
		dialect: "codex", why: "messages of agents, in a compacted history too",
		in: `{"timestamp":"2026-07-01T00:00:00.000Z","type":"session_meta","payload":{"id":"s"}}
{"timestamp":"2026-07-01T00:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"build"}]}}
{"timestamp":"2026-07-01T00:00:02.000Z","type":"response_item","payload":{"type":"agent_message","id":"amsg_1","author":"/root","content":[{"type":"encrypted_content","encrypted_content":"gAA1"}]}}
{"timestamp":"2026-07-01T00:00:03.000Z","type":"compacted","payload":{"message":"","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"build"}]},{"type":"agent_message","id":"amsg_1","author":"/root","content":[{"type":"input_text","text":"go"},{"type":"encrypted_content","encrypted_content":"gAA1"}]}]}}
{"timestamp":"2026-07-01T00:00:04.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"It is built."}]}}
`,
		out: `{"timestamp":"2026-07-01T00:00:00.000Z","type":"session_meta","payload":{"id":"s"}}
{"timestamp":"2026-07-01T00:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"build"}]}}
{"timestamp":"2026-07-01T00:00:03.000Z","type":"compacted","payload":{"message":"","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"build"}]},{"type":"agent_message","author":"/root","content":[{"type":"input_text","text":"go"}]}]}}
{"timestamp":"2026-07-01T00:00:04.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"It is built."}]}}
`,
	},
	{
		dialect: "factory-droid", why: "what other APIs answered, beside the content",
		in: `{"type":"session_start","id":"s","title":"t","cwd":"/w"}
{"type":"message","id":"2","parentId":null,"message":{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"LS","input":{}}],"openaiMessageId":"msg_1","openaiEncryptedContent":"gAA1","openaiReasoningId":"rs_1","openaiReasoningSummary":"t"}}
{"type":"message","id":"3","parentId":"2","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"x"}]}}
{"type":"message","id":"4","parentId":"3","message":{"role":"assistant","content":[{"type":"text","text":"a"}],"geminiThoughtSignature":"SIG","chatCompletionReasoningField":"reasoning_content","chatCompletionReasoningContent":"t"}}
`,
		out: `{"type":"session_start","id":"s","title":"t","cwd":"/w"}
{"type":"message","id":"2","parentId":null,"message":{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"LS","input":{}}]}}
{"type":"message","id":"3","parentId":"2","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"x"}]}}
{"type":"message","id":"4","parentId":"3","message":{"role":"assistant","content":[{"type":"text","text":"a"}]}}
`,
	},
	{
		dialect: "kimi-wire", why: "thoughts, beside calls too",
		in: `{"type":"metadata","protocol_version":"2.0"}
{"type":"context.append_loop_event","time":1,"event":{"type":"content.part","stepUuid":"s1","part":{"type":"think","think":"t","encrypted":"SIG"}}}
{"type":"context.append_loop_event","time":1,"event":{"type":"tool.call","stepUuid":"s1","toolCallId":"c1","name":"Shell","args":{"command":"ls"}}}
{"type":"context.append_loop_event","time":1,"event":{"type":"tool.result","toolCallId":"c1","result":{"output":"x"}}}
{"type":"context.append_message","time":1,"message":{"role":"assistant","content":[{"type":"think","think":"t","encrypted":"SIG"},{"type":"text","text":"a"}],"toolCalls":[]}}
`,
		out: `{"type":"metadata","protocol_version":"2.0"}
{"type":"context.append_loop_event","time":1,"event":{"type":"tool.call","stepUuid":"s1","toolCallId":"c1","name":"Shell","args":{"command":"ls"}}}
{"type":"context.append_loop_event","time":1,"event":{"type":"tool.result","toolCallId":"c1","result":{"output":"x"}}}
{"type":"context.append_message","time":1,"message":{"role":"assistant","content":[{"type":"text","text":"a"}],"toolCalls":[]}}
`,
	},
	{
		dialect: "kimi-wire", why: "thoughts in the older spelling",
		in: `{"timestamp":1,"message":{"type":"TurnBegin","payload":{"user_input":"q"}}}
{"timestamp":2,"message":{"type":"ContentPart","payload":{"type":"think","think":"t","encrypted":null}}}
{"timestamp":3,"message":{"type":"ContentPart","payload":{"type":"text","text":"a"}}}
{"timestamp":4,"message":{"type":"ToolCall","payload":{"type":"function","id":"c1","function":{"name":"Shell","arguments":"{}"}}}}
{"timestamp":5,"message":{"type":"ToolResult","payload":{"tool_call_id":"c1","return_value":{"is_error":false,"output":"x"}}}}
`,
		out: `{"timestamp":1,"message":{"type":"TurnBegin","payload":{"user_input":"q"}}}
{"timestamp":3,"message":{"type":"ContentPart","payload":{"type":"text","text":"a"}}}
{"timestamp":4,"message":{"type":"ToolCall","payload":{"type":"function","id":"c1","function":{"name":"Shell","arguments":"{}"}}}}
{"timestamp":5,"message":{"type":"ToolResult","payload":{"tool_call_id":"c1","return_value":{"is_error":false,"output":"x"}}}}
`,
	},
	{
		dialect: "opencode", why: "files of parts",
		in: `{"id":"p1","sessionID":"s","messageID":"m","type":"reasoning","text":"t","metadata":{"openai":{"itemId":"rs_1"}}}
{"id":"p3","sessionID":"s","messageID":"m","type":"tool","callID":"c1","tool":"ls","state":{"status":"completed","input":{},"output":"x"}}
`,
		out: `{"id":"p3","sessionID":"s","messageID":"m","type":"tool","callID":"c1","tool":"ls","state":{"status":"completed","input":{},"output":"x"}}
`,
	},
	{
		dialect: "opencode", why: "printed parts",
		in: `{"type":"reasoning","timestamp":1,"sessionID":"s","part":{"id":"p1","sessionID":"s","messageID":"m","type":"reasoning","text":"t"}}
{"type":"tool_use","timestamp":2,"sessionID":"s","part":{"id":"p3","sessionID":"s","messageID":"m","type":"tool","callID":"c1","tool":"ls","state":{"status":"completed","input":{},"output":"x"}}}
`,
		out: `{"type":"tool_use","timestamp":2,"sessionID":"s","part":{"id":"p3","sessionID":"s","messageID":"m","type":"tool","callID":"c1","tool":"ls","state":{"status":"completed","input":{},"output":"x"}}}
`,
	},
	{
		dialect: "openai-chat", why: "items of the Responses API that a client keeps beside a message, and blocks of reasoning",
		in: `{"model":"gpt-5","messages":[{"role":"user","content":"q"},
{"role":"assistant","content":"a","reasoning":"t","codex_reasoning_items":[{"type":"reasoning","id":"rs_1","encrypted_content":"gAA1","summary":[]}],"codex_message_items":[{"type":"message","id":"msg_1"}]},
{"role":"assistant","content":[{"type":"reasoning","reasoning":"t"},{"type":"text","text":"b"}],"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},
{"role":"tool","tool_call_id":"c1","content":"x"}]}`,
		out: `{"model":"gpt-5","messages":[{"role":"user","content":"q"},
{"role":"assistant","content":"a"},
{"role":"assistant","content":[{"type":"text","text":"b"}],"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},
{"role":"tool","tool_call_id":"c1","content":"x"}]}`,
	},
	{
		dialect: "goose", why: "reasoning of other providers",
		in: `[{"id":"m1","role":"user","created":1,"content":[{"type":"text","text":"q"}]},
{"id":"m2","role":"assistant","created":2,"content":[{"type":"reasoning","text":"t"},{"type":"toolRequest","id":"c1","toolCall":{"status":"success","value":{"name":"f","arguments":{}}}}]},
{"id":"m3","role":"user","created":3,"content":[{"type":"toolResponse","id":"c1","toolResult":{"status":"success","value":[{"type":"text","text":"x"}]}}]}]`,
		out: `[{"id":"m1","role":"user","created":1,"content":[{"type":"text","text":"q"}]},
{"id":"m2","role":"assistant","created":2,"content":[{"type":"toolRequest","id":"c1","toolCall":{"status":"success","value":{"name":"f","arguments":{}}}}]},
{"id":"m3","role":"user","created":3,"content":[{"type":"toolResponse","id":"c1","toolResult":{"status":"success","value":[{"type":"text","text":"x"}]}}]}]`,
	},
}

// stripped repairs a text with --strip-reasoning alone.
func stripped(t testing.TB, name string, text []byte, opts FixOptions) ([]byte, *Fixed) {
	t.Helper()
	opts.StripReasoning = true
	return fixText(t, name, text, opts)
}

// TestStrip: of each dialect is left what the cases say, and a second run changes nothing.
func TestStrip(t *testing.T) {
	for _, x := range strips {
		t.Run(x.dialect+"/"+x.why, func(t *testing.T) {
			opts := FixOptions{Options: Options{Target: profile.ByName(x.target)}}
			for _, safe := range []bool{false, true} {
				opts.SafeOnly = safe // the flag allows these repairs, whatever else is allowed
				out, got := stripped(t, "in", []byte(x.in), opts)
				if d := got.Before.File.Dialect; d != x.dialect {
					t.Fatalf("read as %s", d)
				}
				if diff := cmp.Diff(x.out, string(out)); diff != "" {
					t.Errorf("safe only: %v (-want +got):\n%s", safe, diff)
				}
				if _, left := leavesOf(out); len(left) > 0 && !x.left {
					t.Errorf("left: %v", left)
				}
				if again, _ := stripped(t, "in", out, opts); string(again) != string(out) {
					t.Errorf("a second run makes it\n%s", again)
				}
			}
			for _, opts := range []FixOptions{{}, {Unsafe: true}} {
				opts.Target = profile.ByName(x.target)
				_, got := fixText(t, "in", []byte(x.in), opts)
				for _, r := range got.Repairs {
					if r.Rule == "replayed-reasoning" {
						t.Errorf("without the flag: %s", r.Title)
					}
				}
			}
		})
	}
}

// TestStripRows: a case shows each field that the rows of dialects list.
func TestStripRows(t *testing.T) {
	needed := map[dialect.Trace]bool{} // some rows share a list
	for _, d := range dialect.All() {
		all := d.Strip
		for i, trace := range all {
			d.Strip = slices.Delete(slices.Clone(all), i, i+1)
			for _, x := range strips {
				if x.dialect == d.Name && !needed[trace] {
					out, _ := stripped(t, "in", []byte(x.in), FixOptions{Options: Options{Target: profile.ByName(x.target)}})
					needed[trace] = string(out) != x.out
				}
			}
			d.Strip = all
		}
	}
	for _, d := range dialect.All() {
		for _, trace := range d.Strip {
			if !needed[trace] {
				t.Errorf("%s: no case needs %q", d.Name, trace)
			}
		}
	}
}

// sealedTypes are the types of elements that hold reasoning or what ties a message to it, in all
// formats.
var sealedTypes = []string{
	"thinking", "redacted_thinking", "redactedThinking", "reasoning", "text_reasoning", "redacted-reasoning", "think", "encrypted_content",
}

// sealedKey reports whether a field holds reasoning or what ties a message to it, as far as its name
// tells.
func sealedKey(key string) bool {
	key = strings.ToLower(key)
	switch key {
	case "thinking", "think", "thoughts", "protecteddata", "protected_data":
		return true
	case "reasoning_effort", "reasoningeffort", "chatcompletionreasoningfield":
		return false
	}
	return slices.ContainsFunc([]string{"reasoning", "encrypted", "signature", "redacted", "thinking_blocks"}, func(part string) bool {
		return strings.Contains(key, part)
	})
}

// naive calls found for each leaf of a JSON value, and says whether it is in something sealed.
func naive(v any, sealed bool, key string, found func(key, leaf string, sealed bool)) {
	switch v := v.(type) {
	case map[string]any:
		for _, tag := range []string{"type", "part_kind", "$type", "block_type"} {
			if s, is := v[tag].(string); is && slices.Contains(sealedTypes, s) {
				sealed = true
			}
		}
		if v["type"] == "web_search_result" { // its encrypted content is that of a result, and is required
			return
		}
		if v["thought"] == true {
			sealed = true
		}
		for k, val := range v {
			s, text := val.(string)
			_, number := val.(float64) // of tokens
			object, _ := val.(map[string]any)
			param := object["type"] == "enabled" || object["type"] == "disabled" || object["type"] == "adaptive"
			names := sealedKey(k) && val != nil && !number && !param && !(text && (s == "" || s == "skip_thought_signature_validator"))
			naive(val, sealed || names, k, found)
		}
	case []any:
		for _, e := range v {
			naive(e, sealed, key, found)
		}
	case string:
		found(key, v, sealed)
	default:
		found(key, fmt.Sprint(v), sealed)
	}
}

// leavesOf counts the leaves of a text that are sealed and that are not, by key and value.
func leavesOf(text []byte) (open, sealed map[string]int) {
	open, sealed = map[string]int{}, map[string]int{}
	read := func(b []byte) bool {
		var v any
		if json.Unmarshal(b, &v) != nil {
			return false
		}
		naive(v, false, "", func(key, leaf string, in bool) {
			if in {
				sealed[key+"="+leaf]++
			} else {
				open[key+"="+leaf]++
			}
		})
		return true
	}
	if !read(text) {
		for line := range bytes.Lines(text) {
			read(line)
		}
	}
	return open, sealed
}

// TestStripFixtures: of no fixture is reasoning left, nothing else of its content is lost, and the check
// finds no more than before.
func TestStripFixtures(t *testing.T) {
	// What a removed message or item had beside its reasoning.
	bookkeeping := []string{
		"id", "role", "type", "status", "uuid", "parentUuid", "parentId", "timestamp", "ts", "model", "stop_reason", "stopReason", "stop_sequence",
		"sessionId", "session_id", "isSidechain", "userType", "cwd", "version", "gitBranch", "requestId", "slug", "agentId",
		"input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "service_tier",
	}
	was := 0
	for _, f := range fixtures(t) {
		kind, state := f.kind()
		d := dialect.ByName(kind)
		if state == "" || d == nil || d.CheckOnly != "" {
			continue
		}
		opts := FixOptions{}
		if rep := check(t, f.name, f.text, opts.Options); rep.File.CheckOnly != "" || rep.Skipped != "" {
			continue
		}
		out, got := stripped(t, f.name, f.text, opts)
		before, sealedBefore := leavesOf(f.text)
		after, sealedAfter := leavesOf(out)
		was += len(sealedBefore)
		for leaf := range sealedAfter {
			t.Errorf("%s: left: %.80s", f.name, leaf)
		}
		for leaf, n := range before {
			key, val, _ := strings.Cut(leaf, "=")
			if after[leaf] < n && !slices.Contains(bookkeeping, key) && val != "" && val != "<nil>" && len(got.Repairs) > 0 && onlyStrips(got) {
				t.Errorf("%s: lost: %.80s (if it is reasoning, sealedTypes or sealedKey must have its type or key)", f.name, leaf)
			}
		}
		if again, _ := stripped(t, f.name, out, opts); !bytes.Equal(again, out) {
			t.Errorf("%s: a second run changes it", f.name)
		}
		if n, m := errorsIn(got.Before), errorsIn(got.After); m > n {
			t.Errorf("%s: %d errors, before %d", f.name, m, n)
		}
		if unproved := anyOf(&got.After.Findings, (*Finding).Unproved); unproved {
			t.Errorf("%s: a repair is withheld", f.name)
		}
	}
	if was < 40 {
		t.Errorf("the fixtures have only %d leaves of reasoning", was)
	}
}

// onlyStrips reports whether no other rule repaired anything.
func onlyStrips(f *Fixed) bool {
	return !slices.ContainsFunc(f.Repairs, func(r Repair) bool { return r.Rule != "replayed-reasoning" })
}

// errorsIn counts the errors of a report.
func errorsIn(r *Report) (n int) {
	for f, k := range r.All() {
		if f.Severity == rules.Error {
			n += k
		}
	}
	return n
}

// TestStripMutants breaks transcripts with reasoning and strips them: whatever is wrong with them,
// each repair does what it says, and a second run changes nothing.
func TestStripMutants(t *testing.T) {
	t.Parallel()
	var sources []fixture
	for _, x := range strips {
		if strings.Contains(x.in, `"enabled"`) {
			continue // a change outside of the messages, which TestStrip has
		}
		sources = append(sources, fixture{x.dialect + ": " + x.why, []byte(x.in)})
	}
	for _, f := range fixtures(t) {
		if _, sealed := leavesOf(f.text); len(sealed) > 0 && len(f.text) < 20_000 {
			sources = append(sources, f)
		}
	}
	m := mangler{rand.New(rand.NewPCG(sample.Seed(4), 29))}
	want := sample.Inputs(3_000, 120, 100)
	sets := []FixOptions{{}, {SafeOnly: true}, {Unsafe: true, Options: Options{Send: true}}, {Options: Options{Target: profile.ByName("gemini-3")}}, {Options: Options{Send: true, Target: profile.ByName("mistral")}}}
	n, stripped, held := 0, 0, 0
	done := sample.Until(t)
	for n < want && !done() {
		for _, in := range sources {
			d, ok := dissect(in.text)
			if !ok {
				continue
			}
			n++
			for range m.IntN(3) {
				d.list = m.mangle(slices.Clone(d.list), d.ids)
			}
			text, opts := d.text(), sets[m.IntN(len(sets))]
			opts.StripReasoning = true
			fault, out, f := misfixed(in.name, text, opts)
			if f != nil && anyOf(&f.After.Findings, (*Finding).Unproved) {
				held++ // and reported as an error, which a check of the result does not know
				continue
			}
			if fault != "" {
				t.Errorf("%s: %s\n%s\n%s", in.name, fault, compactly(text), compactly(out))
			}
			if f != nil && slices.ContainsFunc(f.Repairs, func(r Repair) bool { return r.Rule == rules.ReplayedReasoning }) {
				stripped++
			}
		}
	}
	if t.Logf("%d mutants, %d stripped, %d held back", n, stripped, held); stripped < n/2 || held > n/50 {
		t.Errorf("only %d of %d mutants were stripped, and %d held back", stripped, n, held)
	}
}
