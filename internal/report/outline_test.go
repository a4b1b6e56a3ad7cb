package report

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/hostile"
	"github.com/toolguard/toolguard/internal/source"
)

// previewed returns the preview of all repairs of a text with its outline, "" if there are none.
func previewed(t *testing.T, name string, text []byte, opts Options) string {
	t.Helper()
	src := source.FromBytes(name, text)
	fix := engine.FixOptions{Unsafe: true}
	f, err := engine.Settle(t.Context(), src, fix)
	if err != nil || !f.Changed() {
		return ""
	}
	if err := opts.Outline(t.Context(), src, f, fix.Options); err != nil || !opts.outlined {
		t.Fatalf("%s: no outline: %v", name, err)
	}
	var b bytes.Buffer
	if err := Preview(&b, name, src, f, opts); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return b.String()
}

// TestPreviewFits: no line of the preview of any fixture is wider than the terminal, each repair
// is told, and each has something below its title.
func TestPreviewFits(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..", "testdata", "transcripts")
	n := 0
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, width := range []int{40, 80, 140} {
			out := previewed(t, "s.jsonl", text, Options{Width: width})
			if out == "" {
				return nil
			}
			n++
			if wide := widest(out); wide > width {
				t.Errorf("%s: %d of %d columns\n%s", path, wide, width, out)
			}
			for group := range strings.SplitSeq(out, "\n\n") {
				lines := strings.Split(strings.TrimRight(group, "\n"), "\n")
				last := lines[len(lines)-1]
				if title := strings.HasPrefix(lines[len(lines)-1], "s.jsonl:") || strings.HasPrefix(last, indent) && strings.HasSuffix(last, "]"); title && !strings.HasSuffix(out, group) {
					t.Errorf("%s: nothing below the title\n%s", path, group)
				}
			}
		}
		return nil
	})
	if err != nil || n < 300 {
		t.Errorf("%d previews, %v", n, err)
	}
}

// TestPreviewOutline: of messages on one line, a preview shows what is removed and added, with what
// is before and behind it; of other messages, the lines.
func TestPreviewOutline(t *testing.T) {
	t.Parallel()
	const call = `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]}`
	for _, tt := range []struct{ name, text, want string }{
		{
			"a result is inserted", `{"messages":[{"role":"user","content":"q"},` + call + `,{"role":"user","content":"well?"}]}`, `
      messages.1 call c1 ls "{}"
    + messages.2 result c1 [placeholder]
      messages.3 user "well?"
`,
		},
		{
			"a result is moved", `{"messages":[` + call + `,{"role":"user","content":"well?"},{"role":"tool","tool_call_id":"c1","content":"r"},{"role":"user","content":"n"}]}`, `
      messages.0 call c1 ls "{}"
    + messages.1 result c1 "r"
      messages.2 user "well?"
    - messages.2 result c1 "r"
      messages.3 user "n"
`,
		},
		{
			"a long text is cut", `{"messages":[{"role":"user","content":"q"},{"role":"tool","tool_call_id":"c0","content":"` + strings.Repeat("long ", 100) + `"},{"role":"user","content":"n"}]}`, `
      messages.0 user "q"
    - messages.1 result c0 "long long long long long long long long… (502 bytes)
    + messages.1 user "[toolguard] Result of an unknown tool (id c0… (564 bytes)
      messages.2 user "n"
`,
		},
		{
			"an indented element before another", `{"messages": [
  {
    "role": "user",
    "content": "q"
  },
  {
    "role": "assistant",
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}]
  },
  {
    "role": "user",
    "content": "n"
  }
]}`, `
   10 | +   {
   11 | +     "role": "tool",
   12 | +     "tool_call_id": "c1",
   13 | +     "content": "[toolguard] No result was recorded for this tool call…
   14 | +   },
   15 |     {
`,
		},
		{"a value", `{"model":"m","messages":[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","function":{"name":"ls","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"r"}]}`, "\n    1 | + \"type\":\"function\",\n"},
	} {
		got := previewed(t, "s", []byte(tt.text), Options{Width: 80})
		_, got, _ = strings.Cut(got, "]\n")
		if "\n"+got != tt.want {
			t.Errorf("%s:\n%s\nwant%s", tt.name, got, tt.want)
		}
	}
}

// TestPreviewHidesText: without excerpts, an outline has ids and names, and nothing that was said.
func TestPreviewHidesText(t *testing.T) {
	t.Parallel()
	const text = `{"messages":[{"role":"user","content":"secret1"},{"role":"assistant","content":"secret2","tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"a\":\"secret3\"}"}}]},{"role":"user","content":"secret4"},{"role":"tool","tool_call_id":"c0","content":"secret5"}]}`
	got := previewed(t, "s", []byte(text), Options{Width: 80, NoExcerpt: true})
	if strings.Contains(got, "secret") || !strings.Contains(got, "+ messages.2 result c1 [placeholder]") || !strings.Contains(got, "- messages.3 result c0\n") {
		t.Errorf("got\n%s", got)
	}
}

// TestPreviewObeysNothing: no text of a transcript gives orders to a terminal or a CI.
func TestPreviewObeysNothing(t *testing.T) {
	t.Parallel()
	for _, evil := range hostile.Texts() {
		raw, err := json.Marshal(evil)
		if err != nil {
			t.Fatal(err)
		}
		quoted := string(raw)
		text := `{"messages":[{"role":"user","content":` + quoted + `},{"role":"assistant","content":null,"tool_calls":[{"id":` + quoted + `,"type":"function","function":{"name":` + quoted + `,"arguments":"{}"}}]},{"role":"user","content":` + quoted + `}]}`
		for _, width := range []int{30, 80} {
			for _, color := range []bool{false, true} {
				got := previewed(t, "s", []byte(text), Options{Width: width, Color: color})
				if err := hostile.Obeyed(got, hostile.Allowed{Colors: color}); err != nil || got == "" {
					t.Errorf("%q: %v\n%q", evil, err, got)
				}
			}
		}
	}
}
