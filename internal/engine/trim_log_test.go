package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/trim"
)

// logFixtures returns the session logs of the formats that trim cuts, by name.
func logFixtures(t testing.TB, roots ...string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || filepath.Ext(path) != ".jsonl" {
				return err
			}
			text, err := os.ReadFile(path)
			out[filepath.ToSlash(path)] = text
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// trimmedLog says what holds for each trimmed log: it reads as before, with no more problems, each line
// is one of the input except for its links, the chain of what is sent leads to a root, and a second run
// changes nothing.
func trimmedLog(t *testing.T, name string, text, out []byte, got *Trimmed, req *trim.Request) {
	t.Helper()
	count := func(text []byte) map[string]int {
		n := worstOf(check(t, name, text, Options{}))
		n["missing-tool-result"] += n["pending-tool-call"] // what is missing may come, once nothing follows
		delete(n, "pending-tool-call")
		return n
	}
	before := count(text)
	for rule, n := range count(out) {
		if was := before[rule]; n > was {
			t.Errorf("%s: %+v: %d of %s, %d before\n%s", name, *req, n, rule, was, out)
		}
	}
	var lines []string
	known := map[string]bool{}
	for line := range bytes.Lines(text) {
		known[idOf(line)] = true
		lines = append(lines, unlinked(line))
	}
	seen, from := map[string]bool{}, 0
	for line := range bytes.Lines(out) {
		if id := idOf(line); id != "" {
			if parent := parentIDOf(line); parent != "" && !seen[parent] && known[parent] {
				t.Errorf("%s: %+v: %s is not there\n%s", name, *req, parent, out)
			}
			seen[id] = true
		}
		if got.Shortened != nil {
			continue
		}
		n := slices.Index(lines[from:], unlinked(line))
		if n < 0 {
			t.Fatalf("%s: %+v: no such line before: %s", name, *req, line)
		}
		from += n + 1
	}
	if req.Target != nil || req.Newer {
		return
	}
	if again, second := trimText(t, name, out, Options{}, req); again != nil && !bytes.Equal(second, out) {
		t.Errorf("%s: %+v: a second run changes\n%s\nto\n%s", name, *req, out, second)
	}
}

// field returns the first string field of a line that has one of these names.
func field(line []byte, keys ...string) string {
	var record map[string]any
	if json.Unmarshal(line, &record) != nil {
		return ""
	}
	for _, key := range keys {
		if text, is := record[key].(string); is {
			return text
		}
	}
	return ""
}

func idOf(line []byte) string       { return field(line, "uuid", "id") }
func parentIDOf(line []byte) string { return field(line, "parentUuid", "parentId") }

// links are the fields that a cut may change.
var links = regexp.MustCompile(`"(parentUuid|parentId|ordinal)":\s*("[^"]*"|null|\d+)`)

// unlinked returns a line without its links.
func unlinked(line []byte) string {
	return string(bytes.TrimRight(links.ReplaceAll(line, []byte(`"$1":`)), "\r\n"))
}

// TestTrimCircle: a log whose links lead in a circle has no first record.
func TestTrimCircle(t *testing.T) {
	t.Parallel()
	const text = `{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"a"}}
{"type":"user","uuid":"u3","parentUuid":"u4","sessionId":"s","message":{"role":"user","content":"c"}}
{"type":"assistant","uuid":"u4","parentUuid":"u3","sessionId":"s","message":{"id":"m2","role":"assistant","content":"d"}}
`
	_, err := Trim(t.Context(), source.FromBytes("s.jsonl", []byte(text)), Options{}, &trim.Request{KeepLast: 1})
	if want := "not trimmed: the parents of its records lead in a circle"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestTrimTaken: the last record of this log alone is a list of messages in another format.
func TestTrimTaken(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "transcripts", "qwen-code", "ok", "compressed.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := Trim(t.Context(), source.FromBytes("s.jsonl", text), Options{}, &trim.Request{KeepFirst: 1})
	if want := "not trimmed: the cut would leave so little of the log that it would be taken for gemini"; err == nil || err.Error() != want || got.Changed() {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestTrimAbove: each record without a message goes with the message above it, however far that is, and
// the time for many such records is that of reading them.
func TestTrimAbove(t *testing.T) {
	t.Parallel()
	const n = 50_000
	var b bytes.Buffer
	parent := "null"
	add := func(id, rest string) {
		fmt.Fprintf(&b, `{"uuid":"%s","parentUuid":%s,"sessionId":"s",%s}`+"\n", id, parent, rest)
		parent = strconv.Quote(id)
	}
	add("u1", `"type":"user","message":{"role":"user","content":"one"}`)
	add("a1", `"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"1"}]}`)
	for i := range n {
		add("p"+strconv.Itoa(i), `"type":"progress"`)
	}
	add("u2", `"type":"user","message":{"role":"user","content":"two"}`)
	add("q", `"type":"progress"`)
	got, err := Trim(t.Context(), source.FromBytes("s.jsonl", b.Bytes()), Options{}, &trim.Request{KeepLastUser: 1})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"uuid":"u2","parentUuid":null,"sessionId":"s","type":"user","message":{"role":"user","content":"two"}}
{"uuid":"q","parentUuid":"u2","sessionId":"s","type":"progress"}
`
	if out := string(got.Pieces.Source().Text()); out != want {
		t.Errorf("got %.500s, want %s", out, want)
	}
}

// TestTrimLogs cuts each log before each message, at all boundaries and in both directions.
func TestTrimLogs(t *testing.T) {
	t.Parallel()
	roots := []string{}
	for _, d := range []string{"claude-code", "qwen-code", "pi", "codex", "factory-droid", "copilot-cli", "gemini-cli"} {
		roots = append(roots, filepath.Join("..", "..", "testdata", "transcripts", d))
	}
	cuts := map[string]int{}
	for name, text := range logFixtures(t, roots...) {
		d := strings.Split(name, "/")[4]
		n := bytes.Count(text, []byte("\n"))
		for _, b := range []trim.Boundary{trim.User, trim.Loop, trim.Pair} {
			for i := range n {
				for _, newer := range []bool{false, true} {
					for _, req := range []*trim.Request{{Target: at(i), Boundary: b, Newer: newer}, {KeepLast: i + 1, Boundary: b, Newer: newer}} {
						if req.KeepLast > 0 && (newer || b == trim.Loop) {
							continue // as with Target, and no second run
						}
						got, out := trimText(t, name, text, Options{}, req)
						if got == nil || !got.Changed() {
							continue
						}
						cuts[d]++
						trimmedLog(t, name, text, out, got, req)
					}
				}
			}
		}
		for _, size := range []int64{int64(len(text)) / 4, int64(len(text)) / 2} {
			if got, out := trimText(t, name, text, Options{}, &trim.Request{MaxBytes: max(size, 1), Boundary: trim.Pair}); got != nil && got.Changed() {
				if cuts["bytes"]++; int64(len(out)) > size {
					t.Errorf("%s: %d bytes, want at most %d", name, len(out), size)
				}
			}
		}
	}
	t.Log(cuts)
	for _, d := range []string{"claude-code", "qwen-code", "pi", "codex", "factory-droid", "copilot-cli", "gemini-cli", "bytes"} {
		if cuts[d] == 0 {
			t.Errorf("no cut of %s", d)
		}
	}
}

// TestTrimNotes: what is sent besides the messages counts as tokens: the summary of a compaction, and
// what was typed while the agent worked.
func TestTrimNotes(t *testing.T) {
	words := strings.Repeat("word ", 400)
	pi := func(id, parent, rest string) string {
		return fmt.Sprintf(`{"id":%q,"parentId":%s,"timestamp":"2026-01-01T00:00:00.000Z",%s}`+"\n", id, parent, rest)
	}
	user := func(text string) string { return `"type":"message","message":{"role":"user","content":"` + text + `"}` }
	claude := func(id, parent, rest string) string {
		return fmt.Sprintf(`{"uuid":%q,"parentUuid":%s,"sessionId":"s","isSidechain":false,"timestamp":"2026-01-01T00:00:00.000Z",%s}`+"\n", id, parent, rest)
	}
	said := func(role, text string) string {
		return fmt.Sprintf(`"type":%q,"message":{"role":%[1]q,"content":[{"type":"text","text":%q}]}`, role, text)
	}
	for name, log := range map[string]string{
		"pi": `{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}` + "\n" +
			pi("00000001", "null", user("one")) + pi("00000002", `"00000001"`, user("two")) +
			pi("00000003", `"00000002"`, `"type":"compaction","summary":"`+words+`","firstKeptEntryId":"00000002","tokensBefore":9`) +
			pi("00000004", `"00000003"`, `"type":"message","message":{"role":"assistant","content":[{"type":"text","text":"Hm."}]}`) +
			pi("00000005", `"00000004"`, user("three")),
		"claude-code": claude("1", "null", said("user", "one")) + claude("2", `"1"`, said("assistant", "Hm.")) +
			claude("3", `"2"`, `"type":"attachment","attachment":{"type":"queued_command","prompt":"`+words+`"}`) +
			claude("4", `"3"`, said("assistant", "Yes.")) + claude("5", `"4"`, said("user", "three")),
	} {
		for _, c := range []struct {
			most  int64
			takes bool // with what is sent besides the messages
		}{{1000, true}, {200, false}} {
			got, err := Trim(t.Context(), source.FromBytes("x.jsonl", []byte(log)), Options{}, &trim.Request{MaxTokens: c.most})
			if none := (*trim.NoCutError)(nil); name == "pi" && !c.takes && errors.As(err, &none) {
				continue // the last compaction stays
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			out := log
			if got.Changed() {
				text, err := got.Pieces.Source().Bytes(source.Span{End: got.Pieces.Size()})
				if err != nil {
					t.Fatal(err)
				}
				out = string(text)
			}
			if strings.Contains(out, words) != c.takes || c.takes != (got.Tokens > 400) || got.Tokens > c.most {
				t.Errorf("%s: within %d tokens, %d are left:\n%s", name, c.most, got.Tokens, out)
			}
		}
	}
}

// TestTrimFolded: the messages of a log whose records replace earlier ones are in another order than the records
// that count. Each has its own size, whatever that order is.
func TestTrimFolded(t *testing.T) {
	name := filepath.Join("..", "..", "testdata", "transcripts", "gemini-cli", "ok", "two-prompts.jsonl")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	for without := range lines {
		log := string(text) + strings.Join(slices.Delete(slices.Clone(lines), without, without+1), "")
		whole, err := Trim(t.Context(), source.FromBytes(name, []byte(log)), Options{}, &trim.Request{MaxTokens: 10_000})
		if err != nil || whole.Changed() {
			t.Fatalf("without line %d: %v", without+1, err)
		}
		for _, most := range []int64{whole.Tokens - 1, whole.Tokens / 2} {
			got, err := Trim(t.Context(), source.FromBytes(name, []byte(log)), Options{}, &trim.Request{MaxTokens: most, Boundary: trim.Pair})
			switch none := (*trim.NoCutError)(nil); {
			case errors.As(err, &none):
			case err != nil:
				t.Errorf("without line %d: %d of %d tokens: %v", without+1, most, whole.Tokens, err)
			case !got.Changed(), got.Tokens > most:
				t.Errorf("without line %d: %d of %d tokens: %d are left", without+1, most, whole.Tokens, got.Tokens)
			}
		}
	}
}

// TestTrimTellsOfLogs: what is left is counted, also if nothing is cut, and so are records that go although
// their history stays.
func TestTrimTellsOfLogs(t *testing.T) {
	claude := func(id, parent, rest string) string {
		return fmt.Sprintf(`{"uuid":%q,"parentUuid":%s,"sessionId":"s","timestamp":"2026-01-01T00:00:00.000Z",%s}`+"\n", id, parent, rest)
	}
	log := claude("1", "null", `"isSidechain":false,"type":"user","message":{"role":"user","content":"go"}`) +
		claude("2", `"1"`, `"isSidechain":false,"type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]}`) +
		claude("x", "null", `"isSidechain":true,"agentId":"a","type":"user","message":{"role":"user","content":"look"}`) +
		claude("3", `"2"`, `"isSidechain":false,"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"`+strings.Repeat("x", 900)+`"}]}`)
	more := log + claude("4", `"3"`, `"isSidechain":false,"type":"user","message":{"role":"user","content":"on"}`)
	for _, c := range []struct {
		req                          trim.Request
		kept, calls, results, unsent int
		changed                      bool
	}{
		{trim.Request{ResultsMax: 200}, 3, 1, 1, 0, true},
		{trim.Request{ResultsMax: 2000}, 3, 1, 1, 0, false},
		{trim.Request{MaxBytes: int64(len(log)) - 1}, 3, 1, 1, 1, true},
		{trim.Request{MaxBytes: int64(len(log))}, 3, 1, 1, 0, false},
		{trim.Request{KeepLast: 1}, 1, 0, 0, 1, true},
	} {
		text := log
		if c.req.KeepLast > 0 {
			text = more
		}
		got, err := Trim(t.Context(), source.FromBytes("x.jsonl", []byte(text)), Options{}, &c.req)
		if err != nil {
			t.Fatalf("%+v: %v", c.req, err)
		}
		if got.Kept != c.kept || got.Calls != c.calls || got.Results != c.results || got.Unsent != c.unsent || got.Changed() != c.changed {
			t.Errorf("%+v: %d messages, %d calls, %d results, %d records that are not sent, changed: %v", c.req, got.Kept, got.Calls, got.Results, got.Unsent, got.Changed())
		}
	}
}
