package engine

import (
	"testing"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/transcript"
)

// TestUselessRepair: a repair after which the rule still finds what it was made for is
// not made, and the finding says so. The row is one that the config would refuse: ids
// are read at a path, and written as a field.
func TestUselessRepair(t *testing.T) {
	t.Parallel()
	d := &dialect.Dialect{
		Name: "acme", Title: "Acme", Provider: "neutral", Window: transcript.WindowTool, Marks: evidence.All("speaker"),
		Driver: dialect.NewSideList(&dialect.SideList{
			Role: "speaker", User: "human", Assistant: "bot", Tool: "machine",
			Roles:   []dialect.RoleName{{Written: "human", Role: transcript.RoleUser}, {Written: "bot", Role: transcript.RoleAssistant}, {Written: "machine", Role: transcript.RoleTool}},
			Content: "says", Calls: "actions", ID: "meta.ref", Name: "tool", Args: "input", ResultID: "answers",
		}),
	}
	const text = `{"history":[{"speaker":"human","says":"x"},{"speaker":"bot","says":"","actions":[{"tool":"ls","input":{}}]},{"speaker":"human","says":"y"}]}`
	out, f, err := repaired([]byte(text), FixOptions{Options: Options{Dialects: dialect.Builtin().With(d)}})
	if err != nil || string(out) != text {
		t.Fatalf("%v\n%s", err, out)
	}
	why := ""
	for found := range f.After.Findings.All() {
		if found.Rule.Name == "missing-call-id" {
			why = found.Unfixed
		}
	}
	if want := "not applied, because it would not solve the problem"; why != want {
		t.Errorf("got %q, want %q", why, want)
	}
}
