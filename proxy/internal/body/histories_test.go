package body

import (
	"testing"
	"time"

	"github.com/toolguard/toolguard"
	"github.com/toolguard/toolguard/internal/provider"
)

// TestHistories: what is repaired by default is whatever makes a request valid without a word being
// lost, whatever else has to be repaired.
func TestHistories(t *testing.T) {
	t.Parallel()
	for _, h := range provider.Histories() {
		if h.Unsafe {
			continue
		}
		t.Run(h.API+"/"+h.Name, func(t *testing.T) {
			t.Parallel()
			api, err := provider.Find(h.API)
			if err != nil {
				t.Fatal(err)
			}
			body, err := h.Request()
			if err != nil {
				t.Fatal(err)
			}
			dialect, target := h.API, h.API
			switch h.API {
			case "openai-chat":
				target = "openai"
			case "kimi":
				dialect = "openai-chat"
			case "gemini-3":
				dialect = "gemini"
			}
			r := New(1<<20, time.Minute).Check(t.Context(), body, "", plenty(),
				toolguard.Request(), toolguard.Send(), toolguard.Dialect(dialect), toolguard.Target(target), toolguard.Allow(toolguard.Additive),
				toolguard.Strategy("orphan-tool-result", "text"), toolguard.AllowFor("orphan-tool-result", "misplaced-tool-result", "result-kind-mismatch"))
			if r.Outcome != Repaired {
				r.Body = body
			}
			if faults := api.Faults(r.Body); len(faults) > 0 {
				t.Errorf("the request is refused: %s\n%s", faults[0].Message, r.Body)
			}
		})
	}
}
