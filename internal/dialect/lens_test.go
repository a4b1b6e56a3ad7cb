package dialect

import (
	"testing"

	"github.com/toolguard/toolguard/internal/source"
)

func TestPath(t *testing.T) {
	v := source.NewValue([]byte(`{"a":{"b":1,"c":null},"d":[2,3,{"e":4}],"f":"5"}`), 0)
	for _, c := range []struct {
		path Lens
		want string
	}{
		{"f", `"5"`},
		{"a.b", "1"},
		{"a.c", "null"},
		{"x|a.b", "1"},
		{"a.c|a.b", "1"},
		{"a.c|x", "null"},
		{"d.#.e", "4"},
		{"d.#.x", ""},
		{"a.x|x", ""},
		{"f.x", ""},
		{"d.0", "2"},
		{"d.-1.e", "4"},
		{"d.3", ""},
		{"d.-4", ""},
		{"d.e", ""},
		{"a", `{"b":1,"c":null}`},
	} {
		if got := string(c.path.In(v).Raw()); got != c.want {
			t.Errorf("%s leads to %s, want %s", c.path, got, c.want)
		}
	}
	if got := Lens("").In(v); got.Span() != v.Span() {
		t.Errorf("the empty path leads to %s, want the value itself", got.Raw())
	}
	if n := testing.AllocsPerRun(100, func() { Lens("x|d.-1.e").In(v) }); n > 0 {
		t.Errorf("a lookup allocates %v times, want 0", n)
	}
}

func TestPathAlternatives(t *testing.T) {
	p := Lens("tool_calls|data.calls")
	if p.Nth(0) != "tool_calls" || p.Nth(1) != "data.calls" || p.Nth(2) != "data.calls" {
		t.Errorf("alternatives 0 to 2: %s, %s, %s", p.Nth(0), p.Nth(1), p.Nth(2))
	}
	if p.Nth(1).Key() != "calls" || p.Key() != "tool_calls" {
		t.Errorf("keys: %s, %s; want calls, tool_calls", p.Nth(1).Key(), p.Key())
	}
}
