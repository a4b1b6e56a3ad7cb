package evidence

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/source"
)

// chat returns a table with all kinds of evidence.
func chat() *Table {
	return &Table{Rows: []string{
		"none if !role:string",
		"decisive if any calls.* has name:string and args:any, shown by list",
		"decisive if any content|parts has type=tool_use|call_* and id|name",
		"decisive if tool_id and role=tool",
		"none if role=tool",
		"weak if role:string and @tools",
		"weak if role:string and any content has @tools",
		"shared if role:string and any content has type=thinking and no content has type=image",
		"decisive if origin:object and origin.app=acme, shown as app",
		"plain if role:string and content:any, alike",
	}, Knows: []string{"tool_hint"}}
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
		{`{"role":"user","role":7,"content":"x"}`, Plain, `role "user"`}, // the first of two fields with the same key counts
		{`{"\u0072ole":"user","content":"x"}`, Plain, `role "user"`},
	} {
		weight, sign := chat().Weigh(source.NewValue([]byte(test.text), 0), false)
		if weight != test.weight || weight > None && sign.String() != test.sign {
			t.Errorf("%s: %d %s", test.text, weight, sign)
		}
	}
}

// TestKeywords checks the keywords of each row that is evidence for the dialect.
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
	if diff := cmp.Diff(want, chat().Keywords(false)); diff != "" {
		t.Errorf("keywords (-want +got):\n%s", diff)
	}
}

// TestBadRows checks that a table with an invalid row panics.
func TestBadRows(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "decisive", "certain if role", "weak if ", "weak if role and", "weak if any content type", "weak if all content has type",
		"weak if role content", "weak if role, loud", "weak if any content has type, shown",
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q is a row", text)
				}
			}()
			(&Table{Rows: []string{text}}).Weigh(source.NewValue([]byte("{}"), 0), false)
		}()
	}
}
