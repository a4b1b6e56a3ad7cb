package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/sample"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/trim"
)

// worstOf counts the errors and warnings of a report by rule.
func worstOf(rep *Report) map[string]int {
	out := map[string]int{}
	for f := range rep.Findings.All() {
		if f.Severity >= rules.Warning {
			out[f.Rule.Name]++
		}
	}
	return out
}

// trimText trims a text. It returns nil if there is no cut or if the file is refused.
func trimText(t testing.TB, name string, text []byte, opts Options, req *trim.Request) (*Trimmed, []byte) {
	t.Helper()
	src := source.FromBytes(name, text)
	got, err := Trim(context.Background(), src, opts, req)
	switch {
	case errors.As(err, new(*trim.NoCutError)), errors.As(err, new(*trim.RefusedError)), errors.As(err, new(*trim.RequestError)):
		if got != nil && got.Changed() {
			t.Fatalf("%s: an error and a result: %v", name, err)
		}
		leadsOut(t, name, text, opts, err)
		return nil, nil
	case errors.As(err, new(*ProofError)) && (strings.Contains(name, "/broken/") || strings.Contains(err.Error(), "make the transcript unreadable") ||
		strings.Contains(err.Error(), "leave so little of the log") || strings.HasPrefix(name, "claude-code/ok/interrupted.jsonl")): // what ended a pinned call is dropped
		return nil, nil
	case err != nil:
		t.Errorf("%s: %+v: %v", name, *req, err)
		return nil, nil
	case got.Before.Skipped != "":
		return nil, nil
	case !got.Changed():
		return got, text
	}
	return got, got.Pieces.Source().Text()
}

// leadsOut checks that the request in an error succeeds, and keeps what the error says.
func leadsOut(t testing.TB, name string, text []byte, opts Options, err error) {
	t.Helper()
	var none *trim.NoCutError
	if !errors.As(err, &none) || none.Way == nil {
		return
	}
	way := none.Way
	got, again := Trim(context.Background(), source.FromBytes(name, text), opts, &way.Request)
	switch {
	case errors.As(again, new(*ProofError)):
		return // a cut can fail its proof, whoever asks for it
	case again != nil:
		t.Errorf("%s: %v leads to %v", name, err, again)
	case got.Kept+got.Pinned != way.Messages || got.Cut.Size.Bytes != way.Size.Bytes && !strings.HasSuffix(got.Before.File.Container, "-log"):
		t.Errorf("%s: %v leads to %d messages (%d bytes)", name, err, got.Kept+got.Pinned, got.Cut.Size.Bytes)
	}
}

// requests lists requests for a history of n messages, and whether a second run of each changes
// nothing.
func requests(n int, size int64) []trim.Request {
	var out []trim.Request
	for _, b := range []trim.Boundary{trim.User, trim.Loop, trim.Pair} {
		for k := range n {
			for _, newer := range []bool{false, true} {
				out = append(out, trim.Request{Target: &k, Boundary: b, Newer: newer})
			}
			out = append(out, trim.Request{KeepLast: k + 1, Boundary: b}, trim.Request{KeepFirst: k + 1, Boundary: b},
				trim.Request{MaxBytes: size * int64(k+1) / int64(n+1), Boundary: b},
				trim.Request{KeepLast: 1, Pin: k + 1, Boundary: b}, trim.Request{KeepLastUser: k + 1, Boundary: b},
				trim.Request{KeepFirst: k/2 + 1, KeepLast: 1, Boundary: b},
				trim.Request{MaxTokens: size / 4 * int64(k+1) / int64(n+1), Boundary: b})
		}
	}
	return append(out, trim.Request{ResultsMax: 200}, trim.Request{ResultsMax: 300, KeepResults: 1})
}

// TestTrimKeepsClean trims every fixture at every message, boundary and direction. What is clean
// stays clean, for toolguard and for a validator that shares no code with it; nothing is lost but
// what is dropped; a second run changes nothing.
func TestTrimKeepsClean(t *testing.T) {
	done, every := map[string]int{}, sample.Size(4, 29, 61)
	for i, f := range fixtures(t) {
		if dialect, _ := f.kind(); dialect == "not-transcripts" || len(f.text) > 64<<10 {
			continue
		}
		first, _ := trimText(t, f.name, f.text, Options{}, &trim.Request{Target: new(int)})
		if first == nil || first.Messages == 0 {
			continue
		}
		for j, req := range requests(first.Messages, int64(len(f.text))) {
			if (i*7+j)%every != 0 && req.ResultsMax == 0 {
				continue
			}
			for _, target := range []*profile.Profile{nil, profile.ByName("anthropic")} {
				if target != nil && (first.Before.File.Dialect != "anthropic" || j%3 != 0) {
					continue
				}
				name := fmt.Sprintf("%s %s", f.name, described(&req))
				opts := Options{Target: target, Send: target != nil}
				got, text := trimText(t, name, f.text, opts, &req)
				if got == nil {
					done["refused"]++
					continue
				}
				if !got.Changed() {
					done["unchanged"]++
					continue
				}
				done["changed"]++
				if trim.LogOf(got.Before.File.Dialect) != nil && strings.HasSuffix(got.Before.File.Container, "-log") {
					trimmedLog(t, name, f.text, text, got, &req)
					continue
				}
				provesTrimmed(t, name, f.text, text, got, opts, &req)
			}
		}
	}
	if done["changed"] < 100 {
		t.Errorf("only %v", done)
	}
	t.Logf("%v", done)
}

func described(r *trim.Request) string {
	text := fmt.Sprintf("%+v", *r)
	if r.Target != nil {
		text += fmt.Sprint(" target ", *r.Target)
	}
	return text
}

// provesTrimmed checks the result of one run.
func provesTrimmed(t *testing.T, name string, was, is []byte, got *Trimmed, opts Options, req *trim.Request) {
	t.Helper()
	if req.MaxBytes > 0 && int64(len(is)) > req.MaxBytes {
		t.Errorf("%s: %d bytes", name, len(is))
	}
	if int64(len(is)) != got.Cut.Size.Bytes {
		t.Errorf("%s: reports %d bytes, has %d", name, got.Cut.Size.Bytes, len(is))
	}
	held := opts
	held.Dialect = held.Dialects.ByName(got.Before.File.Dialect)
	before, after := worstOf(check(t, name, was, held)), worstOf(check(t, name, is, held))
	if len(before) == 0 && len(after) > 0 {
		t.Errorf("%s: clean before, now %v\n%s", name, slices.Sorted(maps.Keys(after)), is)
	}
	if before := unanswerable(was); before == "" {
		if after := unanswerable(is); after != "" {
			t.Errorf("%s: %s\n%s", name, after, is)
		}
	}
	// Every byte that is not in an edit is the input's, and what an edit removes is messages and
	// separators, or a part of a result.
	edits := got.Pieces.Edits()
	if joined := edit.Splice(was, 0, edits); !bytes.Equal(joined, is) {
		t.Errorf("%s: the edits do not make the result", name)
	}
	sum := edit.Total(is)
	for _, e := range edits {
		removed := was[e.Span.Start:e.Span.End]
		if len(e.Text) > 0 {
			if !bytes.HasPrefix(e.Text, []byte("[toolguard] ")) {
				t.Errorf("%s: adds %q", name, e.Text)
			}
			continue
		}
		sum = sum.Plus(edit.Total(removed))
		if removed = bytes.Trim(removed, " \t\r\n,"); len(got.Shortened) == 0 && !areElements(removed) {
			t.Errorf("%s: removes no whole messages: %s", name, removed)
		}
	}
	if len(got.Shortened) == 0 && sum != edit.Total(was) {
		t.Errorf("%s: content is neither in the result nor among what was dropped", name)
	}
	if req.Target == nil && !req.Newer {
		again, _ := trimText(t, name, is, held, req)
		if again != nil && again.Changed() {
			t.Errorf("%s: a second run changes\n%s", name, is)
		}
	}
}

// areElements reports whether a text is JSON values, separated by commas or white space.
func areElements(text []byte) bool {
	if json.Valid([]byte("[" + string(text) + "]")) {
		return true
	}
	for dec := json.NewDecoder(bytes.NewReader(text)); ; {
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			return errors.Is(err, io.EOF)
		}
	}
}

// unanswerable is a validator of its own for two wires: it returns what is wrong with the calls
// and results of a list of messages, "" if nothing is, or if the text has another form.
func unanswerable(text []byte) string {
	type message struct {
		Role      string
		Content   json.RawMessage
		ToolCalls []struct{ ID json.RawMessage } `json:"tool_calls"`
		CallID    json.RawMessage                `json:"tool_call_id"`
	}
	text = bytes.TrimSpace(text)
	var body struct{ Messages []message }
	var list []message
	switch {
	case json.Unmarshal(text, &body) == nil:
		list = body.Messages
	case text[0] == '[':
		_ = json.Unmarshal(text, &list)
	default:
		for line := range bytes.SplitSeq(text, []byte("\n")) {
			var m message
			if len(bytes.TrimSpace(line)) > 0 && json.Unmarshal(line, &m) == nil {
				list = append(list, m)
			}
		}
	}
	open := map[string]bool{}
	for i, m := range list {
		var blocks []struct {
			Type  string
			ID    json.RawMessage
			UseID json.RawMessage `json:"tool_use_id"`
		}
		_ = json.Unmarshal(m.Content, &blocks)
		answers := m.Role == "tool" && m.CallID != nil
		for _, b := range blocks {
			answers = answers || b.Type == "tool_result"
		}
		if len(open) > 0 && !answers {
			return fmt.Sprintf("message %d comes before the results of %v", i, slices.Sorted(maps.Keys(open)))
		}
		if m.CallID != nil && m.Role == "tool" {
			if !open[string(m.CallID)] {
				return fmt.Sprintf("message %d answers no call", i)
			}
			delete(open, string(m.CallID))
		}
		for _, b := range blocks {
			if b.Type == "tool_result" && !open[string(b.UseID)] {
				return fmt.Sprintf("message %d answers no call", i)
			}
			delete(open, string(b.UseID))
		}
		for _, c := range m.ToolCalls {
			open[string(c.ID)] = true
		}
		for _, b := range blocks {
			if b.Type == "tool_use" {
				open[string(b.ID)] = true
			}
		}
	}
	return ""
}

// TestUnanswerable checks the validator itself.
func TestUnanswerable(t *testing.T) {
	for text, want := range map[string]string{
		`[{"role":"user","content":"a"}]`:                                                "",
		`[{"role":"tool","tool_call_id":"x","content":""}]`:                              "message 0 answers no call",
		`[{"role":"assistant","tool_calls":[{"id":"x"}]},{"role":"user","content":"a"}]`: "message 1 comes before the results of [\"x\"]",
		`{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"x"}]},{"content":[{"type":"tool_result","tool_use_id":"y"}]}]}`: "message 1 answers no call",
	} {
		if got := unanswerable([]byte(text)); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestTrimRefuses checks why files are not trimmed.
func TestTrimRefuses(t *testing.T) {
	for name, want := range map[string]string{
		"kimi-wire": "it is a session log of a kind that only its agent shortens, with a command such as /compact",
	} {
		for _, f := range fixtures(t) {
			if dialect, state := f.kind(); dialect != name || state != "ok" {
				continue
			}
			_, err := Trim(context.Background(), source.FromBytes(f.name, f.text), Options{}, &trim.Request{KeepLast: 1})
			if err == nil || err.Error() != "not trimmed: "+want {
				t.Errorf("%s: %v, want %s", f.name, err, want)
			}
		}
	}
}

// TestTrimTail: an error that suggests a cut behind which nothing stays says the exact size, without
// what separated the last kept message from the next one.
func TestTrimTail(t *testing.T) {
	t.Parallel()
	text := []byte(`[{"role":"user","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},
    {"role":"tool","tool_call_id":"c1","content":"a.txt"},
    {"role":"assistant","content":"one"}]`)
	_, err := Trim(t.Context(), source.FromBytes("in", text), Options{}, &trim.Request{KeepFirst: 1})
	want := "no safe cut: a call is open after each of the first 1 message. --pin 1 would keep 2 messages (178 bytes)."
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	leadsOut(t, "in", text, Options{}, err)
}
