package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// reordered are the dialects whose fixtures mean the same with their keys in any
// order.
var reordered = []string{
	"agentscope", "amazon-q", "elevenlabs", "langchain4j", "llama-stack", "ms-swift", "retell", "tau2", "vapi",
}

// TestMembersInAnyOrder: neither the order of the keys nor unknown keys change
// what is found.
func TestMembersInAnyOrder(t *testing.T) {
	for _, f := range fixtures(t) {
		if folder, _ := f.kind(); !slices.Contains(reordered, folder) {
			continue
		}
		want := summary(check(t, f.name, f.text, Options{}))
		for _, down := range []bool{false, true} {
			text := respelled(t, f, down)
			if diff := cmp.Diff(want, summary(check(t, f.name, text, Options{}))); diff != "" {
				t.Errorf("%s, descending: %t: findings (-want +got):\n%s\n%s", f.name, down, diff, text)
			}
		}
	}
}

// summary lists what a report says, without places.
func summary(rep *Report) []string {
	var out []string
	for i := range rep.Findings {
		f := &rep.Findings[i]
		out = append(out, fmt.Sprint(f.Severity, f.Rule.Name, f.Message))
	}
	slices.Sort(out)
	return append(out, fmt.Sprint(rep.File.Dialect, rep.Calls, rep.Results))
}

// respelled writes a fixture with all keys in alphabetical order, or the other way
// round with an unknown key in each object.
func respelled(t *testing.T, f fixture, down bool) []byte {
	t.Helper()
	texts := [][]byte{f.text}
	if path.Ext(f.name) == ".jsonl" {
		texts = bytes.Split(bytes.TrimSpace(f.text), []byte("\n"))
	}
	var b strings.Builder
	for _, text := range texts {
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		var v any
		if err := d.Decode(&v); err != nil {
			t.Fatalf("%s: %v", f.name, err)
		}
		respell(t, &b, v, down)
		b.WriteByte('\n')
	}
	return []byte(b.String())
}

func respell(t *testing.T, b *strings.Builder, v any, down bool) {
	t.Helper()
	switch v := v.(type) {
	case map[string]any:
		keys := slices.Sorted(maps.Keys(v))
		if down {
			slices.Reverse(keys)
			keys = append(keys, "zz_unknown")
		}
		for i, k := range keys {
			b.WriteString(map[bool]string{true: "{", false: ","}[i == 0])
			fmt.Fprintf(b, "%q:", k)
			respell(t, b, v[k], down)
		}
		if len(keys) == 0 {
			b.WriteByte('{')
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			respell(t, b, e, down)
		}
		b.WriteByte(']')
	default:
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(raw)
	}
}
