package engine

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestContextEdits: pi leaves out what the last edit on the branch takes out, and nothing else.
func TestContextEdits(t *testing.T) {
	const head = `{"type":"session","version":3,"id":"s","timestamp":"2026-11-26T08:00:00.000Z","cwd":"/w"}
{"type":"message","id":"a0000001","parentId":null,"message":{"role":"user","content":"go"}}
{"type":"message","id":"a0000002","parentId":"a0000001","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"f","arguments":{}},{"type":"toolCall","id":"c2","name":"f","arguments":{}}]}}
{"type":"message","id":"a0000003","parentId":"a0000002","message":{"role":"toolResult","toolCallId":"c1","toolName":"f","content":[{"type":"text","text":"1"}]}}
{"type":"message","id":"a0000004","parentId":"a0000003","message":{"role":"toolResult","toolCallId":"c2","toolName":"f","content":[{"type":"text","text":"2"}]}}
`
	edit := func(id, parent, target, with string) string {
		return `{"type":"context_edit","id":"` + id + `","parentId":"` + parent + `","targetId":"` + target + `","replacement":` + with + "}\n"
	}
	say := func(id, parent string) string {
		return `{"type":"message","id":"` + id + `","parentId":"` + parent + `","message":{"role":"user","content":"on"}}` + "\n"
	}
	for _, c := range []struct {
		name, rest string
		want       []string // the calls whose results are left
	}{
		{"no edit", say("a0000005", "a0000004"), nil},
		{"the message is taken out", edit("a0000005", "a0000004", "a0000002", "null"), []string{"c1", "c2"}},
		{"the message is taken out, and the session goes on", edit("a0000005", "a0000004", "a0000002", "null") + say("a0000006", "a0000005"), []string{"c1", "c2"}},
		{"one call is in what replaces the message", edit("a0000005", "a0000004", "a0000002", `{"content":[{"type":"toolCall","id":"c2","name":"f","arguments":{}}]}`), []string{"c1"}},
		{"a text replaces the message", edit("a0000005", "a0000004", "a0000002", `{"content":"gone"}`), []string{"c1", "c2"}},
		{"the last edit counts", edit("a0000005", "a0000004", "a0000002", "null") + edit("a0000006", "a0000005", "a0000002", `{"content":[{"type":"toolCall","id":"c1"},{"type":"toolCall","id":"c2"}]}`), nil},
		{"the edit is on another branch", edit("a0000005", "a0000004", "a0000002", "null") + say("a0000006", "a0000004"), nil},
		{"a result is taken out too", edit("a0000005", "a0000004", "a0000002", "null") + edit("a0000006", "a0000005", "a0000003", "null"), []string{"c2"}},
		{"no message is taken out", edit("a0000005", "a0000004", "gone", "null"), nil},
		{"the replacement is none", edit("a0000005", "a0000004", "a0000002", "7"), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			rep := check(t, "s.jsonl", []byte(head+c.rest), Options{Send: true})
			var got []string
			for f := range rep.Findings.All() {
				if f.Rule.Name == "orphan-tool-result" {
					got = append(got, f.CallID)
				} else if f.Rule.Name != "last-role" {
					t.Errorf("%s: %s", f.Rule.Name, f.Message)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			out, _ := fixText(t, "s.jsonl", []byte(head+c.rest), FixOptions{Unsafe: true, Options: Options{Send: true}})
			for _, id := range []string{"c1", "c2"} {
				kept := strings.Contains(string(out), "kept as text") && strings.Contains(string(out), "(id "+id+")")
				if want := strings.Contains(strings.Join(c.want, " "), id); kept != want {
					t.Errorf("the result of %s became text: %t\n%s", id, kept, out)
				}
			}
		})
	}
}
