package container

import (
	"bytes"
	"errors"
	"io"

	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// textCalls are marks of calls that the model writes into its text.
var textCalls = []struct {
	what  string
	marks []string
}{
	{"<tool_call> tags, as Hermes writes them", []string{"<tool_call>", `\u003ctool_call\u003e`}},
	{"<function=…> tags", []string{"<function=", `\u003cfunction=`}},
	{"<invoke> tags", []string{"<invoke name=", `\u003cinvoke name=`}},
	{"XML tags, as older Cline and Roo write them", []string{
		"</execute_command>", "</read_file>", "</write_to_file>", "</replace_in_file>", "</apply_diff>", "</search_files>", "</list_files>",
		"</use_mcp_tool>", "</new_task>", "</switch_mode>", "</ask_followup_question>", "</attempt_completion>",
	}},
}

// inTextBytes bounds how much text of the model is searched for calls, and
// inTextMessage how much of one message.
const (
	inTextBytes   = 1 << 18
	inTextMessage = 1 << 14
)

// An inText looks for calls that are written as text, in a file that has no
// others.
type inText struct {
	structured bool // there are calls or results that are none
	read       int64
	what       string
	text       []byte
}

// add looks into the messages of a conversation.
func (t *inText) add(src *source.Source, c *transcript.Conversation) {
	t.structured = t.structured || len(c.Calls)+len(c.Results) > 0
	for i := range c.Messages {
		m := &c.Messages[i]
		if t.structured || t.what != "" || t.read > inTextBytes {
			return
		}
		if m.Role != transcript.RoleAssistant {
			continue // others only tell how it is to be done
		}
		at := m.Span()
		t.read += at.Len()
		if t.text == nil {
			t.text = make([]byte, inTextMessage)
		}
		n, err := src.ReadAt(t.text[:min(at.Len(), inTextMessage)], at.Start)
		if err != nil && !errors.Is(err, io.EOF) {
			return // it was read before; who reads on will tell
		}
		for _, calls := range textCalls {
			for _, mark := range calls.marks {
				if bytes.Contains(t.text[:n], []byte(mark)) {
					t.what = calls.what
				}
			}
		}
	}
}

// reason says how calls are written, "" where there are others or none.
func (t *inText) reason() string {
	if t.structured || t.what == "" {
		return ""
	}
	return "its calls are text, in " + t.what + ", so that there is nothing to pair; check what the API was sent and answered, with calls of its own"
}
