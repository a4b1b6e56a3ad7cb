package engine

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/source"
)

// corpusDir returns the directory of real transcripts beside the checkout. It skips the test
// if there is none.
func corpusDir(t testing.TB) string {
	t.Helper()
	dir := filepath.Join("..", "..", "..", "shared", "corpus")
	if _, err := os.Stat(filepath.Join(dir, "MANIFEST.tsv")); err != nil {
		t.Skip("no corpus beside the checkout")
	}
	return dir
}

// A corpusFile is a row of the corpus's manifest, with the counts of an independent program.
type corpusFile struct {
	path, format   string
	calls, results int
	oracle         defects
}

// defects counts pairing defects as the independent program names them.
type defects struct {
	mid, trailing, orphan, duplicate, emptyID int
}

func corpus(t testing.TB) []corpusFile {
	t.Helper()
	f, err := os.Open(filepath.Join(corpusDir(t), "MANIFEST.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var out []corpusFile
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	sc.Scan()
	head := strings.Split(sc.Text(), "\t")
	for sc.Scan() {
		row := strings.Split(sc.Text(), "\t")
		col := func(name string) string { return row[slices.Index(head, name)] }
		c := corpusFile{path: col("path"), format: col("format")}
		c.calls, _ = strconv.Atoi(col("tool_calls"))
		c.results, _ = strconv.Atoi(col("tool_results"))
		summary := map[string]int{}
		_ = json.Unmarshal([]byte(col("oracle_summary")), &summary)
		for class, n := range summary {
			switch name, sub, _ := strings.Cut(class, ":"); name {
			case "missing_result":
				if sub == "trailing" {
					c.oracle.trailing += n
				} else {
					c.oracle.mid += n
				}
			case "orphan_result":
				c.oracle.orphan += n
			case "duplicate_result":
				c.oracle.duplicate += n
			case "empty_id":
				c.oracle.emptyID += n
			}
		}
		out = append(out, c)
	}
	if len(out) < 300 {
		t.Fatalf("only %d rows in the manifest", len(out))
	}
	return out
}

// ownDialect maps the manifest's formats to the dialect that their files are
// read in.
var ownDialect = map[string]string{
	"openai-chat": "openai-chat", "openai-finetune": "openai-chat", "tau-bench": "openai-chat", "swe-agent": "openai-chat",
	"anthropic-messages": "anthropic", "openai-responses": "openai-responses",
	"claude-code": "claude-code", "claude-like-lines": "claude-code", "claude-stream-json": "claude-stream-json",
	"codex-rollout": "codex", "codex-rollout-old": "openai-responses", // bare items, before there was an envelope
	"copilot-cli": "copilot-cli", "pi-session": "pi", "qwen-code": "qwen-code", "acp-grok": "acp", "droid": "factory-droid",
	"langchain": "langchain", "inspect": "inspect",
	"opencode": "opencode", "gemini-cli-session": "gemini-cli", "continue-cli": "continue", "atif": "atif",
	"codex-exec-json": "codex-exec", "openhands": "openhands",
	"sharegpt": "sharegpt", "grok-chat": "grok-chat", "hermes-session": "openai-chat", "vibe": "openai-chat",
	"codewhale":       "anthropic",
	"gemini-contents": "gemini", "gemini-adk": "adk", "bedrock-converse": "bedrock", "aisdk": "ai-sdk", "goose": "goose",
	"pydantic-ai": "pydantic-ai", "meai": "meai", "semantic-kernel": "semantic-kernel", "amp-thread": "amp", "otel": "otel",
	"vscode-copilot-chat": "vscode-chat",
	"musecode":            "muse-code", "trae": "trae", "deepseek-harness": "deepseek-harness", "kimi": "kimi-wire",
	"cline-roo":      "openai-chat", // text alone, as any dialect has it
	"bedrock-stream": "", "pydantic-ai-events": "",
}

// spelled are files of one format whose messages are in the dialect of another.
var spelled = map[string]string{
	// An older form of the history, and the contexts of Kimi's command line.
	"019f6000-0000-7000-8000-000000000002_chat_history.jsonl": "openai-chat",
	"_context.jsonl": "openai-chat",
	"evalscope_web_src_test_fixtures_predictions-tool-trace.json": "inspect",
	"droid_stream_json_large.jsonl":                               "droid-stream-json",
	"droid_stream_json_small.jsonl":                               "droid-stream-json",
	"droid_stream_json_schema_drift.jsonl":                        "droid-stream-json",
	// An evaluation set, and a session beside the requests that came of it.
	"order_query.test.json":                            "gemini",
	"context_update_test_successful_test.session.json": "gemini",
	// Traces of programs that speak to their models in these dialects.
	"ai-sdk-v4.log-payloads.json":                    "openai-chat",
	"vercel-aisdk-2025-11-17.chatml.json":            "openai-chat",
	"framework-traces_agno-2025-06-11.json":          "openai-chat",
	"framework-traces_beeai-2025-08-01.json":         "openai-responses",
	"framework-traces_google-adk-2025-08-28.json":    "gemini",
	"framework-traces_koog-2025-08-26.json":          "openai-chat",
	"framework-traces_openai-agents-2025-09-30.json": "openai-responses",
	"claude-agent-2025-12-22.trace.json":             "anthropic",
	"crewai-2025-07-11.trace.json":                   "openai-chat",
	// Messages that are spread over attributes.
	"fixtures_claude_live_spans.json":                      "openinference",
	"fixtures_openinference_live_spans.json":               "openinference",
	"fixtures_openai_agents_openinference_live_spans.json": "openinference",
	"fixtures_smolagents_live_spans.json":                  "openinference",
}

// unread are files that the independent program cannot read, with the calls and results
// counted by hand.
var unread = map[string][2]int{
	// Single messages that turns of a recording put out.
	"tests_fixtures_replay_write_read_file.ultra.json": {2, 0},
	// Logs that repeat their messages among their events: the count takes each
	// appearance.
	"logs_2025-05-12T20-27-36-04-00_browser.json":           {4, 4},
	"docent__tests_integration_data_ctf.json":               {11, 11},
	"log.eval_samples_15_epoch_1.json":                      {10, 10},
	"log.eval_samples_19_epoch_1.json":                      {2, 2},
	"log.eval_samples_31_epoch_1.json":                      {4, 4},
	"log.eval_samples_65_epoch_1.json":                      {5, 5},
	"log.eval_samples_93_epoch_1.json":                      {5, 5},
	"log.eval_samples_97_epoch_1.json":                      {5, 5},
	"log_message_deduplication.eval_samples_0_epoch_1.json": {5, 5},
	// Nothing but events, each with what a model was sent and put out.
	"timeline_fixtures_events_utility_bridge_wrapped.json": {1, 0},
	"timeline_fixtures_events_utility_subagent_loop.json":  {1, 0},
	// A span puts out a call without a type.
	"fixtures_expected_ai_sdk_tools.json": {2, 1},
	// A list of messages and a list of events, which the count does not find.
	"stage0_agents_gemini_large.json":                              {2, 2},
	"tests_strands_evals_extractors_fixtures_codex_exec_json.json": {1, 1},
	// Rows of inputs and outputs with single messages.
	"promptflow_tests_test_configs_datas_chat_history_with_tools.json": {5, 0},
	// An app's own envelope around records of a session, out of order.
	"happy-app_sources_sync___testdata___trace_0.json": {32, 32},
	// It counts a tool search for one that the provider runs.
	"stage0_agents_codex_small.jsonl": {6, 6},
	// A call's start is told before the message that requests it: one call.
	"copilot_schema_drift.jsonl": {1, 2},
	// A block that is tagged as another API's is none of pi's.
	"openclaw-parity_.openclaw_agents_myagent_sessions_test-sess-1.jsonl": {2, 0},
	// Calls without a function, as the tracing tool rewrites them, each put out by
	// a step and by the run.
	"vercel-aisdk-2025-11-17.chatml.json": {2, 0},
	// A simulation stands beside what its agent was sent.
	"tau2_data_example_rollouts.jsonl": {40, 40},
	// What a span put out is read too.
	"framework-traces_agno-2025-06-11.json":       {4, 2},
	"framework-traces_google-adk-2025-08-28.json": {4, 3},
	// Logs of events that the count does not read.
	"musecode_testdata_session-tools.jsonl": {5, 5},
	"dsh_bash-tool-turn.jsonl":              {1, 1},
	// The count takes what the chat shows, where a tool has called another one.
	"copilot_session_multiline.jsonl": {2, 2},
	// What a span put out stands alone in an attribute, as JSON text, or is spread
	// over several: the count reads lists.
	"vercel-aisdk-2025-11-17.trace.json":     {2, 0},
	"claude-agent-2025-12-22.trace.json":     {2, 0},
	"fixtures_claude_live_spans.json":        {3, 0},
	"fixtures_openinference_live_spans.json": {2, 0},
	// Uses of tools that an evaluation set expects, which the count does not read.
	"ecommerce_customer_service_agent_order_query.test.json": {7, 0},
	// Calls without a toolCallId, told by their id.
	"droid_stream_json_schema_drift.jsonl": {1, 1},
}

// explained are the files in which toolguard and the independent program differ, with the
// counts of toolguard.
var explained = map[string]defects{
	"tests_fixtures_replay_write_read_file.ultra.json":     {trailing: 2},
	"timeline_fixtures_events_utility_bridge_wrapped.json": {trailing: 1},
	"timeline_fixtures_events_utility_subagent_loop.json":  {trailing: 1},
	// The call that ends a run is never answered.
	"atif_fixtures_harbor_openhands.json": {},
	// The three calls of the last turn stand on three lines with one message
	// id: all are pending. The count takes each line for a message.
	"full-session-three.jsonl": {trailing: 3},
	// One record written twice with one uuid: one duplicate-record, and not a
	// duplicate result as well.
	"VibeCodingTracker__tests_fixtures_sessions_claude_code.jsonl": {},
	// A call and a result that both lack their id, one beside the other: they
	// pair by position, and what is wrong are the ids.
	"stage0_agents_claude_large.jsonl": {emptyID: 2},
	// One call without an id and two results without one: ambiguous-pairing.
	// Rows of inputs and outputs, in which the outputs are single messages: the
	// count does not read them.
	"datas_chat_history_with_tools.json": {trailing: 5},
	// Records share the uuid "[trimmed for fixture]", so that the call of line
	// 55 is a replay.
	"stage0_agents_claude_small.jsonl": {emptyID: 3},
	// Ids are replaced by "[trimmed for fixture]": a result of one call stands
	// before another, and is no second one of an earlier one's.
	"stage0_agents_codex_small.jsonl": {},
	// The turn of the last call was broken off, as its writer says.
	"codex_with_escalation.jsonl": {mid: 1},
	// All but one of the calls stand in turns that were aborted or failed, as
	// their writer says.
	"coding-agent_test_fixtures_before-compaction.jsonl": {mid: 1},
	"coding-agent_test_fixtures_large-session.jsonl":     {},
	// A result without an id, right behind the only call: they pair by position.
	"pi_agent_2025-12-01T10-00-00_pi-uuid-001.jsonl":                      {emptyID: 1},
	"openclaw-parity_.openclaw_agents_myagent_sessions_test-sess-1.jsonl": {mid: 2, emptyID: 2},
	// The start of a call and the request are one call.
	"copilot_schema_drift.jsonl": {orphan: 1},
	// Starts of calls that no message requests are not sent, and neither are their results.
	"tests_fixtures_sessions_copilot.jsonl":       {orphan: 2},
	"stage0_agents_copilot_large.jsonl":           {},
	"vercel-aisdk-2025-11-17.chatml.json":         {trailing: 2},
	"framework-traces_agno-2025-06-11.json":       {trailing: 2},
	"framework-traces_google-adk-2025-08-28.json": {trailing: 1},
	// What a span was sent and what it put out are one conversation, so that
	// calls of its input are not at the end. They have other ids than the results.
	"openai_agents_genai_live_spans.json": {mid: 7, trailing: 5, orphan: 7},
	"vercel-aisdk-2025-11-17.trace.json":  {trailing: 2},
	"claude-agent-2025-12-22.trace.json":  {trailing: 2},
	"fixtures_expected_ai_sdk_tools.json": {trailing: 1}, // its result is in the input of another span
	// An agent's span tells the calls of a run without their results.
	"fixtures_claude_live_spans.json":        {mid: 3},
	"fixtures_openinference_live_spans.json": {trailing: 2},
	// Results with neither an id nor a call: orphans that also lack an id.
	"framework-traces_koog-2025-08-26.json": {orphan: 4, emptyID: 4},
	// Records share the id "[trimmed for fixture]": the second result is a
	// replay.
	"stage0_agents_copilot_small.jsonl": {trailing: 1},
}

// strange are files of a format with records that no agent writes, or with messages only in
// strings or in single events.
var strange = map[string]bool{
	"codex-rollout/jazzyalex__agent-sessions__Resources_Fixtures_stage0_agents_codex_schema_drift.jsonl":                                true,
	"bedrock-stream/aws__amazon-q-developer-cli__crates_agent_tests_mock_responses_builtin_tools.jsonl":                                 true,
	"bedrock-stream/aws__amazon-q-developer-cli__crates_agent_tests_mock_responses_context_window_overflow.jsonl":                       true,
	"bedrock-stream/aws__amazon-q-developer-cli__crates_agent_tests_mock_responses_context_window_overflow.jsonl.v2":                    true,
	"otel/strands-agents__evals__tests_strands_evals_mappers_fixtures_autogen_live_spans.json":                                          true,
	"pydantic-ai-events/vstorm-co__pydantic-deepagents__apps_deepresearch_workspaces_47506bec-2ee8-4538-9225-e69769817d67_events.jsonl": true,
}

// TestCorpus compares every real transcript of the dialects with an independent count of its
// calls, results and pairing defects.
func TestCorpus(t *testing.T) {
	dir := corpusDir(t)
	var files, calls, results, others int
	for _, c := range corpus(t) {
		src, err := source.Open(t.Context(), filepath.Join(dir, c.path), 0)
		if err != nil {
			t.Fatal(err)
		}
		rep, err := Check(context.Background(), src, Options{})
		_ = src.Close()
		if err != nil {
			t.Errorf("%s: %v", c.path, err)
			continue
		}
		dialect, own := ownDialect[c.format]
		if !own {
			others++ // to be read without a crash, or refused
			continue
		}
		for suffix, d := range spelled {
			if strings.HasSuffix(c.path, suffix) {
				dialect = d
			}
		}
		for suffix, n := range unread {
			if strings.HasSuffix(c.path, suffix) {
				c.calls, c.results = n[0], n[1]
			}
		}
		if strange[c.path] {
			if rep.Skipped == "" {
				t.Errorf("%s: was read as %s", c.path, rep.File.Dialect)
			}
			continue
		}
		files++
		calls += rep.Calls
		results += rep.Results
		if rep.File.Dialect != dialect || rep.Skipped != "" {
			t.Errorf("%s: read as %q (%s), want %q", c.path, rep.File.Dialect, rep.Skipped, dialect)
		}
		if rep.Calls != c.calls || rep.Results != c.results {
			t.Errorf("%s: %d calls and %d results, the manifest has %d and %d", c.path, rep.Calls, rep.Results, c.calls, c.results)
		}
		var got defects
		for f := range rep.Findings.All() {
			switch f.Rule.Name {
			case "missing-tool-result":
				got.mid++
			case "pending-tool-call":
				got.trailing++
			case "orphan-tool-result":
				got.orphan++
			case "duplicate-tool-result":
				got.duplicate++
			case "missing-call-id":
				got.emptyID++
			}
		}
		want := c.oracle
		for suffix, d := range explained {
			if strings.HasSuffix(c.path, suffix) {
				want = d
			}
		}
		if got != want {
			t.Errorf("%s: defects %+v, want %+v", c.path, got, want)
		}
	}
	t.Logf("%d files of the dialects: %d calls, %d results; %d files of other formats", files, calls, results, others)
	if files < 100 {
		t.Errorf("only %d files compared", files)
	}
}
