package transcript

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/source"
)

// TestStrays checks that fields that no dialect reads are recorded once per name. Fields
// that something was read from, known keys, and fields of blocks are not recorded.
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

	// An element without a message has no strays.
	b.Conv = &Conversation{}
	v := source.NewValue([]byte(`{"told":"y"}`), 0)
	b.Fields(v, nil, nil)
	b.Strays(b.Conv.Mark(), v, nil)
	if len(b.Conv.Strays) > 0 || len(b.candidates) > 0 {
		t.Errorf("%v, %v", b.Conv.Strays, b.candidates)
	}
}

// TestReadFrom checks that a value counts as read if it contains a span that was read, or
// if it is inside arguments or a payload.
func TestReadFrom(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	span := func() source.Span {
		start := 1 + rnd.Int64N(50)
		return source.Span{Start: start, End: start + 1 + rnd.Int64N(20)}
	}
	for range 2_000 {
		c := &Conversation{}
		b := NewBuilder(c)
		since := c.Mark()
		for range rnd.IntN(4) {
			c.Calls = append(c.Calls, Call{ID: Token{Span: span()}, Name: Token{Span: span()}, Args: span()})
			c.Results = append(c.Results, Result{ID: Token{Span: span()}, Payload: span()})
			c.Blocks = append(c.Blocks, Block{Span: span()})
			c.Copies = append(c.Copies, Copy{List: span(), ID: Token{Span: span()}})
			c.Aliases = append(c.Aliases, Alias{ID: Token{Span: span()}})
			b.texts = append(b.texts, Block{Span: span()})
		}
		list := b.readSince(since, nil)
		for range 10 {
			val := span()
			want := false
			in := func(spans ...source.Span) {
				for _, s := range spans {
					want = want || val.Contains(s) && !s.IsZero()
				}
			}
			for i := range c.Calls {
				in(c.Calls[i].ID.Span, c.Calls[i].Name.Span, c.Calls[i].Args, c.Results[i].ID.Span, c.Results[i].Name.Span, c.Results[i].Payload)
				in(c.Blocks[i].Span, c.Copies[i].List, c.Copies[i].Block, c.Copies[i].ID.Span, c.Copies[i].Name.Span, c.Aliases[i].ID.Span, b.texts[i].Span)
				want = want || c.Calls[i].Args.Contains(val) || c.Results[i].Payload.Contains(val)
			}
			if got := readFrom(list, val); got != want {
				t.Fatalf("%v in %v: %v, want %v", val, list, got, want)
			}
		}
	}
}
