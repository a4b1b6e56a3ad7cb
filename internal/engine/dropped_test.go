package engine

import (
	"slices"
	"testing"
)

// TestDroppedBytes holds that a repair of bytes that takes content out says what.
func TestDroppedBytes(t *testing.T) {
	const (
		call   = `{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}` + "\n"
		answer = `{"role":"tool","tool_call_id":"a","content":"r"}` + "\n"
	)
	tests := []struct {
		name, last string
		want       []string
	}{
		{"glued-records", `{"role":"user","content":"torn IMPOR{"role":"user","content":"x"}`, []string{`{"role":"user","content":"torn IMPOR`}},
		{"invalid-utf8", "{\"role\":\"user\",\"content\":\"a\xff\xfe b \xff\"}", []string{"\xff\xfe", "\xff"}},
		{"lone-surrogate", `{"role":"user","content":"a\ud83d b"}`, []string{`\ud83d`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := call + answer + tt.last + "\n"
			_, f, err := repaired([]byte(text), FixOptions{Unsafe: true})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range f.Repairs {
				for _, s := range r.Dropped {
					got = append(got, text[s.Start:s.End])
				}
			}
			if len(f.Repairs) != 1 || f.Repairs[0].Rule != tt.name || !slices.Equal(got, tt.want) {
				t.Errorf("%+v: dropped %q, want %q", f.Repairs, got, tt.want)
			}
		})
	}
}
