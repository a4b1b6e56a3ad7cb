package dialect

import (
	"testing"

	"github.com/toolguard/toolguard/internal/source"
)

// TestItemsAnswer checks that an output names its call under the key that the row
// reads.
func TestItemsAnswer(t *testing.T) {
	row := &Items{
		Type: "step", Role: "by", Text: "text", Messages: []string{"say"}, ID: []string{"ref", "refs"}, Name: "tool",
		Pairs: []ItemPair{
			{Call: "do", Outputs: []string{"did"}, Args: "with", CallID: "run", OutputID: "of"},
			{Call: "ask", Outputs: []string{"told"}, Args: "with", Payload: "words"},
			{Call: "pay", Outputs: []string{"paid"}, Args: "with", CallID: "ref", OutputID: "for"},
		},
	}
	for _, x := range []struct{ call, want string }{
		{`{"step":"do","run":"a1","tool":"ls","with":"{}"}`, `{"step":"did","of":"a1","output":"gone"}`},
		{`{"step":"do","run":"x","ref":"a1","tool":"ls","with":"{}"}`, `{"step":"did","ref":"a1","output":"gone"}`},
		{`{"step":"do","ref":null,"refs":"a1","tool":"ls","with":"{}"}`, `{"step":"did","refs":"a1","output":"gone"}`},
		{`{"step":"do","tool":"ls","with":"{}"}`, `{"step":"did","ref":"a1","output":"gone"}`}, // the id is new
		{`{"step":"ask","ref":"a1","tool":"ls","with":"{}"}`, `{"step":"told","ref":"a1","words":"gone"}`},
		{`{"step":"pay","ref":"a1","tool":"ls","with":"{}"}`, `{"step":"paid","for":"a1","output":"gone"}`},
	} {
		got := object(row.WriteResult(NewResult{ID: `"a1"`, Name: `"ls"`, Text: `"gone"`, Element: source.NewValue([]byte(x.call), 0)}))
		if got != x.want {
			t.Errorf("%s:\ngot  %s\nwant %s", x.call, got, x.want)
		}
	}
}
