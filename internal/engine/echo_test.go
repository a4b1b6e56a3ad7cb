package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/sample"
)

// An echoLog is a session log that repeats results, as functions that write records.
type echoLog struct {
	name   string
	says   func(role, text string) string
	call   func(id string) string
	answer func(id, text string) string
	// echo is the record that repeats a result, and sent the result that it stands for.
	echo func(id, text string) string
	sent func(text string) string
	// answers returns the results in a repaired log, by the ids of their calls.
	answers func(t *testing.T, records []map[string]any) map[string]string
	ordinal bool
}

func codexRecord(typ, payload string) string {
	return `{"timestamp":"2026-01-02T03:04:05.000Z",` + "\x00" + `"type":"` + typ + `","payload":` + payload + `}`
}

func codexLog(name string, ordinal bool, echo func(id, text string) string, sent func(string) string) echoLog {
	return echoLog{
		name: name, ordinal: ordinal, echo: echo, sent: sent,
		says: func(role, text string) string {
			return codexRecord("response_item", `{"type":"message","role":"`+role+`","content":[{"type":"input_text","text":"`+text+`"}]}`)
		},
		call: func(id string) string {
			return codexRecord("response_item", `{"type":"function_call","call_id":"`+id+`","name":"exec_command","arguments":"{}"}`)
		},
		answer: func(id, text string) string {
			return codexRecord("response_item", fmt.Sprintf(`{"type":"function_call_output","call_id":%q,"output":%q}`, id, text))
		},
		answers: func(t *testing.T, records []map[string]any) map[string]string {
			t.Helper()
			out := map[string]string{}
			for _, r := range records {
				if p, _ := r["payload"].(map[string]any); p["type"] == "function_call_output" {
					id := p["call_id"].(string)
					if _, again := out[id]; again {
						t.Errorf("two results for %s", id)
					}
					out[id] = p["output"].(string)
				}
			}
			return out
		},
	}
}

func echoLogs() []echoLog {
	completed := func(id, text string) string {
		return codexRecord("event_msg", fmt.Sprintf(`{"type":"item_completed","item":{"type":"CommandExecution","id":%q,"status":"completed","aggregated_output":%q,"exit_code":0}}`, id, text))
	}
	exited := func(text string) string { return "Process exited with code 0\nOutput:\n" + text }
	ended := func(id, text string) string {
		return codexRecord("event_msg", fmt.Sprintf(`{"type":"exec_command_end","call_id":%q,"aggregated_output":"","exit_code":2,"formatted_output":%q}`, id, text))
	}
	mcp := func(id, text string) string {
		return codexRecord("event_msg", fmt.Sprintf(`{"type":"mcp_tool_call_end","call_id":%q,"result":{"Ok":{"content":[{"type":"text","text":%q}],"isError":false}}}`, id, text))
	}
	event := func(e string) string {
		return `{"type":"context.append_loop_event","agentId":"main","event":` + e + `,"time":1}`
	}
	return []echoLog{
		codexLog("codex items", true, completed, exited),
		codexLog("codex items without numbers", false, completed, exited),
		codexLog("codex events", true, ended, func(text string) string { return "Exit code: 2\nOutput:\n" + text }),
		codexLog("codex MCP", false, mcp, func(text string) string { return fmt.Sprintf(`[{"type":"text","text":%q}]`, text) }),
		{
			name: "kimi",
			says: func(role, text string) string {
				return `{"type":"context.append_message","message":{"role":"` + role + `","content":[{"type":"text","text":"` + text + `"}]},"time":1}`
			},
			call: func(id string) string {
				step, _, _ := strings.Cut(strings.TrimPrefix(id, "call_"), "_") // the calls of a turn are one step
				return event(`{"type":"tool.call","uuid":"u-` + id + `","stepUuid":"s-` + step + `","toolCallId":"` + id + `","name":"Bash","args":{}}`)
			},
			answer: func(id, text string) string {
				return event(fmt.Sprintf(`{"type":"tool.result","parentUuid":"u-%s","toolCallId":%q,"result":{"output":%q}}`, id, id, text))
			},
			echo: func(id, text string) string {
				return fmt.Sprintf(`{"message":{"message":{"role":"tool","content":[{"type":"text","text":%q}],"toolCallId":%q},"meta":{"source":"tool"}},"type":"agent.message.appended","time":1,"kind":"event"}`, text, id)
			},
			sent: func(text string) string { return text },
			answers: func(t *testing.T, records []map[string]any) map[string]string {
				t.Helper()
				out := map[string]string{}
				for _, r := range records {
					if e, _ := r["event"].(map[string]any); e["type"] == "tool.result" {
						id := e["toolCallId"].(string)
						if _, again := out[id]; again {
							t.Errorf("two results for %s", id)
						}
						out[id] = e["result"].(map[string]any)["output"].(string)
					}
				}
				return out
			},
		},
	}
}

// TestEchoes: a result that is lost comes back as another record repeats it. Results that are
// not lost, and those that nothing repeats, are as without such records.
func TestEchoes(t *testing.T) {
	t.Parallel()
	for _, l := range echoLogs() {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(sample.Seed(5), 1))
			lost, kept := 0, 0
			for range sample.Inputs(80, 60, 20) {
				want := map[string]string{}
				records := []string{l.says("user", "go")}
				for turn := range 1 + rng.IntN(4) {
					var calls, answers, echoes []string
					for k := range 1 + rng.IntN(3) {
						id, text := fmt.Sprintf("call_%d_%d", turn, k), fmt.Sprintf("real \\\"%d\\\" %d\\n", turn, k)
						text = strings.NewReplacer(`\"`, `"`, `\n`, "\n").Replace(text)
						calls = append(calls, l.call(id))
						echoed, answered := rng.IntN(3) > 0, rng.IntN(2) > 0
						if echoed {
							echoes = append(echoes, l.echo(id, text))
							if rng.IntN(4) == 0 {
								echoes = append(echoes, l.echo(id, text)) // twice the same
							}
						}
						switch {
						case answered:
							answers = append(answers, l.answer(id, "kept "+text))
							want[id] = "kept " + text
							kept++
						case echoed:
							want[id] = l.sent(text)
							lost++
						case !l.ordinal:
							want[id] = stand // a placeholder
						}
					}
					// The order in which agents write them differs.
					if records = append(records, calls...); rng.IntN(2) == 0 {
						records = append(append(records, echoes...), answers...)
					} else {
						records = append(append(records, answers...), echoes...)
					}
					records = append(records, l.says("user", "on"))
				}
				var text []byte
				for i, r := range records {
					ordinal := ""
					if l.ordinal {
						ordinal = fmt.Sprintf(`"ordinal":%d,`, i)
					}
					text = append(text, strings.Replace(r, "\x00", ordinal, 1)+"\n"...)
				}
				opts := FixOptions{}
				if rng.IntN(2) == 0 { // without the rule that renumbers records
					opts.Rules = []*rules.Rule{rules.ByName("missing-tool-result")}
				}
				out, _ := fixText(t, "log.jsonl", text, opts)
				var after []map[string]any
				for i, line := range bytes.Split(bytes.TrimSpace(out), []byte("\n")) {
					r := map[string]any{}
					if err := json.Unmarshal(line, &r); err != nil {
						t.Fatalf("%v\n%s", err, line)
					}
					if l.ordinal && r["ordinal"] != float64(i) {
						t.Errorf("record %d has the ordinal %v", i, r["ordinal"])
					}
					after = append(after, r)
				}
				if diff := cmp.Diff(want, l.answers(t, after)); diff != "" {
					t.Fatalf("(-want +got)\n%s\nof\n%s\nbecame\n%s", diff, text, out)
				}
				for f := range check(t, "log.jsonl", out, Options{}).Findings.All() {
					if f.Severity == rules.Error {
						t.Errorf("after the repair: %s: %s", f.Rule.Name, f.Message)
					}
				}
			}
			if lost < 10 || kept < 10 {
				t.Errorf("%d results were lost, %d kept", lost, kept)
			}
		})
	}
}

// TestEchoesContradict: if records repeat different results for one call, or two calls have
// one id, nothing is inserted unless the user asks for a placeholder.
func TestEchoesContradict(t *testing.T) {
	t.Parallel()
	for _, l := range echoLogs() {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			for name, records := range map[string][]string{
				"two results": {l.says("user", "go"), l.call("c"), l.echo("c", "one"), l.echo("c", "two"), l.says("user", "on")},
				"two calls":   {l.says("user", "go"), l.call("c"), l.says("user", "so"), strings.Replace(l.call("c"), "s-c", "s-d", 1), l.echo("c", "one"), l.says("user", "on")},
				"too many":    {l.says("user", "go"), l.call("c"), strings.Repeat(l.echo("c", "one")+"\n", 6) + l.says("user", "on")},
			} {
				text := []byte(strings.ReplaceAll(strings.Join(records, "\n")+"\n", "\x00", ""))
				found := false
				for f := range check(t, "log.jsonl", text, Options{}).Findings.All() {
					if f.Rule.Name == "missing-tool-result" && strings.Contains(f.Unfixed, "contradicts it") {
						found = f.Fix == nil && !f.Recorded
					}
				}
				if !found {
					t.Errorf("%s: no finding says that the records contradict each other", name)
				}
				out, _ := fixText(t, "log.jsonl", text, FixOptions{Options: Options{Strategy: map[string]string{"missing-tool-result": "insert"}}})
				if !bytes.Contains(out, []byte(stand)) || bytes.Count(out, []byte("one")) != bytes.Count(text, []byte("one")) {
					t.Errorf("%s: the strategy inserts no placeholder:\n%s", name, out)
				}
			}
		})
	}
}

// TestEchoesOfOneID: of two calls with one id, a record between them is about the first, and one
// after both about the second only if the first has one.
func TestEchoesOfOneID(t *testing.T) {
	t.Parallel()
	for _, l := range echoLogs() {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			again := strings.NewReplacer("s-c", "s-d", "u-c", "u-d").Replace(l.call("c"))
			for name, c := range map[string]struct {
				records []string
				want    []string // what is inserted, in order
			}{
				"each has one":              {[]string{l.call("c"), l.echo("c", "one"), l.says("assistant", "x"), l.says("user", "so"), again, l.echo("c", "two"), l.says("user", "on")}, []string{l.sent("one"), l.sent("two")}},
				"only the first has one":    {[]string{l.call("c"), l.echo("c", "one"), l.says("assistant", "x"), l.says("user", "so"), again, l.says("user", "on")}, []string{l.sent("one"), stand}},
				"only the last has one":     {[]string{l.call("c"), l.says("assistant", "x"), l.says("user", "so"), again, l.echo("c", "two"), l.says("user", "on")}, nil},
				"two before the last":       {[]string{l.call("c"), l.says("user", "x"), again, l.echo("c", "two"), l.says("user", "so"), strings.ReplaceAll(again, "-d", "-e"), l.echo("c", "three"), l.says("user", "on")}, []string{l.sent("three")}},
				"contradiction in the last": {[]string{l.call("c"), l.echo("c", "one"), l.says("user", "so"), again, l.echo("c", "two"), l.echo("c", "three"), l.says("user", "on")}, []string{l.sent("one")}},
			} {
				if l.ordinal && slices.Contains(c.want, stand) {
					continue // Codex answers it on resume
				}
				text := []byte(strings.ReplaceAll(strings.Join(append([]string{l.says("user", "go")}, c.records...), "\n")+"\n", "\x00", ""))
				out, _ := fixText(t, "log.jsonl", text, FixOptions{Options: Options{}})
				var got []string
				for line := range strings.Lines(string(out)) {
					if bytes.Contains(text, []byte(line)) {
						continue
					}
					var r map[string]any
					if err := json.Unmarshal([]byte(line), &r); err != nil {
						t.Fatalf("%s: %v in %s", name, err, line)
					}
					for _, said := range l.answers(t, []map[string]any{r}) {
						got = append(got, said)
					}
				}
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
			}
		})
	}
}

// TestEchoesOfCodex: two kinds of events can say the same. Events that say less than the whole, or
// of which nobody knows what they say, or of which session, do not count.
func TestEchoesOfCodex(t *testing.T) {
	t.Parallel()
	meta := codexRecord("session_meta", `{"id":"own","forked_from_id":"origin","cwd":"/w"}`)
	item := func(more string) string {
		return codexRecord("event_msg", `{"type":"item_completed"`+more)
	}
	done := item(`,"item":{"type":"CommandExecution","id":"c","status":"completed","aggregated_output":"OUT","exit_code":0}}`)
	ended := codexRecord("event_msg", `{"type":"exec_command_end","call_id":"c","stdout":"OUT","aggregated_output":"OUT","exit_code":0,"formatted_output":"OUT"}`)
	other := codexRecord("event_msg", `{"type":"exec_command_end","call_id":"c","aggregated_output":"OUT","exit_code":1}`)
	const unified, shell = "Process exited with code 0\nOutput:\nOUT", "Exit code: 0\nOutput:\nOUT"
	for name, c := range map[string]struct {
		tool   string
		events []string
		want   string // "" for nothing
	}{
		"both say the same":              {"exec_command", []string{ended, done}, unified},
		"both, the other way around":     {"exec_command", []string{done, ended}, unified},
		"both, of a shell":               {"shell", []string{done, ended}, shell},
		"both, of an unknown tool":       {"run", []string{ended, done}, shell},
		"another code":                   {"exec_command", []string{done, other}, ""},
		"in progress":                    {"exec_command", []string{item(`,"item":{"type":"CommandExecution","id":"c","status":"inProgress","aggregated_output":"PART","exit_code":null}}`)}, stand},
		"in progress, then done":         {"exec_command", []string{item(`,"item":{"type":"CommandExecution","id":"c","status":"inProgress","aggregated_output":"PART"}}`), done}, unified},
		"a tool of a server in progress": {"exec_command", []string{item(`,"item":{"type":"McpToolCall","id":"c","status":"inProgress","result":{"content":[{"type":"text","text":"PART"}]}}}`)}, stand},
		"the output twice":               {"exec_command", []string{strings.Replace(done, `"aggregated_output"`, `"aggregated_output":"FIRST","aggregated_output"`, 1)}, ""},
		"the code twice":                 {"exec_command", []string{strings.Replace(done, `"exit_code"`, `"exit_code":1,"exit_code"`, 1)}, ""},
		"the item twice":                 {"exec_command", []string{strings.Replace(done, `"item":`, `"item":{"type":"CommandExecution","id":"c","aggregated_output":"FIRST"},"item":`, 1)}, ""},
		"another session":                {"exec_command", []string{strings.Replace(done, `"item_completed"`, `"item_completed","thread_id":"other"`, 1)}, stand},
		"the session":                    {"exec_command", []string{strings.Replace(done, `"item_completed"`, `"item_completed","thread_id":"own"`, 1)}, unified},
		"the session that was forked":    {"exec_command", []string{strings.Replace(done, `"item_completed"`, `"item_completed","thread_id":"origin"`, 1)}, unified},
	} {
		call := codexRecord("response_item", `{"type":"function_call","call_id":"c","name":"`+c.tool+`","arguments":"{}"}`)
		says := codexRecord("response_item", `{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}`)
		records := append([]string{meta, says, call}, c.events...)
		before := strings.ReplaceAll(strings.Join(append(records, says), "\n")+"\n", "\x00", "")
		want := before
		if c.want != "" {
			text := fmt.Sprintf(`{"type":"function_call_output","call_id":"c","output":%q}`, c.want)
			answer := strings.ReplaceAll(codexRecord("response_item", text), "\x00", "")
			call = strings.ReplaceAll(call, "\x00", "")
			want = strings.Replace(before, call, call+"\n"+answer, 1)
		}
		out, _ := fixText(t, "log.jsonl", []byte(before), FixOptions{})
		if diff := cmp.Diff(want, string(out)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
