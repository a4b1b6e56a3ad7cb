package engine

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/edit"

	"github.com/toolguard/toolguard/internal/detect"
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/transcript"
)

const (
	proofCall   = `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	proofResult = `{"role":"tool","tool_call_id":"c1","content":"recorded"}`
	proofUser   = `{"role":"user","content":"q"}`
)

// TestProve: each proof refuses a repair that breaks what it is there for, and
// lets pass what does not.
func TestProve(t *testing.T) {
	sound := proofUser + "\n" + proofCall + "\n" + proofResult + "\n"
	for _, c := range []struct {
		name, before, after string
		dropped             bool // an unsafe operation named the payload
		want                string
	}{
		{"nothing changed", sound, sound, false, ""},
		{"a payload is gone", sound, proofUser + "\n", false, "the result payload at byte"},
		{"a payload is cut", sound, strings.Replace(sound, "recorded", "record", 1), false, "the result payload at byte"},
		{"a payload is gone that was named", sound, proofUser + "\n", true, ""},
		{
			"a placeholder is gone", strings.Replace(sound, "recorded", "No result provided", 1), proofUser + "\n",
			false, "",
		},
		{
			"a payload is only escaped", strings.Replace(sound, "recorded", "a\nb", 1), strings.Replace(sound, "recorded", `a\nb`, 1),
			false, "",
		},
		{"a record is torn", sound, sound + `{"role":"user","con`, false, "0 records could not be read before, 1 after"},
		{
			"a rule finds more", sound, sound + strings.ReplaceAll(proofCall, "c1", "c2") + "\n" + proofUser + "\n",
			false, "missing-tool-result was found 0 times before and 1 times after",
		},
		{"it is no transcript any more", sound, `{"a":1}`, false, "no transcript any more"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx := context.Background()
			before := transcript.FromBytes("before", []byte(c.before))
			var f Fixed
			var err error
			if f.Pieces, err = edit.Apply(before, []edit.Edit{{Span: transcript.Span{End: before.Size()}, Text: []byte(c.after)}}); err != nil {
				t.Fatal(err)
			}
			after := f.Pieces.Source()
			if f.Before, err = Check(ctx, before, Options{}); err != nil {
				t.Fatal(err)
			}
			if f.After, err = Check(ctx, after, Options{}); err != nil {
				t.Fatal(err)
			}
			had, has := payloads{src: before}, payloads{src: after}
			for _, p := range []*payloads{&had, &has} {
				if _, err := detect.Read(p.src, detect.Options{}, func(c *transcript.Conversation) error { p.add(c); return nil }); err != nil && p == &had {
					t.Fatal(err)
				}
			}
			var named waiver
			for _, r := range had.list {
				if c.dropped {
					named.add(operation.Unsafe, r.at)
				}
			}
			err = prove(&f, &had, &has, &named)
			if c.want == "" {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			if proof, ok := errors.AsType[*ProofError](err); !ok || !strings.Contains(proof.Reason, c.want) {
				t.Errorf("got %v, want a proof that says %q", err, c.want)
			}
		})
	}
}
