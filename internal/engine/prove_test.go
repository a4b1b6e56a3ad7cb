package engine

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/source"
)

const (
	proofCall   = `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	proofResult = `{"role":"tool","tool_call_id":"c1","content":"recorded"}`
	// The client of the log skips the last line.
	tornLog = `{"timestamp":"t","type":"session_meta","payload":{"id":"s","cwd":"/w"}}
{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"q"}]}}
{"timestamp":"t","type":"resp`
	proofUser = `{"role":"user","content":"q"}`
)

// TestProve: each proof rejects the repairs it is for, and accepts others.
func TestProve(t *testing.T) {
	sound := proofUser + "\n" + proofCall + "\n" + proofResult + "\n"
	for _, c := range []struct {
		name, before, after string
		waived              bool // an unsafe operation changes it
		want                string
	}{
		{"nothing changed", sound, sound, false, ""},
		{"a result is gone", sound, proofUser + "\n", false, "change which call the result at byte"},
		{"a result is cut", sound, strings.Replace(sound, "recorded", "record", 1), false, "change which call the result at byte"},
		{"a result answers another call", sound, strings.Replace(sound, "{}", `{\"a\":1}`, 1), false, "change which call the result at byte"},
		{"a result is gone that an unsafe repair drops", sound, proofUser + "\n", true, ""},
		{
			"a placeholder is gone", strings.Replace(sound, "recorded", "No result provided", 1), proofUser + "\n",
			false, "",
		},
		{
			"a result is only escaped", strings.Replace(sound, "recorded", "a\nb", 1), strings.Replace(sound, "recorded", `a\nb`, 1),
			false, "",
		},
		{"a record is torn", sound, sound + `{"role":"user","con`, false, "make records unreadable (0 before, 1 after)"},
		{
			"a rule finds more", sound, sound + strings.ReplaceAll(proofCall, "c1", "c2") + "\n" + proofUser + "\n",
			false, "add missing-tool-result problems (0 before, 1 after)",
		},
		{
			"a warning becomes an error", tornLog, tornLog + "\n" + `{"timestamp":"t","type":"event_msg","payload":{"type":"x"}}`,
			false, "add invalid-json errors (0 before, 1 after)",
		},
		{"it is no transcript any more", sound, `{"a":1}`, false, "make the transcript unreadable"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx := context.Background()
			before := source.FromBytes("before", []byte(c.before))
			var f Fixed
			var err error
			if f.Pieces, err = edit.Apply(before, []edit.Edit{{Span: source.Span{End: before.Size()}, Text: []byte(c.after)}}); err != nil {
				t.Fatal(err)
			}
			waived := map[edit.Sum]bool{}
			look := func(src *source.Source) (*round, *Report) {
				r := &round{settler: &settler{did: map[ruleIn]bool{}}, last: true, waived: waived, facts: facts{src: src}}
				rep, err := newRoundChecker(src, Options{}, r).run(ctx)
				if err != nil {
					t.Fatal(err)
				}
				return r, rep
			}
			var was, is *round
			was, f.Before = look(before)
			is, f.After = look(f.Pieces.Source())
			if c.waived {
				err = was.facts.waive([]source.Span{was.facts.list[0].block}, waived)
				if err != nil {
					t.Fatal(err)
				}
			}
			err = prove(&f, was, is)
			if c.want == "" {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			var proof *ProofError
			if !errors.As(err, &proof) || !strings.Contains(proof.Reason, c.want) {
				t.Errorf("got %v, want a proof that says %q", err, c.want)
			}
		})
	}
}
