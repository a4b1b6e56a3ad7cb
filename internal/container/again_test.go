package container_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/container"
	"github.com/toolguard/toolguard/internal/detect"
	"github.com/toolguard/toolguard/internal/source"
)

// TestConversationsShareRoom checks that reusing memory between the conversations of a
// file carries nothing over from one to the next.
func TestConversationsShareRoom(t *testing.T) {
	const (
		said   = `{"role":"user","content":"q"}`
		call   = `{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}`
		bare   = `{"role":"assistant","content":"","tool_calls":[{"function":{"name":"f","arguments":{}}}]}`
		stray  = `{"role":"user","content":"q","tool_runs":[1]}`
		alias  = `{"role":"assistant","content":null,"tool_calls":[{"id":"a","call_id":"b","type":"function","function":{"name":"f","arguments":"{}"}}]}`
		opaque = `{"kind":"note"}`
		answer = `{"role":"tool","tool_call_id":"a","content":"ok"}`
	)
	rows := []string{
		list(said, call, answer), list(said, bare), list(said, call), list(stray, said), list(said),
		list(said, alias, answer), list(opaque, said, call), list(said, bare), list(said, bare, bare), list(said, call, answer), list(said),
	}
	var text strings.Builder
	for _, row := range rows {
		fmt.Fprintf(&text, "{\"messages\":%s}\n", row)
	}
	look := func(text string) (out []string) {
		_, all := container.Read(source.FromBytes("t", []byte(text)), detect.Options{})
		for c, err := range all {
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, fmt.Sprintf("%s %q, %d turns, %d lists: %d messages, %d blocks, %d calls, %d results, %d copies, %d aliases, %d strays, %d unread",
				c.Dialect, c.Provider, c.Turns, len(c.Lists), len(c.Messages), len(c.Blocks), len(c.Calls), len(c.Results), len(c.Copies), len(c.Aliases), len(c.Strays), len(c.Unread)))
		}
		return out
	}
	want := []string{
		`openai-chat "", 3 turns, 1 lists: 3 messages, 2 blocks, 1 calls, 1 results, 0 copies, 0 aliases, 0 strays, 0 unread`,
		`openai-chat "ollama", 2 turns, 1 lists: 2 messages, 2 blocks, 1 calls, 0 results, 0 copies, 0 aliases, 0 strays, 0 unread`,
		`openai-chat "", 2 turns, 1 lists: 2 messages, 1 blocks, 1 calls, 0 results, 0 copies, 0 aliases, 0 strays, 0 unread`,
		`openai-chat "", 2 turns, 1 lists: 2 messages, 0 blocks, 0 calls, 0 results, 0 copies, 0 aliases, 1 strays, 0 unread`,
		`openai-chat "", 1 turns, 1 lists: 1 messages, 0 blocks, 0 calls, 0 results, 0 copies, 0 aliases, 0 strays, 0 unread`,
		`openai-chat "", 3 turns, 1 lists: 3 messages, 2 blocks, 1 calls, 1 results, 1 copies, 1 aliases, 0 strays, 0 unread`,
		`openai-chat "", 2 turns, 1 lists: 2 messages, 1 blocks, 1 calls, 0 results, 0 copies, 0 aliases, 0 strays, 1 unread`,
		`openai-chat "ollama", 2 turns, 1 lists: 2 messages, 2 blocks, 1 calls, 0 results, 0 copies, 0 aliases, 0 strays, 0 unread`,
		`openai-chat "ollama", 3 turns, 1 lists: 3 messages, 4 blocks, 2 calls, 0 results, 0 copies, 0 aliases, 0 strays, 0 unread`,
		`openai-chat "", 3 turns, 1 lists: 3 messages, 2 blocks, 1 calls, 1 results, 0 copies, 0 aliases, 0 strays, 0 unread`,
		`openai-chat "", 1 turns, 1 lists: 1 messages, 0 blocks, 0 calls, 0 results, 0 copies, 0 aliases, 0 strays, 0 unread`,
	}
	if diff := cmp.Diff(want, look(text.String())); diff != "" {
		t.Error(diff)
	}
}
