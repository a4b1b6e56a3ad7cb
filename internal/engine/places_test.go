package engine

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/profile"
)

// TestPlaces: text after a call stays after the call and its result, whatever order of roles
// the provider requires. If two results answer one call, the recorded one stays.
func TestPlaces(t *testing.T) {
	for _, x := range []struct {
		name, in, want string
		opts           FixOptions
	}{
		{
			"Gemini: the result stood before its call, words behind it",
			`{"contents":[{"role":"user","parts":[{"text":"hi"}]},
{"role":"user","parts":[{"functionResponse":{"id":"a","name":"ls","response":{"r":1}}}]},
{"role":"model","parts":[{"functionCall":{"id":"a","name":"ls","args":{}}}]},
{"role":"model","parts":[{"text":"There is one."}]},
{"role":"user","parts":[{"text":"thanks"}]}]}`,
			`{"contents":[{"role":"user","parts":[{"text":"hi"}]},
{"role":"model","parts":[{"functionCall":{"id":"a","name":"ls","args":{}}}]},
{"role":"user","parts":[{"functionResponse":{"id":"a","name":"ls","response":{"r":1}}}]},
{"role":"model","parts":[{"text":"There is one."}]},
{"role":"user","parts":[{"text":"thanks"}]}]}`,
			FixOptions{},
		},
		{
			"Bedrock wants turns to alternate: nothing is merged before the result is there",
			`{"messages":[{"role":"user","content":[{"text":"hi"}]},
{"role":"assistant","content":[{"toolUse":{"toolUseId":"t1","name":"ls","input":{}}}]},
{"role":"assistant","content":[{"text":"There is one."}]},
{"role":"user","content":[{"text":"thanks"}]},
{"role":"user","content":[{"toolResult":{"toolUseId":"t1","content":[{"text":"one"}]}}]}]}`,
			`{"messages":[{"role":"user","content":[{"text":"hi"}]},
{"role":"assistant","content":[{"toolUse":{"toolUseId":"t1","name":"ls","input":{}}}]},
{"role":"user","content":[{"toolResult":{"toolUseId":"t1","content":[{"text":"one"}]}}]},
{"role":"assistant","content":[{"text":"There is one."}]},
{"role":"user","content":[{"text":"thanks"}]}]}`,
			FixOptions{Options: Options{Send: true}},
		},
		{
			"a call without a result holds its message apart where nothing may be put in",
			`{"model":"claude","max_tokens":9,"messages":[{"role":"user","content":"q"},
{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"ls","input":{}}]},
{"role":"assistant","content":[{"type":"text","text":"going on"}]},
{"role":"user","content":"thanks"}]}`,
			`{"model":"claude","max_tokens":9,"messages":[{"role":"user","content":"q"},
{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"ls","input":{}}]},
{"role":"assistant","content":[{"type":"text","text":"going on"}]},
{"role":"user","content":"thanks"}]}`,
			FixOptions{SafeOnly: true, Options: Options{Target: profile.ByName("bedrock")}},
		},
		{
			"the placeholder of this run gives way to what was recorded",
			`[{"role":"user","content":"hi"},
{"role":"assistant","content":null,"tool_calls":[{"id":"c2","type":"function","function":{"name":"ls","arguments":"{}"}}]},
{"role":"tool","tool_call_id":"c2","content":"lost ls c2"},
{"role":"tool","tool_call_id":"c2","content":"real"},
{"role":"user","content":"hi"}]`,
			`[{"role":"user","content":"hi"},
{"role":"assistant","content":null,"tool_calls":[{"id":"c2","type":"function","function":{"name":"ls","arguments":"{}"}}]},
{"role":"tool","tool_call_id":"c2","content":"real"},
{"role":"user","content":"hi"}]`,
			FixOptions{Options: Options{Placeholder: "lost {tool} {id}"}},
		},
		{
			"a call and its result in messages of the wrong role become text once",
			`{"model":"claude","max_tokens":9,"messages":[{"role":"user","content":"hi"},
{"role":"user","content":[{"type":"tool_use","id":"t1","name":"ls","input":{}}]},
{"role":"assistant","content":[{"type":"tool_result","tool_use_id":"t1","content":"out"}]},
{"role":"user","content":"hi"}]}`,
			`{"model":"claude","max_tokens":9,"messages":[{"role":"user","content":"hi"},
{"role":"user","content":[{"type":"text","text":"[toolguard] Call to ls (id t1), kept as text:\n{}"}]},
{"role":"assistant","content":[{"type":"text","text":"[toolguard] Result of ls (id t1), kept as text:\nout"}]},
{"role":"user","content":"hi"}]}`,
			FixOptions{Unsafe: true, Options: Options{Strategy: map[string]string{"block-in-wrong-role": "text"}}},
		},
		{
			"the text of a call goes where its message has its content, and not beside what holds it",
			`[{"type":"human","data":{"content":"hi"}},
{"type":"ai","data":{"tool_calls":[{"name":"ls","args":{},"id":"c1","type":"tool_call"},{"name":"cd","args":{},"id":"c2","type":"tool_call"}]}},
{"type":"tool","data":{"tool_call_id":"c1","name":"ls","content":"out"}},
{"type":"ai","data":{"content":"done"}}]`,
			`[{"type":"human","data":{"content":"hi"}},
{"type":"ai","data":{"content":"[toolguard] Call to cd (id c2), kept as text:\n{}","tool_calls":[{"name":"ls","args":{},"id":"c1","type":"tool_call"}]}},
{"type":"tool","data":{"tool_call_id":"c1","name":"ls","content":"out"}},
{"type":"ai","data":{"content":"done"}}]`,
			FixOptions{Unsafe: true, Options: Options{Strategy: map[string]string{"missing-tool-result": "text"}}},
		},
	} {
		t.Run(x.name, func(t *testing.T) {
			out, _, err := repaired([]byte(x.in), x.opts)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(x.want, string(out)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// TestParentsMakeNoCircle: no repair makes a circle of parents, in whatever order the records
// are and however many parents are lost.
func TestParentsMakeNoCircle(t *testing.T) {
	relinked := 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 11))
		n := 3 + r.IntN(12)
		lines := make([]string, n)
		for i := range lines {
			parent := "null"
			switch {
			case i > 0 && r.IntN(3) == 0:
				parent = fmt.Sprintf(`"lost%d"`, i)
			case i > 0:
				parent = fmt.Sprintf(`"u%d"`, r.IntN(i))
			}
			lines[i] = fmt.Sprintf(`{"type":"user","uuid":"u%d","parentUuid":%s,"sessionId":"s","message":{"role":"user","content":"text %d"}}`, i, parent, i)
		}
		r.Shuffle(n, func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		in := strings.Join(lines, "\n") + "\n"
		out, f, err := repaired([]byte(in), FixOptions{Unsafe: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range f.Repairs {
			if x.Kind == (*operation.RelinkRecord)(nil).Kind() {
				relinked++
			}
		}
		parents := map[string]string{}
		for line := range strings.Lines(string(out)) {
			var rec struct{ UUID, ParentUUID string }
			if err := json.Unmarshal([]byte(line), &rec); err != nil {
				t.Fatal(err)
			}
			parents[rec.UUID] = rec.ParentUUID
		}
		for id := range parents {
			at := id
			for range n + 1 {
				at = parents[at]
			}
			if at != "" {
				t.Fatalf("seed %d: the parents of %s lead in a circle\n%s->\n%s", seed, id, in, out)
			}
		}
	}
	if relinked < 400 {
		t.Errorf("only %d records got a parent", relinked)
	}
}
