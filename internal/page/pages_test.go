package page

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolguard/toolguard/internal/bench"
	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/hostile"
	"github.com/toolguard/toolguard/internal/source"
)

// command is the repair of tests.
func command(f *engine.Finding) string {
	if f.Fix == nil {
		return ""
	}
	return "toolguard fix --write --unsafe --select " + f.Rule.Name + " session.jsonl"
}

// page returns the page of a text, with the session after its repair.
func page(t testing.TB, name string, text []byte, most int64) []byte {
	t.Helper()
	src := source.FromBytes(name, text)
	opts := Options{Name: name, Version: "1.2.3", Command: command, Index: "index.html"}
	fixed, err := settle(src)
	if err == nil && fixed.Changed() {
		opts.After = &Variant{Session: read(t, fixed.Pieces.Source()), Edits: fixed.Edits()}
	}
	var out bytes.Buffer
	if err := write(&out, src, read(t, src), opts, most); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return out.Bytes()
}

// attacks returns a session in which every text attacks those who look at it.
func attacks() []byte {
	texts := append(hostile.Texts(),
		"</script><script>window.owned = 1</script>", "<!--<script>", "--><img src=https://example.com/x onerror=owned=1>",
		"<style>*{display:none}</style>", "javascript:owned=1", `"><svg onload=owned=1>`, "&lt;b&gt;&amp;", "${owned=1}",
		"شكرا \u202egnp.exe", "עברית abc 123", "👩\u200d💻", strings.Repeat("\u0301", 200), strings.Repeat("x", 3<<20),
		"a\u0000b", "\ud7ff\ue000\uffff")
	var out bytes.Buffer
	quote := func(s string) string {
		b, err := json.Marshal(s)
		if err != nil {
			panic(err) // a string is always encoded
		}
		return string(b)
	}
	parent := "null"
	for i, text := range texts {
		q := quote(text)
		for k, message := range []string{
			`{"role":"user","content":` + q + `}`,
			fmt.Sprintf(`{"role":"assistant","model":%s,"content":[{"type":"thinking","thinking":%[1]s,"signature":"s"},{"type":"text","text":%[1]s},{"type":"tool_use","id":%[2]s,"name":%[1]s,"input":{%[1]s:%[1]s}}]}`,
				q, quote(fmt.Sprint("toolu_", i, text[:min(len(text), 40)]))),
			fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":%s,"content":%s}]}`, quote(fmt.Sprint("toolu_", i+i%2, text[:min(len(text), 40)])), q),
		} {
			kind := [...]string{"user", "assistant", "user"}[k]
			id := fmt.Sprintf(`"u%d-%d"`, i, k)
			fmt.Fprintf(&out, `{"parentUuid":%s,"isSidechain":false,"type":%q,"message":%s,"uuid":%s,"timestamp":"2026-01-02T03:%02d:%02d.000Z","sessionId":"s","version":"2.1.33"}`+"\n", parent, kind, message, id, i%60, k)
			parent = id
		}
	}
	out.WriteString(`{"type":"user","message":{"role":"user","content":"</script>` + "\x1b[31m\xff" + "\n")
	return out.Bytes()
}

// far returns a request in which the result of the first call is n messages behind it.
func far(n int) []byte {
	var out bytes.Buffer
	out.WriteString(`{"model":"claude-opus-4","messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_far","name":"Fetch","input":{"url":"https://example.com"}}]}`)
	for i := range n {
		fmt.Fprintf(&out, `,{"role":"user","content":"question %d"},{"role":"assistant","content":"answer %d"}`, i, i)
	}
	out.WriteString(`,{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_far","content":"here"}]},{"role":"assistant","content":"done"}]}`)
	return out.Bytes()
}

// agents returns a session in which a call began a sub-agent, which has a call without a result.
func agents() []byte {
	var out bytes.Buffer
	last := map[string]string{"": "null"}
	add := func(agent, kind, content string) {
		id := fmt.Sprintf(`"u%d"`, out.Len())
		side := ""
		if agent != "" {
			side = fmt.Sprintf(`"isSidechain":true,"agentId":%q,`, agent)
		}
		fmt.Fprintf(&out, `{"type":%q,"uuid":%s,"parentUuid":%s,%s"sessionId":"s","message":{"role":%[1]q,"content":[%[5]s]}}`+"\n", kind, id, cmp.Or(last[agent], "null"), side, content)
		last[agent] = id
	}
	add("", "user", `{"type":"text","text":"go"}`)
	add("", "assistant", `{"type":"tool_use","id":"x7","name":"Task","input":{}}`)
	add("x7", "user", `{"type":"text","text":"look"}`)
	add("x7", "assistant", `{"type":"tool_use","id":"toolu_a","name":"Grep","input":{}}`)
	for range 8 {
		add("x7", "user", `{"type":"text","text":"go on"}`)
		add("x7", "assistant", `{"type":"text","text":"seen"}`)
	}
	add("", "user", `{"type":"tool_result","tool_use_id":"x7","content":"seen"}`)
	add("", "assistant", `{"type":"text","text":"ok"}`)
	return out.Bytes()
}

// TestPages writes the pages that scripts/page/check.mjs opens, to the folder that TOOLGUARD_PAGES
// names.
func TestPages(t *testing.T) {
	dir := os.Getenv("TOOLGUARD_PAGES")
	if dir == "" {
		t.Skip("TOOLGUARD_PAGES names no folder")
	}
	save := func(name string, text []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	made := func(write func(io.Writer) error) []byte {
		t.Helper()
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	save("hostile.html", page(t, "\"><script>owned=1</script>\u202e.jsonl", attacks(), mostPayload))
	save("small.html", page(t, "session.jsonl", made(func(w io.Writer) error { return bench.CallLog(w, 7, 120_000, 12, 4) }), mostPayload))
	save("skipped.html", page(t, "letter.txt", []byte("Dear Kim,\n"), mostPayload))
	letter := source.FromBytes("quiet.json", far(20))
	save("quiet.html", made(func(w io.Writer) error {
		return Write(w, letter, read(t, letter), Options{Name: "quiet.json", NoPayload: true})
	}))
	save("threads.html", page(t, "threads.jsonl", agents(), mostPayload))
	save("far.html", page(t, "far.json", far(300), mostPayload))
	small := page(t, "1mb.jsonl", made(func(w io.Writer) error { return bench.CallLog(w, 1, 1<<20, 200, 5) }), mostPayload)
	save("1mb.html", small)
	save("cut.html", small[:len(small)*9/10])
	big := made(func(w io.Writer) error { return bench.CallLog(w, 1, 50<<20, 4000, 40) })
	save("50mb.html", page(t, "50mb.jsonl", big, mostPayload))
	save("shortened.html", page(t, "shortened.jsonl", big[:8<<20], 2<<20))
	save("turns.html", page(t, "turns.json", made(func(w io.Writer) error { return bench.ChatDocument(w, 1, 100_000) }), mostPayload))
	if err := os.Mkdir(filepath.Join(dir, "fixtures"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range fixtures(t) {
		if strings.Contains(path, "/broken/") {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			name := strings.ReplaceAll(strings.TrimPrefix(filepath.ToSlash(path), "../../testdata/transcripts/"), "/", "-")
			save(filepath.Join("fixtures", name+".html"), page(t, path, text, mostPayload))
		}
	}
	save("index.html", made(func(w io.Writer) error { return Index(w, "~/.claude/projects", entries(1200)) }))
}

// entries returns sessions for an index.
func entries(n int) []Entry {
	var out []Entry
	for i := range n {
		e := Entry{
			Name: fmt.Sprintf("%08x.jsonl", i*7919), Agent: [...]string{"claude-code", "codex", "gemini-cli"}[i%7%3], Version: fmt.Sprintf("2.1.%d", i%11),
			Project: "/home/kim/" + [...]string{"boats", "harbour", "<b>tide</b>"}[i%5%3], Model: [...]string{"claude-opus-4", "gpt-5"}[i%2],
			Turns: i % 400, Calls: i % 230, Modified: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Add(-time.Duration(i) * time.Hour),
		}
		switch {
		case i%17 == 3:
			e.State, e.Errors, e.Causes, e.Href, e.Title = Broken, 1+i%5, []string{"missing-tool-result"}, "small.html", "fix the <tests>"
			if i%2 == 0 {
				e.Causes = append(e.Causes, "orphan-tool-result")
			}
		case i%23 == 2:
			e.State, e.Warnings, e.Causes, e.Href = Warned, 2, []string{"duplicate-call-id"}, "small.html"
		case i%101 == 7:
			e.State, e.Note = Unread, "permission denied"
		case i%97 == 0:
			e.State = InUse
		}
		out = append(out, e)
	}
	return out
}

// TestThreadsOfRows: a thread that has a row of its own says which rows are below it, so that they can be
// folded.
func TestThreadsOfRows(t *testing.T) {
	t.Parallel()
	s := read(t, source.FromBytes("s", agents()))
	l := layOut(s)
	if len(s.Threads) != 2 || len(l.threads) != 2 {
		t.Fatalf("%d threads, of rows %v", len(s.Threads), l.threads)
	}
	sub, main := l.threads[0], l.threads[1]
	if main != [2]int32{0, int32(len(l.entries))} {
		t.Errorf("the main thread has rows %v of %d", main, len(l.entries))
	}
	for row := range int32(len(l.entries)) {
		if below := row >= sub[0] && row < sub[1]; below != (l.entries[row].depth == 1) {
			t.Errorf("row %d, of depth %d: the thread has rows %v", row, l.entries[row].depth, sub)
		}
	}
	if sub[1]-sub[0] < 10 {
		t.Errorf("rows %v", sub)
	}
}
