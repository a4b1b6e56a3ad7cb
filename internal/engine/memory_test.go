package engine

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
)

// plainLines returns n tiny messages, one a line.
func plainLines(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		role := [...]string{"user", "assistant"}[i%2]
		fmt.Fprintf(&b, "{\"role\":%q,\"content\":\"message %d of many\"}\n", role, i)
	}
	return b.Bytes()
}

// plainDocument returns the same as a list.
func plainDocument(n int) []byte {
	text := bytes.ReplaceAll(plainLines(n), []byte("}\n"), []byte("},\n"))
	return append(append([]byte("["), bytes.TrimRight(text, ",\n")...), "]\n"...)
}

// plainLog returns n linked records of Claude Code, half of them with a message
// id of their own.
func plainLog(n int) []byte {
	var b bytes.Buffer
	parent := "null"
	for i := range n {
		id := fmt.Sprintf("\"%08x-0000-4000-8000-%012x\"", i, i)
		fmt.Fprintf(&b, `{"parentUuid":%s,"sessionId":"s","uuid":%s,"timestamp":"2026-01-01T00:00:00Z",`, parent, id)
		if i%2 == 0 {
			fmt.Fprintf(&b, `"type":"user","message":{"role":"user","content":"message %d of many"}}`, i)
		} else {
			fmt.Fprintf(&b, `"type":"assistant","message":{"id":"msg_%d","role":"assistant","content":[{"type":"text","text":"message %d"}]}}`, i, i)
		}
		b.WriteByte('\n')
		parent = id
	}
	return b.Bytes()
}

var plainKinds = []struct {
	name string
	make func(n int) []byte
	most float64 // how many bytes a check may allocate for a message
}{
	{"lines", plainLines, 64},
	{"document", plainDocument, 64},
	{"claude-log", plainLog, 128},
}

// allocated returns how many bytes a check allocates besides the records it reads. It
// includes garbage, of which reading should make none.
func allocated(t *testing.T, text []byte) float64 {
	t.Helper()
	src := source.FromBytes("plain", text)
	var start, framed, checked runtime.MemStats
	runtime.ReadMemStats(&start)
	for _, err := range source.Records(src) {
		if err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&framed)
	rep, err := Check(context.Background(), src, Options{})
	runtime.ReadMemStats(&checked)
	if err != nil || rep.Findings.Len() > 0 || rep.File.Conversations != 1 {
		t.Fatalf("%v: %+v", err, rep)
	}
	return float64(checked.TotalAlloc-framed.TotalAlloc) - float64(framed.TotalAlloc-start.TotalAlloc)
}

// TestMemoryOfPlainMessages: a message without calls costs only what the model keeps of it,
// so that the memory budget holds: 64 MiB for a million of them, and 64 bytes more for each
// record of a linked log.
func TestMemoryOfPlainMessages(t *testing.T) {
	const n = 150_000
	for _, k := range plainKinds {
		got := allocated(t, k.make(n)) / n
		if got > k.most {
			t.Errorf("%s: a message allocates %.1f bytes, more than %.0f", k.name, got, k.most)
		}
		t.Logf("%s: a message allocates %.1f bytes", k.name, got)
	}
}

// TestMemoryOfMembers: an object without messages takes no memory for its fields.
func TestMemoryOfMembers(t *testing.T) {
	const n = 50_000
	for _, k := range []struct {
		name, member string
		most         float64 // how many bytes a check may allocate for one
	}{
		{"numbers", `"member%[1]d":%[1]d`, 300},
		{"objects", `"member%[1]d":{"a":%[1]d}`, 700},
		{"attributes", `"session.member.%[1]d":"x"`, 300},
	} {
		text := fmt.Appendf(nil, `{"messages":[%s,{"role":"assistant","content":"a"}],"meta":{%s}}`, loadUser, joined(n, k.member))
		got := allocated(t, text) / n
		if got > k.most {
			t.Errorf("%s: a member allocates %.1f bytes, more than %.0f", k.name, got, k.most)
		}
		t.Logf("%s: a member allocates %.1f bytes", k.name, got)
	}
}

// BenchmarkMemory reports what a check allocates for a message without calls.
func BenchmarkMemory(b *testing.B) {
	const n = 1 << 15
	for _, k := range plainKinds {
		text := k.make(n)
		b.Run(k.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for b.Loop() {
				if _, err := Check(context.Background(), source.FromBytes("bench", text), Options{}); err != nil {
					b.Fatal(err)
				}
			}
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/float64(b.N)/n, "B/message")
		})
	}
}

// unanswered returns a transcript with n calls without results.
var unanswered = []struct {
	name       string
	make       func(n int) []byte
	few, all   float64 // how many bytes a check holds for one, if few findings are kept and if all are
	perFinding float64 // how many bytes are left of a kept finding
}{
	{"session.jsonl", func(n int) []byte {
		var b bytes.Buffer
		parent, record := "null", 0
		add := func(kind, message string) {
			id := fmt.Sprintf(`"%08x-0000-4000-8000-%012x"`, uint32(record)*2654435761, record)
			fmt.Fprintf(&b, `{"parentUuid":%s,"isSidechain":false,"sessionId":"2b083308-dbdb-4f26-a506-7dc3bef908fc","version":"2.1.150","type":%q,"message":%s,"uuid":%s,"timestamp":"2026-01-01T00:00:07.791Z"}`+"\n", parent, kind, message, id)
			parent = id
			record++
		}
		add("user", `{"role":"user","content":"go"}`)
		for i := range n {
			add("assistant", fmt.Sprintf(`{"id":"msg_%024d","type":"message","role":"assistant","content":[{"type":"tool_use","id":"toolu_%024d","name":"Read","input":{"file_path":"/a/%d.go"}}]}`, i, i, i))
		}
		add("user", `{"role":"user","content":"end"}`)
		return b.Bytes()
	}, 275, 570, 180},
	{"chat.json", func(n int) []byte {
		var b bytes.Buffer
		b.WriteString(`{"messages":[{"role":"user","content":"go"}`)
		for i := range n {
			fmt.Fprintf(&b, `,{"role":"assistant","content":null,"tool_calls":[{"id":"call_%024d","type":"function","function":{"name":"read","arguments":"{\"n\":%d}"}}]},{"role":"user","content":"next"}`, i, i)
		}
		b.WriteString(`]}`)
		return b.Bytes()
	}, 345, 490, 145},
}

// TestMemoryOfUnanswered: while the last finding is reported, a check holds the model of the conversation, what
// was said so far, and what became of the repairs, but not the repairs.
func TestMemoryOfUnanswered(t *testing.T) {
	const n = 40_000
	for _, k := range unanswered {
		text := k.make(n)
		for name, opts := range map[string]Options{"few": {Most: 100}, "all": {Edits: true}} {
			most := map[string]float64{"few": k.few, "all": k.all}[name]
			var start, now runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&start)
			seen := 0
			opts.Ignore = func(*rules.Finding) bool {
				if seen++; seen == n {
					runtime.GC()
					runtime.ReadMemStats(&now)
				}
				return false
			}
			rep, err := Check(context.Background(), source.FromBytes(k.name, text), opts)
			if err != nil || seen != n {
				t.Fatalf("%s: %v, %d findings", k.name, err, seen)
			}
			got := (float64(now.HeapAlloc) - float64(start.HeapAlloc)) / n
			if got > most {
				t.Errorf("%s, %s: a check holds %.0f bytes for a call, more than %.0f", k.name, name, got, most)
			}
			t.Logf("%s, %s: a check holds %.0f bytes for a call", k.name, name, got)
			if name == "all" {
				runtime.GC()
				runtime.ReadMemStats(&now)
				left := (float64(now.HeapAlloc) - float64(start.HeapAlloc)) / n
				if left > k.perFinding {
					t.Errorf("%s: %.0f bytes are left of a finding, more than %.0f", k.name, left, k.perFinding)
				}
				t.Logf("%s: %.0f bytes are left of a finding", k.name, left)
			}
			runtime.KeepAlive(rep)
			runtime.KeepAlive(text)
		}
	}
}
