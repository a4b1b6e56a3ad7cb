package engine

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/rules"
)

// A wrongRole is a history of an API, and the role of the message of its second result. ROLE
// stands for that role, and is right as it is in right.
type wrongRole struct {
	name, text, right string
	wrong             []string
	// unknown is set if the roles are not the API's, so that only unsafe repairs change them.
	unknown bool
}

// twoCalls returns a request with two calls in two turns, of which the second is in front of more.
func twoCalls(head, more string) string {
	return `{` + head + `"messages":[{"role":"user","content":"go"},
{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},
{"role":"tool","tool_call_id":"c1","content":"1"},
{"role":"assistant","content":null,"tool_calls":[{"id":"c2","type":"function","function":{"name":"cat","arguments":"{}"}}]},
{"role":ROLE,"tool_call_id":"c2","content":"2"}` + more + `]}`
}

const (
	thenUser  = ",\n" + `{"role":"user","content":"and?"}`
	thenModel = ",\n" + `{"role":"assistant","content":"done"}`
)

func wrongRoles() (out []wrongRole) {
	for _, head := range []string{"", `"model":"gpt-4o",`, `"model":"mistral-large-latest",`, `"model":"other",`} {
		for _, more := range []string{"", thenUser, thenModel, thenModel + thenUser} {
			text := twoCalls(head, more)
			out = append(out,
				wrongRole{"chat" + head + strconv.Itoa(len(more)), text, `"tool"`, []string{`"user"`, `"assistant"`, `"system"`}, false},
				wrongRole{"unknown roles, chat" + head + strconv.Itoa(len(more)), text, `"tool"`, []string{`"tool_result"`, `"observation"`, `"TOOL"`}, true})
		}
	}
	const (
		claude  = `{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},{"role":ROLE,"content":[{"type":"tool_result","tool_use_id":"a","content":"1"}]},MORE]}`
		bedrock = `{"modelId":"anthropic.claude-3","toolConfig":{"tools":[{"toolSpec":{"name":"f","inputSchema":{"json":{}}}}]},"messages":[{"role":"user","content":[{"text":"go"}]},{"role":"assistant","content":[{"toolUse":{"toolUseId":"a","name":"f","input":{}}}]},{"role":ROLE,"content":[{"toolResult":{"toolUseId":"a","content":[{"text":"1"}]}}]},MORE]}`
		gemini  = `{"generationConfig":{},"contents":[{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},{"role":ROLE,"parts":[{"functionResponse":{"name":"f","response":{"a":1}}}]},MORE]}`
		aiSDK   = `[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool-call","toolCallId":"a","toolName":"f","input":{}}]},{"role":ROLE,"content":[{"type":"tool-result","toolCallId":"a","toolName":"f","output":{"type":"text","value":"1"}}]},MORE]`
	)
	more := func(text string, turns ...string) string {
		return strings.Replace(text, "MORE", strings.Join(turns, ","), 1)
	}
	return append(out,
		wrongRole{"anthropic", more(claude, `{"role":"assistant","content":"done"}`, `{"role":"user","content":"n"}`), `"user"`, []string{`"assistant"`}, false},
		wrongRole{"anthropic, the user is next", more(claude, `{"role":"user","content":"n"}`), `"user"`, []string{`"assistant"`}, false},
		wrongRole{"bedrock", more(bedrock, `{"role":"assistant","content":[{"text":"done"}]}`, `{"role":"user","content":[{"text":"n"}]}`), `"user"`, []string{`"assistant"`}, false},
		wrongRole{"gemini", more(gemini, `{"role":"model","parts":[{"text":"done"}]}`, `{"role":"user","parts":[{"text":"n"}]}`), `"user"`, []string{`"model"`}, false},
		wrongRole{"ai-sdk", more(aiSDK, `{"role":"assistant","content":"done"}`, `{"role":"user","content":"n"}`), `"tool"`, []string{`"assistant"`}, false},
	)
}

// TestWrongRoleIsOneFinding: a result in the wrong role beside its open call is one finding. Its
// repair keeps the result, as the answer of its call, and nothing is left to find.
func TestWrongRoleIsOneFinding(t *testing.T) {
	t.Parallel()
	for _, w := range wrongRoles() {
		whole := strings.Replace(w.text, "ROLE", w.right, 1)
		before := names(check(t, "whole", []byte(whole), Options{}))
		wholeFixed, wf := fixText(t, "whole", []byte(whole), FixOptions{})
		after := names(wf.After)
		for _, role := range w.wrong {
			text := []byte(strings.Replace(w.text, "ROLE", role, 1))
			rep := check(t, "wrong", text, Options{})
			got := names(rep)
			// With the right role, a rule about the order of roles may find more.
			if n := len(got); n != len(allBut(got, "error: block-in-wrong-role"))+1 || !within(allBut(got, "error: block-in-wrong-role"), before) {
				t.Errorf("%s, %s: found %q, without the fault %q\n%s", w.name, role, got, before, text)
			}
			fixed, f := fixText(t, "wrong", text, FixOptions{Unsafe: w.unknown})
			if left := names(f.After); !slices.Equal(allBut(left, "info: consecutive-roles"), allBut(after, "info: consecutive-roles")) || f.After.Results != 2 && f.After.Results != f.After.Calls {
				t.Errorf("%s, %s: left %q, without the fault %q\n%s", w.name, role, left, after, fixed)
			}
			if strings.Contains(string(fixed), "[toolguard]") {
				t.Errorf("%s, %s: a placeholder or a label:\n%s", w.name, role, fixed)
			}
			if w.right == `"tool"` && w.name != "ai-sdk" && string(fixed) != string(wholeFixed) {
				t.Errorf("%s, %s: fixed\n%s\nwant\n%s", w.name, role, fixed, wholeFixed)
			}
			if again, _ := fixText(t, "again", fixed, FixOptions{Unsafe: w.unknown}); string(again) != string(fixed) {
				t.Errorf("%s, %s: the second repair makes of\n%s\n%s", w.name, role, fixed, again)
			}
		}
	}
}

// names lists the severities and rules of findings in order of their names.
func names(rep *Report) (out []string) {
	for f := range rep.Findings.All() {
		out = append(out, f.Severity.String()+": "+f.Rule.Name)
	}
	slices.Sort(out)
	return out
}

// within reports whether the names of a sorted list are in another one, as often.
func within(list, all []string) bool {
	for _, name := range all {
		if len(list) > 0 && list[0] == name {
			list = list[1:]
		}
	}
	return len(list) == 0
}

// allBut returns a list without a name.
func allBut(list []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == name })
}

// where are the rules of which at most one reports a result.
var where = []string{"orphan-tool-result", "misplaced-tool-result", "result-before-call", "duplicate-tool-result", "block-in-wrong-role"}

// TestOneCauseOneFinding: in the fixtures, broken in every way that tests know, no result is
// reported in two places, and no call is without a result that another finding has.
func TestOneCauseOneFinding(t *testing.T) {
	t.Parallel()
	type key struct {
		conversation int
		id           string
	}
	n := 0
	for _, f := range fixtures(t) {
		rep := check(t, f.name, f.text, Options{})
		told := map[[2]int64]string{}
		put := map[key]bool{}
		for x := range rep.Findings.All() {
			if x.Severity == rules.Info || !slices.Contains(where, x.Rule.Name) {
				continue
			}
			n++
			at := [2]int64{x.Span.Start, x.Span.End}
			if was, is := told[at]; is && was != x.Rule.Name {
				t.Errorf("%s: %s and %s report the result at byte %d", f.name, was, x.Rule.Name, at[0])
			}
			told[at] = x.Rule.Name
			if x.Rule.Name == "block-in-wrong-role" && x.CallID != "" {
				put[key{x.Conversation, x.CallID}] = true
			}
		}
		for x := range rep.Findings.All() {
			if x.Rule.Name == "missing-tool-result" && put[key{x.Conversation, x.CallID}] {
				t.Errorf("%s: call %s has a result in the wrong role, and is reported as without one", f.name, x.CallID)
			}
		}
	}
	if n == 0 {
		t.Error("no fixture has such findings")
	}
}

// TestLostCallIsTheCause: a result that answers no call gets that one finding, whatever its role and
// its content are. As text, it is what the API accepts in a message of its role.
func TestLostCallIsTheCause(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, old, new string }{
		"anthropic, with an image": {
			`{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"T"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}],"is_error":true}]},{"role":"user","content":"s"}]}`,
			`{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"T"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}],"is_error":true}`,
			`{"type":"text","text":"[toolguard] Result of an unknown tool (id a), kept as text:"},{"type":"text","text":"T"},{"type":"text","text":"{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":\"image/png\",\"data\":\"iVBORw0KGgo=\"}}\n{\"is_error\":true}"}`,
		},
		"gemini": {
			`{"generationConfig":{},"contents":[{"role":"user","parts":[{"text":"q"}]},{"role":"model","parts":[{"functionResponse":{"name":"f","response":{"r":"T"}}},{"text":"t"}]},{"role":"user","parts":[{"text":"z"}]}]}`,
			`{"functionResponse":{"name":"f","response":{"r":"T"}}}`, `{"text":"[toolguard] Result of f (id unknown), kept as text:\n{\"r\":\"T\"}"}`,
		},
		"chat, null": {
			`{"model":"gpt-4.1","messages":[{"role":"user","content":"q"},{"role":"tool","tool_call_id":"c7","content":null},{"role":"user","content":"r"}]}`,
			`{"role":"tool","tool_call_id":"c7","content":null}`, `{"role":"user","content":"[toolguard] Result of an unknown tool (id c7), which was empty."}`,
		},
		"chat, an object": {
			`{"model":"gpt-4.1","messages":[{"role":"user","content":"q"},{"role":"tool","tool_call_id":"c8","content":{"a":"T"}},{"role":"user","content":"r"}]}`,
			`{"role":"tool","tool_call_id":"c8","content":{"a":"T"}}`, `{"role":"user","content":"[toolguard] Result of an unknown tool (id c8), kept as text:\n{\"a\":\"T\"}"}`,
		},
	} {
		var got []string
		for f := range check(t, name, []byte(c.text), Options{}).Findings.All() {
			got = append(got, f.Rule.Name)
		}
		if !slices.Equal(got, []string{"orphan-tool-result"}) {
			t.Errorf("%s: %q", name, got)
		}
		out, _ := fixText(t, name, []byte(c.text), FixOptions{Unsafe: true, Options: Options{}})
		if want := strings.Replace(c.text, c.old, c.new, 1); string(out) != want {
			t.Errorf("%s: became\n%s\nwant\n%s", name, out, want)
		}
	}
}
