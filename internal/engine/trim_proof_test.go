package engine

import (
	"context"
	"errors"
	"hash/maphash"
	"slices"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/trim"
)

// TestTrimProof makes mistakes in the edits of a cut, and checks that the proof finds each.
func TestTrimProof(t *testing.T) {
	body := `{"model":"gpt-4.1","temperature":1,"messages":[` + "\n" + strings.TrimPrefix(chat("s u a:1 t1 a u a:2,3 t2 t3 a:4 t4 a u a"), "[")
	body = strings.Replace(body, "result 2 at 7", strings.Repeat("0123456789", 50), 1) + `,"user":"me"}`
	at := func(text string) source.Span {
		i := strings.Index(body, text)
		if i < 0 {
			t.Fatalf("no %s", text)
		}
		return source.Span{Start: int64(i), End: int64(i + len(text))}
	}
	swap := func(was, is string) []edit.Edit { return []edit.Edit{{Span: at(was), Text: []byte(is)}} }
	lines := strings.SplitAfter(body, "\n")
	drop := func(i int) edit.Edit { return edit.Edit{Span: at(lines[i+1])} }
	for _, c := range []struct {
		name  string
		wrong func(edits []edit.Edit) []edit.Edit
		want  string
	}{
		{"right", nil, ""},
		{"a message more", func(e []edit.Edit) []edit.Edit { return append(e, drop(11)) }, "leave 9 messages with 3 calls and 3 results instead of 10 with 3 and 3"},
		{"a message less", func(e []edit.Edit) []edit.Edit { e[0].Span.End = at(lines[5]).Start; return e }, "leave 11 messages with 3 calls and 3 results instead of 10 with 3 and 3"},
		{"another message", func(e []edit.Edit) []edit.Edit { e[0].Span.End = at(lines[5]).Start; return append(e, drop(11)) }, "change message 1 of those that stay, counted from 0"},
		{"a field before the messages", func(e []edit.Edit) []edit.Edit { return append(swap(`"temperature":1,`, ""), e...) }, "change what is before the first message"},
		{"a field after the messages", func(e []edit.Edit) []edit.Edit { return append(e, swap(`"user":"me"`, `"user":"it"`)...) }, "change what is after the last message"},
		{"the text of a message", func(e []edit.Edit) []edit.Edit { return append(e, swap("text 11", "text 12")...) }, "change message 7 of those that stay, counted from 0"},
		{"white space in a message", func(e []edit.Edit) []edit.Edit {
			return append(e, swap(`"content":"text 13"`, `"content": "text 13"`)...)
		}, "change message 9 of those that stay, counted from 0"},
		{"another cut of a text", func(e []edit.Edit) []edit.Edit {
			i := slices.IndexFunc(e, func(e edit.Edit) bool { return len(e.Text) > 0 })
			e[i].Span = source.Span{Start: e[i].Span.Start + 1, End: e[i].Span.End + 1}
			return e
		}, "change message 3 of those that stay, counted from 0"},
		{"the id of a call", func(e []edit.Edit) []edit.Edit { return append(e, swap(`"tool_call_id":"3"`, `"tool_call_id":"2"`)...) }, "change message 4 of those that stay, counted from 0"},
		{"the separator", func(e []edit.Edit) []edit.Edit { e[0].Span.Start -= 3; return e }, "make records unreadable"},
		{"everything", func([]edit.Edit) []edit.Edit { return []edit.Edit{{Span: source.Span{End: int64(len(body))}}} }, "leave 0 conversations instead of one"},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := source.FromBytes("x.json", []byte(body))
			x := &trimmer{src: src, req: &trim.Request{KeepLast: 8, ResultsMax: 300}, out: &Trimmed{Tokens: -1}, seed: maphash.MakeSeed()}
			before, rep, err := x.read(context.Background(), src, Options{})
			if err != nil || x.err != nil || len(x.edits) != 2 {
				t.Fatalf("%v, %v, %v", err, x.err, x.edits)
			}
			x.out.Before, x.out.After = rep, rep
			if c.wrong != nil {
				x.edits = c.wrong(x.edits)
			}
			slices.SortFunc(x.edits, func(a, b edit.Edit) int { return int(a.Span.Start - b.Span.Start) })
			pieces, err := edit.Apply(src, x.edits)
			if err != nil {
				t.Fatal(err)
			}
			sizes := x.prove(context.Background(), pieces, Options{}, before)
			if wrong := pieces.Size() != x.out.Cut.Size.Bytes; wrong && sizes == nil {
				t.Error("another size is not found")
			}
			x.out.Cut.Size.Bytes = pieces.Size()
			err, got := x.prove(context.Background(), pieces, Options{}, before), ""
			var unproved *ProofError
			if errors.As(err, &unproved) {
				got, err = unproved.Reason, nil
			}
			if err != nil || c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
				t.Errorf("%q, %v, want %q", got, err, c.want)
			}
		})
	}
}

// TestTrimProofOfLimits checks that a result that is larger than the limit is refused, although
// the choice took it to be smaller.
func TestTrimProofOfLimits(t *testing.T) {
	text := chat("s u a:1 t1 a u a")
	parts := 0
	req := &trim.Request{MaxTokens: 60, Count: func([]byte) (float64, error) {
		if parts++; parts <= 9 { // seven messages, and what is around them
			return 10, nil
		}
		return 20, nil
	}}
	var unproved *ProofError
	got, err := Trim(context.Background(), source.FromBytes("x.json", []byte(text)), Options{}, req)
	if !errors.As(err, &unproved) || unproved.Reason != "leave 103 tokens, more than the limit" || got.Changed() {
		t.Errorf("%v", err)
	}
}
