package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestManyCacheMarks compares the time for very many markers in one message with the time for
// few. Each is removed from its own block.
func TestManyCacheMarks(t *testing.T) {
	took := func(n int) time.Duration {
		var b strings.Builder
		b.WriteString(`[{"role":"user","content":[`)
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `{"type":"text","text":"t%d","cache_control":{"type":"ephemeral"}}`, i)
		}
		b.WriteString(`]},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"f","input":{}}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"x"}]}]`)
		from := time.Now()
		out, f, err := repaired([]byte(b.String()), FixOptions{})
		if err != nil || len(f.Repairs) != n-4 || strings.Count(string(out), "cache_control") != 4 {
			t.Fatalf("%d marks: %d repairs, %v", n, len(f.Repairs), err)
		}
		return time.Since(from)
	}
	few, many := took(1000), took(16_000)
	if many > 80*few { // quadratic time would be 256 times as long
		t.Errorf("16 times as many marks take %d times as long", many/few)
	}
}

// TestCacheMarksAround: markers in the system prompt and the tools count, and nulls in their
// place do not.
func TestCacheMarksAround(t *testing.T) {
	t.Parallel()
	const mark = `,"cache_control":{"type":"ephemeral"}`
	for around, want := range map[string]int{mark: 2, `,"cache_control":null`: 0} {
		text := `{"model":"claude","max_tokens":9,"system":[{"type":"text","text":"s"` + around + `}],"tools":[{"name":"f","input_schema":{}` + around + `}],"messages":[{"role":"user","content":[` +
			strings.TrimSuffix(strings.Repeat(`{"type":"text","text":"q"`+mark+`},`, 4), ",") + `]}],"tool_choice":{"type":"auto"}}`
		found := 0
		for f := range check(t, "f", []byte(text), Options{}).All() {
			if f.Rule.Name == "cache-control-limit" {
				found++
			}
		}
		if found != want {
			t.Errorf("%s around four marks: %d are too many, want %d", around, found, want)
		}
	}
}

// TestCacheMarksInBlocks: a marker counts in a block of any type, including unknown types.
func TestCacheMarksInBlocks(t *testing.T) {
	t.Parallel()
	const mark = `,"cache_control":{"type":"ephemeral"}`
	for _, block := range []string{
		`{"type":"text","text":"q"` + mark + `}`,
		`{"type":"image","source":{"type":"url","url":"u"}` + mark + `}`,
		`{"type":"document","source":{"type":"text","data":"d","media_type":"text/plain"}` + mark + `}`,
		`{"type":"holograph","shown":1` + mark + `}`,
		`{"text":"q"` + mark + `}`,
		`{"type":"tool_result","tool_use_id":"toolu_1","content":"x"` + mark + `}`,
	} {
		text := `{"model":"claude","max_tokens":9,"messages":[{"role":"user","content":"q"},` +
			`{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"f","input":{}` + mark + `}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"x"` + mark + `},` +
			strings.TrimSuffix(strings.Repeat(block+",", 4), ",") + `]}]}`
		found := 0
		for f := range check(t, "f", []byte(text), Options{}).All() {
			if f.Rule.Name == "cache-control-limit" {
				found++
			}
		}
		if found != 2 {
			t.Errorf("%s four times beside two marks: %d are too many, want 2", block, found)
		}
	}
}
