package transcript

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/source"
)

// TestStrays: what nobody reads is noted once for each name. Members from which
// something was read, names that the dialect knows, and what stands in a block
// are not.
func TestStrays(t *testing.T) {
	t.Parallel()
	c := &Conversation{}
	b := NewBuilder(c)
	b.OfTools = func(key source.Value) bool { return strings.HasPrefix(key.Str(), "t") }
	read := func(text string, known ...string) {
		v := source.NewValue([]byte(text), 0)
		since := c.Mark()
		b.Fields(v, nil, nil)
		b.Fields(v.Get("body"), nil, nil)
		b.Begin(v, v.Get("role"), RoleAssistant, "")
		for _, block := range v.Get("tcalls").Elements() {
			b.Fields(block, nil, nil)
			b.Call(block, Call{ID: TokenOf(block.Get("id"), block.Span())}, 0)
		}
		b.Strays(since, v, known)
	}
	read(`{"role":"a","tcalls":[{"id":"c1","tnote":"x"}],"told":"y","body":{"tin":"z"},"tknown":"x"}`, "tknown")
	read(`{"role":"a","told":"y"}`)
	want := []Stray{
		{Name: "told", Span: source.Span{Start: 54, End: 57}, N: 2},
		{Name: "tin", Span: source.Span{Start: 72, End: 75}, N: 1},
	}
	if diff := cmp.Diff(want, c.Strays); diff != "" {
		t.Errorf("strays (-want +got):\n%s", diff)
	}

	for i := range 100 {
		read(fmt.Sprintf(`{"role":"a","t%d":"y"}`, i))
	}
	if len(c.Strays) != mostStrays {
		t.Errorf("%d names are kept, want %d", len(c.Strays), mostStrays)
	}

	// An element that does not speak has none.
	b.Conv = &Conversation{}
	v := source.NewValue([]byte(`{"told":"y"}`), 0)
	b.Fields(v, nil, nil)
	b.Strays(b.Conv.Mark(), v, nil)
	if len(b.Conv.Strays) > 0 || len(b.candidates) > 0 {
		t.Errorf("%v, %v", b.Conv.Strays, b.candidates)
	}
}
