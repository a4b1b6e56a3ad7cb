package rules_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/rules"
)

// rows are histories in which the assistant speaks twice before there are results:
// CALL a and b stand for calls, RESULT for their results, TEXT for a text.
var rows = map[string]string{
	"a call each":          `ASSISTANT[CALL(a)],ASSISTANT[CALL(b)],USER[RESULT(a),RESULT(b)]`,
	"a call, and a text":   `ASSISTANT[CALL(a)],ASSISTANT[TEXT],USER[RESULT(a)]`,
	"results in two":       `ASSISTANT[CALL(a)],ASSISTANT[CALL(b)],USER[RESULT(a)],USER[RESULT(b)]`,
	"calls, then one more": `ASSISTANT[CALL(a),CALL(b)],ASSISTANT[CALL(c)],USER[RESULT(c),RESULT(a),RESULT(b)]`,
}

// wires are how the shapes of blocks write them.
var wires = map[profile.Wire]func(string) string{
	profile.Messages: strings.NewReplacer(
		"USER[", `{"role":"user","content":[`, "ASSISTANT[", `{"role":"assistant","content":[`, "]", "]}", "TEXT", `{"type":"text","text":"x"}`,
		"CALL(", `{"type":"tool_use","name":"f","input":{},"id":"`, "RESULT(", `{"type":"tool_result","content":"1","tool_use_id":"`, ")", `"}`,
	).Replace,
	profile.Converse: strings.NewReplacer(
		"USER[", `{"role":"user","content":[`, "ASSISTANT[", `{"role":"assistant","content":[`, "]", "]}", "TEXT", `{"text":"x"}`,
		"CALL(", `{"toolUse":{"name":"f","input":{},"toolUseId":"`, "RESULT(", `{"toolResult":{"content":[{"text":"1"}],"toolUseId":"`, ")", `"}}`,
	).Replace,
	profile.Contents: strings.NewReplacer(
		"USER[", `{"role":"user","parts":[`, "ASSISTANT[", `{"role":"model","parts":[`, "]", "]}", "TEXT", `{"text":"x"}`,
		"CALL(", `{"functionCall":{"name":"f","args":{},"id":"`, "RESULT(", `{"functionResponse":{"name":"f","response":{"o":1},"id":"`, ")", `"}}`,
	).Replace,
}

// TestMergedMessages: a provider that takes messages of one role in a row as one
// finds the results of all its calls behind them, and no other provider does.
func TestMergedMessages(t *testing.T) {
	merging := []string{"anthropic", "anthropic-thinking", "anthropic-no-thinking", "bedrock", "gemini", "gemini-3"}
	for _, p := range profile.All() {
		write := wires[p.Wire]
		if write == nil {
			if p.Merges {
				t.Errorf("%s merges messages of a shape that is not tried", p.Name)
			}
			continue
		}
		if p.Merges != slices.Contains(merging, p.Name) {
			t.Errorf("%s merges: %v", p.Name, p.Merges)
		}
		for name, row := range rows {
			text := "[" + write("USER[TEXT],"+row) + "]"
			if p.Wire == profile.Contents {
				text = `{"contents":` + text + `}`
			}
			got := worst(findingsWith(t, name, text, "--provider "+p.Name), "missing-tool-result", "misplaced-tool-result", "orphan-tool-result")
			if want := rules.Error; p.Merges == (got == want) {
				t.Errorf("%s, %s: %v", p.Name, name, got)
			}
			// Taken as one, the text stands behind the call.
			behind := p.Merges && strings.Contains(row, ",ASSISTANT[TEXT") && p.Cell(profile.CallsNotLast).Effective() == profile.Warning
			if got := worst(findingsWith(t, name, text, "--provider "+p.Name), "tool-use-not-last"); got == rules.Warning != behind {
				t.Errorf("%s, %s: the text behind the call is %v", p.Name, name, got)
			}
		}
	}
}
