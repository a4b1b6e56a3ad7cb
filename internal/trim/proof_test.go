package trim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// spoken builds a history: s, u and a are messages of the system, the user and the assistant, R
// is a message with only reasoning, S a signed one, c1 has the call 1, and r1 its result. A word
// after a plus sign belongs to the turn before it.
func spoken(script string) *History {
	c, paired := &transcript.Conversation{}, pairing.Pairing{}
	calls := map[string]int32{}
	for word := range strings.FieldsSeq(script) {
		word, joins := strings.CutPrefix(word, "+")
		if !joins {
			c.Turns++
		}
		m := transcript.Message{Turn: int32(c.Turns - 1), BlockLo: int32(len(c.Blocks)), Role: transcript.RoleAssistant}
		b := transcript.Block{Message: int32(len(c.Messages))}
		id := word[1:]
		switch word[0] {
		case 's':
			m.Role = transcript.RoleSystem
		case 'u':
			m.Role = transcript.RoleUser
		case 'R':
			b.Kind = transcript.BlockReasoning
		case 'S':
			b.Kind, b.Flags = transcript.BlockReasoning, transcript.BlockSigned
		case 'c':
			b.Kind, b.Ref = transcript.BlockCall, int32(len(c.Calls))
			calls[id] = b.Ref
			c.Calls = append(c.Calls, transcript.Call{Message: b.Message})
			paired.Calls = append(paired.Calls, pairing.Exchange{Result: -1})
		case 'r':
			m.Role = transcript.RoleTool
			b.Kind, b.Ref = transcript.BlockResult, int32(len(c.Results))
			paired.Calls[calls[id]].Result = b.Ref
			c.Results = append(c.Results, transcript.Result{Message: b.Message})
			paired.Results = append(paired.Results, pairing.Leftover{Call: calls[id], Fate: pairing.Answers})
		}
		c.Blocks = append(c.Blocks, b)
		m.BlockHi = int32(len(c.Blocks))
		c.Messages = append(c.Messages, m)
	}
	return NewHistory(c, paired, profile.ByName("openai"), 0)
}

// TestTies checks that messages that belong together have no boundary between them.
func TestTies(t *testing.T) {
	for script, want := range map[string][]int{
		"u a u a":                {0, 2},
		"u c1 r1 c2 r2 a":        {0, 3, 5},
		"u c1 +c2 r1 r2 c3 r3 a": {0, 5, 7},
		"u c1 c2 r1 r2 a":        {0, 5},
		"u R a u":                {0, 3},
		"u a +a a u":             {0, 3, 4},
	} {
		h := spoken(script)
		var got []int
		for i := range h.Len() {
			if h.is(i, Pair) {
				got = append(got, i)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: boundaries %v, want %v", script, got, want)
		}
	}
}

// TestBreach checks that a wrong cut is found, whatever Choose thinks of it.
func TestBreach(t *testing.T) {
	loop := "s u c1 r1 a u c2 +c3 r2 r3 a u a"
	for _, c := range []struct {
		script      string
		head, index int
		req         Request
		pinned      string // the pinned messages
		want        string
	}{
		{loop, 0, 5, Request{KeepLast: 8}, "0", ""},
		{loop, 0, 5, Request{KeepLast: 8}, "", "drop the system prompt"},
		{loop, 0, 5, Request{KeepLast: 9}, "0", "drop messages.4 of 13, one of the last 9"},
		{loop, 0, 5, Request{KeepLast: 9, Newer: true}, "0", ""},
		{loop, 0, 11, Request{KeepLastUser: 2}, "0", "drop messages.5 of 13, which follows the last user messages"},
		{loop, 0, 11, Request{Pin: 2}, "0", "drop messages.1, one of the first 2"},
		{loop, 0, 3, Request{}, "0", "part the result in messages.3 from its call"},
		{loop, 0, 5, Request{}, "0 2", "part the result in messages.3 from its call"},
		{loop, 0, 7, Request{Boundary: Pair}, "0", "part the result in messages.8 from its call"},
		{"u c1 +a r1 u", 0, 2, Request{Boundary: Pair}, "", "part the result in messages.3 from its call"},
		{"u a +a u", 0, 2, Request{Boundary: Pair}, "", "part messages.2 from the rest of its turn"},
		{"u R a u", 0, 2, Request{Boundary: Loop}, "", "part messages.2 from its reasoning"},
		{"u R a u", 2, 3, Request{KeepFirst: 2}, "", "part messages.2 from its reasoning"},
		{loop, 0, 10, Request{}, "0", "leave messages.10 first, which no human typed"},
		{loop, 0, 10, Request{Boundary: Loop}, "0", ""},
		{"u a c1 S r1 c2 r2 u", 0, 5, Request{Boundary: Pair}, "", "cut through the signed reasoning around messages.3"},
		{"u a c1 r1 c2 S r2 u", 0, 4, Request{Boundary: Pair}, "", "cut through the signed reasoning around messages.5"},
		{"u S u c1 r1 c2 r2 u S", 0, 5, Request{Boundary: Pair}, "", ""},
		{loop, 5, 11, Request{KeepFirst: 4}, "0", "keep the first 5 messages instead of 4"},
		{loop, 5, 11, Request{KeepFirst: 5}, "0", ""},
	} {
		h := spoken(c.script)
		clear(h.pinned)
		for i := range strings.FieldsSeq(c.pinned) {
			n, err := strconv.Atoi(i)
			if err != nil {
				t.Fatal(err)
			}
			h.pinned[n] = true
		}
		if got := h.Breach(&c.req, Cut{Head: c.head, Index: c.index}); got != c.want {
			t.Errorf("%s from %d to %d with %+v: %q, want %q", c.script, c.head, c.index, c.req, got, c.want)
		}
	}
	h := spoken("u a u a")
	for i := range h.conv.Messages {
		h.conv.Messages[i].Segment = int32(i / 2)
	}
	if got := h.Breach(&Request{}, Cut{Index: 4}); got != "drop the summary of the last compaction" {
		t.Errorf("of a compaction: %q", got)
	}
}

// TestShortenBreach checks that a wrong cut of a text is found.
func TestShortenBreach(t *testing.T) {
	text := strings.Repeat("x", 300) + `\\\u00e9\ud83d\ude00é` + strings.Repeat("y", 300)
	payload := `[{"type":"text","text":"` + text + `"}]`
	start := strings.Index(payload, text)
	bad := func(from, to int, with string) string {
		if with == "" {
			with = label(int64(to-from), int64(len(text)))
		}
		at := func(i int) int64 { return int64(1000 + start + i) }
		return ShortenBreach([]byte(payload), 1000, []edit.Edit{{Span: source.Span{Start: at(from), End: at(to)}, Text: []byte(with)}}, 400)
	}
	inside := func(from, to int) string {
		return fmt.Sprintf("cut bytes %d to %d inside of a character", 1000+start+from, 1000+start+to)
	}
	outside := func(from, to int) string {
		return fmt.Sprintf("change bytes %d to %d, which are not in a text of a result", 1000+start+from, 1000+start+to)
	}
	for _, c := range []struct {
		from, to int
		label    string
		want     string
	}{
		{200, 500, "", ""},
		{302, 600, "", ""},
		{308, 600, "", ""},
		{320, 600, "", ""},
		{322, 600, "", ""},
		{0, 500, "", ""},
		{200, len(text), "", ""},
		{301, 600, "", inside(301, 600)}, // \\
		{303, 600, "", inside(303, 600)}, // \u00e9
		{306, 600, "", inside(306, 600)},
		{314, 600, "", inside(314, 600)}, // between surrogates
		{321, 600, "", inside(321, 600)}, // é
		{10, 301, "", inside(10, 301)},
		{10, 314, "", inside(10, 314)},
		{-1, 500, "", outside(-1, 500)},
		{200, len(text) + 1, "", outside(200, len(text)+1)},
		{-20, -10, "", outside(-20, -10)},
		{-8, -5, "", outside(-8, -5)}, // a key
		{len(text) + 2, len(text) + 3, "", outside(len(text)+2, len(text)+3)},
		{200, 500, "[toolguard] 301 of 622 bytes of this result were cut.", `put "[toolguard] 301 of 622 bytes of this result were cut." for 300 of 622 bytes of a result`},
		{200, 500, "x", `put "x" for 300 of 622 bytes of a result`},
		{200, 475, "", ""},
		{200, 474, "", "leave 401 of 622 bytes of a result"},
		{200, 210, "", "leave 664 of 622 bytes of a result"},
	} {
		if got := bad(c.from, c.to, c.label); got != c.want {
			t.Errorf("%d to %d: %q, want %q", c.from, c.to, got, c.want)
		}
	}
	two := []edit.Edit{
		{Span: source.Span{Start: int64(start), End: int64(start + 300)}, Text: []byte(label(300, int64(len(text))))},
		{Span: source.Span{Start: int64(start + 322), End: int64(start + 622)}, Text: []byte(label(300, int64(len(text))))},
	}
	if got := ShortenBreach([]byte(payload), 0, two, 400); !strings.HasSuffix(got, "which are not in a text of a result") {
		t.Errorf("two cuts of one text: %q", got)
	}
}
