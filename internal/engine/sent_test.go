package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
)

// The types below are what the tests read of a log of pi.
type (
	piBlock struct {
		Type string `json:"type"`
		Text string `json:"text"`
		ID   string `json:"id"`
	}
	piMessage struct {
		Role       string    `json:"role"`
		Content    []piBlock `json:"content"`
		ToolCallID string    `json:"toolCallId"`
		StopReason string    `json:"stopReason"`
	}
	piRecord struct {
		Type    string    `json:"type"`
		ID      string    `json:"id"`
		Parent  string    `json:"parentId"`
		Kept    string    `json:"firstKeptEntryId"`
		Message piMessage `json:"message"`
	}
)

// lines reads the records of a log.
func lines[T any](t *testing.T, text []byte) (out []T) {
	t.Helper()
	for line := range bytes.Lines(text) {
		var r T
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		out = append(out, r)
	}
	return out
}

// piSends returns the messages that pi sends of a log, in short: "calls a b", "result a",
// "made up a" and "user". old is a version that sends the summary of an earlier compaction
// where the record is.
func piSends(records []piRecord, old bool) (out []string) {
	byID := map[string]piRecord{}
	for _, r := range records {
		byID[r.ID] = r
	}
	var path []piRecord
	for r, ok := records[len(records)-1], true; ok && r.Type != "session"; r, ok = byID[r.Parent] {
		path = append([]piRecord{r}, path...)
	}
	last := -1
	for i, r := range path {
		if r.Type == "compaction" {
			last = i
		}
	}
	sent := path
	if last >= 0 {
		sent = []piRecord{path[last]}
		if from := slices.IndexFunc(path[:last], func(r piRecord) bool { return r.ID == path[last].Kept }); from >= 0 {
			sent = append(sent, path[from:last]...)
		}
		sent = append(sent, path[last+1:]...)
	}
	var open []string
	answer := func() {
		for _, id := range open {
			out = append(out, "made up "+id)
		}
		open = nil
	}
	for i, r := range sent {
		switch {
		case r.Type == "compaction" && (i == 0 || old), r.Message.Role == "user":
			answer()
			out = append(out, "user")
		case r.Message.Role == "assistant":
			answer()
			if r.Message.StopReason == "error" || r.Message.StopReason == "aborted" {
				continue
			}
			calls := "calls"
			for _, b := range r.Message.Content {
				if b.Type == "toolCall" {
					open, calls = append(open, b.ID), calls+" "+b.ID
				}
			}
			out = append(out, calls)
		case r.Message.Role == "toolResult":
			open = slices.DeleteFunc(open, func(id string) bool { return id == r.Message.ToolCallID })
			out = append(out, "result "+r.Message.ToolCallID)
		}
	}
	answer()
	return out
}

// unanswering returns the results in a request that answer no call right before them.
func unanswering(sent []string) (out []string) {
	var open []string
	for _, s := range sent {
		what, ids, _ := strings.Cut(s, " ")
		switch what {
		case "calls":
			open = strings.Fields(ids)
		case "result", "made":
			id := strings.TrimPrefix(ids, "up ")
			if !slices.Contains(open, id) {
				out = append(out, s)
			}
			open = slices.DeleteFunc(open, func(o string) bool { return o == id })
		default:
			open = nil
		}
	}
	return out
}

const openclawsPlaceholder = "[openclaw] missing tool result in session history; inserted synthetic error result for transcript repair."

// randomPi makes a log of pi. Turns are aborted or whole, some results are placeholders, and
// compactions begin anywhere. Each call of a whole turn has a result.
func randomPi(r *rand.Rand) []byte {
	var out bytes.Buffer
	out.WriteString(`{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}` + "\n")
	parent, ids, calls := "null", []string{}, 0
	add := func(typ, fields string) {
		id := fmt.Sprintf("%08x", len(ids)+1)
		fmt.Fprintf(&out, `{"type":"%s","id":"%s","parentId":%s,"timestamp":"2026-01-01T00:00:%02d.000Z",%s}`+"\n", typ, id, parent, len(ids)+1, fields)
		parent, ids = `"`+id+`"`, append(ids, id)
	}
	say := func(message string) { add("message", fmt.Sprintf(`"message":{%s,"timestamp":%d}`, message, len(ids))) }
	compact := func() {
		if r.IntN(6) > 0 {
			return
		}
		kept := fmt.Sprintf("%08x", len(ids)+1) // its own id: it keeps nothing
		if r.IntN(4) > 0 {
			kept = ids[len(ids)-1-r.IntN(min(len(ids), 4))]
		}
		add("compaction", fmt.Sprintf(`"summary":"so far %d","firstKeptEntryId":"%s","tokensBefore":9`, len(ids), kept))
	}
	for range 1 + r.IntN(3) {
		say(`"role":"user","content":[{"type":"text","text":"go"}]`)
		for range r.IntN(3) {
			stop, n := []string{"toolUse", "toolUse", "toolUse", "error", "aborted"}[r.IntN(5)], 1+r.IntN(3)
			var blocks []string
			for i := range n {
				blocks = append(blocks, fmt.Sprintf(`{"type":"toolCall","id":"c%d","name":"ls","arguments":{"n":%d}}`, calls+i, calls+i))
			}
			say(`"role":"assistant","content":[` + strings.Join(blocks, ",") + `],"api":"a","provider":"p","model":"m","stopReason":"` + stop + `"`)
			compact()
			for i := range n {
				text := fmt.Sprintf("real c%d", calls+i)
				if stop != "toolUse" && r.IntN(3) == 0 {
					continue
				} else if stop != "toolUse" && r.IntN(2) == 0 {
					text = openclawsPlaceholder
				}
				say(fmt.Sprintf(`"role":"toolResult","toolCallId":"c%d","toolName":"ls","content":[{"type":"text","text":"%s"}],"isError":false`, calls+i, text))
				compact()
			}
			calls += n
		}
		say(`"role":"assistant","content":[{"type":"text","text":"done"}],"api":"a","provider":"p","model":"m","stopReason":"stop"`)
		compact()
	}
	say(`"role":"user","content":[{"type":"text","text":"on"}]`)
	return out.Bytes()
}

// TestPiSendsPairs makes logs of pi, and compares what pi sends of them with what a check finds
// and a repair leaves. A result that is sent without its call is an error, and after the
// repair there is none. No placeholder answers a call that is not sent.
func TestPiSendsPairs(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	seen := map[string]int{}
	for n := range 400 {
		text := randomPi(r)
		before := piSends(lines[piRecord](t, text), false)
		var opts FixOptions
		opts.Send = true
		rep, err := Check(context.Background(), source.FromBytes("x.jsonl", text), opts.Options)
		if err != nil {
			t.Fatal(err)
		}
		found, inside := 0, 0
		for f := range rep.Findings.All() {
			if f.Rule.Name == "orphan-tool-result" && f.Severity == rules.Error {
				found++
			}
			if f.Rule.Name == "misplaced-tool-result" {
				inside++
			}
		}
		if lost := len(unanswering(before)); found != lost {
			t.Errorf("log %d: pi sends %d results without calls, and the check finds %d\n%s\n%q", n, lost, found, text, before)
			continue
		}
		seen["orphans"] += found
		seen["inside"] += inside
		opts.Unsafe = true
		fault, out, _ := misfixed("x.jsonl", text, opts)
		if fault != "" {
			t.Errorf("log %d: %s\n%s", n, fault, text)
			continue
		}
		if out == nil {
			out = text
		}
		for _, old := range []bool{false, true} {
			after := piSends(lines[piRecord](t, out), old)
			if left := unanswering(after); len(left) > 0 {
				t.Errorf("log %d, old client %v: pi still sends %q without calls\n%s\n%s", n, old, left, text, out)
			}
			for _, s := range after {
				id, madeUp := strings.CutPrefix(s, "made up ")
				if madeUp && bytes.Contains(text, []byte("real "+id+`"`)) {
					t.Errorf("log %d, old client %v: pi makes up the result of %s, which is in the file\n%s\n%s", n, old, id, text, out)
				}
			}
			for _, s := range before {
				if id, is := strings.CutPrefix(s, "result "); is && bytes.Contains(text, []byte("real "+id+`"`)) && !bytes.Contains(out, []byte("real "+id+`"`)) {
					t.Errorf("log %d: the result of %s is lost\n%s\n%s", n, id, text, out)
				}
			}
		}
		if bytes.Contains(out, []byte("[toolguard] No result")) {
			t.Errorf("log %d: a placeholder answers a call that is not sent\n%s\n%s", n, text, out)
		}
	}
	if seen["orphans"] < 200 || seen["inside"] < 3 {
		t.Errorf("too few faults: %v", seen)
	}
}
