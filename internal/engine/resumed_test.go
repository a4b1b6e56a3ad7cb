package engine

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
)

// A qwenRecord is what the tests read of a log of Qwen Code.
type qwenRecord struct {
	UUID    string `json:"uuid"`
	Parent  string `json:"parentUuid"`
	Type    string `json:"type"`
	Message struct {
		Parts []struct {
			Call   struct{ ID string } `json:"functionCall"`
			Result struct{ ID string } `json:"functionResponse"`
		}
	} `json:"message"`
}

// randomQwen makes the records of a log of Qwen Code. Results are in one record or in one each,
// and records without messages are among them.
func randomQwen(r *rand.Rand) (out []string) {
	parent, calls := "null", 0
	add := func(typ, rest string) {
		id := fmt.Sprintf(`"%08d-0000-4000-8000-000000000000"`, len(out)+1)
		out = append(out, fmt.Sprintf(`{"uuid":%s,"parentUuid":%s,"sessionId":"s","timestamp":"2026-01-01T00:00:%02d.000Z","type":"%s",%s}`, id, parent, len(out)+1, typ, rest))
		parent = id
	}
	say := func(typ, role, parts string) {
		add(typ, `"message":{"role":"`+role+`","parts":[`+parts+`]}`)
	}
	for range 1 + r.IntN(3) {
		say("user", "user", `{"text":"go"}`)
		for range r.IntN(3) {
			var made, results []string
			for range 1 + r.IntN(3) {
				made = append(made, fmt.Sprintf(`{"functionCall":{"id":"c%d","name":"ls","args":{"n":%[1]d}}}`, calls))
				results = append(results, fmt.Sprintf(`{"functionResponse":{"id":"c%d","name":"ls","response":{"output":"real c%[1]d"}}}`, calls))
				calls++
			}
			say("assistant", "model", strings.Join(made, ","))
			if r.IntN(3) == 0 {
				add("system", `"subtype":"ui_telemetry","systemPayload":{"n":1}`)
			}
			if r.IntN(2) == 0 {
				results = []string{strings.Join(results, ",")}
			}
			for _, parts := range results {
				say("tool_result", "user", parts)
			}
		}
		say("assistant", "model", `{"text":"done"}`)
	}
	return out
}

// TestQwenResumesAll loses one record of a log. After the default repair, a walk along the
// parents from the last record to the first has all others, in the order of the file, and each
// call has a result before the model or the user goes on.
func TestQwenResumesAll(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	lost := map[string]int{}
	for range 40 {
		whole := randomQwen(r)
		for gone := 1; gone < len(whole)-1; gone++ {
			text := []byte(strings.Join(slices.Delete(slices.Clone(whole), gone, gone+1), "\n") + "\n")
			if bytes.Contains([]byte(whole[gone]), []byte(`"functionCall"`)) {
				continue // its results are orphans, which no default repair touches
			}
			kind := lines[qwenRecord](t, []byte(whole[gone]))[0].Type
			lost[kind]++
			fault, out, _ := misfixed("x.jsonl", text, FixOptions{})
			if fault != "" {
				t.Errorf("%s lost: %s\n%s", kind, fault, text)
				continue
			}
			records := lines[qwenRecord](t, out)
			byID := map[string]int{}
			for i, rec := range records {
				byID[rec.UUID] = i
			}
			walked := 0
			for at, ok := len(records)-1, true; ok; at, ok = byID[records[at].Parent] {
				if at != len(records)-1-walked {
					t.Errorf("%s lost: the walk reaches record %d as number %d from the end\n%s", kind, at, walked, out)
					break
				}
				walked++
			}
			if walked != len(records) {
				t.Errorf("%s lost: the walk has %d of %d records\n%s", kind, walked, len(records), out)
			}
			open := map[string]bool{}
			for _, rec := range records {
				if len(open) > 0 && (rec.Type == "assistant" || rec.Type == "user") {
					t.Errorf("%s lost: %v have no result before record %s\n%s", kind, open, rec.UUID, out)
					break
				}
				for _, p := range rec.Message.Parts {
					if p.Call.ID != "" {
						open[p.Call.ID] = true
					}
					delete(open, p.Result.ID)
				}
			}
		}
	}
	if lost["tool_result"] < 20 || lost["user"] < 20 || lost["assistant"] < 20 || lost["system"] < 10 {
		t.Errorf("too few records were lost: %v", lost)
	}
}

// TestQwenSoleParent: the default repair relinks a record only if the place of the record tells
// its parent.
func TestQwenSoleParent(t *testing.T) {
	rec := func(id, parent int, typ, role string) string {
		up := "null"
		if parent > 0 {
			up = fmt.Sprintf(`"u%d"`, parent)
		}
		return fmt.Sprintf(`{"uuid":"u%d","parentUuid":%s,"sessionId":"s","type":"%s","message":{"role":"%s","parts":[{"text":"t%[1]d"}]}}`, id, up, typ, role)
	}
	u, a := func(id, parent int) string { return rec(id, parent, "user", "user") }, func(id, parent int) string { return rec(id, parent, "assistant", "model") }
	for _, tt := range []struct {
		name string
		log  []string
		safe bool
	}{
		{"one chain", []string{u(1, 0), a(2, 1), u(4, 3), a(5, 4)}, true},
		{"a fork behind it", []string{u(1, 0), a(2, 1), u(4, 3), a(5, 4), u(6, 4)}, true},
		{"torn between the two", []string{u(1, 0), a(2, 1), u(3, 2)[:40], u(4, 3), a(5, 4)}, true},
		{"glued behind a torn one", []string{u(1, 0), a(2, 1), u(3, 2)[:40] + u(4, 3), a(5, 4)}, true},
		{"a torn last line", []string{u(1, 0), a(2, 1), u(4, 3), a(5, 4), u(6, 5)[:40]}, true},
		{"a fork before it", []string{u(1, 0), a(2, 1), u(3, 2), u(4, 2), a(6, 5)}, false},
		{"a fork from behind it", []string{u(1, 0), a(2, 1), u(4, 3), a(5, 4), u(6, 2)}, false},
		{"two lost parents", []string{u(1, 0), a(3, 2), u(5, 4)}, false},
		{"a second root", []string{u(1, 0), a(2, 1), u(3, 0), a(5, 4)}, false},
		{"the same id twice", []string{u(1, 0), a(2, 1), u(2, 1), u(4, 3)}, false},
		{"torn elsewhere", []string{u(1, 0), a(2, 1)[:40], a(3, 1), u(5, 4), a(6, 5)}, false},
		{"torn behind it", []string{u(1, 0), a(2, 1), u(4, 3), a(5, 4)[:40], a(6, 4)}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := []byte(strings.Join(tt.log, "\n") + "\n")
			rep, err := Check(context.Background(), source.FromBytes("x.jsonl", text), Options{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for f := range rep.Findings.All() {
				if f.Rule.Name == "broken-link" {
					got = append(got, f.Fix.Class.String())
				}
			}
			want := "unsafe"
			if tt.safe {
				want = "safe"
			}
			if slices.Contains(got, "safe") != tt.safe || len(got) > 0 && !slices.Contains(got, want) || len(got) == 0 && tt.name != "the same id twice" {
				t.Errorf("the classes of the repairs are %v, want %s\n%s", got, want, text)
			}
		})
	}
}

// tornLogs are logs whose clients leave out a torn last line, by dialect.
var tornLogs = map[string][]string{
	"pi": {
		`{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}`,
		`{"type":"message","id":"a1","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":[{"type":"text","text":"go"}],"timestamp":1}}`,
		`{"type":"message","id":"a2","parentId":"a1","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"x \"y\" \\ {"}],"api":"a","provider":"p","model":"m","usage":{"input":12,"cost":0.5},"stopReason":"stop","timestamp":2}}`,
	},
	"qwen-code": {
		`{"uuid":"u1","parentUuid":null,"sessionId":"s","timestamp":"2026-01-01T00:00:01.000Z","type":"user","message":{"role":"user","parts":[{"text":"go"}]}}`,
		`{"uuid":"u2","parentUuid":"u1","sessionId":"s","timestamp":"2026-01-01T00:00:02.000Z","type":"assistant","message":{"role":"model","parts":[{"text":"x"}]},"usageMetadata":{"totalTokenCount":12}}`,
	},
	"claude-code": {
		`{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"go"},"uuid":"u1","timestamp":"2026-01-01T00:00:01.000Z","sessionId":"s"}`,
		`{"parentUuid":"u1","isSidechain":false,"type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"x"}],"usage":{"input_tokens":12}},"uuid":"u2","timestamp":"2026-01-01T00:00:02.000Z","sessionId":"s"}`,
	},
	"codex": {
		`{"timestamp":"2026-01-01T00:00:00.000Z","type":"session_meta","payload":{"id":"s","cwd":"/w","originator":"codex","cli_version":"0.1"}}`,
		`{"timestamp":"2026-01-01T00:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}}`,
		`{"timestamp":"2026-01-01T00:00:02.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"x"}]}}`,
	},
	"kimi-wire": {
		`{"type":"metadata","protocol_version":"1.5","created_at":1}`,
		`{"type":"context.append_message","agentId":"main","message":{"role":"user","content":[{"type":"text","text":"go"}],"toolCalls":[]},"timestamp":"2026-01-01T00:00:01.000Z"}`,
		`{"type":"context.append_message","agentId":"main","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"user","content":[{"type":"text","text":"x"}],"toolCalls":[]},"n":12}`,
	},
	"gemini-cli": {
		`{"sessionId":"s","projectHash":"p","startTime":"2026-01-01T00:00:00.000Z","lastUpdated":"2026-01-01T00:00:00.000Z","kind":"main"}`,
		`{"id":"g1","timestamp":"2026-01-01T00:00:01.000Z","type":"user","content":[{"text":"go"}]}`,
		`{"id":"g2","timestamp":"2026-01-01T00:00:02.000Z","type":"gemini","content":"x","model":"gemini-2.5-pro","tokens":{"input":12}}`,
	},
}

// TestTornLastRecord tears a last record at each byte. It is a warning. The default repair drops
// what is left of a record that was written again, and of another record exactly if nothing in
// it is only there. The rest of the file stays as it is.
func TestTornLastRecord(t *testing.T) {
	for _, d := range dialect.All() {
		if _, has := tornLogs[d.Name]; d.DamagedLine != 0 != has {
			t.Errorf("%s: its client leaves out a torn last line: %v, and there is a log: %v", d.Name, d.DamagedLine != 0, has)
		}
	}
	for name, log := range tornLogs {
		text := strings.Join(log, "\n") + "\n"
		last := log[len(log)-1]
		other := strings.Replace(last, "00:00:02.000Z", "00:00:03.000Z", 1)
		drops, stays := 0, 0
		for cut := 1; cut < len(last); cut++ {
			for _, torn := range []string{last[:cut], other[:cut]} {
				// Only the other record has a new time, of which no other begins so.
				alone := strings.Contains(torn, `00:00:03`)
				rep, err := Check(context.Background(), source.FromBytes("x.jsonl", []byte(text+torn)), Options{})
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for f := range rep.Findings.All() {
					if f.Rule.Name == "truncated-record" {
						got = append(got, f.Severity.String()+" "+f.Fix.Class.String())
					}
				}
				want := rules.Warning.String() + " safe"
				if alone {
					want = rules.Warning.String() + " unsafe"
				}
				if !slices.Equal(got, []string{want}) {
					t.Errorf("%s: torn behind %q: got %q, want %q", name, torn[max(0, len(torn)-20):], got, want)
					continue
				}
				fault, out, _ := misfixed("x.jsonl", []byte(text+torn), FixOptions{})
				left := text // it ends with a line feed, because the client appends to it
				if alone {
					stays++
					left = text + torn
				} else {
					drops++
				}
				if fault != "" || string(out) != left {
					t.Errorf("%s: torn behind %q: %s\n%s", name, torn[max(0, len(torn)-20):], fault, out)
				}
			}
		}
		if drops < 50 || stays < 10 {
			t.Errorf("%s: %d records were dropped, and %d stayed", name, drops, stays)
		}
	}
}

// TestManyCopies: the copies in one message of a log are dropped together, so the message is written
// once more, however many they are.
func TestManyCopies(t *testing.T) {
	var calls, results []string
	for i := range 8 {
		results = append(results, fmt.Sprintf(`{"functionResponse":{"id":"c%d","name":"ls","response":{"output":"%[1]d"}}}`, i))
	}
	message := func(result func(i int) string) string {
		calls = calls[:0]
		for i := range 8 {
			calls = append(calls, fmt.Sprintf(`{"id":"c%d","name":"ls","args":{},"status":"success","result":[%s]}`, i, result(i)))
		}
		return `{"id":"g3","timestamp":"2026-01-01T00:00:03.000Z","type":"gemini","content":"","toolCalls":[` + strings.Join(calls, ",") + "]}\n"
	}
	log := strings.Join(tornLogs["gemini-cli"], "\n") + "\n" + message(func(int) string { return strings.Join(results, ",") })
	out, f, err := repaired([]byte(log), FixOptions{})
	if err != nil || len(f.Repairs) != 56 || f.Rounds != 1 {
		t.Fatalf("%d copies are dropped in %d rounds: %v", len(f.Repairs), f.Rounds, err)
	}
	if want := log + message(func(i int) string { return results[i] }); string(out) != want {
		t.Errorf("repaired to\n%s\nwant\n%s", out, want)
	}
}

// TestTornTwice: what the torn record has twice must be elsewhere twice.
func TestTornTwice(t *testing.T) {
	log := tornLogs["qwen-code"]
	text := strings.Join(log, "\n") + "\n" + `{"uuid":"u2","parentUuid":"u1","sessionId":"s","message":{"role":"user","parts":[{"text":"go"},{"text":"go"},{"te`
	_, f, err := repaired([]byte(text), FixOptions{})
	if err != nil || f.Changed() {
		t.Errorf("err %v, changed %v", err, f.Changed())
	}
	n := 0
	for range edit.Complete([]byte(text[strings.LastIndex(text, "\n")+1:])) {
		n++
	}
	if n != 7 {
		t.Errorf("the torn record has %d complete leaves, want 7", n)
	}
}

// TestTornText: what is cut off a record is recorded too. The record is dropped only if all of that
// is elsewhere: the key, and the beginning of the value.
func TestTornText(t *testing.T) {
	log := strings.Join(tornLogs["pi"], "\n") + "\n"
	for torn, drops := range map[string]bool{
		`{"type":"message","message":{"role":"user","content":[{"type":"text","text":"only here`: false,
		`{"type":"message","only-here`:   false,
		`{"type":"message","only-here":`: false,
		`{"type":"message","onlyHere":"`: false,
		`{"type":"message","id":"u`:      true,
		`{"type":"message","id":4711`:    false,
		`{"type":"mess`:                  true,
		`{"type":"message","ty`:          true,
		`{"type":"message","message":`:   true,
	} {
		out, _, err := repaired([]byte(log+torn), FixOptions{})
		if err != nil {
			t.Fatal(err)
		}
		want := log + torn
		if drops {
			want = log
		}
		if string(out) != want {
			t.Errorf("behind %s: dropped, or not:\n%s", torn, out)
		}
	}
}
