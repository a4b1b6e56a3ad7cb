package engine

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"testing"

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
