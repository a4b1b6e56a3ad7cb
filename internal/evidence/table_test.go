package evidence

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/source"
)

// chat is evidence of all kinds.
func chat() *Table {
	return NewTable(
		None.If("!role:string"),
		Decisive.If().Any("calls.*", "name:string", "args:any").ByList(),
		Decisive.If().Any("content|parts", "type=tool_use|call_*", "id|name"),
		Decisive.If("tool_id", "role=tool"),
		None.If("role=tool"),
		Weak.If("role:string", Tools),
		Weak.If("role:string").Any("content", Tools),
		Shared.If("role:string").Any("content", "type=thinking").No("content", "type=image"),
		Decisive.If("origin:object", "origin.app=acme").Shown("app"),
		Plain.If("role:string", "content:any").Alike(),
	).Knows("tool_hint")
}

func TestTable(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text   string
		weight Weight
		sign   string
	}{
		{`[]`, None, ""},
		{`{"content":"x"}`, None, ""},
		{`{"role":"user","content":"x"}`, Plain, `role "user"`},
		{`{"content":null,"role":"user"}`, Plain, `role "user"`},
		{`{"role":"a","calls":[7,{"name":"f","args":null}]}`, Decisive, "calls"},
		{`{"role":"a","calls":{"0":{"name":"f","args":{}}}}`, Decisive, "calls"},
		{`{"role":"a","calls":{"name":"f","args":{}}}`, None, ""},
		{`{"role":"a","content":[{"type":"text"},{"type":"tool_use","name":"f"},{"type":"call_x","id":"1"}]}`, Decisive, `type "tool_use"`},
		{`{"role":"a","parts":[{"type":"call_x","id":"1"}]}`, Decisive, `type "call_x"`},
		{`{"role":"a","content":{"type":"call_x","id":"1"}}`, Plain, `role "a"`},
		{`{"role":"tool","tool_id":"1","content":"x"}`, Decisive, "tool_id"},
		{`{"role":"tool","content":"x"}`, None, ""},
		{`{"role":"a","content":"x","toolRuns":[1]}`, Weak, `role "a"`},
		{`{"role":"a","content":"x","toolRuns":[]}`, Plain, `role "a"`},
		{`{"role":"a","content":"x","tool_hint":"y"}`, Plain, `role "a"`},
		{`{"role":"a","content":[{"type":"tool_x"}]}`, Weak, `role "a"`},
		{`{"role":"a","content":[{"type":"thinking"}]}`, Shared, `role "a"`},
		{`{"role":"a","content":[{"type":"thinking"},{"type":"image"}]}`, Plain, `role "a"`},
		{`{"role":"a","origin":{"app":"acme"}}`, Decisive, "app"},
		{`{"role":"user","role":7,"content":"x"}`, Plain, `role "user"`}, // the first of two members of a name counts
		{`{"\u0072ole":"user","content":"x"}`, Plain, `role "user"`},
	} {
		weight, sign := chat().Weigh(source.NewValue([]byte(test.text), 0))
		if weight != test.weight || weight > None && sign.String() != test.sign {
			t.Errorf("%s: %d %s", test.text, weight, sign)
		}
	}
}

// TestKeywords: of each row that is no other's, what occurs wherever it holds.
func TestKeywords(t *testing.T) {
	t.Parallel()
	role := Keywords{"role"}
	want := [][]Keywords{
		{role, {"calls"}},
		{role, {"content", "parts"}, {"type"}, {"id", "name"}},
		{role, {"tool_id"}, role, {"tool"}},
		{role, role},
		{role, role, {"content"}},
		{role, role, {"content"}, {"type"}, {"thinking"}},
		{role, {"origin"}, {"origin"}, {"app"}, {"acme"}},
	}
	if diff := cmp.Diff(want, chat().Keywords()); diff != "" {
		t.Errorf("keywords (-want +got):\n%s", diff)
	}
}
