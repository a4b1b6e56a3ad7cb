package container

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/detect"
	"github.com/toolguard/toolguard/internal/source"
)

// TestRecognised checks that formats without anything to pair are recognized by name.
func TestRecognised(t *testing.T) {
	for file, want := range map[string]string{
		"cursor.jsonl":           "a Cursor session, ",
		"step-log.jsonl":         "an Antigravity or Windsurf step log, ",
		"chatgpt-export.json":    "a ChatGPT export, ",
		"claude-ai-export.json":  "a claude.ai export, ",
		"run-events.jsonl":       "an event stream of a Pydantic AI app, ",
		"ui_messages.json":       "the display log of a Cline or Roo task, ",
		"mcp.jsonl":              "a JSON-RPC log of an MCP client or server, ",
		"smolagents-steps.json":  "the steps of a smolagents run, ",
		"smolagents-run.json":    "the steps of a smolagents run, ",
		"smolagents-inputs.json": "the steps of a smolagents run, ",
		"recorded.har":           "a recording of HTTP requests, none ",
		"cassette.json":          "a recording of HTTP requests, none ",
		"sessions.db":            "an SQLite database, ",
		"log.eval":               "a zip archive, ",

		"converse-stream.jsonl":       "a recorded event stream, ",
		"converse-stream-kinds.jsonl": "a recorded event stream, ",
		"messages-stream.jsonl":       "a recorded event stream, ",
		"chat-stream.jsonl":           "a recorded event stream, ",
		"cohere-stream.jsonl":         "a recorded event stream, ",
		"ollama-stream.jsonl":         "a recorded event stream, ",
		"responses-stream.jsonl":      "a recorded event stream, ",
		"stream.sse":                  "a recorded event stream, ",
	} {
		text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "transcripts", "not-transcripts", file))
		if err != nil {
			t.Fatal(err)
		}
		_, all := Read(source.FromBytes(file, text), detect.Options{})
		for _, last := range all {
			err = last
		}
		var not *detect.ErrNotTranscript
		if !errors.As(err, &not) || !strings.HasPrefix(not.Reason, want) {
			t.Errorf("%s: %v, want %s", file, err, want)
		}
	}
}

// TestPiEvents: a stream of pi begins as its sessions do.
func TestPiEvents(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "pi-events.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	_, all := Read(source.FromBytes("pi-events.jsonl", text), detect.Options{})
	for _, last := range all {
		err = last
	}
	var not *detect.ErrNotTranscript
	if want := "the output of pi --mode json, "; !errors.As(err, &not) || !strings.HasPrefix(not.Reason, want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestInText checks that plain-text calls are reported if a file has no others.
func TestInText(t *testing.T) {
	hermes := `{"role":"assistant","content":"<tool_call>\n{\"name\":\"ls\",\"arguments\":{}}\n</tool_call>"}`
	for name, c := range map[string]struct{ text, want string }{
		"hermes":      {`[{"role":"user","content":"ls?"},` + hermes + `,{"role":"user","content":"<tool_response>a</tool_response>"}]`, "<tool_call> tags"},
		"escaped":     {`[{"role":"user","content":"ls?"},{"role":"assistant","content":"\u003ctool_call\u003e{}"}]`, "<tool_call> tags"},
		"function":    {`[{"role":"user","content":"ls?"},{"role":"assistant","content":"<function=ls></function>"}]`, "<function=…> tags"},
		"cline":       {`[{"role":"user","content":"ls?"},{"role":"assistant","content":[{"type":"text","text":"<read_file><path>a</path></read_file>"}]}]`, "XML tags"},
		"sharegpt":    {`{"conversations":[{"from":"human","value":"ls?"},{"from":"gpt","value":"<tool_call>{}</tool_call>"}]}`, "<tool_call> tags"},
		"instruction": {`[{"role":"system","content":"call with <tool_call>"},{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]`, ""},
		"quoted": {`[{"role":"user","content":"how?"},` + hermes +
			`,{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"ls","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"a"}]`, ""},
	} {
		f, all := Read(source.FromBytes(name, []byte(c.text)), detect.Options{})
		var err error
		for _, err = range all {
		}
		if err != nil || (c.want == "") != (f.InText == "") || !strings.Contains(f.InText, c.want) {
			t.Errorf("%s: %q, %v, want %q", name, f.InText, err, c.want)
		}
	}
}
