package cli

import (
	"bytes"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard"
	apis "github.com/toolguard/toolguard/internal/provider"
)

// TestRepairs: without flags, the proxy repairs every history that can be repaired without losing a
// word, and leaves the others as they are.
func TestRepairs(t *testing.T) {
	t.Parallel()
	repairs, err := (&flags{}).repairs()
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range apis.Histories() {
		t.Run(h.API+"/"+h.Name, func(t *testing.T) {
			t.Parallel()
			api, err := apis.Find(h.API)
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
			out, _, err := toolguard.FixBytes(t.Context(), body, append(slices.Clone(repairs),
				toolguard.Request(), toolguard.Send(), toolguard.Dialect(dialect), toolguard.Target(target))...)
			if err != nil {
				t.Fatal(err)
			}
			if refused := len(api.Faults(out)) > 0; refused != h.Unsafe {
				t.Errorf("the repaired request is refused: %t, want %t\n%s", refused, h.Unsafe, out)
			}
			before, err := apis.Words(body)
			if err != nil {
				t.Fatal(err)
			}
			after, err := apis.Words(out)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("words are lost (-was +is)\n%s\n%s", diff, out)
			}
		})
	}
}

// TestStripped: with --strip-reasoning, each history that was accepted or can be repaired is accepted
// without its reasoning, and loses no other word.
func TestStripped(t *testing.T) {
	t.Parallel()
	repairs, err := (&flags{strip: true}).repairs()
	if err != nil {
		t.Fatal(err)
	}
	removed := 0
	for _, h := range apis.Histories() {
		api, err := apis.Find(h.API)
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
		out, fixed, err := toolguard.FixBytes(t.Context(), body, append(slices.Clone(repairs),
			toolguard.Request(), toolguard.Send(), toolguard.Dialect(dialect), toolguard.Target(target))...)
		if err != nil {
			t.Fatal(err)
		}
		if faults := api.Faults(out); len(faults) > 0 && !h.Unsafe {
			t.Errorf("%s/%s: refused: %v\n%s", h.API, h.Name, faults, out)
		}
		stripped := slices.ContainsFunc(fixed.Repairs, func(r toolguard.Repair) bool { return r.Rule == "replayed-reasoning" })
		if stripped {
			removed++
		}
		for _, sealed := range []string{`"thinking":"`, `"type":"reasoning"`, `"signature"`, `"rs_`} {
			if bytes.Contains(out, []byte(sealed)) {
				t.Errorf("%s/%s: %s is left: %s", h.API, h.Name, sealed, out)
			}
		}
	}
	if removed < 8 {
		t.Errorf("only %d histories have reasoning", removed)
	}
}
