package engine

import (
	"slices"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/profile"
)

// TestDroppedAnew: a repair that removes text which an earlier one rewrote names the original
// place. Nothing is removed as the copy of something that is removed too.
func TestDroppedAnew(t *testing.T) {
	const orphan = `{"type":"tool_result","tool_use_id":"t9","content":"x"}`
	for _, tt := range []struct {
		name, text, target, out string
		want                    []string
	}{
		{
			"a block that came with a merge", `{"messages":[{"role":"user","content":"a"},{"role":"user","content":[{"type":"text","text":"","created":"IMPORTANT"}]}]}`, "bedrock",
			`{"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}]}`,
			[]string{`"text","text":"","created":"IMPORTANT"`},
		},
		{
			"a number beside an empty text", `[{"role":"user","contents":[{"$type":"text","text":"a"}]},{"role":"user","contents":[{"$type":"text","text":"\n","human_label":77}]}]`, "bedrock",
			`[{"role":"user","contents":[{"$type":"text","text":"a"}]}]`,
			[]string{`"text","text":"\n","human_label":77`},
		},
		{
			"a result of which bytes were replaced before", `[{"role":"user"},{"role":"user","content":[{"content":"fetched\ud83d","type":"tool_result"}]}]`, "vllm",
			`[]`,
			[]string{`\ud83d`, `"fetched\ud83d","type":"tool_result"`},
		},
		{
			"two copies of a record, from both of which something goes",
			userLine("u1", "null", "go", 1) + resultLine("r1", "u1", "t9", 2) + resultLine("r1", "u1", "t9", 2), "",
			userLine("u1", "null", "go", 1) + strings.Replace(resultLine("r1", "u1", "t9", 2), orphan, "", 1),
			[]string{orphan, orphan},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			opts := FixOptions{Options: Options{Send: true, Target: profile.ByName(tt.target), Strategy: map[string]string{"orphan-tool-result": "drop"}}, Unsafe: true}
			if strings.HasPrefix(tt.text, `{"messages"`) { // nothing else tells
				opts.Dialect = dialect.Anthropic
			}
			out, f, err := repaired([]byte(tt.text), opts)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range f.Repairs {
				for _, s := range r.Dropped {
					got = append(got, tt.text[s.Start:s.End])
				}
			}
			if string(out) != tt.out || !slices.Equal(got, tt.want) {
				t.Errorf("%+v: dropped %q, want %q\n%s", f.Repairs, got, tt.want, out)
			}
		})
	}
}

// TestDroppedBytes: a repair of bytes that removes content names the content.
func TestDroppedBytes(t *testing.T) {
	const (
		call   = `{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}` + "\n"
		answer = `{"role":"tool","tool_call_id":"a","content":"r"}` + "\n"
	)
	tests := []struct {
		name, last string
		want       []string
	}{
		{"glued-records", `{"role":"user","content":"torn IMPOR{"role":"user","content":"x"}`, []string{`{"role":"user","content":"torn IMPOR`}},
		{"invalid-utf8", "{\"role\":\"user\",\"content\":\"a\xff\xfe b \xff\"}", []string{"\xff\xfe", "\xff"}},
		{"lone-surrogate", `{"role":"user","content":"a\ud83d b"}`, []string{`\ud83d`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := call + answer + tt.last + "\n"
			_, f, err := repaired([]byte(text), FixOptions{Unsafe: true})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range f.Repairs {
				for _, s := range r.Dropped {
					got = append(got, text[s.Start:s.End])
				}
			}
			if len(f.Repairs) != 1 || f.Repairs[0].Rule != tt.name || !slices.Equal(got, tt.want) {
				t.Errorf("%+v: dropped %q, want %q", f.Repairs, got, tt.want)
			}
		})
	}
}
