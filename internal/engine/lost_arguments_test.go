package engine

import (
	"regexp"
	"slices"
	"testing"

	"github.com/toolguard/toolguard/internal/dialect"
)

// TestLostArguments: an element beside the content with an id and a name is a call, with or
// without arguments.
func TestLostArguments(t *testing.T) {
	t.Parallel()
	arguments := regexp.MustCompile(`,"(arguments|args)":("\{\}"|\{\})`)
	lists := []string{"openai-chat", "grok-chat", "inspect", "langchain", "langchain4j", "llama-stack", "tau2", "vapi"}
	n := 0
	for _, d := range dialect.All() {
		text := arguments.ReplaceAllString(d.Example, "")
		if text == d.Example || !slices.Contains(lists, d.Name) {
			continue
		}
		n++
		withoutArguments(t, d.Name, d.Name, text)
	}
	if n != len(lists) {
		t.Errorf("%d dialects are looked at", n)
	}
	withoutArguments(t, "a call with its name beside the id", "openai-chat",
		`[{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","name":"g"}]},{"role":"tool","tool_call_id":"c1","content":"a"}]`)
	withoutArguments(t, "the same without a type", "openai-chat",
		`[{"role":"assistant","content":"","tool_calls":[{"id":"c1","name":"g"}]},{"role":"tool","tool_call_id":"c1","content":"a"}]`)
	withoutArguments(t, "the same, and nothing that answers it", "openai-chat", `[{"role":"assistant","content":"","tool_calls":[{"id":"c1","name":"g"}]}]`)
}

// withoutArguments tests that a text with one call is read in a dialect, and that missing
// arguments are reported.
func withoutArguments(t *testing.T, name, in, text string) {
	t.Helper()
	rep := check(t, "f", []byte(text), Options{})
	missed := 0
	for f := range rep.Findings.All() {
		if f.Rule.Name == "missing-arguments" {
			missed++
		}
	}
	if rep.File.Dialect != in || rep.Calls != 1 || missed != 1 {
		t.Errorf("%s: %s", name, render(rep))
	}
}
