package engine

import (
	"slices"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/operation"
)

const geminiHead = `{"sessionId":"s","projectHash":"p","startTime":"2026-04-01T10:00:00.000Z","lastUpdated":"2026-04-01T10:00:00.000Z"}` + "\n"

// statesOf returns the classes of the offered repairs.
func statesOf(t *testing.T, text string, opts Options) (out []operation.Class) {
	t.Helper()
	rep, err := checked([]byte(text), opts)
	if err != nil {
		t.Fatal(err)
	}
	for f := range rep.Findings.All() {
		if f.Fix != nil {
			out = append(out, f.Fix.Class)
		}
	}
	return out
}

func TestStatesIDInItsPlace(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ in, want string }{
		"call": {
			geminiHead + `{"id":"g2","timestamp":"2026-04-01T10:00:04.000Z","type":"gemini","content":[{"functionCall":{"name":"ls","args":{}}}]}
{"id":"u3","timestamp":"2026-04-01T10:00:05.000Z","type":"user","content":[{"functionResponse":{"name":"ls","response":{"output":"a"},"id":"ls-2"}}]}
`,
			`{"functionCall":{"id":"ls-2","name":"ls"`,
		},
		"result": {
			geminiHead + `{"id":"g2","timestamp":"2026-04-01T10:00:04.000Z","type":"gemini","content":[{"functionCall":{"id":"ls-2","name":"ls","args":{}}}]}
{"id":"u3","timestamp":"2026-04-01T10:00:05.000Z","type":"user","content":[{"functionResponse":{"name":"ls","response":{"output":"a"}}}]}
`,
			`{"functionResponse":{"id":"ls-2","name":"ls"`,
		},
		"part with an invocation": {
			`[{"id":"m0","role":"user","parts":[{"type":"text","text":"q"}]},{"id":"m1","role":"assistant","parts":[{"type":"tool-invocation","toolInvocation":{"state":"result","toolName":"ls","args":{},"result":"a"}},{"type":"tool-ls","toolCallId":"c9","state":"output-available","input":{},"output":"a"}]}]`,
			`"toolInvocation":{"toolCallId":`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, f, err := repaired([]byte(tt.in), FixOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(out), tt.want) {
				t.Fatalf("%q is not in\n%s", tt.want, out)
			}
			if f.Rounds != 1 || len(f.Repairs) != 1 {
				t.Errorf("%d repairs in %d rounds", len(f.Repairs), f.Rounds)
			}
			again, _, err := repaired(out, FixOptions{})
			if err != nil || string(again) != string(out) {
				t.Errorf("repaired again: %v\n%s", err, again)
			}
		})
	}
}

// TestStatesRecorded: a status that says more than that the call is running is recorded
// content.
func TestStatesRecorded(t *testing.T) {
	t.Parallel()
	gemini := func(status string) string {
		return `{"sessionId":"s","projectHash":"b","startTime":"2026-04-01T10:00:00.000Z","lastUpdated":"2026-04-01T10:00:00.000Z","messages":[` +
			`{"id":"g0","timestamp":"2026-04-01T10:00:04.000Z","type":"gemini","content":"","toolCalls":[{"name":"ls","id":"l0","args":{},"status":` + status + `,"resultDisplay":"SHOWN"}]},` +
			`{"id":"u","timestamp":"2026-04-01T10:00:05.000Z","type":"user","content":"x"}]}`
	}
	opencode := func(status string) string {
		return `{"id":"p1","sessionID":"s","messageID":"m","type":"tool","callID":"c1","tool":"grep","state":{"status":` + status + `,"input":{},"time":{"start":5}}}`
	}
	continued := func(status string) string {
		call := `{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}`
		return `{"sessionId":"s","title":"t","workspaceDirectory":"/w","history":[{"message":{"role":"user","content":"q"},"contextItems":[]},` +
			`{"message":{"role":"assistant","content":"","toolCalls":[` + call + `]},"contextItems":[],"toolCallStates":[{"toolCallId":"c1","toolCall":` + call + `,"status":` + status + `}]},` +
			`{"message":{"role":"user","content":"n"},"contextItems":[]}]}`
	}
	for name, tt := range map[string]struct {
		text func(status string) string
		open map[string]bool
	}{
		"gemini-cli": {gemini, map[string]bool{`"executing"`: true, `"scheduled"`: true, `"success"`: false, `"cancelled"`: false, `"weird"`: false, `{"k":"K"}`: false}},
		"opencode":   {opencode, map[string]bool{`"running"`: true, `"pending"`: true, `"finished-by-plugin"`: false, `{"k":"K"}`: false, `["completed"]`: false}},
		"continue":   {continued, map[string]bool{`"calling"`: true, `"generating"`: true, `"canceled"`: false, `"weird"`: false}},
	} {
		for status, open := range tt.open {
			t.Run(name+status, func(t *testing.T) {
				t.Parallel()
				text := tt.text(status)
				opts := Options{Send: true, Strategy: map[string]string{"interrupted-tool-call": "insert"}}
				out, f, err := repaired([]byte(text), FixOptions{Options: opts})
				if err != nil {
					t.Fatal(err)
				}
				if f.Changed() != open {
					t.Errorf("repaired: %v, want %v\n%s", f.Changed(), open, out)
				}
				want := operation.Unsafe
				if open {
					want = operation.Additive
				}
				if got := statesOf(t, text, opts); !slices.Equal(got, []operation.Class{want}) {
					t.Errorf("offered %v, want %v", got, want)
				}
			})
		}
	}
}

// TestStatesApproval: an answer to an approval is not changed into another one.
func TestStatesApproval(t *testing.T) {
	t.Parallel()
	for approval, want := range map[string]bool{
		`{"id":"x"}`:                 true,
		`{"id":"x","approved":null}`: true,
		`{"id":"x","approved":false,"reason":"BECAUSE"}`: true,
		`{"id":"x","approved":true}`:                     true,
		`{"id":"x","reason":null}`:                       true,
		`{"id":"x","approved":"yes","reason":"BECAUSE"}`: false,
		`{"id":"x","approved":"yes"}`:                    false,
		`{"id":"x","approved":1}`:                        false,
		`{"id":"x","reason":"BECAUSE","note":"K"}`:       false,
		`"yes"`: false,
	} {
		for _, state := range []string{"approval-requested", "approval-responded"} {
			text := `[{"id":"m0","role":"user","parts":[{"type":"text","text":"q"}]},{"id":"m1","role":"assistant","parts":[{"type":"tool-rm","toolCallId":"c1","state":"` + state + `","input":{},"approval":` + approval + `}]},{"id":"m2","role":"user","parts":[{"type":"text","text":"on"}]}]`
			out, f, err := repaired([]byte(text), FixOptions{Unsafe: true})
			if err != nil {
				t.Fatal(err)
			}
			if f.Changed() != want {
				t.Errorf("%s %s: repaired: %v, want %v\n%s", state, approval, f.Changed(), want, out)
			}
			if want && !strings.Contains(approval, "BECAUSE") && !strings.Contains(string(out), "[toolguard]") {
				t.Errorf("%s %s: nothing says that it was made up:\n%s", state, approval, out)
			}
		}
	}
}
