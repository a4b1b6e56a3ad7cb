package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/rules"
)

// TestNotStored: which items a request without storage may hold, and who says that nothing is
// stored.
func TestNotStored(t *testing.T) {
	const (
		bare      = `{"type":"reasoning","id":"rs_1","summary":[]}`
		null      = `{"type":"reasoning","id":"rs_1","encrypted_content":null,"summary":[]}`
		sealed    = `{"type":"reasoning","id":"rs_1","encrypted_content":"gAAA","summary":[]}`
		anonymous = `{"type":"reasoning","encrypted_content":"gAAA","summary":[]}`
		reference = `{"type":"item_reference","id":"msg_0"}`
		message   = `{"type":"message","role":"assistant","id":"msg_1","content":[{"type":"output_text","text":"a"}]}`
		called    = `{"type":"function_call","id":"fc_1","call_id":"c1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"1"}`
	)
	body := func(head string, items ...string) string {
		return `{` + head + `"input":[{"role":"user","content":"q"},` + strings.Join(items, ",") + `,{"role":"user","content":"n"}]}`
	}
	for _, c := range []struct {
		name, text, args string
		want             rules.Severity
	}{
		{"reasoning without content", body(`"model":"gpt-5","store":false,`, bare, message), "", rules.Error},
		{"and null", body(`"model":"gpt-5","store":false,`, null, called), "", rules.Error},
		{"a reference", body(`"model":"gpt-5","store":false,`, reference), "", rules.Error},
		{"no model", body(`"store":false,`, bare, message), "", rules.Error},
		{"with content", body(`"model":"gpt-5","store":false,`, sealed, message), "", rules.Off},
		{"with content and without an id", body(`"model":"gpt-5","store":false,`, anonymous, called), "", rules.Off},
		{"ids of messages and calls", body(`"model":"gpt-5","store":false,`, message, called), "", rules.Off},
		{"it is stored", body(`"model":"gpt-5","store":true,`, bare, message, reference), "", rules.Off},
		{"nothing is said", body(`"model":"gpt-5",`, bare, message, reference), "", rules.Off},
		{"a text", body(`"model":"gpt-5","store":"false",`, bare, message), "", rules.Off},
		{"zero retention", body(`"model":"gpt-5",`, bare, message), "--provider openai-responses-zdr", rules.Error},
		{"zero retention, whatever is said", body(`"model":"gpt-5","store":true,`, reference), "--provider openai-responses-zdr", rules.Error},
		{"a copy of the API", body(`"model":"qwen3-max","store":false,`, bare, message), "", rules.Warning},
		{"one that knows no ids", body(`"model":"deepseek-v4-pro","store":false,`, bare, message), "", rules.Off},
	} {
		if got := worst(check(t, c.text, c.args).Findings.List(), "item-not-stored"); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	// The call of a reference is not in the request, so its result answers nothing.
	lonely := body(`"model":"gpt-5","store":false,`, `{"type":"item_reference","id":"fc_1"}`, `{"type":"function_call_output","call_id":"c1","output":"1"}`)
	for store, want := range map[string]rules.Severity{"false": rules.Error, "true": rules.Info} {
		text := strings.Replace(lonely, "false", store, 1)
		if got := worst(check(t, text, "").Findings.List(), "orphan-tool-result"); got != want {
			t.Errorf("the result of a reference with storage %s: %s, want %s", store, got, want)
		}
	}
}

// TestInterleavedReasoning: which orders of the records of answers are reported.
func TestInterleavedReasoning(t *testing.T) {
	const (
		think = `{"type":"thinking","thinking":"","signature":"s"}`
		text  = `{"type":"text","text":"x"}`
	)
	for _, c := range []struct {
		name, records string
		want          int
	}{
		// A letter is a record of an answer; t with reasoning, x with text. u is a message of a
		// human, r a result of a call, and s a record of a sub-agent.
		{"one answer", "u At Ax Ac r", 0},
		{"results between its parts", "u At Ac r Ac r", 0},
		{"one after the other", "u At Ac r Bt Bc r", 0},
		{"interleaved", "u At Bt Ac r Bx", 1},
		{"again and again", "u At Bt Ax Bx Ax Bx", 1},
		{"with three answers", "u At Bt Ax Ct Ax", 2},
		{"results between", "u At Ac Bt r Ax", 1},
		{"only the other one reasons", "u Ax Bt Ax", 1},
		{"nobody reasons", "u Ax Bx Ax", 0},
		{"the user speaks later", "u At Bt Ax Bx u", 1},
		{"before the last reasoning", "u At Bt Ax Bx u Ct Cx", 0},
		{"after the last reasoning", "u At Ax u Bx Cx Bx", 0},
		{"a human between", "u At Bt u Ax", 0},
		{"a sub-agent between", "u At st Ax", 0},
	} {
		var log strings.Builder
		parent, calls, results := "null", 0, 0
		for i, r := range strings.Fields(c.records) {
			var typ, message, more string
			switch r[0] {
			case 'u':
				typ, message = "user", `{"role":"user","content":"go"}`
			case 'r':
				typ, message = "user", fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%d","content":"1"}]}`, results)
				results++
			default:
				block := text
				switch r[1] {
				case 't':
					block = think
				case 'c':
					block = fmt.Sprintf(`{"type":"tool_use","id":"c%d","name":"f","input":{}}`, calls)
					calls++
				}
				if r[0] == 's' {
					more = `"isSidechain":true,"agentId":"x",`
				}
				typ, message = "assistant", `{"id":"msg_`+r[:1]+`","role":"assistant","content":[`+block+`]}`
			}
			fmt.Fprintf(&log, `{%s"type":%q,"uuid":"n%d","parentUuid":%s,"sessionId":"s","message":%s}`+"\n", more, typ, i, parent, message)
			if more == "" {
				parent = fmt.Sprintf(`"n%d"`, i)
			}
		}
		for args, severity := range map[string]rules.Severity{"": rules.Warning, "--send": rules.Error, "--provider anthropic": rules.Error, "--provider openai": rules.Off} {
			want := c.want
			if severity == rules.Off {
				want = 0
			}
			found := check(t, log.String(), args).Findings.List()
			if n := count(found, "interleaved-reasoning", severity); n != want {
				t.Errorf("%s %s: %d findings, want %d: %v", c.name, args, n, want, messages(found))
			}
		}
	}
}
