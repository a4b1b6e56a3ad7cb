// Command upstream is the model APIs, for tests: behind a path for each, such as
// /anthropic/v1/messages, it refuses what they refuse and answers all else. It prints its address and
// ends with its input.
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"

	"github.com/toolguard/toolguard/internal/provider"
)

func main() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, "upstream:", err)
		os.Exit(1)
	}
	fmt.Printf("http://%s\n", l.Addr())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		l.Close()
	}()
	_ = http.Serve(l, http.HandlerFunc(serve)) // it ends when l is closed
}

func serve(w http.ResponseWriter, r *http.Request) {
	name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	api, err := provider.Find(name)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	w.Header().Set("Content-Type", "application/json")
	if faults := api.Faults(body); len(faults) > 0 {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write(api.Refusal(faults[0]))
		return
	}
	_, _ = io.WriteString(w, answers[strings.TrimSuffix(name, "-3")])
}

// answers are what the models say.
var answers = map[string]string{
	"anthropic":        `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"fine"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}`,
	"openai-chat":      `{"id":"c1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"fine"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`,
	"openai-responses": `{"id":"resp_1","object":"response","created_at":1,"status":"completed","model":"m","output":[{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"fine","annotations":[]}]}],"usage":{"input_tokens":1,"input_tokens_details":{"cached_tokens":0},"output_tokens":1,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":2}}`,
	"gemini":           `{"candidates":[{"index":0,"content":{"role":"model","parts":[{"text":"fine"}]},"finishReason":"STOP"}]}`,
}
