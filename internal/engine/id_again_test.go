package engine

import "testing"

// TestIDAgain: in Gemini CLI's logs, a part of a later message can reuse an id that a state
// has answered. It then has a result of its own.
func TestIDAgain(t *testing.T) {
	t.Parallel()
	const text = `{"sessionId":"s","projectHash":"h","startTime":"2026-01-02T03:04:00.000Z"}
{"id":"m0","timestamp":"2026-01-02T03:04:00.000Z","type":"user","content":"look"}
{"id":"m1","timestamp":"2026-01-02T03:04:01.000Z","type":"gemini","content":"","toolCalls":[{"id":"ls-1","name":"ls","args":{},"status":"success","result":[{"functionResponse":{"id":"ls-1","name":"ls","response":{"output":"a"}}}]}]}
{"id":"m2","timestamp":"2026-01-02T03:04:02.000Z","type":"user","content":"again"}
{"id":"m3","timestamp":"2026-01-02T03:04:03.000Z","type":"gemini","content":[{"functionCall":{"id":"ls-1","name":"ls","args":{}}}]}
{"id":"m4","timestamp":"2026-01-02T03:04:04.000Z","type":"user","content":[{"functionResponse":{"id":"ls-1","name":"ls","response":{"output":"b"}}}]}
{"id":"m5","timestamp":"2026-01-02T03:04:05.000Z","type":"gemini","content":"done"}
{"id":"m6","timestamp":"2026-01-02T03:04:06.000Z","type":"user","content":"thanks"}
`
	rep := check(t, "id-again.jsonl", []byte(text), Options{})
	if rep.File.Dialect != "gemini-cli" || rep.Calls != 2 || rep.Results != 2 || faulty(rep) {
		t.Errorf("%s", render(rep))
	}
}
