package engine

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/trim"
)

// items writes a history as a request of OpenAI Responses: s, u and a are messages, r1 is
// reasoning, c1, k1 and l1 are calls of a function, a custom tool and the local shell, and C1, K1
// and L1 are their outputs.
func items(script string) string {
	var list []string
	for i, word := range strings.Fields(script) {
		id := word[1:]
		list = append(list, map[string]string{
			"s": fmt.Sprintf(`{"type":"message","role":"developer","content":"text %d"}`, i),
			"u": fmt.Sprintf(`{"type":"message","role":"user","content":"text %d"}`, i),
			"a": fmt.Sprintf(`{"type":"message","role":"assistant","id":"msg_%d","status":"completed","content":[{"type":"output_text","text":"text %d"}]}`, i, i),
			"r": fmt.Sprintf(`{"type":"reasoning","id":"rs_%s","summary":[],"encrypted_content":"c2VjcmV0"}`, id),
			"c": fmt.Sprintf(`{"type":"function_call","id":"fc_%s","call_id":"%s","name":"f","arguments":"{}"}`, id, id),
			"k": fmt.Sprintf(`{"type":"custom_tool_call","id":"ctc_%s","call_id":"%s","name":"g","input":"x"}`, id, id),
			"l": fmt.Sprintf(`{"type":"local_shell_call","id":"lsh_%s","call_id":"%s","status":"completed","action":{"type":"exec","command":["ls"],"env":{}}}`, id, id),
			"C": fmt.Sprintf(`{"type":"function_call_output","call_id":"%s","output":"result %d"}`, id, i),
			"K": fmt.Sprintf(`{"type":"custom_tool_call_output","call_id":"%s","output":"result %d"}`, id, i),
			"L": fmt.Sprintf(`{"type":"local_shell_call_output","id":"%s","call_id":"%s","output":"result %d"}`, id, id, i),
		}[word[:1]])
	}
	return `{"model":"gpt-5","store":false,"input":[` + strings.Join(list, ",") + `]}`
}

// gemini writes a history as a request of Gemini: u and m are texts, c1,2 has the calls 1 and
// 2, S1 has a signed call, and r1,2 their responses.
func gemini(script string) string {
	var list []string
	for i, word := range strings.Fields(script) {
		role, parts := "model", []string{}
		switch kind := word[:1]; kind {
		case "u", "m":
			if kind == "u" {
				role = "user"
			}
			parts = append(parts, fmt.Sprintf(`{"text":"text %d"}`, i))
		default:
			for id := range strings.SplitSeq(word[1:], ",") {
				switch kind {
				case "r":
					role = "user"
					parts = append(parts, fmt.Sprintf(`{"functionResponse":{"id":"%s","name":"f","response":{"output":"%d"}}}`, id, i))
				case "S":
					parts = append(parts, fmt.Sprintf(`{"thoughtSignature":"c2ln","functionCall":{"id":"%s","name":"f","args":{}}}`, id))
				default:
					parts = append(parts, fmt.Sprintf(`{"functionCall":{"id":"%s","name":"f","args":{}}}`, id))
				}
			}
		}
		list = append(list, fmt.Sprintf(`{"role":"%s","parts":[%s]}`, role, strings.Join(parts, ",")))
	}
	return `{"contents":[` + strings.Join(list, ",") + `],"tools":[{"functionDeclarations":[{"name":"f"}]}]}`
}

// bedrock writes a history in the form of Amazon Bedrock: u and a are texts, c1,2 has the calls 1
// and 2, and r1,2 their results.
func bedrock(script string) string {
	var list []string
	for i, word := range strings.Fields(script) {
		role, parts := "assistant", []string{}
		switch kind := word[:1]; kind {
		case "u", "a":
			if kind == "u" {
				role = "user"
			}
			parts = append(parts, fmt.Sprintf(`{"text":"text %d"}`, i))
		default:
			for id := range strings.SplitSeq(word[1:], ",") {
				if kind == "r" {
					role = "user"
					parts = append(parts, fmt.Sprintf(`{"toolResult":{"toolUseId":"%s","content":[{"text":"%d"}],"status":"success"}}`, id, i))
				} else {
					parts = append(parts, fmt.Sprintf(`{"toolUse":{"toolUseId":"%s","name":"f","input":{}}}`, id))
				}
			}
		}
		list = append(list, fmt.Sprintf(`{"role":"%s","content":[%s]}`, role, strings.Join(parts, ",")))
	}
	return `{"messages":[` + strings.Join(list, ",") + `]}`
}

// TestTrimLikeOthers checks what other programs that shorten histories test, or got wrong: each
// case names an issue, a pull request or a test of one.
func TestTrimLikeOthers(t *testing.T) {
	pair := trim.Pair
	for _, c := range []struct {
		name, source string
		text         string
		req          trim.Request
		want         string // the indexes that are kept, or an error
	}{
		{
			"a result is not first", "langchain-ai/langchain#33245",
			chat("u a:1 t1 u a u a"),
			trim.Request{KeepLast: 5},
			"all",
		},
		{
			"a result is not first, newer", "langchain-ai/langchain#33245",
			chat("u a:1 t1 u a u a"),
			trim.Request{KeepLast: 5, Newer: true},
			"3 4 5 6",
		},
		{
			"an empty list", "langchain-ai/langchain#26895",
			chat(""),
			trim.Request{MaxTokens: 10},
			"all",
		},
		{
			"only a system prompt", "langchain-ai/langchain#30376",
			chat("s"),
			trim.Request{KeepLast: 1},
			"all",
		},
		{
			"only a system prompt that is too long", "langchain-ai/langchain#30376",
			chat("s"),
			trim.Request{MaxBytes: 10},
			"no safe cut: no message was typed by a human. --max-bytes 38 would keep 1 message (38 bytes).",
		},
		{
			"one message", "langchain-ai/langchain#27729",
			chat("u"),
			trim.Request{MaxBytes: 10},
			"no safe cut: the only user message is the first. --max-bytes 36 would keep 1 message (36 bytes).",
		},
		{
			"the size is exactly the limit", "langchain-ai/langchain, test_trim_messages_exact_token_boundary",
			chat("s u a u a"),
			trim.Request{MaxBytes: int64(len(chat("s u a u a")))},
			"all",
		},
		{
			"the size is the limit and a byte", "langchain-ai/langchain, test_trim_messages_exact_token_boundary",
			chat("s u a u a"),
			trim.Request{MaxBytes: int64(len(chat("s u a u a"))) - 1},
			"0 3 4",
		},
		{
			"the system prompt counts", "langchain-ai/langchain, test_trim_messages_last_30_include_system",
			chat("s u a u a u a"),
			trim.Request{MaxBytes: int64(len(chat("u a u a")))},
			"0 5 6",
		},
		{
			"all system prompts stay", "langchain-ai/langchain, test_trim_messages_last_30_include_system",
			chat("s s u a u a"),
			trim.Request{KeepLast: 2},
			"0 1 4 5",
		},
		{
			"a later system message is dropped", "langchain-ai/langchain, test_trim_messages_last_30_include_system",
			chat("s u s a u a"),
			trim.Request{KeepLast: 2},
			"0 4 5",
		},

		{
			"the target is a result", "microsoft/semantic-kernel#12708",
			chat("s u a:1 t1 u a"),
			trim.Request{KeepLast: 3},
			"all",
		},
		{
			"the target is a result, in a loop", "microsoft/semantic-kernel#12708",
			chat("s u a u a:1 t1 u a"),
			trim.Request{KeepLast: 3},
			"0 3 4 5 6 7",
		},
		{
			"the system prompt stays", "microsoft/semantic-kernel#12612",
			chat("s u a u a u a"),
			trim.Request{KeepLast: 4},
			"0 3 4 5 6",
		},
		{
			"one message besides the system prompt", "microsoft/semantic-kernel#13610",
			chat("s u a u a u"),
			trim.Request{KeepLast: 1},
			"0 5",
		},
		{
			"results in one message", "microsoft/semantic-kernel#13062",
			blocks("u a:1,2 t:1,2 a u a:3,4 t:3,4 a"),
			trim.Request{KeepLast: 2},
			"4 5 6 7",
		},
		{
			"nothing but calls and results", "microsoft/semantic-kernel, LocateSafeReductionIndex",
			chat("a:1 t1 a:2 t2"),
			trim.Request{Target: at(3)},
			"no safe cut: no message was typed by a human. --boundary pair would keep 2 messages (185 bytes).",
		},
		{
			"the same id in each turn", "microsoft/semantic-kernel, get_call_result_pairs",
			chat("u a:1 t1 a u a:1 t1 a u a:1 t1 a"),
			trim.Request{KeepLast: 3},
			"8 9 10 11",
		},
		{
			"the same id in each turn of a loop", "microsoft/semantic-kernel, get_call_result_pairs",
			chat("u a:1 t1 a:1 t1 a:1 t1 a"),
			trim.Request{KeepLast: 2, Boundary: pair},
			"1 6 7",
		}, // the calls are alike

		{
			"the middle is a result", "sipeed/picoclaw#870",
			chat("s u a:1 t1 a u"),
			trim.Request{Target: at(3)},
			"0 5",
		},
		{
			"one of two results", "sipeed/picoclaw#475",
			chat("u a u a:1,2 t1 t2 a u"),
			trim.Request{KeepLast: 3},
			"2 3 4 5 6 7",
		},
		{
			"one of two results, between exchanges", "sipeed/picoclaw#475",
			chat("u a:1,2 t1 t2 a:3 t3 a u"),
			trim.Request{KeepLast: 5, Boundary: pair},
			"all",
		},
		{
			"a single turn", "sipeed/picoclaw, TestFindSafeBoundary_SingleTurnReturnsZero",
			chat("u a:1 t1 a"),
			trim.Request{Target: at(2)},
			"no safe cut: the only user message is the first. --boundary loop would keep 1 message (41 bytes).",
		},
		{
			"no message of a user", "sipeed/picoclaw, TestFindSafeBoundary",
			chat("a a a"),
			trim.Request{Target: at(1)},
			"no safe cut: no message was typed by a human. --boundary loop would keep 2 messages (83 bytes).",
		},
		{
			"no user before the target", "sipeed/picoclaw, TestFindSafeBoundary",
			chat("a:1 t1 a u"),
			trim.Request{Target: at(1)},
			"3",
		},
		{
			"a chain before the target", "sipeed/picoclaw, TestFindSafeBoundary_BackwardScanSkipsToolSequence",
			chat("u a u a:1,2,3 t1 t2 t3 a:4 t4 a u"),
			trim.Request{Target: at(6)},
			"2 3 4 5 6 7 8 9 10",
		},

		{
			"the user is first", "strands-agents/harness-sdk#2087",
			bedrock("u a u a u a"),
			trim.Request{KeepLast: 3},
			"2 3 4 5",
		},
		{
			"the user is first, between exchanges", "strands-agents/harness-sdk#2087",
			bedrock("u c1 r1 c2 r2 a"),
			trim.Request{Target: at(3), Boundary: pair},
			"no safe cut: the history has no pair boundary that drops anything. --pin 1 would keep 4 messages (301 bytes).",
		},
		{
			"an open call at the end", "strands-agents/harness-sdk#2087",
			chat("u a u a:1"),
			trim.Request{KeepLast: 1, Boundary: pair},
			"2 3",
		},
		{
			"one prompt and a long loop", "strands-agents/harness-sdk#2173",
			chat("u a:1 t1 a:2 t2 a:3 t3"),
			trim.Request{KeepLast: 4, Boundary: pair},
			"3 4 5 6",
		},
		{
			"one prompt and a long loop, with a user anchor", "strands-agents/harness-sdk#3447",
			bedrock("u c1 r1 c2 r2 c3 r3"),
			trim.Request{KeepLast: 4, Boundary: pair, Pin: 1},
			"0 3 4 5 6",
		},
		{
			"two pinned messages", "strands-agents/harness-sdk#3447",
			bedrock("u c1 r1 c2 r2 c3 r3"),
			trim.Request{KeepLast: 2, Boundary: pair, Pin: 2},
			"0 1 2 5 6",
		},
		{
			"a result that is not shortened stays", "strands-agents/harness-sdk#1837",
			chat("u a:1 t1 a u a:2 t2 a"),
			trim.Request{KeepLast: 4, ResultsMax: 200, KeepResults: 3},
			"4 5 6 7",
		},

		{
			"an output of a function", "openai/codex, remove_first_item_removes_matching_output_for_function_call",
			items("u c1 C1 a u c2 C2 a"),
			trim.Request{KeepLast: 2},
			"4 5 6 7",
		},
		{
			"an output of a custom tool", "openai/codex, remove_first_item_handles_custom_tool_pair",
			items("u k1 K1 k2 K2 a"),
			trim.Request{KeepLast: 2, Boundary: pair},
			"3 4 5",
		},
		{
			"an output of the local shell", "openai/codex, remove_first_item_handles_local_shell_pair",
			items("u l1 L1 l2 L2 a"),
			trim.Request{KeepLast: 2, Boundary: pair},
			"3 4 5",
		},
		{
			"the reasoning before a call", "pydantic/pydantic-ai#3230",
			items("u a u r1 c1 C1 a"),
			trim.Request{KeepLast: 3, Boundary: pair},
			"2 3 4 5 6",
		},
		{
			"the reasoning before an answer", "openai/codex#13497",
			items("u c1 C1 r2 a u"),
			trim.Request{Target: at(4), Boundary: trim.Loop},
			"5",
		},
		{
			"the call after the reasoning", "openai/openai-agents-js#1280",
			items("u r1 c1 C1 a"),
			trim.Request{KeepFirst: 2},
			"0",
		},
		{
			"a batch of calls", "omnigent-ai/omnigent#2449",
			items("u c1 c2 C1 C2 c3 C3 a"),
			trim.Request{KeepLast: 5, Boundary: pair},
			"all",
		},

		{
			"the end stays", "block/goose, truncate_messages",
			chat("u a u a:1 t1"),
			trim.Request{KeepLast: 1},
			"2 3 4",
		},
		{
			"a result too long for the limit", "block/goose#1988",
			strings.Replace(chat("u a u a:1 t1 a"), "result 1 at 4", strings.Repeat("x", 2000), 1),
			trim.Request{MaxBytes: 600},
			"no safe cut: what follows the last user boundary is larger than the limit. --boundary loop would keep 1 message (41 bytes). --results-max-bytes would shorten results; one has 2,002 bytes.",
		},

		{
			"responses are no user turn", "google-gemini/gemini-cli#4141",
			gemini("u m u c1 r1 m"),
			trim.Request{KeepLast: 2},
			"2 3 4 5",
		},
		{
			"as many responses as calls", "google-gemini/gemini-cli#3814",
			gemini("u c1,2 r1,2 m u c3,4 r3,4 m"),
			trim.Request{KeepLast: 2, Boundary: pair},
			"4 5 6 7",
		},
		{
			"a call is not first", "strands-agents/harness-sdk#1749",
			gemini("u c1 r1 c2 r2"),
			trim.Request{Target: at(3), Boundary: pair},
			"no safe cut: the history has no pair boundary that drops anything. --pin 1 would keep 3 messages (279 bytes).",
		},
		{
			"a call after a user", "RightNow-AI/openfang#1011",
			gemini("u c1 r1 c2 r2"),
			trim.Request{KeepLast: 2, Boundary: pair, Pin: 1},
			"0 3 4",
		},
		{
			"signed calls stay together", "agentscope-ai/agentscope#2462",
			gemini("u S1 r1 S2 r2"),
			trim.Request{KeepLast: 2, Boundary: pair, Pin: 1},
			"all",
		},
		{
			"signed reasoning stays whole", "openclaw/openclaw#44436",
			blocks("u a u a:S,1 t:1 a:S,2 t:2"),
			trim.Request{KeepLast: 2, Boundary: pair, Pin: 1},
			"0 2 3 4 5 6",
		},
	} {
		t.Run(c.name+" ("+strings.ReplaceAll(c.source, "/", " ")+")", func(t *testing.T) {
			opts := Options{}
			if strings.Contains(c.text, `"max_tokens":9`) {
				opts = Options{Send: true, Target: profile.ByName("anthropic")}
			}
			checkTrim(t, c.text, opts, &c.req, c.want)
		})
	}
}

// TestShortenLikeOthers checks what other programs that shorten results test, or got wrong.
func TestShortenLikeOthers(t *testing.T) {
	long := strings.Repeat("0123456789", 60)
	// cut is the text after it was shortened, with so many bytes at the start and at the end.
	cut := func(text string, head, tail int) string {
		return fmt.Sprintf("%s[toolguard] %d of %d bytes of this result were cut.%s", text[:head], len(text)-head-tail, len(text), text[len(text)-tail:])
	}
	answer := `"result 1 at 2"`
	with := func(result string) string { return strings.Replace(chat("u a:1 t1 a"), answer, result, 1) }
	smiles, escaped, slashes := strings.Repeat("😀", 150), strings.Repeat(`\ud83d\ude00`, 50), strings.Repeat(`\\`, 300)
	image := `{"type":"image_url","image_url":{"url":"data:image/png;base64,` + strings.Repeat("iVBO", 200) + `"}}`
	thinking := strings.NewReplacer(`"hm"`, `"`+long+`"`, `"content":"r"`, `"content":"`+long+`","is_error":true`).Replace(blocks("u a:S,1 t:1 a"))
	both := strings.NewReplacer("result 2 at 4", long, "result 3 at 6", long).Replace(chat("u a:1 t1 a:2 t2 a:3 t3 a"))
	for _, c := range []struct {
		name, source string
		was, is      string
		req          trim.Request
	}{
		{"short results stay", "openai/codex, truncate_with_token_budget_returns_original_when_under_limit", with(`"` + long[:200] + `"`), with(`"` + long[:200] + `"`), trim.Request{ResultsMax: 200}},
		{"the end stays", "openai/codex#6415", with(`"` + long + `"`), with(`"` + cut(long, 111, 36) + `"`), trim.Request{ResultsMax: 200}},
		{"the label has the numbers", "openai/codex#35421", with(`"` + long + `"`), with(`"` + cut(long, 186, 61) + `"`), trim.Request{ResultsMax: 300}},
		{"between characters", "openai/codex, split_string_respects_utf8_boundaries", with(`"` + smiles + `"`), with(`"` + cut(smiles, 108, 36) + `"`), trim.Request{ResultsMax: 200}},
		{"between escaped characters", "openai/codex, split_string_respects_utf8_boundaries", with(`"` + escaped + `"`), with(`"` + cut(escaped, 108, 36) + `"`), trim.Request{ResultsMax: 206}},
		{"between escape sequences", "openai/codex, split_string_respects_utf8_boundaries", with(`"` + slashes + `"`), with(`"` + cut(slashes, 110, 36) + `"`), trim.Request{ResultsMax: 200}},
		{"the structure stays", "strands-agents/harness-sdk#95", with(`[{"type":"text","text":"` + long + `"},{"type":"text","text":"short"}]`), with(`[{"type":"text","text":"` + cut(long, 111, 36) + `"},{"type":"text","text":"short"}]`), trim.Request{ResultsMax: 200}},
		{"images stay", "openai/codex, truncates_across_multiple_under_limit_texts_and_reports_omitted", with(`[` + image + `,{"type":"text","text":"` + long + `"}]`), with(`[` + image + `,{"type":"text","text":"` + cut(long, 111, 36) + `"}]`), trim.Request{ResultsMax: 200}},
		{"not only the oldest", "strands-agents/harness-sdk#4341", both, strings.ReplaceAll(both, long, cut(long, 111, 36)), trim.Request{ResultsMax: 200}},
		{"not the last", "strands-agents/harness-sdk#1837", both, strings.Replace(both, long, cut(long, 111, 36), 1), trim.Request{ResultsMax: 200, KeepResults: 1}},
		{"only once", "strands-agents/harness-sdk#1749", with(`"` + cut(long, 111, 36) + `"`), with(`"` + cut(long, 111, 36) + `"`), trim.Request{ResultsMax: 200}},
		{"reasoning stays", "openclaw/openclaw#44436", thinking, strings.Replace(thinking, `"content":"`+long, `"content":"`+cut(long, 111, 36), 1), trim.Request{ResultsMax: 200}},
		{"a result that alone is too long", "block/goose#1988", with(`"` + long + `"`), with(`"` + cut(long, 111, 36) + `"`), trim.Request{ResultsMax: 200, MaxBytes: 500}},
	} {
		t.Run(c.name+" ("+strings.ReplaceAll(c.source, "/", " ")+")", func(t *testing.T) {
			got, err := Trim(context.Background(), source.FromBytes("x.json", []byte(c.was)), Options{}, &c.req)
			if err != nil {
				t.Fatal(err)
			}
			is := c.was
			if got.Changed() {
				is = string(got.Pieces.Source().Text())
			}
			if is != c.is {
				t.Errorf("got\n%s\nwant\n%s", is, c.is)
			}
		})
	}
}
