package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/sample"
	"github.com/toolguard/toolguard/internal/source"
)

func readFixture(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(fixtureDir, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// unsound returns the fault of a report on a text, "" if there is none.
func unsound(text []byte, rep *Report) string {
	if rep.Skipped != "" {
		if rep.Findings.Len() > 0 || rep.Calls > 0 || rep.Results > 0 {
			return "skipped, and yet findings or calls are reported"
		}
		return ""
	}
	// Offsets of line starts.
	starts := []int{0}
	for i, c := range text {
		if c == '\n' {
			starts = append(starts, i+1)
		}
	}
	position := func(p source.Position, off int64) string {
		if off < 0 || off > int64(len(text)) {
			return fmt.Sprintf("offset %d of %d", off, len(text))
		}
		n, exact := slices.BinarySearch(starts, int(off))
		if !exact {
			n--
		}
		want := source.Position{Offset: off, Line: n + 1, Column: int(off) - starts[n] + 1, Char: 1}
		for _, b := range text[starts[n]:off] {
			if b&0xC0 != 0x80 {
				want.Char++
			}
		}
		if p != want {
			return fmt.Sprintf("position %+v, want %+v", p, want)
		}
		return ""
	}
	seen := map[string]bool{}
	found := rep.Findings.List()
	for i := range found {
		f := &found[i]
		fault := func(format string, args ...any) string {
			return fmt.Sprintf("finding %d, %s %v: ", i, f.Rule.Name, f.Span) + fmt.Sprintf(format, args...)
		}
		if f.Severity == rules.Off || f.Severity > rules.Error || f.Message == "" {
			return fault("severity %d, message %q", f.Severity, f.Message)
		}
		if f.Span.Start > f.Span.End {
			return fault("ends before it starts")
		}
		if s := position(f.Start, f.Span.Start); s != "" {
			return fault("start: %s", s)
		}
		if s := position(f.End, f.Span.End); s != "" {
			return fault("end: %s", s)
		}
		if len(f.RelatedAt) != 2*len(f.Related) {
			return fault("%d positions of %d related places", len(f.RelatedAt), len(f.Related))
		}
		for k, r := range f.Related {
			if r.Span.Start > r.Span.End {
				return fault("related place %d ends before it starts", k)
			}
			if s := position(f.RelatedAt[2*k], r.Span.Start) + position(f.RelatedAt[2*k+1], r.Span.End); s != "" {
				return fault("related place %d: %s", k, s)
			}
		}
		if f.Record < 1 || int(f.Record) > rep.File.Records {
			return fault("record %d of %d", f.Record, rep.File.Records)
		}
		if f.Conversation < -1 || f.Conversation >= rep.File.Conversations {
			return fault("conversation %d of %d", f.Conversation, rep.File.Conversations)
		}
		spans := []source.Span{f.Span}
		for _, r := range f.Related {
			spans = append(spans, r.Span)
		}
		for k, e := range append([]Excerpt{f.Excerpt}, f.RelatedExcerpts...) {
			if e.Mark[0] < 0 || e.Mark[0] > e.Mark[1] || e.Mark[1] > len(e.Text) {
				return fault("mark %v in an excerpt of %d bytes", e.Mark, len(e.Text))
			}
			if at := int(spans[k].Start) - e.Mark[0]; at < 0 || !bytes.HasPrefix(text[at:], e.Text) {
				return fault("the excerpt %q is not what stands there", e.Text)
			}
		}
		for _, e := range f.Edits {
			if e.Span.Start < 0 || e.Span.Start > e.Span.End || e.Span.End > int64(len(text)) {
				return fault("an edit's span is %v", e.Span)
			}
		}
		if f.Fix != nil && f.Fix.ID == 0 {
			return fault("the operation has no id")
		}
		if seen[f.Fingerprint] {
			return fault("another finding has its fingerprint")
		}
		seen[f.Fingerprint] = true
		if i > 0 {
			b := &found[i-1]
			if b.Span.Start > f.Span.Start || b.Span.Start == f.Span.Start && b.Span.End > f.Span.End {
				return fault("stands behind %v", b.Span)
			}
		}
	}
	return ""
}

// mustBeSound checks a text and the report on it.
func mustBeSound(t *testing.T, what string, text []byte) *Report {
	t.Helper()
	rep := check(t, what, text, Options{Excerpts: true})
	if s := unsound(text, rep); s != "" {
		t.Fatalf("%s: %s\n%.2000q", what, s, text)
	}
	return rep
}

// victims are fixtures of each dialect, and a broken one that has findings of
// most kinds.
var victims = []string{
	"openai-chat/ok/array-parallel.json", "openai-chat/ok/message-lines-crlf.jsonl",
	"anthropic/ok/parallel-calls.json", "anthropic/broken/split-and-late-blocks.json",
	"claude-code/ok/inline-sidechains.jsonl", "claude-code/broken/duplicate-records.jsonl",
	"openai-responses/ok/all-pairs.json", "openai-responses/broken/duplicates.json",
}

// sparsely returns the distance between the damaged places of a text: step in a long run,
// otherwise larger.
func sparsely(step, size int) int {
	most := sample.Size(size, 60, 60)
	return max(step, size/most|1)
}

func TestCutAtEveryByte(t *testing.T) {
	t.Parallel()
	for _, name := range victims {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := readFixture(t, name)
			step := sparsely(1, len(text))
			faults, done := 0, sample.Until(t)
			for n := 0; n <= len(text); n += step {
				if done() {
					return
				}
				rep := mustBeSound(t, fmt.Sprintf("%s cut at byte %d", name, n), text[:n:n])
				for f := range rep.Findings.All() {
					if f.Rule.Name == "truncated-record" {
						faults++
						if end := f.Span.End; end > int64(n) {
							t.Fatalf("cut at byte %d, torn at byte %d", n, end)
						}
					}
				}
			}
			if faults < len(text)/(2*step) {
				t.Errorf("cut at %d places, torn at %d only", len(text)/step, faults)
			}
		})
	}
}

func TestFlipBytes(t *testing.T) {
	t.Parallel()
	for _, name := range victims {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := readFixture(t, name)
			step := sparsely(7, len(text))
			faults, done := 0, sample.Until(t)
			for n := 0; n < len(text); n += step {
				if done() {
					return
				}
				for _, c := range []byte{'"', '{', '}', '\\', 0, 0xff} {
					flipped := bytes.Clone(text)
					flipped[n] = c
					rep := mustBeSound(t, fmt.Sprintf("%s with 0x%02x at byte %d", name, c, n), flipped)
					faults += rep.Findings.Len()
				}
			}
			if faults < len(text)/step {
				t.Errorf("%d bytes flipped, only %d findings", 6*len(text)/step, faults)
			}
		})
	}
}

func TestStrangeInputs(t *testing.T) {
	utf16 := func(s string, little bool) string {
		var b strings.Builder
		for _, c := range "\ufeff" + s {
			if little {
				b.Write([]byte{byte(c), byte(c >> 8)})
			} else {
				b.Write([]byte{byte(c >> 8), byte(c)})
			}
		}
		return b.String()
	}
	message := `[{"role":"user","content":"q"}]`
	for _, c := range []struct {
		name, text string
		skipped    string // a part of the reason; "" if it is read
		rules      string // what is reported
	}{
		{"empty", "", "", ""},
		{"blank", " \t\r\n\n ", "", ""},
		{"a byte order mark", "\ufeff", "", ""},
		{"an empty array", "[]", "", ""},
		{"an empty list of messages", `{"model":"m","messages":[]}`, "", ""},
		{"an empty list of items", `{"input":[]}`, "", ""},
		{"an empty list beside other things", `{"version":1,"messages":[]}`, "no messages", ""},
		{"a text as input", `{"model":"m","input":"q","instructions":"i","tools":[],"previous_response_id":"r"}`, "", ""},
		{"a text as input, with an answer", `{"model":"m","input":"q","output":"a"}`, "no messages", ""},
		{"a text as input, without a model", `{"input":"q"}`, "no messages", ""},
		{"texts to embed", `{"model":"m","input":["a","b"]}`, "no messages", ""},
		{"a batch of texts as input", `{"body":{"model":"m","input":"q"}}` + "\n" + `{"body":{"model":"m","input":"r"}}` + "\n", "", ""},
		{"a batch of texts as input, and something else", `{"body":{"model":"m","input":"q"}}` + "\n" + `{"body":{"model":"m"}}` + "\n", "no messages", ""},
		{"an empty object", "{}", "no messages", ""},
		{"null", "null", "no messages", ""},
		{"a number", "42", "no messages", ""},
		{"a string", `"role"`, "no messages", ""},
		{"a quote", `"`, "invalid JSON", ""},
		{"a bracket", "[", "invalid JSON", ""},
		{"a torn message", `[{"role":"us`, "", "truncated-record"},
		{"the end of an array", "]", "invalid JSON", ""},
		{"PNG", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "invalid JSON: unexpected byte 0x89", ""},
		{"gzip", "\x1f\x8b\x08\x00", "gzip", ""},
		{"UTF-16 LE", utf16(message, true), "UTF-16", ""},
		{"UTF-16 BE", utf16(message, false), "UTF-16", ""},
		{"NULs only", "\x00\x00\x00", "", "nul-padding"},
		{"prose", "There was [once] a {ferry}.\n", "invalid JSON", ""},
		{"arrays of nothing", "[[],[[]],[]]", "no messages", ""},
		{"one message", message, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			rep := mustBeSound(t, c.name, []byte(c.text))
			if (c.skipped == "") != (rep.Skipped == "") || !strings.Contains(rep.Skipped, c.skipped) {
				t.Errorf("skipped: %q, want %q", rep.Skipped, c.skipped)
			}
			var got []string
			for f := range rep.Findings.All() {
				got = append(got, f.Rule.Name)
			}
			if s := strings.Join(got, " "); s != c.rules {
				t.Errorf("found %q, want %q", s, c.rules)
			}
		})
	}
}

// TestDeepInputs: endless nesting does not exhaust the stack.
func TestDeepInputs(t *testing.T) {
	size := sample.Size(20<<20, 4<<20, 1<<20)
	for _, open := range []string{"[", `{"a":`, `[{"role":"user","content":[`, `{"messages":[{"a":`} {
		text := []byte(strings.Repeat(open, size/len(open)))
		rep := mustBeSound(t, open, text)
		if rep.Skipped == "" && (rep.Findings.Len() != 1 || rep.Findings.List()[0].Rule.Name != "too-deep") {
			t.Errorf("%d bytes of %s:\n%s", len(text), open, render(rep))
		}
	}
}

// TestDeterminism: two checks of one text give the same report.
func TestDeterminism(t *testing.T) {
	for _, f := range fixtures(t) {
		a, b := check(t, f.name, f.text, Options{Excerpts: true}), check(t, f.name, f.text, Options{Excerpts: true})
		if !reflect.DeepEqual(a, b) {
			t.Errorf("%s:\n%s%s", f.name, render(a), render(b))
		}
	}
}

// A jsonPlace is the place of a JSON value, with its key if it has one.
type jsonPlace struct{ key, start, end int64 }

func (p jsonPlace) contains(s source.Span) bool { return p.start <= s.Start && s.End <= p.end }

// children returns the values directly in a JSON value at offset off, and their names: the
// keys of an object, the indices of an array.
func children(raw []byte, off int64) (names []string, places []jsonPlace) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	open, err := dec.Token()
	if d, is := open.(json.Delim); err != nil || !is || d != '{' && d != '[' {
		return nil, nil
	}
	for dec.More() {
		name, key := strconv.Itoa(len(places)), int64(-1)
		if open == json.Delim('{') {
			tok, err := dec.Token()
			if err != nil {
				return names, places
			}
			name = tok.(string)
			// The key starts at the last quote after the end of the previous value.
			from := int64(1)
			if n := len(places); n > 0 {
				from = places[n-1].end - off
			}
			key = off + from + int64(bytes.IndexByte(raw[from:], '"'))
		}
		var val json.RawMessage
		if err := dec.Decode(&val); err != nil {
			return names, places
		}
		end := off + dec.InputOffset()
		p := jsonPlace{key: key, start: end - int64(len(val)), end: end}
		if key < 0 {
			p.key = p.start
		}
		names, places = append(names, name), append(places, p)
	}
	return names, places
}

// resolve returns all values that a JSON pointer leads to: several if keys are duplicated.
func resolve(raw []byte, off int64, pointer string) []jsonPlace {
	at := []jsonPlace{{off, off, off + int64(len(raw))}}
	if pointer == "" {
		return at
	}
	for part := range strings.SplitSeq(pointer[1:], "/") {
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		var next []jsonPlace
		for _, p := range at {
			names, places := children(raw[p.start-off:p.end-off], p.start)
			for i, name := range names {
				if name == part {
					next = append(next, places[i])
				}
			}
		}
		at = next
	}
	return at
}

// TestPointers: the pointer of each finding in a valid record leads to the innermost value
// that contains the finding, as encoding/json reads the record.
func TestPointers(t *testing.T) {
	looked := 0
	for _, f := range fixtures(t) {
		rep := check(t, f.name, f.text, Options{Excerpts: true})
		if rep.Skipped != "" {
			continue
		}
		spans := map[int32]source.Span{}
		for rec, err := range source.Records(source.FromBytes(f.name, f.text)) {
			if err != nil {
				t.Fatal(err)
			}
			if rec.Readable() {
				spans[int32(rec.Index)] = rec.Span
			}
		}
		for fd := range rep.Findings.All() {
			rec := spans[fd.Record]
			if !rec.Contains(fd.Span) {
				continue // between records
			}
			raw := f.text[rec.Start:rec.End]
			if !json.Valid(raw) {
				continue
			}
			looked++
			ok := false
			for _, p := range resolve(raw, rec.Start, fd.Pointer) {
				_, inner := children(raw[p.start-rec.Start:p.end-rec.Start], p.start)
				if slices.ContainsFunc(inner, func(c jsonPlace) bool { return c.contains(fd.Span) }) {
					continue
				}
				ok = ok || p.contains(fd.Span) || p.key <= fd.Span.Start && fd.Span.End <= p.end
			}
			if !ok {
				t.Errorf("%s:%d:%d: %s: the pointer %q does not lead to bytes %v", f.name, fd.Start.Line, fd.Start.Column, fd.Rule.Name, fd.Pointer, fd.Span)
			}
		}
	}
	if looked < 150 {
		t.Errorf("looked at %d findings only", looked)
	}
}

// A load is an input that grows.
type load struct {
	name string
	n    int                              // elements of the small input; the large one has ten times as many
	text func(n int) []byte               // an input with n elements
	want func(n int) map[string]int       // how often each rule reports something
	more func(n int) (calls, results int) // what is counted
}

func each(n int, format string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

func joined(n int, format string) string { return strings.ReplaceAll(each(n, format), "\n", ",\n") }

const (
	loadUser = `{"role":"user","content":"go"}`
	loadCall = `{"id":"c%[1]d","type":"function","function":{"name":"f","arguments":"{\"n\":%[1]d}"}}`
	loadTool = `{"role":"tool","tool_call_id":"c%d","content":"ok"}`
	loadUse  = `{"type":"tool_use","id":"t%d","name":"f","input":{}}`
	loadRes  = `{"type":"tool_result","tool_use_id":"t%d","content":"ok"}`
)

var loads = []load{
	{
		name: "findings", n: 1_000,
		text: func(n int) []byte { return []byte(loadUser + "\n" + each(n, loadTool) + "\n" + loadUser) },
		want: func(n int) map[string]int { return map[string]int{"orphan-tool-result": n} },
		more: func(n int) (int, int) { return 0, n },
	},
	{
		name: "calls of one conversation", n: 10_000,
		text: func(n int) []byte {
			var b bytes.Buffer
			b.WriteString("[" + loadUser)
			for i := range n {
				fmt.Fprintf(&b, ",\n"+`{"role":"assistant","content":null,"tool_calls":[`+loadCall+`]}`, i)
				if i%10 > 0 {
					fmt.Fprintf(&b, ",\n"+loadTool, i)
				}
			}
			b.WriteString(",\n" + loadUser + "]")
			return b.Bytes()
		},
		want: func(n int) map[string]int {
			return map[string]int{"missing-tool-result": n / 10, "consecutive-roles": n / 10}
		},
		more: func(n int) (int, int) { return n, n - n/10 },
	},
	{
		name: "calls of one turn", n: 5_000,
		text: func(n int) []byte {
			return []byte("[" + loadUser + ",\n" + `{"role":"assistant","content":null,"tool_calls":[` + joined(n, loadCall) + "]},\n" + joined(n, loadTool) + "]")
		},
		more: func(n int) (int, int) { return n, n },
	},
	{
		name: "a turn half answered", n: 2_000,
		text: func(n int) []byte {
			return []byte("[" + loadUser + ",\n" + `{"role":"assistant","content":null,"tool_calls":[` + joined(2*n, loadCall) + "]},\n" + joined(n, loadTool) + ",\n" + loadUser + "]")
		},
		want: func(n int) map[string]int { return map[string]int{"missing-tool-result": n} },
		more: func(n int) (int, int) { return 2 * n, n },
	},
	{
		name: "one id for the calls of a turn", n: 1_000,
		text: func(n int) []byte {
			return []byte("[" + loadUser + ",\n" + `{"role":"assistant","content":null,"tool_calls":[` +
				joined(n, `{"id":"c0","type":"function","function":{"name":"f","arguments":"{\"n\":1%06d}"}}`) + "]},\n" + loadUser + "]")
		},
		want: func(n int) map[string]int {
			return map[string]int{"missing-tool-result": n, "duplicate-call-id": n - 1}
		},
		more: func(n int) (int, int) { return n, 0 },
	},
	{
		name: "one id for all turns", n: 5_000,
		text: func(n int) []byte {
			return []byte("[" + loadUser + ",\n" + strings.ReplaceAll(joined(n, `{"role":"assistant","content":null,"tool_calls":[{"id":"c0","type":"function","function":{"name":"f","arguments":"{\"n\":1%06d}"}}]}`),
				"\n", "\n"+fmt.Sprintf(loadTool, 0)+",\n") + "]")
		},
		want: func(int) map[string]int { return map[string]int{"reused-call-id": 1, "pending-tool-call": 1} },
		more: func(n int) (int, int) { return n, n - 1 },
	},
	{
		name: "calls without ids", n: 2_000,
		text: func(n int) []byte {
			return []byte("[" + loadUser + ",\n" + `{"role":"assistant","content":null,"tool_calls":[` + joined(n, `{"type":"function","function":{"name":"f","arguments":"{\"n\":%d}"}}`) +
				"]},\n" + joined(n-1, `{"role":"tool","name":"f","content":"%d"}`) + ",\n" + loadUser + "]")
		},
		want: func(n int) map[string]int {
			return map[string]int{"missing-call-id": 2*n - 1, "ambiguous-pairing": n - 1, "missing-tool-result": 1}
		},
		more: func(n int) (int, int) { return n, n - 1 },
	},
	{
		name: "results of one message", n: 5_000,
		text: func(n int) []byte {
			return []byte("[" + loadUser + `,{"role":"assistant","content":[` + joined(n, loadUse) + `]},{"role":"user","content":[` + joined(n, loadRes) + "]}]")
		},
		more: func(n int) (int, int) { return n, n },
	},
	{
		name: "late results", n: 2_000,
		text: func(n int) []byte {
			return []byte("[" + loadUser + `,{"role":"assistant","content":[` + joined(n, loadUse) + `]},` + loadUser + "," +
				strings.ReplaceAll(joined(n, `{"role":"user","content":"x%d"}`), "user", "assistant") + `,{"role":"user","content":[` + joined(n, loadRes) + "]}]")
		},
		want: func(n int) map[string]int {
			return map[string]int{"misplaced-tool-result": n, "consecutive-roles": n - 1}
		},
		more: func(n int) (int, int) { return n, n },
	},
	{
		name: "reasoning items", n: 5_000,
		text: func(n int) []byte {
			return []byte("[" + loadUser + ",\n" + joined(n, `{"type":"reasoning","id":"rs_%d","summary":[]}`) + ",\n" + loadUser + "]")
		},
		want: func(n int) map[string]int { return map[string]int{"reasoning-unreplayable": n} },
		more: func(int) (int, int) { return 0, 0 },
	},
	{
		name: "items of a list", n: 5_000,
		text: func(n int) []byte {
			return []byte("[" + loadUser + ",\n" + joined(n, `{"type":"function_call","call_id":"c%d","name":"f","arguments":"{}"}`) + ",\n" +
				joined(n, `{"type":"function_call_output","call_id":"c%d","output":"ok"}`) + "]")
		},
		more: func(n int) (int, int) { return n, n },
	},
	{
		name: "records of a session", n: 5_000,
		text: func(n int) []byte {
			var b bytes.Buffer
			parent := "null"
			for i := range n {
				fmt.Fprintf(&b, `{"type":"assistant","uuid":"a%[1]d","parentUuid":%[2]s,"sessionId":"s","message":{"id":"m%[1]d","role":"assistant","content":[{"type":"tool_use","id":"t%[1]d","name":"f","input":{}}]}}`+"\n", i, parent)
				fmt.Fprintf(&b, `{"type":"user","uuid":"r%[1]d","parentUuid":"a%[1]d","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%[1]d","content":"ok"}]}}`+"\n", i)
				parent = strconv.Quote(fmt.Sprintf("r%d", i))
			}
			return b.Bytes()
		},
		more: func(n int) (int, int) { return n, n },
	},
	{
		name: "agents of a session", n: 2_000,
		text: func(n int) []byte {
			return []byte(each(n, `{"type":"user","uuid":"u%[1]d","parentUuid":null,"isSidechain":true,"agentId":"g%[1]d","sessionId":"s","message":{"role":"user","content":"go"}}
{"type":"assistant","uuid":"a%[1]d","parentUuid":"u%[1]d","isSidechain":true,"agentId":"g%[1]d","sessionId":"s","message":{"id":"m%[1]d","role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]}}
{"type":"user","uuid":"r%[1]d","parentUuid":"a%[1]d","isSidechain":true,"agentId":"g%[1]d","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"ok"}]}}`))
		},
		more: func(n int) (int, int) { return n, n },
	},
	{
		name: "interrupts of a session", n: 2_000,
		text: func(n int) []byte {
			var b bytes.Buffer
			parent := "null"
			for i := range n {
				fmt.Fprintf(&b, `{"type":"assistant","uuid":"a%[1]d","parentUuid":%[2]s,"sessionId":"s","message":{"id":"m%[1]d","role":"assistant","content":[{"type":"tool_use","id":"t%[1]d","name":"f","input":{}}]}}`+"\n", i, parent)
				fmt.Fprintf(&b, `{"type":"user","uuid":"r%[1]d","parentUuid":"a%[1]d","sessionId":"s","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user for tool use]"}]}}`+"\n", i)
				parent = strconv.Quote(fmt.Sprintf("r%d", i))
			}
			return b.Bytes()
		},
		want: func(n int) map[string]int { return map[string]int{"interrupted-tool-call": n} },
		more: func(n int) (int, int) { return n, 0 },
	},
	{
		name: "conversations", n: 5_000,
		text: func(n int) []byte {
			return []byte(each(n, `{"messages":[`+loadUser+`,{"role":"assistant","content":null,"tool_calls":[`+loadCall+`]}]}`))
		},
		want: func(n int) map[string]int { return map[string]int{"pending-tool-call": n} },
		more: func(n int) (int, int) { return n, 0 },
	},
	{
		name: "faults", n: 2_000,
		text: func(n int) []byte {
			return []byte(loadUser + "\n" + loadUser + "\n" + each(n, `{"role":"user","content":"%d}`+"\n"+loadUser))
		},
		want: func(n int) map[string]int { return map[string]int{"invalid-json": n, "consecutive-roles": 1} },
		more: func(int) (int, int) { return 0, 0 },
	},
	{
		name: "sub-agents", n: 20_000,
		text: func(n int) []byte {
			const record = `{"type":"user","uuid":"%s%d","parentUuid":null,"sessionId":"s","isSidechain":true,"agentId":"%[2]d","message":{"role":"user","content":"q"}}` + "\n"
			var b bytes.Buffer
			for _, round := range []string{"a", "b"} {
				for i := range n {
					fmt.Fprintf(&b, record, round, i)
				}
			}
			return b.Bytes()
		},
		more: func(int) (int, int) { return 0, 0 },
	},
	{
		name: "tiny lines", n: 100_000,
		text: func(n int) []byte {
			return []byte(`{"messages":[` + loadUser + "]}\n" + strings.Repeat("{\"messages\":["+loadUser+"]}\n", n-n/4) + strings.Repeat(`{"messages":[]}`+"\n", n/4))
		},
		more: func(int) (int, int) { return 0, 0 },
	},
	{
		name: "a long line", n: 10 << 20,
		text: func(n int) []byte {
			return []byte(loadUser + "\n" + `{"role":"user","content":"` + strings.Repeat("x", n) + `"}` + "\n" + fmt.Sprintf(loadTool, 1) + "\n")
		},
		want: func(int) map[string]int { return map[string]int{"orphan-tool-result": 1, "consecutive-roles": 1} },
		more: func(int) (int, int) { return 0, 1 },
	},
}

// run checks a load of a size and compares the report with the expected one.
func (l *load) run(t testing.TB, n int, text []byte) {
	t.Helper()
	rep := check(t, l.name, text, Options{Excerpts: true})
	got := map[string]int{}
	for f := range rep.Findings.All() {
		got[f.Rule.Name]++
	}
	want := map[string]int{}
	if l.want != nil {
		want = l.want(n)
	}
	calls, results := l.more(n)
	if rep.Skipped != "" || rep.Calls != calls || rep.Results != results || !reflect.DeepEqual(got, want) {
		t.Fatalf("%d: %s%d calls and %d results, want %d and %d; found %v, want %v",
			n, rep.Skipped, rep.Calls, rep.Results, calls, results, got, want)
	}
}

// TestLoads: everything in a large transcript is counted exactly.
func TestLoads(t *testing.T) {
	for _, l := range allLoads() {
		n := sample.Size(l.n, min(l.n/4, 20_000), l.n/10)
		t.Run(l.name, func(t *testing.T) { l.run(t, n, l.text(n)) })
	}
}

// BenchmarkLoads reports how much longer ten times the load takes, to check and to repair: 10 for linear
// work, 100 for quadratic work.
func BenchmarkLoads(b *testing.B) {
	for _, l := range allLoads() {
		small, large := l.text(l.n), l.text(10*l.n)
		compare := func(name string, do func(b *testing.B, n int, text []byte)) {
			b.Run(l.name+"/"+name, func(b *testing.B) {
				var once, tenfold time.Duration
				for b.Loop() {
					start := time.Now()
					do(b, l.n, small)
					middle := time.Now()
					do(b, 10*l.n, large)
					once += middle.Sub(start)
					tenfold += time.Since(middle)
				}
				b.ReportMetric(float64(tenfold)/float64(once), "x/10x-load")
			})
		}
		compare("check", func(b *testing.B, n int, text []byte) {
			b.Helper()
			l.run(b, n, text)
		})
		compare("repair", func(b *testing.B, _ int, text []byte) {
			b.Helper()
			if err := l.repair(b.Context(), bytes.NewReader(text), int64(len(text))); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// A brokenReader fails after its first bytes.
type brokenReader struct {
	text []byte
	at   int64
}

var errBroken = errors.New("the disk is broken")

func (r brokenReader) ReadAt(p []byte, off int64) (int, error) {
	if off >= r.at {
		return 0, errBroken
	}
	n := copy(p, r.text[off:r.at])
	if n < len(p) {
		return n, errBroken
	}
	return n, nil
}

// TestSourceFails: an error of the source is returned, wherever it happens, and never taken
// for the end of the input.
func TestSourceFails(t *testing.T) {
	for _, name := range victims {
		text := readFixture(t, name)
		for at := 0; at < len(text); at += 97 {
			src := source.NewSource(name, brokenReader{text, int64(at)}, int64(len(text)))
			if rep, err := Check(t.Context(), src, Options{}); !errors.Is(err, errBroken) {
				t.Fatalf("%s, broken at byte %d: %v, %v", name, at, rep, err)
			}
		}
		src := source.NewSource(name, bytes.NewReader(text[:len(text)-1]), int64(len(text)))
		if rep, err := Check(t.Context(), src, Options{}); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%s, shorter than it was: %v, %v", name, rep, err)
		}
	}
}

// A failingReader fails from some read on.
type failingReader struct {
	io.ReaderAt
	left int // reads
}

func (r *failingReader) ReadAt(p []byte, off int64) (int, error) {
	if r.left--; r.left < 0 {
		return 0, errBroken
	}
	return r.ReaderAt.ReadAt(p, off)
}

// TestSourceFailsInRepair: an error of the source while it is repaired is returned, whichever read fails.
func TestSourceFailsInRepair(t *testing.T) {
	for _, l := range growing {
		if !strings.HasPrefix(l.name, "lost calls") {
			continue
		}
		text, failed := l.text(1_000), 0
		for n := 0; ; n += 1 + n/8 {
			err := l.repair(t.Context(), &failingReader{bytes.NewReader(text), n}, int64(len(text)))
			if err == nil {
				break
			}
			if !errors.Is(err, errBroken) {
				t.Fatalf("%s, read %d fails: %v", l.name, n, err)
			}
			failed++
		}
		if failed < 5 {
			t.Errorf("%s: only %d reads", l.name, failed)
		}
	}
}
