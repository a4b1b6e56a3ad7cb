package provider

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard"
)

// TestHistories: an API refuses each history for the reason that is given, and accepts the sound
// ones. toolguard finds an error in exactly those that are refused, and its repair is accepted.
// It loses no word, and keeps the bytes of a sound request.
func TestHistories(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, h := range Histories() {
		if seen[h.API+h.Name] {
			t.Errorf("%s: two histories have the name %q", h.API, h.Name)
		}
		seen[h.API+h.Name] = true
		t.Run(h.API+"/"+h.Name, func(t *testing.T) {
			t.Parallel()
			api, err := Find(h.API)
			if err != nil {
				t.Fatal(err)
			}
			body, err := h.Request()
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if faults := api.Faults(body); len(faults) > 0 {
				got = faults[0].Message
			}
			if got != h.Refusal {
				t.Errorf("refused with %q\nexpected     %q", got, h.Refusal)
			}
			if sound := strings.HasPrefix(h.Name, "sound: "); sound != (h.Refusal == "") {
				t.Errorf("the name does not say whether the history is accepted")
			}
			options := []toolguard.Option{
				toolguard.Request(), toolguard.Send(), toolguard.Dialect(dialect(h.API)), toolguard.Target(target(h.API)),
				toolguard.Strategy("orphan-tool-result", "text"), toolguard.Allow(toolguard.Unsafe),
			}
			if h.Strategy != "" {
				rule, name, _ := strings.Cut(h.Strategy, "=")
				options = append(options, toolguard.Strategy(rule, name))
			}
			out, fixed, err := toolguard.FixBytes(t.Context(), body, options...)
			if err != nil {
				t.Fatal(err)
			}
			if h.Refusal == "" {
				if diff := cmp.Diff(string(body), string(out)); diff != "" {
					t.Errorf("a sound request has changed (-was +is)\n%s", diff)
				}
				return
			}
			if fixed.Before.Worst() != toolguard.Error {
				t.Errorf("toolguard finds no error: %+v", fixed.Before.Findings)
			}
			if faults := api.Faults(out); len(faults) > 0 {
				t.Errorf("the repaired request is refused: %s\n%s", faults[0].Message, out)
			}
			if diff := cmp.Diff(words(t, body), words(t, out)); diff != "" && !h.Unsafe {
				t.Errorf("words are lost (-was +is)\n%s\n%s", diff, out)
			}
		})
	}
}

func words(t *testing.T, body []byte) []string {
	t.Helper()
	out, err := Words(body)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func dialect(api string) string {
	switch api {
	case "kimi":
		return "openai-chat"
	case "gemini-3":
		return "gemini"
	}
	return api
}

func target(api string) string {
	if api == "openai-chat" {
		return "openai"
	}
	return api
}

// TestRefusal compares the bodies of refusals.
func TestRefusal(t *testing.T) {
	t.Parallel()
	f := Fault{Message: "m", Param: "p", Code: "c"}
	for name, want := range map[string]string{
		"anthropic":        `{"error":{"message":"m","type":"invalid_request_error"},"type":"error"}`,
		"openai-chat":      `{"error":{"code":"c","message":"m","param":"p","type":"invalid_request_error"}}`,
		"kimi":             `{"error":{"code":"c","message":"m","param":"p","type":"invalid_request_error"}}`,
		"openai-responses": `{"error":{"code":"c","message":"m","param":"p","type":"invalid_request_error"}}`,
		"gemini":           `{"error":{"code":400,"message":"m","status":"INVALID_ARGUMENT"}}`,
		"gemini-3":         `{"error":{"code":400,"message":"m","status":"INVALID_ARGUMENT"}}`,
	} {
		api, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(api.Refusal(f)); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if faults := api.Faults([]byte("[")); len(faults) != 1 || !strings.HasPrefix(faults[0].Message, "the body is not a JSON object: ") {
			t.Errorf("%s: %+v", name, faults)
		}
	}
	if _, err := Find("none"); err == nil || err.Error() != `no model API has the name "none"` {
		t.Error(err)
	}
}

// TestSignatures: an API notices that signed reasoning, or anything beside it in the latest
// message, is not what it was.
func TestSignatures(t *testing.T) {
	t.Parallel()
	api, err := Find("anthropic")
	if err != nil {
		t.Fatal(err)
	}
	const latest = "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response."
	whole := signed(`[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":""},{"type":"text","text":"a"},{"type":"text","text":"b"}]}]`)
	for _, test := range []struct{ name, messages, want string }{
		{"as it was", whole, ""},
		{"other reasoning", strings.Replace(whole, `"thinking":"t"`, `"thinking":"u"`, 1), "messages.1.content.0: Invalid `signature` in `thinking` block"},
		{"another block", strings.Replace(whole, `"text":"a"`, `"text":"c"`, 1), latest},
		{"a block less", strings.Replace(whole, `{"text":"a","type":"text"},`, "", 1), latest},
		{"another block, later", strings.TrimSuffix(strings.Replace(whole, `"text":"a"`, `"text":"c"`, 1), "]") + `,{"role":"user","content":"q"},{"role":"assistant","content":"d"}]`, ""},
	} {
		if !json.Valid([]byte(test.messages)) {
			t.Fatalf("%s: %s", test.name, test.messages)
		}
		got := ""
		if faults := api.Faults([]byte(`{"messages":` + test.messages + `}`)); len(faults) > 0 {
			got = faults[0].Message
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestFixtures: the APIs accept the histories of their dialects that have no faults, except for those
// that programs do not send as they keep them.
func TestFixtures(t *testing.T) {
	t.Parallel()
	kept := []string{
		"anthropic/roo-condensed.json", "anthropic/system-role.json",
		"openai-chat/ag-ui-snapshot.json", "openai-chat/agent-role.json", "openai-chat/calls-in-kwargs.json", "openai-chat/flat-calls.json",
		"openai-chat/http-recordings.json", "openai-chat/mistral-object-arguments.json", "openai-chat/ollama-bare-object-arguments.json",
		"openai-chat/ollama-request-object-arguments.json", "openai-chat/trajectories.json",
		"openai-responses/camel-case.json",
	}
	n := 0
	for _, name := range []string{"anthropic", "openai-chat", "openai-responses", "gemini"} {
		api, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		paths, err := filepath.Glob(filepath.Join("..", "..", "testdata", "transcripts", name, "ok", "*.json"))
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: expected fixtures: %v", name, err)
		}
		for _, path := range paths {
			body := requestOf(t, api, path)
			if body == nil {
				continue
			}
			faults := api.Faults(body)
			if isKept := slices.Contains(kept, name+"/"+filepath.Base(path)); isKept != (len(faults) > 0) {
				t.Errorf("%s: refused with %+v", path, faults)
			}
			n++
		}
	}
	if n < 40 {
		t.Errorf("%d fixtures have a history, want 40", n)
	}
}

// requestOf returns the body of a request with the history in a file, or nil if it has none.
func requestOf(t *testing.T, api *API, path string) []byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var o object
	if json.Unmarshal(raw, &o) != nil {
		var l []any
		if json.Unmarshal(raw, &l) != nil {
			return nil
		}
		o = object{api.Field(): l}
	}
	if list(o[api.Field()]) == nil {
		return nil
	}
	if api.Name == "anthropic" {
		messages, err := json.Marshal(o["messages"])
		if err != nil {
			t.Fatal(err)
		}
		resigned, err := Sign(messages)
		if err != nil {
			t.Fatal(err)
		}
		o["messages"] = json.RawMessage(resigned)
	}
	body, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return body
}
