package edit

import (
	"slices"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/source"
)

// TestOrigins: text that was moved several times has its original place.
func TestOrigins(t *testing.T) {
	const text = `{"l":[{"id":1,"s":"a"},{"id":2,"s":"b"},{"id":2,"s":"b"},{"id":4,"s":"d"}],"content":"one"}`
	p := NewPieces(source.FromBytes("p", []byte(text)))
	now := text
	edit := func(old, text string) Edit {
		t.Helper()
		i := int64(strings.LastIndex(now, old))
		return Edit{source.Span{Start: i, End: i + int64(len(old))}, []byte(text)}
	}
	round := func(edits ...Edit) {
		t.Helper()
		slices.SortFunc(edits, func(a, b Edit) int { return int(a.Span.Start - b.Span.Start) })
		now = string(Splice([]byte(now), 0, edits))
		p = apply(t, p, edits...)
	}
	round(edit(`{"id":1,"s":"a"},`, ``), edit(`"one"`, `[{"s": "a" ,"id":1},{"text":"one"},{"new":"x"}]`))
	round(edit(`"d"`, `"D"`), edit(`{"id":2,"s":"b"},{"id":2,"s":"b"},`, ``), edit(`{"new":"x"}`, `{"id":2,"s":"b"},{"id":2,"s":"b"},{"new":"y"}`))
	round(edit(`{"s": "a" ,"id":1},`, ``), edit(`[{"id":4`, `[{"id":1,"s":"a"},{"id":4`))
	for _, c := range []struct {
		of   []string
		want []string
	}{
		{[]string{`{"id":1,"s":"a"}`}, []string{`1`, `"a"`}}, // in another order once
		{[]string{`{"text":"one"}`}, []string{`"one"`}},
		{[]string{`{"new":"y"}`}, nil},
		{[]string{`{"id":2,"s":"b"},{"id":2,"s":"b"}`}, []string{`2,"s":"b"},{"id":2,"s":"b"`}},
		{[]string{`{"id":2,"s":"b"}`, `"b"}]`[:3]}, []string{`2,"s":"b"`, `"b"`}},
		{[]string{`"s":"D"`}, []string{`"s":`}},
		{nil, nil},
	} {
		var spans []source.Span
		for _, s := range c.of {
			i := int64(strings.LastIndex(now, s))
			spans = append(spans, source.Span{Start: i, End: i + int64(len(s))})
		}
		lists, err := p.Origins([][]source.Span{spans})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range lists[0] {
			got = append(got, text[s.Start:s.End])
		}
		slices.Sort(got)
		slices.Sort(c.want)
		if !slices.Equal(got, c.want) {
			t.Errorf("%q in %s: %q, want %q", c.of, now, got, c.want)
		}
	}
}
