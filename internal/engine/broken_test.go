package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/sample"
)

// readable returns the content of the lines that are JSON. A client that parses line by line
// reads no others.
func readable(text []byte) map[string]int {
	out := map[string]int{}
	for line := range bytes.Lines(text) {
		if json.Valid(line) {
			for s := range content(line) {
				out[s]++
			}
		}
	}
	return out
}

// breakages are the ways in which a line and a copy of it stand in a file, one of them where
// clients do not read it.
var breakages = map[string]func(line []byte) []byte{
	"behind a torn record": func(line []byte) []byte {
		return slices.Concat(line, line[:len(line)/2], line)
	},
	"behind a torn record, and before its copy": func(line []byte) []byte {
		return slices.Concat(line[:len(line)/2], line, line)
	},
	"on one line": func(line []byte) []byte {
		return slices.Concat(bytes.TrimRight(line, "\n"), line, line)
	},
	"behind NULs": func(line []byte) []byte {
		return slices.Concat(make([]byte, 16), line, line)
	},
}

// TestNothingIsLeftInABrokenLine: no repair without --unsafe takes content away from the lines
// that clients read. A copy in a line that they do not read is no reason to drop another one.
func TestNothingIsLeftInABrokenLine(t *testing.T) {
	type broken struct {
		name, how string
		kinds     []string
		text      []byte
	}
	var all []broken
	for _, f := range fixtures(t) {
		dialect, state := f.kind()
		lines := slices.Collect(bytes.Lines(f.text))
		if state == "" || len(lines) < 2 || !json.Valid(lines[0]) {
			continue
		}
		for i, line := range lines {
			if !bytes.HasSuffix(line, []byte("\n")) || !bytes.HasPrefix(line, []byte("{")) {
				continue
			}
			line = bytes.ReplaceAll(line, []byte("a.txt"), []byte("only-here.txt"))
			for how, do := range breakages {
				text := slices.Concat(bytes.Join(lines[:i], nil), do(line), bytes.Join(lines[i+1:], nil))
				all = append(all, broken{fmt.Sprintf("%s:%d", f.name, i+1), how, []string{dialect + how}, text})
			}
		}
	}
	slices.SortFunc(all, func(a, b broken) int { return strings.Compare(a.name+a.how, b.name+b.how) })
	left := 0
	for _, b := range sample.Of(t, 6, all, func(b broken) string { return b.name + b.how }, func(b broken) []string { return b.kinds }) {
		for _, opts := range []FixOptions{{SafeOnly: true}, {}} {
			out, _, err := tryFix(b.name, b.text, opts)
			if checkedOnly(err) {
				continue
			}
			if err != nil {
				t.Fatalf("%s, %s: %v", b.name, b.how, err)
			}
			left++
			after := readable(out)
			for s := range readable(b.text) {
				if after[s] == 0 {
					t.Errorf("%s, %s: a client does not read %q any more\n%s\n%s", b.name, b.how, s, b.text, out)
				}
			}
		}
	}
	if left < 500 {
		t.Errorf("only %d repairs were tried", left)
	}
}

// TestBehindATornRecord: Gemini CLI records a result twice. The copy that it reads stays until the
// line of the other one is repaired.
func TestBehindATornRecord(t *testing.T) {
	const (
		call   = `{"id":"g1","type":"gemini","content":"","toolCalls":[{"id":"a","name":"f","args":{},"result":[{"functionResponse":{"id":"a","name":"f","response":{"output":"1"}}}],"status":"success"}]}` + "\n"
		head   = `{"sessionId":"s","projectHash":"p","startTime":"t","lastUpdated":"t"}` + "\n" + `{"id":"u1","timestamp":"t","type":"user","content":[{"text":"go"}]}` + "\n"
		copied = `{"id":"u2","timestamp":"t","type":"user","content":[{"functionResponse":{"id":"a","name":"f","response":{"output":"1"}}}]}` + "\n"
		tail   = `{"id":"g2","timestamp":"t","type":"gemini","content":"done"}` + "\n"
	)
	torn := strings.Replace(call[:90], `"content":""`, `"content":"here"`, 1) // so it stays without --unsafe
	text := []byte(head + torn + call + copied + tail)
	out, f := fixText(t, "s.jsonl", text, FixOptions{})
	if string(out) != string(text) {
		t.Errorf("without --unsafe:\n%s", out)
	}
	why := ""
	for f := range f.After.Findings.All() {
		if f.Rule.Name == "duplicate-tool-result" {
			why = f.Unfixed
		}
	}
	if want := "it would stay only in a line that clients cannot read"; why != want {
		t.Errorf("the finding says %q", why)
	}
	out, _ = fixText(t, "s.jsonl", text, FixOptions{Unsafe: true})
	if after := readable(out); after["done"] == 0 || strings.Count(string(out), `"output":"1"`) == 0 || bytes.Contains(out, []byte(torn+call)) {
		t.Errorf("with --unsafe:\n%s", out)
	}
}
