package baseline

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFormat(t *testing.T) {
	t.Parallel()
	b := Baseline{
		{Path: "b.jsonl", Rule: "orphan-tool-result", CallID: "c1"}:      1,
		{Path: "a b\n<.jsonl", Rule: "missing-tool-result", CallID: "“"}: 2,
		{Path: "b.jsonl", Rule: "invalid-json", Record: "0123"}:          1,
	}
	const want = `{"path":"a b\n<.jsonl","rule":"missing-tool-result","call_id":"“","count":2}
{"path":"b.jsonl","rule":"invalid-json","record":"0123"}
{"path":"b.jsonl","rule":"orphan-tool-result","call_id":"c1"}
`
	got, err := b.Format()
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, cmp.Diff(want, string(got)))
	}
	again, err := Parse(got)
	if err != nil || !cmp.Equal(b, again) {
		t.Errorf("%v\n%s", err, cmp.Diff(b, again))
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	// A merge may leave lines out of order, twice, and blank.
	got, err := Parse([]byte("{\"path\":\"b\",\"rule\":\"r\"}\r\n\n{\"path\":\"a\",\"rule\":\"r\",\"count\":3}\n{\"path\":\"b\",\"rule\":\"r\"}"))
	want := Baseline{{Path: "a", Rule: "r"}: 3, {Path: "b", Rule: "r"}: 1}
	if err != nil || !cmp.Equal(want, got) {
		t.Errorf("%v\n%s", err, cmp.Diff(want, got))
	}
	for _, text := range []string{"x", "[]", "{}", `{"path":"a"}`, `{"rule":"a"}`, `{"path":"a","rule":"r"} {}`, `{"path":"a","rule":"r","line":1}`, `{"path":"a","rule":"r","count":-1}`, "<<<<<<< HEAD"} {
		if _, err := Parse([]byte("\n" + text)); err == nil || err.Error() != "line 2: expected a JSON object with \"path\" and \"rule\"" {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestCountLimit(t *testing.T) {
	t.Parallel()
	line := func(count string) []byte { return []byte(`{"path":"a","rule":"r","count":` + count + `}`) }
	if got, err := Parse(line("1000000000")); err != nil || got[Key{Path: "a", Rule: "r"}] != 1000000000 {
		t.Errorf("%v, %v", got, err)
	}
	_, err := Parse(append([]byte("\n"), line("1000000001")...))
	if want := `line 2: expected a "count" of at most 1000000000, got 1000000001`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if _, err := Parse(line("9223372036854775807")); err == nil {
		t.Error("no error")
	}
}

func TestKnown(t *testing.T) {
	t.Parallel()
	a, b := Key{Path: "p", Rule: "a"}, Key{Path: "p", Rule: "b"}
	got := Baseline{a: 2}.Known([]Key{a, b, a, a})
	if want := []bool{true, false, true, false}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
