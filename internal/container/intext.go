package container

import (
	"bytes"
	"errors"
	"io"

	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// textCalls are the marks of calls that models write as plain text.
var textCalls = []struct {
	what  string
	marks []string
}{
	{"<tool_call> tags in the style of Hermes", []string{"<tool_call>", `\u003ctool_call\u003e`}},
	{"<function=…> tags", []string{"<function=", `\u003cfunction=`}},
	{"<invoke> tags", []string{"<invoke name=", `\u003cinvoke name=`}},
	{"XML tags in the style of older Cline and Roo", []string{
		"</execute_command>", "</read_file>", "</write_to_file>", "</replace_in_file>", "</apply_diff>", "</search_files>", "</list_files>",
		"</use_mcp_tool>", "</new_task>", "</switch_mode>", "</ask_followup_question>", "</attempt_completion>",
	}},
}

// inTextBytes limits how much model text is searched for calls, and inTextMessage how
// much of one message.
const (
	inTextBytes   = 1 << 18
	inTextMessage = 1 << 14
)

// An inText looks for calls written as plain text in a file without structured calls.
type inText struct {
	structured bool // there are structured calls or results
	read       int64
	what       string
	before     int64 // what was read before the message that has it
	text       []byte
}

// add searches the messages of a conversation.
func (t *inText) add(src *source.Source, c *transcript.Conversation) {
	t.structured = t.structured || len(c.Calls)+len(c.Results) > 0
	for i := range c.Messages {
		m := &c.Messages[i]
		if t.structured || t.what != "" || t.read > inTextBytes {
			return
		}
		if m.Role != transcript.RoleAssistant {
			continue // other messages only explain the syntax
		}
		at := m.Span()
		before := t.read
		t.read += at.Len()
		if t.text == nil {
			t.text = make([]byte, inTextMessage)
		}
		n, err := src.ReadAt(t.text[:min(at.Len(), inTextMessage)], at.Start)
		if err != nil && !errors.Is(err, io.EOF) {
			return // the next read reports the error
		}
		for _, calls := range textCalls {
			for _, mark := range calls.marks {
				if bytes.Contains(t.text[:n], []byte(mark)) {
					t.what, t.before = calls.what, before
				}
			}
		}
	}
}

// join adds what was found in the next part of a file, whose messages were searched from its start.
func (t *inText) join(next *inText) {
	t.structured = t.structured || next.structured
	if !t.structured && t.what == "" && t.read <= inTextBytes {
		if next.what != "" && t.read+next.before <= inTextBytes {
			t.what = next.what
		}
		t.read += next.read
	}
}

// reason describes how the calls are written. It returns "" if there are structured calls
// or none at all.
func (t *inText) reason() string {
	if t.structured || t.what == "" {
		return ""
	}
	return "its calls are plain text, in " + t.what + ", so there is nothing to pair; check the API requests and responses instead"
}
