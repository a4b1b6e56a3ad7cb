package engine

import (
	"slices"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/profile"
)

// TestOwnRecordsStay: a record with a role of its own and its content under another key is
// not an empty message.
func TestOwnRecordsStay(t *testing.T) {
	const text = `{"type":"session","version":3,"id":"x","timestamp":"2026-07-09T10:00:00.000Z","cwd":"/tmp"}
{"type":"message","id":"u1","parentId":null,"timestamp":"2026-07-09T10:00:01.500Z","message":{"role":"user","content":"hello","timestamp":1}}
{"type":"message","id":"bs1","parentId":"u1","timestamp":"2026-07-09T10:00:07.000Z","message":{"role":"branchSummary","summary":"SUMMARY","fromId":"a1","timestamp":2}}
{"type":"message","id":"cs1","parentId":"bs1","timestamp":"2026-07-09T10:00:08.000Z","message":{"role":"compactionSummary","summary":"COMPACTED","tokensBefore":5000,"timestamp":3}}
{"type":"message","id":"be1","parentId":"cs1","timestamp":"2026-07-09T10:00:08.000Z","message":{"role":"bashExecution","command":"echo hi","output":"OUT","exitCode":0,"timestamp":3}}
{"type":"message","id":"a9","parentId":"be1","timestamp":"2026-07-09T10:00:09.000Z","message":{"role":"assistant","content":[{"type":"toolCall","id":"call_1","name":"bash","arguments":{}}],"api":"anthropic-messages","provider":"anthropic","model":"m","usage":{},"stopReason":"toolUse","timestamp":4}}
{"type":"message","id":"r9","parentId":"a9","timestamp":"2026-07-09T10:00:09.000Z","message":{"role":"toolResult","toolCallId":"call_1","toolName":"bash","content":[{"type":"text","text":"r"}],"isError":false,"timestamp":4}}
`
	for _, target := range []string{"anthropic", "gemini-3"} {
		opts := FixOptions{Unsafe: true}
		opts.Target = profile.ByName(target)
		out, f, err := repaired([]byte(text), opts)
		if err != nil {
			t.Fatal(err)
		}
		lost := slices.DeleteFunc([]string{"SUMMARY", "COMPACTED", "OUT"}, func(s string) bool { return strings.Contains(string(out), s) })
		if len(lost) > 0 {
			t.Errorf("%s: %q are lost: %+v", target, lost, f.Repairs)
		}
	}
}
