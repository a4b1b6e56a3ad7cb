package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/toolguard/toolguard/internal/container"
	"github.com/toolguard/toolguard/internal/edit"

	"github.com/google/go-cmp/cmp"
	"github.com/mattn/go-runewidth"

	"github.com/toolguard/toolguard/internal/detect"
	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/golden"
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
)

// reports are files with findings that use everything a finding has, and with
// text that tries to be something else in a report.
func reports() []*engine.Report {
	at := func(offset int64, line, column int) source.Position {
		return source.Position{Offset: offset, Line: line, Column: column, Char: max(1, column-1)}
	}
	insert := &operation.Operation{ID: 1, Class: operation.Additive, Title: "insert a placeholder result after messages.2"}
	drop := &operation.Operation{ID: 1, Class: operation.Unsafe, Title: "drop the result"}
	rename := &operation.Operation{ID: 2, Class: operation.Safe, Title: "rename the id", ByStrategy: true}
	line := `{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"ls","input":{}}]}`
	id := strings.Index(line, `"c1"`)
	return []*engine.Report{
		{
			Path:  "a.jsonl",
			File:  &container.File{Decision: detect.Decision{Dialect: "anthropic", Container: detect.ContainerLines}, Conversations: 1},
			Calls: 12, Results: 11,
			Findings: engine.Pack(engine.Finding{
				Finding: rules.Finding{
					Rule: rules.ByName("missing-tool-result"), Severity: rules.Error,
					Message: `call "c1" to "ls" has no result`, Span: source.Span{Start: 195, End: 199},
					Turn: 1, Record: 2, CallID: "c1", Tool: "ls",
					Refusal: "`tool_use` ids were found without `tool_result` blocks", Fix: insert,
				},
				Path: "a.jsonl", Dialect: "anthropic", Pointer: "/content/0/id",
				Start: at(195, 2, 56), End: at(199, 2, 60), Fingerprint: "0011223344556677",
				Excerpt: engine.Excerpt{Text: []byte(line), Mark: [2]int{id, id + 4}},
			}),
		},
		{
			Path:  "b\x1b[31m\n.json",
			File:  &container.File{Decision: detect.Decision{Dialect: "openai-chat", Container: detect.ContainerDocument}, Conversations: 2},
			Calls: 3, Results: 4,
			Findings: engine.Pack(
				engine.Finding{
					Finding: rules.Finding{
						Rule: rules.ByName("orphan-tool-result"), Severity: rules.Error,
						Message: "result for \"\u202e\xff\r\n\u009b\" answers no call", Span: source.Span{Start: 10, End: 14},
						Conversation: 1, Turn: 0, Record: 1, CallID: "\u202e\xff\U000e0041", Fix: drop,
					},
					Path: "b\x1b[31m\n.json", Dialect: "openai-chat", Pointer: "/0/tool_call_id",
					Start: at(10, 1, 11), End: at(14, 1, 15), Fingerprint: "8899aabbccddeeff",
				},
				engine.Finding{
					Finding: rules.Finding{
						Rule: rules.ByName("reused-call-id"), Severity: rules.Info, Message: "the id is used again",
						Conversation: 1, Turn: 2, Record: 1, Confidence: "exact", Fix: rename,
						Related: []rules.Related{{Message: "the first use is here"}, {Message: "and another one"}},
					},
					Path: "b\x1b[31m\n.json", Dialect: "openai-chat",
					Start: at(30, 2, 1), End: at(31, 2, 2), RelatedAt: []source.Position{at(1, 1, 2), at(3, 1, 4), at(5, 1, 6), at(9, 1, 10)},
					RelatedExcerpts: []engine.Excerpt{{Text: []byte(line), Mark: [2]int{id, id + 4}}, {}},
					Fingerprint:     "1111111111111111",
				},
				engine.Finding{
					Finding: rules.Finding{
						Rule: rules.ByName("truncated-record"), Severity: rules.Warning, Message: "the input ends here",
						Conversation: -1, Turn: -1, Record: 1,
					},
					Path: "b\x1b[31m\n.json", Dialect: "openai-chat", Start: at(99, 12345678, 1), End: at(99, 12345678, 1),
					Fingerprint: "2222222222222222",
					Excerpt:     engine.Excerpt{Text: []byte("{\"a"), Mark: [2]int{3, 3}},
				},
			),
		},
		{
			Path:  hostilePath,
			File:  &container.File{Decision: detect.Decision{Dialect: "anthropic", Container: detect.ContainerLines}, Conversations: 1},
			Calls: 1,
			Findings: engine.Pack(engine.Finding{
				Finding: rules.Finding{
					Rule: rules.ByName("missing-tool-result"), Severity: rules.Error, Message: "call \"" + hostileText + "\" has no result",
					Span: source.Span{Start: 5, End: 30}, Record: 1, CallID: hostileText, Fix: rename,
					Related: []rules.Related{{Message: hostileText}},
				},
				Path: hostilePath, Dialect: "anthropic", Pointer: "/content/0/id",
				Start: at(5, 1, 6), End: at(30, 2, 3), RelatedAt: []source.Position{at(1, 1, 2), at(3, 1, 4)},
				Fingerprint: "0123456789abcdef",
				Excerpt:     engine.Excerpt{Text: []byte(hostileText), Mark: [2]int{0, 5}},
				Edits:       []edit.Edit{{Span: source.Span{Start: 5, End: 30}, Text: []byte(hostileText)}},
				EditAt:      &[2]source.Position{at(5, 1, 6), at(30, 2, 3)},
			}),
		},
		{
			Path: "clean dir/ok.jsonl",
			File: &container.File{Decision: detect.Decision{Dialect: "anthropic", Container: detect.ContainerLines}, Conversations: 1},
		},
	}
}

const (
	hostilePath = "::error file=x::dir with spaces/100%25 #1,a:b/日本?.jsonl"
	hostileText = "\n::error file=x,line=1::injected%0A::warning::x\r##[error]x ##vso[task.x] \x1b[2J\u202e [click](https://example.com) " +
		`</failure></testcase><testcase name="x"/> ]]> &amp; "`
)

// write returns what a format makes of the reports.
func write(t *testing.T, newReporter func(*bytes.Buffer) Reporter) string {
	t.Helper()
	var b bytes.Buffer
	r := newReporter(&b)
	s := &Summary{
		Skipped: 3, Ignored: 2, Known: map[string]int{hostilePath: 3}, Lookalikes: []Missed{{"log.json", "no messages in it"}, {hostilePath, hostileText}},
		Failed: []Missed{{"gone.json", "no such file or directory"}, {hostilePath, hostileText}},
	}
	for _, f := range reports() {
		s.Add(f)
		if err := r.File(f); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(s); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestFormats(t *testing.T) {
	t.Parallel()
	for _, f := range Formats() {
		for _, variant := range []struct {
			name string
			opts Options
		}{
			{"", Options{}},
			{"-color", Options{Color: true}},
			{"-no-excerpt", Options{NoExcerpt: true, ShowInfo: func(*engine.Finding) bool { return false }}},
		} {
			variant.opts.Version = "1.2.3"
			variant.opts.Started = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
			got := write(t, func(b *bytes.Buffer) Reporter { return f.New(b, variant.opts) })
			golden.File(t, filepath.Join("testdata", f.Name+variant.name+".golden"), got)
			// Nothing of a transcript may move the cursor.
			for i, r := range got {
				if colour := r == '\x1b' && variant.opts.Color && f.Human; r != '\n' && !colour && unprintable(r, utf8.RuneLen(r)) {
					t.Errorf("%s%s: %q at byte %d", f.Name, variant.name, r, i)
				}
			}
		}
	}
	golden.File(t, filepath.Join("testdata", "statistics.golden"), write(t, func(b *bytes.Buffer) Reporter { return NewStatistics(b, Options{}) }))
	golden.File(t, filepath.Join("testdata", "statistics-narrow.golden"), write(t, func(b *bytes.Buffer) Reporter { return NewStatistics(b, Options{Width: 40}) }))
}

// TestOneEntryForATurn: people are shown one entry for the calls of a turn that lack a result and
// have one repair, unless they ask for each. Programs get each.
func TestOneEntryForATurn(t *testing.T) {
	t.Parallel()
	var found []engine.Finding
	tools := []string{"bash", "read", "bash", "edit", "grep\x1b[1m", "ls", "web", strings.Repeat("long", 20)}
	add := func(rule string, turn, line int, repair int32, unfixed string) {
		f := engine.Finding{
			Finding: rules.Finding{
				Rule: rules.ByName(rule), Severity: rules.Error, Message: fmt.Sprintf(`call "c%d" has no result`, line),
				Turn: turn, Record: 1, CallID: fmt.Sprintf("c%d", line), Tool: tools[line%len(tools)], Unfixed: unfixed,
			},
			Path: "a.json", Start: source.Position{Line: line, Column: 7}, End: source.Position{Line: line, Column: 11}, Fingerprint: strconv.Itoa(line),
		}
		if repair > 0 {
			f.Fix = &operation.Operation{ID: repair, Title: "insert placeholder results", Class: operation.Additive}
		}
		found = append(found, f)
	}
	add("missing-tool-result", 1, 1, 1, "")
	add("missing-arguments", 1, 2, 2, "") // of another rule
	add("missing-tool-result", 1, 3, 1, "")
	add("missing-tool-result", 1, 4, 0, "it may be elsewhere")
	add("missing-tool-result", 2, 5, 3, "") // of another turn
	for line := 6; line < 20; line++ {
		add("missing-tool-result", 3, line, 4, "")
	}
	add("missing-arguments", 4, 20, 5, "")
	add("missing-arguments", 4, 21, 5, "")
	rep := &engine.Report{Path: "a.json", File: &container.File{Conversations: 1}, Findings: engine.Pack(found...)}
	var b bytes.Buffer
	s := &Summary{}
	s.Add(rep)
	for _, opts := range []Options{{}, {EachCall: true}} {
		r := newText(&b, opts)
		if err := r.File(rep); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s\n\n", s)
	}
	golden.File(t, filepath.Join("testdata", "text-together.golden"), b.String())
	for _, f := range Formats() {
		if f.Name == "text" {
			continue
		}
		var b bytes.Buffer
		r := f.New(&b, Options{})
		if err := errors.Join(r.File(rep), r.Close(s)); err != nil {
			t.Fatal(err)
		}
		for _, x := range found {
			if !strings.Contains(b.String(), x.CallID) {
				t.Errorf("%s: no %s", f.Name, x.CallID)
			}
		}
	}
}

func TestJSONIsWhatWasFound(t *testing.T) {
	t.Parallel()
	got := write(t, func(b *bytes.Buffer) Reporter { return newJSON(b, Options{}) })
	var doc struct {
		Findings []jsonFinding
	}
	dec := json.NewDecoder(strings.NewReader(got))
	if err := dec.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	if dec.More() {
		t.Error("there is more than one document")
	}
	var want []jsonFinding
	for _, r := range reports() {
		for x := range r.Findings.All() {
			f := finding(x)
			f.Message = strings.ToValidUTF8(f.Message, "\ufffd")
			if f.CallID != nil {
				*f.CallID = strings.ToValidUTF8(*f.CallID, "\ufffd")
			}
			want = append(want, f)
		}
	}
	if diff := cmp.Diff(want, doc.Findings); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
}

func TestJSONOfNothing(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := newJSON(&b, Options{Version: "1.2.3"}).Close(&Summary{}); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Files, Findings []any
	}
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Files == nil || doc.Findings == nil {
		t.Errorf("lists are null: %s", b.String())
	}
}

func TestPrintable(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                        "",
		"plain text ~":            "plain text ~",
		"日本語 é 🙂":                 "日本語 é 🙂",
		"👩\u200d💻":                "👩\u200d💻",
		"a\x1b[2Jb":               "a<1b>[2Jb",
		"a\tb\r\nc\x00\x7f":       "a<09>b<0d><0a>c<00><7f>",
		"\u202egpj.exe\u2066":     "<e2><80><ae>gpj.exe<e2><81><a6>",
		"\u009b31m":               "<c2><9b>31m",
		"\xff\xc3(":               "<ff><c3>(",
		"\xed\xa0\x80":            "<ed><a0><80>",
		"\ufeff\u2028\U000e0041":  "<ef><bb><bf><e2><80><a8><f3><a0><81><81>",
		"replacement \ufffd char": "replacement \ufffd char",
		"::error::x":              "<3a>:error::x",
		" ::error::x::y":          " <3a>:error::x::y",
		"std::map ##[x]":          "std::map ##<5b>x]",
		"##vso[x] # #[y] a[i]":    "##vso<5b>x] # #[y] a[i]",
	} {
		if got := Printable(in); got != want {
			t.Errorf("Printable(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestLayout(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789", 30)
	tests := []struct {
		name                string
		before, mark, after string
		cutBefore, cutAfter bool
		line, marked        string
	}{
		{"short", `{"id":`, `"c1"`, `}`, false, false, `{"id":"c1"}`, `"c1"`},
		{"a third before", long, "mark", long, false, false, "…" + long[268:] + "mark" + long[:64] + "…", "mark"},
		{"more where nothing follows", long, "mark", "", false, false, "…" + long[204:] + "mark", "mark"},
		{"more where nothing stands before", "", "mark", long, false, false, "mark" + long[:96] + "…", "mark"},
		{"cut already", "a", "b", "c", true, true, "…abc…", "b"},
		{"a long mark", "ab", long, "cd", false, false, "ab" + long[:60] + "…", long[:60]},
		{"wide", "日本", "語", "は", false, false, "日本語は", "語"},
		{"accents", "e\u0301", "a\u0308", "", false, false, "e\u0301a\u0308", "a\u0308"},
		{"joined", "👩\u200d💻", "x", "", false, false, "👩\u200d💻x", "x"},
		{"tabs", "\t\t", "x", "\t", false, false, "  x ", "x"},
		{"bytes", "\x1b[0m", "\xff", "\u202e", false, false, "<1b>[0m<ff><e2><80><ae>", "<ff>"},
		{"nothing", "ab", "", "", false, false, "ab", ""},
		{"an order that the mark cuts", "ab #", "#vso", "[x]", false, false, "ab ##vso<5b>x]", "#vso"},
		{"an order in the mark", "ab #", "#[", "x]", false, false, "ab ##<5b>x]", "#<5b>"},
	}
	cond := runewidth.Condition{StrictEmojiNeutral: true}
	for _, tt := range tests {
		e := engine.Excerpt{
			Text:      []byte(tt.before + tt.mark + tt.after),
			Mark:      [2]int{len(tt.before), len(tt.before) + len(tt.mark)},
			CutBefore: tt.cutBefore, CutAfter: tt.cutAfter,
		}
		line, at, width := layout(e, 102, mostMarked(102, 1))
		if line != tt.line {
			t.Errorf("%s: line\n%q, want\n%q", tt.name, line, tt.line)
			continue
		}
		i := strings.Index(line, tt.marked)
		if tt.marked == "" {
			i = len(line)
		}
		if want := cond.StringWidth(line[:i]); at != want || width != cond.StringWidth(tt.marked) {
			t.Errorf("%s: marker at %d, %d wide, want at %d, %d wide", tt.name, at, width, want, cond.StringWidth(tt.marked))
		}
		if w := cond.StringWidth(line); w > 102 {
			t.Errorf("%s: %d columns", tt.name, w)
		}
	}
}

func TestRedacted(t *testing.T) {
	t.Parallel()
	const line = `{"id":"c1","input":{"password":"hunter2"}}`
	tests := []struct {
		rule, pointer string
		within        int
		mark          string
		shown         bool
	}{
		{"missing-tool-result", "/content/1/id", 0, `"c1"`, true},
		{"missing-tool-result", "/content/1/input/password", 0, `"hunter2"`, false},
		{"missing-tool-result", "/content/1", 0, line, false},
		{"missing-tool-result", "", 0, `"c1"`, false},
		{"missing-tool-result", "/id", 0, `hunter2`, false},
		{"missing-tool-result", "/id", 0, `"`, false},
		{"schema-violation", "/content/1/input/id", 1, `"hunter2"`, false},
		{"duplicate-key", "/content/1/id", 0, `"id"`, false},
	}
	for _, tt := range tests {
		i := strings.Index(line, tt.mark)
		f := &engine.Finding{Finding: rules.Finding{Rule: rules.ByName(tt.rule), Within: tt.within}, Pointer: tt.pointer, Excerpt: engine.Excerpt{Text: []byte(line), Mark: [2]int{i, i + len(tt.mark)}}}
		f.Span = source.Span{Start: 100, End: 100 + int64(len(tt.mark))}
		want := ""
		if tt.shown {
			want = tt.mark
		}
		if e := redacted(f); string(e.Text) != want {
			t.Errorf("%s %s: %q, want %q", tt.pointer, tt.mark, e.Text, want)
		}
	}
	// Of a value that was cut nothing is known to be an id.
	f := &engine.Finding{Finding: rules.Finding{Rule: rules.ByName("missing-tool-result")}, Pointer: "/id", Excerpt: engine.Excerpt{Text: []byte(`"a"`), Mark: [2]int{0, 3}}}
	f.Span = source.Span{End: 1000}
	if e := redacted(f); len(e.Text) > 0 {
		t.Error("a cut value is shown")
	}
}

func TestSummary(t *testing.T) {
	t.Parallel()
	tests := []struct {
		s    Summary
		want string
	}{
		{Summary{}, "No files checked."},
		{Summary{Failed: make([]Missed, 1)}, "No files checked, 1 failed."},
		{Summary{Skipped: 1}, "No files checked, 1 skipped (not a transcript)."},
		{Summary{Files: 1}, "No problems found. 1 file checked."},
		{
			Summary{Files: 1, Skipped: 1, Ignored: 12, Failed: make([]Missed, 1)},
			"No problems found. 1 file checked, 1 skipped (not a transcript), 12 ignored (--no-gitignore), 1 failed.",
		},
		{
			Summary{Skipped: 1, Lookalikes: []Missed{{Path: "a.json"}}},
			"No files checked, 1 skipped (not a transcript). Skipped although it looks like a transcript: a.json (toolguard detect says why).",
		},
		{
			Summary{Skipped: 3, Lookalikes: []Missed{{Path: "a.json"}, {Path: "b.json"}}},
			"No files checked, 3 skipped (not transcripts). Skipped although they look like transcripts: a.json, b.json (toolguard detect says why).",
		},
		{Summary{Files: 1, Known: map[string]int{"k": 1}}, "No problems found. 1 file checked, 1 known finding in k."},
		{Summary{Files: 1, Known: map[string]int{"b": 3, "a": 12}}, "No problems found. 1 file checked, 12 known findings in a, 3 in b."},
		{Summary{Files: 3, Skipped: 2, Failed: make([]Missed, 1)}, "No problems found. 3 files checked, 2 skipped (not transcripts), 1 failed."},
		{Summary{Files: 1, Infos: 1}, "No problems found, but 1 info. 1 file checked."},
		{Summary{Files: 2, Infos: 4, Fixable: 4}, "No problems found, but 4 infos. 2 files checked."},
		{Summary{Files: 1, Infos: 2, Hidden: 2}, "No problems found. 1 file checked."},
		{Summary{Files: 1, Infos: 3, Hidden: 2}, "No problems found, but 1 info. 1 file checked."},
		{Summary{Files: 1, Errors: 1, Infos: 2, Hidden: 2, problemFiles: 1}, "Found 1 problem in 1 file. 1 file checked."},
		{Summary{Files: 1, Errors: 1, problemFiles: 1}, "Found 1 problem in 1 file. 1 file checked."},
		{
			Summary{Files: 12, Skipped: 4, Errors: 2, Warnings: 1, problemFiles: 2, problemFixable: 1, problemUnsafe: 1},
			"Found 3 problems in 2 files (1 fixable with toolguard fix --write, 1 more with --unsafe). 12 files checked, 4 skipped (not transcripts).",
		},
		{
			Summary{Files: 2, Errors: 2, Infos: 4, problemFiles: 2, problemFixable: 2},
			"Found 2 problems in 2 files (2 fixable with toolguard fix --write) and 4 infos. 2 files checked.",
		},
		{
			Summary{Files: 1, Warnings: 1, Infos: 1, problemFiles: 1, problemUnsafe: 1},
			"Found 1 problem in 1 file (1 fixable with toolguard fix --write --unsafe) and 1 info. 1 file checked.",
		},
		{
			Summary{Files: 2, Errors: 3, problemFiles: 2, problemFixable: 1, problemCheckOnly: 2},
			"Found 3 problems in 2 files (1 fixable with toolguard fix --write, 2 where toolguard only checks). 2 files checked.",
		},
		{
			Summary{Files: 1, Errors: 3, problemFiles: 1, problemChoice: 3},
			"Found 3 problems in 1 file (3 fixable with --strategy). 1 file checked.",
		},
		{
			Summary{Files: 1, Errors: 6, problemFiles: 1, problemFixable: 1, problemUnsafe: 2, problemChoice: 3},
			"Found 6 problems in 1 file (1 fixable with toolguard fix --write, 2 more with --unsafe, 3 more with --strategy). 1 file checked.",
		},
	}
	for _, tt := range tests {
		if got := tt.s.String(); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}

	var s Summary
	for _, r := range reports() {
		s.Add(r)
	}
	want := Summary{
		Files: 4, Conversations: 5, Calls: 16, Results: 15,
		Errors: 3, Warnings: 1, Infos: 1, Fixable: 1, FixableUnsafe: 1,
		problemFixable: 1, problemUnsafe: 1, problemFiles: 3, problemChoice: 1,
	}
	if diff := cmp.Diff(want, s, cmp.AllowUnexported(Summary{})); diff != "" {
		t.Errorf("counted (-want +got):\n%s", diff)
	}
	for severity, want := range map[rules.Severity]int{rules.Info: 5, rules.Warning: 4, rules.Error: 3} {
		if got := s.AtLeast(severity); got != want {
			t.Errorf("AtLeast(%v) = %d, want %d", severity, got, want)
		}
	}
}

// TestUnfixed: a finding says why its repair was withheld.
func TestUnfixed(t *testing.T) {
	var b bytes.Buffer
	rep := &engine.Report{Findings: engine.Pack(engine.Finding{
		Path:    "s.json",
		Start:   source.Position{Line: 1, Column: 2},
		Finding: rules.Finding{Rule: rules.ByName("orphan-tool-result"), Severity: rules.Error, Message: "m", Unfixed: "not applied, because it would x"},
	})}
	if err := newText(&b, Options{}).File(rep); err != nil {
		t.Fatal(err)
	}
	const want = "s.json:1:2: error: m [orphan-tool-result]\n        no fix: not applied, because it would x\n"
	if b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}
