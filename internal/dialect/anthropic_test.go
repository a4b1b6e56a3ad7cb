package dialect

import (
	"testing"

	"github.com/toolguard/toolguard/internal/source"
)

// TestClineNamesTools: a result in a session of Cline CLI names the tool, and no other result does, which
// the API would not take.
func TestClineNamesTools(t *testing.T) {
	t.Parallel()
	const call = `{"type":"tool_use","id":"c1","name":"run_commands","input":{}}`
	for _, x := range []struct{ message, want string }{
		{`{"role":"assistant","content":[` + call + `]}`, `{"type":"tool_result","tool_use_id":"c1","content":"gone","is_error":true}`},
		{ // a task of Cline in an editor
			`{"role":"assistant","content":[` + call + `],"modelInfo":{"modelId":"m","providerId":"p"}}`,
			`{"type":"tool_result","tool_use_id":"c1","content":"gone","is_error":true}`,
		},
		{
			`{"role":"assistant","content":[` + call + `],"modelInfo":{"id":"m","provider":"p"}}`,
			`{"type":"tool_result","tool_use_id":"c1","name":"run_commands","content":"gone","is_error":true}`,
		},
	} {
		message := source.NewValue([]byte(x.message), 0)
		got := object(Anthropic.Driver.(Writer).WriteResult(NewResult{
			ID: `"c1"`, Name: `"run_commands"`, Text: `"gone"`, Message: message, Element: message.Get("content").First(),
		}))
		if got != x.want {
			t.Errorf("%s:\ngot  %s\nwant %s", x.message, got, x.want)
		}
	}
}
